"""What a measure is: a value with a repr, which is the same string on the command line, in JSON and in the docs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from vericite.evaluate.intervals import clustered_wilson
from vericite.evaluate.items import Item
from vericite.evaluate.measures.named import Named
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, ratio
from vericite.evaluate.significance import Score, Wording

Parts = tuple[float, ...]
"""What a question adds to the sums that a figure is made of."""

NOTHING: Parts = (0.0, 0.0)
"""A question in which there is nothing to count, such as an answer without a citation. It is no 0."""

Need = Literal["answer", "verdicts", "gold", "labels", "scores", "features", "evidence"]


def one(score: float) -> Parts:
    """A score that stands for the question as a whole; the figure is the mean over questions."""
    return (score, 1.0)


@dataclass(frozen=True, repr=False)
class Measure(Named):
    """A measure of a system's answers, with its parameters.

    A subclass says in ``parts`` what a question adds to the sums, and where the figure is not the first sum over the
    second, in ``statistic`` what it is. So one bootstrap and one permutation test serve all.
    """

    needs: ClassVar[tuple[Need, ...]]
    """What it reads of a question, as files are called by ``vericite score``."""
    pooled: ClassVar[bool] = True
    """Whether the figure is one of sums over all questions; else it is a mean of questions' own scores."""
    share: ClassVar[bool] = True
    """Whether it lies between 0 and 1 and is compared in points of 100."""
    unit: ClassVar[str] = "points"
    """What a difference is said in."""
    said: ClassVar[tuple[str, str, str] | None] = None
    """What is compared, and "A {verb} 4.1 points {more} than B"; else "A scores 4.1 points more in" the measure."""
    higher_is_better: ClassVar[bool | None] = True
    in_all: ClassVar[bool] = True
    """Whether it is measured where none is named; not where it needs a parameter or minutes."""

    @abstractmethod
    def parts(self, item: Item) -> Parts | None:
        """What a question adds; None where it is missing: no answer, no gold, a failed judgement."""

    def statistic(self, sums: Floats) -> Floats:
        """From sums over questions [..., parts] to figures [...]; NaN where undefined."""
        return ratio(sums)

    @property
    def width(self) -> int:
        """How many sums there are."""
        return 2

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """The parts of each question; overridden where many at once are cheaper."""
        return [self.parts(item) for item in items]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """The parts of each question of systems that are compared; overridden where these hang on one another."""
        return [self.of(run) for run in runs]

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """The figure over questions, with its interval.

        Where a share is 0 or 1 of every question, all draws are alike and would make a point of the interval. It is
        Wilson's then, with a question as one trial: what ``check`` prints of the same.
        """
        import numpy as np

        rows = [[float("nan")] * self.width if row is None else list(row) for row in parts]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 1, self.width)
        found = bootstrap.pooled(table, self.statistic)[0]
        if not self.share or found.value not in (0.0, 1.0) or found.low != found.high or found.n < 2:
            return found
        certain = clustered_wilson(round(found.value) * found.n, found.n)
        return replace(found, low=certain.low, high=certain.high)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """How its interval is drawn, for signatures."""
        return bootstrap.signature

    def compared(self, parts: Parts | None) -> Score:
        """A question's parts as a comparison of two systems takes them."""
        if parts is None or self.pooled:
            return None if parts is None else tuple(parts)
        return parts[0] / parts[1] if parts[1] else None

    @property
    def wording(self) -> Wording:
        """How a difference is said."""
        scale = 100.0 if self.share else 1.0
        about, verb, more = self.said or (str(self), "scores", "")
        return Wording(about, verb, more, self.unit, scale, decimals=1)
