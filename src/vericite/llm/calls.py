"""One call to a model: its turn, its attempts, the waits between them, and what it comes to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from vericite.errors import LLMAccessError, LLMStreamError
from vericite.llm.backend import Backend, BackendError, RawReply
from vericite.llm.chat import CallFailure, ChatRequest, Completion, Reply, Usage, estimated_tokens
from vericite.llm.ledger import Tally
from vericite.llm.limits import Limiter, Pace, Slot
from vericite.llm.retry import Breaker, Trip
from vericite.llm.settings import Settings


class Caller:
    """Makes calls. It belongs to one event loop at a time (``begin``); limits hold across them."""

    def __init__(self, backend: Backend, settings: Settings, concurrency: int, tally: Tally) -> None:
        self._backend = backend
        self._settings = settings
        self._concurrency = concurrency
        self._tally = tally
        self._breaker = Breaker()
        self._limiter = Limiter(Pace(settings.requests_per_minute, settings.tokens_per_minute, settings.minute))
        self._places = asyncio.Semaphore(concurrency)

    def begin(self) -> None:
        """Start on a new event loop."""
        self._places = asyncio.Semaphore(self._concurrency)
        self._limiter.begin()

    async def ask(self, request: ChatRequest) -> Reply:
        """Ask until there is a reply, or a reason to give up.

        Raises:
            LLMAccessError: Every call would fail alike.
        """
        trip = Trip(self._settings)
        if refusal := self._breaker.refusal:
            return CallFailure(refusal, 0, None, trip.seconds)
        while True:
            outcome = await self._attempt(request, trip)
            if isinstance(outcome, RawReply):
                return self._completion(request, outcome, trip)
            step = self._next_step(outcome, trip)
            if isinstance(step, str):
                return CallFailure(step, trip.attempts, outcome.raw, trip.seconds)
            await self._rest(step, trip)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | Completion, None]:
        """Ask, and yield the reply piece by piece and last of all the whole.

        Raises:
            LLMAccessError: Every call would fail alike.
            LLMStreamError: The reply did not come, or not to its end.
        """
        trip = Trip(self._settings)
        if refusal := self._breaker.refusal:
            raise LLMStreamError(refusal)
        while True:
            shown = 0
            attempt = _StreamAttempt()
            async with aclosing(self._pieces(request, trip, attempt)) as pieces:
                async for piece in pieces:
                    shown += len(piece)
                    yield piece
            if attempt.reply is not None:
                yield self._completion(request, attempt.reply, trip)
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

    async def _attempt(self, request: ChatRequest, trip: Trip) -> RawReply | BackendError:
        async with self._places:
            slot = await self._turn(request, trip)
            if isinstance(slot, BackendError):
                return slot
            began = time.monotonic()
            try:
                outcome = await self._backend.complete(request, trip.timeout)
            except BackendError as error:
                outcome = error
            trip.spent += time.monotonic() - began
        self._count(request, outcome, slot)
        return outcome

    async def _pieces(self, request: ChatRequest, trip: Trip, attempt: _StreamAttempt) -> AsyncGenerator[str, None]:
        async with self._places:
            slot = await self._turn(request, trip)
            if isinstance(slot, BackendError):
                attempt.problem = slot
                return
            async with aclosing(self._backend.stream(request, trip.timeout)) as source:
                while attempt.open:
                    began = time.monotonic()
                    piece = await _piece(source, trip.left, self._settings.deadline)
                    # The time the reader takes is his own.
                    trip.spent += time.monotonic() - began
                    if isinstance(piece, str):
                        yield piece
                    else:
                        attempt.end(piece)
        outcome = attempt.reply or attempt.problem
        assert outcome is not None
        self._count(request, outcome, slot)

    async def _turn(self, request: ChatRequest, trip: Trip) -> Slot | BackendError:
        slot = await self._limiter.slot(request.prompt_estimate + request.max_tokens, trip.left)
        if isinstance(slot, Slot):
            trip.attempts += 1
            self._tally.attempt()
            return slot
        reason = trip.beyond_deadline(f"{self._backend.signature} has asked for a pause", slot)
        return BackendError(reason, retry=False)

    def _count(self, request: ChatRequest, outcome: RawReply | BackendError, slot: Slot) -> None:
        if isinstance(outcome, RawReply):
            usage = outcome.usage or _estimate(request, outcome.text)
            self._tally.used(usage, estimated=outcome.usage is None)
        elif (usage := outcome.usage) is not None:
            self._tally.used(usage, estimated=False)
        if usage is not None:
            slot.tokens = usage.prompt_tokens + usage.completion_tokens

    def _completion(self, request: ChatRequest, reply: RawReply, trip: Trip) -> Completion:
        self._breaker.answered()
        usage = reply.usage or _estimate(request, reply.text)
        return Completion(reply.text, reply.finish, usage, False, trip.attempts, trip.seconds)

    def _next_step(self, problem: BackendError, trip: Trip) -> float | str:
        """Seconds to the next attempt, or the reason why there is none; a pause asked for is for everybody."""
        if problem.fatal:
            raise LLMAccessError(problem.reason)
        if problem.after is not None:
            self._limiter.pause(problem.after)
        step = trip.next_wait(problem)
        if not problem.unreachable:
            self._breaker.answered()
        elif isinstance(step, str):
            self._breaker.unanswered(problem.reason)
        return step

    async def _rest(self, seconds: float, trip: Trip) -> None:
        await asyncio.sleep(seconds)
        trip.spent += seconds


class _StreamAttempt:
    """How one attempt at a stream ended."""

    def __init__(self) -> None:
        self.reply: RawReply | None = None
        self.problem: BackendError | None = None

    @property
    def open(self) -> bool:
        return self.reply is None and self.problem is None

    def end(self, outcome: RawReply | BackendError) -> None:
        if isinstance(outcome, RawReply):
            self.reply = outcome
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


def _estimate(request: ChatRequest, text: str) -> Usage:
    return Usage(request.prompt_estimate, estimated_tokens(text))
