"""Rates of verdicts, by answers checked with a judge that looks for a word, and worked by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from figures import figure, kinds_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate import CitationRates
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.verdicts import (
    AbstainedRate,
    AlceF1,
    AlcePrecision,
    AlceRecall,
    CategoryShare,
    CitationsPerSentence,
    ContradictedRate,
    DanglingRate,
    FailedRate,
    Faith,
    IrrelevantRate,
    SupportRate,
    UncitedRate,
    UniqueDocuments,
    judged_statements,
)
from vericite.evaluate.resampling import Bootstrap
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.records import Answer, Document, Labels, Summary
from vericite.text.citations import parse_answer
from vericite.verify import (
    CATEGORIES,
    Context,
    Faithfulness,
    Joint,
    Judgement,
    LeaveOneOut,
    Protocol,
    Verifier,
)

CITATION_KINDS = [kind for kind in kinds_of("citation", "verdicts") if "articles" not in kind.needs]

SOURCES = (
    "Aspirin lowers the risk of stroke.",
    "Aspirin does not lower the risk of stroke.",
    "Zinc was measured in both groups.",
    "The judge fails at this sentence.",
    "Aspirin lowers the risk of stroke in men.",
)
"""What documents 1 to 5 say, and so what a judge says of citing them: yes, no, neither, fails, yes."""

BARE = "Aspirin lowers the risk of a first stroke"
RATES = {
    SupportRate: "supported",
    ContradictedRate: "contradicted",
    IrrelevantRate: "irrelevant",
    AbstainedRate: "abstained",
    FailedRate: "failed",
    DanglingRate: "dangling",
    UncitedRate: "uncited",
}
ALCE_RATES = {AlceRecall: "citation recall", AlcePrecision: "citation precision"}


class Worded:
    """Goes by the words of ``SOURCES``, the first that comes in the premise; of several together the best."""

    signature = "worded"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            if "fails" in pair.premise:
                yield Judgement.failed("the judge lost its voice", "mumble")
            elif "lowers" in pair.premise:
                yield Judgement.certain(ENTAILS, "1")
            elif "does not" in pair.premise:
                yield Judgement.certain(CONTRADICTS, "0")
            else:
                yield Judgement.certain(NEUTRAL, "0")


PAIRWISE = Protocol(judge=Worded())
ALCE = Protocol(premise=Joint(title=True, apart=True), judge=Worded(), aggregate=LeaveOneOut(), name="alce")


def answered(id: str, *cited: tuple[int, ...]) -> Answer:
    text = " ".join(f"{BARE} {''.join(f'[{marker}]' for marker in markers)}.".replace(" .", ".") for markers in cited)
    documents = [Document.from_text(f"d{place}", said) for place, said in enumerate(SOURCES, start=1)]
    return parse_answer(id, text, documents)


def item(id: str, *cited: tuple[int, ...], protocol: Protocol = PAIRWISE) -> Item:
    answer = answered(id, *cited)
    assert len(answer.claims) == len(cited)
    return Item(id, answer=answer, checked=next(Verifier(protocol).verify([answer])))


def both(items: list[Item], protocol_rates: dict[type, str]) -> None:
    rates = CitationRates()
    for one in items:
        assert one.checked
        rates.add(one.checked)
    for kind, name in protocol_rates.items():
        if name in rates.names:
            measure = kind()
            found = measure.estimate(measure.of(items), Bootstrap())
            assert found.value == rates[name].value, name
            if found.n > 1:
                assert (found.low, found.high) == (rates[name].low, rates[name].high), name


THREE = [
    item("a", (1, 3), (2, 9), ()),
    item("b", (1,), (4, 5), (3,)),
    item("c", ()),
]
"""Pairs judged: a has yes, neither, no and one dangling; b has yes, failed, yes, neither; c cites nothing."""


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (SupportRate(), 3 / 6),
        (ContradictedRate(), 1 / 6),
        (IrrelevantRate(), 2 / 6),
        (AbstainedRate(), 0 / 7),
        (FailedRate(), 1 / 7),
        (DanglingRate(), 1 / 8),
        (UncitedRate(), 2 / 7),
        (CitationsPerSentence(), 8 / 7),
        (SupportRate(by="question"), (1 / 3 + 2 / 3) / 2),
        (ContradictedRate(by="question"), (1 / 3 + 0) / 2),
        (IrrelevantRate(by="question"), (1 / 3 + 1 / 3) / 2),
        (FailedRate(by="question"), (0 + 1 / 4) / 2),
        (DanglingRate(by="question"), (1 / 4 + 0) / 2),
        (UncitedRate(by="question"), (1 / 3 + 0 + 1) / 3),
        (CitationsPerSentence(by="question"), (4 / 3 + 4 / 3 + 0) / 3),
        (UniqueDocuments(), (3 + 4 + 0) / 3),
    ],
    ids=str,
)
def test_a_worked_example(measure: Measure, expected: float):
    assert figure(measure, THREE) == pytest.approx(expected, abs=1e-9)


def test_an_answer_without_citations_has_nothing_to_count_and_one_without_verdicts_is_missing():
    unchecked = Item("d", answer=answered("d", (1,)))
    for by in ("pair", "question"):
        estimate = SupportRate(by=by).estimate(SupportRate(by=by).of([*THREE, unchecked]), Bootstrap(draws=100))
        assert (estimate.n, estimate.empty, estimate.missing) == (2, 1, 1)
    assert SupportRate(by="question").parts(item("e", (3,))) == (0, 1)


def test_citation_counts_come_from_the_answer_or_the_verdicts():
    alone = [Item(one.id, answer=one.answer) for one in THREE]
    checked = [Item(one.id, checked=one.checked) for one in THREE]
    for measure in (UncitedRate(), CitationsPerSentence()):
        assert measure.parts(Item("none", checked=item("e").checked)) is None
        assert figure(measure, alone) == figure(measure, checked) == figure(measure, THREE)
        assert measure.parts(Item("none")) is None
    assert UniqueDocuments().parts(checked[0]) is None


def test_empty_answers_and_refusals_are_missing_despite_verdicts():
    said = item("f", (1,), ())
    refused = said.answer.model_copy(update={"insufficient": True})
    for none in (item("e"), Item("f", answer=refused, checked=said.checked)):
        for kind in CITATION_KINDS:
            assert kind().parts(none) is None


def test_a_document_cited_twice_counts_once():
    assert UniqueDocuments().parts(item("a", (1, 2), (1,), (1, 9))) == (2, 1)


# The first sentence is supported (d1; d3 is not needed), the second not, the third has a dangling citation.
ALCED = [
    item("a", (1, 3), (2, 3), (1, 9), protocol=ALCE),
    item("b", (1, 5), (), protocol=ALCE),
    item("c", (), protocol=ALCE),
]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (AlceRecall(by="pair"), (1 + 1 + 0) / (3 + 2 + 1)),
        (AlceRecall(), (1 / 3 + 1 / 2 + 0) / 3),
        # Needed are d1 twice in a, d1 and d5 in b: each suffices alone. Of a's citations one dangles.
        (AlcePrecision(by="pair"), (1 + 2) / (4 + 2)),
        (AlcePrecision(), (1 / 4 + 2 / 2 + 0) / 3),
        (AlcePrecision(uncited="empty"), (1 / 4 + 2 / 2) / 2),
        (AlceF1(), (2 * (1 / 3) * (1 / 4) / (1 / 3 + 1 / 4) + 2 * 0.5 * 1 / 1.5 + 0) / 3),
    ],
    ids=str,
)
def test_alces_rates_by_hand(measure: Measure, expected: float):
    assert figure(measure, ALCED) == pytest.approx(expected, abs=1e-9)


def by_the_script(cited: list[tuple[int, ...]]) -> tuple[float, float]:
    """Recall and precision of one answer by the rules of ALCE's script; documents 1 and 5 entail what is said."""
    supported = needed = total = 0
    for references in cited:
        if not references or any(reference > len(SOURCES) for reference in references):
            continue
        total += len(references)
        if not {1, 5} & set(references):
            continue
        supported += 1
        for reference in references:
            others = set(references) - {reference}
            needed += len(references) == 1 or reference in {1, 5} or not {1, 5} & others
    return supported / len(cited), needed / total if total else 0.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from((1, 2, 3, 5, 9)), max_size=3, unique=True).map(tuple), min_size=1, max_size=4))
