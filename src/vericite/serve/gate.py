"""Access checks that every request must pass before its body is parsed.

They run in this order: host header, origin, token, request rate of the client, size and speed of the body. Requests
from other sites are refused (no CORS), and errors reveal nothing about the inside of the service.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from vericite.reporting.words import Language
from vericite.serve.cookies import cookie
from vericite.serve.memory import LARGE, MemoryTrimmer
from vericite.serve.offer import Limits
from vericite.serve.pages import language_of, login_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOG = logging.getLogger(__name__)

_OPEN = ("/healthz", "/readyz")
_LOGIN, _UPLOADS, _MCP = "/login", ("/v1/documents", "/v1/manuscripts"), "/mcp"
_SHELF_FILES = re.compile(r"/v1/shelves/[0-9a-f]{32}/files")
_MAX_LOGIN_BYTES = 4_000
_MAX_MCP_BYTES = 4_000_000
"""MCP's library parses the body in the event loop, so that a longer one would keep other requests waiting."""
_MAX_ARRIVING_BYTES = 128_000_000
"""Most bytes of bodies that are still arriving, of all requests together."""
_COOKIE = "vericite_token"
_SIZE = "vericite.size"
"""Key of the scope of a request that holds the size of its body."""

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)


class Refused(Exception):
    """A request is refused, with the HTTP status."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


@dataclass
class Metrics:
    """Counters of requests."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    stopped: int = 0


@dataclass(frozen=True)
class GateSettings:
    """Settings of the gate.

    Attributes:
        hosts: Allowed names in the host header, with or without a port (empty: all).
        token: Token that every request must send (None: no token).
        limits: Limits on sizes and rates.
    """

    hosts: frozenset[str]
    token: str | None
    limits: Limits


