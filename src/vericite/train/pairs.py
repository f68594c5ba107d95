"""Labelled pairs of premise and claim: what a verifier is trained and scored on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from vericite.errors import InputError
from vericite.models import Encoded, Encoder, Pair
from vericite.records import Record, read_jsonl
from vericite.train.mix.untold import UNTOLD
from vericite.verify.judging import COLUMNS, ENTAILS

Label = Literal["entails", "contradicts", "neutral"]
READ_AHEAD = 4096


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
    def told(self) -> bool:
        """Whether its label is the data's own; else only what it was ``taught`` counts."""
        return self.kind != UNTOLD

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

    encoded: Encoded
    column: int
    binary: bool
    weight: float
    source: str
    taught: tuple[float, float, float] | None = None
    told: bool = True

    def __len__(self) -> int:
        """Tokens."""
        return len(self.encoded.ids)


def encode_pairs(encoder: Encoder, pairs: Sequence[LabelledPair], weights: dict[str, float]) -> list[EncodedPair]:
    """The pairs in their order; a weight is looked up by ``source/kind``, then by ``source``, and else is 1.

    Raises:
        InputError: One has neither a label of its own nor a teacher's.
    """
    unknown = next((pair for pair in pairs if not pair.told and pair.taught is None), None)
    if unknown is not None:
        raise InputError(
            f"expected pairs of the kind {UNTOLD} to be taught; found none for {unknown.claim!r:.80}. Run teach."
        )
    found: list[EncodedPair] = []
    for start in range(0, len(pairs), READ_AHEAD):
        window = pairs[start : start + READ_AHEAD]
        for pair, encoded in zip(window, encoder.encode([pair.pair for pair in window]), strict=True):
            weight = setting(weights, pair)
            found.append(EncodedPair(encoded, pair.column, pair.binary, weight, pair.source, pair.taught, pair.told))
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
