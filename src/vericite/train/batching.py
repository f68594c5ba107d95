"""Which pairs are seen together and when: a plan that follows from the seed alone, so a run can resume."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

Batch = list[list[int]]
"""Pairs computed at once, in units that must not be parted."""

MIXED = 2048
"""Pairs among which those of like length are put together: few enough that every stretch sees all sources."""


@dataclass(frozen=True)
class Plan:
    """The order of a run.

    Attributes:
        units: Indices of pairs that stay in one batch.
        lengths: Tokens of each pair.
        rates: How often each unit comes in an epoch, on average.
    """

    units: Sequence[list[int]]
    lengths: NDArray[np.int64]
    rates: NDArray[np.float64]
    batch_examples: int
    batch_tokens: int
    seed: int

    def steps(self, examples: int) -> Iterator[list[Batch]]:
        """The optimiser's steps, until this many pairs have been seen; each is a list of batches."""
        seen = 0
        for epoch in count():
            for step in self._epoch(epoch):
                yield step
                seen += size(step)
                if seen >= examples:
                    return

    def epoch_examples(self) -> int:
        """Pairs in an epoch, on average."""
        return round(sum(rate * len(unit) for unit, rate in zip(self.units, self.rates, strict=True)))

    def _epoch(self, epoch: int) -> Iterator[list[Batch]]:
        drawn = np.random.default_rng([self.seed, epoch])
        times = np.floor(self.rates + drawn.random(len(self.units))).astype(np.int64)
        order: list[int] = drawn.permutation(np.repeat(np.arange(len(self.units)), times)).tolist()
        step: list[Batch] = []
        for stretch in _stretches([self.units[index] for index in order]):
            batches = self._batches(sorted(stretch, key=self._length))
            shuffled: list[int] = drawn.permutation(len(batches)).tolist()
            for index in shuffled:
                step.append(batches[index])
                if size(step) >= self.batch_examples:
                    yield step
                    step = []
        if step:
            yield step

    def _length(self, unit: list[int]) -> int:
        return int(max(self.lengths[unit]))

    def _batches(self, units: list[list[int]]) -> list[Batch]:
        """Units of like length together, as many as the token budget lets in; the longest comes last."""
        batches: list[Batch] = []
        held = 0
        for unit in units:
            larger = held + len(unit)
            fits = larger <= self.batch_examples and larger * self._length(unit) <= self.batch_tokens
            if batches and fits:
                batches[-1].append(unit)
                held = larger
            else:
                batches.append([unit])
                held = len(unit)
        return batches


def size(step: list[Batch]) -> int:
    """Pairs in a step."""
    return sum(len(unit) for batch in step for unit in batch)


def _stretches(units: list[list[int]]) -> Iterator[list[list[int]]]:
    stretch: list[list[int]] = []
    held = 0
    for unit in units:
        stretch.append(unit)
        held += len(unit)
        if held >= MIXED:
            yield stretch
            stretch, held = [], 0
    if stretch:
        yield stretch
