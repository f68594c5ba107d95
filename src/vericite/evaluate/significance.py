"""Comparison of two systems on the same questions: difference, interval, test, and a sentence that sums them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import asin, isfinite, isnan, sqrt
from typing import Literal, NamedTuple

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, Statistic, ratio
from vericite.records.notebook import as_html

ALPHA = 0.05
"""A difference is significant if p is below this."""

SAME = 1e-10
"""Values with a smaller relative difference than this are equal up to rounding."""


@dataclass(frozen=True)
class DifferencePhrase:
    """The wording of a difference: "A {verb} 4.1 {unit} {more} than B".

    Attributes:
        measure: What was measured, such as "supported citations".
        more: A phrase such as "more citations". Default: "more in" and the measure.
        scale: Factor by which values are multiplied for display.
    """

    measure: str
    verb: str = "scores"
    more: str = ""
    unit: str = "points"
    scale: float = 100.0
    decimals: int = 1


class Effect(NamedTuple):
    """An effect size, which does not depend on the number of questions.

    For scores it is Cohen's d_z: the mean difference divided by the standard deviation of the differences. It is None
    if all questions differ by the same amount, or there is only one. For rates it is Cohen's h: the difference of
    2 asin(sqrt(rate)); it is None for statistics that are not rates. 0.2 is small, 0.5 medium, 0.8 large. It is 0 if
    nothing differs.
    """

    name: Literal["d_z", "h"]
    value: float | None


class Test(NamedTuple):
    """The p of a permutation test, and whether all permutations were enumerated instead of sampled."""

    p: float | None
    exact: bool

    __test__ = False  # pytest would collect a class with this name.


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same questions.

    Attributes:
        values: The score of each system, over the questions compared.
        difference: The first score minus the second, with the interval of a paired bootstrap over questions. Its
            ``n`` is the number of questions with something to count for either system.
        test: A two-sided test that swaps the systems' results question by question.
        compared: Number of questions that both were scored on.
        unmatched: Number of questions that only one system has; these are left out.
        failed: Number of questions on which either system failed; these are left out.
        identical: Whether both systems have the same result on every question.
        adjusted: p after Holm's correction for ``among`` comparisons; None for a single comparison.
    """

    first: str
    second: str
    phrase: DifferencePhrase
    values: tuple[float | None, float | None]
    difference: Estimate
    test: Test
    effect: Effect
    compared: int
    unmatched: int
    failed: int
    identical: bool
    adjusted: float | None = None
    among: int = 1

    @property
    def p(self) -> float | None:
        """The p that decides: corrected, if there is a correction."""
        return self.test.p if self.adjusted is None else self.adjusted

    @property
    def differs(self) -> bool:
        """Whether the difference is significant."""
        return self.p is not None and self.p < ALPHA

    @property
    def sentence(self) -> str:
        """The comparison in one sentence, with the difference in favour of the higher system."""
        value, about = self.difference.value, self.phrase.measure
        if value is None:
            return f"{self.first} and {self.second} cannot be compared in {about}: {self._obstacle} ({self._counted})."
        higher, lower, shown = self.first, self.second, self.difference
        if value < 0:
            higher, lower, shown = lower, higher, -shown
        if self.identical:
            return (
                f"There is no difference between {self.first} and {self.second} in {about}: they score the same on "
                f"every question ({self._chance}{self._counted})."
            )
        details = f"({self._interval(shown)}, {self._chance}{self._counted})."
        size = f"{self._figure(shown.value, shown)} {self.phrase.unit}"
        if self.differs:
            more = self.phrase.more or f"more in {about}"
            return f"{higher} {self.phrase.verb} {size} {more} than {lower} {details}"
        which = f"{higher} {self.phrase.verb} {size} {self.phrase.more or 'more'}, which may be chance"
        if abs(value) <= SAME * max(abs(figure or 0.0) for figure in self.values):
            which = "on the whole they score the same"
        return f"No difference between {higher} and {lower} is shown in {about}: {which} {details}"

    @property
    def _obstacle(self) -> str:
        """The reason why there is no difference."""
        if not self.compared and not self.difference.empty:
            return "no question was scored for both"
        if self.compared and self.effect.name == "d_z":
            return "their scores are too large to be summed"
        return "one of the two has nothing to count"

    def _interval(self, shown: Estimate) -> str:
        if shown.low is None or shown.high is None:
            return "no interval"
        return f"95 % interval {self._figure(shown.low, shown)} to {self._figure(shown.high, shown)}"

    def _figure(self, value: float | None, shown: Estimate) -> str:
        """Format a value with enough decimals to show that the difference is not 0."""
        size, decimals = abs((shown.value or 0.0) * self.phrase.scale), self.phrase.decimals
        while decimals < 6 and SAME < size < 0.5 * 10**-decimals:
            decimals += 1
        return f"{round((value or 0.0) * self.phrase.scale, decimals) + 0.0:.{decimals}f}"

    @property
    def _chance(self) -> str:
        if self.p is None:
            return ""
        if self.adjusted is None or self.test.p is None:
            return f"{shown_p(self.p)}, "
        alone = shown_p(self.test.p).removeprefix("p ").removeprefix("= ")
        return f"{shown_p(self.p)} after Holm's correction for {self.among} comparisons ({alone} without), "

    @property
    def _counted(self) -> str:
        counted = f"n = {self.difference.n} question{'' if self.difference.n == 1 else 's'}"
        left = {
            "only one of the two has": self.unmatched,
            "not scored": self.failed,
            "with nothing to count": self.difference.empty,
        }
        details = [f"{count} {'that ' if why.startswith('only') else ''}{why}" for why, count in left.items() if count]
        return f"{counted}; left out: {', '.join(details)}" if details else counted

    _repr_html_ = as_html


