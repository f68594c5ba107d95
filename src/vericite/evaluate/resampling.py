"""95 % confidence intervals of any statistic, by a seeded bootstrap over its units (questions, documents, items)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.records import Z95

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Method = Literal["percentile", "bca"]
Statistic = Callable[[Floats], Floats]
"""Maps sums over units [..., parts] to values [...]; NaN if undefined."""
RowStatistic = Callable[[Integers], float]
"""Maps the drawn rows, with repetitions, to a value; NaN if undefined."""

DRAWS = 1000
SEED = 0

_SAME = 1e-12
"""Values with a smaller relative difference than this are equal up to rounding."""
_BLOCKS = 500
"""Maximum number of jackknife blocks for BCa; more cost time and do not change the interval."""
_AT_ONCE = 4_000_000
"""Number of multiplicities to convert to floats at a time."""
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval.

    The value is None if there are no units or the statistic is undefined. A single unit has a value but no interval.
    If all units are equal the interval is a point, as for any bootstrap; for shares, ``rates.RateTally`` gives an
    interval with a width. There is no interval if the statistic is undefined in more than half of the draws.

    Attributes:
        n: Number of units used.
        missing: Number of units left out because they are unknown (failed, not scored); they never count as 0.
        empty: Number of units with nothing to count, such as answers without a citation.
        undefined_draws: Number of draws left out of the interval because the statistic was undefined.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int = 0
    empty: int = 0
    undefined_draws: int = 0

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict of the value and its interval."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def __neg__(self) -> Estimate:
        """Return the estimate with the opposite sign."""
        value, low, high = (None if number is None else -number + 0.0 for number in (self.value, self.high, self.low))
        return Estimate(value, low, high, self.n, self.missing, self.empty, self.undefined_draws)


def ratio(sums: Floats) -> Floats:
    """Return the first sum divided by the second; NaN if the second is 0."""
    return sums[..., 0] / sums[..., 1]


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap settings. The same units in the same order get the same draws, for any statistic.

    Pass units in a fixed order, such as by id: another order changes the interval slightly. BCa is the default because
    it has better coverage for skewed statistics and equal coverage otherwise. If all draws are on one side of the
    value, the percentile interval is used instead. For rare shares of citations the coverage is lower: 92 to 93 % for
    a share of 3 % with an intra-answer correlation of 0.3 in 100 answers. Use ``rates.RateTally`` for those.

    Attributes:
        widened: Expand the interval for small samples (Hesterberg 2015, expanded percentiles). Without this the
            coverage is 94 % for 40 units.

    Raises:
        InputError: ``draws`` is less than 100.
    """

    draws: int = DRAWS
    seed: int = SEED
    method: Method = "bca"
    widened: bool = True

    def __post_init__(self) -> None:
        if self.draws < 100:
            raise InputError(
                f"expected at least 100 draws for a 95 % interval; found {self.draws}. The default is {DRAWS}."
            )

    @property
    def signature(self) -> str:
        """The part of a score's signature that describes the interval."""
        return f"bootstrap={self.method}{'+t' if self.widened else ''},draws={self.draws},seed={self.seed}"

    def means(self, values: Floats) -> list[Estimate]:
        """Estimate the mean of each column of ``values`` [units, columns]; NaN is a missing value."""
        return self.pooled(np.stack([values, np.ones_like(values)], axis=-1), ratio)

    def pooled(self, parts: Floats, statistic: Statistic) -> list[Estimate]:
        """Estimate a statistic of sums, for each column of ``parts`` [units, columns, parts].

        This is the fast way: the draws are shared, and all columns (measures, systems) are summed by one matrix
        product. A mean, a rate, F1 of counts and a difference of two rates are all functions of sums over units.

        Args:
            parts: What each unit adds to each sum. A unit with NaN in a column is missing there; a unit with only
                zeros is empty.
            statistic: Maps sums [..., parts] to values [...]; NaN if undefined.
        """
        missing: NDArray[np.bool_] = np.any(np.isnan(parts), axis=2)
        # Missing units are not drawn, so that the interval does not depend on their number.
        by_missing: dict[bytes, list[int]] = {}
        for column in range(parts.shape[1]):
            by_missing.setdefault(missing[:, column].tobytes(), []).append(column)
        found: dict[int, Estimate] = {}
        for chosen in by_missing.values():
            absent = missing[:, chosen[0]]
            known = self._known(parts[~absent][:, chosen], statistic, int(absent.sum()))
            found.update(zip(chosen, known, strict=True))
        return [found[column] for column in range(parts.shape[1])]

    def _known(self, known: Floats, statistic: Statistic, missing: int) -> list[Estimate]:
        """Estimate the statistic for each column over known units; ``missing`` units were left out."""
        units, columns, _ = known.shape
        empty: NDArray[np.bool_] = ~np.any(known, axis=2)
        counts = [(units - count, missing, count) for count in empty.sum(axis=0).tolist()]
        if not units:
            return [Estimate(None, None, None, 0, missing)] * columns
        with np.errstate(all="ignore"):
            sums = known.sum(axis=0)
            value = statistic(sums)
            drawn = statistic(self._sums(known))
            without = statistic(sums - _block_sums(known)) if self.method == "bca" else None
        return self._estimates(value, drawn, without, counts)

    def centred(self, parts: Floats, statistic: Statistic, low: float, high: float) -> Estimate:
        """Estimate a statistic of sums over ``parts`` [units, parts] whose bootstrap draws are biased.

        Uses the percentiles of the draws, shifted so that their mean is the value, and clipped to ``low`` and ``high``.
        """
        known = parts[~np.isnan(parts).any(axis=1)]

        def moved(sums: Floats) -> Floats:
            figures = statistic(sums)
            if sums.ndim < 3 or not len(known):
                return figures
            whole = statistic(known.sum(axis=0))
            return np.clip(figures + whole - np.nanmean(figures, axis=0), low, high)

        return replace(self, method="percentile").pooled(parts[:, None], moved)[0]

    def over_rows(self, statistic: RowStatistic, groups: Sequence[Hashable]) -> Estimate:
        """Estimate any statistic of rows, such as an AUC, drawing the rows of a group together.

        Args:
            statistic: Called with the rows of each draw, so about a thousand times.
            groups: The group of each row, which is its unit. A row with group None or "" is its own group.
        """
        grouped = members(groups)
        if not grouped:
            return Estimate(None, None, None, 0)
        value = statistic(np.arange(len(groups), dtype=np.int64))
        if len(grouped) < 2 or not np.isfinite(value):
            return Estimate(_known(value), None, None, len(grouped))
        drawn = [statistic(_rows(grouped, row)) for row in self._multiplicities(len(grouped))]
        without = None
        if self.method == "bca":
            kept = _blocks(len(grouped))
            jackknife = [statistic(_rows(grouped, (kept != block).astype(np.uint8))) for block in range(kept.max() + 1)]
            without = np.array(jackknife, dtype=np.float64)[:, None]
        figures = np.array(drawn, dtype=np.float64)[:, None]
        return self._estimates(np.array([value], dtype=np.float64), figures, without, [(len(grouped), 0, 0)])[0]

    def _multiplicities(self, units: int) -> NDArray[np.uint8]:
        return _multiplicities(units, self.draws, self.seed)

    def _estimates(
        self, value: Floats, drawn: Floats, without: Floats | None, counts: Sequence[tuple[int, int, int]]
    ) -> list[Estimate]:
        """Return estimates from values [columns], draws [draws, columns] and jackknife values [blocks, columns]."""
        value, drawn = _finite(value), _finite(drawn)
        ordered = np.sort(drawn, axis=0)  # NaN comes last.
        defined = (~np.isnan(drawn)).sum(axis=0)
        ends = np.array([self._ends(n) for n, _, _ in counts], dtype=np.float64)
        levels = _levels(ends, value, drawn, defined, without)
        low, high = (_at(ordered, defined, levels[:, side]) for side in (0, 1))
        found: list[Estimate] = []
        for column, (n, missing, empty) in enumerate(counts):
            whole = _known(value[column]) if n else None
            undefined = len(drawn) - int(defined[column])
            if whole is None or n < 2:
                found.append(Estimate(whole, None, None, n, missing, empty))
            elif 2 * undefined > len(drawn):
                found.append(Estimate(whole, None, None, n, missing, empty, undefined))
            else:
                first, last = (_known(_snapped(float(end[column]), whole)) for end in (low, high))
                found.append(Estimate(whole, first, last, n, missing, empty, undefined))
        return found

    def _ends(self, n: int) -> float:
        """Return the half-width of the interval in standard deviations."""
        return Z95 if n < 2 or not self.widened else sqrt(n / (n - 1)) * student(n - 1)

    def _sums(self, parts: Floats) -> Floats:
        """Return the sums over the units of each draw [draws, columns, parts]."""
        units, *rest = parts.shape
        flat = parts.reshape(units, -1)
        times = self._multiplicities(units)
        step = max(1, _AT_ONCE // units)
        sums = [times[start : start + step].astype(np.float64) @ flat for start in range(0, self.draws, step)]
        return np.concatenate(sums).reshape(self.draws, *rest)


@lru_cache(maxsize=4)
def _multiplicities(units: int, draws: int, seed: int) -> NDArray[np.uint8]:
    """Return how often each unit is in each draw [draws, units]."""
    drawn = np.random.default_rng(seed)
    # A byte is enough: with up to 255 units no count is larger, and with more units 256 is too improbable.
    times = np.empty((draws, units), dtype=np.uint8)
    for row in times:
        row[:] = np.bincount(drawn.integers(0, units, units), minlength=units)
    times.setflags(write=False)
    return times


def _blocks(units: int) -> Integers:
    """Return the jackknife block of each unit; one block per unit unless there are very many units."""
    count = min(units, _BLOCKS)
    return np.random.default_rng(SEED).permutation(np.arange(units, dtype=np.int64) % count)


def _block_sums(parts: Floats) -> Floats:
    """Return what each block adds to the sums [blocks, columns, parts]."""
    blocks = _blocks(len(parts))
    sums = np.zeros((int(blocks.max()) + 1, *parts.shape[1:]))
    np.add.at(sums, blocks, parts)
    return sums


def members(groups: Sequence[Hashable]) -> list[Integers]:
    """Return the rows of each group; a row with group None or "" is its own group."""
    found: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        found.setdefault(("row", row) if group is None or group == "" else ("group", group), []).append(row)
    return [np.array(rows, dtype=np.int64) for rows in found.values()]


def _rows(grouped: Sequence[Integers], times: NDArray[np.uint8]) -> Integers:
    chosen: list[int] = np.repeat(np.arange(len(grouped)), times).tolist()
    return np.concatenate([grouped[index] for index in chosen])


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _finite(figures: Floats) -> Floats:
    """Replace infinities by NaN: a division by zero is undefined."""
    return np.where(np.isfinite(figures), figures, np.nan)


def _snapped(end: float, value: float) -> float:
    """Return the value itself if the end of its interval differs only by rounding, so that a point stays a point."""
    return value if abs(end - value) <= _SAME * max(abs(value), abs(end)) else end


def _at(ordered: Floats, defined: Integers, level: Floats) -> Floats:
    """Return quantiles of the first ``defined`` rows of each column, with linear interpolation."""
    last = np.maximum(defined - 1, 0)
    position = level * last
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, last)
    columns = np.arange(len(defined))
    first, second = ordered[below, columns], ordered[above, columns]
    return first + (second - first) * (position - below)


