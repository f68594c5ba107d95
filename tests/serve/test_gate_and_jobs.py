"""Tokens, addresses, and jobs that survive a kill."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import pytest

from vericite.errors import InputError
from vericite.serve import jobs
from vericite.serve.bodies import AnswerBody, CheckJobBody, parse_job
from vericite.serve.offer import Offer
from vericite.serve.run import Address
from vericite.serve.service import Service, state_folder

pytest.importorskip("fastapi", reason="needs the extra [serve]")

TOKEN = "0123456789abcdef0123"
ONE_ITEM = b'{"items": [{"answer": "It helps."}]}'


def test_other_hosts_require_a_token_or_insecure():
    with pytest.raises(InputError, match="VERICITE_TOKEN"):
        Address("0.0.0.0")
    with pytest.raises(InputError, match="16 characters"):
        Address(token="short")
    assert Address("0.0.0.0", insecure=True).warnings[0].startswith("WARNING")
    assert Address("0.0.0.0", token=TOKEN).names == frozenset()
    assert "localhost" in Address().names
    assert "a.example" in Address("0.0.0.0", token=TOKEN, hosts=frozenset({"A.example"})).names


def test_requests_without_the_token_are_refused(guarded):
    assert guarded.get("/healthz").status_code == 200
    for headers in ({}, {"authorization": "Bearer x"}, {"authorization": TOKEN}, {"cookie": "vericite_token=x"}):
        for path in ("/v1/runs", "/metrics", "/openapi.json", "/"):
            assert guarded.get(path, **headers).status_code == 401, (path, headers)
    assert guarded.get("/v1/runs", authorization=f"Bearer {TOKEN}").status_code == 200


def test_all_errors_have_the_same_format(server):
    for reply, status in (
        (server.get("/v1/ask"), 405),
        (server.get("/v1/nothing"), 404),
        (server.post("/v1/check?view=perhaps", {}), 422),
        (server.post("/v1/check", {}), 422),
        (server.post("/v1/check", {"answer": "  ", "documents": []}), 422),
        (httpx2.post(f"{server.address}/v1/check", content=b'{"answer":'), 422),
        (server.post("/v1/ask", {"question": "Does it work?", "plan": {"answer": {"rationale": True}}}), 422),
    ):
        assert reply.status_code == status
        assert "object a line" not in reply.text and "--" not in reply.text
        assert reply.json()["error"]["status"] == status and reply.json()["error"]["message"].startswith("expected ")


def test_head_requests_are_answered(server):
    reply = httpx2.head(f"{server.address}/")
    assert (reply.status_code, reply.text) == (200, "")


def test_the_latest_finished_jobs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "KEPT", 2)
    service = Service(Offer(), state_folder(tmp_path))
    kept = jobs.Jobs(service)
    done: list[str] = []
    for number in range(5):
        done.append(kept.add(ONE_ITEM))
        # One that is not done stays, however old it is.
        if number:
            (tmp_path / "jobs" / done[-1] / "results.jsonl").write_text("{}\n")
        os.utime(tmp_path / "jobs" / done[-1], (100 + number, 100 + number))
    service.close()
    assert {folder.name for folder in (tmp_path / "jobs").iterdir()} == {done[0], *done[3:]}


def test_a_finished_job_cannot_be_cancelled(tmp_path: Path):
    service = Service(Offer(), state_folder(tmp_path))
    kept = jobs.Jobs(service)
    done, waiting = (kept.add(ONE_ITEM) for _ in range(2))
    (tmp_path / "jobs" / done / "results.jsonl").write_text("{}\n")
    assert kept.cancel(done) == kept.state(done) == {
        "id": done, "items": 1, "done": 1, "cancelled": False, "finished": True, "problem": None
    }  # fmt: skip
    for _ in range(2):
        state = {"id": waiting, "items": 1, "done": 0, "cancelled": True, "finished": True, "problem": None}
        assert kept.cancel(waiting) == state
    service.close()


@pytest.mark.parametrize(
    ("kind", "item", "field"),
    [
        ("check", {"answr": "It helps."}, "items.1.answr"),
        ("check", {"question": "Does it help?"}, "items.1.answer"),
        ("check", {"answer": 7}, "items.1.answer"),
        ("ask", {"answer": "It helps."}, "items.1.question"),
        ("ask", {"question": "Does it help?", "modell": "x"}, "items.1.modell"),
        ("ask", {"question": "Does it help?", "documents": 7}, "items.1.documents"),
    ],
)
def test_an_invalid_field_of_a_job_is_reported_for_its_kind(kind: str, item: object, field: str):
    good = {"question": "Does it help?"} if kind == "ask" else {"answer": "It helps."}
    with pytest.raises(InputError) as found:
        parse_job(json.dumps({"kind": kind, "items": [good, item]}).encode())
    expected = f"expected a body of a job of kind {kind!r} as defined in /openapi.json; field {field}: expected "
    assert str(found.value).startswith(expected)


def test_the_default_kind_of_a_job_is_check():
    assert parse_job(b'{"items": [{"answer": "It helps."}]}') == CheckJobBody(items=(AnswerBody(answer="It helps."),))
    with pytest.raises(InputError, match="expected a body in JSON"):
        parse_job(b"[")
    with pytest.raises(InputError, match="field kind: expected 'check' or 'ask'"):
        parse_job(b'{"kind": "answer", "items": [{}]}')


@pytest.mark.slow  # test_failed_jobs.py takes jobs over, and makes damaged results again, in this process
def test_a_job_continues_after_a_kill_and_repeats_nothing(started):
    server = started()
    source = {"id": "d", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common."}
    items = [
        {"id": str(n), "answer": f"Zelotrine reduced pain in {n} of 80 adults [1].", "documents": [source]}
        for n in range(60)
    ]
    id = server.post("/v1/jobs", {"kind": "check", "items": items}).json()["id"]
    while not server.get(f"/v1/jobs/{id}").json()["done"]:
        time.sleep(0.02)
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(10)
    before = (server.state / "jobs" / id / "results.jsonl").read_text().splitlines()
    assert 0 < len(before) < 60
    server = started()
    for _ in range(600):
        if (state := server.get(f"/v1/jobs/{id}").json())["finished"]:
            break
        time.sleep(0.1)
    assert state["done"] == 60
    results = [json.loads(line) for line in server.get(f"/v1/jobs/{id}/results").text.splitlines()]
    assert [it["item"] for it in results] == list(range(60))
    assert all(it["value"]["verdicts"] for it in results)


def test_unreadable_jobs_do_not_disturb_the_service(served, tmp_path: Path):
    kept = tmp_path / "state" / "jobs"
    (kept / ("a" * 32)).mkdir(parents=True)
    other = kept / ("b" * 32)
    other.mkdir()
    (other / "request.json").write_text('{"kind": "of a later version"}')
    address = served()
    assert httpx2.get(f"{address}/healthz").status_code == 200
    items = [{"id": "1", "answer": "It helps [1].", "documents": [{"id": "d", "text": "It helps."}]}]
    id = httpx2.post(f"{address}/v1/jobs", json={"kind": "check", "items": items}, timeout=60).json()["id"]
    end = time.monotonic() + 60
    while not httpx2.get(f"{address}/v1/jobs/{id}", timeout=60).json()["finished"]:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("path", ["/runs/.", "/runs/..", "/runs/%2e", "/runs/%2e%2e", "/runs/7", f"/runs/{'0' * 32}"])
def test_the_page_of_an_unknown_run_is_404(served: Callable[..., str], path: str):
    address = httpx2.URL(served())
    connection = HTTPConnection(address.host, address.port, timeout=60)
    # As it is written: clients that know what a dot means ask for another path.
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def test_metrics_have_a_fixed_set_of_names_and_invalid_headers_are_refused(server):
    for number in range(20):
        assert server.get(f"/v1/made-up-{number}%22%7D%0Afoo_total%209").status_code == 404
        assert server.get(f"/runs/{number:032x}").status_code == 404
    metrics = server.get("/metrics").text
    assert "made-up" not in metrics and "foo_total" not in metrics
    assert 'path="other"' in metrics
    assert server.post("/v1/check", {}, origin="http://[").status_code == 403
    assert server.get(f"/v1/streams/{'0' * 32}", **{"last-event-id": "9" * 5000}).status_code < 500


def test_requests_without_the_token_count_towards_the_rate(served):
    address = served(token=TOKEN, rate=5)
    assert [httpx2.get(f"{address}/v1/runs").status_code for _ in range(7)] == [401] * 5 + [429] * 2


def test_the_rate_option_sets_the_limit(run_cli, monkeypatch: pytest.MonkeyPatch):
    offered = []
    monkeypatch.setattr("vericite.serve.run.run", lambda offer, *_: offered.append(offer.limits.rate))
    assert run_cli("serve", "--set", "service.rate=5").code == 0
    assert run_cli("serve").code == 0
    assert offered == [5, 600]