def shown_p(p: float) -> str:
    """Format p: "p = 0.006", "p = 0.64", "p < 0.001", and "p = 1" only for exactly 1."""
    if p == 1:
        return "p = 1"
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"


PERMUTATIONS = 10_000
EXACT = 12
"""Maximum number of differing questions for which all permutations are enumerated (4,096)."""
SEED = 0

_AT_ONCE = 4_000_000


class RatePart(NamedTuple):
    """What a question adds to the numerator and denominator of a rate."""

    counted: float
    of: float


Score = float | tuple[float, ...] | None
"""The result of a question: a score, a ``RatePart``, or what it adds to the sums of another statistic. ``EMPTY`` means
that there is nothing to score, None that it failed or could not be scored."""

EMPTY: Score = ()
"""The result of a question with nothing to score, such as an answer without a citation."""


@dataclass(frozen=True)
class Scored:
    """A system's name, and the result of each question by id.

    Results are scores, whose means are compared, or parts, whose sums go into ``statistic`` (default: a rate).
    ``centred`` is for a statistic whose bootstrap draws are biased: the interval is shifted to the value.
    """

    name: str
    by_question: Mapping[str, Score]
    statistic: Statistic = ratio
    centred: bool = False


@dataclass(frozen=True)
class Matched:
    """The results of two systems on the questions that both were scored on.

    Attributes:
        first: What each question adds to the first system's sums [questions, parts]; for a score, the score and 1.
        second: The same for the second system.
        rates: Whether the results are parts, not scores.
        unmatched: Number of questions that only one system has.
        failed: Number of questions that both have and that could not be scored for one of them.
        empty: Number of questions that both have and that have nothing to score for one of them.
    """

    first: Floats
    second: Floats
    rates: bool
    unmatched: int
    failed: int
    empty: int = 0
    statistic: Statistic = ratio
    centred: bool = False

    @property
    def identical(self) -> bool:
        """Whether both systems have the same result on every question."""
        return len(self.first) > 0 and bool((self.first == self.second).all())

    @property
    def n(self) -> int:
        """Number of questions compared."""
        return len(self.first)

    @property
    def width(self) -> int:
        """Number of sums that the statistic uses."""
        return self.first.shape[1]


