"""Calibration of a judge's probabilities, and the confidence threshold below which it abstains.

The first part fits a temperature, biases and a threshold. The second part fits them to all pairs and measures the
result by cross-fitting, on pairs that were not used for the fit.
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
"""Minimum share of verdicts still given at the chosen threshold."""
THRESHOLDS = tuple(step / 100 for step in range(100))

TEMPERATURES = (0.05, 20.0)
"""The lowest and the highest temperature tried."""

_TINY = 1e-12
_GOLDEN = (5**0.5 - 1) / 2
_STEPS = 40
_RIDGE = 1e-3
"""Weight of the ridge penalty on biases; without it a label that is never wrong sends them to infinity."""


class JudgedPairs(NamedTuple):
    """Labelled pairs with a model's probabilities at temperature 1.

    ``binary`` marks pairs whose label only says whether the claim is entailed.
    """

    gold: Integers
    probabilities: Floats
    binary: Booleans

    @property
    def right(self) -> Booleans:
        """Whether the most probable label is correct; a binary pair only needs entailed or not to be correct."""
        predicted = self.probabilities.argmax(1)
        return (predicted == self.gold) | (self.binary & (predicted != ENTAILS) & (self.gold != ENTAILS))

    @property
    def confidence(self) -> Floats:
        """The probability of the predicted label; for "not entailed", the sum of the other two labels."""
        confidence: Floats = self.probabilities.max(1)
        others = self.binary & (self.probabilities.argmax(1) != ENTAILS)
        confidence[others] = 1 - self.probabilities[others, ENTAILS]
        return confidence

    @property
    def likelihood(self) -> Floats:
        """The probability given to the correct label."""
        entailed = self.probabilities[:, ENTAILS]
        binary = np.where(self.gold == ENTAILS, entailed, 1 - entailed)
        return np.where(self.binary, binary, self.probabilities[np.arange(len(self.gold)), self.gold])

    def at(self, temperature: float, bias: Sequence[float] | None = None) -> JudgedPairs:
        """Return the pairs scaled to a temperature, with a bias for each label."""
        return self._replace(probabilities=temperature_scaled(self.probabilities, temperature, bias))

    def only(self, rows: Integers | Booleans) -> JudgedPairs:
        """Return a selection of the pairs."""
        return JudgedPairs(self.gold[rows], self.probabilities[rows], self.binary[rows])


def negative_log_likelihood(files: Sequence[JudgedPairs]) -> float:
    """Return the mean of the files' means, so that a large file does not dominate."""
    means = [float(-np.log(np.maximum(judged.likelihood, _TINY)).mean()) for judged in files]
    return float(np.mean(means))


def fit_temperature(files: Sequence[JudgedPairs]) -> float:
    """Return the temperature of maximum likelihood.

    Binary pairs can lead to several minima, so a grid search comes before the golden-section search.
    """

    def loss(exponent: float) -> float:
        return negative_log_likelihood([judged.at(float(np.exp(exponent))) for judged in files])

    low, high = (float(np.log(limit)) for limit in TEMPERATURES)
    step = (high - low) / _STEPS
    best = min(range(_STEPS + 1), key=lambda index: loss(low + step * index))
    around = max(low, low + step * (best - 1)), min(high, low + step * (best + 1))
    return float(np.exp(_minimize(loss, *around)))


def fit_bias(judged: JudgedPairs) -> tuple[float, tuple[float, ...]]:
    """Return the temperature and biases (one per label, with sum 0) of maximum likelihood.

    For pairs with three labels, each of which must occur. Newton's method finds both at once: the loss is convex in
    the biases and the inverse temperature.
    """
    # The last bias is fixed at 0 during the fit: adding a constant to all biases changes nothing.
    features = np.zeros((*judged.probabilities.shape, len(COLUMNS)))
    features[:, :, 0] = np.maximum(log_probabilities(judged.probabilities), np.log(_TINY))
    for column in range(NEUTRAL):
        features[:, column, column + 1] = 1
    truth: Floats = np.eye(len(COLUMNS))[judged.gold]
    start: Floats = np.array([1.0, 0.0, 0.0])
    found = start
    for _ in range(_STEPS):
        step = _newton_step(features, truth, found, found - start)
        # Limit the step: a long one can diverge.
        found = found - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-8:
            break
    low, high = TEMPERATURES
    bias = [float(value) for value in (*found[1:], 0.0)]
    temperature = float(np.clip(1 / max(float(found[0]), 1 / high), low, high))
    return temperature, tuple(value - sum(bias) / len(bias) for value in bias)


