"""TREC BioGen's measures of citations, worked by hand."""

from __future__ import annotations

import pytest
from figures import figure
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from vericite.errors import InputError
from vericite.evaluate.gold import CitationJudgement, Gold, Labels
from vericite.evaluate.items import Item
from vericite.evaluate.measures.biogen import (
    BIOGEN_MEASURES,
    CitationContradictRate,
    CitationCoverage,
    CitationSupportRate,
    CitedDocumentPrecision,
    CitedDocumentRecall,
)
from vericite.evaluate.measures.citation import SupportRate
from vericite.evaluate.measures.measure import Measure
from vericite.records import (
    Answer,
    CheckedAnswer,
    Document,
    Provenance,
    Summary,
    Verdict,
    VerificationFailure,
)
from vericite.text.citations import parse_answer

SAID = "Aspirin lowers the risk of a first stroke"
SOURCES = [Document.from_text(f"d{number}", "Some text.") for number in range(1, 6)]


def answered(*cited: tuple[int, ...]) -> Answer:
    sentences = [" ".join([SAID, "".join(f"[{marker}]" for marker in markers)]).strip() + "." for markers in cited]
    answer = parse_answer("a", " ".join(sentences), SOURCES)
    assert len(answer.claims) == len(cited)
    return answer


def labelled(*told: tuple[int, str, str], sentences=None) -> Labels:
    """Of each sentence and document what it is: s(upports), c(ontradicts), n(eutral) or i(rrelevant)."""
    names = {"s": "supports", "c": "contradicts", "n": "neutral", "i": "irrelevant"}
    judged = tuple(CitationJudgement(sentence=at, document=id, label=names[word]) for at, id, word in told)
    return Labels(id="a", citations=judged, sentences=sentences)


def checked(answer: Answer, told: dict[tuple[int, int], str]) -> CheckedAnswer:
    """Of each sentence and marker what the judge says; ``?`` is abstained from, ``!`` failed."""
    verdicts: list[Verdict] = []
    failures: list[VerificationFailure] = []
    for (place, marker), word in told.items():
        claim = answer.claims[place]
        at = {"claim": claim.text, "start": claim.span.start, "end": claim.span.end, "markers": (marker,)}
        at |= {"documents": () if word == "dangling" else (f"d{marker}",), "protocol": "test"}
        if word == "!":
            failures.append(VerificationFailure(**at, reason="the judge lost its voice"))
        else:
            label = "supported" if word == "?" else word
            verdicts.append(Verdict(**at, label=label, native=label, abstained=word == "?"))
    summary = Summary.of(answer, tuple(verdicts), tuple(failures))
    made = Provenance(version="0")
    return CheckedAnswer(id="a", verdicts=tuple(verdicts), failures=tuple(failures), summary=summary, provenance=made)


FIRST = answered((1, 2), (3,), (), (4, 5))
SECOND = answered((1,), ())
ITEMS = [
    Item(
        "a",
        answer=FIRST,
        labels=labelled(
            (0, "d1", "s"),
            (0, "d2", "i"),
            (1, "d3", "c"),
            (3, "d4", "n"),
            (3, "d5", "s"),
            sentences=("required", "borderline", "unnecessary", None),
        ),
        gold=Gold(id="a", documents={"d1": 5, "d2": 0, "d3": 2, "d9": 5}),
    ),
    Item(
        "b",
        answer=SECOND,
        labels=labelled((0, "d1", "s"), sentences=("required", "required")),
        gold=Gold(id="b", documents={"d1": -1, "d2": 5}),
    ),
]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (CitationCoverage(), (2 / 4 + 1 / 2) / 2),
        (CitationCoverage(by="sentence"), 3 / 6),
        (CitationCoverage(among="required"), (1 / 1 + 1 / 2) / 2),
        (CitationCoverage(among="answering"), (1 / 2 + 1 / 2) / 2),
        (CitationCoverage(among="required", by="sentence"), 2 / 3),
        (CitationSupportRate(), (2 / 5 + 1) / 2),
        (CitationSupportRate(by="pair"), 3 / 6),
        (CitationContradictRate(), (1 / 5 + 0) / 2),
        (CitationContradictRate(by="pair"), 1 / 6),
        (CitedDocumentPrecision(), (2 / 5 + 0) / 2),
        (CitedDocumentPrecision(by="document"), 2 / 6),
        (CitedDocumentRecall(), (2 / 3 + 0) / 2),
        (CitedDocumentRecall(by="document"), 2 / 4),
        (CitedDocumentRecall(rel=5), (1 / 2 + 0) / 2),
        (CitedDocumentPrecision(rel=5), (1 / 5 + 0) / 2),
    ],
    ids=str,
)
def test_a_worked_example(measure: Measure, expected: float):
    assert figure(measure, ITEMS) == pytest.approx(expected, abs=1e-9)


