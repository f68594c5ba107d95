"""Clients that open connections and send little or nothing."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest

from conftest import Served

pytest.importorskip("uvicorn", reason="needs the extra [serve]")


def connect(address: str) -> socket.socket:
    place = urlsplit(address)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=10)


@pytest.fixture(scope="module")
def few_handles(shared: Callable[..., Served]) -> Served:
    """A service with fewer file handles than are opened below, and more than the connections that it lets in."""
    served = shared()
    resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (640, 640))
    return served


@pytest.fixture
def impatient(served: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a service that waits a second for the head of a request."""
    from vericite.serve.connections import LimitedProtocol

    monkeypatch.setattr(LimitedProtocol, "request_seconds", 1.0)
    return served()


def test_more_open_connections_than_file_handles_do_not_end_the_service(few_handles: Served):
    """1,100 silent sockets ended the process: it ran out of file handles, and its traceback needed one."""
    with ExitStack() as opened:
        for _ in range(900):
            opened.enter_context(connect(few_handles.address))
        for _ in range(3):
            began = time.monotonic()
            assert few_handles.get("/healthz").status_code == 200
            assert time.monotonic() - began < 5
    assert few_handles.process.poll() is None
    assert few_handles.get("/healthz").status_code == 200


def test_a_connection_without_a_request_is_closed(impatient: str):
    with connect(impatient) as silent, connect(impatient) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        for waiting in (silent, slow):
            waiting.settimeout(20)
            with suppress(ConnectionResetError):
                assert waiting.recv(10) == b""


def test_a_slow_second_head_is_closed_and_others_are_answered(impatient: str):
    """After one quick request a connection counted as busy for good, and kept everyone else out."""
    head = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with connect(impatient) as dripping:
        dripping.sendall(head + b"\r\n")
        assert b"200" in dripping.recv(4096)
        dripping.sendall(head + b"X: ")
        end, closed = time.monotonic() + 20, False
        dripping.settimeout(0.1)
        while not closed and time.monotonic() < end:
            try:
                dripping.sendall(b"a")
                closed = dripping.recv(4096) == b""
            except TimeoutError:
                pass
            except OSError:
                closed = True
        assert closed


def test_idle_connections_give_way_to_new_ones(few_handles: Served):
    with ExitStack() as opened:
        for _ in range(540):
            idle = opened.enter_context(connect(few_handles.address))
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            with suppress(ConnectionResetError):
                idle.recv(4096)
        assert few_handles.get("/healthz").status_code == 200


def test_bodies_that_never_end_give_way_to_new_requests(few_handles: Served):
    """600 heads with no body behind them kept everyone else out for 20 seconds."""
    head = b"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
    with ExitStack() as opened:
        for _ in range(540):
            with suppress(ConnectionResetError, BrokenPipeError):
                opened.enter_context(connect(few_handles.address)).sendall(head)
        for _ in range(3):
            assert few_handles.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_what_is_open_to_everyone_reads_no_body(server: Served, path: str):
    """Without a token, 60 bodies of 15 MB sent to /healthz took 600 MB of memory."""
    with connect(server.address) as sent:
        sent.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 15000000\r\n\r\n".encode())
        sent.settimeout(20)
        assert sent.recv(4096).startswith(b"HTTP/1.1 405")


def test_bodies_that_arrive_together_are_limited():
    import asyncio
    from collections.abc import Awaitable

    from vericite.serve import gate

    front = gate.FrontGate.__new__(gate.FrontGate)
    front._arriving = 0

    async def all_at_once() -> list[object]:
        gone_on = asyncio.Event()

        def client() -> Callable[[], Awaitable[dict[str, object]]]:
            parts = iter([True, False])

            async def receive() -> dict[str, object]:
                if not (more := next(parts)):
                    await gone_on.wait()
                return {"type": "http.request", "body": b"a" * 10_000_000, "more_body": more}

            return receive

        bodies = [asyncio.create_task(front._body(client(), 30_000_000)) for _ in range(14)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        gone_on.set()
        return await asyncio.gather(*bodies, return_exceptions=True)

    found = asyncio.run(all_at_once())
    refused = [one for one in found if isinstance(one, gate.Refused)]
    assert refused and all(one.status == 503 for one in refused)
    assert any(isinstance(one, bytes) for one in found)
    assert front._arriving == 0


def test_connections_leave_half_of_the_file_handles(monkeypatch: pytest.MonkeyPatch):
    from vericite.serve import connections

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    assert connections.allowed_connections() == 128
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 524_288))
    assert connections.allowed_connections() == connections.MAX_CONNECTIONS