def test_alces_rates_agree_with_the_papers_script(cited):
    one = item("a", *cited, protocol=ALCE)
    recall, precision = by_the_script(cited)
    assert AlceRecall().parts(one) == (pytest.approx(recall, abs=1e-9), 1)
    assert AlcePrecision().parts(one) == (pytest.approx(precision, abs=1e-9), 1)


def test_a_dangling_citation_makes_its_sentence_unsupported():
    one = item("a", (1, 9), protocol=ALCE)
    assert (AlceRecall().parts(one), AlcePrecision().parts(one)) == ((0, 1), (0, 1))


def test_precision_is_empty_if_citations_were_not_judged():
    one = item("a", (4,), protocol=ALCE)
    assert AlcePrecision().parts(one) == AlceRecall().parts(one) == (0, 0)


def test_alces_rates_need_documents_left_out():
    for kind in (AlceRecall, AlcePrecision, AlceF1):
        for by in ("pair", "question"):
            assert kind(by=by).parts(THREE[0]) is None
            assert kind(by=by).parts(Item("none")) is None


def test_f1_of_an_answer_that_cites_nothing_is_0_and_of_one_without_sentences_is_missing():
    assert AlceF1().parts(ALCED[2]) == (0, 1)
    assert AlceF1().parts(item("e", protocol=ALCE)) is None
    assert figure(AlceF1(by="pair"), [item("e", protocol=ALCE)]) is None


