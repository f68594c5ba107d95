"""Many attempts on one service: it answers others throughout, keeps within its memory, contacts no one, loses nothing.

``VERICITE_ATTEMPTS=3000`` makes all of them, which takes half an hour or more; what was measured is printed (``-s``).
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from attempts import CLASSES, SOURCE
from watched_processes import Contacts, LabelServer, Service

for module in ("fastapi", "uvicorn"):
    pytest.importorskip(module, reason="needs the extra [serve]")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")]

ATTEMPTS = int(os.environ.get("VERICITE_ATTEMPTS", "330"))
"""Attempts of all classes together."""
MOST_MEMORY = 1_500_000_000
LONGEST_SILENCE = 2.0
IDLE = 600
"""Connections that say nothing."""
EXAMPLES = Path(__file__).parents[2] / "examples"
LABELS = ("supported", "contradicted", "irrelevant")


def job(number: int) -> dict[str, Any]:
    """A job that is worked on for a moment."""
    answers = (f"Zelotrine reduced pain in {number + item} of 80 adults [1]." for item in range(5))
    return {"items": [{"answer": answer, "documents": [SOURCE]} for answer in answers]}


@pytest.fixture
def contacts(tmp_path: Path) -> Contacts:
    return Contacts(tmp_path / "contacts")


@pytest.fixture
def service(tmp_path: Path, contacts: Contacts) -> Iterator[Callable[..., Service]]:
    with ExitStack() as stack:

        def start(*options: str) -> Service:
            made = Service(tmp_path / "state", contacts, *options)
            stack.callback(made.close)
            return made

        yield start


@pytest.fixture
def labels(tmp_path: Path, contacts: Contacts) -> Iterator[LabelServer]:
    sample = tmp_path / "sample.jsonl"
    command = ["annotate", "sample", str(EXAMPLES / "answers.jsonl"), "--out", str(sample), "--n", "5"]
    subprocess.run([sys.executable, "-m", "vericite", *command], check=True, capture_output=True, timeout=600)
    made = LabelServer(sample, tmp_path / "labels", contacts)
    yield made
    made.close()


class Attack:
    """Attempts one after the other, and what was acknowledged meanwhile."""

    def __init__(self, service: Service, labels: LabelServer) -> None:
        self._service, self._labels = service, labels
        self._chance = random.Random(59)
        self._items = labels.items
        self._idle: list[socket.socket] = []
        self.jobs: dict[str, int | None] = {}
        self.seconds: dict[str, list[float]] = {}
        self.replies: Counter[tuple[str, int]] = Counter()

    def make(self, number: int) -> None:
        """One attempt, and now and then the work of others: jobs, labels, connections, a power cut."""
        if number % 100 == 0:
            self.stay_idle()
        if number % 40 == 0:
            self.add_job(number)
        if number % 5 == 0:
            rater = self._chance.choice(("ann", "ben"))
            self._labels.send(rater, self._chance.choice(self._items), self._chance.choice(LABELS))
        if number % (ATTEMPTS // 3) == ATTEMPTS // 6:
            # With a job at work.
            self.add_job(number + 7)
            self._service.kill_and_restart()
            self._labels.kill_and_restart()
            assert self._labels.on_disk() == self._labels.acknowledged
            second = self._labels.second()
            assert second.returncode == 2 and "another server" in second.stderr, second.stderr
        self.attempt(CLASSES[number % len(CLASSES)])

    def attempt(self, attempt: Callable[[random.Random], tuple[str, bytes]]) -> None:
        path, body = attempt(self._chance)
        name, began = attempt.__name__, time.monotonic()
        try:
            reply = httpx2.post(f"{self._service.address}{path}", content=body, timeout=200)
        except httpx2.TransportError:
            self.replies[name, 0] += 1
            return  # it hung up on a body that was too long
        self.replies[name, reply.status_code] += 1
        self.seconds.setdefault(name, []).append(time.monotonic() - began)
        assert reply.status_code != 500, (name, reply.text[:300])
        if reply.status_code >= 400 and path != "/mcp":
            assert "expected " in reply.json()["error"]["message"], reply.text[:300]
        assert str(Path("/tmp")) + "/" not in reply.text[:5_000]
        if path == "/v1/jobs" and reply.status_code == 202:
            self.jobs[reply.json()["id"]] = None

    def add_job(self, number: int) -> None:
        sent = job(number)
        reply = httpx2.post(f"{self._service.address}/v1/jobs", json=sent, timeout=60)
        assert reply.status_code == 202, reply.text
        self.jobs[reply.json()["id"]] = len(sent["items"])

    def stay_idle(self) -> None:
        """Open connections that say nothing; the service has closed the earlier ones by now."""
        self.close()
        self._idle = [socket.create_connection(("127.0.0.1", self._service.port)) for _ in range(IDLE)]

    def finished_jobs(self) -> int:
        """Wait for all jobs that were taken, and look at their results."""
        end = time.monotonic() + 600
        for id, items in self.jobs.items():
            address = f"{self._service.address}/v1/jobs/{id}"
            while not (state := httpx2.get(address, timeout=60).json())["finished"]:
                assert time.monotonic() < end, state
                time.sleep(0.2)
            results = [json.loads(line) for line in httpx2.get(f"{address}/results", timeout=60).text.splitlines()]
            assert [result["item"] for result in results] == list(range(state["items"]))
            if items is not None:
                assert state["problem"] is None and len(results) == items
                assert all(result["value"] and not result["problem"] for result in results)
        return len(self.jobs)

    def close(self) -> None:
        for connection in self._idle:
            connection.close()


def test_attempts_neither_silence_nor_fill_nor_reach_out_nor_lose(
    service: Callable[..., Service], labels: LabelServer, contacts: Contacts
):
    served = service()
    attack = Attack(served, labels)
    for number in range(ATTEMPTS):
        attack.make(number)
        if number % 100 == 99:
            print(f"{number + 1}: {served.silence:.2f} s, {served.memory / 1e6:.0f} MB", flush=True)
    jobs = attack.finished_jobs()
    attack.close()
    served.look_away()
    began = time.monotonic()
    served.process.send_signal(signal.SIGTERM)
    served.process.wait(20)
    ended = time.monotonic() - began
    print(f"\n{ATTEMPTS} attempts, by class and status (0: the connection was closed): ")
    for (name, status), count in sorted(attack.replies.items()):
        print(f"  {name} {status}: {count}")
    for name, seconds in attack.seconds.items():
        print(f"  {name}: {sum(seconds) / len(seconds):.2f} s a reply, the slowest {max(seconds):.1f} s")
    print(f"slowest /healthz: {served.silence:.2f} s")
    print(f"memory: {served.memory / 1e6:.0f} MB, with its readers of uploads {served.with_children / 1e6:.0f} MB")
    print(f"taken and come back: {jobs} jobs, {len(labels.acknowledged)} labels")
    print(f"contacted: {sorted(contacts.hosts())}; by native code: {sorted(served.native)}")
    print(f"ended in {ended:.1f} s")
    assert labels.on_disk() == labels.acknowledged
    assert "127.0.0.1" in contacts.hosts(), "the hook records the service's own address"
    assert not contacts.outside() and not served.native
    assert served.silence < LONGEST_SILENCE
    assert max(served.memory, served.with_children) < MOST_MEMORY


def test_the_record_of_contacts_knows_one_that_was_made(service: Callable[..., Service], contacts: Contacts):
    """The control of the test above: a model that the service is told to ask is seen to be asked."""
    served = service("--llm", "outside=http://outside.invalid:9/v1#model")
    assert not contacts.outside()
    body = {"question": "Does it work?", "model": "outside", "documents": [SOURCE]}
    assert httpx2.post(f"{served.address}/v1/ask", json=body, timeout=150).status_code == 502
    assert contacts.outside() == {"outside.invalid"}


def test_a_reader_of_uploads_records_its_contacts(contacts: Contacts):
    """The hook is also there in the processes that the service starts."""
    outer = "import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', sys.argv[1]])"
    inner = "import socket; s = socket.socket(); s.settimeout(0.2); s.connect(('192.0.2.1', 9))"
    subprocess.run([sys.executable, "-c", outer, inner], env=contacts.environment, capture_output=True, timeout=60)
    assert contacts.outside() == {"192.0.2.1"}
