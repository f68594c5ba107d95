"""Whether probabilities can be trusted, and how unsure a verdict may be before it is better not given.

First what is fitted: a temperature, biases, a threshold. Then the fit to all pairs, and what it is worth by
cross-fitting: measured on pairs that it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL
from vericite.records import Rate, RateTally
from vericite.verify.judging import Floats, log_probabilities, softmax, temperature_scaled

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

BINS = 15
COVERED = 0.9
"""Share of verdicts that must still be given at the threshold that is chosen."""
THRESHOLDS = tuple(step / 100 for step in range(100))

TEMPERATURES = (0.05, 20.0)
"""The lowest and the highest that are looked at."""

_LEAST = 1e-12
_GOLDEN = (5**0.5 - 1) / 2
_STEPS = 40
_RIDGE = 1e-3
"""Draws biases to 0 a little, so that a label that is never wrong does not send them to infinity."""


class JudgedPairs(NamedTuple):
    """Pairs with their labels and what a model said of them at temperature 1.

    ``binary``: only whether a pair is entailed is known.
    """

    gold: Integers
    probabilities: Floats
    binary: Booleans

    @property
    def right(self) -> Booleans:
        """Whether the likeliest label is the pair's; of a binary pair, whether it is called entailed or not."""
        called = self.probabilities.argmax(1)
        return (called == self.gold) | (self.binary & (called != ENTAILS) & (self.gold != ENTAILS))

    @property
    def confidence(self) -> Floats:
        """The probability of what was called; "not entailed" has that of both other labels."""
        confidence: Floats = self.probabilities.max(1)
        others = self.binary & (self.probabilities.argmax(1) != ENTAILS)
        confidence[others] = 1 - self.probabilities[others, ENTAILS]
        return confidence

    @property
    def likelihood(self) -> Floats:
        """The probability that the truth was given."""
        entailed = self.probabilities[:, ENTAILS]
        binary = np.where(self.gold == ENTAILS, entailed, 1 - entailed)
        return np.where(self.binary, binary, self.probabilities[np.arange(len(self.gold)), self.gold])

    def at(self, temperature: float, bias: Sequence[float] | None = None) -> JudgedPairs:
        """The same at another temperature, and with a bias for each label."""
        return self._replace(probabilities=temperature_scaled(self.probabilities, temperature, bias))

    def only(self, rows: Integers | Booleans) -> JudgedPairs:
        """Some of the pairs."""
        return JudgedPairs(self.gold[rows], self.probabilities[rows], self.binary[rows])


def negative_log_likelihood(files: Sequence[JudgedPairs]) -> float:
    """The mean over files of their means, so that a large one does not decide alone."""
    means = [float(-np.log(np.maximum(judged.likelihood, _LEAST)).mean()) for judged in files]
    return float(np.mean(means))


def fit_temperature(files: Sequence[JudgedPairs]) -> float:
    """The temperature at which the labels are likeliest.

    Binary pairs can make several minima, so a grid says where to look before the golden section does.
    """

    def loss(exponent: float) -> float:
        return negative_log_likelihood([judged.at(float(np.exp(exponent))) for judged in files])

    low, high = (float(np.log(limit)) for limit in TEMPERATURES)
    step = (high - low) / _STEPS
    best = min(range(_STEPS + 1), key=lambda index: loss(low + step * index))
    around = max(low, low + step * (best - 1)), min(high, low + step * (best + 1))
    return float(np.exp(_least(loss, *around)))