def _newton_step(features: Floats, truth: Floats, found: Floats, drawn: Floats) -> Floats:
    """Return the Newton step for the mean softmax loss over ``features`` [pairs, columns, parameters], with ridge."""
    predicted = softmax(features @ found)
    mean: Floats = (features * predicted[:, :, None]).sum(axis=1)
    centred = features - mean[:, None]
    slope: Floats = (features * (predicted - truth)[:, :, None]).sum(axis=(0, 1)) / len(predicted) + _RIDGE * drawn
    weighted: Floats = (centred * predicted[:, :, None]).reshape(-1, features.shape[2])
    curvature: Floats = weighted.T @ centred.reshape(-1, features.shape[2]) / len(predicted)
    step: Floats = np.linalg.solve(curvature + _RIDGE * np.eye(len(found)), slope).astype(np.float64)
    return step


def _minimize(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimum by golden-section search."""
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
    """Return the expected calibration error over bins of equal size."""
    order = np.argsort(confidence, kind="stable")
    gaps = [
        abs(float(confidence[chosen].mean()) - float(right[chosen].mean())) * len(chosen)
        for chosen in np.array_split(order, min(bins, len(order)))
    ]
    return sum(gaps) / len(order)


def ece_of_labels(gold: Integers, probabilities: Floats) -> float:
    """Return the adaptive calibration error of three-label probabilities."""
    return adaptive_ece(probabilities.max(1), probabilities.argmax(1) == gold)


def brier(gold: Integers, probabilities: Floats) -> float:
    """Return the Brier score summed over the three labels: 0 is best, 2 is worst."""
    return float(((probabilities - np.eye(len(COLUMNS))[gold]) ** 2).sum(axis=1).mean())


@dataclass(frozen=True)
class Answered:
    """The confidence of verdicts, and whether they are correct; each file has a total weight of 1."""

    confidence: Floats
    right: Booleans
    weight: Floats

    @classmethod
    def of(cls, files: Sequence[tuple[Floats, Booleans]]) -> Answered:
        """Concatenate files."""
        weights = [np.full(len(right), 1 / len(right)) for _, right in files]
        confidences, rights = [confidence for confidence, _ in files], [right for _, right in files]
        return cls(np.concatenate(confidences), np.concatenate(rights), np.concatenate(weights))


@dataclass(frozen=True)
class CurvePoint:
    """The effect of abstaining below a threshold: the share still answered, and the share of these that is wrong."""

    threshold: float
    coverage: float
    risk: float | None


def risk_coverage(answered: Answered, thresholds: Sequence[float] = THRESHOLDS) -> list[CurvePoint]:
    """Return the risk-coverage curve in the order of ``thresholds``."""
    return [_point(answered, threshold) for threshold in thresholds]


def _point(answered: Answered, threshold: float) -> CurvePoint:
    kept = answered.confidence >= threshold
    weight = float(answered.weight[kept].sum())
    wrong = float(answered.weight[kept & ~answered.right].sum())
    return CurvePoint(threshold, weight / float(answered.weight.sum()), wrong / weight if weight else None)


def threshold_for_risk(curve: Sequence[CurvePoint], risk: float) -> float | None:
    """Return the lowest threshold whose risk is at most ``risk``; None if there is none."""
    return next((point.threshold for point in curve if point.risk is not None and point.risk <= risk), None)


def choose_threshold(curve: Sequence[CurvePoint], covered: float = COVERED) -> float:
    """Return the highest threshold that keeps this share of the verdicts.

    Returns 0 (never abstain) if the remaining verdicts are not more often correct than all verdicts.
    """
    everything = curve[0]
    left = [point for point in curve if point.coverage >= covered and point.risk is not None]
    last = max(left, key=lambda point: point.threshold, default=everything)
    better = last.risk is not None and everything.risk is not None and last.risk < everything.risk
    return last.threshold if better else 0.0


FOLDS = 5
RELIABLE = 20
"""Minimum number of pairs in a bin of the calibration error, and above a threshold for its risk to count. With fewer
pairs the figure is mostly chance."""
OF_EACH = 10
"""Minimum number of pairs of each label for fitting biases."""
SEED = 0
_NONE = (0.0,) * len(COLUMNS)


@dataclass(frozen=True)
class Target:
    """What the threshold must achieve.

    A minimum share of pairs that get a verdict, or a maximum error rate among those verdicts.
    """

    coverage: float = COVERED
    risk: float | None = None

    def threshold(self, held_out: JudgedPairs) -> float | None:
        """Return the highest threshold that keeps the coverage, or the lowest that reaches the risk, if any."""
        if self.risk is None:
            return choose_threshold(_curve(held_out), self.coverage)
        return threshold_for_risk(_reliable(held_out), self.risk)


def target_of(coverage: float | None, risk: float | None) -> Target:
    """Return the target of the threshold; a coverage unless a risk is given.

    Raises:
        InputError: Both are given, or one is not a share.
    """
    if coverage is not None and risk is not None:
        raise InputError("expected one target for the threshold, --coverage or --risk; found both. Give one of them.")
    for name, share in (("coverage", coverage), ("risk", risk)):
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"expected a {name} between 0 and 1; found {share:g}")
    return Target(risk=risk) if coverage is None else Target(coverage)


@dataclass(frozen=True)
class Scaling:
    """A transformation of a judge's probabilities: temperature scaling and a bias for each label."""

    temperature: float = 1.0
    bias: tuple[float, ...] = _NONE

    def of(self, judged: JudgedPairs) -> JudgedPairs:
        """Return the pairs with scaled probabilities."""
        return judged.at(self.temperature, self.bias)

    @property
    def biased(self) -> bool:
        """Whether any bias is set."""
        return any(self.bias)

    @property
    def at_limit(self) -> bool:
        """Whether the temperature is at a limit of the search range, so that the optimum may lie outside."""
        low, high = TEMPERATURES
        return not 1.01 * low < self.temperature < 0.99 * high


@dataclass(frozen=True)
class FittedScaling:
    """A fitted scaling and threshold; ``held_out`` has the pairs with the probabilities of a fit without their fold."""

    scaling: Scaling
    threshold: float | None
    held_out: JudgedPairs

    @property
    def curve(self) -> list[CurvePoint]:
        """The risk-coverage curve from held-out probabilities."""
        return _curve(self.held_out)


@dataclass(frozen=True)
class BeforeAfter:
    """A figure before and after calibrating."""

    before: float
    after: float


@dataclass(frozen=True)
class CalibrationResult:
    """A fit to labels, and its effect on held-out pairs.

    Attributes:
        fitted: The fit to all pairs; its threshold is not None.
        pairs: The pairs with the judge's own probabilities.
        groups: The group number of each pair.
        after: The pairs with the probabilities of a fit to the other folds, which also decides whether to use biases.
        answered: Whether each pair gets a verdict at the threshold of that fit.
        folds: Number of folds.
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
        """Expected calibration error over bins of equal size; 15 bins if there are enough pairs."""
        bins = max(1, min(BINS, len(self.groups) // RELIABLE))
        return self._change(lambda judged: adaptive_ece(judged.confidence, judged.right, bins))

    @property
    def brier(self) -> BeforeAfter:
        """Brier score, 0 to 2."""
        return self._change(lambda judged: brier(judged.gold, judged.probabilities))

    @property
    def coverage(self) -> Rate:
        """Share of pairs answered, at thresholds chosen without them."""
        return self._rate(self.answered, np.ones(len(self.answered), dtype=np.bool_))

    @property
    def risk(self) -> Rate:
        """Share of wrong verdicts among the answered pairs."""
        return self._rate(~self.after.right, self.answered)

    def risk_at(self, threshold: float) -> Rate:
        """Return the share of wrong verdicts at or above a threshold, from held-out probabilities."""
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
    """Fit to all pairs, and evaluate the procedure by cross-fitting.

    Args:
        pairs: Labelled pairs with a judge's probabilities.
        groups: The group of each pair. Pairs of a group are not independent and stay in one fold.
        target: Target of the threshold. Default: give nine verdicts in ten.

    Raises:
        InputError: There are fewer groups than folds, or no threshold reaches the risk.
    """
    wanted = target or Target()
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    if numbers.max() + 1 < FOLDS:
        raise InputError(
            f"expected pairs from at least {FOLDS} groups, to fit on some and measure on others; found "
            f"{numbers.max() + 1}. Add pairs from other documents, or leave out `group` if the pairs are independent."
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
        # If no threshold reaches the risk, every pair of the fold is abstained from.
        answered[inside] = scaled.confidence >= (1.01 if other.threshold is None else other.threshold)
    return CalibrationResult(fitted, pairs, numbers, pairs._replace(probabilities=after), answered, FOLDS)


def _out_of_reach(fitted: FittedScaling, target: Target) -> InputError:
    least = min(_reliable(fitted.held_out), key=lambda point: point.risk or 0.0)
    return InputError(
        f"expected a threshold with a risk of at most {target.risk:g} that keeps at least {RELIABLE} verdicts; found "
        f"none: the lowest risk is {least.risk or 0.0:.3f}, abstaining below {least.threshold:.2f}. Raise the risk, "
        "label more pairs, or use a better judge."
    )


def fit(pairs: JudgedPairs, groups: Integers, target: Target) -> FittedScaling:
    """Return the scaling of maximum likelihood, and the threshold; biases are used only if they help held-out pairs."""
    folds = _folds(groups)
    makers = [_by_temperature]
    if all(int((pairs.gold == column).sum()) >= OF_EACH for column in _known(pairs.probabilities)):
        makers.append(_with_bias)
    held_out = [_held_out(pairs, folds, make) for make in makers]
    losses = [negative_log_likelihood([scaled]) for scaled in held_out]
    best = int(np.argmin(losses))
    return FittedScaling(_rounded(makers[best](pairs)), target.threshold(held_out[best]), held_out[best])


def _by_temperature(pairs: JudgedPairs) -> Scaling:
    return Scaling(fit_temperature([pairs]))


def _with_bias(pairs: JudgedPairs) -> Scaling:
    return Scaling(*fit_bias(pairs))


def _rounded(scaling: Scaling) -> Scaling:
    """Round the values, so that those shown are those used."""
    bias = tuple(round(value, 4) + 0.0 for value in scaling.bias)
    return replace(scaling, temperature=round(scaling.temperature, 4), bias=bias)


def _known(probabilities: Floats) -> Integers:
    """Return the labels that the judge gives a probability above 0 to any pair."""
    return np.flatnonzero(probabilities.any(axis=0))


def _held_out(pairs: JudgedPairs, folds: Integers, make: Callable[[JudgedPairs], Scaling]) -> JudgedPairs:
    found = pairs.probabilities.copy()
    for fold in np.unique(folds):
        inside = folds == fold
        found[inside] = make(pairs.only(~inside)).of(pairs.only(inside)).probabilities
    return pairs._replace(probabilities=found)


def _folds(groups: Integers) -> Integers:
    """Return the fold of each pair: groups by falling size, ties in random order, each into the smallest fold."""
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
    """Return the part of the curve where enough pairs are answered."""
    return [point for point in _curve(judged) if round(point.coverage * len(judged.gold)) >= RELIABLE]


def _curve(judged: JudgedPairs) -> list[CurvePoint]:
    return risk_coverage(Answered.of([(judged.confidence, judged.right)]))
