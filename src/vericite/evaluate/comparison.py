"""What a comparison of two systems found, and how it is said in one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from vericite.evaluate.resampling import Estimate

ALPHA = 0.05
"""A difference is said to be there where p is below this."""

SAME = 1e-10
"""Figures closer than this, relative to their size, differ by rounding alone."""


@dataclass(frozen=True)
class Wording:
    """How a difference is said: "A {verb} 4.1 {unit} {more} than B".

    Attributes:
        measure: What was measured, such as "supported citations".
        more: Such as "more citations"; by default it is "more in" the measure.
        scale: What figures are multiplied by to be shown.
    """

    measure: str
    verb: str = "scores"
    more: str = ""
    unit: str = "points"
    scale: float = 100.0
    decimals: int = 1


class Effect(NamedTuple):
    """How large a difference is whatever the number of questions.

    Of scores, Cohen's d_z: the mean difference over the differences' standard deviation; None where all differ by
    the same, and of one question. Of rates, Cohen's h: the difference of 2 asin(sqrt(rate)); None of sums that are no
    rate, so many out of so many. 0.2 is small, 0.5 medium, 0.8 large. Where nothing differs it is 0.
    """

    name: Literal["d_z", "h"]
    value: float | None


class Test(NamedTuple):
    """A permutation test's p, and whether all permutations were looked at rather than some drawn."""

    p: float | None
    exact: bool

    __test__ = False  # Not one of pytest's.


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same questions.

    Attributes:
        values: The figure of each, over the questions compared.
        difference: The first's less the second's, with the interval of a paired bootstrap over questions. Its ``n``
            are the questions with something to count in either.
        test: Two-sided, by swapping the systems' results question by question.
        compared: Questions that both were scored on.
        unmatched: Questions that only one of the two has, left out.
        failed: Questions on which either failed, left out.
        identical: Every question got the same of both.
        adjusted: p after Holm's correction for ``among`` comparisons; None where only this one was made.
    """

    first: str
    second: str
    wording: Wording
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
        """What is decided by: the corrected p where there is one."""
        return self.test.p if self.adjusted is None else self.adjusted

    @property
    def differs(self) -> bool:
        """Whether a difference is shown."""
        return self.p is not None and self.p < ALPHA

    @property
    def sentence(self) -> str:
        """The whole in one plain sentence, in points to the advantage of the higher one."""
        value, about = self.difference.value, self.wording.measure
        if value is None:
            return f"{self.first} and {self.second} cannot be compared in {about}: {self._hindrance} ({self._counted})."
        higher, lower, shown = self.first, self.second, self.difference
        if value < 0:
            higher, lower, shown = lower, higher, -shown
        if self.identical:
            return (
                f"There is no difference between {self.first} and {self.second} in {about}: they score the same on "
                f"every question ({self._chance}{self._counted})."
            )
        told = f"({self._interval(shown)}, {self._chance}{self._counted})."
        size = f"{self._figure(shown.value, shown)} {self.wording.unit}"
        if self.differs:
            more = self.wording.more or f"more in {about}"
            return f"{higher} {self.wording.verb} {size} {more} than {lower} {told}"
        which = f"{higher} {self.wording.verb} {size} {self.wording.more or 'more'}, which may be chance"
        if abs(value) <= SAME * max(abs(figure or 0.0) for figure in self.values):
            which = "on the whole they score the same"
        return f"No difference between {higher} and {lower} is shown in {about}: {which} {told}"

    @property
    def _hindrance(self) -> str:
        """Why there is no difference to tell."""
        if not self.compared and not self.difference.empty:
            return "no question was scored for both"
        if self.compared and self.effect.name == "d_z":
            return "their scores are too large to be added up"
        return "one of the two has nothing to count"

    def _interval(self, shown: Estimate) -> str:
        if shown.low is None or shown.high is None:
            return "no interval"
        return f"95 % interval {self._figure(shown.low, shown)} to {self._figure(shown.high, shown)}"

    def _figure(self, value: float | None, shown: Estimate) -> str:
        """With as many decimals as show that the difference is not 0."""
        size, decimals = abs((shown.value or 0.0) * self.wording.scale), self.wording.decimals
        while decimals < 6 and SAME < size < 0.5 * 10**-decimals:
            decimals += 1
        return f"{round((value or 0.0) * self.wording.scale, decimals) + 0.0:.{decimals}f}"

    @property
    def _chance(self) -> str:
        if self.p is None:
            return ""
        after = f" after Holm's correction for {self.among} comparisons" if self.adjusted is not None else ""
        return f"{shown_p(self.p)}{after}, "

    @property
    def _counted(self) -> str:
        said = f"n = {self.difference.n} question{'' if self.difference.n == 1 else 's'}"
        left = {
            "only one of the two has": self.unmatched,
            "not scored": self.failed,
            "with nothing to count": self.difference.empty,
        }
        told = [f"{count} {'that ' if why.startswith('only') else ''}{why}" for why, count in left.items() if count]
        return f"{said}; left out: {', '.join(told)}" if told else said


def shown_p(p: float) -> str:
    """Chance as it is printed: "p = 0.006", "p = 0.64", "p < 0.001", and "p = 1" for what is 1 exactly."""
    if p == 1:
        return "p = 1"
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"
