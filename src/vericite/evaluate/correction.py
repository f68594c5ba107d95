"""The rate that people would give a run, from a judge's verdicts on all of it and people's labels on a part.

Prediction-powered inference (Angelopoulos et al. 2023; tuned as in PPI++): the judge's rate over everything, plus what
people's labels differ from it by where there are both. It holds whatever the judge is worth; a better judge makes the
interval narrower. Beside it stand the labels alone, and the judge's rate corrected by its sensitivity and
specificity (Rogan and Gladen 1978).

All three are linear in what each unit adds, so one variance serves them: units of one answer are added up first, and
what units of a stratum have in common is taken out of what the labels add.
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
"""Labels from which a rate is corrected: with fewer an interval would promise what it cannot hold."""


@dataclass(frozen=True)
class PartlyLabelled:
    """Units that a judge decided, some of which people labelled.

    Attributes:
        judged: What the judge says of each, 1 for supported, else 0.
        labels: The share of people who say that it is supported; NaN where nobody was asked.
        strata: What the units to label were drawn by, if they were drawn apart.
        groups: What units share that are not independent, such as their answer.
    """

    judged: Floats
    labels: Floats
    strata: Sequence[Hashable] | None = None
    groups: Sequence[Hashable] | None = None

    @property
    def labelled(self) -> int:
        """Units with a label."""
        return int(np.isfinite(self.labels).sum())


@dataclass(frozen=True)
class CorrectedRate:
    """A rate with its 95 % interval.

    Attributes:
        method: ``automatic``, ``labels``, ``prediction-powered`` or ``sensitivity and specificity``.
        error: Its standard error.
        n: Units that it is made of: all, or those with labels.
        tuning: How far the judge was gone by, from 0, where it is of no use, to 1.
        to_halve: Labels, those there are included, that would halve the interval; None where even labels of
            everything would not, or where labels are not what it is made of.
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
        """It as JSON has it."""
        return {
            "method": self.method, "value": self.value, "low": self.low, "high": self.high, "error": self.error,
            "n": self.n, "tuning": self.tuning, "to_halve": self.to_halve,
        }  # fmt: skip


