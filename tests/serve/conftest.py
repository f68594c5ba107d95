"""A real server on loopback, in a separate process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx2
import pytest
from described import Description

TOKEN = "0123456789abcdef0123"


@dataclass
class Served:
    """A server at work."""

    process: subprocess.Popen[str]
    address: str
    state: Path
    token: str = ""

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        return self.request("POST", path, json=body, headers=headers)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.request("GET", path, headers=headers)

    def request(self, method: str, path: str, **given: Any) -> httpx2.Response:
        """Send a request. The reply must have a form that the service's document states."""
        reply = httpx2.request(method, f"{self.address}{path}", timeout=60, **given)
        self.description.expect(method, path, reply.status_code, reply.headers, reply.content)
        return reply

    @cached_property
    def description(self) -> Description:
        """What the service says of its replies."""
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        return Description(httpx2.get(f"{self.address}/openapi.json", headers=headers, timeout=60).json())

    @property
    def judged(self) -> int:
        """How many pairs were judged."""
        found = re.search(r"vericite_pairs_judged_total (\d+)", self.get("/metrics").text)
        assert found
        return int(found[1])

    def judged_in_the_end(self) -> int:
        """How many pairs were judged, once no more are."""
        end, last = time.monotonic() + 30, -1
        while (now := self.judged) != last:
            assert time.monotonic() < end, "work goes on"
            last = now
            time.sleep(0.5)
        return now

    def events(self, path: str, body: Any) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        headers = {"accept": "text/event-stream"}
        with httpx2.stream("POST", f"{self.address}{path}", json=body, headers=headers, timeout=60) as reply:
            name = ""
            for line in reply.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    found.append((name, json.loads(line[6:])))
        return found


def begin(state: Path, *options: str, within: Sequence[str] = (), **environment: str) -> Served:
    command = [
        *within,
        sys.executable,
        "-m",
        "vericite",
        "serve",
        "--port",
        "0",
        "--set",
        f"service.state={state}",
        *options,
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+?:(\d+)/", line)
    process.stdout.close()
    if not found:
        process.kill()
        process.wait(10)
        raise AssertionError(f"the server did not begin: {line} ")
    served = Served(process, f"http://127.0.0.1:{found[1]}", state, environment.get("VERICITE_TOKEN", "").strip())
    for _ in range(1200):
        try:
            if httpx2.get(f"{served.address}/readyz", timeout=5).status_code == 200:
                return served
        except httpx2.TransportError:
            pass
        time.sleep(0.05)
    process.kill()
    process.wait(10)
    raise AssertionError("the server was not ready in a minute")


def end(served: Served) -> None:
    if served.process.poll() is None:
        served.process.send_signal(signal.SIGTERM)
        try:
            served.process.wait(60)
        except subprocess.TimeoutExpired:
            served.process.kill()
            served.process.wait(10)
            raise


@contextmanager
def servers(folder: Path, cache: Path | None = None) -> Iterator[Callable[..., Served]]:
    """Starts servers with options of their own, and ends them."""
    for module in ("fastapi", "uvicorn"):
        pytest.importorskip(module, reason="needs the extra [serve]")
    begun: list[Served] = []

    def start(*options: str, within: Sequence[str] = (), **environment: str) -> Served:
        kept = {"VERICITE_CACHE": str(cache)} if cache else {}
        begun.append(begin(folder, *options, within=within, **kept, **environment))
        return begun[-1]

    yield start
    for served in begun:
        if served.process.poll() is None:
            served.process.kill()
            served.process.wait(10)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests that change nothing in it."""
    with servers(tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("cache")) as start:
        yield (served := start())
        end(served)


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One that asks for ``TOKEN``. Out of a file a token may end in a newline."""
    with servers(tmp_path_factory.mktemp("guarded"), tmp_path_factory.mktemp("cache")) as start:
        yield start(VERICITE_TOKEN=f"{TOKEN}\n")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Servers for the tests of one file."""
    with servers(tmp_path_factory.mktemp("shared"), tmp_path_factory.mktemp("cache")) as start:
        yield start


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Servers for one test."""
    with servers(tmp_path / "state") as start:
        yield start


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """The address of a service in this process, with limits of its own and, where asked, a token."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs the extra [serve]")
    from vericite.serve.app import make_app
    from vericite.serve.connections import LimitedProtocol
    from vericite.serve.offer import Limits, Offer
    from vericite.serve.service import Service, state_folder

    begun: list[Any] = []

    def serve(token: str | None = None, **limits: Any) -> str:
        service = Service(Offer(limits=Limits(**limits)), state_folder(tmp_path / "state"))
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            make_app(service, token), http=LimitedProtocol, log_level="critical", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        begun.append((server, thread))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        while not server.started:
            time.sleep(0.01)
        return address

    yield serve
    for server, thread in begun:
        server.should_exit = True
        thread.join(20)
