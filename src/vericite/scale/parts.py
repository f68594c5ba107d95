"""Finished parts of a long job: each is there whole, under a name that says what it was made of, or not at all."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, Self

from vericite.disk.bucket import Objects
from vericite.disk.files import write_whole
from vericite.disk.jobs import LOCK, MANIFEST, Job
from vericite.errors import InputError

_NAME = re.compile(r"\d{8}-[0-9a-f]{32}\.jsonl")
_WHAT = "a distributed run"


def part_name(number: int, answers: Iterable[bytes]) -> str:
    """The name of what is made of these answers: another text, another name."""
    digest = blake2b(digest_size=16)
    for answer in answers:
        digest.update(len(answer).to_bytes(8, "big"))
        digest.update(answer)
    return f"{number:08d}-{digest.hexdigest()}.jsonl"


class Parts:
    """A folder of parts, with the manifest of the settings that all of them are made by.

    One process writes: it takes what workers send, and a part is committed by giving its file its name. So a worker
    that does the same part twice, or a job that is killed at any moment, neither loses nor doubles a line.

    Args:
        place: A folder, which is made; or where objects of a bucket lie, which outlive the machine of the run. A bucket
            has no lock: two runs at once do the same parts twice, and write the same.
        settings: What decides what is made, as JSON has it.
    """

    def __init__(self, place: Path | Objects, settings: Mapping[str, Any]) -> None:
        self._keeping: _Keeping = _InBucket(place) if isinstance(place, Objects) else _InFolder(place)
        self._settings = settings

    def __str__(self) -> str:
        """Where they are, for people."""
        return str(self._keeping)

    @contextmanager
    def open(self) -> Generator[Self]:
        """Hold the folder for this process alone.

        Raises:
            InputError: It is of something else or of other settings, or another process is at work there.
        """
        with self._keeping.held(self._settings):
            yield self

    @property
    def any(self) -> bool:
        """Whether a part is there."""
        return any(_NAME.fullmatch(name) for name in self._keeping.names())

    def read(self, name: str, count: int) -> list[bytes] | None:
        """The lines of a part; None where it is not there, or is not whole."""
        content = self._keeping.read(name)
        if content is None:
            return None
        *lines, rest = content.split(b"\n")
        return lines if len(lines) == count and not rest else None

    def write(self, name: str, lines: Sequence[bytes]) -> None:
        """Commit a part; it outlives a power cut when this returns.

        Raises:
            InputError: It cannot be written.
        """
        self._keeping.write(name, b"".join(line + b"\n" for line in lines))

    def remove(self) -> None:
        """Delete the parts and their folder, once all that they hold is elsewhere."""
        ours = [
            name
            for name in self._keeping.names()
            if _NAME.fullmatch(name.removesuffix(".partial")) or name in (MANIFEST, LOCK)
        ]
        self._keeping.remove(ours)


class _Keeping(Protocol):
    """Where parts are."""

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
            raise InputError(
                f"expected a part that can be read; found {self._folder / name}: {error.strerror}"
            ) from None

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
        # The manifest is compared here, as one of a folder is.
        with TemporaryDirectory(prefix="vericite-") as folder:
            kept = Path(folder, MANIFEST)
            before = self._objects.read(MANIFEST)
            if before is not None:
                kept.write_bytes(before)
            with Job(Path(str(self)), kept, Path(folder, LOCK), settings, _WHAT).open():
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
