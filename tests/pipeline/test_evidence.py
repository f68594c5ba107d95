"""Articles of a corpus that support and that contradict a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repair_scripts import Found

import vericite
from vericite.errors import InputError
from vericite.formats import answers_in
from vericite.formats.convert import to_biogen_evidence
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.pipeline.evidence import EvidenceFinder, on_same_subject
from vericite.pipeline.search import Search
from vericite.records import Answer, AnswerEvidence, Document, Evidence, Question
from vericite.reporting.run_lines import evidence_lines
from vericite.retrieve.local import MemoryRetriever
from vericite.text.citations import parse_answer
from vericite.text.references import UnneededLibrary
from vericite.text.reversals import reversed_forms
from vericite.verify import Judgement, Verifier, get_protocol


class Opposing:
    """A judge that finds words supported where the premise has them all, and contradicted where it also has "not"."""

    signature = "opposing"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            claim, premise = (set(re.findall(r"\w+", text.lower())) for text in (pair.claim, pair.premise))
            against = "not" in premise - claim
            column = NEUTRAL if not claim <= premise | {"not"} else CONTRADICTS if against else ENTAILS
            yield Judgement(np.eye(3, dtype=np.float32)[column] * 0.9 + np.float32(0.1 / 3))


def article(id: str, text: str, **more: object) -> Document:
    return Document.from_text(id, text, f"Report {id}").model_copy(update=more)


FOR = article("101", "Zinc shortens colds in adults.", year=2011)
AGAINST = article("102", "Zinc shortens colds in children but not in adults.", pmid="20000102")
SILENT = article("103", "Zinc is a metal.")
DOCUMENTS = (SILENT, FOR, AGAINST)
MANY = [article(f"4{number:02}", f"Zinc study {number}.") for number in range(30)]


def finder(*documents: Document, retriever: object = None, **options: int) -> EvidenceFinder:
    from dataclasses import replace

    search = Search(retriever or MemoryRetriever(documents or DOCUMENTS, by="bm25"))
    return EvidenceFinder(search, Verifier(replace(get_protocol("vericite"), judge=Opposing())), **options)


def found(text: str, *documents: Document, **options: int) -> AnswerEvidence:
    return next(finder(*documents, **options).find([parse_answer("a", text, (), "Does zinc help?")]))


def test_articles_are_sorted_into_for_and_against_with_their_passages():
    (sentence,) = found("Zinc shortens colds in adults [7].").sentences
    assert [(item.id, item.year) for item in sentence.supporting] == [("101", 2011)]
    assert [(item.id, item.pmid) for item in sentence.contradicting] == [("102", "20000102")]
    assert sentence.contradicting[0].passages[0].text == AGAINST.text
    assert sentence.text == "Zinc shortens colds in adults." and sentence.failed is None


def test_at_most_three_of_each_unless_another_number_is_asked_for():
    many = [article(f"30{number}", f"Study {number}: zinc shortens colds.") for number in range(8)]
    assert len(found("Zinc shortens colds.", *many).sentences[0].supporting) == 3
    assert len(found("Zinc shortens colds.", *many, most=5).sentences[0].supporting) == 5


def test_a_retracted_article_is_no_evidence():
    (sentence,) = found("Zinc shortens colds.", FOR.model_copy(update={"retracted": True}), SILENT).sentences
    assert not sentence.supporting


@pytest.mark.parametrize(
    ("title", "types", "flagged"),
    [
        ("RETRACTED: Zinc and colds", (), None),
        ("Zinc and colds", ("Retraction of Publication",), None),
        ("Expression of concern: Zinc and colds", (), "expression of concern"),
    ],
)
def test_notices_are_no_evidence_and_concern_is_shown(title, types, flagged):
    evidence = found("Zinc shortens colds.", FOR.model_copy(update={"title": title, "publication_types": types}))
    assert [item.retraction for item in evidence.sentences[0].supporting] == ([flagged] if flagged else [])
    assert ("EXPRESSION OF CONCERN" in str(list(evidence_lines(evidence)))) is bool(flagged)


@pytest.mark.parametrize(
    ("sentence", "text", "same"),
    [
        ("Metformin lowers HbA1c in adults.", "Metformin did not lower HbA1c in adults.", True),
        ("Metformin lowers HbA1c in adults.", "Insulin glargine lowered HbA1c in adults.", False),
        ("Insulin lowers mortality in critically ill adults.", "Mortality did not differ between the groups.", False),
        ("Conjugated bilirubin rises in cholestasis.", "Unconjugated bilirubin did not rise in cholestasis.", False),
    ],
)
def test_an_article_must_be_about_the_same_thing(sentence: str, text: str, same: bool):
    assert on_same_subject([(sentence, sentence), (sentence, text)]) == [True, same]


def test_a_sentence_that_points_elsewhere_is_searched_for_with_its_question():
    retriever = Found(FOR)
    next(finder(retriever=retriever).find([parse_answer("a", "It shortens colds.", (), "Does zinc help?")]))
    assert retriever.asked[0] == "Does zinc help? It shortens colds."


def test_a_sentence_is_searched_for_in_its_own_words_and_reversed():
    retriever = Found(*MANY)
    next(finder(retriever=retriever).find([parse_answer("a", "Zinc reduces colds. Tea is warm.", ())]))
    assert list(dict.fromkeys(retriever.asked)) == [
        "Zinc reduces colds.", "Zinc increases colds.", "Zinc has no effect on colds.",
        "Tea is warm.", "Tea is not warm.",
    ]  # fmt: skip


def test_a_sentence_that_cannot_be_searched_for_costs_itself_only():
    class Refusing(Found):
        def retrieve(self, question: Question, k: int) -> list[Evidence]:
            if "colds" in question.text:
                raise InputError("expected fewer words; found many")
            return super().retrieve(question, k)

    text = "Zinc shortens colds. Zinc is a metal."
    (first, second) = next(finder(retriever=Refusing(SILENT)).find([parse_answer("a", text, ())])).sentences
    assert first.failed == "expected fewer words; found many" and not first.supporting
    assert second.failed is None and second.supporting


def test_a_search_that_finds_too_little_is_repeated_with_the_subjects_alone():
    class Strict(Found):
        def retrieve(self, question: Question, k: int) -> list[Evidence]:
            found = super().retrieve(question, k)
            return found if len(question.text.split()) < 4 else []

    retriever = Strict(FOR)
    text = "Zinc shortens colds in adults."
    (sentence,) = next(finder(retriever=retriever).find([parse_answer("a", text, ())])).sentences
    assert retriever.asked[-1] == "Zinc shortens colds" and [item.id for item in sentence.supporting] == ["101"]
    many = Found(*MANY)
    next(finder(retriever=many).find([parse_answer("a", text, ())]))
    assert "Zinc shortens colds" not in many.asked and text in many.asked


@given(st.text(max_size=60))
def test_any_text_has_reversed_forms_that_differ_from_it(text: str):
    forms = reversed_forms(text)
    assert text not in forms and len(set(forms)) == len(forms) <= 5


@pytest.mark.parametrize(
    ("sentence", "forms"),
    [
        ("Aspirin reduced strokes.", ["Aspirin increased strokes.", "Aspirin had no effect on strokes."]),
        ("Statins are safe.", ["Statins are harmful.", "Statins are not safe."]),
        ("There is no difference in pain.", ["There is a difference in pain."]),
        ("Higher doses work.", ["Lower doses work."]),
        ("A high-fat diet", []),
    ],
)
def test_reversed_forms(sentence: str, forms: list[str]):
    assert reversed_forms(sentence) == forms


def test_a_run_has_the_form_of_task_a_and_pubmed_ids_only():
    plain = article("trial-a", "Zinc shortens colds in adults.")
    run = to_biogen_evidence(found("Zinc shortens colds in adults.", plain, FOR, AGAINST), "mine")
    assert run == {
        "metadata": {"run_name": "mine", "qa_id": "a", "question": "Does zinc help?"},
        "answer": [
            {
                "text": "Zinc shortens colds in adults.",
                "supported_citations": [],
                "contradicted_citations": ["20000102"],
            }
        ],
    }


def test_a_run_is_read_back_as_answers(tmp_path: Path):
    file = tmp_path / "run.jsonl"
    file.write_text(json.dumps(to_biogen_evidence(found("Zinc shortens colds in adults."), "mine")))
    (answer,) = answers_in(file, documents=UnneededLibrary())
    assert isinstance(answer, Answer) and [claim.text for claim in answer.claims] == ["Zinc shortens colds in adults."]


def test_the_function_searches_documents_in_memory():
    made = vericite.evidence("Vitamin D prevents fractures.", [FOR, SILENT])
    assert made.sentences[0].text == "Vitamin D prevents fractures." and not made.articles
    assert AnswerEvidence.model_validate_json(made.model_dump_json()) == made


def test_the_command_prints_and_writes_what_it_finds(run_cli, tmp_path: Path):
    answers, corpus, out = tmp_path / "answers.jsonl", tmp_path / "corpus.jsonl", tmp_path / "run.jsonl"
    rows = [
        {
            "id": "20000201",
            "pmid": "20000201",
            "title": "Zinc: a randomised trial",
            "text": "Zinc lozenges shortened colds in adults.",
        },
        {"id": "20000202", "title": "Zinc", "text": "Zinc lozenges did not shorten colds in adults."},
    ]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers.write_text('{"id": "q1", "answer": "Zinc lozenges shorten colds in adults [1]."}\n{"id": 3}\n')
    printed = run_cli("evidence", str(answers), "--corpus", str(corpus), "--out", str(out), "--set", "search.by=bm25")
    assert printed.code == 2 and "line 2" in printed.err
    assert "supported by PMID 20000201" in " ".join(printed.out.split())
    assert "randomised trial “Zinc lozenges shortened" in " ".join(printed.out.split())
    assert "contradicted by" in printed.out and "did not shorten" in printed.out
    (line,) = map(json.loads, out.read_text().splitlines())
    assert line["answer"][0]["supported_citations"] == ["20000201"]
    as_json = run_cli("evidence", str(answers), "--corpus", str(corpus), "--json", "--set", "search.by=bm25").out
    assert AnswerEvidence.model_validate_json(as_json).id == "q1"
