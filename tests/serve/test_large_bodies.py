"""Bodies that cost far more to parse than to send are refused soon, with the limit named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import pytest

pytest.importorskip("fastapi", reason="needs the extra [serve]")

from vericite.errors import InputError
from vericite.serve import jobs, memory
from vericite.serve.bodies import MAX_TITLE, AnswerBody, AskBody, SourceBody, parse_body, parse_job
from vericite.serve.gate import Refused
from vericite.serve.offer import Limits, Offer
from vericite.serve.service import Service, state_folder

UNKNOWN_KEYS = ("{" + ",".join(f'"k{n:07d}":1' for n in range(400_000)) + "}").encode()
TINY_DOCUMENTS = b'{"items":[{"answer":"a","documents":[' + b",".join([b'{"id":"d"}'] * 400_000) + b"]}]}"
LIMITED = Limits(waiting_bytes=2_000, kept_bytes=4_000)


@pytest.mark.parametrize(
    "raw",
    [
        UNKNOWN_KEYS,
        b'{"answer":"a","documents":[' + b",".join([b"{}"] * 400_000) + b"]}",
        b'{"answer":"a","pmids":[' + b"[" * 400_000,
        b'{"answer":"' + b'","'.join([rb"\\"] * 400_000),
    ],
    ids=["unknown keys", "documents without anything", "nested lists", "texts without an end"],
)
def test_a_body_of_many_values_is_refused_before_parsing(raw: bytes):
    began = time.process_time()
    with pytest.raises(InputError, match=r"at most 40,000 values"):
        parse_body(AnswerBody, raw)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("raw", [b'{"answer":"' + rb"\"" * 4_000_000, b'"' * 1, b'{"answer":"' + b"a,{" * 2_000_000])
def test_a_string_is_one_value_whatever_it_holds(raw: bytes):
    began = time.process_time()
    with pytest.raises(InputError, match="expected a body in JSON; found invalid JSON"):
        parse_body(AnswerBody, raw)
    assert time.process_time() - began < 2


def test_a_misspelt_field_is_looked_for_among_a_few_problems_alone():
    raw = ("{" + ",".join(f'"answ{n:07d}x":1' for n in range(30_000)) + "}").encode()
    began = time.process_time()
    with pytest.raises(InputError, match=r"as defined in /openapi\.json"):
        parse_body(AnswerBody, raw)
    assert time.process_time() - began < 1.5


def test_the_service_answers_others_while_it_reads_a_large_body(served):
    address = served(rate=10_000)
    while httpx2.get(f"{address}/readyz", timeout=60).status_code != 200:
        time.sleep(0.1)
    slowest, done = [0.0], threading.Event()

    def ask() -> None:
        while not done.is_set():
            began = time.monotonic()
            assert httpx2.get(f"{address}/healthz", timeout=60).status_code == 200
            slowest[0] = max(slowest[0], time.monotonic() - began)
            time.sleep(0.02)

    watch = threading.Thread(target=ask)
    watch.start()
    try:
        for path, raw in (("check", UNKNOWN_KEYS), ("jobs", UNKNOWN_KEYS), ("jobs", TINY_DOCUMENTS)):
            reply = httpx2.post(f"{address}/v1/{path}", content=raw, timeout=60)
            assert reply.status_code == 422 and "expected " in reply.json()["error"]["message"]
    finally:
        done.set()
        watch.join()
    assert slowest[0] < 2


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        (AnswerBody, {"answer": "a", "documents": [{"id": "d" * 501}]}, "documents.0.id"),
        (AnswerBody, {"answer": "a", "documents": [{"id": "d", "title": "t" * 5_001}]}, "documents.0.title"),
        (AnswerBody, {"answer": "a", "question": "q" * 4_001}, "question"),
        (AnswerBody, {"answer": "a" * 500_001}, "answer"),
        (AnswerBody, {"answer": "a", "pmids": ["1" * 300]}, "pmids.0"),
        (AnswerBody, {"answer": "a", "id": "i" * 600}, "id"),
        (AskBody, {"question": "q", "corpus": "c" * 300}, "corpus"),
        (AskBody, {"question": "q", "model": "m" * 300}, "model"),
    ],
)
def test_every_text_has_a_limit_and_a_name(kind: type[AnswerBody] | type[AskBody], body: object, field: str):
    with pytest.raises(InputError, match=rf"field {field}: .*at most [\d,]+ characters") as found:
        parse_body(kind, json.dumps(body).encode())
    assert len(str(found.value)) < 400


def test_the_documents_of_a_job_are_counted_before_it_is_taken():
    with pytest.raises(InputError, match=r"at most 50,000 documents in a job; found 60,000"):
        parse_job(b'{"items":[{"answer":"a","documents":[' + b",".join([b'{"id":"d"}'] * 60_000) + b"]}]}")
    with pytest.raises(InputError, match=r"at most 2 items in a job; found 3"):
        parse_job(b'{"items":[{},{},{}]}', 2)


@pytest.fixture
def service(tmp_path: Path):
    made = Service(Offer(limits=LIMITED), state_folder(tmp_path))
    yield made
    made.close()


def test_the_documents_of_a_file_are_counted(service: Service):
    lines = "\n".join(json.dumps({"id": f"d{n}", "text": "Words."}) for n in range(900)).encode()
    with pytest.raises(InputError, match=r"at most 200 documents in a file; found more in a\.jsonl"):
        service.documents_in("a.jsonl", lines)
    for field, most in (("id", 500), ("title", MAX_TITLE)):
        line = json.dumps({"id": "d", "text": "Words.", field: "x" * (most + 1)}).encode()
        with pytest.raises(InputError, match=rf"with a {field} of at most {most:,} characters"):
            service.documents_in("a.jsonl", line)


def test_unfinished_and_kept_jobs_are_limited_by_bytes(service: Service, tmp_path: Path):
    kept = jobs.Jobs(service)
    raw = json.dumps({"items": [{"answer": "It helps. " * 50}]}).encode()
    ids: list[str] = []
    with pytest.raises(Refused, match=r"at most .* unfinished jobs with 2,000 bytes in total"):
        for _ in range(10):
            ids.append(kept.add(raw))
    assert 1 <= len(ids) < 4
    for id in ids:
        (tmp_path / "jobs" / id / "results.jsonl").write_text("{}\n" + "x" * 1_500)
    kept.add(raw)
    left = {folder.name for folder in (tmp_path / "jobs").iterdir()}
    assert ids[0] not in left and len(left) < len(ids) + 1


def test_the_state_of_a_job_does_not_read_its_items(service: Service, tmp_path: Path):
    kept = jobs.Jobs(service)
    id = kept.add(b'{"items": [{"answer": "It helps."}]}')
    (tmp_path / "jobs" / id / "items.jsonl").unlink()
    assert kept.state(id)["items"] == 1


def test_work_is_estimated_and_refused_before_it_begins(service: Service):
    marks = "".join(f"[{n}]" for n in range(1, 101))
    answer = " ".join(f"Group {n} improved {marks}." for n in range(150))
    documents = tuple(SourceBody(id=f"d{n}", text="Patients of the group improved. " * 100) for n in range(100))
    body = AnswerBody(answer=answer, documents=documents)
    for call in (service.check, service.attribute, service.repair):
        began = time.process_time()
        with pytest.raises(InputError, match=r"at most 40,000 pairs .* found about 615,000.*or a job"):
            call(body)
        assert time.process_time() - began < 10
    with pytest.raises(InputError, match=r"at most 400,000 pairs"):
        service.check(body, keep=False, max_pairs=service.offer.limits.job_pairs)


def test_memory_is_returned_after_requests_and_jobs(served, monkeypatch: pytest.MonkeyPatch):
    given: list[bool] = []
    monkeypatch.setattr(memory, "_PAUSE", 0.0)
    monkeypatch.setattr(memory.MemoryTrimmer.__init__, "__defaults__", (given.append,))
    address = served()

    def expect(*collected: bool) -> None:
        end = time.monotonic() + 60
        while given != list(collected):
            assert time.monotonic() < end, given
            time.sleep(0.02)
        given.clear()

    httpx2.get(f"{address}/healthz", timeout=60)
    time.sleep(0.2)
    assert not given
    body = b'{"answer": "It helps."}'
    httpx2.post(f"{address}/v1/check", content=body, timeout=60)
    expect(False)
    httpx2.post(f"{address}/v1/check", content=body + b" " * memory.LARGE, timeout=60)
    expect(True)
    go, check = threading.Event(), Service.check
    monkeypatch.setattr(Service, "check", lambda *given, **named: go.wait(60) and check(*given, **named))
    httpx2.post(f"{address}/v1/jobs", content=b'{"items": [' + body + b"]}", timeout=60)
    expect(False)
    go.set()
    expect(False)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


needs_library = pytest.mark.skipif(memory._library() is None, reason="the C library gives nothing back")


@needs_library
def test_free_memory_is_returned():
    blocks = [bytes(100_000) for _ in range(3_000)]
    kept = blocks[::50]
    blocks.clear()
    before = resident()
    memory.trim()
    assert len(kept) == 60 and resident() < before - 100_000_000


JUDGED = """
import os, re
from vericite.models.contracts import Pair
from vericite.serve.memory import share_arenas, trim
from vericite.verify.judges.registry import load_judge

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")

share_arenas()
judge = load_judge("bundled")
list(judge.judge([Pair("It helps.", "It helps.")]))
trim()
before = resident()
texts = ["Pain fell in %d of the adults. " % n * (n % 30 + 1) for n in range(60)]
list(judge.judge([Pair(text, "Pain fell.") for text in texts]))
trim()
print(resident() - before)
"""


@needs_library
def test_a_model_keeps_no_memory_of_what_it_judged():
    # The least of two processes: what others do meanwhile moves the figure.
    command = [sys.executable, "-c", JUDGED]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True, timeout=300) for _ in range(2)]
    assert min(int(run.stdout) for run in runs) < 25_000_000
