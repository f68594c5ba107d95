"""Requests at work: so many at a time, told of event by event, and stopped when nobody listens any more."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar

from vericite.disk.files import NotWritten
from vericite.errors import EntrezError, InputError, LLMError, MissingExtraError, VeriCiteError
from vericite.serve.engine import OUT_OF_TIME, Stopped, Work, at_work
from vericite.serve.gate import Refused
from vericite.serve.jobs import NoSuchJob
from vericite.serve.kept import NoSuchRun
from vericite.serve.service import Tell

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

PATIENCE = 60
"""Seconds that work goes on for a client that comes back, after it went away."""
_KEPT_SECONDS, _MOST_KEPT = 300, 200
_CANCELLED = "cancelled"
_OVER = 5
"""Seconds beyond its time that work is waited for, before its client is told that it failed."""


def status_of(error: BaseException) -> int:
    """The status that an error is told with."""
    if isinstance(error, (NoSuchRun, NoSuchJob, NoSuchStream)):
        return 404
    if isinstance(error, NotWritten):
        return 507
    if isinstance(error, InputError):
        return 422
    if isinstance(error, MissingExtraError):
        return 501
    if isinstance(error, (LLMError, EntrezError)):
        return 502
    return 504 if isinstance(error, Stopped) else 500


def told(error: BaseException) -> dict[str, Any]:
    """An error as it is told; of one that is not ours nothing but that it happened."""
    if isinstance(error, NotWritten):
        # Clients must not learn where the service keeps its files.
        _LOG.warning("a request failed: %s", error)
        found = "that it is full" if error.is_full else "that it cannot"
        message = f"expected a service that can write to its disk; found {found}. Tell whoever runs it"
    elif isinstance(error, (VeriCiteError, Stopped)):
        message = str(error) or OUT_OF_TIME
    else:
        _LOG.error("a request failed", exc_info=error)
        message = "the service failed; its log says why"
    return {"status": status_of(error), "message": message}


class NoSuchStream(InputError):
    """There is no stream of an id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a stream of the last minutes; found {id[:40]!r}. Ask again")


@dataclass
class Turns:
    """Requests at work in threads, so many at a time; some wait, and more are sent away."""

    running: int
    waiting: int
    seconds: float

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.running, thread_name_prefix="request")
        self.work: set[Work] = set()

    def take(self) -> Work:
        """Work for a request.

        Raises:
            Refused: There is too much of it.
        """
        if len(self.work) >= self.running + self.waiting:
            raise Refused(429, "expected fewer requests at a time; ask again later", {"retry-after": "2"})
        work = Work(time.monotonic() + self.seconds)
        self.work.add(work)
        return work

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Work]:
        """The work of a request; when this ends, whatever it still does is stopped."""
        work = self.take()
        try:
            yield work
        finally:
            work.stop("the client went away")
            self.work.discard(work)

    def start(self, work: Work, call: Callable[[], _T]) -> asyncio.Future[_T]:
        """Do something in a thread, as part of a request."""

        def run() -> _T:
            with at_work(work):
                work.go_on()
                return call()

        return asyncio.get_running_loop().run_in_executor(self.pool, copy_context().run, run)


@dataclass(eq=False)
class Stream:
    """The events of a request, which any number of clients may read, from the beginning or from where they were.

    Attributes:
        id: By which it is found again.
        work: What makes the events.
        patience: Seconds that the work goes on while nobody listens.
    """

    id: str
    work: Work
    patience: float
    ended: float | None = None
    _events: list[str] = field(default_factory=list[str])
    _listeners: int = 0
    _left_at: float = field(default_factory=time.monotonic)
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, name: str, data: str) -> None:
        """One more event; nothing after the last."""
        if self.ended is None:
            self._events.append(f"id: {len(self._events) + 1}\nevent: {name}\ndata: {data}\n\n")
            self.wake()

    def end(self) -> None:
        """There are no more events."""
        self.ended = self.ended or time.monotonic()
        self.wake()

    def cancel(self) -> None:
        """Do no more, unless all is done."""
        if self.ended is None:
            self.work.stop(_CANCELLED)

    @property
    def cancelled(self) -> bool:
        """Whether its work was ended by ``cancel``."""
        return self.work.reason == _CANCELLED

    def wake(self) -> None:
        """Let everybody look who waits for events."""
        self._more.set()
        self._more = asyncio.Event()

    async def read(self, after: int = 0) -> AsyncGenerator[str]:
        """The events after some, those to come too."""
        self._listeners += 1
        try:
            yield ": begun\n\n"
            at = max(0, after)
            while True:
                more = self._more
                while at < len(self._events):
                    at += 1
                    yield self._events[at - 1]
                if self.ended is not None:
                    return
                try:
                    await asyncio.wait_for(more.wait(), 10)
                except TimeoutError:
                    # So that whoever stands between does not take the stream for dead.
                    yield ": waiting\n\n"
        finally:
            self._listeners -= 1
            self._left_at = time.monotonic()
            if not self.patience:
                self.leave()
            else:
                asyncio.get_running_loop().call_later(self.patience, self.leave)

    def leave(self) -> None:
        """Stop the work if nobody came back."""
        if self.ended is None and not self._listeners and time.monotonic() - self._left_at >= self.patience * 0.99:
            self.work.stop("the client went away")


class Streams:
    """The streams of the last minutes."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._streams: dict[str, Stream] = {}

    def begin(self, call: Callable[[Tell], str], patience: float = 0) -> Stream:
        """Begin to work.

        Args:
            call: Does the work, tells of it, and gives the data of the last event.
            patience: Seconds that it goes on while nobody listens.

        Raises:
            Refused: There is too much to do.
        """
        loop = asyncio.get_running_loop()
        stream = Stream(uuid.uuid4().hex, self._turns.take(), patience)

        def soon(act: Callable[..., None], *values: str) -> None:
            # The loop may be gone, with everyone who listened.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(act, *values)

        def run() -> None:
            try:
                soon(stream.put, "done", call(lambda name, it: soon(stream.put, name, json.dumps(it))))
            except BaseException as error:  # whatever it was, the stream says so and ends
                soon(stream.put, "error", json.dumps(told(error)))

        def finished(done: asyncio.Future[None]) -> None:
            self._turns.work.discard(stream.work)
            if not done.cancelled() and (error := done.exception()) is not None:
                stream.put("error", json.dumps(told(error)))
            stream.end()

        def out_of_time() -> None:
            if stream.ended is None:
                stream.put("error", json.dumps({"status": 504, "message": OUT_OF_TIME}))
                stream.end()

        self._turns.start(stream.work, run).add_done_callback(finished)
        loop.call_later(self._turns.seconds + _OVER, out_of_time)
        if patience:
            self._keep(stream)
            loop.call_later(patience, stream.leave)
        return stream

    def find(self, id: str) -> Stream:
        """A stream that was begun with patience.

        Raises:
            NoSuchStream: There is none of this id.
        """
        try:
            return self._streams[id]
        except KeyError:
            raise NoSuchStream(id) from None

    def _keep(self, stream: Stream) -> None:
        now = time.monotonic()
        old = [id for id, it in self._streams.items() if it.ended is not None and now - it.ended > _KEPT_SECONDS]
        over = [id for id, it in self._streams.items() if it.ended is not None][:-_MOST_KEPT]
        for id in {*old, *over}:
            del self._streams[id]
        self._streams[stream.id] = stream
