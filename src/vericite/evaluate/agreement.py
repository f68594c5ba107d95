"""How far labels agree, and how far two measures rank systems alike, each with an interval.

All are functions of sums over items or systems, so a thousand draws cost one multiplication; they are our own for that,
and tests hold them to scikit-learn, statsmodels, krippendorff and scipy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
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

    def __str__(self) -> str:
        left = f", {self.missing} left out" if self.missing else ""
        counted = f"n = {self.n} {self.unit}{'' if self.n == 1 else 's'}{left}"
        if self.value is None:
            return f"{self.name} undefined ({counted})"
        low, high = self.estimate.low, self.estimate.high
        interval = "no interval" if low is None or high is None else f"95 % interval {low:.2f} to {high:.2f}"
        word = f": {self.words}" if self.words else ""
        return f"{self.name} {self.value:.2f} ({interval}, {counted}){word}"


def cohen_kappa(
    reference: Sequence[Label | None],
    other: Sequence[Label | None],
    *,
    weights: Weights | None = None,
    categories: Sequence[Label] | None = None,
    groups: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap | None = None,
) -> Agreement:
    """Cohen's kappa of two raters.

    Args:
        reference: One's label of each item; None where there is none, which leaves the item out.
        other: The other's, in the same order.
        weights: How disagreement grows with the distance of the categories; None for all alike.
        categories: All there are; in their order where there are weights, which need them.
        groups: What items that are not independent share, such as their question: these are drawn together.
        bootstrap: How the interval is drawn.

    Raises:
        InputError: The lengths differ, a label is none of the categories, or weights come without categories.
    """
    if weights:
        _need_order(categories, f"{weights} weights")
    codes, known = _codes(_paired(reference, other), categories)
    distance = np.abs(np.subtract.outer(np.arange(len(known)), np.arange(len(known)))).astype(np.float64)
    cost = {None: (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weights]
    name = f"Cohen's kappa, {weights} weights" if weights else "Cohen's kappa"
    kept, drawn, missing = _complete(codes, groups)
    sides = np.eye(len(known))[kept]
    return _agreement(name, sides[:, 0, :, None] * sides[:, 1, None, :], _kappa(cost), drawn, missing, bootstrap)


def fleiss_kappa(
    ratings: Ratings,
    *,
    categories: Sequence[Label] | None = None,
    groups: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap | None = None,
) -> Agreement:
    """Fleiss' kappa of several raters; an item that one of them did not label is left out.

    Raises:
        InputError: Items have different numbers of raters, or fewer than two; or a label is none of the categories.
    """
    codes, known = _codes(ratings, categories)
    kept, drawn, missing = _complete(codes, groups)
    counts = np.eye(len(known))[kept].sum(axis=1)
    raters = kept.shape[1]
    alike = (counts * (counts - 1)).sum(axis=1, keepdims=True) / (raters * (raters - 1))

    def kappa(sums: Floats) -> Floats:
        items = sums[..., 1:].sum(axis=-1) / raters
        shares = sums[..., 1:] / (items * raters)[..., None]
        return _beyond_chance(sums[..., 0] / items, (shares**2).sum(axis=-1))

    return _agreement("Fleiss' kappa", np.concatenate([alike, counts], axis=1), kappa, drawn, missing, bootstrap)


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "nominal",
    categories: Sequence[Label] | None = None,
    groups: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap | None = None,
) -> Agreement:
    """Krippendorff's alpha of several raters, some of whom may not have labelled an item.

    Args:
        ratings: An item with fewer than two labels is left out.
        level: "ordinal" where categories have an order; it needs ``categories`` in theirs.
        categories: All there are.
        groups: What items that are not independent share: these are drawn together.
        bootstrap: How the interval is drawn.

    Raises:
        InputError: Items have different numbers of raters, a label is none of the categories, or these are missing.
    """
    if level == "ordinal":
        _need_order(categories, "an ordinal alpha")
    codes, known = _codes(ratings, categories)
    paired = (codes >= 0).sum(axis=1) > 1
    kept = codes[paired]
    counts = np.stack([(kept == code).sum(axis=1) for code in range(len(known))], axis=1).astype(np.float64)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(len(known))
    pairs /= np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]
    return _agreement(
        f"Krippendorff's alpha, {level}",
        pairs,
        _alpha(len(known), level),
        _only(groups, paired),
        int((~paired).sum()),
        bootstrap,
    )


def category_f1(
    reference: Sequence[Label | None],
    other: Sequence[Label | None],
    *,
    categories: Sequence[Label] | None = None,
    groups: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap | None = None,
) -> dict[Label, Agreement]:
    """F1 of each category, with ``reference`` (the human's labels) as the truth; undefined for one neither side gives.

    Raises:
        InputError: The lengths differ, or a label is none of the categories.
    """
    codes, known = _codes(_paired(reference, other), categories)
    kept, drawn, missing = _complete(codes, groups)
    found: dict[Label, Agreement] = {}
    for code, category in enumerate(known):
        true, called = kept[:, 0] == code, kept[:, 1] == code
        # The third keeps items of other categories from being units without anything to count.
        parts = np.stack([true & called, true ^ called, np.ones_like(true)], axis=1).astype(np.float64)
        name = f"F1 of {category}"
        found[category] = _agreement(name, parts, _f1, drawn, missing, bootstrap, worded=False)
    return found


def spearman(
    first: Mapping[str, float | None], second: Mapping[str, float | None], bootstrap: Bootstrap | None = None
) -> Agreement:
    """Spearman's rank correlation between two measures' scores of the same systems, drawn over systems.

    A system that only one of them has a score for is left out and counted.
    """
    return _ranked("Spearman's rho", _rho, first, second, bootstrap)


def kendall(
    first: Mapping[str, float | None], second: Mapping[str, float | None], bootstrap: Bootstrap | None = None
) -> Agreement:
    """Kendall's tau-b, likewise."""
    return _ranked("Kendall's tau-b", _tau, first, second, bootstrap)


def _ranked(
    name: str,
    correlation: Callable[[Floats, Floats], Statistic],
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    bootstrap: Bootstrap | None,
) -> Agreement:
    systems = sorted(first.keys() | second.keys())
    both = [(first.get(system), second.get(system)) for system in systems]
    kept = [(a, b) for a, b in both if a is not None and b is not None and not isnan(a) and not isnan(b)]
    one, other = np.array(kept, dtype=np.float64).reshape(-1, 2).T
    # What a system adds to the sums is itself: the sums are how often each is there, which all draws share.
    drawn = np.eye(len(kept), dtype=np.float64)[:, None]
    estimate = (bootstrap or Bootstrap()).pooled(drawn, correlation(one, other))[0]
    return Agreement(name, estimate, len(kept), len(both) - len(kept), "system", worded=False)


def _rho(one: Floats, other: Floats) -> Statistic:
    """From how often each system is there [..., systems] to the correlation of the ranks that they then have."""

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
        together = n * (times * sides[0] * sides[1]).sum(axis=-1) - sums[0] * sums[1]
        return together / np.sqrt(spread[0] * spread[1])

    return rho


def _tau(one: Floats, other: Floats) -> Statistic:
    """From how often each system is there [..., systems] to tau-b; a system drawn twice is tied with itself."""
    ways = [np.sign(scores[:, None] - scores[None, :]) for scores in (one, other)]

    def pairs(times: Floats, matrix: Floats) -> Floats:
        return ((times @ matrix) * times).sum(axis=-1)

    def tau(times: Floats) -> Floats:
        untied = [pairs(times, np.abs(way)) for way in ways]
        return pairs(times, ways[0] * ways[1]) / np.sqrt(untied[0] * untied[1])

    return tau


def _paired(reference: Sequence[Label | None], other: Sequence[Label | None]) -> Ratings:
    if len(reference) != len(other):
        raise InputError(
            f"expected a label of both raters for each item, None where there is none; found {len(reference)} and "
            f"{len(other)}. Match them by item first."
        )
    return list(zip(reference, other, strict=True))


def _need_order(categories: Sequence[Label] | None, what: str) -> None:
    if categories is None:
        raise InputError(f"expected the categories in their order, which {what} need; found none. Pass categories=.")


def _codes(ratings: Ratings, categories: Sequence[Label] | None) -> tuple[Integers, list[Label]]:
    """Each label's place among the categories [items, raters], -1 for none."""
    raters = {len(row) for row in ratings} or {2}
    if len(raters) > 1 or min(raters) < 2:
        raise InputError(
            f"expected two raters or more, the same number for each item; found {sorted(raters)}. Put None where one "
            "gave no label."
        )
    said = {label for row in ratings for label in row if label is not None}
    known = sorted(said, key=lambda label: (str(label), str(type(label)))) if categories is None else list(categories)
    if unknown := said - set(known):
        raise InputError(
            f"expected labels out of {', '.join(map(str, known))}; found {', '.join(sorted(map(str, unknown)))}. "
            "Name all categories, or mend the labels."
        )
    place = {label: code for code, label in enumerate(known)}
    rows = [[-1 if label is None else place[label] for label in row] for row in ratings]
    return np.array(rows, dtype=np.int64).reshape(-1, raters.pop()), known


def _complete(codes: Integers, groups: Sequence[Hashable] | None) -> tuple[Integers, list[Hashable], int]:
    """The items that every rater labelled, their groups, and how many others there are."""
    whole: NDArray[np.bool_] = np.all(codes >= 0, axis=1)
    return codes[whole], _only(groups, whole), int((~whole).sum())


def _only(groups: Sequence[Hashable] | None, kept: NDArray[np.bool_]) -> list[Hashable]:
    if groups is not None and len(groups) != len(kept):
        raise InputError(f"expected a group for each of {len(kept)} items; found {len(groups)}. Pass one an item.")
    every = [None] * len(kept) if groups is None else groups
    return [group for group, keep in zip(every, kept.tolist(), strict=True) if keep]


def _agreement(
    name: str,
    parts: Floats,
    statistic: Statistic,
    groups: Sequence[Hashable],
    missing: int,
    bootstrap: Bootstrap | None,
    worded: bool = True,
) -> Agreement:
    """From what each item adds to each sum [items, ...]."""
    items = len(parts)
    flat = parts.reshape(items, int(np.prod(parts.shape[1:])))
    keys = [("item", row) if group is None else ("group", group) for row, group in enumerate(groups)]
    place = {key: unit for unit, key in enumerate(dict.fromkeys(keys))}
    sums = np.zeros((len(place), flat.shape[1]))
    np.add.at(sums, np.array([place[key] for key in keys], dtype=np.int64), flat)
    # In an order of their own, so that the interval does not hang on the order of the file.
    ordered = sums[np.lexsort(sums.T)] if flat.shape[1] else sums
    estimate = (bootstrap or Bootstrap()).pooled(ordered[:, None], statistic)[0]
    return Agreement(name, estimate, items, missing, worded=worded)


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
    room = 1 - by_chance
    # Shares of one category alone add up to 1 but for rounding.
    return np.where(room > 1e-12, (found - by_chance) / np.where(room > 1e-12, room, 1.0), np.nan)


def _f1(sums: Floats) -> Floats:
    return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1])
