"""Read uploaded files in separate processes, which can be killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from queue import Empty, Full, Queue
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import IO, Any, Self, cast

from vericite.disk.files import NotWritten, write_bytes
from vericite.errors import InputError, MissingExtraError
from vericite.serve.upload_process import ABSENT, DOCUMENT, END, ERROR

SECONDS = 60
"""Maximum seconds to read one file."""
_MEMORY = 4 << 30
"""Maximum bytes that a reading process may map; the process that reads a PDF has its own, lower limit."""
_AT_ONCE = 4
"""Maximum number of files read at a time."""
_CHECK_SECONDS = 0.2
_PIECES_AHEAD = 16
"""Number of pieces of 64 KiB that are read before they are needed."""
_MAX_LINE_BYTES = 100_000_000
"""Maximum bytes of one document that are read into this process."""
_CLOSED = "expected a running service; found one that is shutting down. Ask again later"


class UploadReaders:
    """Processes that read files. One is always ready, since it takes a second to start."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._turns = BoundedSemaphore(_AT_ONCE)
        self._spare: subprocess.Popen[bytes] | None = None
        self._busy: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def warm(self) -> None:
        """Start a process for the next file."""
        with self._lock:
            if self._spare is None and not self._closed:
                self._spare = _start_process()

    def read(
        self, path: Path, check: Callable[[], None], task: str = DOCUMENT, **details: Any
    ) -> Iterator[tuple[str, Any]]:
        """Yield what ``upload_process`` prints of a file, as pairs of a kind and a value.

        Args:
            path: The file.
            task: What to do with it: a kind of ``upload_process``.
            details: What the task needs: the ``name`` of documents without an id, files of a ``bibliography``.
            check: Called repeatedly while reading; an exception that it raises stops the reading.

        Raises:
            InputError: The file cannot be read, or takes too long.
        """
        while not self._turns.acquire(timeout=_CHECK_SECONDS):
            check()
        try:
            yield from self._read(path, {"task": task, **details}, check)
        finally:
            self._turns.release()

    def _read(self, path: Path, task: dict[str, Any], check: Callable[[], None]) -> Iterator[tuple[str, Any]]:
        process = self._take_process()
        assert process.stdin is not None and process.stdout is not None
        wanted = {**task, "path": str(path), "bytes": _MEMORY, "seconds": SECONDS}
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(wanted).encode() + b"\n")
                process.stdin.flush()
            for line in _lines(process.stdout, path, check):
                what, value = json.loads(line)
                if what == END:
                    return
                if what == ERROR:
                    raise InputError(value)
                if what == ABSENT:
                    raise MissingExtraError(*value)
                yield what, value
            if self._closed:
                raise InputError(_CLOSED)
            raise InputError(f"expected a file that can be read; found {path}, which needs too much memory or time")
        finally:
            self._end(process)
            self.warm()

    def close(self) -> None:
        """Kill all processes."""
        with self._lock:
            self._closed = True
            busy, spare, self._spare = list(self._busy), self._spare, None
        for process in busy:
            # The thread that reads from it sees the end and closes its pipes.
            _kill(process)
        if spare is not None:
            self._end(spare)

    def _take_process(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise InputError(_CLOSED)
            process, self._spare = self._spare, None
            if process is None or process.poll() is not None:
                process = _start_process()
            self._busy.add(process)
            return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        _kill(process)
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()
        with self._lock:
            self._busy.discard(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        # It has no groups of processes; a process that reads a PDF ends by its own limits.
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        # The group includes the process that may have been started to read a PDF.
        os.killpg(process.pid, signal.SIGKILL)


def _start_process() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "vericite.serve.upload_process"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _lines(pipe: IO[bytes], path: Path, check: Callable[[], None]) -> Iterator[bytes]:
    """Yield the complete lines that a process prints, until it ends."""
    deadline = time.monotonic() + SECONDS
    left = bytearray()
    pieces: Queue[bytes] = Queue(_PIECES_AHEAD)
    stopped = Event()
    # A thread, since Windows cannot wait for a pipe for a limited time.
    Thread(target=_read_pieces, args=(pipe, pieces, stopped), daemon=True).start()
    try:
        while True:
            if time.monotonic() > deadline:
                raise InputError(
                    f"expected a file that is read within {SECONDS} s; found {path}, which takes longer. Split it"
                )
            try:
                piece = pieces.get(timeout=_CHECK_SECONDS)
            except Empty:
                check()
                continue
            if not piece:
                return
            *lines, rest = piece.split(b"\n")
            for line in lines:
                yield bytes(left) + line
                left.clear()
                check()
            left += rest
            if len(left) > _MAX_LINE_BYTES:
                raise InputError(
                    f"expected documents of at most {_MAX_LINE_BYTES:,} bytes; found a longer one in {path}. Split it"
                )
    finally:
        stopped.set()


def _read_pieces(pipe: IO[bytes], pieces: Queue[bytes], stopped: Event) -> None:
    """Put what a process prints into a queue, and nothing at its end. Ends when the process does."""
    piece = b"first"
    while piece and not stopped.is_set():
        try:
            piece = cast(BufferedReader, pipe).read1(1 << 16)
        except ValueError:  # The pipe was closed.
            return
        while not stopped.is_set():
            with suppress(Full):
                pieces.put(piece, timeout=_CHECK_SECONDS)
                break


def safe_name(name: str, default: str) -> str:
    """Return the name of an uploaded file as text to show: no path, no control characters, not hidden, not long."""
    shown = re.sub(r"[^\w.() -]", "_", Path(name.replace("\\", "/")).name)[-100:].lstrip(".")
    return shown.encode()[-200:].decode(errors="ignore") or default


@contextmanager
def _written() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(f"expected a folder for temporary files; found: {error.strerror}", error) from None


class UploadFolder:
    """A folder for the files of a request, with names that messages may show. It is deleted in the end.

    Raises:
        NotWritten: The folder cannot be created.
    """

    def __init__(self) -> None:
        with _written():
            self.path = Path(tempfile.mkdtemp(prefix="vericite-upload-"))
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def add(self, name: str, content: bytes, default: str) -> Path:
        """Write a file into a folder of its own, and return its path."""
        self._count += 1
        path = self.path / str(self._count) / safe_name(name, default)
        with _written():
            path.parent.mkdir()
        write_bytes(path, content)
        return path

    def add_next_to(self, path: Path, name: str, content: bytes) -> None:
        """Write a file that another one includes, next to it.

        Raises:
            InputError: It has the name of a file that is there.
        """
        place = path.parent / safe_name(name, "part")
        if place.exists():
            raise InputError(f"expected files with different names; found two called {place.name}. Rename one")
        write_bytes(place, content)

    def without_places(self, text: str) -> str:
        """Return a message that names files only as the client does."""
        return re.sub(rf"{re.escape(str(self.path))}[/\\](?:\d+[/\\])?", "", text)

    @contextmanager
    def named_as_sent(self) -> Generator[None]:
        """Have errors name files only as the client does."""
        try:
            yield
        except NotWritten:
            raise
        except InputError as error:
            raise InputError(self.without_places(str(error))) from None
