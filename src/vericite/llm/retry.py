"""When to try again, how long to wait before, and when to stop trying at all."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

from vericite.llm.chat import Alternative, ChatRequest, Settings, Usage
from vericite.network.pacing import backoff


class RawReply(NamedTuple):
    """What the model wrote, why it stopped, and what that took (None where the service does not say).

    ``other`` is the name of the model that the service says wrote it, if that is another than the one asked for.
    """

    text: str
    finish: str | None
    usage: Usage | None
    alternatives: tuple[Alternative, ...] = ()
    other: str | None = None


class BackendError(Exception):
    """One attempt failed. It never leaves the client, which retries, records or raises in its own words.

    Attributes:
        reason: What went wrong, without any secret.
        retry: Whether the same attempt may do better later.
        after: Seconds the service asks everybody to wait, or None.
        fatal: Whether every call would fail alike.
        unreachable: Whether nothing came back at all: no connection, or no answer in time.
        silent: Whether the service took the request and did not answer in time.
        raw: What the service sent, without any secret.
        usage: What the attempt took all the same, where the service says so.
        status: The status of a refusal that may meet every request alike; None where this request is at fault.
        refuses: Options of the request (``vericite.llm.retry``) that it may be about, the likeliest first.
        context: Tokens of prompt and reply that the model takes, where it says so in its refusal.
        changed: Whether the carrier has drawn a conclusion from it: asked again at once, it asks differently.
    """

    def __init__(
        self,
        reason: str,
        retry: bool,
        after: float | None = None,
        fatal: bool = False,
        raw: str | None = None,
        *,
        unreachable: bool = False,
        silent: bool = False,
        usage: Usage | None = None,
        status: int | None = None,
        refuses: tuple[str, ...] = (),
        context: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry = retry
        self.after = after
        self.fatal = fatal
        self.raw = raw
        self.unreachable = unreachable
        self.silent = silent
        self.usage = usage
        self.status = status
        self.refuses = refuses
        self.context = context
        self.changed = False


class Backend(Protocol):
    """Carries one attempt to a model."""

    @property
    def signature(self) -> str:
        """What tells its model from others; never a secret."""
        ...

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        """Ask once; end within ``timeout`` seconds.

        Raises:
            BackendError: No usable reply came.
        """
        ...

    def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        """Ask once; yield the reply piece by piece and last of all the whole. No piece takes over ``timeout`` seconds.

        Raises:
            BackendError: The reply did not come to its end.
        """
        ...

    async def aclose(self) -> None:
        """Let go of what belongs to the running event loop. Calls may follow, on another loop."""
        ...


SCHEMA, TEMPERATURE, LIMIT, ALTERNATIVES = "schema", "temperature", "limit", "alternatives"

_STATUSES = (400, 404, 422)
_SCHEMA_WORDS = ("response_format", "json_schema", "structured output", "structured_output")
_LIMIT_WORDS = ("max_tokens", "max_completion_tokens")
_UNKNOWN_WORDS = (
    "unsupported",
    "not support",
    "instead",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra",
    "permitted",
)
"""Of the limit's name: its value may be refused too, and then another name does not help."""

_ANY_WORDS = ("requested parameters",)
"""OpenRouter's, where none of those who run a model take all that a request has."""

_LEAVES_OUT: dict[str, Callable[[ChatRequest], ChatRequest]] = {
    SCHEMA: lambda request: replace(request, schema=None),
    TEMPERATURE: lambda request: replace(request, temperature=None),
    ALTERNATIVES: lambda request: replace(request, alternatives=0),
}


def refused_options(status: int, words: str, parameter: str) -> tuple[str, ...]:
    """What a refusal may be about, the likeliest first.

    Args:
        status: Of the response.
        words: The service's message and codes, in lower case.
        parameter: The one that it names as the cause, where it does.
    """
    if status not in _STATUSES:
        return ()
    if any(phrase in words for phrase in _ANY_WORDS):
        return (ALTERNATIVES, SCHEMA, TEMPERATURE)
    named = f"{parameter} {words}".lower()
    places = {
        SCHEMA: _place(named, _SCHEMA_WORDS),
        TEMPERATURE: _place(named, ("temperature",)),
        ALTERNATIVES: _place(named, ("logprob",)),
    }
    if any(phrase in named for phrase in _UNKNOWN_WORDS):
        places[LIMIT] = _place(named, _LIMIT_WORDS)
    # Some repeat the whole request after what is wrong with it.
    return tuple(sorted((option for option in places if places[option] >= 0), key=lambda option: places[option]))


def left_out(request: ChatRequest, refused: frozenset[str]) -> tuple[str, ...]:
    """What a request has of what is refused."""
    return tuple(name for name in sorted(_LEAVES_OUT) if name in refused and _LEAVES_OUT[name](request) != request)


def without(request: ChatRequest, refused: frozenset[str]) -> ChatRequest:
    """The request as the service takes it."""
    for name in left_out(request, refused):
        request = _LEAVES_OUT[name](request)
    return request


def _place(text: str, words: tuple[str, ...]) -> int:
    return min((place for word in words if (place := text.find(word)) >= 0), default=-1)


_GIVEN_UP_AFTER = 20
_SILENT_ATTEMPTS = _SILENT_CALLS = 2
"""Waits of a whole timeout that came to nothing: of one call, and calls in a row. A server that hangs is left soon."""

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
        self._silent = 0
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
        self._silent += problem.silent
        if tried >= self._settings.attempts or self._silent >= _SILENT_ATTEMPTS:
            return f"{problem.reason} (after {self.attempts} attempts)"
        wait = backoff(tried, self._settings.backoff, self._chance)
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

    The end is no answer at all, or a refusal with the same status. Where a service took the requests and said nothing,
    two such calls are enough: each has waited for two timeouts. One success begins the count anew.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed = self._silent = 0
        self._status: int | None = None
        self._reason = ""
        self._since = 0.0

    @property
    def refusal(self) -> str | None:
        """Why a call is not made, or None where it is."""
        if self._failed < _GIVEN_UP_AFTER and self._silent < _SILENT_CALLS:
            return None
        now = self._clock()
        if now - self._since >= _PROBE_EVERY:
            self._since = now
            return None
        return f"not asked: the last {self._failed} calls failed: {self._reason}"

    def succeeded(self) -> None:
        """A reply came, or a call failed in a way of its own."""
        self._failed = self._silent = 0

    def answered(self) -> None:
        """Something came back, if only a refusal: the service is there."""
        self._silent = 0
        if self._status is None:
            self._failed = 0

    def unanswered(self, reason: str, silent: bool = False) -> None:
        """A call was given up on without an answer, or after waiting for one in vain."""
        self._silent = self._silent + 1 if silent else 0
        self._count(None, reason)

    def refused(self, status: int, reason: str) -> None:
        """A call was refused, for no reason that lies in this one request."""
        self._count(status, reason)

    def _count(self, status: int | None, reason: str) -> None:
        self._failed = self._failed + 1 if status == self._status else 1
        self._status = status
        self._reason = reason
        self._since = self._clock()
