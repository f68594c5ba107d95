"""The recipe of a mix, and what each source is given and gives back."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mix.example import DocumentExample, Example, Label, share
from mix.folder import DataFolder
from mix.guard import Guard
from mix.passages import abstract, clean, joined, window
from vericite.errors import InputError

LICENCES: dict[str, tuple[str, bool]] = {
    # set: (licence as its README or upstream card says, whether it asks for no more than attribution)
    "scifact": ("claims CC BY 4.0, abstracts ODC-By", True),
    "healthver": ("none stated; upstream card says CC BY-NC 2.0", False),
    "covidfact": ("none stated", False),
    "clinifact": ("MIT", True),
    "nli4ct": ("none stated", False),
    "attributionbench": ("none stated", False),
    "wice": ("CC BY-SA and Common Crawl terms", False),
    "pubmedqa": ("MIT", True),
    "bioasq": ("CC BY 2.5", True),
    "corpus": ("mixed: PubMed abstracts of the sets above", True),
    "written": ("claims written for this project about texts of the other sets", True),
    "esnli": ("MIT repository; SNLI is CC BY-SA", False),
}


class MixConfig(BaseModel):
    """The recipe's numbers.

    Attributes:
        dev_share: Of each set that has no dev part of its own, by document or question.
        half_share: The same for the general sets, whose other half the transfer row counts.
        window_share: How many rationale pairs are given a second time with a three-sentence window.
        abstract_share: How many a third time with the abstract.
        neutral_per_claim: Sentences of the same abstract that a claim is set against.
        near_negatives: Sentences of other documents that a claim is set against, for each positive of weak sets.
        corruptions_per_pair: Edits tried on a positive; each adds up to three examples.
        corrupted_share: Of the positives that are edited at all.
        extracts_per_document: Result sentences of an abstract made into claims by taking them out of it.
        most: Examples at most, by source; what is over is left out evenly over the kinds.
        keep_shared_documents: Sets whose training claims may cite documents that their test claims cite.
        longest_share: Of all examples, those with a premise of more than 150 words.
        paraphrased_share: Of the pairs that a premise decides whose claim was said anew in a file, those set beside it.
        paraphrased_neutral_share: The same for pairs that it leaves open.
        warmup: Examples of the general warm-up file.
        unlabelled: Examples without a label at most, for a larger model to judge.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    dev_share: float = Field(default=0.1, gt=0, lt=1)
    half_share: float = Field(default=0.5, ge=0, lt=1)
    window_share: float = Field(default=0.5, ge=0, le=1)
    abstract_share: float = Field(default=0.12, ge=0, le=1)
    neutral_per_claim: int = Field(default=2, ge=0)
    near_negatives: int = Field(default=1, ge=0)
    corruptions_per_pair: int = Field(default=1, ge=0)
    # HealthVer's evidence often supports a claim only loosely; then the broken claim is not contradicted either.
    corrupted_share: dict[str, float] = Field(default_factory=lambda: {"healthver": 0.35, "other": 0.85})
    extracts_per_document: int = Field(default=1, ge=0)
    most: dict[str, int] = Field(
        default_factory=lambda: {
            "covidfact": 9000,
            "healthver": 40000,
            "bioasq": 14000,
            "corpus": 40000,
        }
    )
    # The READMEs of the data say of HealthVer alone that its parts share documents and hardly any claims.
    keep_shared_documents: tuple[str, ...] = ("healthver",)
    longest_share: float = Field(default=0.1, ge=0, le=1)
    paraphrased_share: float = Field(default=0.7, ge=0, le=1)
    paraphrased_neutral_share: float = Field(default=0.25, ge=0, le=1)
    warmup: int = Field(default=19666, ge=0)
    unlabelled: int = Field(default=30000, ge=0)


def read_config(path: Path | None) -> MixConfig:
    """The recipe of a JSON file, or the default one.

    Raises:
        InputError: The file cannot be read, or is no recipe.
    """
    if path is None:
        return MixConfig()
    try:
        return MixConfig.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        known = ", ".join(MixConfig.model_fields)
        raise InputError(
            f"expected a recipe as JSON with any of {known}; found in {path}: {error}. Mend it."
        ) from error


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
