"""Manuscripts over HTTP: the same value as ``check_document``, the copy and the table, and files made to do harm."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from manuscript_files import docx, paragraph, run
from pdf_files import Page, encrypted, pdf
from vericite.errors import InputError
from vericite.pipeline.manuscript import ManuscriptCheck, check_document
from vericite.pipeline.plan import Plan
from vericite.serve.bodies import CheckedManuscript, ManuscriptBody, UploadedFile
from vericite.serve.forms import MAX_PARTS, parse_form
from vericite.serve.offer import Offer
from vericite.serve.service import Service, state_folder
from vericite.serve.uploads import safe_name

EXAMPLE = Path(__file__).parents[2] / "examples/manuscript"
SOURCES = ("documents", ("sources.jsonl", (EXAMPLE / "sources.jsonl").read_bytes()))


def send(server: Any, name: str, content: bytes, *others: tuple[str, Any], **headers: str) -> httpx2.Response:
    files = [("file", (name, content)), *(part for part in others if isinstance(part[1], tuple))]
    data: dict[str, Any] = {}
    for key, value in (part for part in others if isinstance(part[1], str)):
        data.setdefault(key, []).append(value)
    return httpx2.post(f"{server.address}/v1/manuscripts", files=files, data=data, headers=headers, timeout=60)


def problem(reply: httpx2.Response) -> str:
    return reply.json()["error"]["message"]


def test_a_word_document_gives_what_check_document_gives_with_a_copy_and_a_table(server):
    reply = send(server, "draft.docx", (EXAMPLE / "draft.docx").read_bytes(), SOURCES)
    assert reply.status_code == 200, reply.text
    made = CheckedManuscript.model_validate_json(reply.content)
    plan = Plan().changed({"llm": {"cache": False}})
    own = check_document(EXAMPLE / "draft.docx", EXAMPLE / "sources.jsonl", plan=plan)
    assert made.findings.summary == own.summary
    assert [(item.text, item.outcome, item.keys) for item in made.check.sentences] == [
        (item.text, item.outcome, item.keys) for item in own.sentences
    ]
    assert [found.problems for found in made.check.references if found.document] == [
        found.problems for found in own.references if found.document
    ]
    assert [item.outcome for item in made.findings.to_review] == ["contradicted", "not found", "partly supported"]
    assert made.findings.to_review[0].source_sentence == "Corvadil reduced the number of night-time coughs by half."
    stored = server.get(f"/v1/runs/{made.run}")
    assert CheckedManuscript.model_validate_json(stored.content) == made
    copied = server.get(f"/v1/runs/{made.run}/copy")
    assert copied.headers["content-disposition"].endswith('.docx"')
    with zipfile.ZipFile(io.BytesIO(copied.content)) as archive:
        assert b"Contradicted by its source" in archive.read("word/comments.xml")
    table = server.get(f"/v1/runs/{made.run}/table")
    assert table.headers["content-type"].startswith("text/csv")
    assert len(table.text.splitlines()) == 1 + len(own.sentences)
    entry = next(item for item in server.get("/v1/runs").json()["runs"] if item["id"] == made.run)
    assert entry["kind"] == "manuscript" and entry["title"] == own.manuscript.title
    refused = server.post(f"/v1/runs/{made.run}/repair", {})
    assert refused.status_code == 422 and "not repaired" in problem(refused)
    assert httpx2.delete(f"{server.address}/v1/runs/{made.run}").status_code == 204
    assert server.get(f"/v1/runs/{made.run}/copy").status_code == 404


def test_markdown_with_its_bibliography_sends_its_progress_as_events(server):
    files = [
        ("file", ("draft.md", (EXAMPLE / "draft.md").read_bytes())),
        ("bibliography", ("library.bib", (EXAMPLE / "library.bib").read_bytes())),
        SOURCES,
    ]
    headers = {"accept": "text/event-stream"}
    with httpx2.stream("POST", f"{server.address}/v1/manuscripts", files=files, headers=headers, timeout=60) as reply:
        lines = list(reply.iter_lines())
    names = [line[7:] for line in lines if line.startswith("event: ")]
    assert names[:2] == ["stage", "stage"] and names[-1] == "done" and "progress" in names
    told = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert {"what": "references", "done": 5, "total": 5} in told
    assert told[-1]["findings"]["references"][0]["key"] == "abernathy2019"
    assert told[-1]["copy_suffix"] == ".md"
    copied = server.get(f"/v1/runs/{told[-1]['run']}/copy").text
    assert "[^v1]: Not found in its source (p 0." in copied


def test_a_pdf_is_read(server):
    pytest.importorskip("pypdfium2", reason="needs the extra [documents]")
    page = Page()
    page.at(60, 780, "Introduction", 14, "B")
    page.flow(60, 760, 450, "Corvadil increased the number of night-time coughs in children with asthma [1].")
    page.at(60, 300, "References", 14, "B")
    page.flow(
        60, 280, 450, "1. Petrov I. Corvadil for night-time cough in children with asthma. Ann Invent Med. 2018;31:5-9."
    )
    reply = send(server, "draft.pdf", pdf([page]), SOURCES)
    assert reply.status_code == 200, reply.text
    (sentence,) = reply.json()["findings"]["sentences"]
    assert (sentence["page"], sentence["outcome"]) == (1, "contradicted")
    copied = server.get(f"/v1/runs/{reply.json()['run']}/copy")
    assert copied.headers["content-disposition"].endswith('.pdf"')
    assert copied.content.startswith(b"%PDF-") and b"/Highlight" in copied.content


def test_nothing_is_looked_up_that_was_not_named(server):
    reply = send(server, "draft.docx", (EXAMPLE / "draft.docx").read_bytes()).json()
    assert {item["outcome"] for item in reply["findings"]["sentences"]} == {"source not at hand"}
    assert any("No source was named" in note for note in reply["findings"]["notes"])
    for name in ("pubmed", "/etc", "../store", str(EXAMPLE)):
        refused = send(server, "draft.docx", (EXAMPLE / "draft.docx").read_bytes(), ("sources", name))
        assert refused.status_code == 422 and "demo" in problem(refused), name


def test_a_source_of_the_operator_is_asked_only_if_the_request_names_it(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    service = Service(
        Offer(sources={"crossref": "crossref", "mine": str(EXAMPLE / "sources.jsonl")}), state_folder(tmp_path)
    )
    file = UploadedFile(name="draft.docx", content=(EXAMPLE / "draft.docx").read_bytes())
    asked = service.manuscripts.check(ManuscriptBody(file=file, sources=("crossref",)))
    assert "Could not be asked for 5 references: crossref (offline)" in asked.findings.summary
    local = service.manuscripts.check(ManuscriptBody(file=file, sources=("mine",)))
    assert "Could not be asked" not in local.findings.summary
    assert {found.source for found in local.check.references} == {"mine", None}, "a name, not a path"
    service.close()


def test_a_source_without_a_readable_file_is_an_error_without_its_place(tmp_path: Path, caplog):
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    service = Service(Offer(sources={"papers": str(folder)}), state_folder(tmp_path / "state"))
    file = UploadedFile(name="draft.docx", content=(EXAMPLE / "draft.docx").read_bytes())
    with pytest.raises(InputError, match=r"'papers'.*found none") as refused:
        service.manuscripts.check(ManuscriptBody(file=file, sources=("papers",)))
    assert str(tmp_path) not in str(refused.value) and "picture.png" in caplog.text
    service.close()


def bomb() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b" " * ((1 << 26) + 5))
    return held.getvalue()


DRAFT = docx(paragraph(run("Zelotrine lowered blood pressure [1].")) + paragraph(run("References")))
HARMFUL: dict[str, tuple[Callable[[], bytes], str]] = {
    "a PDF.docx": (lambda: b"\x7fELF" + b"\0" * 500, "expected a manuscript"),
    "bomb.docx": (bomb, "bytes of text"),
    "locked.pdf": (lambda: encrypted(b"secret"), "without a password"),
    "cut off.docx": (lambda: DRAFT[:-40], "cannot be unpacked"),
    "empty.docx": (lambda: b"", "which is empty"),
    "includes.tex": (lambda: b"\\documentclass{article}\\begin{document}\\input{/etc/passwd}\\cite{a}", ""),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_a_file_made_to_do_harm_costs_one_request(server, name: str):
    make, said = HARMFUL[name]
    reply = send(server, name, make())
    assert reply.status_code == (422 if said else 200), reply.text
    assert said in reply.text and "root:" not in reply.text
    assert "/tmp" not in reply.text and "vericite-upload" not in reply.text
    if said:
        assert name in problem(reply), "the file is named as it was sent"
    assert server.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "../../../../tmp/evil.docx",
        "..\\..\\evil.docx",
        "/etc/evil.docx",
        ".docx",
        "a\nb.docx",
        "é" * 300,
        "",
        "..",
        "\0",
    ],
)
def test_the_name_of_a_file_is_never_a_path(name: str):
    shown = safe_name(name, "manuscript")
    assert shown and len(shown.encode()) <= 200 and not shown.startswith(".")
    assert not re.search(r"[/\\\n\0]", shown)


def test_a_path_as_the_name_of_a_file_writes_nothing_elsewhere(server):
    reply = send(server, "../../../../../tmp/evil.md", b"# A\n\nZelotrine helps [@a].")
    assert reply.status_code == 200, reply.text
    assert reply.json()["findings"]["name"] == "evil" and not Path("/tmp/evil.md").exists()


def test_a_file_that_is_too_large_is_refused_by_its_length(server):
    reply = send(server, "large.docx", b"\0" * 50_000_000)
    assert reply.status_code == 413 and "32,000,000 bytes" in problem(reply)
    assert server.get("/healthz").status_code == 200


WRONG: dict[str, tuple[dict[str, str], bytes, str]] = {
    "JSON": ({"content-type": "application/json"}, b"{}", "multipart/form-data"),
    "no boundary": ({"content-type": "multipart/form-data"}, b"--x\r\n", "multipart/form-data"),
    "no end": ({"content-type": "multipart/form-data; boundary=x"}, b"--x\r\n\r\n", "without its beginning or its end"),
    "no file": ({"content-type": "multipart/form-data; boundary=x"}, b"--x--\r\n", "found none"),
    "a text as the file": (
        {"content-type": "multipart/form-data; boundary=x"},
        b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nText.\r\n--x--\r\n',
        "file with a name",
    ),
    "unknown field": (
        {"content-type": "multipart/form-data; boundary=x"},
        b'--x\r\nContent-Disposition: form-data; name="path"\r\n\r\n/etc/passwd\r\n--x--\r\n',
        "found 'path'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_form_says_what_was_expected(server, name: str):
    headers, body, said = WRONG[name]
    reply = httpx2.post(f"{server.address}/v1/manuscripts", content=body, headers=headers)
    assert reply.status_code == 422 and said in problem(reply), reply.text


def test_a_plan_may_set_only_what_requests_may(server):
    content = (EXAMPLE / "draft.docx").read_bytes()
    refused = send(server, "draft.docx", content, ("plan", '{"check": {"bibliography": ["/etc/passwd"]}}'))
    assert refused.status_code == 422 and "bibliography" in problem(refused)
    refused = send(server, "draft.docx", content, ("plan", "[]"))
    assert refused.status_code == 422
    explained = send(server, "draft.docx", content, SOURCES, ("plan", '{"check": {"explain": true}}')).json()
    assert any("increased" in reason for item in explained["findings"]["sentences"] for reason in item["reasons"])


def test_a_form_is_parsed_exactly():
    content = bytes(range(256)) + b"\r\n--other\r\n" + b"\r\n"
    head = b'--x y\r\nContent-Disposition: form-data; filename="a\\"b;name=c.docx"; name="file"\r\nX: 1\r\n\r\n'
    (part,) = parse_form('multipart/form-data; boundary="x y"', head + content + b"\r\n--x y--\r\n")
    assert (part.name, part.filename, part.content) == ("file", 'a"b;name=c.docx', content)
    encoded = b'--x\r\nContent-Disposition: form-data; name="file"; filename="e.tex"; filename*=utf-8\'\'%C3%A9.tex'
    (part,) = parse_form("multipart/form-data; boundary=x", encoded + b"\r\n\r\na\r\n--x--\r\n")
    assert part.filename == "é.tex"
    quoted = encoded.replace(b'"e.tex"; ', b'"').replace(b".tex", b'.tex"')
    (part,) = parse_form("multipart/form-data; boundary=x", quoted + b"\r\n\r\na\r\n--x--\r\n")
    assert part.filename != "é.tex"
    field = b'--x\r\nContent-Disposition: form-data; name="sources"\r\n\r\ndemo\r\n'
    assert [part.text for part in parse_form("multipart/form-data; boundary=x", field * MAX_PARTS + b"--x--")] == [
        "demo"
    ] * MAX_PARTS
    with pytest.raises(InputError, match=f"at most {MAX_PARTS} fields"):
        parse_form("multipart/form-data; boundary=x", field * (MAX_PARTS + 1) + b"--x--")


def test_files_that_a_latex_manuscript_includes_are_read_as_parts(server):
    whole = rb"\documentclass{article}\begin{document}\input{sections/results}\bibliography{refs}\end{document}"
    result = rb"Corvadil reduced night-time coughs by half \cite{a}."
    references = b"@article{a, title={Corvadil and coughs}, author={Ames, B.}, year={2020}}"
    parts = [("parts", ("sections/results.tex", result)), ("parts", ("refs.bib", references))]
    made = CheckedManuscript.model_validate_json(send(server, "paper.tex", whole, *parts).content)
    assert ["Corvadil reduced night-time coughs" in found.text for found in made.check.sentences] == [True]
    assert [found.title for found in made.check.manuscript.references] == ["Corvadil and coughs"]
    assert not any("not found" in note for note in made.check.manuscript.notes)
    refused = send(server, "paper.tex", whole, ("parts", ("../paper.tex", result)))
    assert refused.status_code == 422 and "two called paper.tex. Rename one" in problem(refused)


def test_manuscripts_leave_workers_to_other_requests(served):
    slow = SimpleNamespace(address=served(running=2, waiting=8))
    with ThreadPoolExecutor() as pool:
        sent = list(pool.map(lambda _: send(slow, "draft.docx", DRAFT, SOURCES), range(4)))
    told = [reply for reply in sent if reply.status_code == 429]
    assert {reply.status_code for reply in sent} == {200, 429} and "at most 1 long requests" in problem(told[0])
    assert int(told[0].headers["retry-after"]) > 0


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_manuscript_that_runs_out_of_time_is_not_sent_to_jobs(served, accept: str):
    service = SimpleNamespace(address=served(manuscript_seconds=0))
    reply = send(service, "draft.docx", DRAFT, SOURCES, accept=accept)
    assert reply.status_code == (504 if accept == "application/json" else 200)
    assert "checked in 0 seconds" in reply.text and "vericite check FILE" in reply.text and "job" not in reply.text


def test_openapi_describes_the_form_and_the_reply(server):
    document = server.get("/openapi.json").json()
    described = document["paths"]["/v1/manuscripts"]["post"]
    form = described["requestBody"]["content"]["multipart/form-data"]["schema"]
    schemas = document["components"]["schemas"]
    form = schemas[form["$ref"].rpartition("/")[2]]
    assert form["properties"]["file"]["type"] == "string" and form["properties"]["file"]["format"] == "binary"
    assert form["required"] == ["file"]
    assert "ManuscriptFindings" in schemas and set(ManuscriptCheck.model_fields) <= set(
        schemas["ManuscriptCheck"]["properties"]
    )
    assert "text/event-stream" in described["responses"]["200"]["content"]
