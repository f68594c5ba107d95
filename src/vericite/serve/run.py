"""Start and stop the service: its address and access settings."""

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
from vericite.serve.offer import Offer
from vericite.serve.service import Service, state_folder

_MIN_TOKEN = 16
_GRACE = 5
"""Seconds that running requests have to finish after the service is asked to stop."""
_TERMINATED = 143
_OWN = frozenset(("127.0.0.1", "localhost", "::1"))


@dataclass(frozen=True)
class Address:
    """Where the service listens, and what clients must send.

    Raises:
        InputError: The token is too short, or other machines could connect without a token and ``insecure`` is off.
    """

    host: str = "127.0.0.1"
    port: int = 8600
    hosts: frozenset[str] = frozenset()
    token: str | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < _MIN_TOKEN:
            raise InputError(
                f"expected VERICITE_TOKEN with at least {_MIN_TOKEN} characters; found a shorter one. "
                "Make one: openssl rand -hex 24"
            )
        if not (self.is_local or self.token or self.insecure):
            raise InputError(
                f"expected VERICITE_TOKEN with --host {self.host}, which other machines can reach; found none. Set it "
                "to a long secret (openssl rand -hex 24), or pass --insecure"
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    @property
    def names(self) -> frozenset[str]:
        """Allowed host names of requests (empty: all)."""
        if self.is_local or self.hosts:
            return _OWN | frozenset(name.lower() for name in self.hosts) | {self.host.lower()}
        return frozenset()

    @property
    def warnings(self) -> list[str]:
        """Warnings about access."""
        lines: list[str] = []
        if self.insecure and not self.is_local and not self.token:
            lines.append("WARNING: anyone who can reach this machine can ask, read runs and spend money on your models")
        if not self.is_local and not self.hosts:
            lines.append("requests for any host name are answered; restrict them with --set service.hosts=NAME")
        if not self.is_local:
            lines.append("requests are not encrypted: put a proxy with TLS in front")
        return lines


def run(offer: Offer, address: Address, state: Path | None, say: Callable[[str], object]) -> None:
    """Serve until the process is asked to stop; running requests then have five seconds to finish.

    Raises:
        InputError: The service cannot listen at the address.
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
    listening = _listen(address)
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
    say(f"VeriCite at http://{f'[{host}]' if ':' in str(host) else host}:{port}/  (Ctrl-C stops it)")
    try:
        Server(config).run(sockets=[listening])
    finally:
        _exit_if_blocked()


def _exit_if_blocked() -> None:
    """Exit at once if a request still waits for a model that does not answer; Python would wait for its thread."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("request")]
    end = time.monotonic() + 1
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        sys.stdout.flush()
        os._exit(_TERMINATED)


def _listen(address: Address) -> socket.socket:
    try:
        family, kind, proto, _, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, proto)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen()
    except OSError as error:
        raise InputError(
            f"expected to listen at {address.host}, port {address.port}; found: {error.strerror or error}. "
            "Choose another port with --port"
        ) from None
    return made
