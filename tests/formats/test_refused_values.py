"""Values that must be refused: endless devices, open quotes, repeated names, printed objects, sessions."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import vericite
from vericite.corpus.sources.registry import documents_in
from vericite.errors import InputError, Problems, RecordError
from vericite.formats import answers_in, files
from vericite.formats.registry import number_questions
from vericite.pipeline.check import check
from vericite.records import Answer, Document, base, number_jsonl, number_lines


def told(path: Path, **given: Any) -> list[str]:
    return [str(item) for item in answers_in(path, **given) if isinstance(item, RecordError)]


# input that never ends


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize(
    "words",
    [
        ("check", "/dev/zero"),
        ("attribute", "/dev/zero"),
        ("repair", "/dev/zero"),
        ("corpus", "build", "/dev/zero", "--to", "STORE"),
        ("search", "zinc", "--corpus", "/dev/zero"),
        ("check", "ANSWERS", "--documents", "/dev/zero"),
        ("check", "/dev/urandom"),
    ],
    ids=" ".join,
)
def test_an_endless_device_is_refused(
    run_cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ANSWERS").write_text('{"answer": "Zinc [1].", "documents": ["Zinc."]}\n')
    printed = run_cli(*words)
    assert printed.code == 2, printed
    assert "a device, which may never end" in printed.err


def test_a_line_too_long_to_skip_ends_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base, "LONGEST_LINE", 100)
    monkeypatch.setattr(base, "MOST_SKIPPED", 5_000_000)
    path = tmp_path / "zeros"
    path.write_bytes(bytes(8_000_000))
    with pytest.raises(InputError, match="a line of at most 5,000,000 bytes, even to skip it"):
        list(number_lines(path))


def test_the_standard_input_is_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base, "MOST_KEPT", 1_000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bytes(2_000))))
    with pytest.raises(InputError, match="at most 1,000 bytes on the standard input"):
        base.STANDARD_INPUT.keep()


# pipes that never end, or never begin

GOOD = {"answer": "Zinc shortens colds [1].", "documents": [{"id": "a", "text": "Zinc shortens colds."}]}


def test_lines_of_the_standard_input_have_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base, "MOST_LINES", 1_000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}\n" * 1_001)))
    with pytest.raises(InputError, match="at most 1,000 lines of a pipe or the standard input; found more"):
        list(number_lines(base.STDIN))


def test_a_file_of_which_nothing_can_be_read_is_refused_after_so_many_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(base, "MOST_FAULTS", 100)
    path = tmp_path / "a.jsonl"
    path.write_text("y\n" * 101)
    for read in (answers_in, lambda path: number_jsonl(Answer, path), lambda path: number_questions(path, Problems())):
        with pytest.raises(InputError, match=r"the first 100 of .* are all unreadable\. The last problem: "):
            list(read(path))
    path.write_text(json.dumps(GOOD) + "\n" + "y\n" * 200)
    assert sum(isinstance(item, RecordError) for item in answers_in(path)) == 200


@pytest.mark.skipif(os.name == "nt", reason="has no such pipes")
def test_an_endless_pipe_of_short_lines_ends_with_an_error():
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        command = [sys.executable, "-m", "vericite", "check", "-", "--judge", "lexical"]
        done = subprocess.run(command, stdin=endless.stdout, capture_output=True, text=True, timeout=120, check=False)
        endless.kill()
    assert done.returncode == 2
    assert "the first 10,000 of - are all unreadable" in done.stderr


def test_a_value_of_very_many_short_lines_is_bounded_by_what_it_takes_in_memory(monkeypatch: pytest.MonkeyPatch):
    taken: list[int] = []
    lines = ((number, "{") for number in range(10_000) if not taken.append(number))
    monkeypatch.setattr(files, "_LONGEST_JSON", 64_999)
    assert len(list(files._bounded(lines))) == 1_000  # pyright: ignore[reportPrivateUsage]
    assert len(taken) == 1_000


@pytest.mark.skipif(os.name == "nt", reason="has no such pipes")
def test_a_pipe_without_a_writer_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any):
    monkeypatch.setattr(base, "WAITED", 0.05)
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)

    def write() -> None:
        time.sleep(0.2)
        path.write_text(json.dumps(GOOD) + "\n")

    writing = threading.Thread(target=write)
    writing.start()
    [answer] = answers_in(path)
    writing.join()
    assert isinstance(answer, Answer)
    assert f"waiting for {path}, which has sent nothing yet" in caplog.text


# quotes that are not closed


@pytest.mark.parametrize(
    ("rows", "row", "opened", "read"),
    [
        ('1,"Zinc [1].,Zinc.\n2,Iron [1].,Iron.\n', 2, 2, 1),
        ('1,Zinc [1].,Zinc.\n2,"Iron [1].,Iron.\n', 3, 3, 1),
        ('1,"Zinc\nhelps [1].","Zinc.\n2,Iron [1].,Iron.\n', 2, 3, 1),
        ('1,"Zinc [1].,Zinc.\n2,"Iron [1].",Iron.\n', 2, 2, 1),
    ],
    ids=["first", "last", "second cell", "until the next quote"],
)
def test_an_unclosed_quote_is_reported_with_the_line_where_it_opens(
    tmp_path: Path, rows: str, row: int, opened: int, read: int
):
    path = tmp_path / "a.csv"
    path.write_text("id,answer,contexts\n" + rows)
    found = list(answers_in(path))
    problems = [str(item) for item in found if isinstance(item, RecordError)]
    assert f"line {row}: " in problems[0] and f"the one that opens on line {opened} is not" in problems[0]
    assert sum(isinstance(item, Answer) for item in found) == read


# names that come several times


@pytest.mark.parametrize(
    "line",
    [
        '{"answer": "Zinc [1].", "answer": "Iron [1].", "documents": ["Zinc."]}',
        '{"answer": "Zinc [1].", "documents": [{"text": "Zinc.", "text": "Iron."}]}',
        '[{"answer": "Zinc [1].", "answer": "Iron [1].", "documents": ["Zinc."]}]',
    ],
)
def test_several_values_of_one_field_are_refused(tmp_path: Path, line: str):
    path = tmp_path / "a.json"
    path.write_text(line)
    [problem] = told(path)
    assert "expected each field once; found several values of" in problem
    assert "'answer'" in problem or "'text'" in problem


def test_two_lists_of_records_in_one_object_are_refused(tmp_path: Path):
    record = '{"answer": "Zinc [1].", "documents": ["Zinc."]}'
    path = tmp_path / "a.json"
    path.write_text(f'{{"results": [{record}], "results": [{record}]}}')
    assert "several values of 'results'" in told(path)[0]


@pytest.mark.parametrize("form", ['{"id": "a", "id": "b", "text": "Zinc."}', '[{"id": "a", "text": "X", "text": "Y"}]'])
def test_several_values_of_a_documents_field_are_refused(tmp_path: Path, form: str):
    path = tmp_path / "documents.json"
    path.write_text(form)
    found = list(documents_in(path))
    assert not any(isinstance(item, Document) for item in found)
    assert "several values of" in str(found[0])


def test_gold_with_several_values_of_a_field_is_refused(tmp_path: Path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"id": "a", "ideal": ["x"], "ideal": ["y"]}\n')
    [problem] = base.number_jsonl(vericite.records.Gold, path)
    assert "several values of 'ideal'" in str(problem)


@pytest.mark.parametrize("header", ["id,answer,answer,contexts", "id,Answer,ANSWER,contexts"])
def test_several_columns_of_one_name_are_refused(tmp_path: Path, header: str):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n1,Zinc [1].,Iron [1].,Zinc.\n")
    with pytest.raises(InputError, match="unique column names; found several columns named 'answer'"):
        list(answers_in(path))


def test_several_columns_of_texts_in_documents_are_refused(tmp_path: Path):
    path = tmp_path / "documents.csv"
    path.write_text("id,title,abstract,abstract\n1,Zinc,One.,Two.\n")
    with pytest.raises(InputError, match="several columns named 'abstract'"):
        list(documents_in(path))


# printed Python objects

PRINTED = [
    "page_content='Zinc helps.' metadata={'source': 'a'}",
    "Document(metadata={'source': 'a'}, page_content='Zinc helps.')",
    "Document(id='1', content: 'Zinc helps.')",
    "NodeWithScore(node=TextNode(id_='1', text='Zinc helps.'), score=0.9)",
    "Node ID: 4f0c\nText: Zinc helps.\nScore:  0.900\n",
    "[Document(metadata={}, page_content='Zinc helps.')]",
]


@pytest.mark.parametrize("text", PRINTED)
@pytest.mark.parametrize("name", ["documents", "contexts", "context", "source_nodes"])
def test_objects_printed_into_json_are_not_judged(tmp_path: Path, name: str, text: str):
    path = tmp_path / "a.jsonl"
    answer = "response" if name == "source_nodes" else "answer"
    path.write_text(json.dumps({answer: "Zinc helps [1].", name: [text]}) + "\n")
    [problem] = told(path)
    assert "found a printed Python object" in problem
    assert "vericite.check(result)" in problem


def test_a_printed_message_is_not_an_answer(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    printed = "content='Zinc helps [1].' additional_kwargs={} response_metadata={}"
    path.write_text(json.dumps({"answer": printed, "context": [{"page_content": "Zinc."}]}) + "\n")
    assert "found a printed Python object" in told(path)[0]


def test_printed_documents_are_refused_in_python_too():
    with pytest.raises(InputError, match="a printed Python object"):
        vericite.check("Zinc helps [1].", [PRINTED[0]], judge="lexical")


def test_a_text_about_documents_is_not_a_printed_object(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"answer": "Zinc [1].", "documents": ["Document (2020) says: content is king."]}) + "\n")
    assert told(path) == []


# sessions of paper-qa


def session(**changed: Any) -> dict[str, Any]:
    def context(id: str, name: str, text: str) -> dict[str, Any]:
        paper = {"docname": name.split()[0], "dockey": id, "citation": f"{name}. A journal.", "doi": None}
        chunk = {"text": text, "name": name, "media": [], "doc": paper}
        return {"id": id, "context": "A summary of a model's.", "question": "Why?", "score": 8, "text": chunk}

    return {
        "id": "8e2b7c1e-1111-4222-8333-123456789abc",
        "question": "Does zinc shorten colds?",
        "answer": "Zinc shortens colds (Doe2020 pages 1-2, Roe2021 chunk 3). It tastes bad (Roe2021 chunk 3).",
        "raw_answer": "Zinc shortens colds (pqac-aaaaaaaa, pqac-bbbbbbbb). It tastes bad (pqac-bbbbbbbb).",
        "context": "",
        "contexts": [
            context("pqac-aaaaaaaa", "Doe2020 pages 1-2", "Lozenges of zinc shortened colds."),
            context("pqac-bbbbbbbb", "Roe2021 chunk 3", "Zinc tasted bad."),
        ],
        "references": "1. (Doe2020 pages 1-2): Doe2020.",
        "formatted_answer": "Question: ...",
    } | changed


@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: {"session": it}, lambda it: {"answer": it, "status": "x"}])
@pytest.mark.parametrize("changed", [{}, {"answer": ""}], ids=["names", "ids"])
def test_a_session_of_paper_qa_cites_the_chunks_it_names(tmp_path: Path, wrap: Any, changed: dict[str, Any]):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(wrap(session(**changed))))
    names: list[str] = []
    [answer] = answers_in(path, on_format=lambda name, _: names.append(name))
    assert isinstance(answer, Answer) and names == ["paper-qa"]
    cited = [[citation.document for citation in claim.citations] for claim in answer.claims]
    assert cited == [["Doe2020 pages 1-2", "Roe2021 chunk 3"], ["Roe2021 chunk 3"]]
    assert [document.text for document in answer.documents] == ["Lozenges of zinc shortened colds.", "Zinc tasted bad."]
    assert all("(" not in claim.text for claim in answer.claims)


def test_an_id_that_paper_qa_did_not_retrieve_cites_nothing(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(session(answer="Zinc helps (pqac-cccccccc). It is dear.")))
    [answer] = answers_in(path)
    assert isinstance(answer, Answer)
    assert [[citation.document for citation in claim.citations] for claim in answer.claims] == [[None], []]


def test_ids_that_the_model_invented_are_told_though_paper_qa_leaves_them_out_of_the_answer(tmp_path: Path):
    path = tmp_path / "a.json"
    raw = "Zinc shortens colds (pqac-aaaaaaaa, pqac-dddddddd). It cures gout (pqac-eeeeeeee)."
    path.write_text(
        json.dumps(session(answer="Zinc shortens colds (Doe2020 pages 1-2). It cures gout.", raw_answer=raw))
    )
    [answer] = answers_in(path)
    assert isinstance(answer, Answer)
    cited = [[citation.document for citation in claim.citations] for claim in answer.claims]
    assert cited == [["Doe2020 pages 1-2", None], [None]]
    checked = check(answer, judge="lexical")
    assert checked.summary.dangling == 2


def test_a_session_without_the_words_of_its_chunks_is_refused_with_what_to_do(tmp_path: Path):
    path = tmp_path / "a.json"
    given = session()
    for context in given["contexts"]:
        context["text"]["text"] = ""
    path.write_text(json.dumps(given))
    [problem] = told(path)
    assert "expected the text of the chunks; found none" in problem and "--documents" in problem


def test_the_words_of_chunks_come_from_a_library_by_doi(tmp_path: Path):
    path = tmp_path / "a.json"
    given = session(answer="Zinc shortens colds (Doe2020 pages 1-2).", raw_answer="")
    context = given["contexts"][0]
    context["text"]["text"] = ""
    context["text"]["doc"]["doi"] = "10.1000/zinc"
    path.write_text(json.dumps(given | {"contexts": [context]}))
    [answer] = answers_in(path, documents=[Document.from_text("doi:10.1000/zinc", "Zinc shortened colds.")])
    assert isinstance(answer, Answer)
    assert [citation.document for citation in answer.claims[0].citations] == ["doi:10.1000/zinc"]