def match(first: Scored, second: Scored) -> Matched:
    """Match the results of two systems by question.

    Raises:
        InputError: The results are of different kinds, such as scores and parts of a rate.
    """
    shared = sorted(first.by_question.keys() & second.by_question.keys())
    unmatched = len(first.by_question.keys() ^ second.by_question.keys())
    pairs = [(first.by_question[id], second.by_question[id]) for id in shared]
    scored = [(a, b) for a, b in pairs if not _failed(a) and not _failed(b)]
    known = [(a, b) for a, b in scored if a != EMPTY and b != EMPTY]
    kinds = {len(score) if isinstance(score, tuple) else 0 for pair in known for score in pair}
    if len(kinds) > 1:
        raise InputError(
            f"expected results of one kind from {first.name} and {second.name}; found scores and parts of a rate, or "
            "parts of two measures. Compare both by the same measure."
        )
    kind = kinds.pop() if kinds else 0
    sides = [np.array([_parts(pair[side]) for pair in known], dtype=np.float64) for side in (0, 1)]
    one, other = (side.reshape(len(known), kind or 2) for side in sides)
    failed, empty = len(pairs) - len(scored), len(scored) - len(known)
    return Matched(one, other, kind > 0, unmatched, failed, empty, first.statistic, first.centred)


def _failed(score: Score) -> bool:
    if score is None:
        return True
    return any(isnan(value) for value in (score if isinstance(score, tuple) else (score,)))


def _parts(score: Score) -> tuple[float, ...]:
    if isinstance(score, tuple):
        return score
    return (float("nan") if score is None else float(score)), 1.0


def compare(
    first: Scored,
    second: Scored,
    phrase: DifferencePhrase,
    bootstrap: Bootstrap | None = None,
    permutations: int = PERMUTATIONS,
) -> Comparison:
    """Compare two systems on the questions that both were scored on; those left out are counted.

    Raises:
        InputError: The results are of different kinds, such as scores and parts of a rate.
    """
    matched, drawn = match(first, second), bootstrap or Bootstrap()
    difference = _difference(matched, drawn)
    return Comparison(
        first.name,
        second.name,
        phrase,
        (_pooled(matched.first, matched.statistic), _pooled(matched.second, matched.statistic)),
        difference,
        permutation_test(matched, permutations, drawn.seed) if difference.value is not None else Test(None, True),
        _effect(matched),
        matched.n,
        matched.unmatched,
        matched.failed,
        matched.identical,
    )


def _difference(matched: Matched, bootstrap: Bootstrap) -> Estimate:
    """Return the first minus the second; without an interval if all draws are equal, which does not mean certainty."""
    found = _drawn(matched, bootstrap)
    found = replace(found, empty=found.empty + matched.empty)
    return replace(found, low=None, high=None) if found.low == found.high else found


def _drawn(matched: Matched, bootstrap: Bootstrap) -> Estimate:
    if not matched.rates:
        # Draw the differences themselves, so that the sums are exactly 0 if all differences are.
        with np.errstate(over="ignore"):
            gaps = matched.first[:, :1] - matched.second[:, :1]
        if np.isinf(gaps).any():
            return Estimate(None, None, None, matched.n)
        return bootstrap.means(gaps)[0]
    parts = np.concatenate([matched.first, matched.second], axis=1)
    each, width = matched.statistic, matched.width

    def gap(sums: Floats) -> Floats:
        return each(sums[..., :width]) - each(sums[..., width:])

    if matched.centred:
        return bootstrap.centred(parts, gap, -1.0, 1.0)
    return bootstrap.pooled(parts[:, None], gap)[0]


def _pooled(parts: Floats, statistic: Statistic) -> float | None:
    if not len(parts):
        return None
    with np.errstate(all="ignore"):
        value = float(statistic(parts.sum(axis=0)))
    return value if isfinite(value) else None


