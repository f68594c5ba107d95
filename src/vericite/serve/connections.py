"""Limits on connections: their number, and how long one may stay open without a request.

A connection uses a file handle before anything is read from it, so these limits apply below the gate.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 512
"""Maximum number of open connections. Beyond it, the connection that has been idle longest is closed; if none is idle,
the one that has been sending its request longest."""
REQUEST_SECONDS = 15.0
"""Seconds in which a connection must send the whole head of its next request."""
UNREAD_SECONDS = 60.0
"""Seconds after which a client that reads nothing of its response is disconnected."""
ACCEPTED_AT_ONCE = 64
"""Connections accepted at a time; the operating system queues the rest."""
END_SECONDS = 15.0
"""Seconds after which a service that was asked to stop exits, even if requests are still running."""
_LOG = logging.getLogger(__name__)
_HANDLES = 4096
"""Number of file handles to request from the operating system."""


def allowed_connections() -> int:
    """Raise the limit on file handles and return how many connections it allows."""
    if sys.platform == "win32":  # It has no such limit.
        return MAX_CONNECTIONS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _HANDLES if hard == resource.RLIM_INFINITY else min(hard, _HANDLES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):
            pass
    # The other half is for models, stores, jobs and uploads.
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(8, min(MAX_CONNECTIONS, soft // 2))


class Server(uvicorn.Server):
    """A server that survives errors of its event loop, such as running out of file handles."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, with a log handler for such errors."""
        asyncio.get_running_loop().set_exception_handler(_logged)
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down gracefully, or exit after ``END_SECONDS``."""
        backstop = threading.Timer(END_SECONDS, os._exit, (128 + sig,))
        backstop.daemon = True
        backstop.start()
        super().handle_exit(sig, frame)


def _logged(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # One line, no traceback: formatting it opens files, and there may be no file handle left.
    _LOG.warning("%s: %s", context.get("message"), context.get("exception"))


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with limits on connections, on the time to send a request head, and on clients that do not read."""

    most: int = MAX_CONNECTIONS
    request_seconds: float = REQUEST_SECONDS
    unread_seconds: float = UNREAD_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._closes_at = 0.0

    @property
    def waiting(self) -> bool:
        """Whether the connection is idle."""
        return not self.cycle or self.cycle.response_complete

    @property
    def sending(self) -> bool:
        """Whether the body of the request is still arriving."""
        return bool(self.cycle and self.cycle.more_body and not self.cycle.response_complete)

    @property
    def closes_at(self) -> float:
        """When the connection is closed if no request arrives, by the loop's clock."""
        return self._closes_at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, close another one, or else this one."""
        super().connection_made(transport)
        self._expect_request()
        if len(self.connections) > self.most:
            others = cast("set[LimitedProtocol]", self.connections)
            idle = [other for other in others if other.waiting and other is not self]
            sending = [other for other in others if other.sending]
            oldest = min(idle or sending, key=_closes_at, default=self)
            oldest.transport.abort()
            self.connections.discard(oldest)

    def on_response_complete(self) -> None:
        """Start the deadline for the next request; partial data does not extend it."""
        super().on_response_complete()
        self._expect_request()

    def pause_writing(self) -> None:
        """Start the timer that closes the connection if the client does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer: the client reads again."""
        super().resume_writing()
        _cancel(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines."""
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
