"""An event loop in a thread of its own, there as long as somebody holds it.

Connections, limits and turns belong to one loop, whoever asks: a script, a notebook whose thread runs a loop already,
or several loops one after the other.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from vericite.errors import LLMError

_T = TypeVar("_T")

_PATIENCE = 5.0
"""Seconds to wait for the thread's end: a name server that does not answer may hold it up, and nothing else."""


class LoopThread:
    """A loop in a thread. It starts with the first holder and ends with the last.

    Args:
        begin: Called on the loop before anything else.
        finish: Awaited on the loop after everything else.
    """

    def __init__(self, begin: Callable[[], None], finish: Callable[[], Awaitable[None]]) -> None:
        self._begin = begin
        self._finish = finish
        self._lock = threading.Lock()
        self._holders = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def here(self) -> bool:
        """Whether the caller runs on this very loop."""
        return self._thread is threading.current_thread()

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Keep the loop running meanwhile."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    def hold(self) -> None:
        """Keep the loop running until ``release``."""
        with self._lock:
            if self._thread is None:
                self._start()
            self._holders += 1

    def release(self) -> None:
        """Let the loop end, unless somebody else holds it; what still runs on it then is cancelled."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._end()

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start a coroutine on the loop. Cancelling the future cancels it."""
        assert self._loop is not None, "the loop is held"
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def run(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Await a coroutine on the loop, from whatever loop the caller runs on."""
        if self.here:
            return await work()
        with self.held():
            return await asyncio.wrap_future(self.submit(work()))

    async def pieces(self, source: Callable[[], AsyncGenerator[_T, None]]) -> AsyncGenerator[_T, None]:
        """Iterate over a generator on the loop; it gives the next piece when it is asked for, and not before."""
        with self.held():
            generator = source()
            turn = asyncio.Lock()
            try:
                while True:
                    piece = await asyncio.wrap_future(self.submit(_next(generator, turn)))
                    if piece is None:
                        return
                    yield piece[0]
            finally:
                await asyncio.wrap_future(self.submit(_close(generator, turn)))

    def _start(self) -> None:
        started = threading.Event()
        self._thread = threading.Thread(target=self._live, args=(started,), name="vericite-llm", daemon=True)
        self._thread.start()
        started.wait()
        if self._loop is None:
            self._thread = None
            raise LLMError("expected to start an event loop in a thread; it failed. See the thread's own message.")

    def _end(self) -> None:
        thread, loop, stop = self._thread, self._loop, self._stop
        assert thread is not None and loop is not None and stop is not None
        loop.call_soon_threadsafe(stop.set)
        try:
            thread.join(_PATIENCE)
        finally:
            # Not before: what is being cancelled over there still has to know that it is there.
            self._thread = self._loop = self._stop = None

    def _live(self, started: threading.Event) -> None:
        try:
            asyncio.run(self._wait_for_the_end(started))
        finally:
            # Where no loop could be made, somebody still waits for it.
            started.set()

    async def _wait_for_the_end(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = stop = asyncio.Event()
        self._begin()
        started.set()
        await stop.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._finish()


async def _next(generator: AsyncGenerator[_T, None], turn: asyncio.Lock) -> tuple[_T] | None:
    async with turn:
        # StopAsyncIteration cannot leave a task.
        try:
            return (await anext(generator),)
        except StopAsyncIteration:
            return None


async def _close(generator: AsyncGenerator[_T, None], turn: asyncio.Lock) -> None:
    # A generator that is being cancelled still runs, and a running one cannot be closed.
    async with turn:
        await generator.aclose()
