"""Files that take another's place when they are whole, locks, and the folder of caches."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from errno import EDQUOT, EEXIST, ELOOP, ENOSPC
from pathlib import Path
from typing import IO, Literal
from uuid import uuid4

from vericite.environment import CACHE, text
from vericite.errors import InputError

PARTIAL = ".partial"
"""What the name of such a file ends with until then."""

_STREAMS, _OPEN_FILES = {Path("/dev/stdout"): 1, Path("/dev/stderr"): 2}, Path("/dev/fd")


class NotWritten(InputError):
    """A file cannot be written.

    Attributes:
        is_full: Whether there is no room for it.
    """

    def __init__(self, message: str, error: OSError) -> None:
        super().__init__(message)
        self.is_full = error.errno in (ENOSPC, EDQUOT)


class Held(InputError):
    """Another process works in a folder."""


class Replacing:
    """What is written stands beside ``path``, and takes its place when it is done; an ``OSError`` is the caller's.

    The file is made when something is first written: what a stopped run left there is not lost before that. A link
    stays a link, to what is written now, and who may read the file stays as it was. A pipe, a device or a stream of the
    process has no place to take: it is written to.

    Two processes do not write beside one file: the second is refused when it reserves the place, or else when it first
    writes.
    """

    def __init__(self, path: Path, mode: int | None = None) -> None:
        """Write to a place.

        Args:
            path: The file.
            mode: Who may read and write it, from its first byte on; None for those of the file that is there, or else
                those that the process's umask leaves.
        """
        self.path = path
        self._own_mode = mode
        self._place = Path(os.path.realpath(path))
        self._stream = _stream_of(path)
        self._is_direct = self._stream is not None or _is_special(path)
        self.partial = path if self._is_direct else self._place.with_name(self._place.name + PARTIAL)
        self._file: IO[str] | None = None
        self._reserved: int | None = None
        self._was_there = True
        self._mode: int | None = None

    @property
    def is_direct(self) -> bool:
        """Whether it is a pipe, a device or a stream of the process, which is written to directly."""
        return self._is_direct

    @property
    def is_begun(self) -> bool:
        """Whether something was written."""
        return self._file is not None

    def reserve(self) -> None:
        """Keep other processes from writing here until this is done or left; what a stopped run left is not lost."""
        if self._is_direct or self._reserved is not None:
            return
        self._was_there = self.partial.exists()
        while self._reserved is None:
            descriptor = _opened(self.partial, self._own_mode)
            try:
                _lock(descriptor)
            except BlockingIOError as error:
                os.close(descriptor)
                reason = "another run is writing it. Wait until that has ended, or name another file"
                raise BlockingIOError(error.errno, reason) from None
            if _is_at(descriptor, self.partial):
                self._reserved = descriptor
            else:
                # Another run was done in between, and what we have locked has taken its place.
                os.close(descriptor)

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
            # While it is locked, so that no other run begins to write what is to take the place.
            if os.name == "posix":
                self.partial.replace(self._place)
        if os.name != "posix":
            self.partial.replace(self._place)
        self._reserved = None
        sync_folder(self._place.parent)

    def leave(self) -> None:
        """Go no further: what was written stays beside."""
        # What could not be written was reported when it was.
        with suppress(OSError):
            if self._file is not None:
                self._file.close()
            elif self._reserved is not None:
                if not self._was_there:
                    self.partial.unlink()
                os.close(self._reserved)
        self._reserved = None

    def _begun(self) -> IO[str]:
        if self._file is None:
            self.reserve()
            # With `--out /dev/stdout > file` the rest is printed to that file too: opened by its name, it would have a
            # place of writing of its own, and one would write over the other.
            file = self.partial if self._stream is None else os.dup(self._stream)
            if self._reserved is not None:
                os.truncate(self._reserved, 0)
                file = self._reserved
            self._file = open(file, "w", encoding="utf-8", newline="\n")
            if not self._is_direct and self._own_mode is not None:
                # A stopped run may have left the file with another mode.
                _set_mode(self.partial, self._own_mode)
            elif not self._is_direct and self._place.exists():
                self._mode = stat.S_IMODE(self._place.stat().st_mode)
                # Not read-only before it is done: what a stopped run left could not be written over by the next one.
                _set_mode(self.partial, self._mode | stat.S_IWUSR)
        return self._file


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def _opened(partial: Path, mode: int | None) -> int:
    """The descriptor of a partial file, which is made if there is none. A link that another made is never followed.

    Raises:
        OSError: There is something else than a file of its own.
    """
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666 if mode is None else mode)
    except OSError as error:
        if error.errno != ELOOP:
            raise
        raise FileExistsError(EEXIST, f"{partial} is a link, which is not followed. Remove it") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise FileExistsError(EEXIST, f"{partial} is also something else (a link or no file). Remove it")
    return descriptor


@contextmanager
def whole_bytes(path: Path, mode: int = 0o666) -> Generator[IO[bytes]]:
    """Where to write a file that takes its place when it is whole; it is not left behind if that fails.

    Its name until then cannot be guessed, so no one can put a link there beforehand.

    Args:
        path: The file.
        mode: Who may read and write it, less what the process's umask takes away.
    """
    partial = path.with_name(f"{path.name}.{uuid4().hex}{PARTIAL}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode), "wb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def write_whole(path: Path, lines: Iterable[str], mode: int | None = None) -> None:
    """Write a file that is there whole, or as it was before.

    Args:
        path: The file.
        lines: What is in it.
        mode: Who may read and write it, from its first byte on; None as for any other file.

    Raises:
        InputError: It cannot be written.
        BrokenPipeError: It is a pipe, such as /dev/stdout, whose reader has gone.
    """
    file = Replacing(path, mode)
    try:
        file.write(lines)
        file.done()
    except BrokenPipeError:
        file.leave()
        raise
    except OSError as error:
        begun = file.is_begun
        file.leave()
        if begun and not file.is_direct:
            # Half of a file that is written at once is of no use to a later run.
            file.partial.unlink(missing_ok=True)
        raise NotWritten(f"expected {path} to be a file that can be written; found: {error.strerror}", error) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that is there whole, or as it was before.

    Raises:
        InputError: It cannot be written.
    """
    try:
        with whole_bytes(path) as file:
            file.write(content)
    except OSError as error:
        raise NotWritten(f"expected {path} to be a file that can be written; found: {error.strerror}", error) from None


