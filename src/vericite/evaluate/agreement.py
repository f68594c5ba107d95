"""Agreement of labels, and rank correlation of measures, each with a confidence interval.

Every coefficient is a function of sums over items or systems, so a thousand bootstrap draws cost one matrix product.
Tests compare them with scikit-learn, statsmodels, krippendorff and scipy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.evaluate.measures.measure import Family, Named
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, Integers, Statistic

Label = str | int
Ratings = Sequence[Sequence[Label | None]]
"""The label of each item by each rater [items, raters]; None where a rater gave no label."""
Weights = Literal["linear", "quadratic"]
Level = Literal["nominal", "ordinal"]

LANDIS_KOCH = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))
"""The upper limit of each word (Landis and Koch 1977); values below 0 are poor."""


def landis_koch(value: float | None) -> str | None:
    """Return the word for a chance-corrected coefficient; None if it is undefined."""
    if value is None:
        return None
    return "poor" if value < 0 else next(word for limit, word in LANDIS_KOCH if value <= limit + 1e-12)


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its confidence interval.

    The value is None, never 0, if it is undefined: there are no items, all items have one category, or one side ranks
    all systems alike.

    Attributes:
        estimate: The value and its interval. Its ``n`` is the number of units drawn (groups of items, if given).
        n: Number of items used.
        missing: Number of items left out because a label is missing.
        unit: The word for an item.
        worded: Whether Landis and Koch's words apply to this coefficient.
    """

    name: str
    estimate: Estimate
    n: int
    missing: int = 0
    unit: str = "item"
    worded: bool = True

    @property
    def value(self) -> float | None:
        """The coefficient; None if it is undefined."""
        return self.estimate.value

    @property
    def words(self) -> str | None:
        """Landis and Koch's word; None if the value is undefined or their words do not apply."""
        return landis_koch(self.value) if self.worded else None

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict; an undefined coefficient is null."""
        return {**self.estimate.record, "n": self.n, "missing": self.missing}

    def __str__(self) -> str:
        left = f", {self.missing} left out" if self.missing else ""
        counted = f"n = {self.n} {self.unit}{'' if self.n == 1 else 's'}{left}"
        if self.value is None:
            return f"{self.name} undefined ({counted})"
        low, high = self.estimate.low, self.estimate.high
        interval = "no interval" if low is None or high is None else f"95 % interval {low:.2f} to {high:.2f}"
        word = f": {self.words}" if self.words else ""
        return f"{self.name} {self.value:.2f} ({interval}, {counted}){word}"


@dataclass(frozen=True)
class RatedItems:
    """Items with the labels of several raters.

    Attributes:
        ratings: Labels [items, raters], None for a missing label. A reference rater comes first.
        categories: All possible labels, in order if they are ordered. Default: the labels found in ``ratings``.
        groups: The group of each item, such as its question. Items of a group are not independent and are drawn
            together.
    """

    ratings: Ratings
    categories: Sequence[Label] | None = None
    groups: Sequence[Hashable] | None = None

    def coded(self) -> tuple[Integers, list[Label]]:
        """Return category indices [items, raters], with -1 for a missing label, and the categories.

        Raises:
            InputError: Items have different numbers of raters, or fewer than two; or a label is not in the categories.
        """
        raters = {len(row) for row in self.ratings} or {2}
        if len(raters) > 1 or min(raters) < 2:
            raise InputError(
                f"expected at least two raters, the same number for each item; found {sorted(raters)}. Use None for a "
                "missing label."
            )
        given = {label for row in self.ratings for label in row if label is not None}
        known = sorted(given, key=lambda label: (str(label), str(type(label))))
        if self.categories is not None:
            known = list(self.categories)
        if unknown := given - set(known):
            raise InputError(
                f"expected labels from {', '.join(map(str, known))}; found {', '.join(sorted(map(str, unknown)))}. "
                "List all categories, or correct the labels."
            )
        index = {label: code for code, label in enumerate(known)}
        rows = [[-1 if label is None else index[label] for label in row] for row in self.ratings]
        return np.array(rows, dtype=np.int64).reshape(-1, raters.pop()), known

    def labelled_by_all(self) -> tuple[Integers, list[Label], KeptGroups]:
        """Return the codes of the items that every rater labelled, the categories, and the groups of these items."""
        codes, known = self.coded()
        complete: NDArray[np.bool_] = np.all(codes >= 0, axis=1)
        return codes[complete], known, self.select(complete)

    def select(self, kept: NDArray[np.bool_]) -> KeptGroups:
        """Return the groups of the kept items, and the number of items dropped."""
        if self.groups is not None and len(self.groups) != len(kept):
            raise InputError(
                f"expected a group for each of {len(kept)} items; found {len(self.groups)}. Pass one group per item."
            )
        all_groups = [None] * len(kept) if self.groups is None else self.groups
        groups = [group for group, keep in zip(all_groups, kept.tolist(), strict=True) if keep]
        return KeptGroups(groups, int((~kept).sum()))

    def expect_order(self, what: str) -> None:
        """Check that the categories are given in order.

        Raises:
            InputError: No categories are given.
        """
        if self.categories is None:
            raise InputError(f"expected the categories in order, which {what} need; found none. Pass categories=.")


class KeptGroups(NamedTuple):
    """The group of each kept item, and the number of items dropped."""

    groups: list[Hashable]
    missing: int


@dataclass(frozen=True, repr=False)
class AgreementMeasure(Named):
    """A coefficient of agreement between raters."""

    family: ClassVar[Family] = "agreement"
    of_two: ClassVar[bool] = True
    """Whether it compares two raters; otherwise it covers all raters at once."""

    @property
    def ordered(self) -> bool:
        """Whether it needs the categories in order."""
        return False

    @abstractmethod
    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """Return the coefficient, or one per category.

        Raises:
            InputError: Items have different numbers of raters, a label is not in the categories, or the measure needs
                ordered categories and none are given.
        """


@dataclass(frozen=True, repr=False)
class CohenKappa(AgreementMeasure):
    """Chance-corrected agreement of two raters; undefined if both give every item the same label.

    Cohen (1960). The weighted form (1968) weighs a disagreement by the distance between the categories.
    """

    name = "CohenKappa"
    weights: Weights | None = None

    @property
    def ordered(self) -> bool:
        """True with weights, which are distances between categories."""
        return self.weights is not None

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """Return one coefficient; an item without both labels is left out."""
        if self.weights:
            rated.expect_order(f"{self.weights} weights")
        codes, known, selected = rated.labelled_by_all()
        distance = np.abs(np.subtract.outer(np.arange(len(known)), np.arange(len(known)))).astype(np.float64)
        cost = {None: (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[self.weights]
        title = f"Cohen's kappa, {self.weights} weights" if self.weights else "Cohen's kappa"
        sides = np.eye(len(known))[codes]
        table = sides[:, 0, :, None] * sides[:, 1, None, :]
        return [_agreement(title, table, _kappa(cost), selected, bootstrap)]


@dataclass(frozen=True, repr=False)
class FleissKappa(AgreementMeasure):
    """Chance-corrected agreement of several raters, over the items that all of them labelled (Fleiss 1971)."""

    name = "FleissKappa"
    of_two = False

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """Return one coefficient over all raters."""
        codes, known, selected = rated.labelled_by_all()
        counts = np.eye(len(known))[codes].sum(axis=1)
        raters = codes.shape[1]
        alike = (counts * (counts - 1)).sum(axis=1, keepdims=True) / (raters * (raters - 1))

        def kappa(sums: Floats) -> Floats:
            items = sums[..., 1:].sum(axis=-1) / raters
            shares = sums[..., 1:] / (items * raters)[..., None]
            return _beyond_chance(sums[..., 0] / items, (shares**2).sum(axis=-1))

        return [_agreement("Fleiss' kappa", np.concatenate([alike, counts], axis=1), kappa, selected, bootstrap)]


@dataclass(frozen=True, repr=False)
class KrippendorffAlpha(AgreementMeasure):
    """Krippendorff's alpha: chance-corrected agreement of several raters, where labels may be missing.

    The ordinal level needs the categories in order.
    """

    name = "KrippendorffAlpha"
    of_two = False
    level: Level = "nominal"

    @property
    def ordered(self) -> bool:
        """True at the ordinal level."""
        return self.level == "ordinal"

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """Return one coefficient over all raters; an item with fewer than two labels is left out."""
        if self.ordered:
            rated.expect_order("ordinal alphas")
        codes, known = rated.coded()
        paired = (codes >= 0).sum(axis=1) > 1
        kept = codes[paired]
        counts = np.stack([(kept == code).sum(axis=1) for code in range(len(known))], axis=1).astype(np.float64)
        pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(len(known))
        pairs /= np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]
        title = f"Krippendorff's alpha, {self.level}"
        return [_agreement(title, pairs, _alpha(len(known), self.level), rated.select(paired), bootstrap)]


@dataclass(frozen=True, repr=False)
class CategoryF1(AgreementMeasure):
    """F1 of each category, with the reference rater's labels as the truth."""

    name = "CategoryF1"

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """Return one figure per category; undefined for a category that neither rater uses."""
        codes, known, selected = rated.labelled_by_all()
        found: list[Agreement] = []
        for code, category in enumerate(known):
            true, called = codes[:, 0] == code, codes[:, 1] == code
            # The constant column keeps items of other categories from counting as empty units.
            parts = np.stack([true & called, true ^ called, np.ones_like(true)], axis=1).astype(np.float64)
            found.append(_agreement(f"F1 of {category}", parts, _f1, selected, bootstrap, worded=False))
        return found


