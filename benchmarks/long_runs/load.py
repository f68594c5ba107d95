"""``serve`` under a mixed load with faults, for hours.

Two services get about one request a second in all: one with the bundled judge, one with the lexical judge. Requests are
those that a page and a pipeline send: ask, check, repair, attribute, search, evidence, uploads, manuscripts, streams
that are read, resumed or cancelled, jobs, and runs that are read, repaired and deleted. Some are faults: clients that
vanish, broken bodies, bodies and uploads above the limits. Now and then no file can be written for half a minute, as
on a full disk. Both services are killed by SIGKILL with work in progress and started again: the bundled one three
times during the warm-up, so that its memory is that of one process from then on; the lexical one throughout.

Nothing may be lost: each accepted job ends with one result for each item, each run that a reply named can be read
after a kill, and each reply has a status that its request can have.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from memory import Quarters, megabytes

from vericite.corpus import demo_documents

EXAMPLE = Path(__file__).parents[2] / "examples" / "manuscript"
SAMPLE_SECONDS = 10.0
NO_SPACE_SECONDS = 30.0
WORKERS = 12
"""Threads that send requests; a request that finds none free is counted as not sent."""


@dataclass
class Job:
    """A job that the service accepted."""

    id: str
    items: int
    bad: int
    cancelled: bool = False
    deleted_at: float | None = None


@dataclass
class Target:
    """A service that is killed and started again on the same folder and port."""

    judge: str
    folder: Path
    port: int = 0
    process: subprocess.Popen[str] | None = None
    lives: int = 0
    no_space: bool = False
    disturbed_until: float = 0.0
    """Until when connections may fail and writing may be refused."""
    samples: list[tuple[float, int, float]] = field(default_factory=list[tuple[float, int, float]])
    jobs: list[Job] = field(default_factory=list[Job])
    runs: deque[str] = field(default_factory=lambda: deque(maxlen=200))
    deleted: set[str] = field(default_factory=set[str])

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until its models are loaded."""
        self.lives += 1
        settings = [f"service.state={self.folder / 'state'}", "service.rate=1000000", f"check.judge={self.judge}"]
        words = [sys.executable, "-m", "vericite", "serve", "--port", str(self.port)]
        for setting in settings:
            words += ["--set", setting]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "VERICITE_CACHE": str(self.folder / "cache")}
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout and self.process.stderr
        # By a thread: the service's files are limited in size while the disk is said to be full.
        threading.Thread(target=self._log, args=(self.process.stderr,), daemon=True).start()
        found = re.search(r"http://\S+:(\d+)", self.process.stdout.readline())
        assert found, f"the service did not start: see {self.folder / 'log'}"
        self.port = int(found[1])
        while not self._ready():
            time.sleep(0.2)

    def _log(self, lines: Any) -> None:
        with (self.folder / "log").open("a", encoding="utf-8") as file:
            for line in lines:
                file.write(line)
                file.flush()

    def _ready(self) -> bool:
        with suppress(httpx2.HTTPError):
            return httpx2.get(f"{self.address}/readyz", timeout=30).status_code == 200
        return False

    def kill(self) -> None:
        """Kill it with SIGKILL and start it again."""
        assert self.process
        self.disturbed_until = float("inf")
        self.process.kill()
        self.process.wait()
        self.start()
        self.disturbed_until = time.monotonic() + 5

    def fill_disk(self, seconds: float) -> None:
        """Let no file be written for a while: the kernel refuses each write with an error, as on a full disk."""
        assert self.process
        _, most = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        self.disturbed_until, self.no_space = float("inf"), True
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (0, most))
        time.sleep(seconds)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (most, most))
        self.disturbed_until, self.no_space = time.monotonic() + 5, False


Sent = Callable[["Load", Target, random.Random], None]


