from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.mauve import MAUVE
from vericite.evaluate.measures.model_scores import BERTScore, ClaimEntailment, ModelScore
from vericite.evaluate.resampling import Bootstrap
from vericite.text.citations import parse_answer

# By mauve-text 0.4.0, with its defaults, of these numbers of references and answers in each cell: the mean of the two
# areas under get_divergence_curve_for_multinomials(p, q, linspace(1e-6, 1 - 1e-6, 25), 5), plain and with half a text
# added to each cell.
BY_MAUVE_TEXT = [
    ((6, 3, 1), (2, 5, 3), 0.7185080368020385, 0.8163790148410938),
    ((10, 0, 5, 2), (4, 4, 0, 9), 0.15124445322273267, 0.3286708675334803),
    ((4, 0), (0, 4), 0.0040720962619612555, 0.08260150772177807),
    ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1), 0.5999035464100215, 0.7392639971769639),
]


@pytest.mark.parametrize(("references", "answers", "plain", "smoothed"), BY_MAUVE_TEXT)
def test_mauve_of_histograms_is_that_of_mauve_text(references, answers, plain, smoothed):
    sums = np.array([*references, *answers], dtype=np.float64)
    assert MAUVE().statistic(sums) == pytest.approx(plain, abs=1e-9)
    assert MAUVE(smoothed=True).statistic(sums) == pytest.approx(smoothed, abs=1e-9)
    both = MAUVE().statistic(np.array([[sums, sums[::-1]]]))
    assert both.shape == (1, 2)
    assert both[0, 0] == pytest.approx(plain, abs=1e-9)


def vectors(counts):
    """Crowds far from one another, so that any k-means finds the same."""
    rows = []
    for axis, count in enumerate(counts):
        for number in range(count):
            row = np.zeros(6)
            row[axis], row[4], row[5] = 1.0, 0.01 * (number * 7 % 5), 0.01 * (number * 3 % 4)
            rows.append(row)
    return rows


def crowds(references, answers):
    pairs = zip(vectors(references), vectors(answers), strict=True)
    return [Item(str(n), features=Features(answer, reference)) for n, (reference, answer) in enumerate(pairs)]


def test_mauve_of_vectors_is_that_of_mauve_text():
    items = crowds((12, 8, 14, 6), (5, 15, 9, 11))
    # By mauve-text 0.4.0: compute_mauve(p_features=references, q_features=answers), which takes 4 cells for 40 pairs.
    for measure, expected in [(MAUVE(), 0.8923199650264417), (MAUVE(smoothed=True), 0.9090511945829538)]:
        estimate = measure.estimate(measure.of(items), Bootstrap())
        assert estimate.value == pytest.approx(expected, abs=1e-9)
        assert estimate.n == 40
        assert 0 <= estimate.low < estimate.value < estimate.high <= 1


def test_mauve_is_1_where_both_fill_the_cells_alike_and_undefined_over_nothing():
    assert MAUVE().statistic(np.array([5.0, 5.0, 5.0, 5.0])) == pytest.approx(1.0, abs=1e-12)
    for measure in (MAUVE(), MAUVE(smoothed=True)):
        with np.errstate(all="ignore"):
            assert np.isnan(measure.statistic(np.zeros(4)))
    same = [Item(str(n), features=Features(np.ones(3), np.ones(3))) for n in range(30)]
    assert MAUVE().estimate(MAUVE().of(same), Bootstrap()).value == pytest.approx(1.0, abs=1e-12)


cells = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@given(cells, cells)
def test_mauve_lies_between_0_and_1_and_is_the_same_with_sides_changed(references, answers):
    measure = MAUVE()
    found = measure.statistic(np.array([*references, *answers], dtype=np.float64))
    turned = measure.statistic(np.array([*answers, *references], dtype=np.float64))
    assert 0 <= found <= 1 + 1e-12
    assert found == pytest.approx(turned, abs=1e-9)


