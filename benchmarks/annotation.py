"""Whether the corrected rate is covered: simulated runs of which the truth is known.

Usage: python benchmarks/annotation.py [--draws N] [--seed N]

A run has 2,000 citations, of which people label 200; the judge is right on 70 % of each kind. Citations are on their
own, or go together in answers of five (truth and the judge's errors alike); those to label are drawn plainly, or by
the verdict, half of each kind. For each way: how often the 95 % interval holds the truth, in how many draws it is
narrower than that of the labels alone, and how wide the two are. Exits with 1 if an interval covers less than 93 % or
more than 97 %, or is narrower in less than 90 % of the draws.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vericite.evaluate.correction import Correction, PartlyLabelled, correct

UNITS, LABELS, ACCURACY, TRUTH, TOGETHER = 2000, 200, 0.7, 0.6, 5
ALIKE = 0.3
"""Correlation of what citations of an answer have in common, of the truth and of the judge's being right."""


@dataclass(frozen=True)
class World:
    """How runs come to be."""

    name: str
    clustered: bool
    by_verdict: bool
    truth: float = TRUTH

    def draw(self, random: np.random.Generator) -> tuple[PartlyLabelled, float]:
        """A run with its labels, and the rate that people would give this run."""
        groups = np.arange(UNITS) // (TOGETHER if self.clustered else 1)
        truth = self._alike(random, groups, self.truth)
        right = self._alike(random, groups, ACCURACY)
        judged = np.where(right, truth, ~truth)
        labels = np.full(UNITS, np.nan)
        for chosen in self._asked(random, judged):
            labels[chosen] = truth[chosen]
        strata = judged.tolist() if self.by_verdict else None
        return PartlyLabelled(judged.astype(float), labels, strata, groups.tolist()), float(truth.mean())

    def _alike(self, random: np.random.Generator, groups: NDArray[np.int64], mean: float) -> NDArray[np.bool_]:
        if not self.clustered:
            return random.random(len(groups)) < mean
        size = 1 / ALIKE - 1
        return random.random(len(groups)) < random.beta(mean * size, (1 - mean) * size, groups.max() + 1)[groups]

    def _asked(self, random: np.random.Generator, judged: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
        if not self.by_verdict:
            return [random.choice(UNITS, LABELS, replace=False)]
        return [random.choice(np.flatnonzero(judged == kind), LABELS // 2, replace=False) for kind in (True, False)]


WORLDS = (
    World("plain", clustered=False, by_verdict=False),
    World("in answers of five", clustered=True, by_verdict=False),
    World("drawn by verdict", clustered=False, by_verdict=True),
    World("in answers, drawn by verdict", clustered=True, by_verdict=True),
    World("truth 0.9, in answers", clustered=True, by_verdict=False, truth=0.9),
)


def main() -> int:
    """Simulate, and print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'':30} covered: truth, run's rate; labels alone; by errors   narrower   width / labels' width   bias")
    passed = True
    for world in WORLDS:
        random = np.random.default_rng(options.seed)
        found = [(*world.draw(random),) for _ in range(options.draws)]
        made = [(correct(units), own) for units, own in found]
        covered = share(made, world.truth, lambda it: it.corrected)
        run = float(np.mean([it.corrected.low <= own <= it.corrected.high for it, own in made]))
        alone = share(made, world.truth, lambda it: it.labels)
        errors = share(made, world.truth, lambda it: it.by_errors or it.labels)
        widths = np.array([[it.corrected.high - it.corrected.low, it.labels.high - it.labels.low] for it, _ in made])
        narrower = float((widths[:, 0] < widths[:, 1]).mean())
        bias = float(np.mean([it.corrected.value for it, _ in made])) - world.truth
        print(
            f"{world.name:30} {covered:.3f} {run:.3f} {alone:.3f} {errors:.3f} {'':26} {narrower:.3f}      "
            f"{widths[:, 0].mean():.3f} / {widths[:, 1].mean():.3f}          {bias:+.4f}"
        )
        passed &= 0.93 <= covered <= 0.97 and (world.by_verdict or narrower >= 0.9)
    return 0 if passed else 1


def share(made: list[tuple[Correction, float]], truth: float, of) -> float:  # noqa: ANN001
    """In how many draws the interval holds the truth."""
    return float(np.mean([of(it).low <= truth <= of(it).high for it, _ in made]))


if __name__ == "__main__":
    sys.exit(main())
