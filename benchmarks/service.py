"""How much the service does under load, beside the batch engine in the same run, and whether it loses anything.

    python benchmarks/service.py [--seconds 60] [--clients 64]

So many clients on loopback check answers of five sentences that each cite one of five abstracts of the demonstration
corpus; none waits between its requests, and no two sentences are the same. Before and after, the batch engine checks
such answers for a third of the time each, in a process of its own: a machine that others use gets slower and faster.
Printed are citations a second of both and their ratio (bar 0.8), the median and the 95th percentile of a request's
seconds, requests that were refused or cut short (bar 0), labels that differ from the batch engine's (bar 0), and the
memory of the service in its second and its last quarter. Ten minutes, as the issue has it: ``--seconds 600``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx2

from vericite.corpus import demo_documents

SENTENCES = 5
COMPARED = 200
"""Answers whose labels are compared with the batch engine's."""


def answer(number: int) -> dict[str, Any]:
    """An answer that shares no sentence with another."""
    documents = demo_documents()
    chosen = [documents[(number * SENTENCES + step) % len(documents)] for step in range(SENTENCES)]
    said = " ".join(f"In cohort {number}, {it.title.lower()} [{n}]." for n, it in enumerate(chosen, start=1))
    given = [{"id": it.id, "title": it.title, "text": it.text} for it in chosen]
    return {"id": f"a{number}", "answer": said, "documents": given}


def expected(numbers: Sequence[int]) -> list[list[str | None]]:
    """The labels that the batch engine gives the citations of answers."""
    from vericite.pipeline.check import check_many
    from vericite.records import Answer, Document, Verdict
    from vericite.text.citations import parse_answer

    def made() -> Iterator[Answer]:
        for it in map(answer, numbers):
            documents = [Document.from_text(one["id"], one["text"], one["title"]) for one in it["documents"]]
            yield parse_answer(it["id"], it["answer"], documents)

    return [[it.label if isinstance(it, Verdict) else None for it in one.verdicts] for one in check_many(made())]


def batch(seconds: float, first: int) -> float:
    """Citations a second of the batch engine."""
    from vericite.pipeline.check import check_many
    from vericite.records import Answer, Document
    from vericite.text.citations import parse_answer

    def made(begin: int) -> Iterator[Answer]:
        for number in count(begin):
            it = answer(number)
            documents = [Document.from_text(one["id"], one["text"], one["title"]) for one in it["documents"]]
            yield parse_answer(it["id"], it["answer"], documents)

    results = iter(check_many(made(first)))
    next(results)
    began, done = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        done += len(next(results).verdicts)
    return done / (time.monotonic() - began)


@dataclass
class Load:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    citations: int = 0
    labels: dict[int, list[str | None]] = field(default_factory=dict[int, list[str | None]])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self, address: str, numbers: Iterator[int], end: float) -> None:
        """Check answers, one after the other."""
        with httpx2.Client(timeout=150) as http:
            while time.monotonic() < end:
                with self.lock:
                    number = next(numbers)
                began = time.monotonic()
                reply = http.post(f"{address}/v1/check", json=answer(number))
                took = time.monotonic() - began
                verdicts = reply.json()["checked"]["verdicts"] if reply.status_code == 200 else []
                with self.lock:
                    self.seconds.append(took)
                    self.citations += len(verdicts)
                    self.labels[number] = [verdict.get("label") for verdict in verdicts]
                    if len(verdicts) != SENTENCES:
                        self.wrong.append(f"{reply.status_code}: {reply.text[:100]}")


def megabytes(process: int) -> float:
    """What a process holds in memory."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000  # type: ignore[index]


def service(seconds: float, clients: int) -> float:
    """Citations a second of the service; prints the rest."""
    with tempfile.TemporaryDirectory() as state:
        kept = ["--set", f"service.state={state}", "--set", "service.rate=1000000"]
        words = [sys.executable, "-m", "vericite", "serve", "--port", "0", *kept]
        running = subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert running.stdout
        found = re.search(r"http://\S+:\d+", running.stdout.readline())
        assert found
        while httpx2.get(f"{found[0]}/readyz").status_code != 200:
            time.sleep(0.1)
        load, numbers, began = Load(), count(1_000_000), time.monotonic()
        threads = [
            threading.Thread(target=load.client, args=(found[0], numbers, began + seconds)) for _ in range(clients)
        ]
        for thread in threads:
            thread.start()
        held: list[float] = []
        while any(thread.is_alive() for thread in threads):
            held.append(megabytes(running.pid))
            time.sleep(0.5)
        took = time.monotonic() - began
        metrics = httpx2.get(f"{found[0]}/metrics").text
        running.send_signal(signal.SIGTERM)
        running.wait(20)
    quarter = max(1, len(held) // 4)
    load.seconds.sort()
    middle, high = statistics.median(load.seconds), load.seconds[int(len(load.seconds) * 0.95)]
    print(f"{clients} clients, {took:.0f} s: {len(load.seconds)} requests, {load.citations} citations")
    print(f"seconds of a request: median {middle:.2f}, p95 {high:.2f}")
    print(f"refused or cut short: {len(load.wrong)} {load.wrong[:3] or ''}")
    # Spread over the whole time; all of them would take as long again.
    compared = sorted(load.labels)[:: max(1, len(load.labels) // COMPARED)]
    unlike = sum(load.labels[number] != labels for number, labels in zip(compared, expected(compared), strict=True))
    print(f"labelled otherwise than by the batch engine: {unlike} of {len(compared)} answers compared")
    print(
        f"memory: {statistics.mean(held[quarter : 2 * quarter]):.0f} MB in the second quarter, "
        f"{statistics.mean(held[-quarter:]):.0f} MB in the last, peak {max(held):.0f} MB"
    )
    print(*(line for line in metrics.splitlines() if "batches" in line or "pairs" in line), sep=", ")
    return load.citations / took


def main() -> None:
    """Batch, service, batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.batch is not None:
        print(json.dumps(batch(given.seconds, given.batch)))
        return

    def apart(first: int) -> float:
        words = [sys.executable, __file__, "--seconds", str(min(given.seconds / 3, 60)), "--batch", str(first)]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    print("load", *(f"{one:.1f}" for one in os.getloadavg()))
    before = apart(0)
    served = service(given.seconds, given.clients)
    after = apart(500_000)
    print(f"citations a second: batch {before:.1f} before, {after:.1f} after; service {served:.1f}")
    print(f"ratio {2 * served / (before + after):.2f}")


if __name__ == "__main__":
    main()
