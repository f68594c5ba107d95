"""Citation measures against gold and labels: worked examples, and comparison with scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from figures import figure, kinds_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError, ValuesError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import (
    AgainstGold,
    CitationContradictRate,
    CitationCoverage,
    CitationExactMatch,
    CitationF1,
    CitationPrecision,
    CitationRecall,
    CitationSupportRate,
    CitedDocumentPrecision,
    CitedDocumentRecall,
)
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.verdicts import SupportRate
from vericite.records import (
    Answer,
    CheckedAnswer,
    Citation,
    CitationJudgement,
    Claim,
    Document,
    Gold,
    GoldSentence,
    Labels,
    Provenance,
    Span,
    Summary,
    Verdict,
    VerificationFailure,
)
from vericite.text.citations import parse_answer

CITATION_GOLD_KINDS = (CitationF1, CitationPrecision, CitationRecall, CitationExactMatch)

KINDS = (CitationF1, CitationPrecision, CitationRecall)
DOCUMENTS = [f"d{number}" for number in range(1, 6)]


def answered(id: str, *cited: str) -> Answer:
    """An answer whose sentences cite the named documents, as in ``d1 d2``; ``9`` is a marker without a document."""
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


def test_markers_without_a_document_count_as_wrong_citations():
    dangling = item("a", ("d1 8 9", "9"), {0: "d1", 1: "d2"})
    assert CitationPrecision().parts(dangling) == (1 / 3 + 0, 2)
    assert CitationPrecision(level="article").parts(dangling) == (1 / 3, 1)


def test_without_gold_citations_or_an_answer_a_question_is_missing():
    for kind in CITATION_GOLD_KINDS:
        for level in ("sentence", "article"):
            measure = kind(level=level)
            assert measure.parts(item("a", ("d1",), None)) is None
            assert measure.parts(Item("a", answer=answered("a", "d1"))) is None
            assert measure.parts(Item("a", gold=Gold(id="a", citations=()))) is None


def test_a_refusal_and_an_answer_without_a_sentence_are_missing():
    said = item("a", ("d1",), {0: "d1"})
    refused = said.answer.model_copy(update={"insufficient": True})
    for none in (refused, answered("a")):
        for kind in CITATION_GOLD_KINDS:
            for level in ("sentence", "article"):
                assert kind(level=level).parts(Item("a", answer=none, gold=said.gold)) is None


def test_gold_for_a_missing_sentence_belongs_to_another_answer():
    other = item("a", ("d1",), {0: "d1", 1: "d2"})
    for kind in CITATION_GOLD_KINDS:
        assert kind().parts(other) is None
    # Articles are compared as a whole, whatever their sentences are.
    assert CitationRecall(level="article").parts(other) == (1 / 2, 1)


def test_gold_without_sentences_leaves_nothing_to_count():
    nothing = item("a", ("d1",), {})
    for kind in CITATION_GOLD_KINDS:
        assert kind().parts(nothing) == (0, 0)
    # An answer that ought to cite nothing, and does or does not.
    assert CitationF1(level="article").parts(nothing) == (0, 1)
    assert CitationF1(level="article").parts(item("a", ("",), {})) == (1, 1)
    assert CitationF1(level="article", empty="ignored").parts(item("a", ("",), {})) == (0, 0)
    assert CitationF1(average="micro").parts(item("a", ("",), {0: ""})) == (0, 0)


def matrices(items: list[Item]) -> tuple[np.ndarray, np.ndarray]:
    """Gold and cited documents of each sentence [sentences, documents]."""
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
def test_citation_scores_agree_with_scikit_learn(drawn):
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


def test_an_unknown_parameter_value_is_refused():
    with pytest.raises(InputError, match="expected level of CitationF1 to be one of 'sentence', 'article'"):
        CitationF1(level="document")
    assert str(CitationF1(level="article", average="micro")) == "CitationF1(level='article', average='micro')"


BIOGEN_KINDS = [kind for kind in kinds_of("citation", "citation_gold") if not issubclass(kind, AgainstGold)]

SAID = "Aspirin lowers the risk of a first stroke"
SOURCES = [Document.from_text(f"d{number}", "Some text.") for number in range(1, 6)]


def citing(*cited: tuple[int, ...]) -> Answer:
    sentences = [" ".join([SAID, "".join(f"[{marker}]" for marker in markers)]).strip() + "." for markers in cited]
    answer = parse_answer("a", " ".join(sentences), SOURCES)
    assert len(answer.claims) == len(cited)
    return answer


def labelled(*told: tuple[int, str, str], sentences=None) -> Labels:
    """Labels by sentence and document: s(upports), c(ontradicts), n(eutral) or i(rrelevant)."""
    names = {"s": "supports", "c": "contradicts", "n": "neutral", "i": "irrelevant"}
    judged = tuple(CitationJudgement(sentence=at, document=id, label=names[word]) for at, id, word in told)
    return Labels(id="a", citations=judged, sentences=sentences)


def checked(answer: Answer, told: dict[tuple[int, int], str]) -> CheckedAnswer:
    """Verdicts by sentence and marker; ``?`` is an abstention, ``!`` a failure."""
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


FIRST = citing((1, 2), (3,), (), (4, 5))
SECOND = citing((1,), ())
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
def test_biogens_measures_by_hand(measure: Measure, expected: float):
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
def test_source_verdicts_uses_the_judge(told, coverage, support, contradict):
    items = [Item("a", answer=FIRST, checked=checked(FIRST, told))]
    assert figure(CitationCoverage(source="verdicts"), items) == pytest.approx(coverage, abs=1e-9)
    assert figure(CitationSupportRate(source="verdicts"), items) == pytest.approx(support, abs=1e-9)
    assert figure(CitationContradictRate(source="verdicts"), items) == pytest.approx(contradict, abs=1e-9)


def test_the_support_rate_by_verdicts_agrees_with_check():
    items = [Item("a", answer=FIRST, checked=checked(FIRST, VERDICTS))]
    assert figure(CitationSupportRate(source="verdicts", by="pair"), items) == figure(SupportRate(), items)


def test_labels_select_the_sentences_for_coverage_by_verdicts():
    one = Item("a", answer=FIRST, checked=checked(FIRST, VERDICTS), labels=ITEMS[0].labels)
    measure = CitationCoverage(source="verdicts", among="required")
    assert measure.parts(one) == (1, 1)
    assert measure.needs == ("answer", "verdicts", "labels")
    assert measure.parts(Item("a", answer=FIRST, checked=one.checked)) is None


def test_a_supported_verdict_on_a_sentence_that_cites_nothing_covers_nothing():
    answer = citing((), (1,))
    found = checked(answer, {(0, 1): "supported", (1, 1): "supported"})
    assert CitationCoverage(source="verdicts", by="sentence").parts(Item("a", answer=answer, checked=found)) == (1, 2)


def test_the_source_determines_the_needs_of_a_measure():
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
    assert measure.parts(Item("a", answer=citing((9,)), labels=labelled())) == (0, 1)


def test_labels_of_another_answer_make_a_question_missing():
    assert CitationCoverage().parts(Item("a", answer=SECOND, labels=labelled((2, "d1", "s")))) is None
    short = labelled((0, "d1", "s"), sentences=("required",))
    assert CitationCoverage(among="required").parts(Item("a", answer=SECOND, labels=short)) is None
    assert CitationCoverage(source="verdicts").parts(Item("a", answer=SECOND, checked=checked(FIRST, VERDICTS))) is None


def test_missing_empty_and_zero_are_distinguished():
    uncited = citing(())
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


def test_uncited_answers_score_zero_or_are_empty():
    uncited = Item("b", answer=citing(()), labels=labelled(), gold=Gold(id="b", documents=["d1"]))
    unjudged = Item("c", answer=citing(()), checked=checked(citing(()), {}))
    for kind in (CitationSupportRate, CitedDocumentPrecision):
        assert figure(kind(), [ITEMS[0], uncited]) == pytest.approx(figure(kind(), ITEMS[:1]) / 2)
        assert kind(uncited="empty").parts(uncited) == (0, 0)
    assert CitationSupportRate(source="verdicts").parts(unjudged) == (0, 1)
    assert CitationSupportRate(source="verdicts", uncited="empty").parts(unjudged) == (0, 0)
    nowhere = Item("d", answer=citing((9,)), labels=labelled())
    assert CitationSupportRate().parts(nowhere) == (0, 1)


def test_a_refusal_is_missing_in_biogens_measures():
    gold = Gold(id="a", documents=["d1"])
    refused = FIRST.model_copy(update={"insufficient": True})
    for none in (refused, parse_answer("a", "", SOURCES)):
        one = Item("a", answer=none, labels=labelled((0, "d1", "s")), checked=checked(FIRST, VERDICTS), gold=gold)
        for kind in BIOGEN_KINDS:
            assert kind().parts(one) is None
        assert CitationSupportRate(source="verdicts").parts(one) is None


def test_a_dangling_citation_is_a_document_that_is_not_relevant():
    gold = Gold(id="a", documents=["d1"])
    assert CitedDocumentPrecision().parts(Item("a", answer=citing((1, 9), (1, 8)), gold=gold)) == (1 / 3, 1)


def test_a_citation_has_one_label():
    with pytest.raises(ValuesError, match="expected one label for each citation; found two for 'd1' in sentence 0"):
        labelled((0, "d1", "s"), (0, "d1", "i"))


def test_invalid_sources_and_grades_are_refused():
    with pytest.raises(InputError, match="source of CitationSupportRate"):
        CitationSupportRate(source="judge")
    for grade in (0, -1, True, float("nan")):
        with pytest.raises(InputError, match="rel of CitedDocumentRecall"):
            CitedDocumentRecall(rel=grade)


answers = st.lists(st.lists(st.integers(1, 6), max_size=3).map(tuple), min_size=1, max_size=4)


@given(answers, st.data())
def test_shares_lie_between_0_and_1_and_coverage_takes_as_many_citations_as_it_has_sentences(cited, data):
    answer = citing(*cited)
    pairs = sorted({(at, marker) for at, markers in enumerate(cited) for marker in markers if marker < 6})
    words = {pair: data.draw(st.sampled_from("scni")) for pair in pairs}
    told = labelled(*((at, f"d{marker}", word) for (at, marker), word in words.items()))
    graded = data.draw(st.dictionaries(st.sampled_from([it.id for it in SOURCES]), st.integers(-1, 5), min_size=1))
    one = Item("a", answer=answer, labels=told, gold=Gold(id="a", documents=graded))
    for kind in BIOGEN_KINDS:
        parts = kind().parts(one)
        assert parts is not None and 0 <= parts[0] <= 1 and parts[1] in (0, 1)
    covered, sentences = CitationCoverage(by="sentence").parts(one)
    supporting, _ = CitationSupportRate(by="pair").parts(one)
    contradicting, judged = CitationContradictRate(by="pair").parts(one)
    assert sentences == len(cited) and judged == len(pairs)
    assert covered <= supporting <= judged - contradicting
