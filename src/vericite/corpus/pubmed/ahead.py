"""Work done ahead, in a thread of its own: unpacking and parsing leave Python's lock to whoever uses what they made."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from queue import Full, Queue
from threading import Event, Thread, current_thread
from typing import TypeVar

_T = TypeVar("_T")

_PATIENCE = 0.1
"""Seconds between looks at whether anybody still waits."""


class _End:
    """What stands behind the last item, with the error that ended it early, if one did."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def ahead(source: Iterator[_T], most: int) -> Generator[_T, None, None]:
    """The same items, of which up to ``most`` are made before they are asked for.

    When this generator is closed, the thread has ended: whatever the source reads from may be closed then too.
    """
    made: Queue[_T | _End] = Queue(most)
    stopped = Event()
    thread = Thread(target=_make, args=(source, made, stopped), name="ahead", daemon=True)
    thread.start()
    try:
        while not isinstance(item := made.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        # Python may collect a forgotten generator in any thread, also in this one.
        if thread is not current_thread():
            thread.join()


def _make(source: Iterator[_T], made: Queue[_T | _End], stopped: Event) -> None:
    end = _End()
    try:
        for item in source:
            if not _put(item, made, stopped):
                return
    except BaseException as error:  # handed to whoever waits for the items
        end = _End(error)
    _put(end, made, stopped)


def _put(item: _T | _End, made: Queue[_T | _End], stopped: Event) -> bool:
    while not stopped.is_set():
        try:
            made.put(item, timeout=_PATIENCE)
        except Full:
            continue
        return True
    return False
