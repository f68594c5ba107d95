"""Memory of the service and its answers to /healthz while large requests come between ordinary ones.

    python benchmarks/service_memory.py [--seed 0]

One service on loopback gets 500 mixed and 12 large requests, one after the other. Mixed requests have the sizes that a
service for a reading room or a pipeline sees, drawn anew for each: checks of 1 to 40 sentences over 1 to 20 abstracts
or two whole papers, questions to the demonstration corpus and to documents of their own, searches, repairs,
attributions, and uploads of 2 kB to 2 MB. Large requests are near the limits or beyond: 2 MB of documents, 200
sentences, 27,000 pairs to judge, uploads of 4.5 MB, and bodies of 11 to 15 MB that are refused.

The first 50 requests are mixed ones. After them the resident memory is the base; then a large request comes after each
37 mixed ones. Printed are the memory after each large request, the base, the mean of the last 50 requests and its ratio
to the base (bar 1.15), the peak, and the slowest answer to /healthz, which is asked for every 0.1 s throughout (bar
0.5 s). Memory is that of the service's own process; the processes that read uploads are counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2

from vericite.corpus import demo_documents

MIXED, FIRST = 500, 50
BAR, SILENCE = 1.15, 0.5

Request = tuple[str, bytes]


def documents(chance: random.Random, count: int, repeats: int = 1) -> list[dict[str, str]]:
    """Abstracts of the demonstration corpus, each several times as long where asked."""
    chosen = chance.choices(demo_documents(), k=count)
    return [
        {"id": f"{number}-{it.id}", "title": it.title, "text": " ".join([it.text] * repeats)}
        for number, it in enumerate(chosen)
    ]


def answer(chance: random.Random, sentences: int, sources: Sequence[dict[str, str]], cites: int = 1) -> str:
    """Sentences that no other answer has, citing some of the sources."""
    number = chance.randrange(10**9)
    titles = [source["title"].rstrip(".").lower() for source in sources]
    return " ".join(
        f"In cohort {number + n}, {titles[n % len(titles)]} "
        + "".join(f"[{(n + step) % len(sources) + 1}]" for step in range(cites))
        + "."
        for n in range(sentences)
    )


def _check(chance: random.Random, sentences: int, count: int, repeats: int = 1, path: str = "check") -> Request:
    sources = documents(chance, count, repeats)
    return f"/v1/{path}", json.dumps({"answer": answer(chance, sentences, sources), "documents": sources}).encode()


def _text(size: int) -> str:
    words = " ".join(document.text for document in demo_documents()[:200])
    return (words * (size // len(words) + 1))[:size]


def _upload(chance: random.Random, size: int) -> Request:
    ending = chance.choice(("txt", "md", "jsonl"))
    if ending != "jsonl":
        return f"/v1/documents?name=a.{ending}", _text(size).encode()
    part = max(1, size // 50)
    lines = (json.dumps({"id": f"d{n}", "text": _text(part)}) for n in range(max(1, size // part)))
    return "/v1/documents?name=a.jsonl", "\n".join(lines).encode()


def mixed(chance: random.Random) -> Request:
    """A request as it comes every day."""
    kind = chance.choices(
        ("small", "medium", "papers", "repair", "attribute", "ask", "own", "search", "upload"),
        (30, 10, 3, 8, 6, 20, 6, 10, 7),
    )[0]
    if kind == "small":
        return _check(chance, chance.randint(1, 8), chance.randint(1, 5))
    if kind == "medium":
        return _check(chance, chance.randint(10, 40), chance.randint(5, 20))
    if kind == "papers":
        # Two texts of some 40,000 characters.
        return _check(chance, chance.randint(3, 10), 2, 25)
    if kind in ("repair", "attribute"):
        return _check(chance, chance.randint(1, 8), chance.randint(1, 5), path=kind)
    if kind == "upload":
        return _upload(chance, int(2_000 * 1_000 ** chance.random()))
    question = chance.choice(demo_documents()).title[:300]
    if kind == "search":
        return "/v1/search", json.dumps({"query": question}).encode()
    given = {"documents": documents(chance, chance.randint(2, 20))} if kind == "own" else {}
    return "/v1/ask", json.dumps({"question": question, **given}).encode()


def _at_the_limit(chance: random.Random) -> Request:
    return _check(chance, 200, 50, 8)


def _long_sources(chance: random.Random) -> Request:
    return _check(chance, 100, 100, 28)


def _large_repair(chance: random.Random) -> Request:
    return _check(chance, 10, 40, 7, "repair")


def _large_upload(chance: random.Random) -> Request:
    return "/v1/documents?name=a.md", _text(4_500_000).encode()


def _long_title(chance: random.Random) -> Request:
    source = {"id": "d", "title": "x" * 14_000_000, "text": "It works."}
    return "/v1/check", json.dumps({"answer": "It works [1].", "documents": [source]}).encode()


def _unknown_keys(chance: random.Random) -> Request:
    return "/v1/check", ("{" + ",".join(f'"k{n}":1' for n in range(900_000)) + "}").encode()


def _tiny_documents(chance: random.Random) -> Request:
    item = b'{"answer":"a","documents":[' + b",".join([b'{"id":"d"}'] * 1_000_000) + b"]}"
    return "/v1/jobs", b'{"items":[' + item + b"]}"


def _too_much_work(chance: random.Random) -> Request:
    sources = documents(chance, 200, 5)
    return "/v1/check", json.dumps({"answer": answer(chance, 200, sources, 200), "documents": sources}).encode()


LARGE: tuple[Callable[[random.Random], Request], ...] = (
    _long_sources, _long_title, _at_the_limit, _large_upload, _unknown_keys, _large_repair, _too_much_work,
    _tiny_documents, _long_sources, _large_upload, _large_repair, _at_the_limit,
)  # fmt: skip


def megabytes(process: int) -> float:
    """What a process holds in memory; 0 if it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        if found := re.search(r"VmRSS:\s+(\d+)", status):
            return int(found[1]) / 1000
    return 0.0


