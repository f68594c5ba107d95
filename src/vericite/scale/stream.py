"""Answers in, lines out, in order: parts are sent to workers, committed as they arrive, and read in order.

A finished part is either complete, under a name with a hash of its input, or absent.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol, Self

from vericite.disk.bucket import Objects
from vericite.disk.files import PARTIAL, write_whole
from vericite.disk.jobs import LOCK, MANIFEST, Job
from vericite.errors import InputError
from vericite.records import Answer
from vericite.scale.cluster import WorkerPool, Workers
from vericite.scale.work import AnswerWork

_NAME = re.compile(r"\d{8}-[0-9a-f]{32}\.jsonl")
_WHAT = "a distributed run"


def part_name(number: int, answers: Iterable[bytes], settings: Mapping[str, Any]) -> str:
    """Return the name of the part made from these answers with these settings; it contains a hash of both."""
    digest = blake2b(digest_size=16)
    for text in (json.dumps(settings, sort_keys=True).encode(), *answers):
        digest.update(len(text).to_bytes(8, "big"))
        digest.update(text)
    return f"{number:08d}-{digest.hexdigest()}.jsonl"


class Parts:
    """A folder of parts, with a manifest of the settings that all of them share.

    One process writes: it collects the workers' results, and commits a part by renaming its file. So no line is lost or
    duplicated if a worker does a part twice, or a job is killed at any moment.

    Args:
        place: A folder, which is created, or a place in a bucket, which outlives the run's machine. A bucket has no
            lock: of two equal runs at once, the first to end removes parts that the other must then make again.
        settings: What determines the output, JSON-ready.
    """

    def __init__(self, place: Path | Objects, settings: Mapping[str, Any]) -> None:
        self._keeping: _Keeping = _InBucket(place) if isinstance(place, Objects) else _InFolder(place)
        self._settings = settings

    def __str__(self) -> str:
        """Return the place for messages."""
        return str(self._keeping)

    @contextmanager
    def open(self) -> Generator[Self]:
        """Hold the folder for this process.

        Raises:
            InputError: It holds something else or other settings, or another process is working there.
        """
        with self._keeping.held(self._settings):
            yield self

    @property
    def any(self) -> bool:
        """Whether there is at least one part."""
        return any(_NAME.fullmatch(name) for name in self._keeping.names())

    def name(self, number: int, answers: Iterable[bytes]) -> str:
        """Return the name of the part of these answers."""
        return part_name(number, answers, self._settings)

    def read(self, name: str, count: int) -> list[bytes] | None:
        """Return the lines of a part, or None if it is missing or incomplete."""
        content = self._keeping.read(name)
        if content is None:
            return None
        *lines, rest = content.split(b"\n")
        return lines if len(lines) == count and not rest else None

    def write(self, name: str, lines: Sequence[bytes]) -> None:
        """Commit a part; it survives a power failure once this returns.

        Raises:
            InputError: It cannot be written.
        """
        self._keeping.write(name, b"".join(line + b"\n" for line in lines))

    def remove(self) -> None:
        """Delete the parts and their folder, once their content is elsewhere."""
        ours = [name for name in self._keeping.names() if _rank(name) is not None]
        # Interrupted here, parts remain together with the manifest that describes them.
        self._keeping.remove(sorted(ours, key=lambda name: _rank(name) or 0))


def _rank(name: str) -> int | None:
    """Return the order of removal: parts, the manifest, then the lock. None: not ours."""
    whole = name.removesuffix(PARTIAL)
    return 0 if _NAME.fullmatch(whole) else {MANIFEST: 1, LOCK: 2}.get(whole)


class _Keeping(Protocol):
    """Storage of parts."""

    @contextmanager
    def held(self, settings: Mapping[str, Any]) -> Generator[None]: ...

    def names(self) -> list[str]: ...

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None: ...

    def remove(self, names: Sequence[str]) -> None: ...


class _InFolder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    @contextmanager
    def held(self, settings: Mapping[str, Any]) -> Generator[None]:
        with Job.in_folder(self._folder, settings, _WHAT).open():
            yield

    def names(self) -> list[str]:
        return [file.name for file in self._folder.iterdir()] if self._folder.is_dir() else []

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"expected a readable part; found {self._folder / name}: {error.strerror}") from None

    def write(self, name: str, content: bytes) -> None:
        write_whole(self._folder / name, [content.decode()])

    def remove(self, names: Sequence[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


class _InBucket:
    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def __str__(self) -> str:
        return self._objects.address

    @contextmanager
    def held(self, settings: Mapping[str, Any]) -> Generator[None]:
        # The manifest is compared in a local folder, by the code for folders.
        with TemporaryDirectory(prefix="vericite-") as folder:
            kept = Path(folder, MANIFEST)
            before = self._objects.read(MANIFEST)
            if before is not None:
                kept.write_bytes(before)
            with Job(Path(folder), kept, Path(folder, LOCK), settings, _WHAT, str(self)).open():
                pass
            if before is None:
                self._objects.write(MANIFEST, kept.read_bytes())
        yield

    def names(self) -> list[str]:
        return list(self._objects.sizes())

    def read(self, name: str) -> bytes | None:
        return self._objects.read(name)

    def write(self, name: str, content: bytes) -> None:
        self._objects.write(name, content)

    def remove(self, names: Sequence[str]) -> None:
        for name in names:
            self._objects.remove(name)


ANSWERS = 64
"""Answers of a part: some seconds of work, the cost of a worker's death."""

