"""Searching a store in a bucket: requests and seconds a search, cold and warm, where each request takes 20 ms more.

    python benchmarks/bucket.py --corpus CORPUS.jsonl.gz --questions QUESTIONS.json --documents 20000 --work FOLDER

The bucket is an S3 server on loopback (moto) that counts requests and waits before each answer. Readers are processes
of their own: the first search of each is cold, further questions are warm, and the same questions come once more. Each
is measured without and with a copy of the store on the reader's disk (``VERICITE_STORE_COPY``). Documents are made as
``benchmarks/store.py`` makes them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Lock, Thread
from typing import Any

PLACE = "s3://made-bucket/store"
COPY = "VERICITE_STORE_COPY"
K = 10


class CountingServer:
    """An S3 server on loopback that counts requests, and waits before each answer.

    Attributes:
        latency: Seconds that each request takes more.
        requests: How many came, by method.
    """

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import MotoRequestHandler, create_backend_app
        from werkzeug.serving import make_server

        class Quiet(MotoRequestHandler):
            protocol_version = "HTTP/1.1"

            def log(self, type: str, message: str, *args: object) -> None:
                """A line a request would be most of what is printed."""

        self.latency = 0.0
        self.requests: dict[str, int] = {}
        self._lock = Lock()
        # The one service at once: moto's dispatcher looks through the folders of all services at each request.
        self._app = create_backend_app("s3")
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=Quiet)

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which it is found."""
        keys = {"AWS_ACCESS_KEY_ID": "an-access-key", "AWS_SECRET_ACCESS_KEY": "a-secret-key"}
        return {**keys, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": self.endpoint}

    def total(self) -> int:
        """Requests so far."""
        with self._lock:
            return sum(self.requests.values())

    @contextmanager
    def running(self) -> Iterator[CountingServer]:
        """Answer requests until the end."""
        thread = Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._lock:
            method = environ["REQUEST_METHOD"]
            self.requests[method] = self.requests.get(method, 0) + 1
        time.sleep(self.latency)
        return self._app(environ, start_response)


def build(corpus: Path, count: int, work: Path, place: str) -> None:
    """A store of so many made documents in the bucket."""
    import boto3

    from store import lines, make
    from vericite.corpus.store import Source, build_store
    from vericite.records import Document

    made = work / f"made-{count}.jsonl"
    make(corpus, count, made)
    boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]).create_bucket(Bucket="made-bucket")
    documents = lambda: (Document.from_text(it["id"], it["text"], it["title"]) for it in lines(made))  # noqa: E731
    build_store(place, [Source(made.name, "1", documents)])


def read(questions: list[str]) -> None:
    """In a process of its own: seconds of opening with the first search, then of every further one; twice."""
    from vericite.corpus.store import open_store

    def say(stage: str, seconds: float) -> None:
        print(json.dumps([stage, seconds]), flush=True)
        # The parent counts the requests until here.
        sys.stdin.readline()

    sys.stdin.readline()
    start = time.perf_counter()
    store = open_store(PLACE)
    store.search(questions[0], K)
    say("cold", time.perf_counter() - start)
    for stage in ("warm, other questions", "warm, the same again"):
        for question in questions[1:]:
            start = time.perf_counter()
            store.search(question, K)
            say(stage, time.perf_counter() - start)


def measure(server: CountingServer, questions: Path, count: int, copy: Path | None) -> dict[str, list[list[float]]]:
    """Requests and seconds of every search of one reader, by stage."""
    environment = {**os.environ, **({COPY: str(copy)} if copy else {})}
    command = [sys.executable, __file__, "--read", "--questions", str(questions), "--searches", str(count)]
    found: dict[str, list[list[float]]] = {}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as reader:
        assert reader.stdin and reader.stdout
        before = server.total()
        print(file=reader.stdin, flush=True)
        for line in reader.stdout:
            stage, seconds = json.loads(line)
            now = server.total()
            found.setdefault(stage, []).append([now - before, seconds])
            before = now
            print(file=reader.stdin, flush=True)
    return found


def table(rows: dict[str, dict[str, list[list[float]]]]) -> None:
    """Print them."""
    print("| copy | stage | searches | requests a search: median, most | ms: median, p95 |")
    print("|---|---|---|---|---|")
    for name, stages in rows.items():
        for stage, each in stages.items():
            counts, times = [one[0] for one in each], sorted(one[1] * 1000 for one in each)
            p95 = times[min(len(times) - 1, int(len(times) * 0.95))]
            cells = [name, stage, str(len(each)), f"{median(counts):g}, {max(counts):g}"]
            print(f"| {' | '.join(cells)} | {median(times):.0f}, {p95:.0f} |")


def main() -> None:
    """Read the arguments, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--questions", type=Path, required=True, help="a file in BioASQ's form")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--latency", type=float, default=20, help="milliseconds")
    parser.add_argument("--searches", type=int, default=50)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        from store import questions_in

        read(questions_in([given.questions])[: given.searches + 1])
        return
    given.work.mkdir(parents=True, exist_ok=True)
    with CountingServer().running() as server, tempfile.TemporaryDirectory() as folder:
        os.environ.update(server.environment)
        build(given.corpus, given.documents, given.work, PLACE)
        print(f"{given.documents} documents, built with {server.total()} requests; {given.latency:g} ms a request")
        server.latency = given.latency / 1000
        copies = {"none": None, "first reader": Path(folder), "next process": Path(folder)}
        table({name: measure(server, given.questions, given.searches, copy) for name, copy in copies.items()})


if __name__ == "__main__":
    main()
