"""One call to a model: its turn, its attempts, the waits between them, and its result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from threading import Lock

from vericite.errors import LLMAccessError, LLMStreamError
from vericite.llm.chat import (
    LONGEST_REPLY,
    CallFailure,
    ChatRequest,
    Completion,
    Price,
    Reply,
    Settings,
    Usage,
    estimated_tokens,
)
from vericite.llm.retry import Backend, BackendError, Breaker, RawReply, Trip, left_out
from vericite.network.pacing import Limiter, Pace, PacedTurn
from vericite.records import Ledger

_OTHERS = 20
"""Maximum number of other models' names to keep: a service may send a new one each time."""


class Tally:
    """Keeps the ledger. It can be read from any thread while calls are made."""

    def __init__(self, price: Price | None) -> None:
        self._price = price
        self._lock = Lock()
        self._ledger = Ledger()

    @property
    def ledger(self) -> Ledger:
        """Current state."""
        return self._ledger

    def attempt(self) -> None:
        """Count an attempt."""
        self._add(Ledger(attempts=1))

    def used(self, usage: Usage, estimated: bool) -> None:
        """Add the usage of an attempt, even if its reply could not be used."""
        self._add(
            Ledger(
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                estimated=int(estimated),
                cost=self._cost(usage),
            )
        )

    def answered_as(self, model: str) -> None:
        """Record that the service answered with another model than requested."""
        with self._lock:
            named = dict.fromkeys((*self._ledger.answered_as, model))
            self._ledger = self._ledger.model_copy(update={"answered_as": tuple(named)[:_OTHERS]})
        if (counter := _counting.get()) is not None and counter is not self:
            counter.answered_as(model)

    def reply(self, reply: Reply) -> None:
        """Count a call that has ended."""
        failed = isinstance(reply, CallFailure)
        self._add(Ledger(calls=1, failures=int(failed), cached=int(not failed and reply.cached)))

    def _cost(self, usage: Usage) -> float | None:
        if usage.cost is not None:
            return usage.cost
        if self._price is None:
            return None
        return self._price.of(usage)

    def _add(self, added: Ledger) -> None:
        with self._lock:
            then = self._ledger
            self._ledger = Ledger(
                calls=then.calls + added.calls,
                cached=then.cached + added.cached,
                failures=then.failures + added.failures,
                attempts=then.attempts + added.attempts,
                prompt_tokens=then.prompt_tokens + added.prompt_tokens,
                completion_tokens=then.completion_tokens + added.completion_tokens,
                estimated=then.estimated + added.estimated,
                cost=None if then.cost is None or added.cost is None else then.cost + added.cost,
                answered_as=then.answered_as,
            )
        if (counter := _counting.get()) is not None and counter is not self:
            counter._add(added)


_counting: ContextVar[Tally | None] = ContextVar("counting", default=None)


@contextmanager
def calls_counted() -> Generator[Tally]:
    """Count the calls that this block makes to any model. Other threads may ask the same models meanwhile."""
    tally = Tally(None)
    token = _counting.set(tally)
    try:
        yield tally
    finally:
        _counting.reset(token)


Keep = Callable[[Completion], Awaitable[None]]
"""Stores a reply before it is returned."""


