"""Errors of JSON files: lists that end early, extra commas, bytes that are not text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vericite.corpus import load_documents
from vericite.errors import InputError, Problems, RecordError
from vericite.formats import answers_in
from vericite.formats.registry import number_questions
from vericite.records import Document

RECORDS = [{"id": "a", "text": "Aspirin works [1].", "documents": []}, {"id": "b", "text": "Zinc."}]
PRETTY = json.dumps(RECORDS, indent=2)


def problems_of_answers(path: Path) -> list[str]:
    return [str(item) for item in answers_in(path, "vericite") if isinstance(item, RecordError)]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[{"id": "a", "text": "One."}, {"id": "b", "te', 1, "ends early, at column 45"),
        (PRETTY[:-4], PRETTY.count("\n") - 1, "ends early"),
        ('[\n{"id": "a", "text": "One."},\n\n{"id": "b", "text": "Two."}\n', 4, "ends early, at column 27"),
        ('[{"id": "a", "text": "One."},]', 1, "a comma before nothing"),
        ('[\n{"id": "a", "text": "One."},\n]\n', None, "a comma before nothing"),
        ('[\n  {"id": "a", "text": nothing}\n]', 2, "no JSON at column 23"),
    ],
)
def test_invalid_json_in_a_list_is_reported_with_its_place(tmp_path: Path, text: str, line: int | None, said: str):
    path = tmp_path / "all.json"
    path.write_text(text)
    (problem,) = problems_of_answers(path)
    with pytest.raises(InputError) as caught:
        load_documents(path, Problems())
    for told in (problem, str(caught.value)):
        assert "expected one JSON list; " in told and said in told
        assert line is None or f"line {line}:" in told


def test_only_a_broken_line_is_lost(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "te\n' + json.dumps({"id": "b"}) + "\n")
    first, second = problems_of_answers(path)
    assert "line 1: expected one JSON object a line" in first and "line 2: expected" in second


def test_a_list_item_that_is_not_an_object_is_reported(tmp_path: Path):
    path = tmp_path / "all.jsonl"
    path.write_text('[1, {"id": "a", "text": "One."}]\n')
    problems = Problems()
    (document,) = load_documents(path, problems)
    (problem,) = problems
    assert isinstance(document, Document)
    assert "expected a JSON object in the list; found 1" in str(problem)


@pytest.mark.parametrize("name", ["one.jsonl", "list.json", "pretty.json", "cut.json"])
def test_invalid_bytes_are_reported_in_the_same_words_everywhere(tmp_path: Path, name: str):
    record = '{"id": "a", "text": "caf\N{LATIN SMALL LETTER Y WITH DIAERESIS}"}'
    text = {"one": record, "list": f"[{record}]", "pretty": f"[\n{record}\n]", "cut": f"[\n{record}\n"}[
        name.split(".")[0]
    ]
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="expected UTF-8; found byte 0xff"):
        load_documents(tmp_path / name, Problems())


def test_a_line_without_a_question_is_told_by_the_name_that_people_write(tmp_path: Path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "1"}\n{"id": "2", "question": ""}\n\n{"id": "3", "question": "Why?"}\n')
    problems = Problems()
    numbered = number_questions(path, problems)
    assert [(line, question.id) for line, question in numbered] == [(4, "3")]
    assert [(problem.line, problem.field) for problem in problems] == [(1, "question"), (2, "question")]
