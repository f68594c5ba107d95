"""Estimates of the human-judged rate of a run, from a judge's verdicts on all units and human labels on some.

The main estimate is prediction-powered inference (Angelopoulos et al. 2023; tuned as in PPI++): the judge's rate over
all units, plus the mean difference between labels and verdicts on the labelled units. It is valid for any judge; a
better judge gives a narrower interval. Two other estimates are reported with it: the labels alone, and the judge's rate
corrected by its sensitivity and specificity (Rogan and Gladen 1978).

All three are linear in the contributions of the units, so they share one variance formula. Units of one answer are
summed first, and the contributions of labels are centred within each stratum.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.resampling import Floats, Integers, student
from vericite.records import RateTally

FEWEST = 10
"""Minimum number of labels; with fewer the interval does not hold its coverage."""


@dataclass(frozen=True)
class PartlyLabelled:
    """Units with a judge's verdicts, some of which have human labels.

    Attributes:
        judged: The judge's verdict on each unit, 1 for supported, else 0.
        labels: The share of annotators who call the unit supported; NaN without a label.
        strata: The stratum of each unit, if the units to label were drawn by stratum.
        groups: The group of each unit, such as its answer. Units of a group are not independent.
    """

    judged: Floats
    labels: Floats
    strata: Sequence[Hashable] | None = None
    groups: Sequence[Hashable] | None = None

    @property
    def labelled(self) -> int:
        """Number of units with a label."""
        return int(np.isfinite(self.labels).sum())


@dataclass(frozen=True)
class CorrectedRate:
    """A rate with its 95 % interval.

    Attributes:
        method: ``automatic``, ``labels``, ``prediction-powered`` or ``sensitivity and specificity``.
        error: The standard error.
        n: Number of units used: all, or those with labels.
        tuning: Weight of the judge's verdicts, from 0 (not used) to 1.
        to_halve: Total number of labels that would halve the interval. None if labelling everything would not, or if
            the method does not depend on labels.
    """

    method: str
    value: float
    low: float
    high: float
    error: float
    n: int
    tuning: float | None = None
    to_halve: int | None = None

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        return {
            "method": self.method, "value": self.value, "low": self.low, "high": self.high, "error": self.error,
            "n": self.n, "tuning": self.tuning, "to_halve": self.to_halve,
        }  # fmt: skip


@dataclass(frozen=True)
class Correction:
    """The rate by each method.

    Attributes:
        automatic: The judge's rate over all units.
        labels: The rate of the labelled units, with strata weighted by their size.
        corrected: The rate by prediction-powered inference.
        by_errors: The judge's rate corrected by its sensitivity and specificity; None if the judge is not better than
            chance.
        sensitivity: Share of the units that annotators call supported which the judge calls supported too.
        specificity: Share of the units that annotators do not call supported which the judge does not either.
        joined: Number of strata with fewer than two labels, which were merged into others.
    """

    automatic: CorrectedRate
    labels: CorrectedRate
    corrected: CorrectedRate
    by_errors: CorrectedRate | None
    sensitivity: float | None
    specificity: float | None
    joined: int = 0

    @property
    def rates(self) -> list[CorrectedRate]:
        """The rates that are defined."""
        rates = (self.automatic, self.labels, self.corrected, self.by_errors)
        return [rate for rate in rates if rate is not None]


def correct(units: PartlyLabelled) -> Correction:
    """Estimate the rate of units that annotators would call supported.

    The interval is for a population of similar questions, not only for the questions of this run.

    Raises:
        InputError: There are fewer than ten labels.
    """
    if units.labelled < FEWEST:
        raise InputError(
            f"expected labels on at least {FEWEST} units to correct a rate; found {units.labelled}. Label more units."
        )
    parts = _Parts.of(units)
    sensitivity, specificity, by_errors = _by_errors(parts)
    return Correction(
        parts.automatic(),
        _tuned(parts, "labels", 0.0),
        _tuned(parts, "prediction-powered", None),
        by_errors,
        sensitivity,
        specificity,
        parts.joined,
    )


@dataclass(frozen=True)
class _Parts:
    """The units as arrays, with strata and groups numbered from 0."""

    judged: Floats
    labels: Floats
    has: Floats
    stratum: Integers
    group: Integers
    sizes: Floats
    drawn: Floats
    joined: int

    @classmethod
    def of(cls, units: PartlyLabelled) -> _Parts:
        count = len(units.judged)
        has = np.isfinite(units.labels)
        stratum, joined = _merge_strata(_numbers(units.strata or [0] * count), has)
        return cls(
            units.judged.astype(np.float64),
            np.where(has, units.labels, 0.0),
            has.astype(np.float64),
            stratum,
            _numbers(units.groups or range(count)),
            np.bincount(stratum).astype(np.float64),
            np.bincount(stratum, weights=has).astype(np.float64),
            joined,
        )

    @property
    def units(self) -> int:
        return len(self.judged)

    @property
    def count(self) -> int:
        return int(self.has.sum())

    @property
    def weight(self) -> Floats:
        """The share of all units that a labelled unit represents; 0 without a label."""
        return self.has * (self.sizes / self.drawn)[self.stratum] / self.units

    def by_stratum(self, values: Floats) -> Floats:
        """Return the mean over the labelled units of each stratum."""
        return np.bincount(self.stratum, weights=values * self.has, minlength=len(self.sizes)) / self.drawn

    def linear(self, values: Floats, predicted: Floats) -> tuple[float, Floats]:
        """Return mean(predicted) over all units + mean(values - predicted) over labels, and the part of each unit."""
        inner = np.bincount(self.stratum, weights=predicted, minlength=len(self.sizes)) / self.sizes
        rest = (values - predicted) * self.has
        means = inner + self.by_stratum(rest)
        value = float(means @ self.sizes) / self.units
        # Bessel's correction: the mean of each stratum is estimated.
        spread = np.sqrt(self.drawn / np.maximum(self.drawn - 1, 1))
        left = (rest - self.by_stratum(rest)[self.stratum]) * self.weight * spread[self.stratum]
        own = (means - value)[self.stratum] + predicted - inner[self.stratum]
        return value, own / self.units + left

    def variance(self, adds: Floats) -> float:
        """Return the variance of a sum over units, clustered by group."""
        sums = np.bincount(self.group, weights=adds)
        return float(sums @ sums) * len(sums) / max(len(sums) - 1, 1)

    def automatic(self) -> CorrectedRate:
        """Return the judge's rate, with the same interval as in other reports."""
        tally, mean = RateTally(), float(self.judged.mean())
        supported, sizes = np.bincount(self.group, weights=self.judged), np.bincount(self.group)
        for count, n in zip(supported.tolist(), sizes.tolist(), strict=True):
            tally.add(round(count), n)
        error = sqrt(self.variance((self.judged - mean) / self.units))
        found = tally.rate
        return CorrectedRate("automatic", mean, found.low or 0.0, found.high or 0.0, error, self.units)

    def rate(self, method: str, value: float, adds: Floats, tuning: float | None = None) -> CorrectedRate:
        """Return the rate with its interval, from what each unit adds to it."""
        variance = self.variance(adds) + self._unseen_variance()
        freedom = len(np.unique(self.group[self.has > 0])) - len(self.sizes)
        inside = min(max(value, 0.0), 1.0)
        low, high = _wilson(inside, variance, self.count, student(max(freedom, 1)))
        return CorrectedRate(
            method,
            inside,
            low,
            high,
            sqrt(variance),
            self.count,
            tuning,
            self._to_halve(variance) if method != _BY_ERRORS else None,
        )

    def _unseen_variance(self) -> float:
        """Return the variance for strata with equal labels, as if two more labels had differed from each other."""
        found = 0.0
        for number, (size, drawn) in enumerate(zip(self.sizes.tolist(), self.drawn.tolist(), strict=True)):
            inside = (self.stratum == number) & (self.has > 0)
            if np.ptp(self.labels[inside]) == 0 and drawn < size:
                share = 1 / (drawn + 2)
                found += (size / self.units) ** 2 * share * (1 - share) / drawn
        return found

    def _to_halve(self, variance: float) -> int | None:
        """Return the number of labels at which the variance is a quarter of what it is now."""
        value, adds = self.linear(self.labels, np.zeros(self.units))
        plain = float(adds @ adds)
        effect = self.variance((self.judged - self.judged.mean()) / self.units) / max(
            float(((self.judged - self.judged.mean()) ** 2).sum()) / self.units**2, 1e-12
        )
        floor = value * (1 - value) / self.units * max(effect, 1.0) if plain else 0.0
        inverse, least = 1 / self.count, 1 / self.units
        if variance / 4 <= floor or variance <= floor or inverse <= least:
            return None
        slope = (variance - floor) / (inverse - least)
        return min(ceil(1 / ((variance / 4 - floor) / slope + least)), self.units)