SystemScores = Mapping[str, float | None]
"""The score of each system by one measure."""


FEWEST_SYSTEMS = 5
"""Minimum number of systems for an interval of a rank correlation. Four systems have the same order by chance in 1 of
24 cases, which is too often for a 95 % interval; the bootstrap would return a point."""


@dataclass(frozen=True, repr=False)
class RankAgreement(Named):
    """A rank correlation of two measures over the same systems.

    With a cutoff, as in ``Kendall@10``, only the systems with the highest scores by the first measure (the reference)
    are ranked; of those that are tied at the cutoff, the first by name are taken.
    """

    family: ClassVar[Family] = "agreement"
    title: ClassVar[str]
    """Name of the coefficient in a sentence."""

    cutoff: int | None = None

    @abstractmethod
    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """Return the statistic that maps draw counts [..., systems] to the correlation of the scores."""

    def of(self, first: SystemScores, second: SystemScores, bootstrap: Bootstrap | None = None) -> Agreement:
        """Correlate the scores of two measures; the interval is drawn over systems, if there are enough of them.

        A system with a score by only one measure is left out and counted.
        """
        systems = sorted(first.keys() | second.keys())
        both = [(first.get(system), second.get(system)) for system in systems]
        kept = [(a, b) for a, b in both if a is not None and b is not None and not isnan(a) and not isnan(b)]
        missing = len(both) - len(kept)
        kept = sorted(kept, key=lambda scores: -scores[0])[: self.cutoff] if self.cutoff else kept
        one, other = np.array(kept, dtype=np.float64).reshape(-1, 2).T
        # With the identity as parts, the sums of a draw are the number of times that each system was drawn.
        drawn = np.eye(len(kept), dtype=np.float64)[:, None]
        estimate = (bootstrap or Bootstrap()).pooled(drawn, self.correlation(one, other))[0]
        if len(kept) < FEWEST_SYSTEMS:
            estimate = replace(estimate, low=None, high=None)
        title = f"{self.title} of the top {self.cutoff}" if self.cutoff else self.title
        return Agreement(title, estimate, len(kept), missing, "system", worded=False)


