"""Verdicts are of one text; that an answer has the same id does not make them verdicts on it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vericite.corpus import load_documents
from vericite.evaluate.belonging import other_answer
from vericite.evaluate.reading import read_system
from vericite.formats import answers_in
from vericite.pipeline import check_many
from vericite.records import Answer, CheckedAnswer, Document
from vericite.text import parse_answer
from vericite.verify import get_protocol

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [
    EXAMPLES / "answers.jsonl",
    *(path for path in sorted((EXAMPLES / "formats").iterdir()) if path.name != "documents.jsonl"),
]
SOURCES = [Document.from_text("d1", "Folic acid helps."), Document.from_text("d2", "Iron helps.")]


def checked(answers: list[Answer], protocol: str = "fast") -> list[CheckedAnswer]:
    return list(check_many(answers, replace(get_protocol(protocol), judge="lexical"), cache=False))


def answer(text: str, *documents: Document) -> Answer:
    return parse_answer("q", text, documents or SOURCES)


@pytest.mark.parametrize("protocol", ["default", "alce", "bioace-document", "context(3)", "statements"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_verdicts_of_every_format_and_protocol_are_of_their_answers(path, protocol):
    library, _ = load_documents(EXAMPLES / "formats" / "documents.jsonl")
    answers = [one for one in answers_in(path, documents=library) if isinstance(one, Answer)]
    assert answers
    found = [other_answer(one, its) for one, its in zip(answers, checked(answers, protocol), strict=True)]
    assert found == [None] * len(answers)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("Metformin cures nothing at all [1]. Yes.", "Take 0.4 mg a day."),
        ("Take 4 mg a day [1]. It helps [2].", "Take 0.4 mg a day."),
        ("Take 0.4 mg a day [1]. It helps [2]. It never harms [1].", "2 sentences, where this one has 3"),
        ("Take 0.4 mg a day [1].", "It helps."),
        ("", "where this answer has ''"),
    ],
)
def test_another_text_is_told_by_its_sentences(now, said):
    (verdicts,) = checked([answer("Take 0.4 mg a day [1]. It helps [2].")])
    assert said in (other_answer(answer(now), verdicts) or "")


def test_an_edit_that_keeps_the_sentences_words_in_their_order_is_told():
    (verdicts,) = checked([answer("Take 4 mg of folic acid [1].")])
    assert other_answer(answer("Take 0.4 mg of folic acid [1]."), verdicts)


def test_the_same_words_from_other_documents_are_another_answer():
    text = "Take 0.4 mg a day [1]."
    (verdicts,) = checked([answer(text)])
    assert "[1] as 'd1', where this answer cites 'x'" in (
        other_answer(answer(text, Document.from_text("x", "No.")), verdicts) or ""
    )


def test_verdicts_stand_where_the_documents_were_given_to_check_alone():
    text = "Folic acid helps (PMID: 31535829). It does [1]."
    own = Document.from_text("d1", "It does.")
    cited = Document(id="pubmed", pmid="31535829", sections=Document.from_text("x", "Folic acid helps.").sections)
    (verdicts,) = checked([parse_answer("q", text, [own, cited])])
    assert other_answer(parse_answer("q", text, [own]), verdicts) is None
    assert other_answer(parse_answer("q", text, []), verdicts) is None


def test_verdicts_by_rules_that_split_otherwise_are_held_to_words_alone():
    before = answer("Take 0.4 mg a day [1]. It helps [2].")
    (verdicts,) = checked([before])
    parts = {**verdicts.provenance.parts, "splitter": "another.v1"}
    older = verdicts.model_copy(update={"provenance": verdicts.provenance.model_copy(update={"parts": parts})})
    now = answer(before.text + " It never harms.")
    assert other_answer(now, verdicts)
    assert other_answer(now, older) is None


def test_verdicts_of_another_answer_cost_that_answer_alone(tmp_path):
    given = [
        {"id": id, "answer": "Folic acid helps [1].", "documents": [{"id": "d1", "text": "Folic acid helps."}]}
        for id in ("q1", "q2")
    ]
    answers, verdicts = tmp_path / "answers.jsonl", tmp_path / "verdicts.jsonl"
    answers.write_text("\n".join(map(json.dumps, given)))
    read = [one for one in answers_in(answers) if isinstance(one, Answer)]
    verdicts.write_text("\n".join(one.model_dump_json() for one in checked(read)))
    assert read_system(tmp_path, {}).problems == []
    given[1]["answer"] = "Metformin cures nothing at all [1]."
    answers.write_text("\n".join(map(json.dumps, given)))
    found = read_system(tmp_path, {})
    assert sorted(found.verdicts) == ["q1"]
    (problem,) = found.problems
    assert (problem.path, problem.line) == (str(verdicts), 2)
    assert "vericite check" in str(problem)


def test_runs_are_held_against_verdicts_that_lie_beside_them(tmp_path):
    import vericite

    run = vericite.ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?", k=3)
    (tmp_path / "runs.jsonl").write_text(run.model_dump_json() + "\n")
    for verdicts, problems in ((run.checked, 0), (checked([answer("It helps [1].")])[0], 1)):
        verdicts = verdicts.model_copy(update={"id": run.question.id})
        (tmp_path / "verdicts.jsonl").write_text(verdicts.model_dump_json() + "\n")
        found = read_system(tmp_path, {})
        assert len(found.problems) == problems
        assert {item.id: item.checked for item in found.system("it").items} == {run.question.id: run.checked}
