"""Claims of the sets said anew: in other words, denied, turned round, and of something else.

The sets have few claims before many premises, and a small model learns the claims by heart. The file holds what was
written and what each claim is recognised by, not the claims, though a denial keeps many of a claim's words.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from vericite.records import Record, read_jsonl
from vericite.train.mix.config import MixConfig
from vericite.train.mix.example import Example
from vericite.train.mix.premises import told_by

KINDS = frozenset({"alike", "denied", "opposite", "other"})
"""Of examples that were made here."""

# A whole abstract may well say something of the other matter, too.
_SHORT = 90
# Few of these are hard: most name other things than the set is about, and more would teach just that.
_OTHER = 0.25
# Else what is denied in this manner would always be decided.
_BROKEN_OPEN = 0.4
# Sentences of which nobody said that they bear on the claim; the opposite says more, and others may well refute that.
_SILENT = frozenset({"unsupporting", "same-abstract"})
# What its readers called refuted is often only not borne out, so that the denial does not follow.
_LOOSELY_REFUTED = frozenset({"healthver"})


class ParaphrasedClaim(Record):
    """A line of such a file.

    Attributes:
        source: The set that has the claim.
        check: What the claim is recognised by (``told_by``).
        alike: The same claim in other words.
        denied: What is true if and only if the claim is false.
        opposite: What cannot be true beside the claim, though both may be false.
        other: A claim that looks like it, of which nothing is said by what proves or disproves it.
    """

    source: str
    check: str
    alike: tuple[str, ...]
    denied: str | None = None
    opposite: str | None = None
    other: str | None = None


class Paraphrases:
    """What was written about claims, looked up by them; of two lines about one claim the later one counts."""

    def __init__(self, files: Iterable[Path]) -> None:
        lines = (line for path in files for line in read_jsonl(ParaphrasedClaim, path))
        self._lines = {(line.source, line.check): line for line in lines}
        self._met: set[tuple[str, str]] = set()

    @property
    def unmet(self) -> int:
        """How many lines are about no claim that was seen so far."""
        return len(self._lines.keys() - self._met)

    def of(self, name: str, examples: Iterable[Example], config: MixConfig, dice: random.Random) -> list[Example]:
        """The claims of a set's examples said anew before the same premises.

        A claim in other words stands beside one that the premise tells apart from it, as its twin.
        """
        found: list[Example] = []
        for number, example in enumerate(examples):
            key = (example.source, told_by(example.claim))
            line = self._lines.get(key)
            if line is None:
                continue
            self._met.add(key)
            share = config.paraphrased_share if example.label != "neutral" else config.paraphrased_neutral_share
            if example.twin is None and dice.random() < share:
                found += _said_anew(example, line, dice, f"paraphrased:{name}:{number}")
        return found


def _said_anew(example: Example, line: ParaphrasedClaim, dice: random.Random, twin: str) -> Iterator[Example]:
    open_ones = list(_left_open(example, line))
    if open_ones and dice.random() < _BROKEN_OPEN:
        yield dice.choice(open_ones)
        return
    alike = replace(example, claim=dice.choice(line.alike), kind="alike") if line.alike else None
    apart = list(_told_apart(example, line))
    if alike and apart:
        yield replace(alike, twin=twin)
        yield replace(dice.choice(apart), twin=twin)
    elif alike or apart:
        yield alike or dice.choice(apart)
    decided = example.label != "neutral" and len(example.premise.split()) <= _SHORT
    if line.other and decided and dice.random() < _OTHER:
        yield replace(example, claim=line.other, kind="other", label="neutral")


def _told_apart(example: Example, line: ParaphrasedClaim) -> Iterator[Example]:
    """Claims on which the premise has the other word; what it is only known not to entail it may yet leave open."""
    if example.label == "entails":
        broken = "neutral" if example.binary else "contradicts"
        if line.denied:
            yield replace(example, claim=line.denied, kind="denied", label=broken)
        if line.opposite:
            yield replace(example, claim=line.opposite, kind="opposite", label=broken)
    elif example.label == "contradicts" and line.denied and example.source not in _LOOSELY_REFUTED:
        yield replace(example, claim=line.denied, kind="denied", label="entails")


def _left_open(example: Example, line: ParaphrasedClaim) -> Iterator[Example]:
    """Broken claims of which a premise says as little as of the claim."""
    if example.label == "neutral" and not example.binary:
        if line.denied:
            yield replace(example, claim=line.denied, kind="denied")
        if line.opposite and example.kind in _SILENT:
            yield replace(example, claim=line.opposite, kind="opposite")
