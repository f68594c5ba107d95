"""Files that replace another when complete, locks, and the cache folder."""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from errno import EDQUOT, EEXIST, ELOOP, ENOSPC
from pathlib import Path
from typing import IO, Literal
from uuid import uuid4

from vericite.environment import CACHE, text
from vericite.errors import InputError

PARTIAL = ".partial"
"""Suffix of the file until it is complete."""

_STREAMS, _OPEN_FILES = {Path("/dev/stdout"): 1, Path("/dev/stderr"): 2}, Path("/dev/fd")


class NotWritten(InputError):
    """A file cannot be written.

    Attributes:
        is_full: Whether the disk is full.
    """

    def __init__(self, message: str, error: OSError) -> None:
        super().__init__(message)
        self.is_full = error.errno in (ENOSPC, EDQUOT)


class Held(InputError):
    """Another process is working in a folder."""


class Replacing:
    """A file that is written next to ``path`` and replaces it when done. The caller handles ``OSError``.

    Its folder is created if it is missing.

    The partial file is created when something is first written; what a stopped run left there is kept until then. A
    link stays a link, now to the new content, and permissions stay as they were. A pipe, a device or a stream of the
    process is written to directly.

    Two processes cannot write the same partial file: the second is refused when it reserves the place, or when it first
    writes.
    """

    def __init__(self, path: Path, mode: int | None = None) -> None:
        """Prepare to write.

        Args:
            path: The file.
            mode: Permissions from the first byte on. None: those of the existing file, or those that the process's
                umask
                leaves.
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
        """Keep other processes from writing here until this is done or left. What a stopped run left is kept."""
        if self._is_direct or self._reserved is not None:
            return
        self._was_there = self.partial.exists()
        self.partial.parent.mkdir(parents=True, exist_ok=True)
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
                # Another run finished in the meantime, and the file that we locked has replaced the target.
                os.close(descriptor)

    def write(self, lines: Iterable[str]) -> None:
        """Add whole lines. They are kept even if the process stops after this returns."""
        for line in lines:
            self._begun().write(line)
        if self._file is not None:
            self._file.flush()

    def done(self) -> None:
        """Replace the file, even if nothing was written. Not even a power failure leaves half of it."""
        with self._begun() as file:
            file.flush()
            if self._is_direct:
                return
            if self._mode is not None:
                _set_mode(self.partial, self._mode)
            os.fsync(file.fileno())
            # Still locked, so that no other run starts writing the file that is about to be renamed.
            if os.name == "posix":
                self.partial.replace(self._place)
        if os.name != "posix":
            self.partial.replace(self._place)
        self._reserved = None
        sync_folder(self._place.parent)

    def leave(self) -> None:
        """Stop. What was written stays in the partial file."""
        # Errors in writing were reported when they happened.
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
            # With `--out /dev/stdout > file` other output goes to that file too. Opened by name, it would have its own
            # position, and one would overwrite the other.
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
                # Not read-only before it is done: otherwise the next run could not overwrite what a stopped run left.
                _set_mode(self.partial, self._mode | stat.S_IWUSR)
        return self._file


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def _opened(partial: Path, mode: int | None) -> int:
    """Return the descriptor of a partial file, creating it if needed. Links are never followed.

    Raises:
        OSError: The path is not a regular file, or the file has further links.
    """
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666 if mode is None else mode)
    except OSError as error:
        if error.errno != ELOOP:
            raise
        raise FileExistsError(EEXIST, f"{partial} is a link, and links are not followed. Remove it") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise FileExistsError(EEXIST, f"{partial} has other hard links, or is not a regular file. Remove it")
    return descriptor


@contextmanager
def whole_bytes(path: Path, mode: int = 0o666) -> Generator[IO[bytes]]:
    """Yield a file that replaces ``path`` when complete. It is removed if that fails; a missing folder is created.

    Its temporary name cannot be guessed, so no one can put a link there beforehand.

    Args:
        path: The file.
        mode: Permissions, reduced by the process's umask.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
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
    """Write a file completely, or leave it as it was.

    Args:
        path: The file.
        lines: Its content.
        mode: Permissions from the first byte on. None: as for any other file.

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
            # A partial file that is written at once is of no use to a later run.
            file.partial.unlink(missing_ok=True)
        raise NotWritten(f"expected a writable file; found {path}: {error.strerror}", error) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file completely, or leave it as it was.

    Raises:
        InputError: It cannot be written.
    """
    try:
        with whole_bytes(path) as file:
            file.write(content)
    except OSError as error:
        raise NotWritten(f"expected a writable file; found {path}: {error.strerror}", error) from None