def _levels(far: Floats, value: Floats, drawn: Floats, defined: Integers, without: Floats | None) -> Floats:
    """Return the quantiles [columns, 2] of the interval ends, ``far`` [columns] standard deviations from the middle."""
    levels = np.array([(_NORMAL.cdf(-end), _NORMAL.cdf(end)) for end in far.tolist()], dtype=np.float64).reshape(-1, 2)
    if without is None:
        return levels
    near = _SAME * np.abs(value)
    # Half of the ties count as below; otherwise statistics with few distinct values would look biased.
    same = (np.abs(drawn - value) <= near).sum(axis=0)
    below = (drawn < value - near).sum(axis=0) + same / 2
    skew = _acceleration(without)
    for column in range(len(value)):
        share = float(below[column]) / max(int(defined[column]), 1)
        moved = _moved(share, float(skew[column]), float(far[column])) if 0 < share < 1 else None
        if moved is not None:
            levels[column] = moved
    return levels


def _moved(share: float, skew: float, far: float) -> tuple[float, float] | None:
    """Return BCa's quantiles (Efron and Tibshirani, 14.10); None if they are undefined."""
    bias = _NORMAL.inv_cdf(share)
    ends: list[float] = []
    for end in (-far, far):
        shifted = bias + end
        if not 1 - skew * shifted > 0:
            return None
        ends.append(_NORMAL.cdf(bias + shifted / (1 - skew * shifted)))
    return ends[0], ends[1]


def student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t by the Cornish-Fisher expansion.

    The error is at most 0.003 from 5 degrees of freedom on. With fewer the interval reaches the outermost draws anyway.
    """
    z, f = Z95, freedom
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / f + second / f**2 + third / f**3


def _acceleration(without: Floats) -> Floats:
    """Return BCa's acceleration from jackknife values [blocks, columns]; 0 if they are equal or one is undefined."""
    with np.errstate(all="ignore"):
        gap: Floats = without.mean(axis=0) - without
        skew: Floats = (gap**3).sum(axis=0) / (6 * (gap**2).sum(axis=0) ** 1.5)
    return np.where(np.isfinite(skew), skew, 0.0)
