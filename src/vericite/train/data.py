# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""What a verifier is trained on: options of a run, labelled pairs, batches and losses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, ValidationError

from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, ENTAILS, Pair
from vericite.models.engine import EncodedInput, Encoder
from vericite.records import Record, first_problem, read_jsonl

TOKENIZER = Path(__file__).parent / "tokenizer.json"
"""BERT's, uncased, with all of its words; a base's own may pad every text to 128 tokens. What ships knows fewer."""


class FitConfig(Record):
    """A training run's choices; its data, base and length come from the command line.

    Attributes:
        warmup: Share of the run in which the learning rate rises; it falls to 0 over the rest.
        layer_decay: The learning rate of each layer, as a multiple of that of the layer above.
        head_rate: That of pooler and classifier, as a multiple of the top layer's.
        batch_examples: Pairs in an optimiser's step, at least.
        batch_tokens: Tokens computed at once; a step of longer pairs takes several such batches.
        margin: By how much a claim's entailment must exceed its broken twin's (log odds).
        margin_weight: Of that loss beside the others; 0 is off.
        freeze_layers: Layers, counted from the first, that keep their base's weights.
        taught_share: A teacher's part of the loss, of pairs that it has judged and that have a label of their own.
        average_from: Share of the run after which weights are averaged; 1 keeps the last ones.
        rates: How often a pair of a source, or of ``source/kind``, comes in an epoch; 1 where not named.
        long_tokens: Pairs of more tokens, and their twins, come only ``long_rate`` times as often as their rate says:
            one whole abstract takes as long as six sentences.
        weights: Of their losses, likewise.
        exclude: Sources left out altogether, to measure transfer to them.
    """

    seed: int = 0
    learning_rate: float = Field(default=1e-4, gt=0)
    warmup: float = Field(default=0.06, ge=0, le=1)
    layer_decay: float = Field(default=1.0, gt=0, le=1)
    head_rate: float = Field(default=1.0, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    clip: float = Field(default=1.0, gt=0)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    label_smoothing: float = Field(default=0.05, ge=0, lt=1)
    margin: float = Field(default=2.0, ge=0)
    margin_weight: float = Field(default=0.0, ge=0)
    binary_weight: float = Field(default=1.0, ge=0)
    taught_share: float = Field(default=0.5, ge=0, le=1)
    batch_examples: int = Field(default=32, ge=1)
    batch_tokens: int = Field(default=2048, ge=16)
    max_tokens: int = Field(default=512, ge=16)
    freeze_embeddings: bool = False
    freeze_layers: int = Field(default=0, ge=0)
    average_from: float = Field(default=0.8, ge=0, le=1)
    precision: Literal["bf16", "fp32"] = "bf16"
    threads: int = Field(default=2, ge=1)
    rates: dict[str, float] = Field(default_factory=dict[str, float])
    long_tokens: int = Field(default=512, ge=16)
    long_rate: float = Field(default=1.0, ge=0)
    weights: dict[str, float] = Field(default_factory=dict[str, float])
    exclude: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path | None) -> FitConfig:
        """From a JSON file, or a YAML file where PyYAML is there (transformers brings it); None is all defaults.

        Raises:
            InputError: The file cannot be read, or names what there is not.
        """
        if path is None:
            return cls()
        try:
            return cls.model_validate_json(json.dumps(_parsed(path)))
        except ValidationError as error:
            field, problem = first_problem(error)
            raise InputError(f"expected a training config; {path} is none: {field}: {problem}") from None


def _parsed(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix in (".yaml", ".yml"):
            import yaml  # pyright: ignore[reportMissingModuleSource]

            return yaml.safe_load(text)
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"expected a training config in JSON or YAML; found {path}: {error}") from None


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Label = Literal["entails", "contradicts", "neutral"]
READ_AHEAD = 4096
UNLABELLED = "unlabelled"
"""The kind of pairs that nobody labelled: what a teacher says of them is all that counts."""


class LabelledPair(Record):
    """One line of a training or development file.

    Attributes:
        source: The data set it comes from.
        kind: How the pair was made (``gold``, ``number-changed`` ...).
        group: What it shares with pairs that are not independent of it: its document or question.
        twin: Shared by a supported claim and the broken ones made from it.
        binary: The data say only whether the premise entails the claim, not whether it contradicts it.
        taught: A larger model's probabilities, in the order of ``verify.judging``'s columns.
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
        """Whether its label is the data's own; else only what it was ``taught`` counts."""
        return self.kind != UNLABELLED

    @property
    def pair(self) -> Pair:
        """What the model reads."""
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
    """A file's pairs, those of the excluded sources left out.

    Raises:
        InputError: The file cannot be read, a line is no such pair, or none is left.
    """
    left_out = frozenset(exclude)
    pairs = [pair for pair in read_jsonl(LabelledPair, path) if pair.source not in left_out]
    if not pairs:
        raise InputError(f"expected labelled pairs in {path}; found none" + (f" but {left_out}" if left_out else ""))
    return pairs


@dataclass(frozen=True)
class EncodedPair:
    """A pair as the model reads it, and what its loss needs to know."""

    encoded: EncodedInput
    column: int
    binary: bool
    weight: float
    source: str
    taught: tuple[float, float, float] | None = None
    labelled: bool = True

    def __len__(self) -> int:
        """Tokens."""
        return len(self.encoded.ids)


def encode_pairs(encoder: Encoder, pairs: Sequence[LabelledPair], weights: dict[str, float]) -> list[EncodedPair]:
    """The pairs in their order; a weight is looked up by ``source/kind``, then by ``source``, and else is 1.

    Raises:
        InputError: One has neither a label of its own nor a teacher's.
    """
    unknown = next((pair for pair in pairs if not pair.labelled and pair.taught is None), None)
    if unknown is not None:
        raise InputError(
            f"expected pairs of the kind {UNLABELLED} to be taught; found none for {unknown.claim!r:.80}. Run teach."
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
    """What a config says about a pair, by ``source/kind``, then by ``source``; 1 where it says nothing."""
    return table.get(f"{pair.source}/{pair.kind}", table.get(pair.source, 1.0))


def twin_units(pairs: Sequence[LabelledPair]) -> list[list[int]]:
    """Indices that must stay in one batch: twins together, every other pair alone."""
    units: dict[object, list[int]] = {}
    for index, pair in enumerate(pairs):
        units.setdefault(index if pair.twin is None else (pair.source, pair.twin), []).append(index)
    return list(units.values())


Batch = list[list[int]]
"""Pairs computed at once, in units that must not be parted."""

MIXED = 2048
"""Pairs among which those of like length are put together: few enough that every stretch sees all sources."""


@dataclass(frozen=True)
class TrainingOrder:
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