class Caller:
    """Makes calls. It belongs to one event loop at a time (``begin``); limits apply across loops."""

    def __init__(self, backend: Backend, settings: Settings, concurrency: int, tally: Tally) -> None:
        self._backend = backend
        self._settings = settings
        self._concurrency = concurrency
        self._tally = tally
        self._breaker = Breaker()
        self._refused = frozenset[str]()
        self._limiter = Limiter(Pace(settings.requests_per_minute, settings.tokens_per_minute, settings.minute))
        self._places = asyncio.Semaphore(concurrency)

    def begin(self) -> None:
        """Start on a new event loop."""
        self._places = asyncio.Semaphore(self._concurrency)
        self._limiter.begin()

    async def ask(self, request: ChatRequest, keep: Keep) -> Reply:
        """Ask until there is a reply, or a reason to give up.

        A reply is stored before the next call starts, so a process that is killed loses only calls in flight.

        Raises:
            LLMAccessError: No call can succeed, for example because the key is wrong.
        """
        trip = Trip(self._settings)
        if refusal := self._breaker.refusal:
            return CallFailure(refusal, 0, None, trip.seconds)
        while True:
            outcome = await self._attempt(request, trip, keep)
            if isinstance(outcome, Completion):
                return outcome
            step = self._next_step(outcome, trip)
            if isinstance(step, str):
                return CallFailure(step, trip.attempts, outcome.raw, trip.seconds, outcome.context)
            await self._rest(step, trip)

    async def stream(self, request: ChatRequest, keep: Keep) -> AsyncGenerator[str | Completion, None]:
        """Ask, and yield the reply piece by piece. The last item is the whole reply, which is stored by then.

        Raises:
            LLMAccessError: No call can succeed, for example because the key is wrong.
            LLMStreamError: No reply came, or it broke off.
        """
        trip = Trip(self._settings)
        if refusal := self._breaker.refusal:
            raise LLMStreamError(refusal)
        while True:
            shown = 0
            attempt = _StreamAttempt()
            async with aclosing(self._pieces(request, trip, attempt, keep)) as pieces:
                async for piece in pieces:
                    shown += len(piece)
                    yield piece
            if attempt.completion is not None:
                yield attempt.completion
                return
            assert attempt.problem is not None
            step = self._next_step(attempt.problem, trip)
            if shown:
                raise LLMStreamError(
                    f"the reply broke off after {shown} characters: {attempt.problem.reason}. Ask again."
                )
            if isinstance(step, str):
                raise LLMStreamError(step)
            await self._rest(step, trip)

    async def _attempt(self, request: ChatRequest, trip: Trip, keep: Keep) -> Completion | BackendError:
        async with self._places:
            slot = await self._turn(request, trip)
            if isinstance(slot, BackendError):
                return slot
            began = time.monotonic()
            try:
                outcome = await self._backend.complete(trip.take(request, self._refused), trip.timeout)
            except BackendError as error:
                outcome = error
            trip.spent += time.monotonic() - began
            return await self._settled(request, outcome, slot, trip, keep)

    async def _pieces(
        self, request: ChatRequest, trip: Trip, attempt: _StreamAttempt, keep: Keep
    ) -> AsyncGenerator[str, None]:
        async with self._places:
            slot = await self._turn(request, trip)
            if isinstance(slot, BackendError):
                attempt.problem = slot
                return
            sent = trip.take(request, self._refused)
            length = 0
            async with aclosing(self._backend.stream(sent, trip.timeout)) as source:
                while True:
                    began = time.monotonic()
                    piece = await _piece(source, trip.left, trip.deadline)
                    # The reader's own time does not count.
                    trip.spent += time.monotonic() - began
                    if not isinstance(piece, str):
                        break
                    length += len(piece)
                    if length > LONGEST_REPLY:
                        piece = _too_long(self._backend.signature)
                        break
                    yield piece
            attempt.end(await self._settled(request, piece, slot, trip, keep))

    async def _settled(
        self, request: ChatRequest, outcome: RawReply | BackendError, slot: PacedTurn, trip: Trip, keep: Keep
    ) -> Completion | BackendError:
        self._count(request, outcome, slot)
        if isinstance(outcome, BackendError):
            return outcome
        if len(outcome.text) > LONGEST_REPLY:
            return _too_long(self._backend.signature)
        completion = self._completion(request, outcome, trip)
        await keep(completion)
        return completion

    async def _turn(self, request: ChatRequest, trip: Trip) -> PacedTurn | BackendError:
        slot = await self._limiter.slot(request.prompt_estimate + request.max_tokens, trip.left)
        if isinstance(slot, PacedTurn):
            trip.attempts += 1
            self._tally.attempt()
            return slot
        reason = trip.beyond_deadline(f"{self._backend.signature} has asked for a pause", slot)
        return BackendError(reason, retry=False)

    def _count(self, request: ChatRequest, outcome: RawReply | BackendError, slot: PacedTurn) -> None:
        if isinstance(outcome, RawReply):
            usage = outcome.usage or _estimate(request, outcome.text)
            self._tally.used(usage, estimated=outcome.usage is None)
            if outcome.other is not None:
                self._tally.answered_as(outcome.other)
        elif (usage := outcome.usage) is not None:
            self._tally.used(usage, estimated=False)
        if usage is not None:
            slot.tokens = usage.prompt_tokens + usage.completion_tokens

    def _completion(self, request: ChatRequest, reply: RawReply, trip: Trip) -> Completion:
        self._breaker.succeeded()
        gone = left_out(request, trip.refused)
        # Record it only after it has helped: a service's message does not always name the real problem.
        self._refused |= frozenset(gone)
        usage = reply.usage or _estimate(request, reply.text)
        return Completion(reply.text, reply.finish, usage, False, trip.attempts, trip.seconds, gone, reply.alternatives)

    def _next_step(self, problem: BackendError, trip: Trip) -> float | str:
        """Return the seconds until the next attempt, or the reason to stop. A requested pause applies to all calls."""
        if not problem.unreachable:
            self._breaker.answered()
        if trip.concede(problem):
            return 0.0
        if problem.fatal:
            raise LLMAccessError(problem.reason)
        if problem.after is not None:
            self._limiter.pause(problem.after)
        step = trip.next_wait(problem)
        if isinstance(step, str):
            self._give_up(problem)
        return step

    def _give_up(self, problem: BackendError) -> None:
        if problem.unreachable:
            self._breaker.unanswered(problem.reason, problem.silent)
        elif problem.status is not None:
            self._breaker.refused(problem.status, problem.reason)
        elif problem.retry:
            self._breaker.succeeded()

    async def _rest(self, seconds: float, trip: Trip) -> None:
        await asyncio.sleep(seconds)
        trip.spent += seconds


class _StreamAttempt:
    """The end of one attempt at a stream."""

    def __init__(self) -> None:
        self.completion: Completion | None = None
        self.problem: BackendError | None = None

    def end(self, outcome: Completion | BackendError) -> None:
        if isinstance(outcome, Completion):
            self.completion = outcome
        else:
            self.problem = outcome


async def _piece(
    source: AsyncGenerator[str | RawReply, None], left: float, deadline: float
) -> str | RawReply | BackendError:
    try:
        async with asyncio.timeout(max(0.001, left)):
            piece = await anext(source, None)
    except BackendError as error:
        return error
    except TimeoutError:
        return BackendError(f"the reply did not end within the deadline of {deadline:g} s", retry=False)
    return piece if piece is not None else BackendError("the stream broke off", retry=True)


def _too_long(signature: str) -> BackendError:
    reason = (
        f"expected a reply of at most {LONGEST_REPLY:,} characters from {signature}; found a longer one. "
        "Check that the model keeps to max_tokens"
    )
    return BackendError(reason, retry=False)


def _estimate(request: ChatRequest, text: str) -> Usage:
    return Usage(request.prompt_estimate, estimated_tokens(text))
