"""A temperature, biases and a threshold fitted to labels, and what they are worth on pairs they were not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.calibration import (
    BINS,
    COVERED,
    TEMPERATURES,
    Answered,
    Booleans,
    CurvePoint,
    Integers,
    Judged,
    adaptive_ece,
    brier,
    choose_threshold,
    fit_bias,
    fit_temperature,
    negative_log_likelihood,
    risk_coverage,
    threshold_for_risk,
)
from vericite.evaluate.intervals import Rate, Tally
from vericite.verify.judging import COLUMNS
from vericite.verify.tempering import Floats

FOLDS = 5
TELLING = 20
"""Pairs that a bin of the calibration error holds, and a threshold leaves for its risk to count: of fewer, chance alone
makes any figure."""
OF_EACH = 10
"""Pairs that each label needs before biases are tried: a bias follows the share of its label."""
SEED = 0
_NONE = (0.0,) * len(COLUMNS)


@dataclass(frozen=True)
class Target:
    """What the threshold shall reach: a share of verdicts still given, or else a share of these that is wrong."""

    coverage: float = COVERED
    risk: float | None = None

    def threshold(self, held_out: Judged) -> float | None:
        """The highest that leaves the coverage, or the lowest that reaches the risk; None where none does."""
        if self.risk is None:
            return choose_threshold(_curve(held_out), self.coverage)
        return threshold_for_risk(_telling(held_out), self.risk)


@dataclass(frozen=True)
class Scaling:
    """What is done to a judge's probabilities."""

    temperature: float = 1.0
    bias: tuple[float, ...] = _NONE

    def of(self, judged: Judged) -> Judged:
        """The pairs with it done."""
        return judged.at(self.temperature, self.bias)

    @property
    def biased(self) -> bool:
        """Whether it shifts from label to label."""
        return any(self.bias)

    @property
    def at_limit(self) -> bool:
        """Whether the temperature is the lowest or highest that was looked at, and so not the best there is."""
        low, high = TEMPERATURES
        return not 1.01 * low < self.temperature < 0.99 * high


@dataclass(frozen=True)
class Fitted:
    """What was fitted; ``held_out`` are the pairs, each with the probabilities of a fit without its fold."""

    scaling: Scaling
    threshold: float | None
    held_out: Judged

    @property
    def curve(self) -> list[CurvePoint]:
        """Abstaining below each hundredth, from held-out probabilities."""
        return _curve(self.held_out)


@dataclass(frozen=True)
class Change:
    """A figure before and after calibrating."""

    before: float
    after: float


