"""Reason and Verify's measures of rationales, by verdicts of its protocol and by labels, worked by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from figures import figure
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate import CitationRates
from vericite.evaluate.gold import Labels
from vericite.evaluate.items import Item
from vericite.evaluate.measures.rationale import CategoryShare, Faith, judged_statements
from vericite.models import Pair
from vericite.records import Document, Summary
from vericite.text.citations import parse_answer
from vericite.verify import (
    CATEGORIES,
    Context,
    Faithful,
    Judgement,
    Protocol,
    Verifier,
)
from vericite.verify.judging import ENTAILS, NEUTRAL

SOURCE = Document.from_text("d1", "Aspirin was given to all patients.")


class Naming:
    """Says of a statement the category that it names."""

    signature = "naming"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            named = next((name for name in CATEGORIES if name.lower() in pair.claim.lower()), None)
            if named is None:
                yield Judgement.failed("the judge lost its voice", "mumble")
            else:
                yield Judgement.certain(CATEGORIES[named].column, named)


class Plain:
    """A judge without the paper's categories."""

    signature = "plain"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            explicit = "CORRECT-EXPLICIT" in pair.claim
            yield Judgement.certain(ENTAILS if explicit else NEUTRAL, "said so")


FAITH = Protocol(premise=Context(2), judge=Naming(), aggregate=Faithful(), name="reason-verify(2)")


def item(*statements: str, protocol: Protocol = FAITH) -> Item:
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
def test_a_worked_example(source, kind, parameters, expected):
    items = [item(*FIRST), item(*SECOND)] if source == "verdicts" else [labelled(*FIRST, None), labelled(*SECOND)]
    assert figure(kind(source=source, **parameters), items) == pytest.approx(expected, abs=1e-9)


def test_faith_is_what_check_prints_as_statements_that_hold():
    items = [item(*FIRST), item(*SECOND), item("one that nobody can judge")]
    rates = CitationRates()
    for one in items:
        rates.add(one.checked.summary)
    assert figure(Faith(), items) == rates["statements that hold"].value
    for one in items:
        assert len(judged_statements(one.checked)) == one.checked.summary.statements
    # What could not be judged is counted nowhere.
    assert Faith().parts(items[2]) == (0, 0)


def test_statements_of_a_claim_taken_apart_because_it_failed_are_not_counted_as_check_does_not():
    one = item(*FIRST)
    first, *others = one.checked.verdicts
    verdicts = (first.model_copy(update={"taken_apart": True}), *others)
    summary = Summary.of(one.answer, verdicts, ())
    apart = one.checked.model_copy(update={"verdicts": verdicts, "summary": summary})
    assert len(judged_statements(apart)) == summary.statements == 3


def test_verdicts_of_another_protocol_are_missing():
    other = item(*FIRST, protocol=Protocol(premise=Context(2), judge=Naming(), name="context(2)"))
    for kind in (Faith, CategoryShare):
        assert kind().parts(other) is None
        assert kind().parts(labelled(*FIRST)) is None
        assert kind(source="labels").parts(item(*FIRST)) is None


def test_a_judge_without_categories_tells_faith_and_not_which():
    plain = item(*FIRST, protocol=Protocol(premise=Context(2), judge=Plain(), aggregate=Faithful(), name="custom"))
    # It knows the two explicit ones as entailed and no more.
    assert Faith().parts(plain) == (2, 4)
    assert CategoryShare().parts(plain) is None


def test_missing_nothing_to_count_and_0_are_told_apart():
    for measure in (Faith(source="labels"), CategoryShare(source="labels")):
        assert measure.parts(Item("a", labels=Labels(id="a"))) is None
        assert measure.parts(labelled("no such category")) is None
        assert measure.parts(labelled()) == measure.parts(labelled(None)) == (0, 0)
        assert measure.parts(labelled("INCORRECT-FALSE")) == (0, 1)
    assert Faith().parts(item()) is CategoryShare().parts(item()) is None


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
