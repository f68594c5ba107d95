"""Whether new weights may ship: packing must cost next to nothing, and they must beat those that ship now.

python -m vericite.train.gate --checkpoint DIR --packed DIR --shipped DIR --dev DIR
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vericite.errors import InputError, VeriCiteError
from vericite.models import Pair
from vericite.train.score import score_folder
from vericite.train.scoring import Floats, Scorer, open_scorer

LOSS_ALLOWED = 0.005
AGREEMENT_NEEDED = 0.98
"""Less is a packing gone wrong. How far above it is says more of how many pairs lie near a boundary than of packing."""


@dataclass(frozen=True)
class Verdict:
    """What the gate found, on the mean of the development files' headlines."""

    agreement: float
    checkpoint: float
    packed: float
    shipped: float

    @property
    def refusals(self) -> list[str]:
        """Why the weights must not ship; empty if they may."""
        found: list[str] = []
        if self.agreement < AGREEMENT_NEEDED:
            found.append(f"expected packed labels to agree on {AGREEMENT_NEEDED:.0%}; found {self.agreement:.2%}")
        if self.checkpoint - self.packed > LOSS_ALLOWED:
            found.append(f"expected packing to cost {LOSS_ALLOWED}; found {self.checkpoint - self.packed:.4f}")
        if self.packed <= self.shipped:
            found.append(f"expected better than what ships, {self.shipped:.4f}; found {self.packed:.4f}")
        return found


class _Kept:
    """A scorer that keeps what it said, to be compared."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.said: list[Floats] = []

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        found = self._scorer.probabilities(pairs)
        self.said.append(found)
        return found


def judge(checkpoint: Path, packed: Path, shipped: Path, dev: Path) -> Verdict:
    """Score all three on the development files."""
    exact, small = _Kept(open_scorer(checkpoint)), _Kept(open_scorer(packed))
    scores = [score_folder(scorer, dev).headline for scorer in (exact, small, open_scorer(shipped))]
    same = np.concatenate([a.argmax(1) == b.argmax(1) for a, b in zip(exact.said, small.said, strict=True)])
    return Verdict(float(same.mean()), *scores)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line; exit code 1 refuses."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.gate", description="May these weights ship?")
    for name in ("checkpoint", "packed", "shipped", "dev"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    told = parser.parse_args(arguments)
    try:
        verdict = judge(told.checkpoint, told.packed, told.shipped, told.dev)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    sys.stdout.write(f"{verdict}\n")
    for refusal in verdict.refusals:
        sys.stderr.write(f"refused: {refusal}\n")
    return 1 if verdict.refusals else 0


if __name__ == "__main__":
    sys.exit(main())
