"""Read uploaded files in separate processes, which can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from select import select
from threading import BoundedSemaphore, Lock
from typing import IO, Any

from vericite.errors import InputError, MissingExtraError
from vericite.serve.upload_process import ABSENT, END, ERROR

SECONDS = 60
"""Maximum seconds to read one file."""
_MEMORY = 4 << 30
"""Maximum bytes that a reading process may map; the process that reads a PDF has its own, lower limit."""
_AT_ONCE = 4
"""Maximum number of files read at a time."""
_CHECK_SECONDS = 0.2
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

    def read(self, path: Path, name: str, check: Callable[[], None]) -> Iterator[tuple[str, Any]]:
        """Yield the contents of a file as pairs of a kind and a value.

        Args:
            path: The file.
            name: Name for documents without an id.
            check: Called repeatedly while reading; an exception that it raises stops the reading.

        Raises:
            InputError: The file cannot be read, or takes too long.
        """
        while not self._turns.acquire(timeout=_CHECK_SECONDS):
            check()
        try:
            yield from self._read(path, name, check)
        finally:
            self._turns.release()

    def _read(self, path: Path, name: str, check: Callable[[], None]) -> Iterator[tuple[str, Any]]:
        process = self._take_process()
        assert process.stdin is not None and process.stdout is not None
        wanted = {"path": str(path), "name": name, "bytes": _MEMORY, "seconds": SECONDS}
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
    while True:
        if time.monotonic() > deadline:
            raise InputError(
                f"expected a file that is read within {SECONDS} s; found {path}, which takes longer. Split it"
            )
        if not select([pipe], [], [], _CHECK_SECONDS)[0]:
            check()
            continue
        piece = os.read(pipe.fileno(), 1 << 16)
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