def test_pooled_f1_has_an_interval_and_can_be_compared():
    pooled = AlceF1(by="pair")
    found = pooled.estimate(pooled.of(ALCED * 5), Bootstrap(draws=200))
    assert found.low is not None and found.high is not None and found.value is not None
    assert found.low < found.value < found.high
    assert pooled.compared(pooled.parts(ALCED[0])) == (1, 3, 1, 4)
    assert AlceF1(by="question").compared((0.5, 1.0)) == 0.5
    assert SupportRate().compared((2.0, 3.0)) == (2, 3)
    assert SupportRate(by="question").compared((0.5, 1.0)) == 0.5


def test_rates_agree_with_check():
    both(THREE, RATES)
    both(ALCED, ALCE_RATES | RATES)


answers = st.lists(st.lists(st.lists(st.sampled_from((1, 2, 3, 4, 5, 9)), max_size=3), max_size=3), max_size=4)


@settings(max_examples=40, deadline=None)
@given(answers, st.booleans())
def test_rates_agree_with_check_for_any_citations(drawn, alce):
    protocol = ALCE if alce else PAIRWISE
    items = [item(f"q{place}", *map(tuple, cited), protocol=protocol) for place, cited in enumerate(drawn)]
    both(items, RATES | (ALCE_RATES if alce else {}))
    for kind in CITATION_KINDS:
        for by in ("pair", "question") if kind is not UniqueDocuments else (None,):
            measure = kind(by=by) if by else kind()
            value = figure(measure, items)
            assert value is None or value >= 0
            if measure.share and value is not None:
                assert value <= 1


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=1, max_size=9))
def test_pooled_f1_is_the_harmonic_mean_of_the_pooled_rates(rows):
    sums = np.array([[min(a, b), b, min(c, d), d] for a, b, c, d in rows], dtype=float).sum(axis=0)
    found = float(AlceF1(by="pair").statistic(sums))
    if sums[1] and sums[0] == 0:
        assert found == 0
    elif not sums[1] or not sums[3]:
        assert np.isnan(found)
    else:
        recall, precision = sums[0] / sums[1], sums[2] / sums[3]
        assert found == pytest.approx(2 * recall * precision / (recall + precision), abs=1e-12)


def test_an_unknown_parameter_value_is_refused():
    with pytest.raises(InputError, match="expected by of SupportRate to be one of 'pair', 'question'; found 'answer'"):
        SupportRate(by="answer")


def test_a_measure_is_its_string_and_its_parameters():
    assert str(SupportRate()) == "SupportRate"
    assert str(AlceF1(by="pair")) == "AlceF1(by='pair')"
    assert SupportRate() == SupportRate() != SupportRate(by="question")
    assert SupportRate() != ContradictedRate()


SOURCE = Document.from_text("d1", "Aspirin was given to all patients.")


class Naming:
    """Gives each statement the category that it names."""

    signature = "naming"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            named = next((name for name in CATEGORIES if name.lower() in pair.claim.lower()), None)
            if named is None:
                yield Judgement.failed("the judge lost its voice", "mumble")
            else:
                yield Judgement.certain(CATEGORIES[named], named)


class Plain:
    """A judge without the paper's categories."""

    signature = "plain"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            explicit = "CORRECT-EXPLICIT" in pair.claim
            yield Judgement.certain(ENTAILS if explicit else NEUTRAL, "said so")


FAITH = Protocol(premise=Context(2), judge=Naming(), aggregate=Faithfulness(), name="reason-verify(2)")


def stating(*statements: str, protocol: Protocol = FAITH) -> Item:
    text = " ".join(f"The statement here is {statement}." for statement in statements)
    answer = parse_answer("a", text, [SOURCE])
    return Item("a", answer=answer, checked=next(Verifier(protocol).verify([answer])))