def fit_bias(judged: JudgedPairs) -> tuple[float, tuple[float, ...]]:
    """The temperature and the biases, one a label and 0 on the whole, at which the labels are likeliest together.

    For pairs of three labels, each of which must occur. Both are found at once by Newton's method: the loss is convex
    in the biases and the inverse of the temperature.
    """
    # The last label's bias stays 0: adding the same to all changes nothing.
    features = np.zeros((*judged.probabilities.shape, len(COLUMNS)))
    features[:, :, 0] = np.maximum(log_probabilities(judged.probabilities), np.log(_LEAST))
    for column in range(NEUTRAL):
        features[:, column, column + 1] = 1
    truth: Floats = np.eye(len(COLUMNS))[judged.gold]
    start: Floats = np.array([1.0, 0.0, 0.0])
    found = start
    for _ in range(_STEPS):
        step = _newton_step(features, truth, found, found - start)
        # A long step from far away may lead further away.
        found = found - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-8:
            break
    low, high = TEMPERATURES
    bias = [float(value) for value in (*found[1:], 0.0)]
    temperature = float(np.clip(1 / max(float(found[0]), 1 / high), low, high))
    return temperature, tuple(value - sum(bias) / len(bias) for value in bias)


def _newton_step(features: Floats, truth: Floats, found: Floats, drawn: Floats) -> Floats:
    """The step for the mean loss of a softmax over ``features`` [pairs, columns, parameters], and the ridge's."""
    predicted = softmax(features @ found)
    mean: Floats = (features * predicted[:, :, None]).sum(axis=1)
    centred = features - mean[:, None]
    slope: Floats = (features * (predicted - truth)[:, :, None]).sum(axis=(0, 1)) / len(predicted) + _RIDGE * drawn
    weighted: Floats = (centred * predicted[:, :, None]).reshape(-1, features.shape[2])
    curvature: Floats = weighted.T @ centred.reshape(-1, features.shape[2]) / len(predicted)
    step: Floats = np.linalg.solve(curvature + _RIDGE * np.eye(len(found)), slope).astype(np.float64)
    return step


def _least(loss: Callable[[float], float], low: float, high: float) -> float:
    """Golden-section search."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-5:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(right)
    return (low + high) / 2


def adaptive_ece(confidence: Floats, right: Booleans, bins: int = BINS) -> float:
    """Expected calibration error over bins that hold as many pairs each."""
    order = np.argsort(confidence, kind="stable")
    gaps = [
        abs(float(confidence[chosen].mean()) - float(right[chosen].mean())) * len(chosen)
        for chosen in np.array_split(order, min(bins, len(order)))
    ]
    return sum(gaps) / len(order)


def ece_of_labels(gold: Integers, probabilities: Floats) -> float:
    """The same for three labels, as a measure."""
    return adaptive_ece(probabilities.max(1), probabilities.argmax(1) == gold)


def brier(gold: Integers, probabilities: Floats) -> float:
    """Squared distance to the truth, summed over the three labels: 0 at best, 2 at worst."""
    return float(((probabilities - np.eye(len(COLUMNS))[gold]) ** 2).sum(axis=1).mean())


@dataclass(frozen=True)
class Answered:
    """How sure verdicts are of their labels, and whether they are right; each file weighs 1."""

    sureness: Floats
    right: Booleans
    weight: Floats

    @classmethod
    def of(cls, files: Sequence[tuple[Floats, Booleans]]) -> Answered:
        """Files put together."""
        weights = [np.full(len(right), 1 / len(right)) for _, right in files]
        sureness, rights = [sure for sure, _ in files], [right for _, right in files]
        return cls(np.concatenate(sureness), np.concatenate(rights), np.concatenate(weights))


@dataclass(frozen=True)
class CurvePoint:
    """Abstaining below a threshold: the share still answered, and the share of those that is wrong."""

    threshold: float
    coverage: float
    risk: float | None


def risk_coverage(answered: Answered, thresholds: Sequence[float] = THRESHOLDS) -> list[CurvePoint]:
    """The curve, by rising threshold."""
    return [_point(answered, threshold) for threshold in thresholds]


def _point(answered: Answered, threshold: float) -> CurvePoint:
    kept = answered.sureness >= threshold
    weight = float(answered.weight[kept].sum())
    wrong = float(answered.weight[kept & ~answered.right].sum())
    return CurvePoint(threshold, weight / float(answered.weight.sum()), wrong / weight if weight else None)


def threshold_for_risk(curve: Sequence[CurvePoint], risk: float) -> float | None:
    """The lowest threshold at which no more of the verdicts that are given are wrong; None where there is none."""
    return next((point.threshold for point in curve if point.risk is not None and point.risk <= risk), None)


def choose_threshold(curve: Sequence[CurvePoint], covered: float = COVERED) -> float:
    """The highest threshold that leaves the share of verdicts asked for.

    0, never to abstain, where the verdicts that are left are not more often right than all of them.
    """
    everything = curve[0]
    left = [point for point in curve if point.coverage >= covered and point.risk is not None]
    last = max(left, key=lambda point: point.threshold, default=everything)
    better = last.risk is not None and everything.risk is not None and last.risk < everything.risk
    return last.threshold if better else 0.0


FOLDS = 5
RELIABLE = 20
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

    def threshold(self, held_out: JudgedPairs) -> float | None:
        """The highest that leaves the coverage, or the lowest that reaches the risk; None where none does."""
        if self.risk is None:
            return choose_threshold(_curve(held_out), self.coverage)
        return threshold_for_risk(_reliable(held_out), self.risk)


def target_of(coverage: float | None, risk: float | None) -> Target:
    """What the threshold shall reach; a coverage unless a risk is given.

    Raises:
        InputError: Both are given.
    """
    if coverage is not None and risk is not None:
        raise InputError("expected --coverage or --risk, what the threshold shall reach; found both. Leave one out.")
    return Target(risk=risk) if coverage is None else Target(coverage)


@dataclass(frozen=True)
class Scaling:
    """What is done to a judge's probabilities."""

    temperature: float = 1.0
    bias: tuple[float, ...] = _NONE

    def of(self, judged: JudgedPairs) -> JudgedPairs:
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
class FittedScaling:
    """What was fitted; ``held_out`` are the pairs, each with the probabilities of a fit without its fold."""

    scaling: Scaling
    threshold: float | None
    held_out: JudgedPairs

    @property
    def curve(self) -> list[CurvePoint]:
        """Abstaining below each hundredth, from held-out probabilities."""
        return _curve(self.held_out)


