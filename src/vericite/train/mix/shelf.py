"""What every source is given, and what it gives back."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from vericite.train.mix.config import MixConfig
from vericite.train.mix.example import DocumentExample, Example, Label, share
from vericite.train.mix.files import DataFolder
from vericite.train.mix.leakage import Guard
from vericite.train.mix.premises import abstract, clean, joined, window


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The data, the recipe and the guard against leakage. Equal to itself alone: what is read from it may be kept."""

    data: DataFolder
    config: MixConfig
    guard: Guard
    seed: int
    permissive: bool = False
    without: frozenset[str] = frozenset()
    written: tuple[Path, ...] = ()

    def dice(self, name: str) -> random.Random:
        """Chance for one source; what the others draw does not move it."""
        return random.Random(f"{self.seed}|{name}")

    def is_dev(self, group: str, part: float | None = None) -> bool:
        """Whether a group is set aside."""
        return share(group, self.seed) < (self.config.dev_share if part is None else part)


@dataclass(slots=True)
class Harvest:
    """The examples of one source.

    Attributes:
        train: What is trained on.
        dev: Dev sets by file name.
        documents: Document-level dev sets by file name.
        transfer: Everything of the set that no test holds, for scores of a mix that was made without it.
        notes: Counts for the manifest.
    """

    train: list[Example] = field(default_factory=lambda: list[Example]())
    dev: dict[str, list[Example]] = field(default_factory=lambda: dict[str, list[Example]]())
    documents: dict[str, list[DocumentExample]] = field(default_factory=lambda: dict[str, list[DocumentExample]]())
    transfer: list[Example] = field(default_factory=lambda: list[Example]())
    notes: dict[str, int] = field(default_factory=lambda: dict[str, int]())

    def add(self, examples: Iterable[Example], dev: str | None) -> None:
        """Put examples into a dev set, or into training if ``dev`` is None."""
        (self.train if dev is None else self.dev.setdefault(dev, [])).extend(examples)

    def note(self, what: str, count: int = 1) -> None:
        """Count something for the manifest."""
        self.notes[what] = self.notes.get(what, 0) + count


def sized(
    start: Example, document: list[str], chosen: list[int], config: MixConfig, dice: random.Random
) -> list[Example]:
    """An example at the sizes the dice say: always the chosen sentences, at times a window and the abstract."""
    claim = clean(start.claim)
    found = [replace(start, premise=joined(document, chosen), claim=claim)]
    if dice.random() < config.window_share and len(document) > len(chosen):
        found.append(replace(start, premise=window(document, chosen), claim=claim, kind="window"))
    if dice.random() < config.abstract_share and len(document) > 3:
        found.append(replace(start, premise=abstract(document, chosen), claim=claim, kind="abstract"))
    return [example for example in found if example.premise]


def blank(claim: str, label: Label, source: str, kind: str, group: str, document: str | None = None) -> Example:
    """An example whose premise is still to be cut."""
    return Example("", clean(claim), label, source, kind, group, document=document)
