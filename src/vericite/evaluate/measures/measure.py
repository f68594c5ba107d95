"""What a measure is: a value with a repr, which is the same string on the command line, in JSON and in the docs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from vericite.evaluate.comparison import Wording
from vericite.evaluate.intervals import Tally, clustered_wilson
from vericite.evaluate.items import Item
from vericite.evaluate.measures.named import Named
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, ratio
from vericite.evaluate.significance import EMPTY, Score

Parts = tuple[float, ...]
"""What a question adds to the sums that a figure is made of."""

NOTHING: Parts = (0.0, 0.0)
"""A question in which there is nothing to count, such as an answer without a citation. It is no 0."""

Need = Literal["answer", "exact", "reply", "verdicts", "gold", "labels", "scores", "features", "evidence"]
"""What is known of a question. ``exact`` is an exact answer, stated apart or in the words of an answer; ``reply`` is an
answer of any kind, be it that only the verdicts on it are there."""


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
    whole: ClassVar[bool] = False
    """Whether its parts are whole numbers, so many out of so many."""
    centred: ClassVar[bool] = False
    """Whether a draw has a lower figure for being a draw, so that intervals are moved."""
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
        """How many sums there are, unless that hangs on the answers, as it does in MAUVE."""
        return 2

    @property
    def is_rate(self) -> bool:
        """Whether the figure is a share of whole numbers, with the interval that ``check`` prints of such."""
        return self.whole

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """The parts of each question; overridden where many at once are cheaper."""
        return [self.parts(item) for item in items]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """The parts of each question of systems that are compared; overridden where these hang on one another."""
        return [self.of(run) for run in runs]

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """The figure over questions, with its interval.

        A rate has Wilson's, which knows that citations of one answer go together: the same as ``check`` prints. Of
        other measures questions are drawn again; where such a share is 0 or 1 of every question all draws are alike and
        would make a point of the interval, so it is Wilson's there, too, with a question as one trial.
        """
        if self.is_rate:
            return _rated(parts)
        found = bootstrap.pooled(self.table(parts)[:, None], self.statistic)[0]
        if not self.share or found.value not in (0.0, 1.0) or found.low != found.high or found.n < 2:
            return found
        certain = clustered_wilson(round(found.value) * found.n, found.n)
        return replace(found, low=certain.low, high=certain.high)

    def table(self, parts: Sequence[Parts | None]) -> Floats:
        """The parts of all questions [questions, parts]; NaN where one is missing."""
        import numpy as np

        width = next((len(row) for row in parts if row is not None), self.width)
        rows = [[float("nan")] * width if row is None else list(row) for row in parts]
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """How its interval is drawn, for signatures."""
        if self.is_rate:
            return "interval=clustered wilson"
        return f"{bootstrap.signature},wilson at 0 and 1" if self.share else bootstrap.signature

    def compared(self, parts: Parts | None) -> Score:
        """A question's parts as a comparison of two systems takes them."""
        if parts is None or self.pooled:
            return None if parts is None else tuple(parts)
        return parts[0] / parts[1] if parts[1] else EMPTY

    @property
    def wording(self) -> Wording:
        """How a difference is said."""
        scale = 100.0 if self.share else 1.0
        about, verb, more = self.said or (str(self), "scores", "")
        return Wording(about, verb, more, self.unit, scale, decimals=1)


def _rated(parts: Sequence[Parts | None]) -> Estimate:
    """Of counts; of one question it has no interval, since nothing is known of what another would be like."""
    tally = Tally()
    for row in parts:
        if row is not None:
            tally.add(int(row[0]), int(row[1]))
    missing = sum(row is None for row in parts)
    rate, empty = tally.rate, len(parts) - missing - tally.answers
    low, high = (rate.low, rate.high) if tally.answers > 1 else (None, None)
    return Estimate(rate.value, low, high, tally.answers, missing, empty)