@dataclass(frozen=True, repr=False)
class Spearman(RankAgreement):
    """Spearman's rank correlation of two measures over the same systems; undefined if all are tied."""

    name = "Spearman"
    title = "Spearman's rho"

    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """Return the correlation of the ranks within a draw."""

        def ranks(scores: Floats, times: Floats) -> Floats:
            below = (scores[:, None] < scores[None, :]).astype(np.float64)
            same = (scores[:, None] == scores[None, :]).astype(np.float64)
            return times @ below + (times @ same + 1) / 2

        def rho(times: Floats) -> Floats:
            n = times.sum(axis=-1)
            sides = [ranks(scores, times) for scores in (one, other)]
            sums = [(times * side).sum(axis=-1) for side in sides]
            # Ranks are multiples of 1/2, so the sums are exact and equal rankings correlate with exactly 1.
            spread = [n * (times * side**2).sum(axis=-1) - total**2 for side, total in zip(sides, sums, strict=True)]
            product = n * (times * sides[0] * sides[1]).sum(axis=-1) - sums[0] * sums[1]
            return product / np.sqrt(spread[0] * spread[1])

        return rho


@dataclass(frozen=True, repr=False)
class Kendall(RankAgreement):
    """Kendall's tau-b of two measures over the same systems; undefined if all are tied."""

    name = "Kendall"
    title = "Kendall's tau-b"

    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """Return tau-b; a system drawn twice is tied with itself."""
        ways = [np.sign(scores[:, None] - scores[None, :]) for scores in (one, other)]

        def pairs(times: Floats, matrix: Floats) -> Floats:
            return ((times @ matrix) * times).sum(axis=-1)

        def tau(times: Floats) -> Floats:
            untied = [pairs(times, np.abs(way)) for way in ways]
            return pairs(times, ways[0] * ways[1]) / np.sqrt(untied[0] * untied[1])

        return tau


