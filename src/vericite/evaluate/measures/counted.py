"""Measures that say what they count, out of what, and how questions weigh."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING, Measure, Need, Parts, one
from vericite.evaluate.significance import Score

Counts = tuple[float, float]
"""What is counted, and out of what."""

Uncited = Literal["wrong", "empty"]
"""What an answer that cites nothing is worth to a measure of its citations: 0, or nothing to count."""

Source = Literal["labels", "verdicts"]
"""Who is taken at their word: assessors, or the judge of ``vericite check``."""


@dataclass(frozen=True, repr=False)
class Averaged(Measure):
    """A measure that is pooled over questions, or with ``by='question'`` the mean of each question's own.

    Pooled, what is counted weighs alike, so that an answer with many citations weighs more than one with few.
    """

    # Which of the two it is depends on ``by``, see ``compared``.
    pooled: ClassVar[bool] = False

    by: str

    def compared(self, parts: Parts | None) -> Score:
        """A question's parts as a comparison of two systems takes them."""
        return super().compared(parts) if self.by == "question" else parts


@dataclass(frozen=True, repr=False)
class Counted(Averaged):
    """A share: it says what it counts, and out of what."""

    @property
    def is_rate(self) -> bool:
        """Pooled shares are."""
        return self.share and self.by != "question"

    @abstractmethod
    def counts(self, item: Item) -> Counts | None:
        """What a question counts, and out of what; None where it is missing."""

    def parts(self, item: Item) -> Parts | None:
        """What it counts, or the share of the two."""
        counts = self.counts(item)
        if counts is None or self.by != "question":
            return counts
        count, of = counts
        return one(count / of) if of else self.uncounted(item)

    def uncounted(self, item: Item) -> Parts:
        """What a question with nothing to count is worth, where questions weigh alike."""
        return NOTHING


@dataclass(frozen=True, repr=False)
class Sourced(Counted):
    """A share that is counted either of assessors' labels or of a judge's verdicts."""

    labelled: ClassVar[tuple[Need, ...]] = ("labels",)
    judged: ClassVar[tuple[Need, ...]] = ("verdicts",)

    source: Source = "labels"

    def __post_init__(self) -> None:
        super().__post_init__()
        # What it reads depends on a parameter, and so does what its scores are signed with.
        object.__setattr__(self, "needs", self.judged if self.source == "verdicts" else self.labelled)

    def counts(self, item: Item) -> Counts | None:
        """What a question counts, and out of what; None where what it is counted of is not there."""
        return self.of_verdicts(item) if self.source == "verdicts" else self.of_labels(item)

    @abstractmethod
    def of_labels(self, item: Item) -> Counts | None:
        """By the word of assessors."""

    @abstractmethod
    def of_verdicts(self, item: Item) -> Counts | None:
        """By the word of a judge."""


def share_of(marks: tuple[bool | None, ...] | None) -> Counts | None:
    """How many are true of those that are known; None where none were asked about."""
    if marks is None:
        return None
    known = [mark for mark in marks if mark is not None]
    return sum(known), len(known)
