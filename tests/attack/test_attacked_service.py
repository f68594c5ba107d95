"""Many attempts on one service: it answers others throughout, keeps within its memory, and loses no job."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

for module in ("fastapi", "uvicorn"):
    pytest.importorskip(module, reason="needs the extra [serve]")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")]

ATTEMPTS = int(os.environ.get("VERICITE_ATTEMPTS", "300"))
"""Attempts of all classes together; 3,000 take half an hour."""
MOST_MEMORY = 1_500_000_000
LONGEST_SILENCE = 2.0
SOURCE = {"id": "d", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common."}
JOB = {
    "items": [{"answer": f"Zelotrine reduced pain in {n} of 80 adults [1].", "documents": [SOURCE]} for n in (4, 40)]
}

Attempt = tuple[str, bytes]


def _many(random: random.Random, value: bytes) -> bytes:
    return b",".join([value] * random.choice((1_000, 100_000, 1_000_000)))


def unknown_keys(random: random.Random) -> Attempt:
    count = random.choice((1_000, 100_000, 800_000))
    return "/v1/check", ("{" + ",".join(f'"k{n}":1' for n in range(count)) + "}").encode()


def tiny_documents(random: random.Random) -> Attempt:
    item = b'{"answer":"a","documents":[' + _many(random, b'{"id":"d"}') + b"]}"
    return ("/v1/jobs", b'{"items":[' + item + b"]}") if random.random() < 0.5 else ("/v1/check", item)


def many_lines(random: random.Random) -> Attempt:
    line = json.dumps({"id": "d%d", "text": "Words."}).encode()
    return "/v1/documents?name=a.jsonl", b"\n".join([line] * random.choice((100, 10_000, 600_000)))


def comments(random: random.Random) -> Attempt:
    opening = random.choice((b"<!--", b"[](", b"**", b"`", b"> ", b"# ", b"|a", b"\\", b"&amp"))
    return "/v1/documents?name=a.md", b"# T\n\nIt works. " + opening * random.choice((1_000, 20_000, 250_000))


def broken_files(random: random.Random) -> Attempt:
    ending = random.choice(("pdf", "docx", "xml", "csv", "ris", "nbib", "txt", "bin", "jsonl"))
    opening = random.choice((b"%PDF-1.7\n", b"PK\x03\x04", b"<?xml version='1.0'?><a>", b"", b"\x00", b"TY  - JOUR\n"))
    return f"/v1/documents?name=a.{ending}", opening + random.randbytes(random.choice((10, 5_000, 500_000)))


def long_texts(random: random.Random) -> Attempt:
    text = "x " * random.choice((1_000, 1_000_000, 7_000_000))
    body: dict[str, Any] = {"answer": "It works [1].", "documents": [dict(SOURCE)]}
    place = random.choice(("answer", "question", "id", "title", "document"))
    if place in ("title", "document"):
        body["documents"][0]["title" if place == "title" else "id"] = text
    else:
        body[place] = text
    return "/v1/check", json.dumps(body).encode()


def much_work(random: random.Random) -> Attempt:
    marks = "".join(f"[{n}]" for n in range(1, 151))
    body = {
        "answer": " ".join(f"Group {n} improved {marks}." for n in range(150)),
        "documents": [{"id": f"d{n}", "text": "Patients of this group improved a little. " * 200} for n in range(150)],
    }
    return random.choice(("/v1/check", "/v1/repair", "/v1/attribute")), json.dumps(body).encode()


def no_json(random: random.Random) -> Attempt:
    value = random.choice((b"[", b'{"a":', b'"', b'{"answer":"' + rb"\"", b"\xff", b"1", b"-", b"{}", b"null"))
    return random.choice(("/v1/ask", "/v1/check", "/v1/jobs", "/mcp")), value * random.choice((1, 1_000, 1_000_000))


CLASSES = (
    unknown_keys, tiny_documents, many_lines, comments, broken_files, long_texts, much_work, no_json,
)  # fmt: skip


class Watched:
    """A service whose silence and memory are watched while it is attacked."""

    def __init__(self, state: Path) -> None:
        command = [sys.executable, "-m", "vericite", "serve", "--port", "0", "--rate", "1000000", "--state", str(state)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().split("/")[2].rpartition(":")[2])
        self.process.stdout.close()
        self.address = f"http://127.0.0.1:{self.port}"
        self.silence, self.memory = 0.0, 0
        self._done = threading.Event()
        end = time.monotonic() + 120
        while not self._is_ready():
            assert time.monotonic() < end
            time.sleep(0.2)
        self._watch = threading.Thread(target=self._look)
        self._watch.start()

    def _is_ready(self) -> bool:
        try:
            return httpx2.get(f"{self.address}/readyz", timeout=60).status_code == 200
        except httpx2.TransportError:
            return False

    def _look(self) -> None:
        while not self._done.wait(0.1):
            began = time.monotonic()
            assert httpx2.get(f"{self.address}/healthz", timeout=120).status_code == 200
            self.silence = max(self.silence, time.monotonic() - began)
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
            self.memory = max(self.memory, pages * os.sysconf("SC_PAGESIZE"))

    def look_away(self) -> None:
        self._done.set()
        self._watch.join()

    def close(self) -> None:
        self.look_away()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    yield made
    made.close()


def test_attempts_neither_silence_the_service_nor_fill_its_memory_nor_lose_a_job(watched: Watched):
    chance = random.Random(59)
    # Connections without a word stay open throughout.
    idle = [socket.create_connection(("127.0.0.1", watched.port)) for _ in range(600)]
    job = httpx2.post(f"{watched.address}/v1/jobs", json=JOB, timeout=60).json()["id"]
    slowest: dict[str, float] = {}
    for number in range(ATTEMPTS):
        attempt = CLASSES[number % len(CLASSES)]
        path, body = attempt(chance)
        began = time.monotonic()
        try:
            reply = httpx2.post(f"{watched.address}{path}", content=body, timeout=200)
        except httpx2.TransportError:
            continue  # it hung up on a body that was too long
        assert reply.status_code != 500, (attempt.__name__, reply.text[:300])
        if reply.status_code >= 400 and path != "/mcp":
            assert reply.json()["error"]["message"].startswith("expected "), reply.text[:300]
        assert str(Path("/tmp")) + "/" not in reply.text[:5_000]
        slowest[attempt.__name__] = max(slowest.get(attempt.__name__, 0.0), time.monotonic() - began)
    end = time.monotonic() + 60
    while not (state := httpx2.get(f"{watched.address}/v1/jobs/{job}", timeout=60).json())["finished"]:
        assert time.monotonic() < end
        time.sleep(0.2)
    assert (state["done"], state["problem"]) == (2, None)
    watched.look_away()
    assert watched.silence < LONGEST_SILENCE, slowest
    assert watched.memory < MOST_MEMORY, slowest
    began = time.monotonic()
    watched.process.send_signal(signal.SIGTERM)
    watched.process.wait(20)
    assert time.monotonic() - began < 20
    for one in idle:
        one.close()
