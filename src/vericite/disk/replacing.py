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

_STREAMS, _OPEN_FILES = {Path("/dev/stdout"): 1, Path("/dev/stderr"): 2}, Path("/dev/fd")


class Replacing:
    """What is written stands beside ``path``, and takes its place when it is done; an ``OSError`` is the caller's.

    The file is made when something is first written: what a stopped run left there is not lost before that. A link
    stays a link, to what is written now, and who may read the file stays as it was. A pipe, a device or a stream of the
    process has no place to take: it is written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = Path(os.path.realpath(path))
        self._stream = _stream_of(path)
        self._is_direct = self._stream is not None or _is_special(path)
        self.partial = path if self._is_direct else self._place.with_name(self._place.name + PARTIAL)
        self._file: IO[str] | None = None
        self._mode: int | None = None

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
            if self._mode is not None:
                _set_mode(self.partial, self._mode)
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
            # With `--out /dev/stdout > file` the rest is printed to that file too: opened by its name, it would have a
            # place of writing of its own, and one would write over the other.
            file = self.partial if self._stream is None else os.dup(self._stream)
            self._file = open(file, "w", encoding="utf-8", newline="\n")
            if not self._is_direct and self._place.exists():
                self._mode = stat.S_IMODE(self._place.stat().st_mode)
                # Not read-only before it is done: what a stopped run left could not be written over by the next one.
                _set_mode(self.partial, self._mode | stat.S_IWUSR)
        return self._file


def _set_mode(file: Path, mode: int) -> None:
    # Some file systems know no modes and refuse to set any; that is no reason to lose what is written.
    with suppress(OSError):
        file.chmod(mode)


def _stream_of(path: Path) -> int | None:
    """The number of the open file of this process that a path names, wherever that leads; None if it names none."""
    absolute = Path(os.path.abspath(path))
    if absolute.parent == _OPEN_FILES and absolute.name.isdecimal() and path.exists():
        return int(absolute.name)
    return _STREAMS.get(absolute)


def _is_special(path: Path) -> bool:
    """Whether it is a pipe or a device: there, and neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def sync_folder(folder: Path) -> None:
    """Have the names of its new files outlive a power cut, where the system can."""
    # Windows opens no folders, and some network folders cannot be synced.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
