"""A real server on loopback, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest


@dataclass
class Served:
    """A server at work."""

    process: subprocess.Popen[str]
    address: str
    state: Path

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        return httpx2.post(f"{self.address}{path}", json=body, headers=headers, timeout=60)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(f"{self.address}{path}", headers=headers, timeout=60)

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


def begin(state: Path, *options: str, **environment: str) -> Served:
    command = [sys.executable, "-m", "vericite", "serve", "--port", "0", "--state", str(state), *options]
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
    served = Served(process, f"http://127.0.0.1:{found[1]}", state)
    for _ in range(600):
        try:
            if httpx2.get(f"{served.address}/readyz", timeout=5).status_code == 200:
                return served
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
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


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    for module in ("fastapi", "uvicorn"):
        pytest.importorskip(module, reason="needs the extra [serve]")
    served = begin(tmp_path_factory.mktemp("state"))
    yield served
    end(served)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Servers with options of their own."""
    for module in ("fastapi", "uvicorn"):
        pytest.importorskip(module, reason="needs the extra [serve]")
    begun: list[Served] = []

    def start(*options: str, **environment: str) -> Served:
        begun.append(begin(tmp_path / "state", *options, **environment))
        return begun[-1]

    yield start
    for served in begun:
        if served.process.poll() is None:
            served.process.kill()
            served.process.wait(10)
