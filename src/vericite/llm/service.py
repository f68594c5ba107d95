"""Models behind an OpenAI-compatible service, over HTTP.

The protocol is small: a JSON object goes to ``/chat/completions``, and an object or a stream of events comes back. The
HTTP client sends only what it is given, does not follow redirects with the key, and does not retry by itself.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Mapping
from contextlib import aclosing
from typing import Any, TypeVar, cast

import httpx2

from vericite.errors import InputError
from vericite.llm.chat import ChatRequest
from vericite.llm.replies import ReplyReader, as_object, first_choice, usage_of
from vericite.llm.retry import ALTERNATIVES, LIMIT, SCHEMA, TEMPERATURE, BackendError, RawReply
from vericite.llm.spec import ModelSpec, key_of
from vericite.network.access import Key, LogScrubber, PieceScrubber, ResponseTooLong, Unpacking, trusted_certificates
from vericite.records.base import storable
from vericite.version import __version__

_T = TypeVar("_T")

MOST_READ = 8 * 2**20
"""Maximum bytes of a response, uncompressed: many times the longest reply."""

_STREAMED = 4
"""Factor for streams: each token comes in an event of a few hundred bytes."""

_LIMITS = ("max_completion_tokens", "max_tokens")
"""OpenAI's newer models refuse the older name of the limit; most other services do not know the newer one."""


class ModelService:
    """A model behind an OpenAI-compatible service.

    Args:
        spec: The model and its address.
        concurrency: Maximum number of open connections.

    Raises:
        LLMAccessError: The service needs a key and the environment has none.
    """

    def __init__(self, spec: ModelSpec, concurrency: int) -> None:
        self._spec = spec
        self._concurrency = concurrency
        self._key = key_of(spec)
        self._reader = ReplyReader(spec, self._key)
        self._logs = LogScrubber(self._key)
        self._client: httpx2.AsyncClient | None = None
        self._limit = _LIMITS[0 if spec.provider == "openai" else 1]

    @property
    def signature(self) -> str:
        """Identifies the model."""
        return self._spec.signature

    def __repr__(self) -> str:
        return f"Service({self.signature!r}, {self._key!r})"

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        """Ask once; see ``Backend``."""
        sent = self._body(request)
        try:
            body = await self._guarded(self._whole(sent), timeout)
            return self._reader.completion(body)
        except BackendError as error:
            self._learn(error, sent)
            raise

    async def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        """Ask once and yield the reply as it comes; see ``Backend``."""
        sent = self._body(request)
        try:
            async with aclosing(self._streamed(sent, timeout)) as pieces:
                async for piece in pieces:
                    yield piece
        except BackendError as error:
            self._learn(error, sent)
            raise

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
            self._logs.detach()

    async def _whole(self, sent: dict[str, Any]) -> str:
        response = await self._post(sent, MOST_READ)
        try:
            return await self._text(response)
        finally:
            await response.aclose()

    async def _streamed(self, sent: dict[str, Any], timeout: float) -> AsyncGenerator[str | RawReply, None]:
        body = sent | {"stream": True, "stream_options": {"include_usage": True}}
        response = await self._guarded(self._post(body, MOST_READ * _STREAMED), timeout)
        try:
            if "json" in response.headers.get("content-type", ""):
                # The service does not stream, and sends the whole reply.
                whole = self._reader.completion(await self._guarded(self._text(response), timeout))
                yield whole.text
                yield whole
                return
            reply = _StreamedReply(self._key)
            events = aiter(httpx2.EventSource(response, max_event_size=None))
            while (event := await self._guarded(_next(events), timeout)) is not None:
                if event.get("error"):
                    raise self._reader.error_event(event["error"])
                if piece := reply.add(event):
                    yield piece
            if rest := reply.scrubber.finish():
                yield reply.keep(rest)
            yield self._whole_of(reply)
        finally:
            await response.aclose()

    async def _post(self, body: dict[str, Any], most: int) -> httpx2.Response:
        """Return the response with its body still unread; raise the error of an unsuccessful one."""
        if self._client is None:
            self._client = _client_for(self._spec, self._key, self._concurrency)
            self._logs.attach()
        request = self._client.build_request("POST", f"{self._spec.base_url}/chat/completions", json=body)
        response = await self._client.send(request, stream=True)
        try:
            unpacking = Unpacking(response.headers.pop("content-encoding", None), most)
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Bounded(response.stream, unpacking)
            if response.status_code != 200:
                words = await self._text(response)
                raise self._reader.status(response.status_code, response.headers, words)
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _text(self, response: httpx2.Response) -> str:
        await response.aread()
        return response.text

    def _whole_of(self, reply: _StreamedReply) -> RawReply:
        if reply.finish is None:
            raise BackendError(f"{self.signature}: the stream broke off", retry=True, raw=self._reader.kept(reply.text))
        text = reply.text if reply.started else None
        if problem := self._reader.unusable(text, reply.finish, reply.refusal, reply.usage, reply.text):
            raise problem
        return RawReply(reply.text, reply.finish, reply.usage, other=self._reader.other_model(reply.model))

    def _learn(self, error: BackendError, sent: Mapping[str, Any]) -> None:
        """Use the other name of the limit, if the service does not know the one that was sent."""
        # Decide by the name that was sent: several requests in flight may each be refused.
        fields = {
            SCHEMA: "response_format",
            TEMPERATURE: "temperature",
            ALTERNATIVES: "top_logprobs",
            LIMIT: next(name for name in _LIMITS if name in sent),
        }
        if next((name for name in error.refuses if fields[name] in sent), None) == LIMIT:
            self._limit = next(name for name in _LIMITS if name not in sent)
            error.changed = True

    async def _guarded(self, work: Awaitable[_T], timeout: float) -> _T:
        """Await with a timeout; any problem is raised as a ``BackendError`` without a cause."""
        try:
            async with asyncio.timeout(timeout):
                return await work
        except Exception as error:  # the packages in between may raise anything
            problem = self._problem(error, timeout)
        # Outside the handler: an exception raised inside would refer to the first one, and so to the headers.
        raise problem

    def _problem(self, error: Exception, timeout: float) -> BackendError:
        if isinstance(error, BackendError):
            return error
        if isinstance(error, ResponseTooLong):
            return BackendError(f"{self.signature}: {self._reader.shown(str(error))}", retry=False)
        if isinstance(error, TimeoutError | httpx2.TimeoutException):
            reason = (
                f"{self.signature} did not answer within {timeout:g} s; if the model needs longer, raise the timeout "
                "or lower the concurrency"
            )
            return BackendError(reason, retry=True, unreachable=True, silent=True)
        cause = self._reader.shown(str(error) or type(error).__name__)
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
            reason = (
                f"expected an answer from {self.signature}; found no connection: {cause}. "
                f"Is the server running at {self._spec.base_url}? Start it, or correct the address"
            )
            return BackendError(reason, retry=True, unreachable=True)
        if isinstance(error, httpx2.SSEError | zlib.error) or not isinstance(error, httpx2.RequestError | OSError):
            # Malformed JSON in an event, or invalid bytes: the next attempt may succeed.
            cause = self._reader.shown(f"{type(error).__name__}: {error}")
            return BackendError(f"{self.signature} sent what cannot be read: {cause}", retry=True)
        reason = f"expected an answer from {self.signature}; found a connection that broke off: {cause}. Ask again"
        return BackendError(reason, retry=True, unreachable=True)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        found: dict[str, Any] = {
            "model": self._spec.model,
            "messages": turns(request),
            self._limit: request.max_tokens,
            **chosen(request),
        }
        if self._spec.provider == "openrouter":
            # Without this, it does not report the cost of a call.
            found["usage"] = {"include": True}
        return found


