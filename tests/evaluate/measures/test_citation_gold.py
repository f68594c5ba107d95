"""Cited documents against those that ought to be cited, by hand and beside scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from figures import figure
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.gold import Gold, GoldSentence
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import (
    CITATION_GOLD_MEASURES,
    CitationExactMatch,
    CitationF1,
    CitationPrecision,
    CitationRecall,
)
from vericite.evaluate.measures.measure import Measure
from vericite.records import Answer, Citation, Claim, Document, Span

KINDS = (CitationF1, CitationPrecision, CitationRecall)
DOCUMENTS = [f"d{number}" for number in range(1, 6)]


def answered(id: str, *cited: str) -> Answer:
    """Sentences that cite what is named, as in ``d1 d2``; ``9`` is a marker without a document."""
    text = "".join("Said. " for _ in cited)
    claims = [
        Claim(
            text="Said.",
            span=Span(start=6 * place, end=6 * place + 5),
            citations=tuple(
                Citation(
                    marker=int(name.removeprefix("d")),
                    span=Span(start=6 * place, end=6 * place + 1),
                    document=name if name.startswith("d") else None,
                )
                for name in names.split()
            ),
        )
        for place, names in enumerate(cited)
    ]
    documents = tuple(Document.from_text(name, "Some text.") for name in DOCUMENTS)
    return Answer(id=id, text=text, claims=tuple(claims), documents=documents)


def item(id: str, cited: tuple[str, ...], gold: dict[int, str] | None) -> Item:
    sentences = None
    if gold is not None:
        sentences = tuple(GoldSentence(sentence=place, documents=tuple(it.split())) for place, it in gold.items())
    return Item(id, answer=answered(id, *cited), gold=Gold(id=id, citations=sentences))


TWO = [
    # Right, cited, wanted: 1 2 1; 0 0 2; 0 1 0; the fourth sentence is not in the gold; 0 0 0.
    item("a", ("d1 d2", "", "d3", "d4", ""), {0: "d1", 1: "d1 d2", 2: "", 4: ""}),
    # 2 2 2; 1 2 (one dangles) 2.
    item("b", ("d2 d1 d1", "d5 9"), {0: "d1 d2", 1: "d5 d3"}),
]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (CitationF1(), (2 / 3 + 0 + 0 + 1 + 1 + 1 / 2) / 6),
        (CitationPrecision(), (1 / 2 + 0 + 0 + 1 + 1 + 1 / 2) / 6),
        (CitationRecall(), (1 + 0 + 0 + 1 + 1 + 1 / 2) / 6),
        (CitationExactMatch(), 2 / 6),
        (CitationF1(empty="ignored"), (2 / 3 + 0 + 0 + 1 + 1 / 2) / 5),
        (CitationExactMatch(empty="ignored"), 1 / 5),
        (CitationF1(average="micro"), 2 * 4 / (7 + 7)),
        (CitationPrecision(average="micro"), 4 / 7),
        (CitationRecall(average="micro"), 4 / 7),
        # Articles: a cites 1 2 3 4 and ought to cite 1 2; b cites 1 2 5 and a dangling one, and ought to 1 2 3 5.
        (CitationF1(level="article"), (2 * 2 / 6 + 2 * 3 / 8) / 2),
        (CitationPrecision(level="article"), (2 / 4 + 3 / 4) / 2),
        (CitationRecall(level="article"), (2 / 2 + 3 / 4) / 2),
        (CitationPrecision(level="article", average="micro"), 5 / 8),
        (CitationRecall(level="article", average="micro"), 5 / 6),
        (CitationF1(level="article", average="micro"), 10 / 14),
        (CitationExactMatch(level="article"), 0),
    ],
    ids=str,
)
def test_a_worked_example(measure: Measure, expected: float):
    assert figure(measure, TWO) == pytest.approx(expected, abs=1e-9)


def test_each_marker_that_points_at_nothing_is_cited_and_wrong():
    dangling = item("a", ("d1 8 9", "9"), {0: "d1", 1: "d2"})
    assert CitationPrecision().parts(dangling) == (1 / 3 + 0, 2)
    assert CitationPrecision(level="article").parts(dangling) == (1 / 3, 1)


def test_without_gold_citations_or_an_answer_a_question_is_missing():
    for kind in CITATION_GOLD_MEASURES:
        for level in ("sentence", "article"):
            measure = kind(level=level)
            assert measure.parts(item("a", ("d1",), None)) is None
            assert measure.parts(Item("a", answer=answered("a", "d1"))) is None
            assert measure.parts(Item("a", gold=Gold(id="a", citations=()))) is None


def test_a_refusal_and_an_answer_without_a_sentence_are_missing():
    said = item("a", ("d1",), {0: "d1"})
    refused = said.answer.model_copy(update={"insufficient": True})
    for none in (refused, answered("a")):
        for kind in CITATION_GOLD_MEASURES:
            for level in ("sentence", "article"):
                assert kind(level=level).parts(Item("a", answer=none, gold=said.gold)) is None


def test_gold_of_a_sentence_that_the_answer_does_not_have_is_of_another_answer():
    other = item("a", ("d1",), {0: "d1", 1: "d2"})
    for kind in CITATION_GOLD_MEASURES:
        assert kind().parts(other) is None
    # Articles are compared as a whole, whatever their sentences are.
    assert CitationRecall(level="article").parts(other) == (1 / 2, 1)


def test_gold_that_names_no_sentence_leaves_nothing_to_count():
    nothing = item("a", ("d1",), {})
    for kind in CITATION_GOLD_MEASURES:
        assert kind().parts(nothing) == (0, 0)
    # An answer that ought to cite nothing, and does or does not.
    assert CitationF1(level="article").parts(nothing) == (0, 1)
    assert CitationF1(level="article").parts(item("a", ("",), {})) == (1, 1)
    assert CitationF1(level="article", empty="ignored").parts(item("a", ("",), {})) == (0, 0)
    assert CitationF1(average="micro").parts(item("a", ("",), {0: ""})) == (0, 0)


def matrices(items: list[Item]) -> tuple[np.ndarray, np.ndarray]:
    """What each sentence in the gold ought to cite and cites, one column a document."""
    gold, cited = [], []
    for one in items:
        assert one.answer and one.gold
        for sentence in one.gold.citations or ():
            names = {citation.document for citation in one.answer.claims[sentence.sentence].citations}
            gold.append([name in sentence.documents for name in DOCUMENTS])
            cited.append([name in names for name in DOCUMENTS])
    return np.array(gold, dtype=int), np.array(cited, dtype=int)


sets = st.lists(st.sampled_from(DOCUMENTS), max_size=3).map(" ".join)
questions = st.lists(st.lists(st.tuples(sets, sets), min_size=1, max_size=4), min_size=1, max_size=4)


@settings(max_examples=25, deadline=None)
@given(questions)
def test_figures_are_those_of_scikit_learn(drawn):
    from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

    items = [
        item(f"q{place}", tuple(cited for cited, _ in pairs), {at: gold for at, (_, gold) in enumerate(pairs)})
        for place, pairs in enumerate(drawn)
    ]
    gold, cited = matrices(items)
    assert figure(CitationExactMatch(), items) == pytest.approx(accuracy_score(gold, cited), abs=1e-9)
    f1 = f1_score(gold, cited, average="samples", zero_division=1)
    assert figure(CitationF1(), items) == pytest.approx(f1, abs=1e-9)
    some = gold.any(axis=1) | cited.any(axis=1)
    for kind, score in zip(KINDS, (f1_score, precision_score, recall_score), strict=True):
        ignored, micro = kind(empty="ignored"), kind(average="micro")
        if some.any():
            expected = score(gold[some], cited[some], average="samples", zero_division=0)
            assert figure(ignored, items) == pytest.approx(expected, abs=1e-9)
        else:
            assert figure(ignored, items) is None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = score(gold, cited, average="micro", zero_division=np.nan)
        value = figure(micro, items)
        assert (value is None) == np.isnan(expected)
        if value is not None:
            assert value == pytest.approx(expected, abs=1e-9)


@given(questions)
def test_exact_match_is_never_above_f1_and_f1_lies_between_precision_and_recall(drawn):
    for place, pairs in enumerate(drawn):
        one = item(f"q{place}", tuple(cited for cited, _ in pairs), {at: gold for at, (_, gold) in enumerate(pairs)})
        for level in ("sentence", "article"):
            exact, f1 = CitationExactMatch(level=level).parts(one), CitationF1(level=level).parts(one)
            assert exact[1] == f1[1] and 0 <= exact[0] <= f1[0] + 1e-12 <= f1[1] + 1e-11
        micro = [figure(kind(average="micro"), [one]) for kind in KINDS]
        if None not in micro:
            f1, precision, recall = micro
            assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


def test_a_measure_refuses_a_word_it_does_not_know():
    with pytest.raises(InputError, match="expected level of CitationF1 to be one of 'sentence', 'article'"):
        CitationF1(level="document")
    assert str(CitationF1(level="article", average="micro")) == "CitationF1(level='article', average='micro')"
