"""The service over HTTP."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import httpx2
import pytest

from hostile import HOSTILE
from vericite import check
from vericite.corpus.sources.registry import SOURCES
from vericite.records import Run
from vericite.serve.bodies import Checked

SOURCE = {"id": "d1", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common.", "title": "Zelotrine"}
ANSWER = "Zelotrine reduced pain in 40 of 80 adults [1]. It rains."
BODY: dict[str, Any] = {"answer": ANSWER, "documents": [SOURCE]}


def test_ask_answers_and_stores_the_run(server):
    run = Run.model_validate_json(server.post("/v1/ask", {"question": "Does aspirin prevent heart attacks?"}).content)
    assert run.checked.summary.quoted and run.evidence
    (latest, *_) = server.get("/v1/runs").json()["runs"]
    assert Run.model_validate_json(server.get(f"/v1/runs/{latest['id']}").content) == run
    page = server.get(f"/v1/runs/{latest['id']}/report")
    assert page.headers["content-type"].startswith("text/html") and "Content-Security-Policy" in page.text


def test_check_returns_the_same_verdicts_as_the_library(server):
    found = Checked.model_validate_json(server.post("/v1/check", BODY).content)
    assert found.checked.verdicts == check(ANSWER, [SOURCE]).verdicts


def test_a_stream_has_an_event_per_step_and_ends_with_the_run(server):
    events = server.events("/v1/ask", {"question": "Does aspirin prevent heart attacks?"})
    names = [name for name, _ in events]
    assert names[-2:] == ["kept", "done"]
    assert names.index("evidence") < names.index("answer") < names.index("sentence") < names.index("verdict")
    run = Run.model_validate_json(json.dumps(events[-1][1]))
    assert len(run.checked.verdicts) == names.count("verdict")
    names = [name for name, _ in server.events("/v1/check", BODY)]
    assert names == ["answer", "sentence", "sentence", "verdict", "done"]


def test_attribute_repair_and_search(server):
    found = server.post(
        "/v1/attribute", {"answer": "Zelotrine reduced pain in 40 of 80 adults.", "documents": [SOURCE]}
    )
    assert found.json()["answer"]["text"] == "Zelotrine reduced pain in 40 of 80 adults [1]."
    assert found.json()["by"].startswith("learned.")  # as `vericite attribute` does it
    found = server.post("/v1/repair", {"answer": "Zelotrine cured baldness in all men [1].", "documents": [SOURCE]})
    assert found.json()["changes"]
    found = server.post("/v1/search", {"query": "aspirin", "k": 2}).json()
    assert len(found["evidence"]) == 2


def test_a_sentence_is_challenged_with_the_corpus_of_the_service_or_the_documents_of_the_request(server):
    found = server.post("/v1/evidence", {"answer": "Intensive insulin therapy lowers mortality in the critically ill."})
    (sentence,) = found.json()["sentences"]
    assert "NICE-SUGAR" in sentence["contradicting"][0]["title"]
    against = {"id": "d2", "text": "Zelotrine did not reduce pain in adults."}
    body = {"answer": "Zelotrine reduced pain in adults.", "documents": [SOURCE, against]}
    (sentence,) = server.post("/v1/evidence", body).json()["sentences"]
    assert [item["id"] for item in sentence["contradicting"]] == ["d2"]
    assert sentence["contradicting"][0]["passages"][0]["text"] == against["text"]
    refused = server.post("/v1/evidence", {"answer": "It works. " * 200})
    assert refused.status_code == 422 and "Send fewer" in refused.json()["error"]["message"]


def test_a_check_that_explains_names_the_source_that_supports_a_sentence(server):
    other = {"id": "d2", "text": "Rain fell in Bergen on Monday."}
    body = {"answer": "Rain fell in Bergen on Monday [1].", "documents": [SOURCE, other]}
    explained = server.post("/v1/check", {**body, "plan": {"check": {"explain": True}}}).json()
    assert explained["checked"]["verdicts"][0]["supported_by"] == [{"document": "d2", "marker": 2}]
    assert "supported_by" not in server.post("/v1/check", body).json()["checked"]["verdicts"][0]


@pytest.mark.parametrize("by", ["bm25", "dense", "hybrid"])
def test_documents_in_a_request_are_searched_by_its_plan(server, by: str):
    other = {"id": "d2", "text": "Rain fell in Bergen."}
    plan = {"search": {"by": by, "rerank": "none"}}
    found = server.post("/v1/search", {"query": "zelotrine", "documents": [SOURCE, other], "plan": plan}).json()
    (first, *_) = found["evidence"]
    assert (first["document"]["id"], first["retriever"]) == ("d1", by)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_come_back_as_texts(server, hostile: str):
    text = f"{hostile[:20_000]} [1]. Zelotrine reduced pain [1]."
    reply = server.post("/v1/check", {"answer": text, "documents": [{**SOURCE, "title": hostile[:5_000]}]})
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/ask", {"question": " "}, "found no text"),
        ("/v1/ask", {}, "question"),
        ("/v1/ask", {"question": "a", "corpus": "/etc"}, "corpus out of demo"),
        ("/v1/ask", {"question": "a", "model": "openai:gpt"}, "model out of none"),
        ("/v1/ask", {"question": "a", "plan": {"search": {"corpus": "/etc"}}}, "found 'corpus'"),
        ("/v1/ask", {"question": "a", "plan": {"answer": {"llm": "http://10.0.0.1/v1#x"}}}, "found 'llm'"),
        ("/v1/ask", {"question": "a", "plan": {"check": {"judge": "hf:/etc"}}}, "found 'judge'"),
        ("/v1/ask", {"question": "a", "plan": {"search": {"rerank": "hf:x"}}}, "plan.search.rerank"),
        ("/v1/ask", {"question": "a", "plan": {"search": {"k": 51}}}, "plan.search.k to be at most 50"),
        ("/v1/ask", {"question": "a", "plan": {"answer": {"contexts": [1, 51]}}}, "plan.answer.contexts to be at most"),
        ("/v1/repair", {**BODY, "plan": {"repair": {"rounds": 11}}}, "plan.repair.rounds to be at most 10"),
        ("/v1/ask", {"question": "a", "plan": {"check": {"protocol": "nonsense"}}}, "protocol"),
        ("/v1/search", {"query": "a", "documents": [SOURCE], "plan": {"search": {"by": "rrf-4"}}}, "plan.search.by"),
        (
            "/v1/search",
            {"query": "a", "plan": {"search": {"designs": ["guess"]}}},
            "search.designs out of animal study",
        ),
        ("/v1/check", {"answer": "A [1].", "documents": [SOURCE] * 2}, "different ids"),
        ("/v1/check", {"answer": "A [1].", "documents": [{**SOURCE, "id": str(n)} for n in range(201)]}, "at most 200"),
        ("/v1/check", {"answer": "A rat ran [1]. " * 300, "documents": [SOURCE]}, "200 sentences"),
        ("/v1/check", {"answer": "A [1].", "pmids": ["1"]}, "does not use PubMed"),
        ("/v1/check", [], "body"),
    ],
)
def test_an_invalid_request_is_refused_with_the_reason(server, path: str, body: Any, told: str):
    reply = server.post(path, body)
    assert reply.status_code == 422, reply.text
    assert told in reply.json()["error"]["message"]
    assert "Traceback" not in reply.text and "/src/" not in reply.text


def test_uploaded_file_names_are_not_used_as_paths(server):
    send = lambda name, content: httpx2.post(  # noqa: E731
        f"{server.address}/v1/documents", params={"name": name}, content=content, timeout=60
    )
    found = send("../../etc/paper.txt", b"Zelotrine\n\nIt reduced pain.").json()
    assert [(it["id"], it["title"]) for it in found["documents"]] == [("paper", "Zelotrine")]
    refused = send("a.pdf", b"%PDF-1.7 nonsense")
    assert refused.status_code in (422, 501) and "/tmp" not in refused.text
    assert send("a.xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><article>&b;</article>").status_code == 422
    assert send("x", b"\x00\x01").status_code == 422


def test_invalid_ids_are_refused(server):
    for id in ("x", "0" * 32, "..%2f..%2fetc%2fpasswd", "a" * 5000):
        assert server.get(f"/v1/runs/{id}").status_code == 404
        assert server.get(f"/v1/jobs/{id}").status_code == 404


def test_health_and_metrics(server):
    assert server.get("/healthz").json()["status"] == "ok"
    assert "vericite_pairs_judged_total" in server.get("/metrics").text
    assert server.get("/docs").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("ask", {"quesion": "Does zinc help?"}, "field quesion: expected only .* perhaps for 'question'"),
        ("ask", {"question": "Does zinc help?", "modell": "x"}, "field modell: .* perhaps for 'model'"),
        ("check", {**BODY, "documents": [{"id": "d", "txt": "x"}]}, "field documents.0.txt: .* perhaps for 'text'"),
        ("check", {**BODY, "plan": {"chek": {}}}, "field plan.chek: .* perhaps for 'check'"),
        ("check", {**BODY, "plan": {"check": {"protcol": "fast"}}}, "plan.check .*'protcol'"),
        ("search", {"query": "zinc", "colour": 3}, "field colour: .* an unknown one$"),
    ],
)
def test_a_misspelt_field_is_reported_with_a_suggestion(server, path: str, body: dict[str, Any], told: str):
    reply = server.post(f"/v1/{path}", body)
    assert reply.status_code == 422 and re.search(told, reply.json()["error"]["message"])


def raw(server, text: bytes, wait: float = 5) -> bytes:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(text)
        try:
            return connection.recv(65_536)
        except TimeoutError:
            return b""


def test_other_hosts_and_other_sites_are_refused(server):
    assert server.get("/v1/runs", host="evil.example").status_code == 421
    assert server.post("/v1/check", BODY, origin="https://evil.example").status_code == 403
    assert server.post("/v1/check", BODY, **{"sec-fetch-site": "cross-site"}).status_code == 403
    assert server.post("/v1/check", BODY, origin=server.address).status_code == 200
    reply = httpx2.request("OPTIONS", f"{server.address}/v1/check", headers={"origin": server.address})
    assert "access-control-allow-origin" not in reply.headers


def test_too_long_bodies_are_not_read(server):
    head = b"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\n"
    assert b" 413 " in raw(server, head)

    def endless():
        for _ in range(40):
            yield b" " * 1_000_000

    try:
        assert httpx2.post(f"{server.address}/v1/check", content=endless(), timeout=30).status_code == 413
    except httpx2.TransportError:
        pass  # the server hung up while the rest was being sent
    assert server.get("/healthz").status_code == 200


def test_work_stops_when_the_client_disconnects(server):
    before = server.judged
    # Of sentences that differ, each against several documents: a minute of work.
    words = [f"Group {n} of the patients improved more than group {n + 1} did" for n in range(150)]
    marks = "".join(f"[{n}]" for n in range(1, 11))
    body = {
        "answer": " ".join(f"{word} {marks}." for word in words),
        "documents": [{"id": str(n), "text": " ".join(f"{w} in trial {n}." for w in words[:20])} for n in range(10)],
    }
    with pytest.raises(httpx2.TimeoutException):
        httpx2.post(f"{server.address}/v1/check", json=body, timeout=1)
    assert server.judged_in_the_end() - before < 10_000, "it was not worked for to its end"
    assert server.post("/v1/check", BODY).status_code == 200


def test_the_page_offers_files_of_every_form_of_documents(server):
    offered = re.search(r'accept="([^"]*)"', server.get("/").text)
    assert offered
    for name, form in SOURCES.items():
        assert form.suffixes and set(form.suffixes) <= set(offered[1].split(",")), name
