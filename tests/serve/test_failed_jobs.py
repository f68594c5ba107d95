"""Jobs that cannot continue report why, and continue as soon as they can."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytest.importorskip("fastapi", reason="needs the extra [serve]")

from vericite.disk import files
from vericite.disk.jobs import Lines
from vericite.serve import jobs
from vericite.serve.offer import Offer
from vericite.serve.service import Service, state_folder

RAW = json.dumps({
    "items": [
        {"answer": f"It helps {n} [1].", "documents": [{"id": "d", "text": f"It helps {n}."}]} for n in range(3)
    ]
}).encode()  # fmt: skip


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(Offer(), state_folder(tmp_path))
    yield made
    made.close()


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.1)


def finished(kept: jobs.Jobs, id: str) -> dict[str, Any]:
    end = time.monotonic() + 60
    while not (state := kept.state(id))["finished"]:
        assert time.monotonic() < end, state
        time.sleep(0.02)
    return state


def flip(path: Path, at: int, value: int = 0xFF) -> None:
    content = bytearray(path.read_bytes())
    content[at] = value
    path.write_bytes(content)


@pytest.mark.parametrize("place", ["first", "newline"])
def test_damaged_results_are_made_again(service: Service, tmp_path: Path, short_wait: None, place: str):
    kept = jobs.Jobs(service)
    id = kept.add(RAW)
    kept._run_job(id)
    path = tmp_path / "jobs" / id / "results.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 3
    path.write_bytes(b"".join(lines[:2]))
    flip(path, 0 if place == "first" else len(lines[0]) - 1)
    kept.start()
    try:
        assert finished(kept, id)["problem"] is None
    finally:
        kept.close()
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())


def run_damaged(
    service: Service, tmp_path: Path, name: str, old: bytes, new: bytes
) -> tuple[dict[str, Any], list[Any]]:
    """A job of which a file was changed between its being taken and its being run."""
    kept = jobs.Jobs(service)
    id = kept.add(RAW)
    path = tmp_path / "jobs" / id / name
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    kept._run_job(id)
    return kept.state(id), [json.loads(line) for line in kept.results(id)]


@pytest.mark.parametrize(
    ("old", "new", "damaged"),
    [(b"It helps 1.", b"It helps 9.", {1}), (b"}\n", b"} ", {0, 1})],
    ids=["a changed word", "a changed line end"],
)
def test_a_damaged_item_is_not_judged(service: Service, tmp_path: Path, old: bytes, new: bytes, damaged: set[int]):
    """A changed number in the items was judged as if it had been sent, and nothing said so."""
    state, results = run_damaged(service, tmp_path, "items.jsonl", old, new)
    assert state["finished"] and state["done"] == 3
    assert {result["item"] for result in results if result["problem"]} == damaged
    for result in results:
        if result["item"] in damaged:
            assert "found it lost or damaged" in result["problem"]
        else:
            assert f"helps {result['item']}" in json.dumps(result["value"])


@pytest.mark.parametrize(("old", "new"), [(b'"items":3', b'"items":2'), (b"kind", b"kinc"), (b'"check"', b'"ask"')])
def test_a_job_with_a_damaged_head_says_so(service: Service, tmp_path: Path, old: bytes, new: bytes):
    """With one byte changed, the third item was lost in silence, or the job had never been."""
    state, _ = run_damaged(service, tmp_path, "job.json", old, new)
    assert state["finished"] and "found it damaged" in (state["problem"] or "")


def test_a_damaged_run_is_refused(tmp_path: Path):
    from vericite import check
    from vericite.records import Document
    from vericite.serve.bodies import Checked
    from vericite.serve.run_store import DamagedRun, RunStore
    from vericite.text.citations import parse_answer

    answer = parse_answer("a", "It helps 10 [1].", [Document.from_text("d", "It helps 10.")])
    store = RunStore(tmp_path)
    id = store.keep(Checked(answer=answer, checked=check(answer, judge="lexical"), run=""))
    assert store.get(id)
    path = tmp_path / f"{id}.json"
    path.write_bytes(path.read_bytes().replace(b"helps 10", b"helps 90"))
    with pytest.raises(DamagedRun, match="found it damaged"):
        store.get(id)


def test_a_damaged_result_is_reported_in_its_place(served, tmp_path: Path):
    address = served()
    id = httpx2.post(f"{address}/v1/jobs", content=RAW, timeout=60).json()["id"]
    while not httpx2.get(f"{address}/v1/jobs/{id}", timeout=60).json()["finished"]:
        time.sleep(0.05)
    flip(tmp_path / "state" / "jobs" / id / "results.jsonl", 5)
    reply = httpx2.get(f"{address}/v1/jobs/{id}/results", timeout=60)
    found = [json.loads(line) for line in reply.text.splitlines()]
    assert reply.status_code == 200 and [one["item"] for one in found] == [0, 1, 2]
    assert "damaged" in found[0]["problem"] and found[1]["problem"] is None


def test_a_result_with_one_changed_letter_is_damaged(service: Service, tmp_path: Path, short_wait: None):
    """It is still the JSON of a result: only its digest tells."""
    kept = jobs.Jobs(service)
    id = kept.add(RAW)
    kept._run_job(id)
    path = tmp_path / "jobs" / id / "results.jsonl"
    whole = path.read_bytes()
    assert b"helps 1" in whole
    path.write_bytes(whole.replace(b"helps 1", b"harms 1"))
    found = [json.loads(line) for line in kept.results(id)]
    assert [one["item"] for one in found] == [0, 1, 2]
    assert "damaged" in found[1]["problem"] and found[0]["value"] and found[2]["value"]
    path.write_bytes(path.read_bytes()[: whole.rfind(b"\n", 0, -1) + 1])
    kept._run_job(id)
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())
    assert all(json.loads(line)["value"] for line in kept.results(id))


def test_a_failed_job_reports_its_problem(service: Service, monkeypatch: pytest.MonkeyPatch):
    kept = jobs.Jobs(service)
    id = kept.add(RAW)
    monkeypatch.setattr(jobs.Jobs, "_results", lambda *_: 1 / 0)
    kept._run_job(id)
    assert kept.state(id) | {"id": ""} == {
        "id": "", "items": 3, "done": 0, "cancelled": False, "finished": True,
        "problem": "the service failed at this job; its log says why",
    }  # fmt: skip


class FullDisk:
    """A disk without room, which a test may empty."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = True
        sync = os.fsync

        def fsync(descriptor: int) -> None:
            if self.is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            sync(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)


