"""Whether probabilities can be trusted, and how unsure a verdict may be before it is better not given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL
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