def permutation_test(matched: Matched, permutations: int = PERMUTATIONS, seed: int = SEED) -> Test:
    """Test a difference by swapping the two results of each question with probability 1/2; two-sided.

    With up to 12 differing questions all permutations are enumerated. Otherwise they are sampled and the observed one
    is added, so p is never 0. A permutation for which a rate is undefined counts as extreme. p is 1 if no question
    differs, and None if there is no difference to test.
    """
    figures = _pooled(matched.first, matched.statistic), _pooled(matched.second, matched.statistic)
    if figures[0] is None or figures[1] is None:
        return Test(None, True)
    one, other = matched.first.sum(axis=0), matched.second.sum(axis=0)
    moved = matched.second - matched.first
    moved = moved[(moved != 0).any(axis=1)]
    exact = len(moved) <= EXACT
    found = abs(figures[0] - figures[1])
    near = SAME * (abs(figures[0]) + abs(figures[1]))
    count, drawn, generator = 2 ** len(moved) if exact else permutations, 0, np.random.default_rng(seed)
    extreme = 0
    step = max(1, _AT_ONCE // max(1, len(moved)))
    while drawn < count:
        size = min(step, count - drawn)
        swaps = _every(drawn, size, len(moved)) if exact else generator.random((size, len(moved))) < 0.5
        shift: Floats = swaps.astype(np.float64) @ moved
        with np.errstate(all="ignore"):
            gap = np.abs(matched.statistic(one + shift) - matched.statistic(other - shift))
        extreme += int((~(gap < found - near)).sum())
        drawn += size
    return Test(extreme / count if exact else (extreme + 1) / (count + 1), exact)


def _every(start: int, size: int, questions: int) -> Floats:
    """Return a range of all swap patterns, by the binary digits of their numbers."""
    ways = np.arange(start, start + size)[:, None] >> np.arange(questions)
    return (ways & 1).astype(np.float64)


def _effect(matched: Matched) -> Effect:
    name: Literal["d_z", "h"] = "h" if matched.rates else "d_z"
    if matched.identical:
        return Effect(name, 0.0)
    if matched.rates:
        rates = _pooled(matched.first, matched.statistic), _pooled(matched.second, matched.statistic)
        if not _is_rate(matched) or any(rate is None for rate in rates):
            return Effect(name, None)
        one, other = (2 * asin(sqrt(rate or 0.0)) for rate in rates)
        return Effect(name, one - other)
    with np.errstate(all="ignore"):
        gaps = matched.first[:, 0] - matched.second[:, 0]
        if len(gaps) < 2 or bool((gaps == gaps[0]).all()):
            return Effect(name, None)
        value = float(gaps.mean() / gaps.std(ddof=1))
    return Effect(name, value if isfinite(value) else None)


def _is_rate(matched: Matched) -> bool:
    """Whether the statistic is a ratio of counts, in whole numbers."""
    if matched.width != 2 or matched.statistic(np.array([1.0, 2.0])) != 0.5:
        return False
    parts = np.concatenate([matched.first, matched.second])
    counted, of = parts[:, 0], parts[:, 1]
    return bool(((counted >= 0) & (counted <= of) & (parts == np.floor(parts)).all(axis=1)).all())


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Return each p after Holm's correction; an undefined p stays undefined and does not count."""
    ordered = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    reached = 0.0
    for rank, (p, index) in enumerate(ordered):
        reached = max(reached, min(1.0, (len(ordered) - rank) * p))
        adjusted[index] = reached
    return adjusted


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with p after Holm's correction for all of them."""
    adjusted = holm([comparison.test.p for comparison in comparisons])
    among = sum(p is not None for p in adjusted)
    if among < 2:
        return list(comparisons)
    return [replace(one, adjusted=p, among=among) for one, p in zip(comparisons, adjusted, strict=True)]
