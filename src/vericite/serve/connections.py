"""Connections of the service: how many there may be at a time, and how long one may stay without a request.

A connection costs a file handle before anything of it is read, so the limits are kept here, below the gate.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512
"""Connections at a time. Beyond that the one that has waited longest without a request is closed."""
REQUEST_SECONDS = 15.0
"""Seconds in which a connection must have sent the head of its next request, however it drips."""
UNREAD_SECONDS = 60.0
"""Seconds for which a client may read nothing of a response."""
ACCEPTED_AT_ONCE = 64
"""Connections that are accepted before any of them is looked at; the others wait in the system."""
END_SECONDS = 15.0
"""Seconds after which a service that was told to end does so, whatever is still at work."""
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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End: in good order, or after some seconds however it stands."""
        backstop = threading.Timer(END_SECONDS, os._exit, (128 + sig,))
        backstop.daemon = True
        backstop.start()
        super().handle_exit(sig, frame)


def _logged(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # In one line: to format a traceback files are opened, which may be just what cannot be done.
    _LOG.warning("%s: %s", context.get("message"), context.get("exception"))


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with limits on connections, on the time for the head of a request, and on clients that read nothing."""

    most: int = MOST_CONNECTIONS
    request_seconds: float = REQUEST_SECONDS
    unread_seconds: float = UNREAD_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._closes_at = 0.0

    @property
    def waiting(self) -> bool:
        """Whether no request is at work on it."""
        return not self.cycle or self.cycle.response_complete

    @property
    def closes_at(self) -> float:
        """When it is closed if no request comes, by the loop's clock."""
        return self._closes_at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there are too many, close the idle one that came first, or this one."""
        super().connection_made(transport)
        self._expect_request()
        if len(self.connections) > self.most:
            others = cast("set[LimitedProtocol]", self.connections)
            oldest = min((other for other in others if other.waiting), key=_closes_at, default=self)
            oldest.transport.abort()
            self.connections.discard(oldest)

    def on_response_complete(self) -> None:
        """Expect the next request; a byte now and then does not put its deadline off."""
        super().on_response_complete()
        self._expect_request()

    def pause_writing(self) -> None:
        """Close the connection where the client reads nothing of a response for too long."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        _cancel(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines."""
        _cancel(self._deadline)
        _cancel(self._unread)
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        _cancel(self._deadline)
        self._closes_at = self.loop.time() + self.request_seconds
        self._deadline = self.loop.call_at(self._closes_at, self._expire)

    def _expire(self) -> None:
        if self.waiting and not self.transport.is_closing():
            self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _closes_at(connection: LimitedProtocol) -> float:
    return connection.closes_at
