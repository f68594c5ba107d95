"""Support by study design, partial support, and sentences that a corpus contradicts: worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from figures import figure

import vericite
from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import MEASURES, parse_measure
from vericite.evaluate.measures.verdicts import (
    ContradictedElsewhereRate,
    ContradictedRate,
    IrrelevantRate,
    PartlySupportedRate,
    SupportRate,
)
from vericite.evaluate.scoring import System, score_systems
from vericite.formats.convert import to_vericite
from vericite.records import AnswerEvidence, Document, Provenance, to_json
from vericite.records.evidence import Article, SentenceEvidence
from vericite.text.citations import parse_answer

TRIAL = Document.from_text("t", "Zinc works.", "Zinc for gout: a randomised trial")
COHORT = Document.from_text("c", "Zinc works. Iron fails.", "Zinc and gout: a cohort study")
NOTE = Document.from_text("n", "Iron fails.", "On zinc")


def says(premise: str, claim: str) -> str:
    return "supported" if claim in premise else "irrelevant"


def item(id: str, text: str) -> Item:
    answer = parse_answer(id, text, [TRIAL, COHORT, NOTE])
    return Item(id, answer, vericite.check(answer, judge=says, protocol="vericite"))


ITEMS = [item("a", "Zinc works [1][2]. Iron fails [1]."), item("b", "Zinc works [3]. Iron fails [2]. Gold [3].")]


def test_a_design_counts_its_own_citations_only():
    # Supported: t for zinc, c for zinc, c for iron.
    assert figure(SupportRate(), ITEMS) == 3 / 6
    assert figure(SupportRate(design="randomised trial"), ITEMS) == 1 / 2
    assert figure(SupportRate(design="cohort study"), ITEMS) == 2 / 2
    assert figure(SupportRate(design="none"), ITEMS) == 0 / 2
    assert figure(IrrelevantRate(design="none"), ITEMS) == 1.0
    assert figure(ContradictedRate(design="cohort study"), ITEMS) == 0.0
    assert figure(SupportRate(design="protocol"), ITEMS) is None


def test_verdicts_without_the_documents_have_no_design():
    alone = Item("a", None, ITEMS[0].checked)
    assert SupportRate(design="none").parts(alone) is None
    assert SupportRate().parts(alone) == (2, 3)


def test_every_design_that_is_cited_has_a_figure_and_their_cases_add_up():
    figures = score_systems([System("s", tuple(ITEMS))], [SupportRate(), ContradictedRate()], by="design")
    groups = [found.group for found in figures if found.measure == SupportRate()]
    assert groups == [None, "randomised trial", "cohort study", "none"]
    sums = [SupportRate(design=group).table(SupportRate(design=group).of(ITEMS)).sum(axis=0) for group in groups[1:]]
    assert sum(of for _, of in sums) == 6


def test_the_design_is_a_parameter_of_the_measure_and_a_group_of_the_command(run_cli, tmp_path: Path):
    assert parse_measure("SupportRate(design='cohort study')", MEASURES) == SupportRate(design="cohort study")
    with pytest.raises(InputError, match="expected design of SupportRate to be one of 'protocol'"):
        parse_measure("SupportRate(design='trial')", MEASURES)
    answers, verdicts = tmp_path / "answers.jsonl", tmp_path / "verdicts.jsonl"
    answers.write_text("".join(f"{to_vericite(item.answer)}\n" for item in ITEMS if item.answer))
    verdicts.write_text("".join(f"{to_json(item.checked)}\n" for item in ITEMS if item.checked))
    shown = run_cli("score", str(tmp_path), "-m", "SupportRate", "--by", "design", "--json")
    found = {row["group"]: row["value"] for row in json.loads(shown.out)}
    assert found == {None: 0.5, "randomised trial": 0.5, "cohort study": 1.0, "none": 0.0}


def test_partial_support_is_counted_from_degrees_and_unknown_without():
    assert ITEMS[0].checked is not None
    verdicts = ITEMS[0].checked.verdicts
    labels = [verdict.label for verdict in verdicts]
    assert labels == ["supported", "supported", "irrelevant"]
    partly = verdicts[2].model_copy(update={"degree": "partly supported"})
    checked = ITEMS[0].checked.model_copy(update={"verdicts": (*verdicts[:2], partly)})
    found = Item("a", ITEMS[0].answer, checked)
    assert PartlySupportedRate().parts(found) == (1, 3)
    assert PartlySupportedRate(design="randomised trial").parts(found) == (1, 2)
    unknown = checked.model_copy(update={"verdicts": (*verdicts[:2], partly.model_copy(update={"degree": None}))})
    assert PartlySupportedRate().parts(Item("a", ITEMS[0].answer, unknown)) is None


FOR, AGAINST = Article(id="1", probability=0.9), Article(id="2", probability=0.8)
EVIDENCE = AnswerEvidence(
    id="a",
    sentences=(
        SentenceEvidence(text="Zinc works.", start=0, end=11, supporting=(FOR,), contradicting=(AGAINST,)),
        SentenceEvidence(text="Iron fails.", start=12, end=23, contradicting=(AGAINST,)),
        SentenceEvidence(text="Gold.", start=24, end=29, supporting=(FOR,)),
        SentenceEvidence(text="Lead.", start=30, end=35, failed="no words"),
    ),
    provenance=Provenance(version="1"),
)


def test_sentences_that_an_article_contradicts_are_counted_of_those_searched_for():
    found = Item("a", articles=EVIDENCE)
    assert ContradictedElsewhereRate().parts(found) == (2, 3)
    assert ContradictedElsewhereRate(unsupported=True).parts(found) == (1, 3)
    assert ContradictedElsewhereRate().parts(Item("b")) is None


def test_the_articles_are_a_file_next_to_the_answers(run_cli, tmp_path: Path):
    assert ITEMS[0].answer is not None
    (tmp_path / "answers.jsonl").write_text(to_vericite(ITEMS[0].answer))
    file = tmp_path / "evidence.jsonl"
    file.write_text(f"{to_json(EVIDENCE)}\n")
    shown = run_cli("score", str(tmp_path), "-m", "ContradictedElsewhereRate", "--json")
    assert json.loads(shown.out)[0]["value"] == pytest.approx(2 / 3)
    file.rename(tmp_path / "elsewhere.jsonl")
    shown = run_cli("score", str(tmp_path), "-m", "ContradictedElsewhereRate")
    assert "vericite evidence ANSWERS --json > evidence.jsonl" in " ".join(shown.err.split())
    given = ("--with", f"evidence={tmp_path / 'elsewhere.jsonl'}")
    shown = run_cli("score", str(tmp_path / "answers.jsonl"), "-m", "ContradictedElsewhereRate", *given, "--json")
    assert json.loads(shown.out)[0]["value"] == pytest.approx(2 / 3)
