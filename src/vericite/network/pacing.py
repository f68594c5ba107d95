"""Pacing of requests to a service: an even rate, pauses that it asks for, and growing waits."""

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
"""Added to a minute or second, because requests may arrive up to a second earlier or later than they were sent."""

_LONGEST_BACKOFF = 30.0
_LONGEST_PAUSE = 3600.0
"""Maximum pause in seconds: some services send a date's seconds where a wait is meant."""

_NEVER = float("-inf")

_TICK = 0.001
"""Minimum sleep: a clock may not register less, and would then never advance."""


@dataclass
class PacedTurn:
    """A turn that was taken: its time, and the number of tokens it counts for (corrected once known)."""

    at: float
    tokens: int


class Pace:
    """Decides when the next attempt may start.

    Attempts are spread evenly, so that no window of a minute contains more than the limit. Tokens are counted in a
    sliding window. An attempt that alone exceeds the limit starts when the window is empty.
    """

    def __init__(self, requests: int | None, tokens: int | None, minute: float) -> None:
        self._window_length = minute * (1 + _SLACK_OF_MINUTE)
        self._interval = self._window_length / requests if requests else 0.0
        self._tokens = tokens
        self._last = _NEVER
        self._paused_until = _NEVER
        self._window: deque[PacedTurn] = deque()

    def wait(self, now: float, tokens: int, interval: float | None = None) -> float:
        """Return the seconds until an attempt with this number of tokens may start; 0 for now.

        ``interval`` replaces the interval between attempts that follows from the limit.
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
        """Stop all attempts for this many seconds."""
        self._paused_until = max(self._paused_until, now + min(seconds, _LONGEST_PAUSE))

    def pause_left(self, now: float) -> float:
        """Return the remaining seconds of the pause."""
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
    """Lets attempts start at the pace, in order of arrival. It belongs to one event loop at a time (``begin``)."""

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
        """Start on a new event loop; counts are kept."""
        self._turn = asyncio.Lock()

    async def slot(self, tokens: int, patience: float) -> PacedTurn | float:
        """Wait for the turn and take it, or return the seconds of a pause that is longer than ``patience``."""
        async with self._turn:
            # A turn counts when it is taken, not when it is planned. Otherwise a machine that was suspended would send
            # all planned attempts at once.
            while True:
                now = self._clock()
                if (pause := self._pace.pause_left(now)) > patience:
                    return pause
                if (wait := self._pace.wait(now, tokens)) <= 0:
                    return self._pace.take(now, tokens)
                await self._sleep(max(wait, _TICK))

    def pause(self, seconds: float) -> None:
        """Stop all attempts for this many seconds."""
        self._pace.pause(self._clock(), seconds)


class Turnstile:
    """Like ``Limiter``, for threads: no window of a second contains more requests than the limit.

    Requests are spread evenly, because a service may count any second.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._pace = Pace(None, None, 1.0)
        self._clock = clock
        self._sleep = sleep
        self._turn = Lock()

    def enter(self, per_second: float) -> float:
        """Wait for the turn at this rate, and return the time it was taken.

        Clients with other rates may pass in between. Each keeps its distance from the previous one, so together they
        are no faster than the fastest of them.
        """
        interval = (1 + _SLACK_OF_SECOND) / per_second
        with self._turn:
            while (wait := self._pace.wait(self._clock(), 0, interval)) > 0:
                self._sleep(max(wait, _TICK))
            return self._pace.take(self._clock(), 0).at

    def pause(self, seconds: float) -> None:
        """Let no request through for this many seconds."""
        self._pace.pause(self._clock(), seconds)


_TURNSTILES: dict[str, Turnstile] = {}
_CREATING = Lock()


def turnstile_of(address: str) -> Turnstile:
    """Return this process's turnstile for an address."""
    with _CREATING:
        return _TURNSTILES.setdefault(address, Turnstile())


def backoff(attempt: int, first: float, chance: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait after this many failures: about ``first``, doubled each time."""
    # With jitter, so that calls that failed together do not retry together.
    return min(_LONGEST_BACKOFF, first * 2 ** (attempt - 1)) * (0.5 + chance() / 2)


def seconds_asked(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that ``Retry-After`` asks for; None if it is absent or unreadable.

    It has seconds or a date. Some services send the more precise ``retry-after-ms``.
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
