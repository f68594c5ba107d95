# The extra [local] need not be installed where types are checked.
# pyright: reportMissingImports=false
"""Models run in this process by llama.cpp (the ``xllamacpp`` package), from a GGUF file."""

from __future__ import annotations

import asyncio
import io
import secrets
import struct
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock
from typing import Any, BinaryIO

from vericite.environment import THREADS, whole_number
from vericite.errors import LLMAccessError, MissingExtraError
from vericite.llm.chat import Alternative, ChatRequest, Usage
from vericite.llm.replies import as_object, first_alternatives, first_choice, usage_of
from vericite.llm.retry import BackendError, RawReply
from vericite.llm.service import chosen, turns
from vericite.llm.spec import ModelSpec

CONTEXT = 8192
"""Tokens of prompt and reply if the model's file does not say."""

MOST_CONTEXT = 18_432
"""Maximum used by default: memory is reserved for all of it, even if it is not needed.

Twenty abstracts of 2,200 characters fit, with two demonstrations.
"""

_PATIENCE = 2.0
"""Seconds to wait for an abandoned request to stop."""

SLOTS = 1
"""Requests at a time: one keeps every core busy, and its slot keeps the beginning of the prompt cached."""


class LocalModel:
    """A GGUF file run in this process. The weights load at the first use; no timeout counts that.

    Args:
        spec: The file.
        context: Tokens of prompt and reply; None for the value of ``context_of``.

    Raises:
        MissingExtraError: The ``xllamacpp`` package is not installed.
    """

    def __init__(self, spec: ModelSpec, context: int | None = None) -> None:
        self._spec = spec
        self._context = context
        self._loading = Lock()
        self._server: Any = None
        _package()

    @property
    def signature(self) -> str:
        """Identifies the model."""
        return self._spec.signature

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        """Ask once; see ``Backend``."""
        await asyncio.to_thread(self._loaded)
        try:
            async with asyncio.timeout(timeout), aclosing(self.stream(request, timeout)) as pieces:
                whole = [piece async for piece in pieces if isinstance(piece, RawReply)]
                return whole[-1]
        except TimeoutError:
            problem = _too_slow(timeout)
        raise problem

    async def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        """Ask once and yield the reply as it comes; see ``Backend``."""
        server = await asyncio.to_thread(self._loaded)
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        stopped = Event()

        def take(event: Mapping[str, Any] | None) -> bool:
            try:
                loop.call_soon_threadsafe(events.put_nowait, event)
            except RuntimeError:  # the loop has ended, and nothing waits any more
                return True
            return stopped.is_set()

        work = asyncio.create_task(asyncio.to_thread(_generate, server, _parameters(request), take))
        reply = _LocalReply(self.signature, self._context or _context_of(self._spec))
        try:
            while (event := await _within(events, timeout)) is not None:
                if piece := reply.add(event):
                    yield piece
        finally:
            # llama.cpp and its thread stop at the next token; the first one may take long.
            stopped.set()
            await asyncio.wait([work], timeout=_PATIENCE)
        yield reply.whole

    async def aclose(self) -> None:
        """Do nothing: the weights do not belong to an event loop."""

    def unload(self) -> None:
        """Free the weights; they load again at the next use."""
        with self._loading:
            self._server = None

    def _loaded(self) -> Any:
        with self._loading:
            if self._server is None:
                self._server = _started(self._spec, self._context or _context_of(self._spec))
            return self._server


class _LocalReply:
    """A reply put together from llama.cpp's events."""

    def __init__(self, signature: str, context: int) -> None:
        self._signature = signature
        self._context = context
        self._pieces: list[str] = []
        self._finish: str | None = None
        self._usage: Usage | None = None
        self._alternatives: tuple[Alternative, ...] = ()

    def add(self, event: Mapping[str, Any]) -> str:
        if error := event.get("error"):
            found = as_object(error)
            words = f"{self._signature}: {found.get('message', error)}"
            if found.get("type") == "exceed_context_size_error":
                words = (
                    f"the request is longer than the model's context of {self._context} tokens; shorten it ({words})"
                )
            # It would fail again: no network is involved.
            raise BackendError(words, retry=False)
        self._usage = usage_of(event.get("usage")) or self._usage
        choice = first_choice(event) or {}
        self._finish = choice.get("finish_reason") or self._finish
        self._alternatives = self._alternatives or first_alternatives(choice)
        piece = as_object(choice.get("delta")).get("content") or ""
        self._pieces.append(piece)
        return piece

    @property
    def whole(self) -> RawReply:
        if self._finish is None:
            raise BackendError(f"{self._signature}: the reply broke off", retry=True)
        return RawReply("".join(self._pieces), self._finish, self._usage, self._alternatives)


