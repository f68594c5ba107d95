"""Files of every kind where a command reads answers or questions, and names that say something else than is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vericite.errors import Problems
from vericite.formats import answers_in
from vericite.formats.registry import read_questions
from vericite.records import Answer

Run = Callable[..., Any]
DOCUMENTS = (
    {"id": "12345678", "pmid": "12345678", "text": "Zinc shortens colds by two days."},
    {"id": "22345678", "text": "Iron is stored in the liver."},
)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": it["id"], "text": it["text"]}) + "\n" for it in DOCUMENTS))
    return path


@pytest.mark.parametrize("name", ["answer.txt", "answer.text", "answer.md", "ANSWER.TXT"])
@pytest.mark.parametrize(
    "text", ["Zinc shortens colds (PMID: 12345678).", "[1] Zinc. It shortens colds (PMID: 12345678)."]
)
def test_check_reads_a_text_as_an_answer(run_cli: Run, tmp_path: Path, documents: Path, name: str, text: str):
    path = tmp_path / name
    path.write_text(text + "\n")
    printed = run_cli("check", str(path), "--documents", str(documents), "--judge", "lexical", "--json")
    assert printed.code == 0, printed
    assert json.loads(printed.out)["answers"] == 1


def test_records_in_a_text_file_are_read_as_records(tmp_path: Path):
    path = tmp_path / "answers.txt"
    path.write_text('{"answer": "Zinc helps [1].", "documents": ["Zinc."]}\n' * 2)
    assert sum(isinstance(item, Answer) for item in answers_in(path)) == 2


@pytest.mark.parametrize(
    "header",
    ["ID,Question,Answer,Contexts", "Id,QUESTION,ANSWER,Retrieved Contexts", "id,User Input,Response,Contexts"],
)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_the_first_row_may_be_in_any_case(tmp_path: Path, header: str, kind: str):
    row = ["7", "Why?", "Zinc helps [1].", "Zinc."]
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        path.write_text(f"{header}\n{','.join(row)}\n")
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for line in (header.split(","), row):
            book.active.append(line)
        book.save(path)
    [answer] = answers_in(path)
    assert isinstance(answer, Answer), answer
    assert (answer.id, answer.question, answer.documents[0].text) == ("7", "Why?", "Zinc.")


QUESTIONS = {
    "q.csv": "id,question\na,Does zinc help?\nb,Is iron stored?\n",
    "q.tsv": "ID\tQuestion\na\tDoes zinc help?\nb\tIs iron stored?\n",
    "q.json": '[{"id": "a", "question": "Does zinc help?"},\n {"id": "b", "question": "Is iron stored?"}]',
    "q.jsonl": '{"id": "a", "question": "Does zinc help?"}\n{"id": "b", "question": "Is iron stored?"}\n',
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_come_in_every_kind_of_file(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text(QUESTIONS[name])
    problems = Problems()
    questions = read_questions(path, problems)
    assert [(it.id, it.text) for it in questions] == [("a", "Does zinc help?"), ("b", "Is iron stored?")]
    assert not problems


def test_questions_without_an_id_go_by_their_number(tmp_path: Path):
    text, table = tmp_path / "q.txt", tmp_path / "q.csv"
    text.write_text("Does zinc help?\n\nIs iron stored?\n")
    table.write_text("Question\nDoes zinc help?\nIs iron stored?\n")
    assert [it.id for it in read_questions(text, Problems())] == ["1", "3"]
    assert [it.id for it in read_questions(table, Problems())] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "q.json": '["Does zinc help?", "Is iron stored?"]',
        "list.json": '[{"question": "Does zinc help?"},\n "Is iron stored?"]',
        "q.jsonl": '{"question": "Does zinc help?"}\n{"question": "Is iron stored?"}\n',
        "numbered.txt": "\ufeff1. Does zinc help?\r\n2) Is iron stored?\r\n",
        "listed.txt": "- Does zinc help?\n* Is iron stored?\n",
        "only.csv": "What we ask\nDoes zinc help?\nIs iron stored?\n",
        "semicolons.csv": "question;asked by\nDoes zinc help?;me\nIs iron stored?;you\n",
    }.items(),
)
def test_questions_as_people_list_them_go_by_their_number(tmp_path: Path, name: str, text: str):
    path, problems = tmp_path / name, Problems()
    path.write_bytes(text.encode())
    questions = read_questions(path, problems)
    assert [(it.id, it.text) for it in questions] == [("1", "Does zinc help?"), ("2", "Is iron stored?")]
    assert not problems


def test_a_list_without_a_heading_loses_no_question(tmp_path: Path):
    path, problems = tmp_path / "q.csv", Problems()
    path.write_text("Does zinc help?\nIs iron stored?\n")
    assert [it.text for it in read_questions(path, problems)] == ["Does zinc help?", "Is iron stored?"]


def test_a_question_that_cannot_be_used_costs_only_itself(tmp_path: Path):
    path, problems = tmp_path / "q.json", Problems()
    path.write_text('["Does zinc help?", 3, {"question": ["no"]}, {"id": 7, "question": "Is iron stored?"}]')
    # A list of mixed items is not a list of texts: each is read by itself.
    assert [(it.id, it.text) for it in read_questions(path, problems)] == [
        ("1", "Does zinc help?"),
        ("7", "Is iron stored?"),
    ]
    assert len(problems) == 2


def test_questions_of_a_workbook(tmp_path: Path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("ID", "Question"), (1, "Does zinc help?")):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    [question] = read_questions(tmp_path / "q.xlsx", Problems())
    assert (question.id, question.text) == ("1", "Does zinc help?")


def test_a_batch_of_a_table_is_asked(run_cli: Run, tmp_path: Path, documents: Path):
    path = tmp_path / "q.csv"
    path.write_text("question,id\nDoes zinc shorten colds?,a\n,b\n")
    printed = run_cli(
        "ask", "--batch", str(path), "--corpus", str(documents), "--judge", "lexical", "--by", "bm25",
        "--set", "search.rerank=none", "--json",
    )  # fmt: skip
    assert printed.code == 2
    assert [json.loads(line)["question"]["id"] for line in printed.out.splitlines()] == ["a"]
    assert "q.csv, line 3, field question: expected a question" in printed.err


@pytest.mark.parametrize("form", ["txt", "jsonl"])
def test_attribute_searches_a_store_for_each_sentence(run_cli: Run, tmp_path: Path, documents: Path, form: str):
    pytest.importorskip("lancedb")
    store = tmp_path / "store"
    assert run_cli("corpus", "build", str(documents), "--to", str(store)).code == 0
    path = tmp_path / f"answer.{form}"
    text = "Zinc shortens colds by two days. Iron is stored in the liver."
    path.write_text(text if form == "txt" else json.dumps({"id": "a", "answer": text, "documents": []}) + "\n")
    printed = run_cli("attribute", str(path), "--documents", str(store), "--judge", "lexical", "--json")
    assert printed.code == 0, printed
    answer = json.loads(printed.out)["answer"]
    cited = [[citation["document"] for citation in claim["citations"]] for claim in answer["claims"]]
    assert cited == [["12345678"], ["22345678"]]


def test_attribute_does_not_search_pubmed_for_sentences(run_cli: Run, tmp_path: Path):
    path = tmp_path / "answer.txt"
    path.write_text("Zinc helps.")
    printed = run_cli("attribute", str(path), "--documents", "pubmed", "--judge", "lexical")
    assert printed.code == 2 and "Build a store first" in printed.err


@pytest.mark.parametrize("command", ["check", "attribute", "repair"])
@pytest.mark.parametrize("suffix", ["xlsx", "parquet", "docx"])
def test_no_lines_of_json_are_written_under_another_kinds_name(run_cli: Run, tmp_path: Path, command: str, suffix: str):
    path, out = tmp_path / "a.jsonl", tmp_path / f"v.{suffix}"
    path.write_text('{"answer": "Zinc helps [1].", "documents": ["Zinc helps."]}\n')
    printed = run_cli(command, str(path), "--judge", "lexical", "--out", str(out))
    assert printed.code == 2 and not out.exists()
    assert f".{suffix} files cannot be written" in printed.err and "--out" in printed.err
