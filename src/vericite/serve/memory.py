"""Return free memory to the operating system after requests; the C library would keep it."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from functools import cache

LARGE = 200_000
"""Minimum body size in bytes for running the garbage collector after the request."""
_ARENAS, _MAX_ARENAS = -8, 2
"""``M_ARENA_MAX`` of glibc, and the number of memory pools for all threads; glibc's default is eight per core."""
_PAUSE = 2.0
"""Seconds between two trims: each takes some milliseconds, and the next request needs memory again."""


@cache
def _library() -> ctypes.CDLL | None:
    """Return the C library if it supports ``malloc_trim``."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "malloc_trim") else None


def share_arenas() -> None:
    """Make threads share memory pools, so that one can reuse what another freed. Call before starting threads."""
    if (library := _library()) is not None and hasattr(library, "mallopt"):
        library.mallopt(_ARENAS, _MAX_ARENAS)


def trim(collect: bool = True) -> None:
    """Return free memory to the operating system.

    Args:
        collect: Whether to run the garbage collector first, which blocks all other threads.
    """
    if collect:
        gc.collect()
    if (library := _library()) is not None:
        library.malloc_trim(0)


class MemoryTrimmer:
    """Returns memory after requests, in a thread, at most once every two seconds."""

    def __init__(self, trim: Callable[[bool], None] = trim) -> None:
        self._trim = trim
        self._wanted = threading.Event()
        self._after_large = False
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="memory", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def request(self, after_large: bool = False) -> None:
        """Trim memory soon, when the current request has released it."""
        self._after_large |= after_large
        self._wanted.set()

    def close(self) -> None:
        """Stop the thread."""
        self._closed = True
        self._wanted.set()

    def _serve(self) -> None:
        while True:
            self._wanted.wait()
            if self._closed:
                return
            time.sleep(_PAUSE)
            self._wanted.clear()
            collect, self._after_large = self._after_large, False
            self._trim(collect)