VERDICTS = {
    (0, 1): "supported",
    (0, 2): "irrelevant",
    (1, 3): "?",
    (3, 4): "!",
    (3, 5): "supported",
}


@pytest.mark.parametrize(
    ("told", "coverage", "support", "contradict"),
    [
        # The second sentence was abstained from: it is not known whether it is covered.
        (VERDICTS, 2 / 3, 2 / 3, 0),
        (VERDICTS | {(1, 3): "contradicted"}, 2 / 4, 2 / 4, 1 / 4),
        (VERDICTS | {(3, 5): "irrelevant"}, 1 / 2, 1 / 3, 0),
        (VERDICTS | {(1, 3): "irrelevant", (3, 4): "dangling"}, 2 / 4, 2 / 5, 0),
    ],
)
def test_by_verdicts_it_is_the_judges_word_that_counts(told, coverage, support, contradict):
    items = [Item("a", answer=FIRST, checked=checked(FIRST, told))]
    assert figure(CitationCoverage(source="verdicts"), items) == pytest.approx(coverage, abs=1e-9)
    assert figure(CitationSupportRate(source="verdicts"), items) == pytest.approx(support, abs=1e-9)
    assert figure(CitationContradictRate(source="verdicts"), items) == pytest.approx(contradict, abs=1e-9)


def test_by_verdicts_the_support_rate_is_that_of_check_where_nothing_dangles():
    items = [Item("a", answer=FIRST, checked=checked(FIRST, VERDICTS))]
    assert figure(CitationSupportRate(source="verdicts", by="pair"), items) == figure(SupportRate(), items)


def test_labels_say_which_sentences_verdicts_are_looked_at_of():
    one = Item("a", answer=FIRST, checked=checked(FIRST, VERDICTS), labels=ITEMS[0].labels)
    measure = CitationCoverage(source="verdicts", among="required")
    assert measure.parts(one) == (1, 1)
    assert measure.needs == ("answer", "verdicts", "labels")
    assert measure.parts(Item("a", answer=FIRST, checked=one.checked)) is None


def test_a_supported_verdict_on_a_sentence_that_cites_nothing_covers_nothing():
    answer = answered((), (1,))
    found = checked(answer, {(0, 1): "supported", (1, 1): "supported"})
    assert CitationCoverage(source="verdicts", by="sentence").parts(Item("a", answer=answer, checked=found)) == (1, 2)


def test_what_a_measure_needs_is_what_it_is_told_to_read():
    assert CitationSupportRate().needs == ("labels",)
    assert CitationSupportRate(source="verdicts").needs == ("verdicts",)
    assert CitationCoverage().needs == ("answer", "labels")
    assert CitationSupportRate.needs == ("labels",)


def test_a_sentence_with_a_citation_that_was_not_judged_is_left_out_unless_another_supports_it():
    measure = CitationCoverage(by="sentence")
    assert measure.parts(Item("a", answer=FIRST, labels=labelled((0, "d1", "i"), (1, "d3", "i"), (3, "d4", "s")))) == (
        1,
        3,
    )
    # Nobody needs to judge a marker that points at nothing.
    assert measure.parts(Item("a", answer=answered((9,)), labels=labelled())) == (0, 1)


def test_labels_of_another_answer_make_a_question_missing():
    assert CitationCoverage().parts(Item("a", answer=SECOND, labels=labelled((2, "d1", "s")))) is None
    short = labelled((0, "d1", "s"), sentences=("required",))
    assert CitationCoverage(among="required").parts(Item("a", answer=SECOND, labels=short)) is None
    assert CitationCoverage(source="verdicts").parts(Item("a", answer=SECOND, checked=checked(FIRST, VERDICTS))) is None