@dataclass(frozen=True)
class BeforeAfter:
    """A figure before and after calibrating."""

    before: float
    after: float


@dataclass(frozen=True)
class CalibrationResult:
    """A fit to labels, and what fitting is worth.

    Attributes:
        fitted: To all pairs; its threshold is one.
        pairs: As the judge said of them, and what groups they are in.
        after: The same, each as a fit to the other folds says it; whether there are biases is fitted, too.
        answered: Which pairs are given a verdict at the threshold of that fit.
        folds: How many there were.
    """

    fitted: FittedScaling
    pairs: JudgedPairs
    groups: Integers
    after: JudgedPairs
    answered: Booleans
    folds: int

    @property
    def log_loss(self) -> BeforeAfter:
        """Negative log likelihood."""
        return self._change(lambda judged: negative_log_likelihood([judged]))

    @property
    def ece(self) -> BeforeAfter:
        """Expected calibration error over bins that hold as many pairs each, 15 where there are enough."""
        bins = max(1, min(BINS, len(self.groups) // RELIABLE))
        return self._change(lambda judged: adaptive_ece(judged.confidence, judged.right, bins))

    @property
    def brier(self) -> BeforeAfter:
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
        held_out = self.fitted.held_out
        return self._rate(~held_out.right, held_out.confidence >= threshold)

    def _change(self, measure: Callable[[JudgedPairs], float]) -> BeforeAfter:
        return BeforeAfter(measure(self.pairs), measure(self.after))

    def _rate(self, counted: Booleans, among: Booleans) -> Rate:
        tally = RateTally()
        counts = np.bincount(self.groups, weights=counted & among)
        for count, n in zip(counts, np.bincount(self.groups, weights=among), strict=True):
            tally.add(int(count), int(n))
        return tally.rate


def calibrate(pairs: JudgedPairs, groups: Sequence[str], target: Target | None = None) -> CalibrationResult:
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
        rest, inside = folds != fold, folds == fold
        other = fit(pairs.only(rest), numbers[rest], wanted)
        scaled = other.scaling.of(pairs.only(inside))
        after[inside] = scaled.probabilities
        # A risk out of reach without this fold: nothing is answered in it.
        answered[inside] = scaled.confidence >= (1.01 if other.threshold is None else other.threshold)
    return CalibrationResult(fitted, pairs, numbers, pairs._replace(probabilities=after), answered, FOLDS)


def _out_of_reach(fitted: FittedScaling, target: Target) -> InputError:
    least = min(_reliable(fitted.held_out), key=lambda point: point.risk or 0.0)
    return InputError(
        f"expected a threshold at which no more than {target.risk:g} of the verdicts are wrong, {RELIABLE} of them or "
        f"more still given; found none: the least is {least.risk or 0.0:.3f}, abstaining below {least.threshold:.2f}. "
        "Raise the risk, label more, or use a better judge."
    )


def fit(pairs: JudgedPairs, groups: Integers, target: Target) -> FittedScaling:
    """The scaling at which the labels are likeliest, and the threshold; biases only if they help on held-out pairs."""
    folds = _folds(groups)
    makers = [_by_temperature]
    if all(int((pairs.gold == column).sum()) >= OF_EACH for column in _known(pairs.probabilities)):
        makers.append(_with_bias)
    held_out = [_held_out(pairs, folds, make) for make in makers]
    losses = [negative_log_likelihood([each]) for each in held_out]
    best = int(np.argmin(losses))
    return FittedScaling(_rounded(makers[best](pairs)), target.threshold(held_out[best]), held_out[best])


def _by_temperature(pairs: JudgedPairs) -> Scaling:
    return Scaling(fit_temperature([pairs]))


def _with_bias(pairs: JudgedPairs) -> Scaling:
    return Scaling(*fit_bias(pairs))


def _rounded(scaling: Scaling) -> Scaling:
    """What is shown is what is used."""
    bias = tuple(round(value, 4) + 0.0 for value in scaling.bias)
    return replace(scaling, temperature=round(scaling.temperature, 4), bias=bias)


def _known(probabilities: Floats) -> Integers:
    """The labels that the judge ever gives any probability."""
    return np.flatnonzero(probabilities.any(axis=0))


def _held_out(pairs: JudgedPairs, folds: Integers, make: Callable[[JudgedPairs], Scaling]) -> JudgedPairs:
    found = pairs.probabilities.copy()
    for fold in np.unique(folds):
        inside = folds == fold
        found[inside] = make(pairs.only(~inside)).of(pairs.only(inside)).probabilities
    return pairs._replace(probabilities=found)


def _folds(groups: Integers) -> Integers:
    """The fold of each pair: groups in a drawn order, the large ones first, each into the fold that has least."""
    numbers, sizes = np.unique(groups, return_counts=True)
    drawn = np.random.default_rng(SEED).permutation(len(numbers))
    filled = np.zeros(FOLDS, dtype=np.int64)
    fold_of: dict[int, int] = {}
    for index in sorted(drawn.tolist(), key=lambda index: -int(sizes[index])):
        fold = int(filled.argmin())
        fold_of[int(numbers[index])] = fold
        filled[fold] += sizes[index]
    return np.array([fold_of[int(group)] for group in groups], dtype=np.int64)


def _reliable(judged: JudgedPairs) -> list[CurvePoint]:
    """The curve as far as enough pairs are left."""
    return [point for point in _curve(judged) if round(point.coverage * len(judged.gold)) >= RELIABLE]


def _curve(judged: JudgedPairs) -> list[CurvePoint]:
    return risk_coverage(Answered.of([(judged.confidence, judged.right)]))