@dataclass(frozen=True)
class Correction:
    """The rates side by side.

    Attributes:
        automatic: By the judge, over everything.
        labels: By people, over what they labelled, each stratum by its size.
        corrected: By prediction-powered inference.
        by_errors: The judge's rate corrected by its sensitivity and specificity; None where it has no better than
            chance.
        sensitivity: Of what people call supported, the share that the judge does.
        specificity: Of what they do not, the share that it does not.
        joined: Strata with fewer than two labels, which were joined to others.
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
        """Those there are."""
        return [one for one in (self.automatic, self.labels, self.corrected, self.by_errors) if one is not None]


def correct(units: PartlyLabelled) -> Correction:
    """The rate of units that people would find supported.

    The interval is that for more answers of the kind: it tells also how far another set of questions may fall.

    Raises:
        InputError: There are fewer than ten labels.
    """
    if units.labelled < FEWEST:
        raise InputError(
            f"expected labels on {FEWEST} units or more to correct a rate by; found {units.labelled}. Label more."
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
    """The units as arrays: stratum and group are numbers from 0, ``weight`` is what a labelled unit stands for."""

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
        stratum, joined = _joined(_numbers(units.strata or [0] * count), has)
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
        """What a unit with a label stands for, as a share of all; 0 without one."""
        return self.has * (self.sizes / self.drawn)[self.stratum] / self.units

    def by_stratum(self, values: Floats) -> Floats:
        """The mean of labelled units of each stratum."""
        return np.bincount(self.stratum, weights=values * self.has, minlength=len(self.sizes)) / self.drawn

    def linear(self, values: Floats, predicted: Floats) -> tuple[float, Floats]:
        """The mean of ``predicted`` over all, plus that of ``values - predicted`` over labels; what each unit adds."""
        inner = np.bincount(self.stratum, weights=predicted, minlength=len(self.sizes)) / self.sizes
        rest = (values - predicted) * self.has
        means = inner + self.by_stratum(rest)
        value = float(means @ self.sizes) / self.units
        # A stratum's labels know one mean less than there are of them.
        spread = np.sqrt(self.drawn / np.maximum(self.drawn - 1, 1))
        left = (rest - self.by_stratum(rest)[self.stratum]) * self.weight * spread[self.stratum]
        own = (means - value)[self.stratum] + predicted - inner[self.stratum]
        return value, own / self.units + left

    def variance(self, adds: Floats) -> float:
        """Of a sum over units, those of a group together."""
        sums = np.bincount(self.group, weights=adds)
        return float(sums @ sums) * len(sums) / max(len(sums) - 1, 1)

    def automatic(self) -> CorrectedRate:
        """The judge's rate, with the interval that it has everywhere."""
        tally, mean = RateTally(), float(self.judged.mean())
        supported, sizes = np.bincount(self.group, weights=self.judged), np.bincount(self.group)
        for count, n in zip(supported.tolist(), sizes.tolist(), strict=True):
            tally.add(round(count), n)
        error = sqrt(self.variance((self.judged - mean) / self.units))
        found = tally.rate
        return CorrectedRate("automatic", mean, found.low or 0.0, found.high or 0.0, error, self.units)

    def rate(self, method: str, value: float, adds: Floats, tuning: float | None = None) -> CorrectedRate:
        """The rate with its interval, from what each unit adds to it."""
        variance = self.variance(adds) + self._unseen()
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

    def _unseen(self) -> float:
        """What labels that are all alike in a stratum may hide: one of the two more that were not drawn."""
        found = 0.0
        for number, (size, drawn) in enumerate(zip(self.sizes.tolist(), self.drawn.tolist(), strict=True)):
            of = (self.stratum == number) & (self.has > 0)
            if np.ptp(self.labels[of]) == 0 and drawn < size:
                share = 1 / (drawn + 2)
                found += (size / self.units) ** 2 * share * (1 - share) / drawn
        return found

    def _to_halve(self, variance: float) -> int | None:
        """Labels at which the variance is a quarter, as that of n labels falls to that of all units."""
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
    """By as much of the judge as makes the variance least, or by so much."""
    _, without = parts.linear(parts.labels, np.zeros(parts.units))
    if tuning is None:
        _, whole = parts.linear(parts.labels, parts.judged)
        # Both are linear in the tuning, so the variance is a parabola.
        sums = np.bincount(parts.group, weights=without)
        change = np.bincount(parts.group, weights=whole - without)
        length = float(change @ change)
        tuning = min(max(-float(sums @ change) / length, 0.0), 1.0) if length > 1e-18 else 1.0
    value, adds = parts.linear(parts.labels, tuning * parts.judged)
    return parts.rate(method, value, adds, None if method == "labels" else tuning)


def _by_errors(parts: _Parts) -> tuple[float | None, float | None, CorrectedRate | None]:
    """Rogan and Gladen: sensitivity and specificity from the labels, each weighted by what it stands for."""
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
"""By how much a judge must be above chance: the correction divides by it."""


def _numbers(values: Sequence[Hashable]) -> Integers:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _joined(stratum: Integers, has: Floats) -> tuple[Integers, int]:
    """Strata that have two labels or more; the others are joined to the one with the fewest of these."""
    drawn = np.bincount(stratum, weights=has)
    thin = np.flatnonzero(drawn < 2)
    if not len(thin):
        return stratum, 0
    enough = np.flatnonzero(drawn >= 2)
    into = int(enough[np.argmin(drawn[enough])]) if len(enough) else 0
    moved = np.where(np.isin(stratum, thin), into, stratum)
    return _numbers(moved.tolist()), len(thin)


def _wilson(value: float, variance: float, n: int, far: float) -> tuple[float, float]:
    """Wilson's interval of a share whose variance is as of so many independent units."""
    inside = min(max(value, 0.5 / n), 1 - 0.5 / n)
    size = inside * (1 - inside) / variance if variance > 0 else float(n)
    middle = (value + far**2 / (2 * size)) / (1 + far**2 / size)
    half = far * sqrt(value * (1 - value) / size + far**2 / (4 * size**2)) / (1 + far**2 / size)
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class LabelledVerdict:
    """A verdict and what people said of it.

    Attributes:
        sure: The probability of the verdict; None where the judge gives none.
        supported: The probability that the source supports the claim; None where the judge gives none.
        verdict: What the judge said.
        people: The share of people to whom the claim is supported.
        same: The share of people who say what the verdict says.
        weight: How many verdicts it stands for.
    """

    sure: float | None
    supported: float | None
    verdict: str
    people: float
    same: float
    weight: float


@dataclass(frozen=True)
class SystemByPeople:
    """A system's rates side by side, and the verdicts that people labelled."""

    name: str
    correction: Correction
    verdicts: tuple[LabelledVerdict, ...]