BYTES = 16 << 20
"""Size of a part in bytes from which it takes no more answers."""

AHEAD = 16
"""Parts per worker that may wait for an earlier one: their results are on disk, but their answers are in memory."""


class MadeAnswer(NamedTuple):
    """The result for an answer.

    Attributes:
        answer: The answer.
        line: The record's JSON.
        is_new: Whether this run made it, not an earlier one.
        ready: Number of answers done so far, including later parts.
    """

    answer: Answer
    line: bytes
    is_new: bool
    ready: int


@dataclass
class _Part:
    number: int
    answers: list[Answer] = field(default_factory=list[Answer])
    texts: list[bytes] = field(default_factory=list[bytes])
    name: str = ""
    is_new: bool = False
    is_done: bool = False
    was_resent: bool = False


def in_parts(
    answers: Iterable[Answer], work: AnswerWork, parts: Parts, workers: Workers, at_once: int = ANSWERS
) -> Iterator[MadeAnswer]:
    """Do the work on each answer, in order. What ``parts`` already has is not done again.

    Args:
        answers: The answers; some parts are read ahead.
        work: The work.
        parts: Where parts are committed; must be open.
        workers: The workers.
        at_once: Answers in a part. Changing it changes the parts.

    Raises:
        InputError: The workers cannot be started, or a part disappeared twice.
        ClusterError: A part cannot be done.
    """
    prepare = work.preparing()

    def text(answer: Answer) -> bytes:
        return prepare(answer).model_dump_json().encode()

    with workers.running(work) as pool:
        yield from _Stream(pool, parts, len(pool) * AHEAD, text).of(_grouped(answers, text, at_once))


class _Stream:
    def __init__(self, pool: WorkerPool, parts: Parts, ahead: int, text: Callable[[Answer], bytes]) -> None:
        self._pool, self._parts, self._ahead, self._text = pool, parts, ahead, text
        self._waiting: deque[_Part] = deque()
        self._sent: dict[int, _Part] = {}
        self._ready = 0

    def of(self, source: Iterator[_Part]) -> Iterator[MadeAnswer]:
        for part in source:
            self._send(part)
            yield from self._front()
            while self._pool.is_full or len(self._waiting) >= self._ahead:
                self._take()
                yield from self._front()
        while not self._pool.is_idle:
            self._take()
            yield from self._front()

    def _send(self, part: _Part) -> None:
        self._waiting.append(part)
        part.name = self._parts.name(part.number, part.texts)
        if self._parts.read(part.name, len(part.answers)) is None:
            self._put(part, part.texts)
        else:
            part.is_done = True
            self._ready += len(part.answers)
        part.texts.clear()

    def _put(self, part: _Part, texts: Sequence[bytes]) -> None:
        part.is_new = True
        self._sent[part.number] = part
        self._pool.put(part.number, texts)

    def _take(self) -> None:
        number, lines = self._pool.take()
        part = self._sent.pop(number)
        # Committed before it is returned to the caller.
        self._parts.write(part.name, lines)
        part.is_done = True
        self._ready += len(part.answers)

    def _front(self) -> Iterator[MadeAnswer]:
        while self._waiting and self._waiting[0].is_done:
            part = self._waiting[0]
            lines = self._parts.read(part.name, len(part.answers))
            if lines is None:
                self._resend(part)
                return
            self._waiting.popleft()
            for answer, line in zip(part.answers, lines, strict=True):
                yield MadeAnswer(answer, line, part.is_new, self._ready)

    def _resend(self, part: _Part) -> None:
        """Send a part again that has disappeared: in a bucket, an equal run removes its parts when it ends."""
        if part.was_resent:
            raise InputError(
                f"expected the parts in {self._parts} to stay until this run is done; found that {part.name} "
                "disappeared twice. Let one run work there at a time, and run the same command again"
            )
        part.was_resent, part.is_done = True, False
        self._ready -= len(part.answers)
        self._put(part, [self._text(answer) for answer in part.answers])


def _grouped(answers: Iterable[Answer], text: Callable[[Answer], bytes], at_once: int) -> Iterator[_Part]:
    part, size = _Part(0), 0
    for answer in answers:
        part.answers.append(answer)
        part.texts.append(text(answer))
        size += len(part.texts[-1])
        if len(part.answers) >= at_once or size >= BYTES:
            yield part
            part, size = _Part(part.number + 1), 0
    if part.answers:
        yield part
