"""A file that takes the place of another when it is done."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

PARTIAL = ".partial"
"""What the name of such a file ends with until then."""


class Replacing:
    """What is written stands beside ``path``, and takes its place when it is done; an ``OSError`` is the caller's.

    The file is made when something is first written: what a stopped run left there is not lost before that. A link
    stays a link, to what is written now, and who may read the file stays as it was. A pipe or a device has no place to
    take: it is written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = Path(os.path.realpath(path))
        self._is_direct = _is_direct(path)
        self.partial = path if self._is_direct else self._place.with_name(self._place.name + PARTIAL)
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
            if self._is_direct:
                return
            os.fsync(file.fileno())
        self.partial.replace(self._place)
        sync_folder(self._place.parent)

    def leave(self) -> None:
        """Go no further: what was written stays beside."""
        if self._file is not None:
            # What could not be written was told when it was.
            with suppress(OSError):
                self._file.close()

    def _begun(self) -> IO[str]:
        if self._file is None:
            # Behind what is there already: `--out /dev/stdout > file` leads to the file that the rest is printed to.
            mode = "a" if self._is_direct else "w"
            self._file = self.partial.open(mode, encoding="utf-8", newline="\n")
            if not self._is_direct and self._place.exists():
                self.partial.chmod(stat.S_IMODE(self._place.stat().st_mode))
        return self._file


def _is_direct(path: Path) -> bool:
    """Whether it is no file and no name for a new one; what is under ``/dev`` is none, wherever it leads."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


def sync_folder(folder: Path) -> None:
    """Have the names of its new files outlive a power cut, where the system can."""
    # Windows opens no folders, and some network folders cannot be synced.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
