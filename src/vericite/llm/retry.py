"""When to try again, how long to wait before, and when to stop trying at all."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from vericite.llm.backend import BackendError
from vericite.llm.settings import Settings

_LONGEST_BACKOFF = 30.0
_UNREACHABLE_AFTER = 20
_PROBE_EVERY = 60.0
"""Seconds after which one call may find out whether a service that did not answer is back."""


class Trip:
    """One call on its way: how often it was tried and how much of its time is used up.

    The time is that of its attempts and of the waits between them; waiting for a turn is not counted.
    """

    def __init__(self, settings: Settings, chance: Callable[[], float] = random.random) -> None:
        self._settings = settings
        self._chance = chance
        self._started = time.monotonic()
        self.attempts = 0
        self.spent = 0.0

    @property
    def left(self) -> float:
        """Seconds to the deadline."""
        return self._settings.deadline - self.spent

    @property
    def timeout(self) -> float:
        """Seconds the next attempt may take."""
        return max(0.001, min(self._settings.timeout, self.left))

    @property
    def seconds(self) -> float:
        """Since the call was made."""
        return time.monotonic() - self._started

    def next_wait(self, problem: BackendError) -> float | str:
        """Seconds to wait before the next attempt, or the reason why there is none."""
        if not problem.retry:
            return problem.reason
        if self.attempts >= self._settings.attempts:
            return f"{problem.reason} (after {self.attempts} attempts)"
        # Jittered, so that calls that failed together do not come back together.
        wait = min(_LONGEST_BACKOFF, self._settings.backoff * 2 ** (self.attempts - 1)) * (0.5 + self._chance() / 2)
        if problem.after is not None and problem.after >= self.left:
            return self.beyond_deadline(problem.reason, problem.after)
        wait = max(wait, problem.after or 0.0)
        if wait >= self.left:
            return (
                f"{problem.reason} (after {self.attempts} attempts, at the deadline of {self._settings.deadline:g} s)"
            )
        return wait

    def beyond_deadline(self, reason: str, seconds: float) -> str:
        """Why a call does not wait as long as the service asks."""
        return (
            f"{reason}; the service asks to wait {seconds:.0f} s, beyond the call's deadline of "
            f"{self._settings.deadline:g} s. Ask later, ask more slowly (requests_per_minute), or raise the deadline"
        )


class Breaker:
    """Stops asking a service that has not answered 20 calls in a row; now and then one call finds out if it is back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed = 0
        self._reason = ""
        self._since = 0.0

    @property
    def refusal(self) -> str | None:
        """Why a call is not made, or None where it is."""
        if self._failed < _UNREACHABLE_AFTER:
            return None
        now = self._clock()
        if now - self._since >= _PROBE_EVERY:
            self._since = now
            return None
        return f"not asked: the last {self._failed} calls failed: {self._reason}"

    def answered(self) -> None:
        """Something came back, if only a refusal."""
        self._failed = 0

    def unanswered(self, reason: str) -> None:
        """A call was given up on without an answer."""
        self._failed += 1
        self._reason = reason
        self._since = self._clock()


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
