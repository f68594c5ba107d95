"""Measures that say what they count, out of what, and how questions weigh."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import ClassVar, Literal, get_args, get_origin, get_type_hints

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING, Measure, Need, Parts, one
from vericite.evaluate.significance import Score

Counts = tuple[float, float]
"""What is counted, and out of what."""

Source = Literal["labels", "verdicts"]
"""Who is taken at their word: assessors, or the judge of ``vericite check``."""


@dataclass(frozen=True, repr=False)
class Chosen(Measure):
    """A measure that refuses words its parameters do not have.

    Raises:
        InputError: A parameter of a closed set has another value.
    """

    def __post_init__(self) -> None:
        for name, known in _known_words(type(self)).items():
            value = getattr(self, name)
            # 1 is equal to True, and has another string.
            if not any(type(value) is type(word) and value == word for word in known):
                told = ", ".join(repr(word) for word in known)
                raise InputError(f"expected {name} of {self.name} to be one of {told}; found {value!r}")


@cache
def _known_words(kind: type[Chosen]) -> Mapping[str, tuple[object, ...]]:
    """What the parameters of closed sets may be."""
    hints = get_type_hints(kind)
    types = {field.name: hints[field.name] for field in fields(kind)}
    words = {name: get_args(of) for name, of in types.items() if get_origin(of) is Literal}
    return words | {name: (True, False) for name, of in types.items() if of is bool}


@dataclass(frozen=True, repr=False)
class Averaged(Chosen):
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

    @abstractmethod
    def counts(self, item: Item) -> Counts | None:
        """What a question counts, and out of what; None where it is missing."""

    def parts(self, item: Item) -> Parts | None:
        """What it counts, or the share of the two; nothing where there is nothing to count."""
        counts = self.counts(item)
        if counts is None or self.by != "question":
            return counts
        count, of = counts
        return one(count / of) if of else NOTHING


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
