"""One pace for all that this process asks of one address, whatever client or thread asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

_SLACK = 0.1
"""Part of an interval added to it: requests arrive sooner or later than they were sent."""

_TICK = 0.001
"""The least one sleeps: less may be nothing to a clock, which would then never get there."""

_LONGEST_PAUSE = 3600.0


class Turnstile:
    """Lets requests through one by one, evenly spread: no second, wherever it begins, holds more than the limit.

    Spread rather than in bursts, because a service counts any second, not ours. Threads may share it.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._turn = Lock()
        self._last = float("-inf")
        self._paused_until = float("-inf")

    def enter(self, per_second: float) -> float:
        """Wait for the turn at this rate, and the time it was taken.

        Clients with other rates may pass in between: each keeps its distance from the one before, so that together
        they are no faster than the fastest of them.
        """
        interval = (1 + _SLACK) / per_second
        with self._turn:
            # The turn is counted when it is taken, not when it was promised: a machine that was held up would
            # otherwise let what it had promised go all at once.
            while (wait := max(self._last + interval, self._paused_until) - self._clock()) > 0:
                self._sleep(max(wait, _TICK))
            self._last = self._clock()
            return self._last

    def pause(self, seconds: float) -> None:
        """Let nothing through for so long."""
        self._paused_until = max(self._paused_until, self._clock() + min(seconds, _LONGEST_PAUSE))


_TURNSTILES: dict[str, Turnstile] = {}
_MAKING = Lock()


def turnstile_of(address: str) -> Turnstile:
    """The one turnstile of this process before an address."""
    with _MAKING:
        return _TURNSTILES.setdefault(address, Turnstile())
