"""Starting the service: where it listens, who may ask, and how it ends."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vericite.errors import InputError, MissingExtraError
from vericite.network.access import is_loopback
from vericite.serve.memory import share_arenas
from vericite.serve.service import Offer, Service, state_folder

_SHORTEST_TOKEN = 16
_GRACE = 5
"""Seconds that requests at work have to end, once the service is told to."""
_TERMINATED = 143
_OWN = frozenset(("127.0.0.1", "localhost", "::1"))


@dataclass(frozen=True)
class Address:
    """Where the service listens, and what it asks of those who come.

    Raises:
        InputError: Other machines could ask without a token, and nobody said that this is meant.
    """

    host: str = "127.0.0.1"
    port: int = 8600
    hosts: frozenset[str] = frozenset()
    token: str | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < _SHORTEST_TOKEN:
            raise InputError(
                f"expected VERICITE_TOKEN of {_SHORTEST_TOKEN} characters or more; found a shorter one. "
                "Make one: openssl rand -hex 24"
            )
        if not (self.is_own or self.token or self.insecure):
            raise InputError(
                f"expected VERICITE_TOKEN beside --host {self.host}, where other machines can ask; found none. Set it "
                "to a long secret (openssl rand -hex 24), or say --insecure"
            )

    @property
    def is_own(self) -> bool:
        """Whether only this machine can ask."""
        return is_loopback(self.host)

    @property
    def names(self) -> frozenset[str]:
        """The host names that requests may be meant for; empty for all, where nobody said which."""
        if self.is_own or self.hosts:
            return _OWN | frozenset(name.lower() for name in self.hosts) | {self.host.lower()}
        return frozenset()

    @property
    def remarks(self) -> list[str]:
        """What whoever starts it should know."""
        lines: list[str] = []
        if self.insecure and not self.is_own and not self.token:
            lines.append("WARNING: anybody who reaches this machine can ask, read runs and spend your models' money")
        if not self.is_own and not self.hosts:
            lines.append("requests for any host name are answered; --allow-host NAME narrows that")
        if not self.is_own:
            lines.append("requests are not encrypted: put a proxy with TLS in front")
        return lines


def run(offer: Offer, address: Address, state: Path | None, say: Callable[[str], object]) -> None:
    """Serve until the process is told to end; what is at work then has five seconds.

    Raises:
        InputError: The address cannot be had.
        MissingExtraError: FastAPI or uvicorn is not installed.
    """
    try:
        import uvicorn

        from vericite.serve.app import make_app
        from vericite.serve.connections import ACCEPTED_AT_ONCE, LimitedProtocol, Server, allowed_connections
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "uvicorn", "starlette"):
            raise
        raise MissingExtraError("serve", "The service") from None
    share_arenas()
    listening = _listening(address)
    host, port = listening.getsockname()[:2]
    service = Service(offer, state_folder(state))
    LimitedProtocol.most = allowed_connections()
    config = uvicorn.Config(
        make_app(service, address.token, address.names),
        http=LimitedProtocol,
        backlog=ACCEPTED_AT_ONCE,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=32_768,
        lifespan="on",
        proxy_headers=False,
    )
    say(f"VeriCite at http://{f'[{host}]' if ':' in str(host) else host}:{port}/  (Ctrl-C ends it)")
    try:
        Server(config).run(sockets=[listening])
    finally:
        _leave()


def _leave() -> None:
    """End now where a request's thread still waits for a model that does not answer: Python would wait with it."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("request")]
    end = time.monotonic() + 1
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        sys.stdout.flush()
        os._exit(_TERMINATED)


def _listening(address: Address) -> socket.socket:
    try:
        family, kind, proto, _, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, proto)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen()
    except OSError as error:
        raise InputError(
            f"expected to listen at {address.host}, port {address.port}; found: {error.strerror or error}. "
            "Name another: --port"
        ) from None
    return made
