"""The one client for language models: cached, limited, retried, counted, and never hanging."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar, TypeVarTuple

from vericite.disk.store import Form, RowStore
from vericite.errors import InputError, LLMError, LLMStreamError
from vericite.llm.calls import Caller, Ledger, Tally
from vericite.llm.chat import Alternative, CallFailure, ChatRequest, Completion, Reply, Settings, Usage, canonical
from vericite.llm.replies import Kind, Parsed, ask_for
from vericite.llm.retry import Backend
from vericite.llm.spec import ModelSpec
from vericite.network.access import offline_by_environment

_FORM = Form("replies", "reply", "(key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID")
"""The table's name changes with the meaning of its rows or keys."""


class Kept(NamedTuple):
    """The stored part of a completion."""

    text: str
    finish: str | None
    prompt_tokens: int
    completion_tokens: int
    without: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

    @property
    def value(self) -> str:
        """Serialized for storage. Fields that most replies lack are left out, as in older files."""
        return json.dumps(self if self.alternatives else self[:5] if self.without else self[:4])

    @property
    def usage(self) -> Usage:
        """Usage when the reply was made; reading it again costs nothing."""
        return Usage(self.prompt_tokens, self.completion_tokens, 0.0)


def cache_key(signature: str, request: ChatRequest) -> str:
    """Return the cache key of a request to a model: equal requests share it, and no others do.

    It is made from the original request, even if the service refused a part of it. The same request later finds the
    reply without another refusal.
    """
    # The version is part of every existing key; changing it would lose the replies.
    return sha256(canonical({"form": 1, "model": signature, "request": request.fields}).encode()).hexdigest()


class Cache:
    """Replies by key. The file opens on first use, and again after ``close``. Safe to use from several threads."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._store = RowStore(file, _FORM)

    def get(self, key: str) -> Kept | None:
        """Return the reply for a key, or None."""
        row = self._store.find((key,)).get(key)
        return None if row is None else _kept(row[1])

    def put(self, key: str, kept: Kept) -> None:
        """Store a reply; it is on disk when this returns, unless another process has locked the file for too long."""
        self._store.put([(key, kept.value, time.time())])

    def close(self) -> None:
        """Close the file. Pending replies are written first, or kept in this object if that fails."""
        self._store.close()


def _kept(value: str) -> Kept | None:
    """Parse a stored reply; None if the row is invalid, so that the model is asked again."""
    try:
        text, finish, prompt_tokens, completion_tokens, *more = json.loads(value)
        without = tuple(map(str, more[0])) if more else ()
        listed = more[1] if len(more) > 1 else ()
        alternatives = tuple(Alternative(str(token), float(logprob)) for token, logprob in listed)
    except (ValueError, TypeError):
        return None
    whole = isinstance(text, str) and isinstance(finish, str | None)
    if not whole or not isinstance(prompt_tokens, int) or not isinstance(completion_tokens, int):
        return None
    return Kept(text, finish, prompt_tokens, completion_tokens, without, alternatives)


_T = TypeVar("_T")

_JOIN_TIMEOUT = 5.0
"""Seconds to wait for the thread's end: only a name server that does not answer can delay it."""


class LoopThread:
    """An event loop in a thread. It starts with its first user and ends with the last.

    Args:
        begin: Called on the loop before everything else.
        finish: Awaited on the loop after everything else.
    """

    def __init__(self, begin: Callable[[], None], finish: Callable[[], Awaitable[None]]) -> None:
        self._begin = begin
        self._finish = finish
        self._lock = threading.Lock()
        self._users = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def here(self) -> bool:
        """Whether the caller runs on this loop."""
        return self._thread is threading.current_thread()

    @contextmanager
    def running(self) -> Generator[None, None, None]:
        """Keep the loop running inside this block."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def acquire(self) -> None:
        """Keep the loop running until ``release``."""
        with self._lock:
            if self._thread is None:
                self._start()
            self._users += 1

    def release(self) -> None:
        """End the loop unless it has other users; whatever still runs on it is cancelled."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._end()

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start a coroutine on the loop. Cancelling the future cancels it."""
        assert self._loop is not None, "the loop is running"
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def run(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Await a coroutine on this loop from any other loop."""
        if self.here:
            return await work()
        with self.running():
            return await asyncio.wrap_future(self.submit(work()))

    async def pieces(self, source: Callable[[], AsyncGenerator[_T, None]]) -> AsyncGenerator[_T, None]:
        """Iterate over a generator on the loop; each piece is made only when it is requested."""
        with self.running():
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
        # anyio does not await its second try at a connection if the first is cancelled; nothing is lost.
        warnings.filterwarnings("ignore", "coroutine 'connect_tcp", RuntimeWarning)
        self._thread = threading.Thread(target=self._run_loop, args=(started,), name="vericite-llm", daemon=True)
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
            thread.join(_JOIN_TIMEOUT)
        finally:
            # Not earlier: tasks that are being cancelled still use the loop.
            self._thread = self._loop = self._stop = None

    def _run_loop(self, started: threading.Event) -> None:
        try:
            asyncio.run(self._until_stopped(started))
        finally:
            # If no loop could be made, the starting thread is still waiting.
            started.set()

    async def _until_stopped(self, started: threading.Event) -> None:
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
        # StopAsyncIteration cannot be raised out of a task.
        try:
            return (await anext(generator),)
        except StopAsyncIteration:
            return None