def test_missing_nothing_to_count_and_0_are_told_apart():
    uncited = answered(())
    for kind in (CitationSupportRate, CitationContradictRate):
        assert kind().parts(Item("a", answer=FIRST)) is None
        assert kind().parts(Item("a", labels=Labels(id="a"))) is None
        assert kind().parts(Item("a", labels=labelled())) == (0, 0)
        assert kind().parts(Item("a", labels=labelled((0, "d1", "n")))) == (0, 1)
        assert kind(source="verdicts").parts(Item("a", labels=labelled((0, "d1", "s")))) is None
        worth = (0, 1) if kind is CitationSupportRate else (0, 0)
        assert kind(source="verdicts").parts(Item("a", checked=checked(uncited, {}))) == worth
        assert kind().parts(Item("a", answer=uncited, labels=labelled())) == worth
        # Cited, and not judged.
        assert kind().parts(Item("a", answer=FIRST, labels=labelled())) == (0, 0)
    assert CitationCoverage().parts(Item("a", answer=uncited, labels=labelled())) == (0, 1)
    assert CitationCoverage().parts(Item("a", labels=labelled())) is None
    none_relevant = Gold(id="a", documents={"d1": 0})
    assert CitedDocumentRecall().parts(Item("a", answer=FIRST, gold=none_relevant)) == (0, 0)
    assert CitedDocumentPrecision().parts(Item("a", answer=FIRST, gold=none_relevant)) == (0, 1)
    assert CitedDocumentPrecision().parts(Item("a", answer=uncited, gold=none_relevant)) == (0, 1)
    assert CitedDocumentPrecision(by="document").parts(Item("a", answer=uncited, gold=none_relevant)) == (0, 0)
    for kind in (CitedDocumentPrecision, CitedDocumentRecall):
        assert kind().parts(Item("a", answer=FIRST, gold=Gold(id="a"))) is None
        assert kind().parts(Item("a", gold=none_relevant)) is None


def test_an_answer_that_cites_nothing_is_wrong_as_the_track_says_or_has_nothing_to_count():
    uncited = Item("b", answer=answered(()), labels=labelled(), gold=Gold(id="b", documents=["d1"]))
    unjudged = Item("c", answer=answered(()), checked=checked(answered(()), {}))
    for kind in (CitationSupportRate, CitedDocumentPrecision):
        assert figure(kind(), [ITEMS[0], uncited]) == pytest.approx(figure(kind(), ITEMS[:1]) / 2)
        assert kind(uncited="empty").parts(uncited) == (0, 0)
    assert CitationSupportRate(source="verdicts").parts(unjudged) == (0, 1)
    assert CitationSupportRate(source="verdicts", uncited="empty").parts(unjudged) == (0, 0)
    nowhere = Item("d", answer=answered((9,)), labels=labelled())
    assert CitationSupportRate().parts(nowhere) == (0, 1)


def test_a_refusal_and_an_answer_without_a_sentence_are_missing():
    gold = Gold(id="a", documents=["d1"])
    refused = FIRST.model_copy(update={"insufficient": True})
    for none in (refused, parse_answer("a", "", SOURCES)):
        one = Item("a", answer=none, labels=labelled((0, "d1", "s")), checked=checked(FIRST, VERDICTS), gold=gold)
        for kind in BIOGEN_MEASURES:
            assert kind().parts(one) is None
        assert CitationSupportRate(source="verdicts").parts(one) is None


def test_a_dangling_citation_is_a_document_that_is_not_relevant():
    gold = Gold(id="a", documents=["d1"])
    assert CitedDocumentPrecision().parts(Item("a", answer=answered((1, 9), (1, 8)), gold=gold)) == (1 / 3, 1)


def test_a_citation_has_one_label():
    with pytest.raises(ValidationError, match="expected one label a citation; found two of 'd1' in sentence 0"):
        labelled((0, "d1", "s"), (0, "d1", "i"))


def test_a_measure_refuses_what_it_cannot_mean():
    with pytest.raises(InputError, match="source of CitationSupportRate"):
        CitationSupportRate(source="judge")
    for grade in (0, -1, True, float("nan")):
        with pytest.raises(InputError, match="rel of CitedDocumentRecall"):
            CitedDocumentRecall(rel=grade)


answers = st.lists(st.lists(st.integers(1, 6), max_size=3).map(tuple), min_size=1, max_size=4)


@given(answers, st.data())
def test_shares_lie_between_0_and_1_and_coverage_takes_as_many_citations_as_it_has_sentences(cited, data):
    answer = answered(*cited)
    pairs = sorted({(at, marker) for at, markers in enumerate(cited) for marker in markers if marker < 6})
    words = {pair: data.draw(st.sampled_from("scni")) for pair in pairs}
    told = labelled(*((at, f"d{marker}", word) for (at, marker), word in words.items()))
    graded = data.draw(st.dictionaries(st.sampled_from([it.id for it in SOURCES]), st.integers(-1, 5), min_size=1))
    one = Item("a", answer=answer, labels=told, gold=Gold(id="a", documents=graded))
    for kind in BIOGEN_MEASURES:
        parts = kind().parts(one)
        assert parts is not None and 0 <= parts[0] <= 1 and parts[1] in (0, 1)
    covered, sentences = CitationCoverage(by="sentence").parts(one)
    supporting, _ = CitationSupportRate(by="pair").parts(one)
    contradicting, judged = CitationContradictRate(by="pair").parts(one)
    assert sentences == len(cited) and judged == len(pairs)
    assert covered <= supporting <= judged - contradicting
