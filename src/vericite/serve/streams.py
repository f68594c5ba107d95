"""Running requests: limits on their number, their events, and stopping them when no client listens."""

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
from vericite.serve.engine import OUT_OF_TIME, Stopped, TimeLimit, Work, at_work
from vericite.serve.events import Emit
from vericite.serve.gate import Refused
from vericite.serve.jobs import NoSuchJob
from vericite.serve.run_store import NoSuchRun
from vericite.serve.shelves import NoSuchDocument, NoSuchShelf, ShelfBusy, without_places

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

PATIENCE = 60
"""Seconds that work continues without a client, so that one can reconnect."""
_KEPT_SECONDS, _MAX_KEPT = 300, 200
_CANCELLED = "cancelled"
_OVER = 5
"""Seconds beyond its time limit to wait for work, before its client gets an error."""


def status_of(error: BaseException) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, (NoSuchRun, NoSuchJob, NoSuchStream, NoSuchShelf, NoSuchDocument)):
        return 404
    if isinstance(error, ShelfBusy):
        return 429
    if isinstance(error, NotWritten):
        return 507
    if isinstance(error, InputError):
        return 422
    if isinstance(error, MissingExtraError):
        return 501
    if isinstance(error, (LLMError, EntrezError)):
        return 502
    return 504 if isinstance(error, Stopped) else 500


def error_body(error: BaseException) -> dict[str, Any]:
    """Return an error as JSON; unexpected errors reveal no details."""
    if isinstance(error, NotWritten):
        # Clients must not learn where the service keeps its files.
        _LOG.warning("a request failed: %s", error)
        found = "a full disk" if error.is_full else "that it cannot"
        message = f"expected a service that can write to its disk; found {found}. Contact its operator"
    elif isinstance(error, (VeriCiteError, Stopped)):
        message = without_places(str(error)) or OUT_OF_TIME
    else:
        _LOG.error("a request failed", exc_info=error)
        message = "the service failed; its log says why"
    return {"status": status_of(error), "message": message}


class NoSuchStream(InputError):
    """No recent stream has this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a recent stream; found {id[:40]!r}. Ask again")


@dataclass
class Turns:
    """Runs requests in a limited number of threads; some more may wait, and the rest are refused."""

    running: int
    waiting: int
    seconds: float

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.running, thread_name_prefix="request")
        self.work: set[Work] = set()

    def take(self, limit: TimeLimit | None = None) -> Work:
        """Create the work of a new request, with a time limit of its own or the usual one.

        Raises:
            Refused: Too many requests run or wait.
        """
        if len(self.work) >= self.running + self.waiting:
            raise Refused(429, "expected fewer requests at a time; ask again later", {"retry-after": "2"})
        limit = limit or TimeLimit(self.seconds)
        if limit.at_once is not None and sum(work.limit == limit for work in self.work) >= limit.at_once:
            raise Refused(
                429,
                f"expected at most {limit.at_once} long requests at a time; ask again when one is finished",
                {"retry-after": "30"},
            )
        work = Work(limit)
        self.work.add(work)
        return work

    @asynccontextmanager
    async def turn(self, limit: TimeLimit | None = None) -> AsyncGenerator[Work]:
        """Create the work of a new request, and stop it on exit."""
        work = self.take(limit)
        try:
            yield work
        finally:
            work.stop("the client disconnected")
            self.work.discard(work)

    def start(self, work: Work, call: Callable[[], _T]) -> asyncio.Future[_T]:
        """Run a call in a thread, as part of a request."""

        def run() -> _T:
            with at_work(work):
                work.check_stopped()
                return call()

        return asyncio.get_running_loop().run_in_executor(self.pool, copy_context().run, run)


@dataclass(eq=False)
class Stream:
    """The events of a request. Any number of clients can read them, from the beginning or from a given event.

    Attributes:
        id: Id for reconnecting.
        work: The work that makes the events.
        patience: Seconds that the work continues while no client listens.
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
        """Add an event, unless the stream has ended."""
        if self.ended is None:
            self._events.append(f"id: {len(self._events) + 1}\nevent: {name}\ndata: {data}\n\n")
            self.wake()

    def end(self) -> None:
        """End the stream."""
        self.ended = self.ended or time.monotonic()
        self.wake()

    def cancel(self) -> None:
        """Stop the work, unless it has finished."""
        if self.ended is None:
            self.work.stop(_CANCELLED)

    @property
    def cancelled(self) -> bool:
        """Whether ``cancel`` stopped the work."""
        return self.work.reason == _CANCELLED

    def wake(self) -> None:
        """Wake all readers."""
        self._more.set()
        self._more = asyncio.Event()

    async def read(self, after: int = 0) -> AsyncGenerator[str]:
        """Yield the events after a number, including future ones."""
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
                    # Keeps proxies from closing the stream.
                    yield ": waiting\n\n"
        finally:
            self._listeners -= 1
            self._left_at = time.monotonic()
            if not self.patience:
                self.stop_if_abandoned()
            else:
                asyncio.get_running_loop().call_later(self.patience, self.stop_if_abandoned)

    def stop_if_abandoned(self) -> None:
        """Stop the work if no client has reconnected."""
        if self.ended is None and not self._listeners and time.monotonic() - self._left_at >= self.patience * 0.99:
            self.work.stop("the client disconnected")


class Streams:
    """The recent streams."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._streams: dict[str, Stream] = {}

    def begin(self, call: Callable[[Emit], str], patience: float = 0, limit: TimeLimit | None = None) -> Stream:
        """Start work in a thread and return its stream.

        Args:
            call: Does the work, emits events, and returns the data of the last event.
            patience: Seconds that the work continues while no client listens.
            limit: Time limit of the work (None: the usual one).

        Raises:
            Refused: Too many requests run or wait.
        """
        loop = asyncio.get_running_loop()
        stream = Stream(uuid.uuid4().hex, self._turns.take(limit), patience)

        def call_soon(act: Callable[..., None], *values: str) -> None:
            # The loop may be closed already.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(act, *values)

        def run() -> None:
            try:
                call_soon(stream.put, "done", call(lambda name, value: call_soon(stream.put, name, json.dumps(value))))
            except BaseException as error:  # any error is the last event of the stream
                call_soon(stream.put, "error", json.dumps(error_body(error)))

        def finished(done: asyncio.Future[None]) -> None:
            self._turns.work.discard(stream.work)
            if not done.cancelled() and (error := done.exception()) is not None:
                stream.put("error", json.dumps(error_body(error)))
            stream.end()

        def out_of_time() -> None:
            if stream.ended is None:
                stream.put("error", json.dumps({"status": 504, "message": stream.work.limit.message}))
                stream.end()

        self._turns.start(stream.work, run).add_done_callback(finished)
        loop.call_later(stream.work.limit.seconds + _OVER, out_of_time)
        if patience:
            self._keep(stream)
            loop.call_later(patience, stream.stop_if_abandoned)
        return stream

    def find(self, id: str) -> Stream:
        """Return a recent stream that clients can reconnect to.

        Raises:
            NoSuchStream: No recent stream has this id.
        """
        try:
            return self._streams[id]
        except KeyError:
            raise NoSuchStream(id) from None

    def _keep(self, stream: Stream) -> None:
        now = time.monotonic()
        ended = {id: stream.ended for id, stream in self._streams.items() if stream.ended is not None}
        old = [id for id, at in ended.items() if now - at > _KEPT_SECONDS]
        over = list(ended)[:-_MAX_KEPT]
        for id in {*old, *over}:
            del self._streams[id]
        self._streams[stream.id] = stream
