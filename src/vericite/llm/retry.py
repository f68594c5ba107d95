"""When to try again, how long to wait before that, and when to stop."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

from vericite.llm.chat import Alternative, ChatRequest, Settings, Usage
from vericite.network.pacing import backoff


class RawReply(NamedTuple):
    """The model's text, its reason to stop, and the usage (None if the service does not report it).

    ``other`` is the name of the model that the service reports, if it differs from the requested one.
    """

    text: str
    finish: str | None
    usage: Usage | None
    alternatives: tuple[Alternative, ...] = ()
    other: str | None = None


class BackendError(Exception):
    """One attempt failed. This never leaves the client, which retries, records or raises another error.

    Attributes:
        reason: What went wrong, without secrets.
        retry: Whether the same attempt may succeed later.
        after: Seconds that the service asks all callers to wait, or None.
        fatal: Whether every call would fail in the same way.
        unreachable: Whether nothing came back: no connection, or no answer in time.
        silent: Whether the service accepted the request and did not answer in time.
        raw: The service's response, without secrets.
        usage: Usage of the failed attempt, if the service reports it.
        status: Status of a refusal that may apply to every request; None if only this request is at fault.
        refuses: Options of the request (``vericite.llm.retry``) that may be the cause, likeliest first.
        context: Maximum tokens of prompt and reply, if the refusal names it.
        changed: Whether the backend has adapted, so that the next attempt differs.
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
    """Sends one attempt to a model."""

    @property
    def signature(self) -> str:
        """Identifies the model; never contains a secret."""
        ...

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        """Ask once; end within ``timeout`` seconds.

        Raises:
            BackendError: No usable reply came.
        """
        ...

    def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        """Ask once; yield the reply piece by piece, and last the whole. Each piece comes within ``timeout`` seconds.

        Raises:
            BackendError: The reply is incomplete.
        """
        ...

    async def aclose(self) -> None:
        """Release what belongs to the running event loop. Calls on another loop may follow."""
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
"""Words next to the limit's name. Its value may be refused too; then another name does not help."""

_ANY_WORDS = ("requested parameters",)
"""OpenRouter's words if none of a model's providers supports all options of a request."""

_LEAVES_OUT: dict[str, Callable[[ChatRequest], ChatRequest]] = {
    SCHEMA: lambda request: replace(request, schema=None),
    TEMPERATURE: lambda request: replace(request, temperature=None),
    ALTERNATIVES: lambda request: replace(request, alternatives=0),
}


def refused_options(status: int, words: str, parameter: str) -> tuple[str, ...]:
    """Return the options that a refusal may be about, likeliest first.

    Args:
        status: Status of the response.
        words: The service's message and codes, in lower case.
        parameter: The parameter that it names as the cause, if any.
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
    # Some services repeat the whole request after the problem.
    return tuple(sorted((option for option in places if places[option] >= 0), key=lambda option: places[option]))


def left_out(request: ChatRequest, refused: frozenset[str]) -> tuple[str, ...]:
    """Return the options of a request that are refused."""
    return tuple(name for name in sorted(_LEAVES_OUT) if name in refused and _LEAVES_OUT[name](request) != request)


def without(request: ChatRequest, refused: frozenset[str]) -> ChatRequest:
    """Return the request without the refused options."""
    for name in left_out(request, refused):
        request = _LEAVES_OUT[name](request)
    return request


def _place(text: str, words: tuple[str, ...]) -> int:
    return min((place for word in words if (place := text.find(word)) >= 0), default=-1)


_GIVEN_UP_AFTER = 20
_SILENT_ATTEMPTS = _SILENT_CALLS = 2
"""Number of timeouts before giving up: of one call, and of calls in a row. A hanging server is abandoned early."""

_PROBE_EVERY = 60.0
"""Seconds until one call may test whether a service that did not answer or refused is back."""


class Trip:
    """One call: its number of attempts and its remaining time.

    The time includes attempts and the waits between them, but not the wait for a turn.
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
        """Seconds for the call."""
        return self._settings.call_deadline

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - self.spent

    @property
    def timeout(self) -> float:
        """Seconds for the next attempt."""
        return max(0.001, min(self._settings.timeout, self.left))

    @property
    def seconds(self) -> float:
        """Seconds since the call was made."""
        return time.monotonic() - self._started

    def take(self, request: ChatRequest, refused: frozenset[str]) -> ChatRequest:
        """Return the request to send now, without options that the service has refused, in this call or before."""
        self.refused |= refused
        self._sent = without(request, self.refused)
        return self._sent

    def concede(self, problem: BackendError) -> bool:
        """Return whether to ask again at once without an option that the service may have refused."""
        sent = self._sent
        has = (name for name in problem.refuses if sent is not None and left_out(sent, frozenset([name])))
        # Each option at most once, so that this ends.
        if problem.changed and not self._changed:
            self._changed = True
        elif name := next(has, None):
            self.refused |= {name}
        else:
            return False
        self._concessions += 1
        return self.left > 0

    def next_wait(self, problem: BackendError) -> float | str:
        """Return the seconds to wait before the next attempt, or the reason to stop."""
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
        """Return the reason why a call does not wait as long as the service asks."""
        return (
            f"{reason}; the service asks to wait {seconds:.0f} s, beyond the call's deadline of "
            f"{self.deadline:g} s. Ask later, ask more slowly (requests_per_minute), or raise the deadline"
        )


class Breaker:
    """Stops asking after 20 calls in a row with the same failure; from time to time one call tests whether it is over.

    The failure is either no answer, or a refusal with the same status. If a service accepted the requests but did not
    answer, two such calls are enough, because each has waited for two timeouts. One success resets the count.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed = self._silent = 0
        self._status: int | None = None
        self._reason = ""
        self._since = 0.0

    @property
    def refusal(self) -> str | None:
        """Return why a call is not made, or None."""
        if self._failed < _GIVEN_UP_AFTER and self._silent < _SILENT_CALLS:
            return None
        now = self._clock()
        if now - self._since >= _PROBE_EVERY:
            self._since = now
            return None
        return f"not asked: the last {self._failed} calls failed: {self._reason}"

    def succeeded(self) -> None:
        """A reply came, or a call failed for its own reason."""
        self._failed = self._silent = 0

    def answered(self) -> None:
        """The service answered, even if only with a refusal."""
        self._silent = 0
        if self._status is None:
            self._failed = 0

    def unanswered(self, reason: str, silent: bool = False) -> None:
        """A call was given up without an answer."""
        self._silent = self._silent + 1 if silent else 0
        self._count(None, reason)

    def refused(self, status: int, reason: str) -> None:
        """A call was refused for a reason that is not specific to this request."""
        self._count(status, reason)

    def _count(self, status: int | None, reason: str) -> None:
        self._failed = self._failed + 1 if status == self._status else 1
        self._status = status
        self._reason = reason
        self._since = self._clock()
