"""Laws of the generators that break claims: one edit, in one place, that the premise tells apart."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mix.edits import (
    Names,
    broken,
    comparator_edits,
    corrupted,
    direction_edits,
    edits,
    negation_edits,
    number_edits,
    overclaim_edits,
    swap_edits,
)
from mix.example import Example

NAMES = Names(("amlodipine", "ramipril", "losartan"), ("gastritis", "psoriasis"), ("TP53", "KRAS2"))
CLAIM = "Ramipril 10 mg reduced the pressure by 12.5% in women with gastritis over 8 weeks."
PREMISE = f"We enrolled 240 people. {CLAIM} No deaths occurred."


def _dice() -> random.Random:
    return random.Random(7)


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", text)


def test_a_broken_claim_differs_and_is_not_in_the_premise() -> None:
    found = edits(CLAIM, PREMISE, NAMES, _dice())
    assert {"number", "unit", "direction", "negation", "entity", "population"} <= {edit.kind for edit in found}
    for edit in found:
        assert edit.of(CLAIM) != CLAIM
        assert edit.of(CLAIM) not in PREMISE


def test_all_but_a_number_edit_keep_the_numbers() -> None:
    for edit in edits(CLAIM, PREMISE, NAMES, _dice()):
        if edit.kind == "number":
            assert len(set(_numbers(edit.of(CLAIM))) ^ set(_numbers(CLAIM))) == 2
        else:
            assert _numbers(edit.of(CLAIM)) == _numbers(CLAIM)


@given(st.integers(3, 1800), st.integers(0, 1000))
def test_a_changed_number_is_none_that_the_premise_has(number: int, seed: int) -> None:
    claim = f"The cohort held {number} nurses and 41 cooks."
    for edit in number_edits(claim, claim, random.Random(seed)):
        if edit.kind == "number":
            assert set(_numbers(edit.of(claim))) - {str(number), "41"}


@pytest.mark.parametrize(
    "claim",
    [
        "Interleukin-6 rose in type 2 diabetes.",
        "FEV(1) fell in phase 3.",
        "It began in 1998.",
        "The odds ratio had a 95% CI.",
        "Pupils of the 5 th grade read more.",
        "Survival differed (p < 0.05).",
    ],
)
def test_numbers_that_are_names_stay(claim: str) -> None:
    assert not [edit for edit in number_edits(claim, claim, _dice()) if edit.kind.startswith("number")]


def test_two_figures_of_two_arms_change_places_and_two_times_do_not() -> None:
    claim = "Relapse occurred in 12% of the zinc group and 30% of the placebo group."
    swapped = [edit.of(claim) for edit in number_edits(claim, claim, _dice()) if edit.kind == "number-swap"]
    assert swapped == ["Relapse occurred in 30% of the zinc group and 12% of the placebo group."]
    times = "Weight was taken at 3 and 6 months."
    assert not [edit for edit in number_edits(times, times, _dice()) if edit.kind == "number-swap"]


@pytest.mark.parametrize(
    ("claim", "reversed_claim"),
    [
        ("Zinc increased appetite.", "Zinc decreased appetite."),
        ("Zinc led to an improvement in sleep.", "Zinc led to a deterioration in sleep."),
        ("Zinc was superior to placebo.", "Zinc was inferior to placebo."),
        ("Risk was higher with zinc.", "Risk was lower with zinc."),
    ],
)
def test_a_direction_is_turned(claim: str, reversed_claim: str) -> None:
    assert reversed_claim in [edit.of(claim) for edit in direction_edits(claim)]


@pytest.mark.parametrize(
    "claim",
    ["Zinc did not increase appetite.", "Sleep was similar in people with increased weight.", "Zinc was given."],
)
def test_a_direction_that_decides_nothing_stays(claim: str) -> None:
    assert not list(direction_edits(claim))


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("Zinc was associated with sleep.", "Zinc was not associated with sleep."),
        ("Zinc reduced the risk of colds.", "Zinc did not reduce the risk of colds."),
        ("Zinc did not reduce colds.", "Zinc reduced colds."),
        ("No significant difference was seen.", "A significant difference was seen."),
        ("Zinc cannot cure colds.", "Zinc can cure colds."),
    ],
)
def test_a_negation_is_put_in_or_taken_out(claim: str, denied: str) -> None:
    assert denied in [edit.of(claim) for edit in negation_edits(claim)]


def test_a_hedged_claim_is_not_denied() -> None:
    assert not list(negation_edits("Zinc may be associated with sleep."))


def test_two_arms_change_places() -> None:
    claim = "Zinc was more effective than placebo."
    assert [edit.of(claim) for edit in comparator_edits(claim)] == ["Placebo was more effective than zinc."]
    assert not list(comparator_edits("The rate was higher in arm A than arm B."))


def test_another_drug_is_neutral_and_unknown_to_the_premise() -> None:
    for edit in swap_edits(CLAIM, PREMISE, NAMES, _dice()):
        assert edit.effect == "neutral"
        assert not re.search(rf"\b{edit.new}\b", PREMISE, re.IGNORECASE)


def test_an_overclaim_needs_a_hedge_in_the_premise() -> None:
    claim = "Zinc may shorten colds."
    assert [edit.of(claim) for edit in overclaim_edits(claim, claim)] == ["Zinc will shorten colds."]
    assert not list(overclaim_edits(claim, "Zinc shortened colds."))


def _example(claim: str, premise: str) -> Example:
    return Example(premise, claim, "entails", "made-up", "extract", "g")


def test_twins_share_a_premise_and_each_claim_is_once_entailed_and_once_not() -> None:
    example = _example("Zinc increased appetite.", "After a month zinc increased appetite in all arms.")
    edit = next(iter(direction_edits(example.claim)))
    found = broken(example, edit, "t")
    assert len(found) == 4
    for claim in {item.claim for item in found}:
        assert {item.label for item in found if item.claim == claim} == {"entails", "contradicts"}
    for twin in {item.twin for item in found}:
        pair = [item for item in found if item.twin == twin]
        assert len(pair) == 2
        assert len({item.premise for item in pair}) == 1
        assert len({item.claim for item in pair}) == 2


def test_who_overclaims_says_the_weaker_thing_too() -> None:
    example = _example("Zinc may shorten colds.", "Taken early, zinc may shorten colds.")
    edit = next(iter(overclaim_edits(example.claim, example.premise)))
    found = {(item.premise, item.claim): item.label for item in broken(example, edit, "t")}
    assert found["Taken early, zinc may shorten colds.", "Zinc will shorten colds."] == "neutral"
    assert found["Taken early, zinc will shorten colds.", "Zinc may shorten colds."] == "entails"


def test_the_same_dice_break_alike() -> None:
    examples = [_example(CLAIM, PREMISE), _example("Zinc increased appetite.", "Zinc increased appetite.")]
    assert corrupted(examples, NAMES, _dice(), 2) == corrupted(examples, NAMES, _dice(), 2)