@dataclass(frozen=True, repr=False)
class TauAP(RankAgreement):
    """AP rank correlation of two measures over the same systems: the best weigh most; undefined if all are tied.

    Yilmaz, Aslam and Robertson (SIGIR 2008), in the form for ties of Urbano and Marrero (2017), tau-AP-b, as TREC's
    autojudge-evaluate computes it: for each system that is not first, the share of those above it by one measure that
    the other measure also ranks above it; a tie by the other one does not count. The mean is scaled to -1 to 1, and it
    is the mean of both directions. Where all systems tie, autojudge-evaluate gives 0.
    """

    name = "TauAP"
    title = "tau-AP-b"

    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """Return tau-AP-b; a system drawn twice is tied with itself."""
        higher = [(scores[:, None] > scores[None, :]).astype(np.float64) for scores in (one, other)]
        alike = higher[0] * higher[1]

        def tau(times: Floats) -> Floats:
            sides: list[Floats] = []
            for above in higher:
                number = times @ above
                below_the_first = times * (number > 0)
                shares = (times @ alike) / np.where(number > 0, number, 1)
                sides.append(2 * (below_the_first * shares).sum(axis=-1) / below_the_first.sum(axis=-1) - 1)
            return (sides[0] + sides[1]) / 2

        return tau


def _agreement(
    name: str,
    parts: Floats,
    statistic: Statistic,
    selected: KeptGroups,
    bootstrap: Bootstrap | None,
    worded: bool = True,
) -> Agreement:
    """Return the coefficient from what each item adds to each sum [items, ...]."""
    items = len(parts)
    flat = parts.reshape(items, int(np.prod(parts.shape[1:])))
    keys = [("item", row) if group is None else ("group", group) for row, group in enumerate(selected.groups)]
    index = {key: unit for unit, key in enumerate(dict.fromkeys(keys))}
    sums = np.zeros((len(index), flat.shape[1]))
    np.add.at(sums, np.array([index[key] for key in keys], dtype=np.int64), flat)
    # Sorted, so that the interval does not depend on the order of the file.
    ordered = sums[np.lexsort(sums.T)] if flat.shape[1] else sums
    estimate = (bootstrap or Bootstrap()).pooled(ordered[:, None], statistic)[0]
    return Agreement(name, estimate, items, selected.missing, worded=worded)


def _kappa(cost: Floats) -> Callable[[Floats], Floats]:
    """Return kappa as a function of the flattened contingency table; ``cost`` is the cost of each disagreement."""

    def kappa(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], *cost.shape)
        by_chance = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
        n = sums.sum(axis=-1)
        return 1 - (table * cost).sum(axis=(-2, -1)) * n / (by_chance * cost).sum(axis=(-2, -1))

    return kappa


def _alpha(categories: int, level: Level) -> Callable[[Floats], Floats]:
    """Return alpha as a function of the flattened coincidence matrix."""

    def alpha(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], categories, categories)
        each = table.sum(axis=-1)
        n = each.sum(axis=-1)
        cost: Floats = 1 - np.eye(categories)
        if level == "ordinal":
            middle = np.cumsum(each, axis=-1) - each / 2
            cost = (middle[..., :, None] - middle[..., None, :]) ** 2
        by_chance = each[..., :, None] * each[..., None, :]
        return 1 - (table * cost).sum(axis=(-2, -1)) * (n - 1) / (by_chance * cost).sum(axis=(-2, -1))

    return alpha


def _beyond_chance(found: Floats, by_chance: Floats) -> Floats:
    rest = 1 - by_chance
    # With a single category the expected agreement is 1, up to rounding.
    return np.where(rest > 1e-12, (found - by_chance) / np.where(rest > 1e-12, rest, 1.0), np.nan)


def _f1(sums: Floats) -> Floats:
    return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1])
