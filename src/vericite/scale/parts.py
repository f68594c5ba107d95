"""Finished parts of a long job: each is there whole, under a name that says what it was made of, or not at all."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from vericite.disk.files import write_whole
from vericite.disk.jobs import LOCK, MANIFEST, Job
from vericite.errors import InputError

_NAME = re.compile(r"\d{8}-[0-9a-f]{32}\.jsonl")


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
        folder: The folder; it is made.
        settings: What decides what is made, as JSON has it.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self._job = Job.in_folder(folder, settings, "a distributed run")

    @contextmanager
    def open(self) -> Generator[Self]:
        """Hold the folder for this process alone.

        Raises:
            InputError: It is of something else or of other settings, or another process is at work there.
        """
        with self._job.open():
            yield self

    @property
    def any(self) -> bool:
        """Whether a part is there."""
        return self.folder.is_dir() and any(_NAME.fullmatch(file.name) for file in self.folder.iterdir())

    def read(self, name: str, count: int) -> list[bytes] | None:
        """The lines of a part; None where it is not there, or is not whole."""
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(
                f"expected a part that can be read; found {self.folder / name}: {error.strerror}"
            ) from None
        *lines, rest = content.split(b"\n")
        return lines if len(lines) == count and not rest else None

    def write(self, name: str, lines: Sequence[bytes]) -> None:
        """Commit a part; it outlives a power cut when this returns.

        Raises:
            InputError: It cannot be written.
        """
        write_whole(self.folder / name, (line.decode() + "\n" for line in lines))

    def remove(self) -> None:
        """Delete the parts and their folder, once all that they hold is elsewhere."""
        for file in self.folder.iterdir():
            if _NAME.fullmatch(file.name.removesuffix(".partial")) or file.name in (MANIFEST, LOCK):
                file.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