@dataclass
class Load:
    """Sends requests and notes what was unexpected."""

    replies: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    unexpected: list[str] = field(default_factory=list[str])
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    faults: Counter[str] = field(default_factory=Counter[str])
    streams: Counter[str] = field(default_factory=Counter[str])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, kind: Sent, target: Target, seed: int) -> None:
        """Send one request; note what it did if that could not have been."""
        name = kind.__name__.strip("_")
        began, lives = time.monotonic(), target.lives
        try:
            kind(self, target, random.Random(seed))
        except OutOfTime:
            with self.lock:
                self.faults["requests that took longer than their time limit"] += 1
        except Unexpected as error:
            if not self._was_disturbed(target, began, lives):
                self.note(f"{name} at the {target.judge} service: {error}")
        except (httpx2.HTTPError, OSError) as error:
            self.count(name, type(error).__name__)
            if not self._was_disturbed(target, began, lives):
                self.note(f"{name} at the {target.judge} service: {error!r}")
        except Exception as error:  # a fault of this script must be seen, and not end the run
            self.note(f"{name} at the {target.judge} service: {error!r}")
        with self.lock:
            self.seconds.setdefault(name, []).append(time.monotonic() - began)

    @staticmethod
    def _was_disturbed(target: Target, began: float, lives: int) -> bool:
        return target.lives != lives or began < target.disturbed_until or time.monotonic() < target.disturbed_until

    def count(self, name: str, what: str | int) -> None:
        """Count a reply."""
        with self.lock:
            self.replies[name, str(what)] += 1

    def note(self, text: str) -> None:
        """Note something that should not have been."""
        with self.lock:
            self.unexpected.append(text[:400])

    def call(self, target: Target, name: str, method: str, path: str, *expected: int, **given: Any) -> httpx2.Response:
        """Send a request; the reply must have an expected status."""
        reply = httpx2.request(method, f"{target.address}{path}", timeout=180, **given)
        self.count(name, reply.status_code)
        if reply.status_code == 504:
            # A machine that is busy otherwise: the service says so in time, and nothing is lost.
            raise OutOfTime
        if reply.status_code not in expected:
            if reply.status_code == 507 and target.no_space:
                raise Unexpected("507 on a full disk")
            raise Unexpected(f"{reply.status_code}: {reply.text[:200]}")
        return reply


class Unexpected(Exception):
    """A reply that its request should not have."""


class OutOfTime(Exception):
    """The request took longer than its time limit."""


def sources(chance: random.Random, count: int) -> list[dict[str, str]]:
    """Abstracts of the demonstration corpus."""
    chosen = chance.choices(demo_documents(), k=count)
    return [{"id": f"{n}-{it.id}", "title": it.title, "text": it.text} for n, it in enumerate(chosen)]


def answer(chance: random.Random, given: list[dict[str, str]], sentences: int) -> str:
    """Sentences that no other answer has, each citing a source."""
    number = chance.randrange(10**9)
    return " ".join(
        f"In cohort {number + n}, {given[n % len(given)]['title'].rstrip('.').lower()} [{n % len(given) + 1}]."
        for n in range(sentences)
    )


def body(chance: random.Random, sentences: int = 8, count: int = 5) -> dict[str, Any]:
    """An answer and its sources."""
    given = sources(chance, chance.randint(1, count))
    plan = {"plan": {"check": {"protocol": "fast"}}} if chance.random() < 0.2 else {}
    return {"answer": answer(chance, given, chance.randint(1, sentences)), "documents": given, **plan}


def question(chance: random.Random) -> str:
    """A question to the demonstration corpus."""
    return f"{chance.choice(('Does', 'What is known of', 'How does'))} {chance.choice(demo_documents()).title[:200]}?"


def _ask(load: Load, target: Target, chance: random.Random) -> None:
    plan = {"plan": {"repair": {"enabled": True}}} if chance.random() < 0.3 else {}
    own = {"documents": sources(chance, chance.randint(2, 15))} if chance.random() < 0.3 else {}
    load.call(target, "ask", "POST", "/v1/ask", 200, json={"question": question(chance), **plan, **own})