def _lock(descriptor: int) -> None:
    """Lock an open file if the system can; some network folders cannot.

    Raises:
        BlockingIOError: Another process holds the lock.
    """
    if sys.platform == "win32":
        _lock_byte(descriptor)
        return
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass


_LOCKED_BYTE = 1 << 30
"""Windows keeps others from the bytes that are locked, so the byte is one behind the content."""


def _lock_byte(descriptor: int) -> None:
    """Lock one byte of an open file, as Windows locks files.

    Raises:
        BlockingIOError: Another process holds the lock.
    """
    import msvcrt

    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # pyright: ignore
    except PermissionError as error:
        raise BlockingIOError(error.errno, "another process holds the lock") from None
    except OSError:
        pass
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _set_mode(file: Path, mode: int) -> None:
    # Some file systems have no modes and refuse to set them; that is no reason to lose what was written.
    with suppress(OSError):
        file.chmod(mode)


def _stream_of(path: Path) -> int | None:
    """Return the descriptor that a path names, such as /dev/stdout, or None."""
    absolute = Path(os.path.abspath(path))
    if absolute.parent == _OPEN_FILES and absolute.name.isdecimal() and path.exists():
        return int(absolute.name)
    return _STREAMS.get(absolute)


def _is_special(path: Path) -> bool:
    """Whether it exists and is a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


def sync_folder(folder: Path) -> None:
    """Make the names of new files survive a power failure, if the system can."""
    # Windows cannot open folders, and some network folders cannot be synced.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def only_one(folder: Path, name: str, doing: str, other: str = "process") -> Generator[None, None, None]:
    """Hold a folder, creating it if needed. The system releases it when the process ends in any way.

    Some network folders have no such lock: nothing is locked there.

    Args:
        folder: The folder.
        name: Name of the lock file in it.
        doing: What is done there, for the error: ``builds``.
        other: What else may hold it, for the error.

    Raises:
        InputError: Another process holds it, or it cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _held(folder / name)
    except BlockingIOError:
        raise Held(
            f"expected to be the only one that {doing} {folder}; another {other} is at work there. "
            "Wait until it ends, or stop it"
        ) from None
    except OSError as error:
        raise NotWritten(f"expected a writable folder; found {folder}: {error.strerror}", error) from None
    try:
        yield
    finally:
        os.close(descriptor)


def _held(lock: Path) -> int:
    """Open and lock a file, and make sure that it is still the one of this name.

    Raises:
        BlockingIOError: Another process holds it.
    """
    while True:
        descriptor = _opened(lock, None)
        try:
            _lock(descriptor)
        except BlockingIOError:
            os.close(descriptor)
            raise
        if _is_at(descriptor, lock):
            return descriptor
        os.close(descriptor)


_LOG = logging.getLogger(__name__)


def expanded(path: str | Path) -> Path | None:
    """Return a path with its ``~`` expanded; None if the user has no home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return None


def own_folder(ours: str, shared: str, default: str) -> Path | None:
    """Return ``$ours``, else ``vericite`` in ``$shared``, else in ``default``; None without a home."""
    if own := text(ours):
        return expanded(own)
    return expanded(Path(os.environ.get(shared) or default) / "vericite")


def default_cache_folder() -> Path | None:
    """Return ``$VERICITE_CACHE``, else ``$XDG_CACHE_HOME/vericite``, else ``~/.cache/vericite``; None: no home."""
    return own_folder(CACHE, "XDG_CACHE_HOME", "~/.cache")


def cache_file(cache: Path | Literal["default"], name: str) -> Path | None:
    """Return the file of this name in a cache folder. A given ``.sqlite`` file is used itself.

    Returns None with a warning if the folder would be in a home that does not exist.
    """
    folder = default_cache_folder() if cache == "default" else expanded(cache)
    if folder is None:
        _LOG.warning(
            "expected a folder for the cache %s; found none, since there is no home folder. Nothing is cached in this "
            "run. Set VERICITE_CACHE to a folder.",
            name,
        )
        return None
    return folder if folder.suffix == ".sqlite" else folder / name
