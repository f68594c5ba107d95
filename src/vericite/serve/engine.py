"""One judge shared by all requests: it batches their pairs and drops those of cancelled requests."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from threading import Condition, Thread
from typing import Any

from vericite.errors import VeriCiteError
from vericite.models.contracts import Judge, Judgement, Pair, ledger_of, traits_of
from vericite.verify.judging import ask

PAIRS_AT_ONCE = 64
"""Pairs per batch: enough to keep all cores busy, few enough to drop a cancelled request within a second."""

OUT_OF_TIME = (
    "expected a request that finishes within its time limit; found that it took longer. Send less at a time, or send a "
    "job (/v1/jobs)"
)
"""Reason for stopping work that takes too long."""


@dataclass(frozen=True)
class TimeLimit:
    """Seconds that a request may take, and the message if it takes longer.

    ``at_once`` is the maximum number of requests with this limit, so that long ones leave room for others (None: any).
    """

    seconds: float
    message: str = OUT_OF_TIME
    at_once: int | None = None


class Stopped(BaseException):
    """The request has ended: its client disconnected, or its time is up.

    Not an ``Exception``, so that no handler mistakes it for an error of the judge and continues.
    """


@dataclass(eq=False)
class Work:
    """The work of one request, which another thread can stop.

    Attributes:
        limit: Its time limit.
        reason: Why it was stopped.
    """

    limit: TimeLimit = TimeLimit(inf)
    reason: str | None = None
    _began: float = field(default_factory=time.monotonic)

    def stop(self, reason: str) -> None:
        """Make the work end at its next call of ``check_stopped``."""
        self.reason = self.reason or reason

    def check_stopped(self) -> None:
        """Return if the work should continue.

        Raises:
            Stopped: The work was stopped, or its time is up.
        """
        if self.reason is None and time.monotonic() > self._began + self.limit.seconds:
            self.stop(self.limit.message)
        if self.reason is not None:
            raise Stopped(self.reason)


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def at_work(work: Work) -> Generator[None]:
    """Run the block as part of a request."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def check_stopped() -> None:
    """Call ``Work.check_stopped`` of the current request, if there is one."""
    if (work := _current.get()) is not None:
        work.check_stopped()


@dataclass(eq=False)
class _PendingRequest:
    """Pairs of a request, and their judgements so far."""

    pairs: Sequence[Pair]
    work: Work | None
    judged: list[Judgement] = field(default_factory=list[Judgement])
    done: Future[list[Judgement]] = field(default_factory=lambda: Future[list[Judgement]]())

    @property
    def is_abandoned(self) -> bool:
        return self.work is not None and self.work.reason is not None


@dataclass
class JudgedCounts:
    """Counts for the metrics."""

    pairs: int = 0
    batches: int = 0
    shared: int = 0
    """Batches with pairs of several requests."""


class SharedJudge:
    """A judge that many threads can call.

    One thread judges. Each batch takes some pairs of every waiting request, so small requests do not wait for large
    ones, and batches are full while there is work. A language model limits its calls itself, so requests ask it
    directly; their calls are then counted by request.
    """

    def __init__(self, judge: Judge, pairs_at_once: int = PAIRS_AT_ONCE) -> None:
        self._judge = judge
        self._at_once = pairs_at_once
        self._waiting: deque[_PendingRequest] = deque()
        self._changed = Condition()
        self._closed = False
        self.counts = JudgedCounts()
        self.traits = traits_of(judge)
        self._thread = Thread(target=self._serve, name="judge", daemon=True)
        self._thread.start()

    @property
    def signature(self) -> str:
        """Signature of the wrapped judge: batching does not change judgements."""
        return self._judge.signature

    @property
    def ledger(self) -> Any:
        """The judge's ledger, if it asks a language model."""
        return ledger_of(self._judge)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Return one judgement per pair, in order.

        Raises:
            Stopped: The request was stopped before it was finished.
        """
        request = _PendingRequest(list(pairs), _current.get())
        if not request.pairs:
            return iter(())
        if self.ledger is not None:
            return self._asked(request.pairs)
        with self._changed:
            if self._closed:
                raise VeriCiteError("expected a running service; found one that is shutting down. Ask again later")
            self._waiting.append(request)
            self._changed.notify()
        return iter(self._result(request))

    def _asked(self, pairs: Sequence[Pair]) -> Iterator[Judgement]:
        """Ask a language model in the request's own thread."""
        for judgement in self._judge.judge(pairs):
            check_stopped()
            yield judgement
        with self._changed:
            self.counts.pairs += len(pairs)
            self.counts.batches += 1

    def _result(self, request: _PendingRequest) -> list[Judgement]:
        while True:
            try:
                return request.done.result(timeout=0.2)
            except TimeoutError:
                if request.work is not None:
                    request.work.check_stopped()

    def close(self) -> None:
        """Stop judging; waiting calls raise an error."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(timeout=2)

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    for request in self._waiting:
                        request.done.set_exception(
                            VeriCiteError(
                                "expected a running service; found one that is shutting down. Ask again later"
                            )
                        )
                    return
                batch = self._next()
            if batch:
                self._judge_batch(batch)

    def _next(self) -> list[tuple[_PendingRequest, Sequence[Pair]]]:
        """Return some pairs of each waiting request, in turn, and drop stopped requests."""
        self._waiting = deque(request for request in self._waiting if not request.is_abandoned)
        batch: list[tuple[_PendingRequest, Sequence[Pair]]] = []
        room = self._at_once
        share = max(8, self._at_once // max(1, len(self._waiting)))
        for request in self._waiting:
            if room <= 0:
                break
            begin = len(request.judged)
            pairs = request.pairs[begin : begin + min(share, room)]
            batch.append((request, pairs))
            room -= len(pairs)
        # Requests that were not served come first next time.
        self._waiting.rotate(-len(batch))
        return batch

    def _judge_batch(self, batch: list[tuple[_PendingRequest, Sequence[Pair]]]) -> None:
        pairs = list(dict.fromkeys(pair for _, own in batch for pair in own))
        try:
            judged = dict(zip(pairs, ask(self._judge, pairs), strict=True))
        except Exception as error:  # passed to every caller: this thread must continue
            self._finish([(request, error) for request, _ in batch])
            return
        self.counts.pairs += len(pairs)
        self.counts.batches += 1
        self.counts.shared += len(batch) > 1
        for request, own in batch:
            request.judged += [judged[pair] for pair in own]
        self._finish([(request, None) for request, _ in batch if len(request.judged) == len(request.pairs)])

    def _finish(self, finished: Sequence[tuple[_PendingRequest, Exception | None]]) -> None:
        with self._changed:
            for request, error in finished:
                if request in self._waiting:
                    self._waiting.remove(request)
                if error is None:
                    request.done.set_result(request.judged)
                else:
                    request.done.set_exception(error)
