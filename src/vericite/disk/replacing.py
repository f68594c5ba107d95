"""A file that takes the place of another when it is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

PARTIAL = ".partial"
"""What the name of such a file ends with until then."""


class Replacing:
    """What is written stands beside ``path``, and takes its place when it is done; an ``OSError`` is the caller's.

    The file is made when something is first written: what a stopped run left there is not lost before that.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(path.name + PARTIAL)
        self._file: IO[str] | None = None

    @property
    def is_begun(self) -> bool:
        """Whether something was written."""
        return self._file is not None

    def write(self, lines: Iterable[str]) -> None:
        """Add whole lines; a process that is stopped after this returns has kept them."""
        for line in lines:
            self._begun().write(line)
        if self._file is not None:
            self._file.flush()

    def done(self) -> None:
        """Take the place, with nothing in it where nothing was written; not even a power cut leaves half of it."""
        with self._begun() as file:
            file.flush()
            os.fsync(file.fileno())
        self.partial.replace(self.path)
        sync_folder(self.path.parent)

    def leave(self) -> None:
        """Go no further: what was written stays beside."""
        if self._file is not None:
            # What could not be written was told when it was.
            with suppress(OSError):
                self._file.close()

    def _begun(self) -> IO[str]:
        self._file = self._file or self.partial.open("w", encoding="utf-8", newline="\n")
        return self._file


def sync_folder(folder: Path) -> None:
    """Have the names of its new files outlive a power cut, where the system can."""
    # Windows opens no folders, and some network folders cannot be synced.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