def _tuned(parts: _Parts, method: str, tuning: float | None) -> CorrectedRate:
    """Return the rate with this weight of the judge; None uses the weight that minimizes the variance."""
    _, without = parts.linear(parts.labels, np.zeros(parts.units))
    if tuning is None:
        _, whole = parts.linear(parts.labels, parts.judged)
        # The contributions are linear in the tuning, so the variance is a parabola.
        sums = np.bincount(parts.group, weights=without)
        change = np.bincount(parts.group, weights=whole - without)
        length = float(change @ change)
        tuning = min(max(-float(sums @ change) / length, 0.0), 1.0) if length > 1e-18 else 1.0
    value, adds = parts.linear(parts.labels, tuning * parts.judged)
    return parts.rate(method, value, adds, None if method == "labels" else tuning)


def _by_errors(parts: _Parts) -> tuple[float | None, float | None, CorrectedRate | None]:
    """Return sensitivity, specificity (from weighted labels) and the rate corrected by Rogan and Gladen's method."""
    judged, labels = parts.judged, parts.labels
    nothing = np.zeros(parts.units)
    good, adds_good = parts.linear(labels, nothing)
    bad, adds_bad = parts.linear(1 - labels, nothing)
    hit, adds_hit = parts.linear(labels * judged, nothing)
    cleared, adds_cleared = parts.linear((1 - labels) * (1 - judged), nothing)
    sensitivity = hit / good if good > _ROUNDING else None
    specificity = cleared / bad if bad > _ROUNDING else None
    if sensitivity is None or specificity is None or sensitivity + specificity <= 1.0 + _CHANCE:
        return sensitivity, specificity, None
    gain, rate = sensitivity + specificity - 1, float(judged.mean())
    value = (rate + specificity - 1) / gain
    adds = (
        (judged - rate) / parts.units
        - value * (adds_hit - sensitivity * adds_good) / good
        + (1 - value) * (adds_cleared - specificity * adds_bad) / bad
    ) / gain
    return sensitivity, specificity, parts.rate(_BY_ERRORS, value, adds)


