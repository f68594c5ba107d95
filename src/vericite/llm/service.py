"""Models behind an OpenAI-compatible service, carried by the ``openai`` package.

The package carries and nothing more. It would retry, follow redirects with the key, send what it finds in OPENAI_*
variables to whatever address it is given, and raise errors that hold the request with its headers; none of that is
left to it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

from vericite.errors import MissingExtraError
from vericite.llm.backend import BackendError, RawReply
from vericite.llm.chat import ChatRequest
from vericite.llm.concessions import LIMIT, SCHEMA, TEMPERATURE
from vericite.llm.keys import Key, LogScrubber, PieceScrubber
from vericite.llm.replies import ReplyReader, as_object, first_choice, usage_of
from vericite.llm.spec import ModelSpec
from vericite.records.base import storable

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_T = TypeVar("_T")

_PATH = "/chat/completions"

_LIMITS = ("max_completion_tokens", "max_tokens")
"""OpenAI's newer models refuse the older name of the limit, and most other services do not know the newer one."""


class Service:
    """A model behind an OpenAI-compatible service.

    Args:
        spec: Which model, and where.
        concurrency: Connections that may be open at once.

    Raises:
        LLMAccessError: The service needs a key and the environment has none.
        MissingExtraError: The ``openai`` package is not installed.
    """

    def __init__(self, spec: ModelSpec, concurrency: int) -> None:
        self._spec = spec
        self._concurrency = concurrency
        self._key = Key.of(spec)
        self._reader = ReplyReader(spec, self._key)
        self._logs = LogScrubber(self._key)
        self._client: AsyncOpenAI | None = None
        self._limit = _LIMITS[0 if spec.provider == "openai" else 1]
        _sdk()

    @property
    def signature(self) -> str:
        """What tells its model from others."""
        return self._spec.signature

    def __repr__(self) -> str:
        return f"Service({self.signature!r}, {self._key!r})"

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        """Ask once; see ``Backend``."""
        sent = self._body(request)
        try:
            outcome = self._reader.completion(await self._guarded(self._whole(sent), timeout))
            if isinstance(outcome, BackendError):
                raise outcome
        except BackendError as error:
            self._learn(error, sent)
            raise
        return outcome

    async def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        """Ask once, and yield the reply as it comes; see ``Backend``."""
        sent = self._body(request)
        try:
            async with aclosing(self._streamed(sent, timeout)) as pieces:
                async for piece in pieces:
                    yield piece
        except BackendError as error:
            self._learn(error, sent)
            raise

    async def _streamed(self, sent: dict[str, Any], timeout: float) -> AsyncGenerator[str | RawReply, None]:
        events = await self._guarded(self._events(sent), timeout)
        reply = _StreamedReply(self._key)
        async with aclosing(events):
            iterator = aiter(events)
            while (event := await self._guarded(_next(iterator), timeout)) is not None:
                if event.get("error"):
                    raise self._reader.error_event(event["error"])
                if piece := reply.add(event):
                    yield piece
        if rest := reply.scrubber.finish():
            yield reply.keep(rest)
        yield self._whole_of(reply)

    def _learn(self, error: BackendError, sent: Mapping[str, Any]) -> None:
        """Call the limit by its other name, if the one that was sent is not known."""
        # By what was sent and not by what is in use: of several requests in flight each may be refused.
        fields = {SCHEMA: "response_format", TEMPERATURE: "temperature", LIMIT: next(n for n in _LIMITS if n in sent)}
        if next((name for name in error.refuses if fields[name] in sent), None) == LIMIT:
            self._limit = next(name for name in _LIMITS if name not in sent)
            error.changed = True

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
            self._logs.detach()

    def _whole_of(self, reply: _StreamedReply) -> RawReply:
        if reply.finish is None:
            raise BackendError(f"{self.signature}: the stream broke off", retry=True, raw=self._reader.kept(reply.text))
        text = reply.text if reply.started else None
        if problem := self._reader.unusable(text, reply.finish, reply.refusal, reply.usage, reply.text):
            raise problem
        return RawReply(reply.text, reply.finish, reply.usage)

    async def _whole(self, sent: dict[str, Any]) -> str:
        import httpx2

        response = await self._opened().post(_PATH, cast_to=httpx2.Response, body=sent)
        return response.text

    async def _events(self, sent: dict[str, Any]) -> AsyncGenerator[Mapping[str, Any], None]:
        body = sent | {"stream": True, "stream_options": {"include_usage": True}}
        kind = _sdk().AsyncStream[object]
        return _objects(await self._opened().post(_PATH, cast_to=object, body=body, stream=True, stream_cls=kind))

    async def _guarded(self, work: Awaitable[_T], timeout: float) -> _T:
        """Await, at most so long; whatever goes wrong comes out as a ``BackendError`` with nothing behind it."""
        try:
            async with asyncio.timeout(timeout):
                return await work
        except Exception as error:  # whatever the packages in between raise
            problem = self._problem(error, timeout)
        # Outside the handler: an exception raised inside would carry the first one, and with it the headers.
        raise problem

    def _problem(self, error: Exception, timeout: float) -> BackendError:
        import httpx2
        import openai

        from vericite.llm.carrier import ReadingError

        if isinstance(error, BackendError):
            return error
        root = _root(error)
        if isinstance(root, ReadingError):
            return BackendError(f"{self.signature}: {self._reader.shown(str(root))}", retry=False)
        if isinstance(error, openai.APIStatusError):
            return self._reader.status(error.status_code, error.response.headers, error.response.text)
        if isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException):
            reason = f"{self.signature} did not answer within {timeout:g} s"
            return BackendError(reason, retry=True, unreachable=True)
        if isinstance(error, openai.APIConnectionError | httpx2.RequestError | ssl.SSLError | OSError):
            return self._unconnected(error, root)
        if isinstance(error, openai.APIError) and error.body is not None:
            return self._reader.error_event(error.body)
        # Malformed JSON in an event, bytes that are no text: the next attempt may be sound.
        cause = self._reader.shown(f"{type(error).__name__}: {error}")
        return BackendError(f"{self.signature} sent what cannot be read: {cause}", retry=True)

    def _unconnected(self, error: Exception, root: BaseException) -> BackendError:
        import httpx2

        # The outer ones say "Connection error.".
        cause = self._reader.shown(str(root) or type(root).__name__)
        if any(isinstance(each, httpx2.ConnectError | httpx2.ProxyError) for each in _chain(error)):
            reason = (
                f"expected an answer from {self.signature}; found no connection: {cause}. "
                f"Is the server running at {self._spec.base_url}? Start it, or correct the address"
            )
        else:
            reason = f"expected an answer from {self.signature}; found a connection that broke off: {cause}. Ask again"
        return BackendError(reason, retry=True, unreachable=True)

    def _opened(self) -> AsyncOpenAI:
        if self._client is None:
            self._client = _connected(self._spec, self._key, self._concurrency)
            self._logs.attach()
        return self._client

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        found: dict[str, Any] = {
            "model": self._spec.model,
            "messages": turns(request),
            self._limit: request.max_tokens,
            **chosen(request),
        }
        if self._spec.provider == "openrouter":
            # Without being asked it does not say what a call cost.
            found["usage"] = {"include": True}
        return found


