"""When a service may be asked, and when again: an even pace, pauses that it asks for, and growing waits."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock

_SLACK_OF_MINUTE, _SLACK_OF_SECOND = 1 / 60, 0.1
"""Parts added to them: requests arrive sooner or later than they were sent, by less than a second."""

_LONGEST_BACKOFF = 30.0
_LONGEST_PAUSE = 3600.0
"""Some services send a date's seconds where a wait is meant; an hour is as long as one may stop us."""

_NEVER = float("-inf")

_TICK = 0.001
"""The least one sleeps: less may be nothing to a clock, which would then never get there."""


@dataclass
class PacedTurn:
    """A turn that was taken: when, and how many tokens it counts for (corrected once they are known)."""

    at: float
    tokens: int


class Pace:
    """When the next attempt may go.

    Attempts are spread evenly, so that no window of a minute, wherever it begins, holds more than the limit. Tokens
    are counted in a sliding window; what exceeds the limit all by itself goes when the window is empty.
    """

    def __init__(self, requests: int | None, tokens: int | None, minute: float) -> None:
        self._window_length = minute * (1 + _SLACK_OF_MINUTE)
        self._interval = self._window_length / requests if requests else 0.0
        self._tokens = tokens
        self._last = _NEVER
        self._paused_until = _NEVER
        self._window: deque[PacedTurn] = deque()

    def wait(self, now: float, tokens: int, interval: float | None = None) -> float:
        """Seconds until an attempt of so many tokens may go; 0 where it may go now.

        ``interval`` is what this attempt keeps from the one before, in place of what the limit gives.
        """
        interval = self._interval if interval is None else interval
        return max(0.0, self.pause_left(now), self._last + interval - now, self._wait_for_tokens(now, tokens))

    def take(self, now: float, tokens: int) -> PacedTurn:
        """Take the turn."""
        slot = PacedTurn(now, tokens)
        self._last = now
        if self._tokens is not None:
            self._window.append(slot)
        return slot

    def pause(self, now: float, seconds: float) -> None:
        """Let nothing go for so long."""
        self._paused_until = max(self._paused_until, now + min(seconds, _LONGEST_PAUSE))

    def pause_left(self, now: float) -> float:
        """Seconds of the pause that are left."""
        return max(0.0, self._paused_until - now)

    def _wait_for_tokens(self, now: float, tokens: int) -> float:
        if self._tokens is None:
            return 0.0
        while self._window and now - self._window[0].at >= self._window_length:
            self._window.popleft()
        free = self._tokens - sum(slot.tokens for slot in self._window)
        wait = 0.0
        for slot in self._window:
            if tokens <= free:
                break
            free += slot.tokens
            wait = slot.at + self._window_length - now
        return wait


class Limiter:
    """Lets attempts go at the pace, in the order they come. It belongs to one event loop at a time (``begin``)."""

    def __init__(
        self,
        pace: Pace,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._pace = pace
        self._clock = clock
        self._sleep = sleep
        self._turn = asyncio.Lock()

    def begin(self) -> None:
        """Start on a new event loop; what has been counted stays counted."""
        self._turn = asyncio.Lock()

    async def slot(self, tokens: int, patience: float) -> PacedTurn | float:
        """Wait for the turn and take it; or the seconds of a pause that is longer than ``patience``."""
        async with self._turn:
            # The turn is counted when it is taken, not when it was promised: a machine that was held up
            # would otherwise let what it had promised go all at once.
            while True:
                now = self._clock()
                if (pause := self._pace.pause_left(now)) > patience:
                    return pause
                if (wait := self._pace.wait(now, tokens)) <= 0:
                    return self._pace.take(now, tokens)
                await self._sleep(max(wait, _TICK))

    def pause(self, seconds: float) -> None:
        """Let nothing go for so long."""
        self._pace.pause(self._clock(), seconds)


class Turnstile:
    """As ``Limiter``, for threads: no second, wherever it begins, holds more requests than the limit.

    Spread rather than in bursts, because a service counts any second, not ours.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._pace = Pace(None, None, 1.0)
        self._clock = clock
        self._sleep = sleep
        self._turn = Lock()

    def enter(self, per_second: float) -> float:
        """Wait for the turn at this rate, and the time it was taken.

        Clients with other rates may pass in between: each keeps its distance from the one before, so that together
        they are no faster than the fastest of them.
        """
        interval = (1 + _SLACK_OF_SECOND) / per_second
        with self._turn:
            while (wait := self._pace.wait(self._clock(), 0, interval)) > 0:
                self._sleep(max(wait, _TICK))
            return self._pace.take(self._clock(), 0).at

    def pause(self, seconds: float) -> None:
        """Let nothing through for so long."""
        self._pace.pause(self._clock(), seconds)


_TURNSTILES: dict[str, Turnstile] = {}
_MAKING = Lock()


def turnstile_of(address: str) -> Turnstile:
    """The one turnstile of this process before an address."""
    with _MAKING:
        return _TURNSTILES.setdefault(address, Turnstile())


def backoff(attempt: int, first: float, chance: Callable[[], float] = random.random) -> float:
    """Seconds to wait after so many attempts that failed: about ``first``, and each time twice as long."""
    # Jittered, so that calls that failed together do not come back together.
    return min(_LONGEST_BACKOFF, first * 2 ** (attempt - 1)) * (0.5 + chance() / 2)


def seconds_asked(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """What ``Retry-After`` asks for, in seconds; None where it is absent or unreadable.

    It comes as seconds or as a date; some services send ``retry-after-ms``, which is the finer of the two.
    """
    if (fine := _number(headers.get("retry-after-ms", ""))) is not None:
        return fine / 1000
    asked = headers.get("retry-after", "").strip()
    if (seconds := _number(asked)) is not None:
        return seconds
    try:
        date = parsedate_to_datetime(asked)
    except (TypeError, ValueError, IndexError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.fromtimestamp(now(), UTC)).total_seconds())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