async def _close(generator: AsyncGenerator[_T, None], turn: asyncio.Lock) -> None:
    # A generator that is being cancelled is still running, and cannot be closed while it runs.
    async with turn:
        await generator.aclose()


_R = TypeVar("_R")
_Ts = TypeVarTuple("_Ts")

_AHEAD = 2
"""Items to start per request in flight, so that one slow reply at the front does not leave the others idle."""


class LLM:
    """A language model, usable from any thread and any event loop.

    Args:
        spec: The model and its address: ``openai:gpt-4o-mini``, ``http://host:port/v1#model``, ``gguf:/file.gguf`` ...
        settings: How to ask it.
        backend: Sends the requests, instead of the backend that the spec names.

    Raises:
        InputError: The spec is invalid, or the model is not on this machine and VERICITE_OFFLINE or the settings
            forbid others.
        LLMAccessError: The service needs a key, and the environment has none.
        MissingExtraError: The package for this kind of model is not installed.
    """

    def __init__(self, spec: str | ModelSpec, settings: Settings | None = None, backend: Backend | None = None) -> None:
        self.spec = ModelSpec.parse(spec) if isinstance(spec, str) else spec
        self.settings = settings or Settings()
        self._check_reach()
        # Requests to a model in this process wait here, where it costs no time of theirs, not in llama.cpp.
        concurrency = 1 if self.spec.path is not None and backend is None else self.settings.concurrency
        self._backend = backend or _backend(self.spec, concurrency, self.settings.context)
        self.signature = self._backend.signature
        self._concurrency = concurrency
        file = self.settings.cache_file
        self._cache = None if file is None else Cache(file)
        self._disk: ThreadPoolExecutor | None = None
        self._tally = Tally(self.settings.price)
        self._caller = Caller(self._backend, self.settings, concurrency, self._tally)
        self._flights: dict[str, _Flight] = {}
        self._loop = LoopThread(self._begin, self._finish)
        self._entered = 0

    def __repr__(self) -> str:
        return f"LLM({self.signature!r})"

    @property
    def concurrency(self) -> int:
        """Maximum number of simultaneous calls: 1 for a model in this process, else as in the settings."""
        return self._concurrency

    @property
    def context(self) -> int | None:
        """Maximum tokens of prompt and reply, if known before asking: only for models in this process."""
        if self.spec.path is None:
            return None
        from vericite.llm.local import context_of

        return self.settings.context or context_of(self.spec.path)

    @property
    def ledger(self) -> Ledger:
        """Calls made so far and their cost."""
        return self._tally.ledger

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply, from the cache if possible. It ends by the deadline, apart from the wait for a turn.

        Raises:
            InputError: The model does not support the request, or VERICITE_OFFLINE has been set since.
            LLMAccessError: No call can succeed: the key, the credit, the model's name or its address is wrong.
        """
        self._check(request)
        return await self._loop.run(lambda: self._complete(request))

    async def follow(self, request: ChatRequest, seen: Callable[[str], None]) -> Reply:
        """Like ``complete``, and call ``seen`` with each piece of the reply as it comes, on the event loop.

        Raises:
            InputError: The model does not support the request.
            LLMAccessError: No call can succeed, for example because the key is wrong.
        """
        self._check(request)
        return await self._loop.run(lambda: self._follow(request, seen))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        """Yield the reply as it comes; a cached one comes in one piece. The whole reply is cached.

        Raises:
            InputError: The model does not support the request.
            LLMAccessError: No call can succeed, for example because the key is wrong.
            LLMStreamError: No reply came, or it broke off after the pieces yielded.
        """
        self._check(request)
        source = self._stream(request) if self._loop.here else self._loop.pieces(lambda: self._stream(request))
        async with aclosing(source) as pieces:
            async for piece in pieces:
                yield piece

    def map(self, requests: Iterable[ChatRequest]) -> Generator[Reply, None, None]:
        """Ask for many replies, in the order of the requests. See ``each``."""
        return self.each(requests, self.complete)

    def each(self, items: Iterable[_T], ask: Callable[[_T], Awaitable[_R]]) -> Generator[_R, None, None]:
        """Run an async function that asks this model for every item; yield the results in the order of the items.

        Items are taken as needed: at most twice ``concurrency`` are started and not yet returned. ``ask`` runs on a
        separate event loop, so this works in a notebook too. Closing the iterator, or Ctrl-C, cancels what is running.
        An exception from ``ask`` ends the iteration.
        """
        if self._loop.here:
            raise LLMError("expected map and each outside of the functions they run; found one inside. Await complete.")
        with self._loop.running():
            begun: deque[Future[_R]] = deque()
            source = iter(items)
            try:
                while self._fill(begun, source, ask):
                    yield begun.popleft().result()
            finally:
                for future in begun:
                    future.cancel()

    async def parsed(
        self, request: ChatRequest, kind: type[Kind], check: Callable[[Kind], Kind] | None = None
    ) -> Parsed[Kind] | CallFailure:
        """Ask for a value: the request's schema is set from ``kind``, and the reply is parsed as one JSON object.

        An invalid reply is sent back to the model once, with the problem. If the second reply is invalid too, the
        result is a failure with the reply in ``raw``.

        Args:
            request: The request.
            kind: The pydantic model of the value.
            check: Returns the value, possibly normalized; a ``ValueError`` from it asks for a repair.

        Raises:
            LLMAccessError: No call can succeed, for example because the key is wrong.
        """
        return await self._loop.run(lambda: ask_for(self.complete, request, kind, check))

    def close(self) -> None:
        """Close connections, weights and the cache; they open again on the next use."""
        while self._entered:
            self._entered -= 1
            self._loop.release()
        if self._cache is not None:
            self._cache.close()
        # Do not leave gigabytes of weights to the garbage collector.
        if (unload := getattr(self._backend, "unload", None)) is not None:
            unload()

    async def aclose(self) -> None:
        """Like ``close``, for async code."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        # Keep the loop, so that connections outlive single calls.
        self._loop.acquire()
        self._entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _fill(self, begun: deque[Future[_R]], source: Any, ask: Callable[[_T], Awaitable[_R]]) -> bool:
        """Start as many items as allowed. Return whether there is a result to wait for."""

        async def run(item: _T) -> _R:
            return await ask(item)

        # Return a finished result before fetching more items, which may take time.
        while len(begun) < _AHEAD * self._concurrency and not (begun and begun[0].done()):
            try:
                item = next(source)
            except StopIteration:
                break
            begun.append(self._loop.submit(run(item)))
        return bool(begun)

    def _check(self, request: ChatRequest) -> None:
        if request.grammar is not None and not self.spec.takes_grammar:
            raise InputError(
                f"expected a request without a grammar for {self.signature}; found one with it. "
                "Only llama.cpp reads GBNF: use gguf:/file.gguf or the address of its server, or a JSON schema."
            )

    def _check_reach(self) -> None:
        # Read at each call: VERICITE_OFFLINE applies from when it is set, even to a model that was made before.
        if not self.spec.local and (self.settings.offline or offline_by_environment()):
            raise InputError(
                f"expected a model on this machine, as offline is set; found {self.spec.signature}. "
                "Leave out --offline (VERICITE_OFFLINE), or use a model such as ollama:llama3.2 or gguf:FILE."
            )

    async def _complete(self, request: ChatRequest) -> Reply:
        reply = await self._ask(request)
        self._tally.reply(reply)
        return reply

    async def _ask(self, request: ChatRequest) -> Reply:
        if self._cache is None:
            self._check_reach()
            return await self._caller.ask(request, _forgotten)
        began = asyncio.get_running_loop().time()
        key = cache_key(self.signature, request)
        flight = self._flights.get(key)
        if flight is None or flight.over:
            flight = self._flights[key] = _Flight(self._found(self._cache, key, request))
            flight.when_over(lambda: self._forget(key, flight))
            return await flight.join()
        # The same request is in flight.
        reply = await flight.join()
        seconds = asyncio.get_running_loop().time() - began
        if isinstance(reply, CallFailure):
            return replace(reply, attempts=0, seconds=seconds)
        return replace(reply, cached=True, attempts=0, seconds=seconds, usage=reply.usage._replace(cost=0.0))

    async def _found(self, cache: Cache, key: str, request: ChatRequest) -> Reply:
        began = asyncio.get_running_loop().time()
        if kept := await self._on_disk(cache.get, key):
            return _recalled(kept, asyncio.get_running_loop().time() - began)
        self._check_reach()
        return await self._caller.ask(request, partial(self._keep, cache, key, request))

    async def _keep(self, cache: Cache, key: str, request: ChatRequest, reply: Completion) -> None:
        # A value that was cut off is invalid and is not stored. A text may be meant to be that short.
        if reply.cut_off and request.schema is not None:
            return
        usage = reply.usage
        kept = Kept(
            reply.text, reply.finish, usage.prompt_tokens, usage.completion_tokens, reply.without, reply.alternatives
        )
        # Shielded: a reply is stored even if its caller has gone.
        await asyncio.shield(self._on_disk(cache.put, key, kept))

    def _on_disk(self, use: Callable[[*_Ts], _R], *given: *_Ts) -> asyncio.Future[_R]:
        return asyncio.get_running_loop().run_in_executor(self._disk, use, *given)

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _stream(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        async with aclosing(self._whole_stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    yield piece

    async def _follow(self, request: ChatRequest, seen: Callable[[str], None]) -> Reply:
        began = asyncio.get_running_loop().time()
        reply: Reply = CallFailure("the reply did not come", 0)
        try:
            async with aclosing(self._whole_stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, str):
                        seen(piece)
                    else:
                        reply = piece
        except LLMStreamError as error:
            return CallFailure(str(error), 1, seconds=asyncio.get_running_loop().time() - began)
        return reply

    async def _whole_stream(self, request: ChatRequest) -> AsyncGenerator[str | Completion, None]:
        """Yield the reply piece by piece, and last the whole."""
        keep = _forgotten
        if self._cache is not None:
            key = cache_key(self.signature, request)
            if kept := await self._on_disk(self._cache.get, key):
                recalled = _recalled(kept, 0.0)
                self._tally.reply(recalled)
                yield kept.text
                yield recalled
                return
            keep = partial(self._keep, self._cache, key, request)
        self._check_reach()
        async with aclosing(self._caller.stream(request, keep)) as pieces:
            ended = False
            try:
                async for piece in pieces:
                    if not isinstance(piece, str):
                        ended = True
                        self._tally.reply(piece)
                    yield piece
            finally:
                if not ended:
                    self._tally.reply(CallFailure("the stream was not read to its end", 0))

    def _begin(self) -> None:
        self._flights = {}
        # Not on the loop, which a locked file would block; one thread keeps the order.
        self._disk = ThreadPoolExecutor(1, "vericite-cache")
        self._caller.begin()

    async def _finish(self) -> None:
        disk = self._disk
        await self._backend.aclose()
        if self._cache is not None:
            await self._on_disk(self._cache.close)
        if disk is not None:
            disk.shutdown()


async def _forgotten(_: Completion) -> None:
    """Store nothing: there is no cache."""


def _recalled(kept: Kept, seconds: float) -> Completion:
    return Completion(kept.text, kept.finish, kept.usage, True, 0, seconds, kept.without, kept.alternatives)


class _Flight:
    """A request in flight with several waiting callers. It is cancelled when the last one leaves."""

    def __init__(self, work: Any) -> None:
        self._task: asyncio.Task[Reply] = asyncio.ensure_future(work)
        self._waiting = 0

    @property
    def over(self) -> bool:
        """Whether it is too late to join."""
        return self._task.done() or self._task.cancelling() > 0

    def when_over(self, call: Callable[[], None]) -> None:
        """Call a function at the end."""

        def end(task: asyncio.Task[Reply]) -> None:
            # Retrieve the exception, so that asyncio does not report it as unhandled.
            _ = task.cancelled() or task.exception()
            call()

        self._task.add_done_callback(end)

    async def join(self) -> Reply:
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._task.cancel()


def _backend(spec: ModelSpec, concurrency: int, context: int | None) -> Backend:
    if spec.path is not None:
        from vericite.llm.local import LocalModel

        return LocalModel(spec, context)
    from vericite.llm.service import ModelService

    return ModelService(spec, concurrency)