def chosen(request: ChatRequest) -> dict[str, Any]:
    """What a request chooses, under the names of OpenAI's protocol; what it leaves to the service is left out."""
    named = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "stop": list(request.stop) or None,
        "response_format": None if request.schema is None else response_format(request),
        "grammar": request.grammar,
    }
    return {name: value for name, value in named.items() if value is not None}


def turns(request: ChatRequest) -> list[dict[str, str]]:
    """The conversation as services take it."""
    return [{"role": message.role, "content": storable(message.text)} for message in request.messages]


def response_format(request: ChatRequest) -> dict[str, Any] | None:
    """How a service is told the schema of a request; None where it has none."""
    if request.schema is None:
        return None
    schema = request.schema.value
    described = {"name": request.schema.name, "schema": schema, "strict": closed(schema)}
    return {"type": "json_schema", "json_schema": described}


def closed(schema: object) -> bool:
    """Whether every object of a schema requires all its fields and takes no others, as strict services want it."""
    if isinstance(schema, list):
        return all(closed(part) for part in cast(list[object], schema))
    if not isinstance(schema, dict):
        return True
    parts = cast(dict[str, Any], schema)
    if parts.get("type") == "object":
        fields: dict[str, Any] = parts.get("properties", {})
        if parts.get("additionalProperties") is not False or set(parts.get("required", [])) != set(fields):
            return False
    return all(closed(part) for part in parts.values())


class _StreamedReply:
    """A reply put together from its pieces."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self.scrubber = PieceScrubber(key)
        self.finish: str | None = None
        self.refusal: str | None = None
        self.usage = None
        self.started = False
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, event: Mapping[str, Any]) -> str:
        """Take an event in; what can be shown of its piece comes out."""
        self.usage = usage_of(event.get("usage")) or self.usage
        choice = first_choice(event) or {}
        delta = as_object(choice.get("delta"))
        finish, refusal, content = choice.get("finish_reason"), delta.get("refusal"), delta.get("content")
        if isinstance(finish, str):
            self.finish = self._key.scrub(finish)
        if isinstance(refusal, str):
            self.refusal = (self.refusal or "") + refusal
        if not isinstance(content, str):
            return ""
        self.started = True
        return self.keep(storable(self.scrubber.feed(content)))

    def keep(self, piece: str) -> str:
        self._pieces.append(piece)
        return piece


async def _objects(stream: Any) -> AsyncGenerator[Mapping[str, Any], None]:
    try:
        async for event in stream:
            yield as_object(event)
    finally:
        await stream.close()


async def _next(events: AsyncIterator[_T]) -> _T | None:
    return await anext(events, None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and those inside it, the innermost last."""
    inner: BaseException | None = error
    while inner is not None:
        yield inner
        inner = inner.__cause__ or inner.__context__


def _root(error: BaseException) -> BaseException:
    return list(_chain(error))[-1]


def _sdk() -> Any:
    try:
        import openai

        # Version 3 of the package brings it and is carried by it; earlier ones are not enough.
        import_module("httpx2")
    except ImportError:
        raise MissingExtraError("llm", "Asking a language model over the network") from None
    return openai


def _connected(spec: ModelSpec, key: Key, concurrency: int) -> AsyncOpenAI:
    # Not before the packages are known to be there.
    from vericite.llm.carrier import carrier

    client = carrier(spec, key, concurrency)
    # The key goes through the carrier; the package gets a word that stands for none.
    return _sdk().AsyncOpenAI(base_url=spec.base_url, api_key="none", max_retries=0, http_client=client)