def _check(load: Load, target: Target, chance: random.Random) -> None:
    sent = body(chance, *((30, 15) if chance.random() < 0.15 else (8, 5)))
    reply = load.call(target, "check", "POST", "/v1/check", 200, json=sent).json()
    if len(reply["checked"]["verdicts"]) != sent["answer"].count("["):
        raise Unexpected(f"{len(reply['checked']['verdicts'])} verdicts of {sent['answer'].count('[')} citations")
    target.runs.append(reply["run"])


def _repair(load: Load, target: Target, chance: random.Random) -> None:
    target.runs.append(load.call(target, "repair", "POST", "/v1/repair", 200, json=body(chance)).json()["run"])


def _attribute(load: Load, target: Target, chance: random.Random) -> None:
    sent = body(chance)
    sent["answer"] = re.sub(r" \[\d+\]", "", sent["answer"])
    load.call(target, "attribute", "POST", "/v1/attribute", 200, json=sent)


def _search(load: Load, target: Target, chance: random.Random) -> None:
    load.call(target, "search", "POST", "/v1/search", 200, json={"query": question(chance), "k": 10})


def _evidence(load: Load, target: Target, chance: random.Random) -> None:
    sent = {"answer": chance.choice(demo_documents()).title + "."}
    load.call(target, "evidence", "POST", "/v1/evidence", 200, json=sent)


def _upload(load: Load, target: Target, chance: random.Random) -> None:
    words = " ".join(document.text for document in chance.choices(demo_documents(), k=chance.randint(1, 300)))
    name, content = chance.choice(
        [
            ("a.txt", words.encode()),
            ("a.md", f"# {words[:60]}\n\n{words}".encode()),
            ("a.jsonl", "\n".join(json.dumps({"id": f"d{n}", "text": words[:3000]}) for n in range(20)).encode()),
            ("a.docx", (EXAMPLE / "draft.docx").read_bytes()),
        ]
    )
    found = load.call(target, "upload", "POST", f"/v1/documents?name={name}", 200, content=content).json()
    if not found["documents"]:
        raise Unexpected(f"no document in {name}: {found['problems']}")


def _manuscript(load: Load, target: Target, chance: random.Random) -> None:
    if chance.random() < 0.5:
        files = [("file", ("draft.docx", (EXAMPLE / "draft.docx").read_bytes()))]
        files.append(("documents", ("sources.jsonl", (EXAMPLE / "sources.jsonl").read_bytes())))
    else:
        chosen = chance.sample(demo_documents(), 6)
        text = " ".join(f"In cohort {chance.randrange(10**6)}, {it.title} [{n}]." for n, it in enumerate(chosen, 1))
        listed = "\n".join(f"{n}. Author A. {it.title} J Made Res. 2001;1:1-2." for n, it in enumerate(chosen, 1))
        files = [("file", ("draft.md", f"# A draft\n\n{text}\n\n## References\n\n{listed}\n".encode()))]
    reply = load.call(target, "manuscript", "POST", "/v1/manuscripts", 200, files=files, data={"sources": ["demo"]})
    made = reply.json()
    run = made["run"]
    # A manuscript in Markdown with a printed list has no copy.
    load.call(target, "copy", "GET", f"/v1/runs/{run}/copy", 200 if made["copy_suffix"] else 404)
    # From now on another request may delete it.
    target.runs.append(run)


def _stream(load: Load, target: Target, chance: random.Random) -> None:
    path, sent = ("/v1/ask", {"question": question(chance)}) if chance.random() < 0.5 else ("/v1/check", body(chance))
    events: list[str] = []
    said = ""
    with httpx2.stream(
        "POST", f"{target.address}{path}", json=sent, headers={"accept": "text/event-stream"}, timeout=180
    ) as reply:
        load.count("stream", reply.status_code)
        for line in reply.iter_lines():
            if line.startswith("event: "):
                events.append(line[7:])
            said = line or said
    _ended(load, events, said)


