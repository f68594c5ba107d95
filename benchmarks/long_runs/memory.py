"""Memory of processes over time, and the comparison of the first quarter with the last."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BAR = 1.05
"""Maximum ratio of the last quarter's median to the first quarter's."""
LEAST = 100
"""Minimum number of samples for the bar."""


def megabytes(process: int) -> float:
    """Memory of a process and all its descendants; shared pages are divided among them."""
    return sum(map(_own, [process, *descendants(process)]))


def _own(process: int) -> float:
    with suppress(OSError):
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
        if found := re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE):
            return int(found[1]) / 1000
    return 0.0


def descendants(process: int) -> list[int]:
    """Processes that a process started, and those that they started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, file.read_text().split()):
                found += [child, *descendants(child)]
    return found


@dataclass(frozen=True)
class Quarters:
    """Memory in megabytes of a run after its warm-up."""

    first: float
    last: float
    peak: float
    count: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Quarters:
        """Compare the first quarter of samples with the last."""
        quarter = max(1, len(samples) // 4)
        return cls(
            statistics.median(samples[:quarter]), statistics.median(samples[-quarter:]), max(samples), len(samples)
        )

    @property
    def is_over(self) -> bool:
        """Whether memory grew by more than the bar; the few samples of a short run do not say."""
        return self.count >= LEAST and self.last / self.first > BAR

    def __str__(self) -> str:
        ratio = self.last / self.first
        return (
            f"median of the first quarter {self.first:.1f} MB, of the last {self.last:.1f} MB: "
            f"ratio {ratio:.3f} (bar {BAR}); peak {self.peak:.0f} MB, {self.count} samples"
        )