def test_a_job_continues_when_the_disk_has_space_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, short_wait: None
):
    kept = jobs.Jobs(service)
    id = kept.add(RAW)
    disk = FullDisk(monkeypatch)
    kept.start()
    try:
        end = time.monotonic() + 60
        while not (state := kept.state(id))["problem"]:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert not state["finished"] and "free space" in state["problem"] and state["done"] == 0
        disk.is_full = False
        assert finished(kept, id) | {"id": ""} == {
            "id": "", "items": 3, "done": 3, "cancelled": False, "finished": True, "problem": None
        }  # fmt: skip
    finally:
        kept.close()


def test_a_full_disk_is_507_and_names_no_path(served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    address = served()
    disk = FullDisk(monkeypatch)
    try:
        for path, raw in (("jobs", RAW), ("check", b'{"answer": "It helps."}'), ("documents?name=a.txt", b"Words.")):
            reply = httpx2.post(f"{address}/v1/{path}", content=raw, timeout=60)
            assert (reply.status_code, reply.json()["error"]["status"]) == (507, 507), reply.text
            assert "/" not in reply.json()["error"]["message"] and "No space" not in reply.text
    finally:
        disk.is_full = False
    state = tmp_path / "state"
    assert not [*(state / "jobs").iterdir()] and not [*(state / "runs").iterdir()]


def test_a_line_that_does_not_fit_the_disk_leaves_no_partial_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lines = Lines(tmp_path / "lines.jsonl", jobs.Result)
    lines.append([jobs.Result(item=0)])
    before = lines.path.read_bytes()
    FullDisk(monkeypatch)
    with pytest.raises(files.NotWritten) as found:
        lines.append([jobs.Result(item=1)])
    assert found.value.is_full and lines.path.read_bytes() == before


def test_jobs_of_a_killed_service_are_taken_over(service: Service, tmp_path: Path, short_wait: None):
    first, second = jobs.Jobs(service), jobs.Jobs(service)
    id = first.add(RAW)
    folder = tmp_path / "jobs" / id
    try:
        # Another server is at work on the job; the system lets go of its lock when it is killed.
        with files.only_one(folder, ".lock", "works in"):
            second.start()
            time.sleep(0.3)
            assert second.state(id)["done"] == 0
        assert finished(second, id)["done"] == 3
    finally:
        second.close()


def test_a_failure_is_answered_once(served, monkeypatch: pytest.MonkeyPatch):
    address = served()
    monkeypatch.setattr(jobs.Jobs, "state", lambda *_: 1 / 0)
    reply = httpx2.get(f"{address}/v1/jobs/{'0' * 32}")
    assert reply.json() == {"error": {"status": 500, "message": "the service failed; its log says why"}}


def test_an_origin_without_a_host_is_refused(served):
    address = served()
    for origin in ("https://", "null", "", "http:"):
        reply = httpx2.post(f"{address}/v1/check", json={}, headers={"origin": origin, "host": ""})
        assert reply.status_code in (400, 403), origin


def test_bad_lines_of_the_service_s_corpus_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """They were left out without a word."""
    from vericite.pipeline.plan import Plan, SearchPlan

    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "a", "text": "Zinc helps colds."}\n{oops\n')
    made = Service(Offer(), state_folder(tmp_path))
    try:
        made.pipeline(Plan(search=SearchPlan(corpus=str(corpus), by="bm25", rerank="none")))
    finally:
        made.close()
    assert "line 2" in caplog.text