@dataclass(frozen=True)
class Calibrated:
    """A fit to labels, and what fitting is worth.

    Attributes:
        fitted: To all pairs; its threshold is one.
        pairs: As the judge said of them, and what groups they are in.
        after: The same, each as a fit to the other folds says it; whether there are biases is fitted, too.
        answered: Which pairs are given a verdict at the threshold of that fit.
        folds: How many there were.
    """

    fitted: Fitted
    pairs: Judged
    groups: Integers
    after: Judged
    answered: Booleans
    folds: int

    @property
    def log_loss(self) -> Change:
        """Negative log likelihood."""
        return self._change(lambda judged: negative_log_likelihood([judged]))

    @property
    def ece(self) -> Change:
        """Expected calibration error over bins that hold as many pairs each, 15 where there are enough."""
        bins = max(1, min(BINS, len(self.groups) // TELLING))
        return self._change(lambda judged: adaptive_ece(judged.confidence, judged.right, bins))

    @property
    def brier(self) -> Change:
        """Squared distance to the truth, 0 to 2."""
        return self._change(lambda judged: brier(judged.gold, judged.probabilities))

    @property
    def coverage(self) -> Rate:
        """Pairs answered at thresholds that were chosen without them."""
        return self._rate(self.answered, np.ones(len(self.answered), dtype=np.bool_))

    @property
    def risk(self) -> Rate:
        """Wrong ones among these."""
        return self._rate(~self.after.right, self.answered)

    def risk_at(self, threshold: float) -> Rate:
        """Wrong ones among the pairs that a threshold leaves, from the probabilities that the curve is made of."""
        held = self.fitted.held_out
        return self._rate(~held.right, held.confidence >= threshold)

    def _change(self, measure: Callable[[Judged], float]) -> Change:
        return Change(measure(self.pairs), measure(self.after))

    def _rate(self, counted: Booleans, among: Booleans) -> Rate:
        tally = Tally()
        counts = np.bincount(self.groups, weights=counted & among)
        for count, n in zip(counts, np.bincount(self.groups, weights=among), strict=True):
            tally.add(int(count), int(n))
        return tally.rate


def calibrate(pairs: Judged, groups: Sequence[str], target: Target | None = None) -> Calibrated:
    """Fit to all pairs, and judge the fitting by doing all of it again without each fold in turn.

    Args:
        pairs: Labelled pairs with what a judge said of them.
        groups: What each shares with the pairs that are not independent of it; these stay in one fold.
        target: What the threshold shall reach; nine verdicts in ten by default.

    Raises:
        InputError: There are fewer groups than folds, or no threshold reaches the risk asked for.
    """
    wanted = target or Target()
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    if numbers.max() + 1 < FOLDS:
        raise InputError(
            f"expected pairs of {FOLDS} groups or more, to fit on some and measure on others; found "
            f"{numbers.max() + 1}. Add pairs from other documents, or leave out `group` where pairs are independent."
        )
    fitted = fit(pairs, numbers, wanted)
    if fitted.threshold is None:
        raise _out_of_reach(fitted, wanted)
    after, answered = pairs.probabilities.copy(), np.zeros(len(numbers), dtype=np.bool_)
    folds = _folds(numbers)
    for fold in range(FOLDS):
        rest, held = folds != fold, folds == fold
        other = fit(pairs.only(rest), numbers[rest], wanted)
        told = other.scaling.of(pairs.only(held))
        after[held] = told.probabilities
        # A risk out of reach without this fold: nothing is answered in it.
        answered[held] = told.confidence >= (1.01 if other.threshold is None else other.threshold)
    return Calibrated(fitted, pairs, numbers, pairs._replace(probabilities=after), answered, FOLDS)


def _out_of_reach(fitted: Fitted, target: Target) -> InputError:
    least = min(_telling(fitted.held_out), key=lambda point: point.risk or 0.0)
    return InputError(
        f"expected a threshold at which no more than {target.risk:g} of the verdicts are wrong, {TELLING} of them or "
        f"more still given; found none: the least is {least.risk or 0.0:.3f}, abstaining below {least.threshold:.2f}. "
        "Raise the risk, label more, or use a better judge."
    )


def fit(pairs: Judged, groups: Integers, target: Target) -> Fitted:
    """The scaling at which the labels are likeliest, and the threshold; biases only if they help on held-out pairs."""
    folds = _folds(groups)
    makers = [_by_temperature]
    if all(int((pairs.gold == column).sum()) >= OF_EACH for column in _known(pairs.probabilities)):
        makers.append(_with_bias)
    held = [_held_out(pairs, folds, make) for make in makers]
    losses = [negative_log_likelihood([each]) for each in held]
    best = int(np.argmin(losses))
    return Fitted(_rounded(makers[best](pairs)), target.threshold(held[best]), held[best])


def _by_temperature(pairs: Judged) -> Scaling:
    return Scaling(fit_temperature([pairs]))


def _with_bias(pairs: Judged) -> Scaling:
    return Scaling(*fit_bias(pairs))


def _rounded(scaling: Scaling) -> Scaling:
    """What is shown is what is used."""
    bias = tuple(round(value, 4) + 0.0 for value in scaling.bias)
    return replace(scaling, temperature=round(scaling.temperature, 4), bias=bias)


def _known(probabilities: Floats) -> Integers:
    """The labels that the judge ever gives any probability."""
    return np.flatnonzero(probabilities.any(axis=0))


def _held_out(pairs: Judged, folds: Integers, make: Callable[[Judged], Scaling]) -> Judged:
    found = pairs.probabilities.copy()
    for fold in np.unique(folds):
        held = folds == fold
        found[held] = make(pairs.only(~held)).of(pairs.only(held)).probabilities
    return pairs._replace(probabilities=found)


def _folds(groups: Integers) -> Integers:
    """The fold of each pair: groups in a drawn order, the large ones first, each into the fold that has least."""
    numbers, sizes = np.unique(groups, return_counts=True)
    drawn = np.random.default_rng(SEED).permutation(len(numbers))
    filled = np.zeros(FOLDS, dtype=np.int64)
    fold_of: dict[int, int] = {}
    for place in sorted(drawn.tolist(), key=lambda place: -int(sizes[place])):
        fold = int(filled.argmin())
        fold_of[int(numbers[place])] = fold
        filled[fold] += sizes[place]
    return np.array([fold_of[int(group)] for group in groups], dtype=np.int64)


def _telling(judged: Judged) -> list[CurvePoint]:
    """The curve as far as enough pairs are left."""
    return [point for point in _curve(judged) if round(point.coverage * len(judged.gold)) >= TELLING]


def _curve(judged: Judged) -> list[CurvePoint]:
    return risk_coverage(Answered.of([(judged.confidence, judged.right)]))
