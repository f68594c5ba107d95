"""Requests and tokens per minute, and the pauses a service asks for: one turn at a time, in order.

``Pace`` is the law and knows no clock; ``Limiter`` waits for it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_SLACK = 1 / 60
"""Part of a minute added to it: requests arrive sooner or later than they were sent, by less than a second."""

_LONGEST_PAUSE = 3600.0
"""Some services send a date's seconds where a wait is meant; an hour is as long as one may stop us."""

_NEVER = float("-inf")

_TICK = 0.001
"""The least one sleeps: less may be nothing to a clock, which would then never get there."""


@dataclass
class Slot:
    """A turn that was taken: when, and how many tokens it counts for (corrected once they are known)."""

    at: float
    tokens: int


class Pace:
    """When the next attempt may go.

    Attempts are spread evenly, so that no window of a minute, wherever it begins, holds more than the limit. Tokens
    are counted in a sliding window; what exceeds the limit all by itself goes when the window is empty.
    """

    def __init__(self, requests: int | None, tokens: int | None, minute: float) -> None:
        self._window_length = minute * (1 + _SLACK)
        self._interval = self._window_length / requests if requests else 0.0
        self._tokens = tokens
        self._last = _NEVER
        self._paused_until = _NEVER
        self._window: deque[Slot] = deque()

    def wait(self, now: float, tokens: int) -> float:
        """Seconds until an attempt of so many tokens may go; 0 where it may go now."""
        return max(0.0, self.pause_left(now), self._last + self._interval - now, self._wait_for_tokens(now, tokens))

    def take(self, now: float, tokens: int) -> Slot:
        """Take the turn."""
        slot = Slot(now, tokens)
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

    async def slot(self, tokens: int, patience: float) -> Slot | float:
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