def _lock(descriptor: int) -> None:
    """Lock an open file, where the system can: some network folders and Windows know no such lock.

    Raises:
        BlockingIOError: Another process has.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        pass


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


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


@contextmanager
def only_one(folder: Path, name: str, doing: str, other: str = "process") -> Generator[None, None, None]:
    """Hold a folder, made where there is none; the system lets go of it when the process ends, however it ends.

    Some network folders and Windows know no such lock: there nothing is locked.

    Args:
        folder: The folder.
        name: Of the file in it that is locked.
        doing: What is done there, for the error: ``builds``.
        other: What holds it where another does, for the error.

    Raises:
        InputError: Another process holds it, or it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / name).open("a")
    except OSError as error:
        raise NotWritten(f"expected a folder to write to; found {folder}: {error.strerror}", error) from None
    with file:
        try:
            _lock(file.fileno())
        except BlockingIOError:
            raise Held(
                f"expected to be the only one that {doing} {folder}; found another {other} at work there. "
                "Wait until it has ended, or stop it"
            ) from None
        yield


_LOG = logging.getLogger(__name__)


def expanded(path: str | Path) -> Path | None:
    """A path with its ``~`` spelt out; None where there is no such home, as for a user who is but a number."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return None


def own_folder(ours: str, shared: str, usual: str) -> Path | None:
    """``$ours``, else ``vericite`` in ``$shared``, else in ``usual``; None where that is in a home that is none."""
    if own := text(ours):
        return expanded(own)
    return expanded(Path(os.environ.get(shared) or usual) / "vericite")


def default_cache_folder() -> Path | None:
    """``$VERICITE_CACHE``, else ``$XDG_CACHE_HOME/vericite``, else ``~/.cache/vericite``; None without a home."""
    return own_folder(CACHE, "XDG_CACHE_HOME", "~/.cache")


def cache_file(cache: Path | Literal["default"], name: str) -> Path | None:
    """The file of this name in a cache's folder; a ``.sqlite`` file given in the folder's place is that file.

    None, and a warning, where the folder is in a home that is none.
    """
    folder = default_cache_folder() if cache == "default" else expanded(cache)
    if folder is None:
        _LOG.warning(
            "expected a folder for the cache %s; found none: there is no such home. Nothing is kept in this run. Set "
            "VERICITE_CACHE to a folder.",
            name,
        )
        return None
    return folder if folder.suffix == ".sqlite" else folder / name
