"""How far labels agree, and how far two measures rank systems alike, each with an interval.

All are functions of sums over items or systems, so a thousand draws cost one multiplication; they are our own for that,
and tests hold them to scikit-learn, statsmodels, krippendorff and scipy.
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
"""What each rater calls each item [items, raters]; None where one did not say."""
Weights = Literal["linear", "quadratic"]
Level = Literal["nominal", "ordinal"]

LANDIS_KOCH = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))
"""Up to which value each word goes (Landis and Koch 1977); below 0 it is poor."""


def landis_koch(value: float | None) -> str | None:
    """The word for a coefficient that chance agreement is taken out of; None for one that is undefined."""
    if value is None:
        return None
    return "poor" if value < 0 else next(word for limit, word in LANDIS_KOCH if value <= limit + 1e-12)


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its interval.

    Its value is None, never 0, where it is undefined: over no items, where all items are of one category, or where
    one side ranks all alike.

    Attributes:
        estimate: The figure and its interval; its ``n`` are the units drawn, which are groups of items if any.
        n: Items that it is made of.
        missing: Items left out because a label is missing.
        unit: What an item is called.
        worded: Whether Landis and Koch's words are meant for it.
    """

    name: str
    estimate: Estimate
    n: int
    missing: int = 0
    unit: str = "item"
    worded: bool = True

    @property
    def value(self) -> float | None:
        """The coefficient; None where it is undefined."""
        return self.estimate.value

    @property
    def words(self) -> str | None:
        """Landis and Koch's; None where it is undefined, and for what is no coefficient of theirs."""
        return landis_koch(self.value) if self.worded else None

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it; an undefined coefficient is null."""
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
    """Items and what raters said of them.

    Attributes:
        ratings: Labels [items, raters], None for none; the reference first where there is one.
        categories: All labels there are, in their order where they have one; by default those that were given.
        groups: What items that are not independent share, such as their question: these are drawn together.
    """

    ratings: Ratings
    categories: Sequence[Label] | None = None
    groups: Sequence[Hashable] | None = None

    def coded(self) -> tuple[Integers, list[Label]]:
        """Each label's index among the categories [items, raters], -1 for none; and the categories.

        Raises:
            InputError: Items have different numbers of raters, or fewer than two; or a label is none of the categories.
        """
        raters = {len(row) for row in self.ratings} or {2}
        if len(raters) > 1 or min(raters) < 2:
            raise InputError(
                f"expected two raters or more, the same number for each item; found {sorted(raters)}. Put None where "
                "one gave no label."
            )
        given = {label for row in self.ratings for label in row if label is not None}
        known = sorted(given, key=lambda label: (str(label), str(type(label))))
        if self.categories is not None:
            known = list(self.categories)
        if unknown := given - set(known):
            raise InputError(
                f"expected labels out of {', '.join(map(str, known))}; found {', '.join(sorted(map(str, unknown)))}. "
                "Name all categories, or mend the labels."
            )
        index = {label: code for code, label in enumerate(known)}
        rows = [[-1 if label is None else index[label] for label in row] for row in self.ratings]
        return np.array(rows, dtype=np.int64).reshape(-1, raters.pop()), known

    def labelled_by_all(self) -> tuple[Integers, list[Label], KeptGroups]:
        """The codes of the items that every rater labelled, the categories, and which items these are."""
        codes, known = self.coded()
        whole: NDArray[np.bool_] = np.all(codes >= 0, axis=1)
        return codes[whole], known, self.select(whole)

    def select(self, kept: NDArray[np.bool_]) -> KeptGroups:
        """The groups of the items kept, and how many items are not."""
        if self.groups is not None and len(self.groups) != len(kept):
            raise InputError(
                f"expected a group for each of {len(kept)} items; found {len(self.groups)}. Pass one an item."
            )
        every = [None] * len(kept) if self.groups is None else self.groups
        groups = [group for group, keep in zip(every, kept.tolist(), strict=True) if keep]
        return KeptGroups(groups, int((~kept).sum()))

    def expect_order(self, what: str) -> None:
        """Refuse ratings whose categories have no order.

        Raises:
            InputError: There are no categories.
        """
        if self.categories is None:
            raise InputError(
                f"expected the categories in their order, which {what} need; found none. Pass categories=."
            )


class KeptGroups(NamedTuple):
    """The group of each item that is kept, and the number of items that are not."""

    groups: list[Hashable]
    missing: int


@dataclass(frozen=True, repr=False)
class AgreementMeasure(Named):
    """A coefficient of how far raters agree on items."""

    family: ClassVar[Family] = "agreement"
    of_two: ClassVar[bool] = True
    """Whether it is of a reference and one other rater; else of all of them at once."""

    @property
    def ordered(self) -> bool:
        """Whether it needs the categories in their order."""
        return False

    @abstractmethod
    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """The coefficient, or one a category.

        Raises:
            InputError: Items have different numbers of raters, a label is none of the categories, or the measure needs
                the categories in their order and there are none.
        """


@dataclass(frozen=True, repr=False)
class CohenKappa(AgreementMeasure):
    """Agreement of two raters beyond chance; undefined where both give all items one label.

    Cohen (1960); with weights (1968), by the distance of categories in the order they are given.
    """

    name = "CohenKappa"
    weights: Weights | None = None

    @property
    def ordered(self) -> bool:
        """With weights, which are distances."""
        return self.weights is not None

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One coefficient; an item that one of the two did not label is left out."""
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
    """Agreement of several raters beyond chance, over the items that all of them labelled (Fleiss 1971)."""

    name = "FleissKappa"
    of_two = False

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One coefficient, of all of them."""
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
    """Agreement of several raters beyond chance, some of whom may not have labelled an item.

    Krippendorff's alpha; ordinal with categories in their order.
    """

    name = "KrippendorffAlpha"
    of_two = False
    level: Level = "nominal"

    @property
    def ordered(self) -> bool:
        """At the ordinal level."""
        return self.level == "ordinal"

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One coefficient, of all of them; an item with fewer than two labels is left out."""
        if self.ordered:
            rated.expect_order("an ordinal alpha")
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
    """F1 of each category, with the reference's labels (a person's) as the truth."""

    name = "CategoryF1"

    def of(self, rated: RatedItems, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One figure a category; undefined for one that neither side gives."""
        codes, known, selected = rated.labelled_by_all()
        found: list[Agreement] = []
        for code, category in enumerate(known):
            true, called = codes[:, 0] == code, codes[:, 1] == code
            # The third keeps items of other categories from being units without anything to count.
            parts = np.stack([true & called, true ^ called, np.ones_like(true)], axis=1).astype(np.float64)
            found.append(_agreement(f"F1 of {category}", parts, _f1, selected, bootstrap, worded=False))
        return found


SystemScores = Mapping[str, float | None]
"""Each system's score by one measure."""


FEWEST_SYSTEMS = 5
"""Systems that an interval of a rank correlation takes. Four are in the same order by chance in 1 of 24 cases, so that
no interval of 95 % can be had of fewer; a bootstrap of them would be a point wherever the orders are the same."""


@dataclass(frozen=True, repr=False)
class RankAgreement(Named):
    """A correlation of two rankings of the same systems."""

    family: ClassVar[Family] = "agreement"
    title: ClassVar[str]
    """What the coefficient is called in a sentence."""

    @abstractmethod
    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """From how often each system is drawn [..., systems] to the correlation of their scores."""

    def of(self, first: SystemScores, second: SystemScores, bootstrap: Bootstrap | None = None) -> Agreement:
        """From each system's scores by two measures; the interval is drawn over systems, where they are enough.

        A system that only one of the two has a score for is left out and counted.
        """
        systems = sorted(first.keys() | second.keys())
        both = [(first.get(system), second.get(system)) for system in systems]
        kept = [(a, b) for a, b in both if a is not None and b is not None and not isnan(a) and not isnan(b)]
        one, other = np.array(kept, dtype=np.float64).reshape(-1, 2).T
        # What a system adds to the sums is itself: the sums are how often each is there, which all draws share.
        drawn = np.eye(len(kept), dtype=np.float64)[:, None]
        estimate = (bootstrap or Bootstrap()).pooled(drawn, self.correlation(one, other))[0]
        if len(kept) < FEWEST_SYSTEMS:
            estimate = replace(estimate, low=None, high=None)
        return Agreement(self.title, estimate, len(kept), len(both) - len(kept), "system", worded=False)


@dataclass(frozen=True, repr=False)
class Spearman(RankAgreement):
    """Spearman's rank correlation between two measures' scores of the same systems; undefined where all are tied."""

    name = "Spearman"
    title = "Spearman's rho"

    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """Of the ranks that the systems of a draw have."""

        def ranks(scores: Floats, times: Floats) -> Floats:
            below = (scores[:, None] < scores[None, :]).astype(np.float64)
            same = (scores[:, None] == scores[None, :]).astype(np.float64)
            return times @ below + (times @ same + 1) / 2

        def rho(times: Floats) -> Floats:
            n = times.sum(axis=-1)
            sides = [ranks(scores, times) for scores in (one, other)]
            sums = [(times * side).sum(axis=-1) for side in sides]
            # Sums of halves, so exact: ranks that are alike correlate with 1 and nothing less.
            spread = [n * (times * side**2).sum(axis=-1) - total**2 for side, total in zip(sides, sums, strict=True)]
            product = n * (times * sides[0] * sides[1]).sum(axis=-1) - sums[0] * sums[1]
            return product / np.sqrt(spread[0] * spread[1])

        return rho


@dataclass(frozen=True, repr=False)
class Kendall(RankAgreement):
    """Kendall's tau-b between two measures' scores of the same systems; undefined where all are tied."""

    name = "Kendall"
    title = "Kendall's tau-b"

    def correlation(self, one: Floats, other: Floats) -> Statistic:
        """Tau-b; a system drawn twice is tied with itself."""
        ways = [np.sign(scores[:, None] - scores[None, :]) for scores in (one, other)]

        def pairs(times: Floats, matrix: Floats) -> Floats:
            return ((times @ matrix) * times).sum(axis=-1)

        def tau(times: Floats) -> Floats:
            untied = [pairs(times, np.abs(way)) for way in ways]
            return pairs(times, ways[0] * ways[1]) / np.sqrt(untied[0] * untied[1])

        return tau


def _agreement(
    name: str,
    parts: Floats,
    statistic: Statistic,
    selected: KeptGroups,
    bootstrap: Bootstrap | None,
    worded: bool = True,
) -> Agreement:
    """From what each item adds to each sum [items, ...]."""
    items = len(parts)
    flat = parts.reshape(items, int(np.prod(parts.shape[1:])))
    keys = [("item", row) if group is None else ("group", group) for row, group in enumerate(selected.groups)]
    index = {key: unit for unit, key in enumerate(dict.fromkeys(keys))}
    sums = np.zeros((len(index), flat.shape[1]))
    np.add.at(sums, np.array([index[key] for key in keys], dtype=np.int64), flat)
    # In an order of their own, so that the interval does not depend on the order of the file.
    ordered = sums[np.lexsort(sums.T)] if flat.shape[1] else sums
    estimate = (bootstrap or Bootstrap()).pooled(ordered[:, None], statistic)[0]
    return Agreement(name, estimate, items, selected.missing, worded=worded)


def _kappa(cost: Floats) -> Callable[[Floats], Floats]:
    """Of a table of both raters' categories, flattened, and what each disagreement costs."""

    def kappa(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], *cost.shape)
        by_chance = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
        n = sums.sum(axis=-1)
        return 1 - (table * cost).sum(axis=(-2, -1)) * n / (by_chance * cost).sum(axis=(-2, -1))

    return kappa


def _alpha(categories: int, level: Level) -> Callable[[Floats], Floats]:
    """Of coincidences of categories, flattened."""

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
    # Shares of one category alone add up to 1 but for rounding.
    return np.where(rest > 1e-12, (found - by_chance) / np.where(rest > 1e-12, rest, 1.0), np.nan)


def _f1(sums: Floats) -> Floats:
    return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1])