def _resumed(load: Load, target: Target, chance: random.Random) -> None:
    reply = load.call(
        target, "resumed", "POST", "/v1/check", 202, json=body(chance), headers={"prefer": "respond-async"}
    )
    address = f"{target.address}/v1/streams/{reply.json()['stream']}"
    events: dict[int, str] = {}
    number, said = 0, ""
    for most in (2, 10**9):
        # The first connection is cut after two events; the second continues after them.
        with httpx2.stream("GET", address, headers={"last-event-id": str(number)}, timeout=180) as reply:
            if reply.status_code != 200:
                raise Unexpected(f"{reply.status_code} at its stream")
            for line in reply.iter_lines():
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("event: "):
                    if number in events:
                        raise Unexpected(f"event {number} came twice")
                    events[number] = line[7:]
                said = line or said
                if not line and len(events) >= most:
                    break
    _ended(load, list(events.values()), said)


def _cancelled(load: Load, target: Target, chance: random.Random) -> None:
    sent = body(chance, 60, 15)
    reply = load.call(target, "cancelled", "POST", "/v1/check", 202, json=sent, headers={"prefer": "respond-async"})
    id = reply.json()["stream"]
    time.sleep(chance.random())
    load.call(target, "cancelled", "DELETE", f"/v1/streams/{id}", 202)


def _ended(load: Load, events: list[str], said: str) -> None:
    last = events[-1] if events else "no event"
    with load.lock:
        load.streams[last] += 1
    if last == "error" and "504" in said:
        raise OutOfTime
    if last != "done":
        raise Unexpected(f"a stream ended with {last}")


def _job(load: Load, target: Target, chance: random.Random) -> None:
    if chance.random() < 0.75:
        items: list[dict[str, Any]] = [body(chance) for _ in range(chance.randint(2, 15))]
        bad = 0
        if chance.random() < 0.3:
            # Costs the item, not the job: more pairs than an item may have.
            items.insert(1, {"answer": "PMID 1 says so [1].", "pmids": ["1"]})
            bad = 1
        sent = {"kind": "check", "items": items}
    else:
        items, bad = [{"question": question(chance)} for _ in range(chance.randint(2, 6))], 0
        sent = {"kind": "ask", "items": items}
    id = load.call(target, "job", "POST", "/v1/jobs", 202, json=sent).json()["id"]
    job = Job(id, len(items), bad)
    with load.lock:
        target.jobs.append(job)
    if chance.random() < 0.1:
        job.cancelled = True
        load.call(target, "job cancelled", "DELETE", f"/v1/jobs/{id}", 202)


def _job_state(load: Load, target: Target, chance: random.Random) -> None:
    with load.lock:
        jobs = target.jobs[-30:]
    if jobs:
        job = chance.choice(jobs)
        load.call(target, "job state", "GET", f"/v1/jobs/{job.id}", 200)
        load.call(target, "job results", "GET", f"/v1/jobs/{job.id}/results", 200)


def _runs(load: Load, target: Target, chance: random.Random) -> None:
    load.call(target, "runs", "GET", "/v1/runs", 200)
    load.call(target, "page", "GET", chance.choice(("/", "/check", "/runs")), 200)
    with load.lock:
        runs = [run for run in target.runs if run not in target.deleted]
    if not runs:
        return
    run = chance.choice(runs)
    for what in ("", "/report", "/table", "/view"):
        reply = httpx2.get(f"{target.address}/v1/runs/{run}{what}", timeout=180)
        load.count(f"run{what}", reply.status_code)
        if reply.status_code != 200 and run not in target.deleted:
            raise Unexpected(f"{reply.status_code} at run {run}{what}")