def children(process: int) -> list[int]:
    """The processes that a process started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


class Watch:
    """Asks for /healthz and the memory every 0.1 s."""

    def __init__(self, address: str, process: int) -> None:
        self.address, self.process = address, process
        self.seconds: list[float] = []
        self.peak = self.readers = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        with httpx2.Client(timeout=120) as http:
            while not self._done.wait(0.1):
                began = time.monotonic()
                http.get(f"{self.address}/healthz").raise_for_status()
                self.seconds.append(time.monotonic() - began)
                self.peak = max(self.peak, megabytes(self.process))
                self.readers = max(self.readers, sum(map(megabytes, children(self.process))))

    def close(self) -> None:
        """Ask no more."""
        self._done.set()
        self._thread.join()


@contextmanager
def service() -> Iterator[Watch]:
    """A service that is ready."""
    with tempfile.TemporaryDirectory() as state:
        kept = ["--set", f"service.state={state}", "--set", "service.rate=1000000"]
        words = [sys.executable, "-m", "vericite", "serve", "--port", "0", *kept]
        running = subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert running.stdout
        found = re.search(r"http://\S+:\d+", running.stdout.readline())
        assert found
        while httpx2.get(f"{found[0]}/readyz", timeout=60).status_code != 200:
            time.sleep(0.1)
        watch = Watch(found[0], running.pid)
        try:
            yield watch
        finally:
            watch.close()
            running.send_signal(signal.SIGTERM)
            running.wait(30)


def main() -> None:
    """Send them all, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mixed", type=int, default=MIXED, help=argparse.SUPPRESS)
    given = parser.parse_args()
    chance, statuses = random.Random(given.seed), Counter[int]()
    every = (given.mixed - FIRST) // len(LARGE)
    held: list[float] = []
    spent = {"mixed": 0.0, "large": 0.0}
    print("load", *(f"{load:.1f}" for load in os.getloadavg()))
    with service() as watch, httpx2.Client(base_url=watch.address, timeout=200) as http:

        def send(request: Request, kind: str) -> int:
            began = time.monotonic()
            status = http.post(request[0], content=request[1]).status_code
            spent[kind] += time.monotonic() - began
            statuses[status] += 1
            return status

        print(f"memory when it is ready: {megabytes(watch.process):.0f} MB")
        larges = iter(LARGE)
        for number in range(1, given.mixed + 1):
            send(mixed(chance), "mixed")
            held.append(megabytes(watch.process))
            if number == FIRST:
                print(f"after the first {FIRST} mixed requests: {held[-1]:.0f} MB", flush=True)
            elif number > FIRST and (number - FIRST) % every == 0 and (large := next(larges, None)):
                before, began, status = megabytes(watch.process), time.monotonic(), send(large(chance), "large")
                took = time.monotonic() - began
                # What is given back is given back within two seconds and a little.
                time.sleep(4)
                name = large.__name__.strip("_").replace("_", " ")
                after = megabytes(watch.process)
                print(f"  {name}: {status} in {took:.1f} s; {before:.0f} MB before, {after:.0f} MB after", flush=True)
    base, last = held[FIRST - 1], statistics.mean(held[-50:])
    print(f"{given.mixed} mixed requests in {spent['mixed']:.0f} s, {len(LARGE)} large ones in {spent['large']:.0f} s")
    print("statuses:", ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))
    print(f"base {base:.0f} MB, last 50 requests {last:.0f} MB: ratio {last / base:.2f} (bar {BAR})")
    print(f"peak {watch.peak:.0f} MB; readers of uploads at most {watch.readers:.0f} MB")
    slow = max(watch.seconds)
    middle = statistics.median(watch.seconds)
    print(f"/healthz: {len(watch.seconds)} answers, median {middle:.3f} s, slowest {slow:.2f} s (bar {SILENCE})")


if __name__ == "__main__":
    main()