_BY_ERRORS = "sensitivity and specificity"
_ROUNDING = 1e-12
_CHANCE = 0.05
"""Minimum of sensitivity + specificity - 1, by which the correction divides."""


def _numbers(values: Sequence[Hashable]) -> Integers:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _merge_strata(stratum: Integers, has: Floats) -> tuple[Integers, int]:
    """Merge strata with fewer than two labels into the smallest other one; return the strata and how many merged."""
    drawn = np.bincount(stratum, weights=has)
    thin = np.flatnonzero(drawn < 2)
    if not len(thin):
        return stratum, 0
    enough = np.flatnonzero(drawn >= 2)
    into = int(enough[np.argmin(drawn[enough])]) if len(enough) else 0
    moved = np.where(np.isin(stratum, thin), into, stratum)
    return _numbers(moved.tolist()), len(thin)


def _wilson(value: float, variance: float, n: int, far: float) -> tuple[float, float]:
    """Return Wilson's interval of a share, for the effective number of independent units with this variance."""
    inside = min(max(value, 0.5 / n), 1 - 0.5 / n)
    size = inside * (1 - inside) / variance if variance > 0 else float(n)
    middle = (value + far**2 / (2 * size)) / (1 + far**2 / size)
    half = far * sqrt(value * (1 - value) / size + far**2 / (4 * size**2)) / (1 + far**2 / size)
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class LabelledVerdict:
    """A verdict with its human labels.

    Attributes:
        sure: The probability of the verdict; None if the judge gives none.
        supported: The probability that the source supports the claim; None if the judge gives none.
        verdict: The judge's label.
        people: The share of annotators who call the claim supported.
        same: The share of annotators who agree with the verdict.
        weight: The number of verdicts that it represents.
    """

    sure: float | None
    supported: float | None
    verdict: str
    people: float
    same: float
    weight: float


@dataclass(frozen=True)
class SystemByPeople:
    """A system's rates by each method, and the verdicts with human labels."""

    name: str
    correction: Correction
    verdicts: tuple[LabelledVerdict, ...]
