"""The laws of the any-entails rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.verify import AnyEntails, Sheet

RULE = AnyEntails()
NAMES = ("supported", "contradicted", "irrelevant")
ROWS = st.tuples(*[st.integers(1, 20)] * 3).map(lambda row: tuple(part / sum(row) for part in row))
STATEMENT = st.lists(ROWS, min_size=1, max_size=8)


@st.composite
def cases(draw: st.DrawFn) -> NDArray[np.float32]:
    """Scores of one to four statements against the same number of premises."""
    premises = draw(st.integers(0, 6))
    rows = st.lists(ROWS, min_size=premises, max_size=premises)
    scores = draw(st.lists(rows, min_size=1, max_size=4))
    return np.array(scores, dtype=np.float32).reshape(len(scores), premises, 3)


def one(*rows: tuple[float, float, float]) -> NDArray[np.float32]:
    return np.array([rows], dtype=np.float32).reshape(1, -1, 3)


def row_of(outcome_probabilities: dict[str, float]) -> list[float]:
    return [outcome_probabilities[name] for name in NAMES]


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_premises_does_not_change_the_label(scores: NDArray[np.float32], random):
    order = list(range(scores.shape[1]))
    random.shuffle(order)
    shuffled = RULE.decide(Sheet.filled(scores[:, order]))
    assert (shuffled.label, shuffled.native) == RULE.decide(Sheet.filled(scores))[:2]


@given(STATEMENT, st.integers(0, 8))
def test_an_entailing_premise_supports_at_any_position(rows: list[tuple[float, float, float]], place: int):
    rows.insert(min(place, len(rows)), (0.9, 0.05, 0.05))
    assert RULE.decide(Sheet.filled(one(*rows))).label == "supported"


@given(STATEMENT)
def test_the_label_is_that_of_the_definition(rows: list[tuple[float, float, float]]):
    words = {int(np.argmax(np.float32(row))) for row in rows}
    expected = "supported" if ENTAILS in words else "contradicted" if CONTRADICTS in words else "irrelevant"
    assert RULE.decide(Sheet.filled(one(*rows))).label == expected


@given(STATEMENT)
def test_a_premise_that_says_nothing_changes_neither_label_nor_evidence(
    rows: list[tuple[float, float, float]],
):
    before = RULE.decide(Sheet.filled(one(*rows)))
    after = RULE.decide(Sheet.filled(one(*rows, (0.001, 0.001, 0.998))))
    assert (after.label, after.premises, after.probabilities) == (
        before.label,
        before.premises,
        before.probabilities,
    )


@given(cases())
def test_the_probabilities_sum_to_one(scores: NDArray[np.float32]):
    outcome = RULE.decide(Sheet.filled(scores))
    if scores.shape[1]:
        assert sum(outcome.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert set(outcome.probabilities) == set(NAMES)
    else:
        assert outcome.probabilities == {}


@given(STATEMENT)
def test_the_probabilities_are_those_of_the_first_premise_that_carries_the_verdict(
    rows: list[tuple[float, float, float]],
):
    outcome = RULE.decide(Sheet.filled(one(*rows)))
    if outcome.premises:
        assert row_of(outcome.probabilities) == pytest.approx(rows[outcome.premises[0]], abs=1e-5)
    else:
        nearest = min(row[NEUTRAL] for row in rows)
        assert outcome.probabilities["irrelevant"] == pytest.approx(nearest, abs=1e-5)


@given(STATEMENT, st.integers(1, 4))
def test_the_evidence_has_the_deciding_label_and_comes_strongest_first(
    rows: list[tuple[float, float, float]], most: int
):
    outcome = AnyEntails(evidence=most).decide(Sheet.filled(one(*rows)))
    column = NAMES.index(outcome.label)
    strengths = [float(np.float32(rows[premise][column])) for premise in outcome.premises]
    deciding = [row for row in rows if int(np.argmax(np.float32(row))) == column]
    assert strengths == sorted(strengths, reverse=True)
    assert len(strengths) == (0 if outcome.label == "irrelevant" else min(most, len(deciding)))
    assert len(set(outcome.premises)) == len(outcome.premises)
    for premise in outcome.premises:
        assert int(np.argmax(np.float32(rows[premise]))) == column


def test_no_premises_leave_the_claim_irrelevant_and_without_probabilities():
    outcome = RULE.decide(Sheet.filled(np.zeros((1, 0, 3), dtype=np.float32)))
    assert outcome[:6] == ("irrelevant", "irrelevant", {}, (), (), None)


def test_no_statements_at_all_are_an_error():
    with pytest.raises(ValueError, match="at least one statement"):
        RULE.decide(Sheet.filled(np.zeros((0, 2, 3), dtype=np.float32)))


def test_premises_of_the_same_strength_keep_their_order():
    same = (0.8, 0.1, 0.1)
    assert RULE.decide(Sheet.filled(one((0.2, 0.2, 0.6), same, same, (0.9, 0.05, 0.05), same))).premises == (3, 1, 2)


def test_a_tie_between_entails_and_contradicts_counts_as_entails():
    assert RULE.decide(Sheet.filled(one((0.4, 0.4, 0.2)))).label == "supported"


def test_a_tie_between_contradicts_and_neither_counts_as_contradicts():
    assert RULE.decide(Sheet.filled(one((0.2, 0.4, 0.4)))).label == "contradicted"


@given(cases())
def test_a_claim_is_as_good_as_the_worst_of_its_statements(scores: NDArray[np.float32]):
    labels = {RULE.decide(Sheet.filled(scores[[index]])).label for index in range(len(scores))}
    worst = next(label for label in ("contradicted", "irrelevant", "supported") if label in labels)
    assert RULE.decide(Sheet.filled(scores)).label == worst


@given(cases())
def test_the_order_of_statements_does_not_change_the_label(scores: NDArray[np.float32]):
    assert RULE.decide(Sheet.filled(scores[::-1])).label == RULE.decide(Sheet.filled(scores)).label


@given(cases())
def test_several_statements_are_reported_one_by_one(scores: NDArray[np.float32]):
    outcome = RULE.decide(Sheet.filled(scores))
    alone = [RULE.decide(Sheet.filled(scores[[index]])) for index in range(len(scores))]
    if len(scores) == 1:
        assert outcome.statements == ()
    else:
        assert [item.label for item in outcome.statements] == [item.label for item in alone]
        assert [item.holds for item in outcome.statements] == [item.label == "supported" for item in alone]


def test_a_failed_statement_has_no_label_next_to_a_contradicted_one():
    scores = np.array([[(0.1, 0.8, 0.1)], [(0.9, 0.05, 0.05)]], dtype=np.float32)
    outcome = RULE.decide(Sheet.filled(scores, failed=np.array([[False], [True]])))
    assert outcome.label == "contradicted"
    assert [(item.label, item.native) for item in outcome.statements] == [
        ("contradicted", "contradicted"),
        (None, "failed"),
    ]


def test_the_native_label_is_that_of_the_deciding_premise():
    sheet = Sheet.filled(one((0.1, 0.1, 0.8), (0.9, 0.05, 0.05)))
    sheet.natives.update({(0, 0): "not attributable", (0, 1): "attributable"})
    assert RULE.decide(sheet).native == "attributable"
