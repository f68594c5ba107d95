"""When to try again, how long to wait before, and when to stop trying at all."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from vericite.llm.backend import BackendError
from vericite.llm.chat import ChatRequest
from vericite.llm.concessions import left_out, without
from vericite.llm.settings import Settings

_LONGEST_BACKOFF = 30.0
_GIVEN_UP_AFTER = 20
_PROBE_EVERY = 60.0
"""Seconds after which one call may find out whether a service is back that did not answer, or refused."""


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
        self.refused = frozenset[str]()
        self._sent: ChatRequest | None = None
        self._concessions = 0
        self._changed = False

    @property
    def deadline(self) -> float:
        """Seconds that it may take."""
        return self._settings.call_deadline

    @property
    def left(self) -> float:
        """Seconds to the deadline."""
        return self.deadline - self.spent

    @property
    def timeout(self) -> float:
        """Seconds the next attempt may take."""
        return max(0.001, min(self._settings.timeout, self.left))

    @property
    def seconds(self) -> float:
        """Since the call was made."""
        return time.monotonic() - self._started

    def take(self, request: ChatRequest, refused: frozenset[str]) -> ChatRequest:
        """The request to send now: without what the service has refused to take, of this call or of one before."""
        self.refused |= refused
        self._sent = without(request, self.refused)
        return self._sent

    def concede(self, problem: BackendError) -> bool:
        """Whether to ask again at once, without something that the service may have refused to take."""
        sent = self._sent
        has = (name for name in problem.refuses if sent is not None and left_out(sent, frozenset([name])))
        # Each at most once, so that it ends.
        if problem.changed and not self._changed:
            self._changed = True
        elif name := next(has, None):
            self.refused |= {name}
        else:
            return False
        self._concessions += 1
        return self.left > 0

    def next_wait(self, problem: BackendError) -> float | str:
        """Seconds to wait before the next attempt, or the reason why there is none."""
        if not problem.retry:
            return problem.reason
        tried = self.attempts - self._concessions
        if tried >= self._settings.attempts:
            return f"{problem.reason} (after {self.attempts} attempts)"
        # Jittered, so that calls that failed together do not come back together.
        wait = min(_LONGEST_BACKOFF, self._settings.backoff * 2 ** (tried - 1)) * (0.5 + self._chance() / 2)
        if problem.after is not None and problem.after >= self.left:
            return self.beyond_deadline(problem.reason, problem.after)
        wait = max(wait, problem.after or 0.0)
        if wait >= self.left:
            return f"{problem.reason} (after {self.attempts} attempts, at the deadline of {self.deadline:g} s)"
        return wait

    def beyond_deadline(self, reason: str, seconds: float) -> str:
        """Why a call does not wait as long as the service asks."""
        return (
            f"{reason}; the service asks to wait {seconds:.0f} s, beyond the call's deadline of "
            f"{self.deadline:g} s. Ask later, ask more slowly (requests_per_minute), or raise the deadline"
        )


class Breaker:
    """Stops asking after 20 calls in a row that came to the same end; now and then one call finds out if it is over.

    The end is no answer at all, or a refusal with the same status. One success begins the count anew.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed = 0
        self._status: int | None = None
        self._reason = ""
        self._since = 0.0

    @property
    def refusal(self) -> str | None:
        """Why a call is not made, or None where it is."""
        if self._failed < _GIVEN_UP_AFTER:
            return None
        now = self._clock()
        if now - self._since >= _PROBE_EVERY:
            self._since = now
            return None
        return f"not asked: the last {self._failed} calls failed: {self._reason}"

    def succeeded(self) -> None:
        """A reply came, or a call failed in a way of its own."""
        self._failed = 0

    def answered(self) -> None:
        """Something came back, if only a refusal: the service is there."""
        if self._status is None:
            self._failed = 0

    def unanswered(self, reason: str) -> None:
        """A call was given up on without an answer."""
        self._count(None, reason)

    def refused(self, status: int, reason: str) -> None:
        """A call was refused, for no reason that lies in this one request."""
        self._count(status, reason)

    def _count(self, status: int | None, reason: str) -> None:
        self._failed = self._failed + 1 if status == self._status else 1
        self._status = status
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