class FrontGate:
    """Outermost ASGI layer of the service."""

    def __init__(self, app: App, settings: GateSettings, metrics: Metrics, trimmer: MemoryTrimmer) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._trimmer = trimmer
        self._arriving = 0
        self._asked: dict[str, deque[float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with the reason."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, replied = time.monotonic(), [500], False

        async def counted(message: Message) -> None:
            nonlocal replied
            if message["type"] == "http.response.start":
                replied = True
                status[0] = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            is_for_app = self._admit(scope, headers)
            receive = await self._read(scope, headers, receive)
            if scope["method"] == "HEAD":
                # Handled as GET; the server omits the body.
                scope = {**scope, "method": "GET"}
            if is_for_app:
                await self._app(scope, receive, counted)
            else:
                await self._log_in(receive, counted, language_of(headers))
        except Refused as refused:
            if refused.status == 401 and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
                await _show(counted, 401, login_page(language_of(headers)), refused.headers)
            else:
                await _reply(counted, refused.status, str(refused), refused.headers)
        except Exception:
            # The client must learn nothing about the inside of the service.
            _LOG.exception("a request failed")
            if not replied:
                await _reply(counted, 500, "the service failed; its log says why", {})
        finally:
            if size := scope.get(_SIZE):
                self._trimmer.request(after_large=size >= LARGE)
            path = _group(scope["path"], status[0])
            self._metrics.requests[path, status[0]] += 1
            self._metrics.seconds[path] = self._metrics.seconds.get(path, 0.0) + time.monotonic() - began

    def _admit(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether to pass the request to the application; False if it submits the login form.

        Raises:
            Refused: The request may not pass.
        """
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy may read the end of this request differently (request smuggling).
            raise Refused(400, "expected content-length or transfer-encoding; found both", {"connection": "close"})
        host = headers.get("host", "")
        if self._settings.hosts and _without_port(host) not in self._settings.hosts:
            raise Refused(421, f"expected one of this service's names in the host header; found {host[:100]!r}")
        reads = scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        # A form on a page without a referrer sends no origin; the browser then sends the other header.
        hidden = origin == "null" and site == "same-origin"
        foreign = origin is not None and not hidden and _origin_host(origin) != host
        if not reads and (foreign or site in ("cross-site", "same-site")):
            raise Refused(
                403, "expected a request from this service's own page or from a program; found one from another site"
            )
        if scope["path"] in _OPEN:
            # Open to everyone, so nothing is read from the client but the head.
            if not reads:
                close = {"allow": "GET, HEAD", "connection": "close"}
                raise Refused(405, f"expected GET for {scope['path']}; found {scope['method'][:20]}", close)
            return True
        self._count(str((scope.get("client") or ("?",))[0]))
        is_login = scope["path"] == _LOGIN and scope["method"] == "POST" and self._settings.token is not None
        if self._settings.token is not None and not is_login and not self._has_token(headers):
            raise Refused(401, "expected the token: Authorization: Bearer ...", {"www-authenticate": "Bearer"})
        return not is_login

    def _has_token(self, headers: dict[str, str]) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            given = cookie(headers, _COOKIE)
        return self._is_token(given)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), (self._settings.token or "").encode())

    async def _log_in(self, receive: Receive, send: Send, language: Language) -> None:
        """Check the token from the login form and set it as a cookie."""
        sent = parse_qs((await receive())["body"].decode("utf-8", "replace"))
        given = sent.get("token", [""])[0].strip()
        if not self._is_token(given):
            await _show(send, 401, login_page(language, failed=True))
            return
        # Quoted, since a cookie cannot hold every character.
        kept = f"{_COOKIE}={quote(given)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
        await _show(send, 303, "", {"location": "/", "set-cookie": kept})

    def _count(self, client: str) -> None:
        now = time.monotonic()
        asked = self._asked.setdefault(client, deque())
        while asked and now - asked[0] > 60:
            asked.popleft()
        if len(asked) >= self._settings.limits.rate:
            wait = max(1, int(61 - (now - asked[0])))
            raise Refused(
                429, f"expected at most {self._settings.limits.rate} requests a minute", {"retry-after": str(wait)}
            )
        asked.append(now)
        if len(self._asked) > 10_000:
            self._asked = {name: times for name, times in self._asked.items() if times and now - times[-1] < 60}

    async def _read(self, scope: Scope, headers: dict[str, str], receive: Receive) -> Receive:
        """Read the whole body and return a ``receive`` that replays it.

        Raises:
            Refused: The body is too long or too slow.
        """
        if scope["method"] in ("GET", "HEAD", "DELETE"):
            return receive
        limits = self._settings.limits
        limit = self._longest_body(scope["path"])
        named = headers.get("content-length", "")
        if named.isdigit() and int(named) > limit:
            raise Refused(
                413, f"expected a body of at most {limit:,} bytes; found {int(named):,}", {"connection": "close"}
            )
        try:
            body = await asyncio.wait_for(self._body(receive, limit), limits.body_seconds)
        except TimeoutError:
            raise Refused(408, f"expected the body within {limits.body_seconds:g} s", {"connection": "close"}) from None
        given = [body]
        scope[_SIZE] = len(body)
        del body

        async def replay() -> Message:
            if not given:
                return await receive()
            return {"type": "http.request", "body": given.pop(), "more_body": False}

        return replay

    def _longest_body(self, path: str) -> int:
        limits = self._settings.limits
        own = dict.fromkeys(_UPLOADS, limits.upload) | {
            _LOGIN: _MAX_LOGIN_BYTES,
            _MCP: min(limits.body, _MAX_MCP_BYTES),
        }
        if _SHELF_FILES.fullmatch(path.rstrip("/")):
            return limits.upload
        return own.get(path.rstrip("/") or path, limits.body)

    async def _body(self, receive: Receive, limit: int) -> bytes:
        body = bytearray()
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "the client disconnected")
                part = message.get("body", b"")
                body += part
                self._arriving += len(part)
                if len(body) > limit:
                    problem = f"expected a body of at most {limit:,} bytes; found more"
                    raise Refused(413, problem, {"connection": "close"})
                if self._arriving > max(_MAX_ARRIVING_BYTES, limit):
                    problem = "expected fewer long requests at once; found too many. Send it again in a few seconds"
                    raise Refused(503, problem, {"retry-after": "5", "connection": "close"})
                if not message.get("more_body"):
                    return bytes(body)
        finally:
            self._arriving -= len(body)


async def _reply(send: Send, status: int, message: str, headers: dict[str, str]) -> None:
    body = json.dumps({"error": {"status": status, "message": message}})
    await _show(send, status, body, headers, "application/json")


async def _show(
    send: Send, status: int, text: str, headers: dict[str, str] | None = None, kind: str = "text/html; charset=utf-8"
) -> None:
    body = text.encode()
    raw = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    raw += [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _origin_host(origin: str) -> str | None:
    """Return host and port of an origin, or None if it is not a URL."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def _without_port(host: str) -> str:
    """Return a host without its port."""
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    return name.strip("[]").lower().rstrip(".")


_V1_PATHS = (
    "ask", "check", "pasted", "attribute", "repair", "search", "evidence", "documents", "manuscripts", "streams",
    "runs", "jobs", "shelves",
)  # fmt: skip
_OTHER_PATHS = ("healthz", "readyz", "metrics", "mcp", "openapi.json", "static", "runs", "check", "library")


def _group(path: str, status: int) -> str:
    """Return the path as one of a fixed list, so that clients cannot fill the memory with names in the metrics."""
    parts = path.split("/")
    first = parts[1] if len(parts) > 1 else ""
    if first == "v1" and len(parts) > 2 and parts[2] in _V1_PATHS:
        return f"/v1/{parts[2]}"
    if first in _OTHER_PATHS:
        return f"/{first}"
    return "/" if path == "/" and status != 404 else "other"