def test_a_question_without_vectors_is_missing_and_moves_nothing():
    items = crowds((12, 8, 14, 6), (5, 15, 9, 11))
    with_gaps = [Item("a"), *items, Item("b")]
    parts = MAUVE().of(with_gaps)
    assert parts[0] is None and parts[-1] is None
    estimate = MAUVE().estimate(parts, Bootstrap())
    assert (estimate.n, estimate.missing) == (40, 2)
    assert estimate.value == pytest.approx(0.8923199650264417, abs=1e-9)
    nobody = MAUVE().estimate(MAUVE().of([Item("a")]), Bootstrap())
    assert (nobody.value, nobody.n, nobody.missing) == (None, 0, 1)


def test_systems_that_are_compared_share_their_cells():
    first, second = crowds((12, 8, 14, 6), (5, 15, 9, 11)), crowds((12, 8, 14, 6), (12, 8, 14, 6))
    one, other = MAUVE().of_each([first, second])
    references = [np.array(row)[: len(row) // 2] for row in one], [np.array(row)[: len(row) // 2] for row in other]
    assert np.array_equal(*references)
    assert MAUVE().statistic(np.sum(other, axis=0)) == pytest.approx(1.0, abs=1e-12)
    assert MAUVE().statistic(np.sum(one, axis=0)) == pytest.approx(0.8923199650264417, abs=1e-9)


def test_cells_are_as_many_as_asked_for_and_no_more_than_different_vectors():
    items = crowds((12, 8, 14, 6), (5, 15, 9, 11))
    assert len(MAUVE(buckets=7).of(items)[0]) == 14
    assert len(MAUVE(buckets=500).of(items)[0]) < 2 * 500
    assert str(MAUVE(buckets=7)) == "MAUVE(buckets=7)"
    with pytest.raises(InputError, match="expected buckets of MAUVE"):
        MAUVE(buckets=0)


def test_vectors_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="of one length"):
        Features(np.ones(3), np.ones(4))
    with pytest.raises(InputError, match="finite"):
        Features(np.ones(3), np.array([1.0, np.nan, 0.0]))
    mixed = [Item("a", features=Features(np.ones(3), np.ones(3))), Item("b", features=Features(np.ones(2), np.ones(2)))]
    with pytest.raises(InputError, match="Make all by one model"):
        MAUVE().of(mixed)


def test_stored_figures_are_averaged_over_the_questions_that_have_them():
    items = [
        Item("a", scores={"bertscore_f1": 0.9, "bertscore_recall": 0.0, "faithfulness": 4.0}),
        Item("b", scores={"bertscore_f1": 0.8, "claim_entailment": 0.25}),
        Item("c", scores={"bertscore_f1": float("nan")}),
        Item("d"),
    ]
    assert BERTScore().of(items) == [(0.9, 1.0), (0.8, 1.0), None, None]
    assert BERTScore(figure="recall").of(items) == [(0.0, 1.0), None, None, None]
    assert BERTScore(figure="precision").of(items) == [None] * 4
    assert ClaimEntailment().of(items) == [None, (0.25, 1.0), None, None]
    assert ModelScore(score="faithfulness").of(items) == [(4.0, 1.0), None, None, None]
    estimate = BERTScore().estimate(BERTScore().of(items), Bootstrap())
    assert (estimate.n, estimate.missing) == (2, 2)
    assert estimate.value == pytest.approx(0.85, abs=1e-12)


def test_a_refusal_has_no_stored_figure():
    refused = parse_answer("q", "There is no evidence.", ()).model_copy(update={"insufficient": True})
    assert BERTScore().parts(Item("q", refused, scores={"bertscore_f1": 0.7})) is None


def test_a_stored_figure_is_called_by_its_name():
    assert str(ModelScore(score="faithfulness", better="less")) == "ModelScore(score='faithfulness', better='less')"
    assert ModelScore(score="x").higher_is_better is None
    assert ModelScore(score="x", better="less").higher_is_better is False
    with pytest.raises(InputError, match="expected the name of a stored score"):
        ModelScore()
    with pytest.raises(InputError, match="expected better of ModelScore"):
        ModelScore(score="x", better="worse")