def _delete_run(load: Load, target: Target, chance: random.Random) -> None:
    with load.lock:
        runs = [run for run in target.runs if run not in target.deleted]
        if not runs:
            return
        run = chance.choice(runs)
        target.deleted.add(run)
    load.call(target, "delete run", "DELETE", f"/v1/runs/{run}", 204)
    load.call(target, "deleted run", "GET", f"/v1/runs/{run}", 404)


def _vanish(load: Load, target: Target, chance: random.Random) -> None:
    """A client that closes the connection: in the middle of its body, or while it waits for the reply."""
    sent = json.dumps(body(chance, 40, 10)).encode()
    head = f"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nContent-Length: {len(sent)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", target.port), timeout=30) as connection:
        connection.sendall(head.encode() + sent[: len(sent) // 2 if chance.random() < 0.5 else None])
        time.sleep(chance.random())
    with load.lock:
        load.faults["clients that vanish"] += 1


def _broken_body(load: Load, target: Target, chance: random.Random) -> None:
    path = chance.choice(("ask", "check", "repair", "search", "jobs", "evidence"))
    content = chance.choice(
        [
            b"",
            b"{",
            b"[]",
            b'{"answer": 5}',
            b"\xff\xfe" + chance.randbytes(200),
            json.dumps(body(chance)).encode()[:-9],
        ]
    )
    load.call(target, "broken body", "POST", f"/v1/{path}", 422, content=content)
    with load.lock:
        load.faults["broken bodies"] += 1


def _broken_upload(load: Load, target: Target, chance: random.Random) -> None:
    name = chance.choice(("a.pdf", "a.docx", "a.xml"))
    content = chance.choice((b"%PDF-1.7\n", b"PK\x03\x04", b"<a>")) + chance.randbytes(5000)
    load.call(target, "broken upload", "POST", f"/v1/documents?name={name}", 200, 422, content=content)
    with load.lock:
        load.faults["broken uploads"] += 1


def _too_large(load: Load, target: Target, chance: random.Random) -> None:
    path, size = chance.choice((("/v1/check", 17_000_000), ("/v1/documents?name=a.txt", 33_000_000)))
    with suppress(httpx2.WriteError, httpx2.ReadError, ConnectionError):
        # The service may close the connection before everything is sent.
        load.call(target, "too large", "POST", path, 413, content=b"x" * size)
    with load.lock:
        load.faults["bodies above the limit"] += 1


KINDS: dict[Sent, int] = {
    _ask: 9, _check: 24, _repair: 8, _attribute: 6, _search: 9, _evidence: 2, _upload: 6, _manuscript: 2,
    _stream: 6, _resumed: 4, _cancelled: 3, _job: 3, _job_state: 4, _runs: 8, _delete_run: 3,
    _vanish: 4, _broken_body: 4, _broken_upload: 2, _too_large: 1,
}  # fmt: skip


def unfinished(target: Target) -> tuple[int, list[str]]:
    """Wait until all jobs are finished; return the number of results, and what was lost."""
    lost: list[str] = []
    results = 0
    # The service keeps the latest 500 finished jobs.
    for job in target.jobs[-450:]:
        end = time.monotonic() + 600
        state: dict[str, Any] = {}
        while time.monotonic() < end:
            reply = httpx2.get(f"{target.address}/v1/jobs/{job.id}", timeout=60)
            if reply.status_code != 200:
                lost.append(f"job {job.id}: {reply.status_code}")
                break
            state = reply.json()
            if state["finished"]:
                break
            time.sleep(1)
        else:
            lost.append(f"job {job.id} did not finish: {state}")
        if reply.status_code != 200 or (job.cancelled and state.get("cancelled")):
            continue
        lines = [json.loads(it) for it in httpx2.get(f"{target.address}/v1/jobs/{job.id}/results").text.splitlines()]
        numbers = sorted(line["item"] for line in lines)
        problems = [line["problem"] for line in lines if line.get("problem")]
        results += len(lines)
        if numbers != list(range(job.items)):
            lost.append(f"job {job.id}: results of items {numbers} of {job.items}")
        if len(problems) != job.bad:
            lost.append(f"job {job.id}: {len(problems)} problems, expected {job.bad}: {problems[:2]}")
    return results, lost


def lost_runs(target: Target) -> list[str]:
    """The latest runs that replies named and that cannot be read."""
    kept = [run for run in target.runs if run not in target.deleted]
    return [run for run in kept if httpx2.get(f"{target.address}/v1/runs/{run}", timeout=60).status_code != 200]


@dataclass(frozen=True)
class Disturbance:
    """Something that happens to a service at a time.

    Attributes:
        at: Seconds after the begin.
        name: Its name in the counts.
        target: The service.
        full_disk: Seconds without space on the disk; 0 for a kill.
    """

    at: float
    name: str
    target: Target
    full_disk: float = 0.0


def disturbances(targets: Sequence[Target], seconds: float, warm: float) -> list[Disturbance]:
    """Kills and times without disk space, in order: the first service is killed in the warm-up only."""
    # A short run would do nothing but start.
    shares = (0.2, 0.5, 0.8) if seconds >= 600 else (0.5,)
    plan = [Disturbance(warm * share, "kills of the first service", targets[0]) for share in shares]
    for other in targets[1:]:
        plan += [Disturbance(seconds * share, "kills of the other service", other) for share in (0.15, 0.35, 0.6, 0.85)]
    full = min(NO_SPACE_SECONDS, seconds / 40)
    for share in (0.25, 0.5, 0.75):
        plan += [Disturbance(seconds * share, "times without disk space", target, full) for target in targets]
    return sorted(plan, key=lambda disturbance: disturbance.at)


@dataclass
class Course:
    """A load on services: what it sends, when it began, and when it is done."""

    targets: Sequence[Target]
    load: Load
    work: Path
    seconds: float
    seed: int
    began: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def elapsed(self) -> float:
        """Seconds since the begin."""
        return time.monotonic() - self.began

    def sample(self) -> None:
        """Note the memory of the services until the end."""
        with (self.work / "samples.jsonl").open("w", encoding="utf-8") as file:
            while not self.done.wait(min(SAMPLE_SECONDS, self.seconds / 40)):
                for target in self.targets:
                    assert target.process
                    taken = (self.elapsed, target.lives, megabytes(target.process.pid))
                    if target.disturbed_until != float("inf") or target.no_space:
                        target.samples.append(taken)
                    file.write(json.dumps({"judge": target.judge, "sample": taken}) + "\n")
                file.flush()

    def disturb(self, plan: Sequence[Disturbance]) -> None:
        """Do what is planned until the end."""
        chance = random.Random(self.seed + 1)
        for planned in plan:
            if self.done.wait(max(0.0, planned.at - self.elapsed)):
                return
            if planned.full_disk:
                planned.target.fill_disk(planned.full_disk)
            else:
                # There is work in progress that a kill could lose.
                for _ in range(2):
                    self.load.send(_job, planned.target, chance.randrange(10**9))
                planned.target.kill()
            self.load.faults[planned.name] += 1

    def send(self, rate: float) -> None:
        """Send requests until the time is over, or until Ctrl-C."""
        chance, free = random.Random(self.seed), threading.Semaphore(WORKERS)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with ThreadPoolExecutor(WORKERS) as pool, suppress(KeyboardInterrupt):
            while self.elapsed < self.seconds:
                time.sleep(chance.expovariate(rate))
                kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
                target = self.targets[0] if chance.random() < 0.7 else self.targets[-1]
                if not free.acquire(blocking=False):
                    self.load.count("not sent", "not sent: all threads busy")
                    continue
                sent = pool.submit(self.load.send, kind, target, chance.randrange(10**9))
                sent.add_done_callback(lambda _: free.release())
                _write_progress(self.work, self.load, self.elapsed)


def serve(
    seconds: float, work: Path, rate: float = 1.0, seed: int = 0, judges: Sequence[str] = ("bundled", "lexical")
) -> int:
    """Run the load and print its figures; the exit code is 1 if anything was lost or memory grew.

    Args:
        seconds: How long to send requests. Memory counts after a tenth of them.
        work: Folder of the services' state, logs and samples.
        rate: Requests a second.
        seed: Seed of the requests.
        judges: A service for each.
    """
    warm = seconds / 10
    targets = [Target(judge, work / judge) for judge in judges]
    try:
        for target in targets:
            target.folder.mkdir(parents=True)
            target.start()
        course = Course(targets, Load(), work, seconds, seed)
        helpers = [
            threading.Thread(target=course.sample),
            threading.Thread(target=course.disturb, args=(disturbances(targets, seconds, warm),)),
        ]
        for helper in helpers:
            helper.start()
        course.send(rate)
        course.done.set()
        for helper in helpers:
            helper.join()
        return _print_figures(targets, course.load, course.elapsed, warm)
    finally:
        for target in targets:
            if target.process is not None and target.process.poll() is None:
                target.process.kill()


def _write_progress(work: Path, load: Load, seconds: float) -> None:
    with load.lock:
        now = {
            "seconds": round(seconds),
            "replies": sum(load.replies.values()),
            "faults": load.faults,
            "by kind": {" ".join(kind): count for kind, count in sorted(load.replies.items())},
            "unexpected": load.unexpected[-20:],
        }
    (work / "progress.json").write_text(json.dumps(now, indent=1), encoding="utf-8")


def _print_figures(targets: list[Target], load: Load, seconds: float, warm: float) -> int:
    failed = False
    replies = sum(count for (_, status), count in load.replies.items() if status.isdecimal())
    print(f"{seconds / 60:.1f} minutes, {replies} replies, {replies / seconds:.2f} a second")
    by_status: Counter[str] = Counter()
    for (_, status), count in load.replies.items():
        by_status[status] += count
    print(
        "replies by status, and requests without a reply:",
        ", ".join(f"{status}: {count}" for status, count in sorted(by_status.items())),
    )
    print("faults:", ", ".join(f"{name}: {count}" for name, count in sorted(load.faults.items())))
    print("streams ended with:", ", ".join(f"{name}: {count}" for name, count in sorted(load.streams.items())))
    for kind, spent in sorted(load.seconds.items()):
        ordered = sorted(spent)
        high = ordered[int(len(ordered) * 0.95)]
        print(f"  {kind}: {len(spent)}, median {statistics.median(spent):.2f} s, p95 {high:.2f} s")
    print(f"unexpected replies: {len(load.unexpected)}")
    for text in load.unexpected[:20]:
        print(f"  {text}")
    for target in targets:
        results, lost = unfinished(target)
        gone = lost_runs(target)
        failed = failed or bool(lost or gone)
        print(
            f"{target.judge} service, {target.lives} lives: {len(target.jobs)} jobs accepted, {results} results, "
            f"{len(lost)} jobs lost; {len(target.runs) - len(gone)} runs read again, {len(gone)} lost"
        )
        for text in lost[:10]:
            print(f"  {text}")
        lives = [[it for _, life, it in target.samples if life == number] for number in range(1, target.lives + 1)]
        if target is targets[0]:
            settled = [it for at, life, it in target.samples if life == target.lives and at > warm]
            if settled:
                quarters = Quarters.of(settled)
                print(f"  memory after the warm-up of {warm / 60:.0f} minutes: {quarters}")
                failed = failed or quarters.is_over
        print("  peak of each life, MB:", ", ".join(f"{max(life):.0f}" for life in lives if life))
        assert target.process
        target.process.send_signal(signal.SIGTERM)
        print(f"  exit code after SIGTERM: {target.process.wait(60)}")
    return 1 if failed or load.unexpected else 0
