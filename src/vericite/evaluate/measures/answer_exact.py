"""Whether the exact answer of a system is right: a name, a list of names; for closed ones see ``answer_closed``.

A system's exact answer is its file's field ``exact``. A question of another type than a measure asks for has nothing to
count in it. Where the system gave no answer at all the question is missing. Where it answered and stated no exact
answer, or said that it has none (``[]``), that is wrong, as in BioASQ's program, which leaves out only questions that
the system's file does not have: an answer that hedges is not spared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from vericite.evaluate.gold import Gold
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import prose
from vericite.evaluate.measures.exactness import (
    Entries,
    closed_answer,
    exact_answer,
    exact_or_wrong,
    is_asked,
    normalised,
    synonyms,
)
from vericite.evaluate.measures.measure import NOTHING, Measure, Need, Parts, one
from vericite.evaluate.measures.named import Family
from vericite.evaluate.measures.parameters import expect_count
from vericite.records import QuestionType


@dataclass(frozen=True, repr=False)
class Exact(Measure):
    """A mean over questions that have an exact answer."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("exact", "gold")
    pooled: ClassVar[bool] = False


@dataclass(frozen=True, repr=False)
class OfType(Exact):
    """A measure of the questions of one type; others have nothing to count in it."""

    type: ClassVar[QuestionType]

    def parts(self, item: Item) -> Parts | None:
        """What the question adds; missing without an answer, or where its type or right answer is not known."""
        asked = None if item.gold is None else is_asked(item.gold, self.type)
        if asked is False:
            return (0.0,) * self.width
        return self.judged(item, item.gold) if asked and item.gold and item.gold.exact else None

    @abstractmethod
    def judged(self, item: Item, gold: Gold) -> Parts | None:
        """What a question of this type adds, whose right answer is known."""


class ExactMatch(Exact):
    """Answers that are, word for word, one of the right ones.

    After SQuAD's normalisation (Rajpurkar et al. 2016): without case, punctuation, articles. The first exact answer
    of the system counts with any of its synonyms; without one, the yes, no or maybe that its text begins with, where
    that is asked; else its whole text. It is compared with all names of the gold's exact answer or, where there is
    none, with its reference answers. Questions for a list have nothing to count (see ``ListF1``).
    """

    name = "ExactMatch"
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """1 where they are the same, else 0."""
        if item.gold is None:
            return None
        if item.gold.type == "list":
            return NOTHING
        right = [name for entry in item.gold.exact for name in entry] or item.gold.ideal
        said = self._said(item, item.gold)
        if said is None or not right:
            return None
        return one(float(not {normalised(name) for name in said}.isdisjoint(map(normalised, right))))

    @staticmethod
    def _said(item: Item, gold: Gold) -> Sequence[str] | None:
        exact = exact_answer(item)
        if exact is not None:
            return exact[0] if exact else ()
        text = (closed_answer(item) if is_asked(gold, "yesno") else None) or prose(item)
        return None if text is None else (text,)


@dataclass(frozen=True, repr=False)
class Factoid(OfType):
    """What BioASQ's measures of factoid questions have in common."""

    type: ClassVar[QuestionType] = "factoid"

    def judged(self, item: Item, gold: Gold) -> Parts | None:
        """The score of the answer's rank."""
        said = exact_or_wrong(item)
        return None if said is None else one(self.score(_rank(said, gold.exact)))

    @abstractmethod
    def score(self, rank: int | None) -> float:
        """What the first right answer is worth, at a rank from 1; None where there is none."""


class FactoidStrict(Factoid):
    """Factoid questions whose first answer is right.

    Strict accuracy of BioASQ's Task B: any synonym of the answer is any of the gold's, whatever the case. An answer
    without an exact one is wrong; without any answer the question is missing.
    """

    name = "FactoidStrict"
    whole = True

    def score(self, rank: int | None) -> float:
        """1 for the first."""
        return float(rank == 1)


@dataclass(frozen=True, repr=False)
class FactoidCut(Factoid):
    """A measure of the first few answers to a factoid question; BioASQ takes five."""

    cutoff: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count(self.name, "cutoff", self.cutoff)


class FactoidLenient(FactoidCut):
    """Factoid questions of whose first five answers one is right.

    Lenient accuracy of BioASQ's Task B; compared as in ``FactoidStrict``.
    """

    name = "FactoidLenient"
    whole = True

    def score(self, rank: int | None) -> float:
        """1 within the cutoff."""
        return float(rank is not None and rank <= self.cutoff)


class FactoidMRR(FactoidCut):
    """One over the rank of the first right answer to a factoid question, among five.

    Mean reciprocal rank of BioASQ's Task B, 0 where none is right; compared as in ``FactoidStrict``.
    """

    name = "FactoidMRR"

    def score(self, rank: int | None) -> float:
        """One over it, within the cutoff."""
        return 1 / rank if rank is not None and rank <= self.cutoff else 0.0


@dataclass(frozen=True, repr=False)
class ListMeasure(OfType):
    """What BioASQ's measures of list questions have in common.

    Answers are taken in order; each is right where one of its synonyms is one of a gold entry not yet found, so an
    entry said twice is right once.
    """

    type: ClassVar[QuestionType] = "list"

    def judged(self, item: Item, gold: Gold) -> Parts | None:
        """The score of the whole list."""
        said = exact_or_wrong(item)
        return None if said is None else one(self.score(_found(said, gold.exact), len(said), len(gold.exact)))

    @abstractmethod
    def score(self, found: int, said: int, right: int) -> float:
        """From the number found, said and right."""


class ListPrecision(ListMeasure):
    """Right entries of an answer's list, over its entries.

    Mean precision of BioASQ's Task B, the mean over list questions; 0 for an empty list, and for an answer without one.
    """

    name = "ListPrecision"

    def score(self, found: int, said: int, right: int) -> float:
        """Found over said."""
        return found / said if said else 0.0


class ListRecall(ListMeasure):
    """Entries of the right list that an answer has, over those of the right list.

    Mean recall of BioASQ's Task B, the mean over list questions; compared as in ``ListPrecision``.
    """

    name = "ListRecall"

    def score(self, found: int, said: int, right: int) -> float:
        """Found over right."""
        return found / right


class ListF1(ListMeasure):
    """F1 of an answer's list.

    Mean F-measure of BioASQ's Task B, its official measure: the mean over list questions of each one's F1.
    """

    name = "ListF1"

    def score(self, found: int, said: int, right: int) -> float:
        """Twice what was found over what was said and what is right."""
        return 2 * found / (said + right)


ANSWER_EXACT_MEASURES: tuple[type[Measure], ...] = (
    ExactMatch,
    FactoidStrict,
    FactoidLenient,
    FactoidMRR,
    ListPrecision,
    ListRecall,
    ListF1,
)


def _rank(said: Entries, right: Entries) -> int | None:
    names = synonyms(right)
    return next((rank for rank, entry in enumerate(said, 1) if not names.isdisjoint(synonyms([entry]))), None)


def _found(said: Entries, right: Entries) -> int:
    left = [synonyms([entry]) for entry in right]
    for entry in said:
        names = synonyms([entry])
        hit = next((place for place, known in enumerate(left) if not known.isdisjoint(names)), None)
        if hit is not None:
            del left[hit]
    return len(right) - len(left)
