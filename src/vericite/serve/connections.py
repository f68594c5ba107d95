"""Connections of the service: how many there may be at a time, and how long one may stay without a request.

A connection costs a file handle before anything of it is read, so the limits are kept here, below the gate.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512
"""Connections at a time. Beyond that the one that has waited longest without a request is closed."""
REQUEST_SECONDS = 15.0
"""Seconds in which a new connection must have sent the head of a request."""
ACCEPTED_AT_ONCE = 64
"""Connections that are accepted before any of them is looked at; the others wait in the system."""
_LOG = logging.getLogger(__name__)
_HANDLES = 4096
"""File handles that the process asks the system for."""


def allowed_connections() -> int:
    """How many connections the file handles of this process are enough for; it asks for more of them first."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _HANDLES if hard == resource.RLIM_INFINITY else min(hard, _HANDLES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):
            pass
    # Half of them are left for models, stores, jobs and uploads.
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(8, min(MOST_CONNECTIONS, soft // 2))


class Server(uvicorn.Server):
    """A server that survives errors of its event loop, such as that no file handle is left for a connection."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, with our own way to log such errors."""
        asyncio.get_running_loop().set_exception_handler(_logged)
        await super().startup(sockets)


def _logged(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # In one line: to format a traceback files are opened, which may be just what cannot be done.
    _LOG.warning("%s: %s", context.get("message"), context.get("exception"))


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with a limit on connections and on the time that one waits for its first request."""

    most: int = MOST_CONNECTIONS
    request_seconds: float = REQUEST_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._closes_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there are too many, close the idle one that came first, or this one."""
        super().connection_made(transport)
        self._closes_at = self.loop.time() + self.request_seconds
        self._deadline = self.loop.call_at(self._closes_at, self._expire)
        if len(self.connections) > self.most:
            others = cast("set[LimitedProtocol]", self.connections)
            oldest = min((other for other in others if other.waiting), key=_closes_at, default=self)
            oldest.transport.abort()
            self.connections.discard(oldest)

    @property
    def waiting(self) -> bool:
        """Whether no request was begun on it yet."""
        return not self.cycle

    @property
    def closes_at(self) -> float:
        """When it is closed if no request comes, by the loop's clock."""
        return self._closes_at

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _expire(self) -> None:
        if self.waiting and not self.transport.is_closing():
            self.transport.abort()


def _closes_at(connection: LimitedProtocol) -> float:
    return connection.closes_at
