"""Nugget and sentence measures: worked examples, and comparison with brute-force matching."""

from __future__ import annotations

from itertools import combinations

import pytest
from figures import figure
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.nuggets import (
    ClaimRecall,
    Completeness,
    Correctness,
    Harmfulness,
    NuggetCoverage,
    NuggetF,
    NuggetPrecision,
    NuggetRecall,
    NuggetRedundancy,
    Redundancy,
    one_to_one,
)
from vericite.records import Gold, GoldNugget, Labels, NuggetMatch

OF_NUGGETS = (NuggetPrecision, NuggetRecall, NuggetF, NuggetCoverage, NuggetRedundancy)
OF_SENTENCES = (Completeness, Redundancy, Harmfulness)


def item(gold: str, answer: int, same: dict[int, str]) -> Item:
    """An item with gold nuggets by letter (capitals: vital) and the ones that each nugget of the answer states."""
    nuggets = tuple(GoldNugget(id=letter, vital=letter.isupper()) for letter in gold)
    matches = tuple(NuggetMatch(answer=place, gold=letter) for place, letters in same.items() for letter in letters)
    return Item("a", gold=Gold(id="a", nuggets=nuggets), labels=Labels(id="a", nuggets=answer, matches=matches))


def labelled(**told: tuple) -> Item:
    return Item("a", labels=Labels(id="a", **told))


TWO = [
    # Pairs: 0-A or 1-A, 2-c. B is said by 3, which also says c; so 3-B, 2-c and one of 0, 1 with A: three pairs.
    item("ABcD", 5, {0: "A", 1: "A", 2: "c", 3: "Bc"}),
    # One nugget says both gold ones, and is paired with one of them.
    item("bA", 2, {0: "bA"}),
]
F_FIRST = 2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (NuggetPrecision(), (3 / 5 + 1 / 2) / 2),
        (NuggetRecall(), (3 / 4 + 1 / 2) / 2),
        (NuggetRecall(vital=True), (2 / 3 + 1 / 1) / 2),
        (NuggetF(), (F_FIRST + 1 / 2) / 2),
        (NuggetF(beta=3), (10 * 0.6 * 0.75 / (9 * 0.6 + 0.75) + 0.5) / 2),
        (NuggetF(vital=True), (2 * 0.6 * (2 / 3) / (0.6 + 2 / 3) + 2 * 0.5 * 1 / 1.5) / 2),
        (NuggetCoverage(), (3 / 4 + 2 / 2) / 2),
        (NuggetCoverage(vital=True), (2 / 3 + 1) / 2),
        (NuggetRedundancy(), (1 / 5 + 0) / 2),
    ],
    ids=str,
)
def test_a_worked_example(measure: Measure, expected: float):
    assert figure(measure, TWO) == pytest.approx(expected, abs=1e-9)


def test_matches_move_to_make_room_for_one_more():
    # Taking what comes first, 0-a and 1-b, leaves c with nothing; c-1 moves b to 0 and a to 2.
    assert sorted(one_to_one({"a": [0, 2], "b": [1, 0], "c": [1]}).values()) == ["a", "b", "c"]


edges = st.sets(st.tuples(st.integers(0, 4), st.sampled_from("ABcde")), max_size=9)


def most_pairs(pairs: set[tuple[int, str]]) -> int:
    for size in range(min(5, len(pairs)), 0, -1):
        for chosen in combinations(sorted(pairs), size):
            if len({answer for answer, _ in chosen}) == len({gold for _, gold in chosen}) == size:
                return size
    return 0


@given(edges)
def test_the_matching_is_maximal_and_prefers_vital_nuggets(pairs):
    same = {letter: [answer for answer, gold in sorted(pairs) if gold == letter] for letter in "ABcde"}
    found = one_to_one(same)
    assert all((answer, gold) in pairs for answer, gold in found.items())
    assert len(set(found.values())) == len(found) == most_pairs(pairs)
    vital = {(answer, gold) for answer, gold in pairs if gold.isupper()}
    assert sum(gold.isupper() for gold in found.values()) == most_pairs(vital)


