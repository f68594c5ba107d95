"""Values that several requests share: each is made once, and the most recently used are kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar, TypeVarTuple, cast

_Key = TypeVarTuple("_Key")
_T = TypeVar("_T")


class MadeOnce(Generic[*_Key, _T]):
    """Makes a value for a key, or returns the one that is kept. Thread-safe.

    Requests for the same key wait until one of them has made the value; those for other keys do not wait.

    Args:
        make: Makes the value. One that cannot be made is not kept, and is tried again by each that waits for it.
        most: Values to keep.
    """

    def __init__(self, make: Callable[[*_Key], _T], most: int) -> None:
        self._make = make
        self._most = most
        self._kept: OrderedDict[Hashable, Future[_T]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, *key: *_Key) -> _T:
        """Return the value of a key."""
        by = cast(Hashable, key)
        while True:
            with self._lock:
                value = self._kept.get(by)
                if is_first := value is None:
                    value = self._kept[by] = Future()
                self._kept.move_to_end(by)
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            if is_first:
                return self._fill(by, value, key)
            if value.exception() is None:
                return value.result()

    def _fill(self, by: Hashable, value: Future[_T], key: tuple[*_Key]) -> _T:
        try:
            value.set_result(self._make(*key))
        except BaseException as error:
            with self._lock:
                if self._kept.get(by) is value:
                    del self._kept[by]
            value.set_exception(error)
            raise
        return value.result()
