# torch comes with the extra [train] only, and its own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Training data of a verifier: settings of a run, labelled pairs and batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, ENTAILS, Pair
from vericite.models.engine import EncodedInput, Encoder
from vericite.records import Record, read_jsonl

TOKENIZER = Path(__file__).parent / "tokenizer.json"
"""BERT's uncased tokenizer with its whole vocabulary (the shipped one is smaller). A base's own file may pad every text
to 128 tokens."""


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Label = Literal["entails", "contradicts", "neutral"]
READ_AHEAD = 4096
UNLABELLED = "unlabelled"
"""Kind of the pairs without a label, which learn from a teacher only."""


class LabelledPair(Record):
    """One line of a training or development file.

    Attributes:
        source: The data set it comes from.
        kind: How the pair was made (``gold``, ``number-changed`` ...).
        group: Shared by pairs that depend on each other: their document or question.
        twin: Shared by a supported claim and the broken ones made from it.
        binary: Whether the data only say if the premise entails the claim, not if it contradicts it.
        taught: A larger model's probabilities, in the order of ``COLUMNS``.
    """

    model_config = ConfigDict(extra="ignore")

    premise: str
    claim: str
    label: Label
    source: str
    kind: str = "gold"
    group: str = ""
    twin: str | None = None
    binary: bool = False
    taught: tuple[float, float, float] | None = None

    @property
    def labelled(self) -> bool:
        """Whether the pair has a label of its own. Otherwise only ``taught`` counts."""
        return self.kind != UNLABELLED

    @property
    def pair(self) -> Pair:
        """The texts that the model reads."""
        return Pair(self.premise, self.claim)

    @property
    def column(self) -> int:
        """The label's column in the model's output."""
        return COLUMNS.index(self.label)

    @property
    def supported(self) -> bool:
        """Whether the premise entails the claim."""
        return self.column == ENTAILS


def read_pairs(path: Path, exclude: Iterable[str] = ()) -> list[LabelledPair]:
    """Read a file's pairs without those of excluded sources.

    Raises:
        InputError: The file cannot be read, a line is not a labelled pair, or no pairs are left.
    """
    left_out = frozenset(exclude)
    pairs = [pair for pair in read_jsonl(LabelledPair, path) if pair.source not in left_out]
    if not pairs:
        raise InputError(f"expected labelled pairs in {path}; found none" + (f" except {left_out}" if left_out else ""))
    return pairs


@dataclass(frozen=True)
class EncodedPair:
    """A pair in the model's input format, with the values that its loss needs."""

    encoded: EncodedInput
    column: int
    binary: bool
    weight: float
    source: str
    taught: tuple[float, float, float] | None = None
    labelled: bool = True

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.encoded.ids)


def encode_pairs(encoder: Encoder, pairs: Sequence[LabelledPair], weights: dict[str, float]) -> list[EncodedPair]:
    """Encode the pairs in order. Weights are looked up by ``source/kind``, then by ``source``. Default: 1.

    Raises:
        InputError: A pair has neither a label nor a teacher's judgement.
    """
    unknown = next((pair for pair in pairs if not pair.labelled and pair.taught is None), None)
    if unknown is not None:
        raise InputError(
            f"expected pairs of the kind {UNLABELLED} to have a teacher's judgement; found none for "
            f"{unknown.claim!r:.80}. Run teach."
        )
    found: list[EncodedPair] = []
    for start in range(0, len(pairs), READ_AHEAD):
        window = pairs[start : start + READ_AHEAD]
        for pair, encoded in zip(window, encoder.encode([pair.pair for pair in window]), strict=True):
            weight = setting(weights, pair)
            found.append(
                EncodedPair(encoded, pair.column, pair.binary, weight, pair.source, pair.taught, pair.labelled)
            )
    return found


def setting(table: dict[str, float], pair: LabelledPair) -> float:
    """Look up a pair's setting by ``source/kind``, then by ``source``. Default: 1."""
    return table.get(f"{pair.source}/{pair.kind}", table.get(pair.source, 1.0))


def twin_units(pairs: Sequence[LabelledPair]) -> list[list[int]]:
    """Return the indices that must stay in one batch: twins together, every other pair alone."""
    units: dict[object, list[int]] = {}
    for index, pair in enumerate(pairs):
        units.setdefault(index if pair.twin is None else (pair.source, pair.twin), []).append(index)
    return list(units.values())


Batch = list[list[int]]
"""Pairs computed at once, in units that must not be split."""

MIXED = 2048
"""Pairs sorted by length at a time: few enough that every stretch contains all sources."""


@dataclass(frozen=True)
class TrainingOrder:
    """The order of the pairs in a run.

    Attributes:
        units: Indices of pairs that stay in one batch.
        lengths: Number of tokens of each pair.
        rates: How often each unit comes in an epoch, on average.
    """

    units: Sequence[list[int]]
    lengths: NDArray[np.int64]
    rates: NDArray[np.float64]
    batch_examples: int
    batch_tokens: int
    seed: int

    def steps(self, examples: int) -> Iterator[list[Batch]]:
        """Yield the optimiser's steps (lists of batches) until this many pairs have been seen."""
        seen = 0
        for epoch in count():
            for step in self._epoch(epoch):
                yield step
                seen += size(step)
                if seen >= examples:
                    return

    def epoch_examples(self) -> int:
        """Return the average number of pairs in an epoch."""
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
        """Put units of similar length together, up to the token budget; the longest come last."""
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
    """Return the number of pairs in a step."""
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
