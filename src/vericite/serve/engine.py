"""One judge for all requests: what they ask at the same time is judged together, and who is gone is asked no more."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Condition, Thread

from vericite.errors import VeriCiteError
from vericite.models.contracts import Judge, Judgement, Pair, traits_of
from vericite.verify.judging import ask

PAIRS_AT_ONCE = 64
"""Pairs of a batch: enough to keep all cores busy, few enough that a request that was left is left within a second."""

OUT_OF_TIME = (
    "expected to be done within the time of a request; found that it was over. Send less at a time, or a job (/v1/jobs)"
)
"""Why work was stopped that took too long."""


class Stopped(BaseException):
    """The request is over: its client went away, or its time is up.

    No ``Exception``, so that nothing on the way takes it for a judge's error and goes on.
    """


@dataclass(eq=False)
class Work:
    """A request at work, which may be stopped from outside.

    Attributes:
        deadline: When its time is up, by ``time.monotonic``; None where there is no limit.
        reason: Why it was stopped.
    """

    deadline: float | None = None
    reason: str | None = None

    def stop(self, reason: str) -> None:
        """Have it end at the next place where it looks."""
        self.reason = self.reason or reason

    def go_on(self) -> None:
        """Look whether there is still someone who waits.

        Raises:
            Stopped: There is not.
        """
        if self.reason is None and self.deadline is not None and time.monotonic() > self.deadline:
            self.stop(OUT_OF_TIME)
        if self.reason is not None:
            raise Stopped(self.reason)


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def at_work(work: Work) -> Generator[None]:
    """Let what is done within belong to a request."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def go_on() -> None:
    """As ``Work.go_on``, of the request at hand; nothing where there is none."""
    if (work := _current.get()) is not None:
        work.go_on()


@dataclass(eq=False)
class _Asked:
    """The pairs of a request that wait, and the judgements that are there so far."""

    pairs: Sequence[Pair]
    work: Work | None
    judged: list[Judgement] = field(default_factory=list[Judgement])
    done: Future[list[Judgement]] = field(default_factory=lambda: Future[list[Judgement]]())

    @property
    def is_left(self) -> bool:
        return self.work is not None and self.work.reason is not None


@dataclass
class JudgedCounts:
    """What was judged, for the metrics."""

    pairs: int = 0
    batches: int = 0
    shared: int = 0
    """Batches in which pairs of several requests were judged together."""


class SharedJudge:
    """A judge that many threads ask. One thread judges: each batch takes some pairs of every request that waits.

    So small requests are not kept waiting by large ones, and batches are full while there is work.
    """

    def __init__(self, judge: Judge, pairs_at_once: int = PAIRS_AT_ONCE) -> None:
        self._judge = judge
        self._at_once = pairs_at_once
        self._waiting: deque[_Asked] = deque()
        self._changed = Condition()
        self._closed = False
        self.counts = JudgedCounts()
        self.traits = traits_of(judge)
        self._thread = Thread(target=self._serve, name="judge", daemon=True)
        self._thread.start()

    @property
    def signature(self) -> str:
        """The judge's own: batches change no judgement."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One judgement a pair, in their order.

        Raises:
            Stopped: The request was stopped meanwhile.
        """
        asked = _Asked(list(pairs), _current.get())
        if not asked.pairs:
            return iter(())
        with self._changed:
            if self._closed:
                raise VeriCiteError("expected a service at work; found one that is shutting down. Ask again later")
            self._waiting.append(asked)
            self._changed.notify()
        return iter(self._result(asked))

    def _result(self, asked: _Asked) -> list[Judgement]:
        while True:
            try:
                return asked.done.result(timeout=0.2)
            except TimeoutError:
                if asked.work is not None:
                    asked.work.go_on()

    def close(self) -> None:
        """Judge no more; who waits is told."""
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
                    for asked in self._waiting:
                        asked.done.set_exception(VeriCiteError("expected a service at work; it is shutting down"))
                    return
                batch = self._next()
            if batch:
                self._judge_batch(batch)

    def _next(self) -> list[tuple[_Asked, Sequence[Pair]]]:
        """Some pairs of each request that waits, in turn; those that were left are dropped."""
        self._waiting = deque(asked for asked in self._waiting if not asked.is_left)
        batch: list[tuple[_Asked, Sequence[Pair]]] = []
        room = self._at_once
        share = max(8, self._at_once // max(1, len(self._waiting)))
        for asked in self._waiting:
            if room <= 0:
                break
            begin = len(asked.judged)
            pairs = asked.pairs[begin : begin + min(share, room)]
            batch.append((asked, pairs))
            room -= len(pairs)
        # Those that were not served come first the next time.
        self._waiting.rotate(-len(batch))
        return batch

    def _judge_batch(self, batch: list[tuple[_Asked, Sequence[Pair]]]) -> None:
        pairs = list(dict.fromkeys(pair for _, own in batch for pair in own))
        try:
            judged = dict(zip(pairs, ask(self._judge, pairs), strict=True))
        except Exception as error:  # told to everyone who asked: this thread must go on
            self._finish([(asked, error) for asked, _ in batch])
            return
        self.counts.pairs += len(pairs)
        self.counts.batches += 1
        self.counts.shared += len(batch) > 1
        for asked, own in batch:
            asked.judged += [judged[pair] for pair in own]
        self._finish([(asked, None) for asked, _ in batch if len(asked.judged) == len(asked.pairs)])

    def _finish(self, ended: Sequence[tuple[_Asked, Exception | None]]) -> None:
        with self._changed:
            for asked, error in ended:
                if asked in self._waiting:
                    self._waiting.remove(asked)
                if error is None:
                    asked.done.set_result(asked.judged)
                else:
                    asked.done.set_exception(error)
