"""Calibration of a judge to a user's own labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from vericite.errors import InputError
from vericite.evaluate.calibration import (
    FOLDS,
    CurvePoint,
    JudgedPairs,
    Target,
    calibrate,
    fit,
    fit_bias,
    negative_log_likelihood,
    threshold_for_risk,
)
from vericite.evaluate.judge_calibration import OwnLabel, judge_labels
from vericite.models import Pair
from vericite.verify import Judgement
from vericite.verify.judging import temperature_scaled

NAMES = ("supported", "contradicted", "irrelevant")
LABELS = [OwnLabel(premise=f"Trial {row}.", claim=f"Claim {row}.", label=NAMES[row % 3]) for row in range(60)]


class Trying:
    """Never predicts a contradiction, takes small batches, and fails on given claims."""

    signature = "trying"
    pairs_at_once = 7

    def __init__(self, fails: frozenset[str] = frozenset()) -> None:
        self.fails, self.most = fails, 0

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        asked = list(pairs)
        self.most = max(self.most, len(asked))
        for pair in asked:
            if pair.claim in self.fails:
                yield Judgement.failed("too long")
            else:
                yield Judgement(np.array([0.25, 0.0, 0.75], dtype=np.float32), note="cut")


def test_a_judge_without_contradiction_has_contradicted_pairs_count_as_irrelevant():
    judge = Trying()
    found = judge_labels(judge, LABELS)
    assert found.without_contradiction
    assert found.judged.gold.tolist() == [0, 2, 2] * 20
    assert (judge.most, found.notes["cut"]) == (7, 60)


def test_labels_that_become_a_single_class_are_refused():
    labels = [label.model_copy(update={"label": NAMES[1 + row % 2]}) for row, label in enumerate(LABELS)]
    with pytest.raises(InputError, match=r"trying never predicts a contradiction, .* only irrelevant is left"):
        judge_labels(Trying(), labels)


def test_failed_pairs_are_left_out_and_counted():
    found = judge_labels(Trying(frozenset({"Claim 0.", "Claim 4."})), LABELS)
    assert (len(found.labels), len(found.judged.gold), found.failures["too long"]) == (58, 58, 2)


def test_a_judge_that_fails_on_most_pairs_is_refused():
    with pytest.raises(InputError, match=r"that trying can judge; found 20: too long \(40 pairs\)"):
        judge_labels(Trying(frozenset(label.claim for label in LABELS[:40])), LABELS)


def test_a_judge_whose_judgements_have_no_probabilities_is_refused():
    class Certain(Trying):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            return (Judgement.certain(0, "1") for _ in pairs)

    with pytest.raises(InputError, match="only gives labels"):
        judge_labels(Certain(), LABELS)


def drawn(count: int, seed: int = 0) -> JudgedPairs:
    """Labels drawn from the given probabilities."""
    random = np.random.default_rng(seed)
    told = random.dirichlet(np.ones(3), count)
    gold = (told.cumsum(axis=1) > random.random((count, 1))).argmax(axis=1)
    return JudgedPairs(gold.astype(np.int64), told, np.zeros(count, dtype=np.bool_))


def alone(judged: JudgedPairs) -> list[str]:
    return [str(row) for row in range(len(judged.gold))]


def test_a_planted_temperature_and_bias_are_recovered():
    true, planted = drawn(20_000), np.array([0.8, -0.3, -0.5])
    # What a judge would say that is twice too sure, and then leans the other way.
    seen = true._replace(probabilities=temperature_scaled(true.probabilities, 0.5, tuple(-2 * planted)))
    temperature, bias = fit_bias(seen)
    assert temperature == pytest.approx(2, rel=0.05)
    assert bias == pytest.approx(tuple(planted), abs=0.06)
    assert sum(bias) == pytest.approx(0, abs=1e-9)


def test_the_bias_found_is_no_worse_than_its_neighbours():
    judged = drawn(300, 4).at(0.4, (0.5, 0.0, -0.5))
    temperature, bias = fit_bias(judged)
    best = negative_log_likelihood([judged.at(temperature, bias)])
    for column in range(3):
        for by in (-0.3, 0.3):
            other = tuple(value + by * (place == column) for place, value in enumerate(bias))
            assert best <= negative_log_likelihood([judged.at(temperature, other)]) + 1e-3
    for factor in (0.7, 1.4):
        assert best <= negative_log_likelihood([judged.at(temperature * factor, bias)]) + 1e-3


def test_perfectly_separable_labels_have_finite_biases():
    gold = np.arange(60) % 3
    judged = JudgedPairs(gold, np.eye(3)[gold] * 0.97 + 0.01, np.zeros(60, dtype=np.bool_))
    temperature, bias = fit_bias(judged)
    assert np.isfinite([temperature, *bias]).all()
    assert max(map(abs, bias)) < 5


def test_biases_are_fitted_only_if_needed():
    well = drawn(3000, 1)
    cooled = calibrate(well.at(0.5), alone(well))
    assert cooled.fitted.scaling.temperature == pytest.approx(2, rel=0.1)
    assert cooled.log_loss.after < cooled.log_loss.before
    assert cooled.ece.after < cooled.ece.before
    assert cooled.brier.after < cooled.brier.before
    leaning = calibrate(well.at(1.0, (1.0, 0.0, -1.0)), alone(well))
    assert leaning.fitted.scaling.biased
    assert leaning.fitted.scaling.bias == pytest.approx((-1.0, 0.0, 1.0), abs=0.15)


def test_biases_are_not_fitted_for_a_rare_label():
    judged = drawn(300, 2).at(1.0, (1.0, 0.0, -1.0))
    rare = np.flatnonzero(judged.gold == 1)[9:]
    kept = judged.only(np.setdiff1d(np.arange(300), rare))
    assert not fit(kept, np.arange(len(kept.gold)), Target()).scaling.biased


def test_held_out_figures_do_not_depend_on_the_own_group():
    """Flipping the labels of a group changes the fits of other folds, but not the group's own probabilities."""
    judged = drawn(200, 3).at(0.5)
    groups = [str(row // 4) for row in range(200)]
    before = calibrate(judged, groups)
    mine = np.array([group == "7" for group in groups])
    turned = judged._replace(gold=np.where(mine, (judged.gold + 1) % 3, judged.gold))
    after = calibrate(turned, groups)
    assert after.after.probabilities[mine] == pytest.approx(before.after.probabilities[mine], abs=1e-12)
    assert (after.answered[mine] == before.answered[mine]).all()
    assert np.abs(after.after.probabilities[~mine] - before.after.probabilities[~mine]).max() > 1e-6


def test_random_probabilities_do_not_look_calibrated():
    """With random probabilities most held-out verdicts are wrong, whatever the threshold."""
    random = np.random.default_rng(5)
    told = random.dirichlet(np.ones(3) * 0.3, 600)
    judged = JudgedPairs(random.integers(0, 3, 600), told, np.zeros(600, dtype=np.bool_))
    found = calibrate(judged, alone(judged))
    assert found.risk.value == pytest.approx(2 / 3, abs=0.08)
    assert found.log_loss.after == pytest.approx(np.log(3), abs=0.03)


def test_the_threshold_reaches_its_target():
    judged = drawn(2000, 6)
    broad, narrow = (calibrate(judged, alone(judged), Target(share)) for share in (0.9, 0.5))
    assert 0 < (broad.fitted.threshold or 0) < (narrow.fitted.threshold or 0)
    assert broad.coverage.value == pytest.approx(0.9, abs=0.03)
    assert narrow.coverage.value == pytest.approx(0.5, abs=0.05)
    risky = calibrate(judged, alone(judged), Target(risk=0.2))
    assert risky.risk_at(risky.fitted.threshold or 0).value == pytest.approx(0.2, abs=0.02)
    assert (risky.risk_at((risky.fitted.threshold or 0) - 0.01).value or 0) > 0.2
    assert risky.risk.value == pytest.approx(0.2, abs=0.05)


def test_an_unreachable_risk_is_refused_with_the_lowest_risk():
    judged = drawn(400, 7)
    with pytest.raises(InputError, match=r"a risk of at most 0.001 .* the lowest risk is 0\.\d+"):
        calibrate(judged, alone(judged), Target(risk=0.001))


def test_the_lowest_threshold_of_a_risk():
    curve = [CurvePoint(0.0, 1, 0.3), CurvePoint(0.5, 0.8, 0.1), CurvePoint(0.6, 0.7, 0.05), CurvePoint(0.9, 0, None)]
    assert threshold_for_risk(curve, 0.1) == 0.5
    assert threshold_for_risk(curve, 0.3) == 0.0
    assert threshold_for_risk(curve, 0.01) is None


def test_too_few_groups_are_refused():
    judged = drawn(100)
    with pytest.raises(InputError, match=f"at least {FOLDS} groups, .*; found 4"):
        calibrate(judged, [str(row % 4) for row in range(100)])


def test_a_label_that_the_judge_never_predicts_keeps_probability_zero():
    told = np.array([[0.7, 0.0, 0.3], [0.2, 0.0, 0.8]])
    assert (temperature_scaled(told, 20.0, (0.0, 5.0, 0.0))[:, 1] == 0).all()