async def _within(events: asyncio.Queue[Mapping[str, Any] | None], timeout: float) -> Mapping[str, Any] | None:
    try:
        async with asyncio.timeout(timeout):
            return await events.get()
    except TimeoutError:
        problem = _too_slow(timeout)
    raise problem


def _too_slow(timeout: float) -> BackendError:
    reason = f"llama.cpp did not answer within {timeout:g} s; raise the timeout, or ask for fewer max_tokens"
    return BackendError(reason, retry=False)


def _generate(server: Any, parameters: dict[str, Any], take: Callable[[Mapping[str, Any] | None], bool]) -> None:
    """Run a request to its end, in its own thread; ``take`` returns whether to stop."""
    try:
        # Errors go to the callback or are raised by the call, depending on when they happen.
        left = server.handle_chat_completions(parameters, take)
        take(as_object(left))
    except Exception as error:  # xllamacpp raises whatever llama.cpp throws
        take({"error": {"message": str(error)}})
    finally:
        take(None)


def _parameters(request: ChatRequest) -> dict[str, Any]:
    return {
        "messages": turns(request),
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        **chosen(request),
    }


def _package() -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtraError("local", "Running a GGUF model in this process") from None
    return xllamacpp


def _threads() -> int:
    """Return the number of cores, from the variable for bundled models; 0 leaves it to llama.cpp."""
    return whole_number(THREADS) or 0


def _context_of(spec: ModelSpec) -> int:
    return CONTEXT if spec.path is None else context_of(spec.path)


@lru_cache(maxsize=16)
def context_of(path: Path) -> int:
    """Return the tokens of prompt and reply that a GGUF file's header allows, at most ``MOST_CONTEXT``."""
    try:
        with path.open("rb") as file:
            told = next((value for key, value in _header(file) if key.endswith(".context_length")), None)
    except (OSError, ValueError, struct.error):
        told = None
    return min(told, MOST_CONTEXT) if isinstance(told, int) and told > 0 else CONTEXT


_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_FIELDS, _LONGEST_NAME = 1_000, 65_536


def _header(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Yield the numeric fields of a GGUF file up to its first array: the properties come before the vocabulary."""
    if file.read(4) != b"GGUF":
        raise ValueError("no GGUF file")
    (version,) = struct.unpack("<I", file.read(4))
    _, fields = struct.unpack("<QQ", file.read(16)) if version > 1 else struct.unpack("<II", file.read(8))
    for _ in range(min(fields, _MOST_FIELDS)):
        name = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if kind == _ARRAY:
            return
        if kind == _STRING:
            _text(file)
        elif kind in _NUMBERS:
            form = f"<{_NUMBERS[kind]}"
            yield name, struct.unpack(form, file.read(struct.calcsize(form)))[0]
        else:
            raise ValueError(f"a field of an unknown kind, {kind}")


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST_NAME:
        # A chat template may be long; only its position matters.
        file.seek(length, io.SEEK_CUR)
        return ""
    return file.read(length).decode("utf-8", "replace")


def _started(spec: ModelSpec, context: int) -> Any:
    package = _package()
    parameters = package.CommonParams()
    parameters.model.path = str(spec.path)
    if spec.adapter is not None:
        parameters.lora_adapters = [package.CommonAdapterLoraInfo(str(spec.adapter), 1.0)]
    parameters.n_ctx = context
    parameters.n_parallel = SLOTS
    if threads := _threads():
        # On a busy machine, threads on all cores wait for each other and make no progress.
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = -1
    # It also opens a port on the loopback interface, which is not used.
    parameters.api_keys = [secrets.token_hex(16)]
    try:
        return package.Server(parameters)
    except RuntimeError as error:
        failure = str(error)
    raise LLMAccessError(
        f"expected a GGUF model that llama.cpp can load at {spec.path}{_beside(spec)}; it failed: {failure}. "
        "Download it again, or use another."
    )


def _beside(spec: ModelSpec) -> str:
    return "" if spec.adapter is None else f", and an adapter of it at {spec.adapter}"
