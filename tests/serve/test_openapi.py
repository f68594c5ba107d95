"""``/openapi.json``: each reply of the service has a form that it states."""

from __future__ import annotations

import itertools
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from described import ITEM, Description, events_in

from vericite.disk.files import NotWritten
from vericite.errors import LLMError, MissingExtraError
from vericite.serve import gate
from vericite.serve.engine import check_stopped
from vericite.serve.service import Service

SOURCE = {"id": "d1", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common.", "title": "Zelotrine"}
BODY: dict[str, Any] = {"answer": "Zelotrine reduced pain in 40 of 80 adults [1]. It rains.", "documents": [SOURCE]}
ASK = {"question": "Does zelotrine reduce pain?", "documents": [SOURCE]}
STREAM = {"accept": "text/event-stream"}


def test_the_document_is_valid(guarded):
    """That of a service with a token has all parts that others have."""
    validator = pytest.importorskip("openapi_spec_validator", reason="make setup installs openapi-spec-validator")
    validator.validate(guarded.description.document)


def test_operations_have_names_and_types(server):
    document = server.description.document
    operations = [entry for path in document["paths"].values() for entry in path.values()]
    names = [entry["operationId"] for entry in operations]
    assert len(set(names)) == len(names) and all(re.fullmatch("[a-z]+(_[a-z]+)*", name) for name in names)
    assert all(entry["tags"] and entry["description"] for entry in operations)
    text = json.dumps(document)
    assert not [made for made in ('"schema": {}', "HTTPValidationError", "$defs", "x-replies") if made in text]
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    # Events and lines are referred to as well, so that generators of clients make types of them.
    assert referred == document["components"]["schemas"].keys()
    for entry in operations:
        statuses = entry["responses"].keys()
        assert min(statuses) < "300" and {"400", "421", "500"} <= statuses and "default" not in statuses
        for reply in entry["responses"].values():
            for content in server.description.resolve(reply).get("content", {}).values():
                schema = content["schema"]
                assert "$ref" in schema or "anyOf" in schema or schema["type"] == "string"


def test_only_a_service_with_a_token_asks_for_one(server, guarded):
    assert "security" not in server.description.document
    document = guarded.description.document
    assert document["security"] == [{"token": []}]
    assert document["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert document["paths"]["/healthz"]["get"]["security"] == []
    guarded.get("/healthz")
    assert guarded.get("/v1/runs").status_code == 401
    assert guarded.get("/v1/runs", accept="text/html").headers["content-type"].startswith("text/html")


def test_every_successful_reply_is_as_described(server):
    """``Served`` compares each reply with the document."""
    run = server.post("/v1/check", BODY).json()["run"]
    other = {**BODY, "answer": "Zelotrine increased pain in 40 of 80 men [1]."}
    repaired = server.post("/v1/repair", other).json()["run"]
    asked = server.post("/v1/ask", ASK)
    pasted = {"answer": "It helps [most](https://a.example/x) (PMID: 1).", "sources": ["demo"]}
    assert [source["name"] for source in server.post("/v1/pasted", pasted).json()["sources"]] == [
        "https://a.example/x",
        "PMID 1",
    ]
    assert server.post("/v1/pasted", {"answer": "x", "sources": ["../etc"]}).status_code == 422
    file = ("draft.md", b"# A\n\nA rat ran [@rat].")
    manuscript = server.request("POST", "/v1/manuscripts", files={"file": file}).json()["run"]
    job = server.post("/v1/jobs", {"items": [BODY, {**BODY, "documents": [SOURCE] * 2}]}).json()["id"]
    asking = server.post("/v1/jobs", {"kind": "ask", "items": [ASK]}).json()["id"]
    stream = server.post("/v1/check", BODY, prefer="respond-async").json()["stream"]
    for id in (job, asking):
        while not server.get(f"/v1/jobs/{id}").json()["finished"]:
            time.sleep(0.05)
    assert [
        json.loads(line)["problem"] is None for line in server.get(f"/v1/jobs/{job}/results").text.splitlines()
    ] == [
        True,
        False,
    ]
    for method, path, status in (
        ("POST", f"/v1/runs/{run}/repair", 200),
        ("GET", "/v1/runs", 200),
        ("GET", f"/v1/runs/{run}", 200),
        ("GET", f"/v1/runs/{repaired}", 200),
        ("GET", f"/v1/runs/{server.get('/v1/runs').json()['runs'][0]['id']}", 200),
        ("GET", f"/v1/runs/{run}/report", 200),
        ("GET", f"/v1/runs/{run}/table", 200),
        ("GET", f"/v1/runs/{run}/document", 200),
        ("GET", f"/v1/runs/{run}/document?form=md", 200),
        ("GET", f"/v1/runs/{repaired}/document?form=md", 200),
        ("GET", f"/v1/runs/{run}/document?form=exe", 422),
        ("GET", f"/v1/runs/{manuscript}/document", 422),
        ("GET", f"/v1/runs/{run}/copy", 404),
        ("GET", f"/v1/runs/{manuscript}", 200),
        ("GET", f"/v1/runs/{manuscript}/copy", 200),
        ("DELETE", f"/v1/runs/{run}", 204),
        ("DELETE", f"/v1/runs/{run}", 404),
        ("GET", f"/v1/jobs/{asking}/results", 200),
        ("DELETE", f"/v1/jobs/{job}", 202),
        ("GET", f"/v1/streams/{stream}", 200),
        ("DELETE", f"/v1/streams/{stream}", 202),
        ("DELETE", "/v1/streams/none", 404),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("GET", "/metrics", 200),
    ):
        assert server.request(method, path).status_code == status, (method, path)
    assert server.request("POST", "/v1/documents?name=a.txt", content=b"A rat ran.").status_code == 200
    for path, body in (
        ("attribute", BODY),
        ("search", {"query": "rat", "documents": [SOURCE]}),
        ("evidence", {"answer": "A rat ran.", "documents": [SOURCE]}),
    ):
        assert server.post(f"/v1/{path}", body).status_code == 200
    assert asked.status_code == 200


def test_every_event_is_as_described(server):
    names = lambda reply: [event["event"] for event in events_in(reply.text)]  # noqa: E731
    asked = names(server.post("/v1/ask", ASK, **STREAM))
    assert asked[-1] == "done" and {"stage", "evidence", "answer", "sentence", "verdict", "kept"} <= {*asked}
    wrong = {**ASK, "plan": {"repair": {"enabled": True}, "answer": {"answerer": "extractive"}}}
    assert names(server.post("/v1/ask", wrong, **STREAM))[-1] in ("done", "error")
    assert names(server.post("/v1/check", BODY, **STREAM)) == ["answer", "sentence", "sentence", "verdict", "done"]
    assert names(server.post("/v1/check", {**BODY, "pmids": ["1"], "documents": []}, **STREAM)) == ["error"]
    assert names(server.post("/v1/repair", BODY, **STREAM)) == ["done"]
    files = {"file": ("draft.md", b"# A\n\nZelotrine reduced pain [@a].")}
    files |= {
        "bibliography": ("a.bib", b"@article{a, title={Zelotrine}}"),
        "documents": ("a.txt", b"Zelotrine\n\nPain fell."),
    }
    read = names(server.request("POST", "/v1/manuscripts", files=files, headers=STREAM))
    assert read[-1] == "done" and {"stage", "progress"} <= {*read}


GARBAGE = [b"", b"[]", b'{"answer": 1}', b'{"kind": "ask", "items": [{}]}', b"\xff\xfe"]


def test_replies_to_garbage_are_as_described(server):
    statuses: set[int] = set()
    kinds = itertools.cycle([{}, STREAM, {"prefer": "respond-async", "content-type": "multipart/form-data; a"}])
    with httpx2.Client(base_url=server.address, timeout=60) as client:
        for path, operations in server.description.document["paths"].items():
            place = path.replace("{id}", "..%2f%00")
            for method in operations:
                for content in GARBAGE if method == "post" else [b""]:
                    headers = {**next(kinds), "last-event-id": "x", "authorization": b"Basic \xe9"}
                    reply = client.request(method, f"{place}?view=2&name=%00", content=content, headers=headers)
                    server.description.expect(method, place, reply.status_code, reply.headers, reply.content)
                    statuses.add(reply.status_code)
    assert {404, 422} <= statuses <= {200, 202, 404, 422}


def test_a_reply_that_is_not_described_is_noticed(server):
    check = server.description
    reply = server.post("/v1/check", BODY)
    changed = {**reply.json(), "more": 1}
    with pytest.raises(Exception, match="more"):
        check.expect("POST", "/v1/check", 200, reply.headers, json.dumps(changed).encode())
    with pytest.raises(AssertionError, match="418"):
        check.expect("POST", "/v1/check", 418, reply.headers, b"{}")
    event = b'id: 1\nevent: answer\ndata: {"sentences": "two"}\n\n'
    with pytest.raises(Exception, match="two"):
        check.expect("POST", "/v1/check", 200, {"content-type": "text/event-stream"}, event)
    forms = server.description.document["paths"]["/v1/check"]["post"]["responses"]["200"]["content"]
    assert len(forms["text/event-stream"][ITEM]["oneOf"]) == 5


def raw(address: str, head: str, wait: float = 10) -> httpx2.Response:
    """Send the text of a request as it stands, and return the reply."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode())
        text = b""
        while part := connection.recv(65_536):
            text += part
    first, _, body = text.partition(b"\r\n\r\n")
    status, *lines = first.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return httpx2.Response(int(status.split()[1]), headers=headers, content=body)


SLOW = "POST /v1/check HTTP/1.1\nHost: a\nContent-Length: 40\n\n" + "x" * 30


def test_errors_of_the_gate_are_as_described(served, monkeypatch: pytest.MonkeyPatch):
    address = served(body=50, body_seconds=0.3, rate=30)
    described = Description(httpx2.get(f"{address}/openapi.json").json())

    def expect(reply: httpx2.Response, status: int, method: str = "POST", path: str = "/v1/check") -> None:
        assert reply.status_code == status, reply.text
        assert reply.json()["error"]["status"] == status
        described.expect(method, path, status, reply.headers, reply.content)

    both = "POST /v1/check HTTP/1.1\nHost: a\nContent-Length: 2\nTransfer-Encoding: chunked\n\n0\n\n"
    expect(raw(address, both), 400)
    expect(raw(address, SLOW), 408)
    expect(httpx2.post(f"{address}/v1/check", content=b"x" * 51), 413)
    expect(httpx2.post(f"{address}/v1/check", json=BODY, headers={"origin": "https://evil.example"}), 403)
    monkeypatch.setattr(gate, "_MAX_ARRIVING_BYTES", 0)
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda _: raw(address, SLOW), range(2)))
    expect(next(reply for reply in replies if reply.status_code == 503), 503)
    while (last := httpx2.get(f"{address}/v1/runs")).status_code == 200:
        pass
    expect(last, 429, "GET", "/v1/runs")


FAILURES: dict[int, BaseException] = {
    500: RuntimeError("out of order"),
    501: MissingExtraError("pypdfium2", "documents"),
    502: LLMError("no reply"),
    507: NotWritten("full", OSError()),
}


def test_errors_of_calculations_are_as_described(served, monkeypatch: pytest.MonkeyPatch):
    address = served(running=1, waiting=1, seconds=1.5)
    described = Description(httpx2.get(f"{address}/openapi.json").json())
    while httpx2.get(f"{address}/readyz").status_code != 200:
        time.sleep(0.05)

    def reply(status: int) -> httpx2.Response:
        found = httpx2.post(f"{address}/v1/search", json={"query": "a"}, timeout=30)
        assert found.status_code == status, found.text
        described.expect("POST", "/v1/search", status, found.headers, found.content)
        return found

    def slow(*_: Any) -> None:
        while True:
            check_stopped()
            time.sleep(0.01)

    for status, error in FAILURES.items():

        def fail(*_: Any, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(Service, "search", fail)
        assert "out of order" not in reply(status).text
        events = httpx2.post(f"{address}/v1/search", json={"query": "a"}, headers=STREAM, timeout=30)
        described.expect("POST", "/v1/search", 200, events.headers, events.content)
        assert json.loads(events_in(events.text)[-1]["data"])["status"] == status
    monkeypatch.setattr(Service, "search", slow)
    with ThreadPoolExecutor(3) as pool:
        sent = [pool.submit(httpx2.post, f"{address}/v1/search", json={"query": "a"}, timeout=30) for _ in range(3)]
        replies = [future.result() for future in sent]
    assert sorted(found.status_code for found in replies) == [429, 504, 504]
    for found in replies:
        described.expect("POST", "/v1/search", found.status_code, found.headers, found.content)


def test_it_states_what_a_request_may_set(server):
    sections = server.description.document["components"]["schemas"]["PlanBody"]["properties"]
    k, contexts = sections["search"]["properties"]["k"], sections["answer"]["properties"]["contexts"]
    assert k["anyOf"][0]["maximum"] == 50 and contexts["items"]["maximum"] == 50
    assert sections["search"]["properties"]["by"]["enum"] == [None, "bm25", "dense", "hybrid", "late"]
    assert "llm" not in sections["answer"]["properties"] and "judge" not in sections["check"]["properties"]
