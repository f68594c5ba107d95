"""Memory that requests took, given back to the system: the C library would keep it for this process."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from functools import cache

LARGE = 200_000
"""Bytes of a body from which on garbage is looked for after its request."""
_ARENAS, _MOST_ARENAS = -8, 2
"""``M_ARENA_MAX`` of glibc, and how many pools of memory all threads share; its default is eight for each core."""
_PAUSE = 2.0
"""Seconds between two times: giving back takes some milliseconds, and the next request takes the memory again."""


@cache
def _library() -> ctypes.CDLL | None:
    """The C library, where it is one that can give memory back."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "malloc_trim") else None


def share_arenas() -> None:
    """Have threads share pools of memory, before there are threads: what one leaves, another can use."""
    if (library := _library()) is not None and hasattr(library, "mallopt"):
        library.mallopt(_ARENAS, _MOST_ARENAS)


def trim(collect: bool = True) -> None:
    """Give free memory back to the system.

    Args:
        collect: Whether to look for garbage in reference cycles first, which no other thread can run beside.
    """
    if collect:
        gc.collect()
    if (library := _library()) is not None:
        library.malloc_trim(0)


class Returns:
    """Gives memory back after requests, in a thread, at most once in two seconds."""

    def __init__(self, give: Callable[[bool], None] = trim) -> None:
        self._give = give
        self._wanted = threading.Event()
        self._after_large = False
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="memory", daemon=True)

    def start(self) -> None:
        """Begin to wait for requests."""
        self._thread.start()

    def soon(self, after_large: bool = False) -> None:
        """Give free memory back in a moment, when the request has let go of it."""
        self._after_large |= after_large
        self._wanted.set()

    def close(self) -> None:
        """Wait no longer."""
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
            self._give(collect)
