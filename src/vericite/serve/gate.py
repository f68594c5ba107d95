"""Who gets in: what every request must be before anything of it is read as more than bytes.

Checked in this order: the host it is meant for, the page it comes from, the token, how often its client asks, how much
and how slowly it sends. No other site may ask (no CORS), and no error says more than what was wrong.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from vericite.serve.memory import LARGE, Returns
from vericite.serve.pages import login_page
from vericite.serve.service import Limits

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOG = logging.getLogger(__name__)

_OPEN = ("/healthz", "/readyz")
_LOGIN, _UPLOAD = "/login", "/v1/documents"
_LONGEST_LOGIN = 4_000
_COOKIE = "vericite_token"
_SIZE = "vericite.size"
"""Where the scope of a request has the bytes of its body."""

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
    """A request is not let in, with the status that says why."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


@dataclass
class Metrics:
    """What is counted."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    stopped: int = 0


@dataclass(frozen=True)
class Door:
    """What the gate goes by.

    Attributes:
        hosts: The names that a request may be meant for, with or without a port; empty for all.
        token: What every request must bring; None where the service is open to its own machine.
        limits: Sizes and rates.
    """

    hosts: frozenset[str]
    token: str | None
    limits: Limits


class FrontGate:
    """The outermost layer of the service."""

    def __init__(self, app: App, door: Door, metrics: Metrics, returns: Returns) -> None:
        self._app = app
        self._door = door
        self._metrics = metrics
        self._returns = returns
        self._asked: dict[str, deque[float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
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
            is_for_app = self._let_in(scope, headers)
            receive = await self._read(scope, headers, receive)
            if scope["method"] == "HEAD":
                # As GET; the server leaves the body out.
                scope = {**scope, "method": "GET"}
            await (self._app(scope, receive, counted) if is_for_app else self._ask_token(receive, counted))
        except Refused as refused:
            if refused.status == 401 and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
                await _show(counted, 401, login_page())
            else:
                await _reply(counted, refused.status, str(refused), refused.headers)
        except Exception:
            # Whoever asked learns nothing of what is inside.
            _LOG.exception("a request failed")
            if not replied:
                await _reply(counted, 500, "the service failed; its log says why", {})
        finally:
            if size := scope.get(_SIZE):
                self._returns.soon(after_large=size >= LARGE)
            path = _group(scope["path"], status[0])
            self._metrics.requests[path, status[0]] += 1
            self._metrics.seconds[path] = self._metrics.seconds.get(path, 0.0) + time.monotonic() - began

    def _let_in(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether the application answers; else it is the token that is being given.

        Raises:
            Refused: It is not let in.
        """
        if "content-length" in headers and "transfer-encoding" in headers:
            # Who stands between may take what follows for part of this request, or for another one.
            raise Refused(400, "expected the length of the body told one way; found two", {"connection": "close"})
        host = headers.get("host", "")
        if self._door.hosts and _bare(host) not in self._door.hosts:
            raise Refused(421, f"expected the host header to be one of this service's names; found {host[:100]!r}")
        reads = scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        # A form of a page without a referrer says no origin; the browser then tells by the other header.
        hidden = origin == "null" and site == "same-origin"
        foreign = origin is not None and not hidden and _place(origin) != host
        if not reads and (foreign or site in ("cross-site", "same-site")):
            raise Refused(
                403, "expected a request from this service's own page or from a program; found another site's"
            )
        if scope["path"] in _OPEN:
            return True
        self._count(str((scope.get("client") or ("?",))[0]))
        gives = scope["path"] == _LOGIN and scope["method"] == "POST" and self._door.token is not None
        if self._door.token is not None and not gives and not self._has_token(headers):
            raise Refused(401, "expected the token: Authorization: Bearer ...", {"www-authenticate": "Bearer"})
        return not gives

    def _has_token(self, headers: dict[str, str]) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            parts = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
            given = unquote(next((value for name, _, value in parts if name == _COOKIE), ""))
        return self._is_token(given)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), (self._door.token or "").encode())

    async def _ask_token(self, receive: Receive, send: Send) -> None:
        """Take the token from the form that asks for it, and have the browser bring it from then on."""
        sent = parse_qs((await receive())["body"].decode("utf-8", "replace"))
        given = sent.get("token", [""])[0].strip()
        if not self._is_token(given):
            await _show(send, 401, login_page(failed=True))
            return
        # A token with other characters could not stand in a cookie.
        cookie = f"{_COOKIE}={quote(given)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
        await _show(send, 303, "", {"location": "/", "set-cookie": cookie})

    def _count(self, client: str) -> None:
        now = time.monotonic()
        asked = self._asked.setdefault(client, deque())
        while asked and now - asked[0] > 60:
            asked.popleft()
        if len(asked) >= self._door.limits.rate:
            wait = max(1, int(61 - (now - asked[0])))
            raise Refused(
                429, f"expected at most {self._door.limits.rate} requests a minute", {"retry-after": str(wait)}
            )
        asked.append(now)
        if len(self._asked) > 10_000:
            self._asked = {name: times for name, times in self._asked.items() if times and now - times[-1] < 60}

    async def _read(self, scope: Scope, headers: dict[str, str], receive: Receive) -> Receive:
        """The request with its body at hand; what is too long or too slow is left at once."""
        if scope["method"] in ("GET", "HEAD", "DELETE"):
            return receive
        limits = self._door.limits
        most = {_UPLOAD: limits.upload, _LOGIN: _LONGEST_LOGIN}.get(scope["path"], limits.body)
        named = headers.get("content-length", "")
        if named.isdigit() and int(named) > most:
            raise Refused(
                413, f"expected a body of at most {most:,} bytes; found {int(named):,}", {"connection": "close"}
            )
        try:
            body = await asyncio.wait_for(_body(receive, most), limits.body_seconds)
        except TimeoutError:
            raise Refused(408, f"expected the body within {limits.body_seconds:g} s", {"connection": "close"}) from None
        given = [body]
        scope[_SIZE] = len(body)
        del body

        async def again() -> Message:
            if not given:
                return await receive()
            return {"type": "http.request", "body": given.pop(), "more_body": False}

        return again


async def _body(receive: Receive, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the client went away")
        body += message.get("body", b"")
        if len(body) > most:
            raise Refused(413, f"expected a body of at most {most:,} bytes; found more", {"connection": "close"})
        if not message.get("more_body"):
            return bytes(body)


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


def _place(origin: str) -> str | None:
    """The host and port of an origin; None of what is none."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def _bare(host: str) -> str:
    """A host without its port."""
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    return name.strip("[]").lower().rstrip(".")


_OF_V1 = ("ask", "check", "attribute", "repair", "search", "documents", "streams", "runs", "jobs")
_OF_PAGE = ("healthz", "readyz", "metrics", "mcp", "openapi.json", "static", "runs", "check")


def _group(path: str, status: int) -> str:
    """A path for the metrics, without ids: one of a fixed list, so that nobody can fill the memory with names."""
    parts = path.split("/")
    first = parts[1] if len(parts) > 1 else ""
    if first == "v1" and len(parts) > 2 and parts[2] in _OF_V1:
        return f"/v1/{parts[2]}"
    if first in _OF_PAGE:
        return f"/{first}"
    return "/" if path == "/" and status != 404 else "other"