def labelled(*categories: str | None) -> Item:
    return Item("a", labels=Labels(id="a", rationale=categories))


FIRST = ("CORRECT-EXPLICIT", "CORRECT-MISSING", "INCORRECT-FALSE", "CORRECT-EXPLICIT")
SECOND = ("INCORRECT-DEVIATING",)


@pytest.mark.parametrize("source", ["verdicts", "labels"])
@pytest.mark.parametrize(
    ("kind", "parameters", "expected"),
    [
        (Faith, {}, 3 / 5),
        (Faith, {"by": "question"}, (3 / 4 + 0) / 2),
        (CategoryShare, {}, 2 / 5),
        (CategoryShare, {"category": "INCORRECT-DEVIATING"}, 1 / 5),
        (CategoryShare, {"category": "INCORRECT-DEVIATING", "by": "question"}, (0 + 1) / 2),
    ],
)
def test_faith_by_hand(source, kind, parameters, expected):
    items = [stating(*FIRST), stating(*SECOND)] if source == "verdicts" else [labelled(*FIRST, None), labelled(*SECOND)]
    assert figure(kind(source=source, **parameters), items) == pytest.approx(expected, abs=1e-9)


def test_faith_agrees_with_statements_that_hold_in_check():
    items = [stating(*FIRST), stating(*SECOND), stating("one that nobody can judge")]
    rates = CitationRates()
    for one in items:
        rates.add(one.checked)
    assert figure(Faith(), items) == rates["statements that hold"].value
    for one in items:
        assert len(judged_statements(one.checked)) == one.checked.summary.statements
    # What could not be judged is counted nowhere.
    assert Faith().parts(items[2]) == (0, 0)


def test_statements_of_a_claim_taken_apart_because_it_failed_are_not_counted_as_check_does_not():
    one = stating(*FIRST)
    first, *others = one.checked.verdicts
    verdicts = (first.model_copy(update={"split_after_failure": True}), *others)
    summary = Summary.of(one.answer, verdicts, ())
    apart = one.checked.model_copy(update={"verdicts": verdicts, "summary": summary})
    assert len(judged_statements(apart)) == summary.statements == 3


def test_verdicts_of_another_protocol_are_missing():
    other = stating(*FIRST, protocol=Protocol(premise=Context(2), judge=Naming(), name="context(2)"))
    for kind in (Faith, CategoryShare):
        assert kind().parts(other) is None
        assert kind().parts(labelled(*FIRST)) is None
        assert kind(source="labels").parts(stating(*FIRST)) is None


def test_a_judge_without_categories_has_faith_but_no_category_shares():
    plain = stating(
        *FIRST, protocol=Protocol(premise=Context(2), judge=Plain(), aggregate=Faithfulness(), name="custom")
    )
    # It knows the two explicit ones as entailed and no more.
    assert Faith().parts(plain) == (2, 4)
    assert CategoryShare().parts(plain) is None


def test_missing_empty_and_zero_are_distinguished():
    for measure in (Faith(source="labels"), CategoryShare(source="labels")):
        assert measure.parts(Item("a", labels=Labels(id="a"))) is None
        assert measure.parts(labelled("no such category")) is None
        assert measure.parts(labelled()) == measure.parts(labelled(None)) == (0, 0)
        assert measure.parts(labelled("INCORRECT-FALSE")) == (0, 1)
    assert Faith().parts(stating()) is CategoryShare().parts(stating()) is None


@given(st.lists(st.sampled_from([*CATEGORIES, None]), max_size=9))
def test_shares_of_all_categories_add_up_to_1_and_those_of_correct_ones_to_faith(categories):
    one = [labelled(*categories)]
    shares = {name: figure(CategoryShare(source="labels", category=name), one) for name in CATEGORIES}
    faith = figure(Faith(source="labels"), one)
    if not any(categories):
        assert faith is None and set(shares.values()) == {None}
        return
    assert sum(shares.values()) == pytest.approx(1)
    assert sum(share for name, share in shares.items() if name.startswith("CORRECT")) == pytest.approx(faith)


def test_a_category_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="Did you mean 'CORRECT-EXPLICIT'"):
        CategoryShare(category="CORRECT-EXPLICT")
    assert str(CategoryShare(category="INCORRECT-FALSE")) == "CategoryShare(category='INCORRECT-FALSE')"
    assert Faith().needs == ("verdicts",) and Faith(source="labels").needs == ("labels",)