def chosen(request: ChatRequest) -> dict[str, Any]:
    """Return the options of a request under their OpenAI names, without those left to the service."""
    named = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "stop": list(request.stop) or None,
        "response_format": None if request.schema is None else response_format(request),
        "grammar": request.grammar,
        "logprobs": True if request.alternatives else None,
        "top_logprobs": request.alternatives or None,
    }
    return {name: value for name, value in named.items() if value is not None}


def turns(request: ChatRequest) -> list[dict[str, str]]:
    """Return the conversation in the service's format."""
    return [{"role": message.role, "content": storable(message.text)} for message in request.messages]


def response_format(request: ChatRequest) -> dict[str, Any] | None:
    """Return the schema of a request in the service's format; None without one."""
    if request.schema is None:
        return None
    schema = request.schema.value
    described = {"name": request.schema.name, "schema": schema, "strict": closed(schema)}
    return {"type": "json_schema", "json_schema": described}


def closed(schema: object) -> bool:
    """Whether all objects of a schema require all their fields and allow no others, as strict services require."""
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
        self.model: object = None
        self.started = False
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event; return the text that can be shown."""
        self.usage = usage_of(event.get("usage")) or self.usage
        self.model = event.get("model") or self.model
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


async def _next(events: AsyncIterator[httpx2.ServerSentEvent]) -> Mapping[str, Any] | None:
    """Return the next event's object; None at the end."""
    event = await anext(events, None)
    return None if event is None or event.data.strip() == "[DONE]" else as_object(json.loads(event.data))


class _Bounded(httpx2.AsyncByteStream):
    """A body that raises an error when it gets too long."""

    def __init__(self, source: httpx2.AsyncByteStream, unpacking: Unpacking) -> None:
        self._source = source
        self._unpacking = unpacking

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._source:
            yield self._unpacking.feed(piece)

    async def aclose(self) -> None:
        await self._source.aclose()


class _KeyHeader(httpx2.Auth):
    """Adds the key just before a request is sent, so that no object holds it in readable form."""

    def __init__(self, key: Key) -> None:
        self._key = key

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Add the header."""
        if self._key:
            request.headers["authorization"] = self._key.bearer()
        yield request


def _client_for(spec: ModelSpec, key: Key, concurrency: int) -> httpx2.AsyncClient:
    """Create the HTTP client for a service.

    Raises:
        InputError: The environment names an unusable proxy.
    """
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    certificates = trusted_certificates()
    # A client with its own transport uses no proxy: requests to this machine must not go through one.
    transport = httpx2.AsyncHTTPTransport(verify=certificates, limits=limits) if spec.local else None
    try:
        return httpx2.AsyncClient(
            auth=_KeyHeader(key),
            # Replies are short, and uncompressed ones cannot grow when they are read.
            headers={"user-agent": f"vericite/{__version__}", "accept-encoding": "identity"},
            transport=transport,
            verify=certificates,
            limits=limits,
            follow_redirects=False,
            timeout=None,
        )
    except (ValueError, ImportError):
        # Do not show the error itself: the address of a proxy may contain a password.
        raise InputError(
            "expected proxies in the environment (HTTPS_PROXY, ALL_PROXY ...) that can be used; found one that cannot. "
            "Correct it, or unset it."
        ) from None