def test_long_augmenting_paths_are_found():
    # Each gold nugget is said by its own and the next of the answer's; the last only by the first one.
    count = 3000
    same = {str(place): [place, place + 1] for place in range(count)} | {"last": [0]}
    assert len(one_to_one(same)) == count + 1


@given(edges, st.integers(0, 3))
def test_nugget_scores_are_consistent(pairs, more):
    one = item("ABcde", 5 + more, {at: "".join(gold for place, gold in pairs if place == at) for at in range(5)})
    for kind in OF_NUGGETS:
        value = figure(kind(), [one])
        assert value is not None and 0 <= value <= 1
    precision, recall, f1 = (figure(kind(), [one]) for kind in (NuggetPrecision, NuggetRecall, NuggetF))
    assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12
    assert recall <= figure(NuggetCoverage(), [one])
    assert precision + figure(NuggetRedundancy(), [one]) <= 1 + 1e-12


def test_missing_empty_and_zero_are_distinguished_for_nuggets():
    for kind in OF_NUGGETS:
        assert kind().parts(Item("a", gold=Gold(id="a", nuggets=()))) is None
        assert kind().parts(Item("a", labels=Labels(id="a", nuggets=1, matches=()))) is None
        assert kind().parts(Item("a", gold=Gold(id="a"), labels=Labels(id="a", nuggets=1, matches=()))) is None
        assert kind().parts(Item("a", gold=Gold(id="a", nuggets=()), labels=Labels(id="a", nuggets=1))) is None
        assert kind().parts(item("", 2, {})) == (0, 0)
        assert kind().parts(item("A", 2, {})) == (0, 1)
    silent = item("A", 0, {})
    assert NuggetPrecision().parts(silent) == NuggetRedundancy().parts(silent) == (0, 0)
    assert NuggetRecall().parts(silent) == NuggetF().parts(silent) == (0, 1)
    assert NuggetRecall(vital=True).parts(item("a", 1, {0: "a"})) == (0, 0)
    assert NuggetF(vital=True).parts(item("a", 1, {0: "a"})) == (0, 0)


def test_labels_for_other_gold_make_a_question_missing():
    other = item("A", 2, {0: "Z"})
    for kind in OF_NUGGETS:
        assert kind().parts(other) is None


def test_an_invalid_beta_is_refused():
    for beta in (0, -1.0, float("inf"), float("nan"), True):
        with pytest.raises(InputError, match="beta of NuggetF"):
            NuggetF(beta=beta)
    with pytest.raises(InputError, match="expected vital of NuggetRecall to be True or False; found 'yes'"):
        NuggetRecall(vital="yes")


SENTENCES = [
    labelled(
        sentences=("required", "required", "borderline", "unnecessary", None),
        correct=(True, False, None, True, True),
        entailed=(True, False),
    ),
    labelled(sentences=("inappropriate",), correct=(False,), entailed=(True, None)),
]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (Completeness(), (2 / 4 + 0) / 2),
        (Completeness(by="sentence"), 2 / 5),
        (Redundancy(), (1 / 4 + 0) / 2),
        (Redundancy(by="sentence"), 1 / 5),
        (Harmfulness(), (0 + 1) / 2),
        (Harmfulness(by="sentence"), 1 / 5),
        (Correctness(), (3 / 4 + 0) / 2),
        (Correctness(by="sentence"), 3 / 5),
        (ClaimRecall(), (1 / 2 + 1) / 2),
        (ClaimRecall(by="claim"), 2 / 3),
    ],
    ids=str,
)
def test_labels_of_sentences_by_hand(measure: Measure, expected: float):
    assert figure(measure, SENTENCES) == pytest.approx(expected, abs=1e-9)


def test_missing_empty_and_zero_are_distinguished_for_sentences():
    fields = {Correctness: "correct", ClaimRecall: "entailed"} | dict.fromkeys(OF_SENTENCES, "sentences")
    for kind, field in fields.items():
        no = False if field != "sentences" else "borderline"
        assert kind().parts(Item("a")) is None
        assert kind().parts(labelled()) is None
        assert kind().parts(labelled(**{field: ()})) == (0, 0)
        assert kind().parts(labelled(**{field: (None, None)})) == (0, 0)
        assert kind().parts(labelled(**{field: (no, None)})) == (0, 1)
