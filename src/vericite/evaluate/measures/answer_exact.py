"""Whether the exact answer of a system is right: a name, a list of names, yes, no or maybe, a category.

A system's exact answer is its file's field ``exact``. A question of another type than a measure asks for has nothing to
count in it. Where the system gave no answer at all the question is missing. Where it answered and stated no exact
answer, or said that it has none (``[]``), that is wrong, as in BioASQ's program, which leaves out only questions that
the system's file does not have: an answer that hedges is not spared. Where a system states none apart, yes, no and
maybe are also read from the first word of its text.
"""

from __future__ import annotations

import re
import string
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import prose
from vericite.evaluate.measures.measure import NOTHING, Family, Measure, Need, Parts, one
from vericite.evaluate.resampling import Floats
from vericite.records import Gold, QuestionType

Entries = tuple[tuple[str, ...], ...]
"""Exact answers, each with its synonyms."""

CLOSED = ("yes", "no", "maybe")
"""What a question with a closed answer may be answered with."""

# A mark must follow: "No evidence was found" and "Yes-associated protein" do not answer a question.
_STATED = re.compile(r"[\W_]*(yes|no|maybe)(?=[\W_]*$|\s*[.,;:!?()\[*_–—]|[ \t]*\n|\s+-\s)", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def same_case(text: str) -> str:
    """As BioASQ compares: whatever its case and its spaces."""
    return " ".join(text.casefold().split())


def normalised(text: str) -> str:
    """As SQuAD compares: without case, ASCII punctuation, the words a, an and the, and surplus spaces.

    Where that leaves nothing ("A" is a blood group) only case and spaces go.
    """
    bare = _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION))
    return " ".join(bare.split()) or same_case(text)


def label(text: str) -> str:
    """A category as it is compared: whatever its case, spaces and closing full stop."""
    return same_case(text).rstrip(" .")


def synonyms(entries: Iterable[Iterable[str]]) -> set[str]:
    """All names of all entries, as BioASQ compares them."""
    return {same_case(name) for entry in entries for name in entry}


def exact_answer(item: Item) -> Entries | None:
    """The system's exact answer; empty where it states that it has none, None where it states nothing or refused."""
    refused = item.answer is not None and item.answer.insufficient
    return None if refused else item.exact


def exact_or_wrong(item: Item) -> Entries | None:
    """Likewise, but empty also where it answered in words alone: None only where there is no answer at all."""
    exact = exact_answer(item)
    return () if exact is None and item.given is not None else exact


def closed_answer(item: Item) -> str | None:
    """Yes, no or maybe, as the system says; the empty text where its answer says none, None where there is no answer.

    Its exact answer, which may be another word. Where it has no exact answer, the first word of the answer's text, if
    that is yes, no or maybe and a mark or the end of the line follows: "**No.** Losartan ..." does, "No evidence was
    found" does not.
    """
    exact = exact_answer(item)
    if exact is not None:
        return label(exact[0][0]) if exact and exact[0] else ""
    if item.given is None:
        return None
    stated = _STATED.match(item.given.text)
    return stated[1].lower() if stated else ""


def is_asked(gold: Gold, kind: QuestionType) -> bool | None:
    """Whether a question is of this type; None where that is not known.

    One without a type is a yes/no question where its exact answer is yes, no or maybe. Where that is another,
    it is none, but there is no telling whether it is a factoid or a list.
    """
    if gold.type is not None:
        return gold.type == kind
    if closed_gold(gold) is not None:
        return kind == "yesno"
    return False if gold.exact and kind == "yesno" else None


def closed_gold(gold: Gold) -> str | None:
    """Yes, no or maybe where that is the exact answer."""
    known = label(gold.exact[0][0]) if len(gold.exact) == 1 and gold.exact[0] else None
    return known if known in CLOSED else None


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
        return self._judged(item, item.gold) if asked and item.gold and item.gold.exact else None

    @abstractmethod
    def _judged(self, item: Item, gold: Gold) -> Parts | None:
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
        given = self._given(item, item.gold)
        if given is None or not right:
            return None
        return one(float(not {normalised(name) for name in given}.isdisjoint(map(normalised, right))))

    @staticmethod
    def _given(item: Item, gold: Gold) -> Sequence[str] | None:
        exact = exact_answer(item)
        if exact is not None:
            return exact[0] if exact else ()
        text = (closed_answer(item) if is_asked(gold, "yesno") else None) or prose(item)
        return None if text is None else (text,)


@dataclass(frozen=True, repr=False)
class Factoid(OfType):
    """What BioASQ's measures of factoid questions have in common."""

    type: ClassVar[QuestionType] = "factoid"

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given = exact_or_wrong(item)
        return None if given is None else one(self._score(_rank(given, gold.exact)))

    @abstractmethod
    def _score(self, rank: int | None) -> float:
        """What the first right answer is worth, at a rank from 1; None where there is none."""


class FactoidStrict(Factoid):
    """Factoid questions whose first answer is right.

    Strict accuracy of BioASQ's Task B: any synonym of the answer is any of the gold's, whatever the case. An answer
    without an exact one is wrong; without any answer the question is missing.
    """

    name = "FactoidStrict"
    whole = True

    def _score(self, rank: int | None) -> float:
        return float(rank == 1)


@dataclass(frozen=True, repr=False)
class FactoidCut(Factoid):
    """A measure of the first few answers to a factoid question; BioASQ takes five."""

    cutoff: int = 5


class FactoidLenient(FactoidCut):
    """Factoid questions of whose first five answers one is right.

    Lenient accuracy of BioASQ's Task B; compared as in ``FactoidStrict``.
    """

    name = "FactoidLenient"
    whole = True

    def _score(self, rank: int | None) -> float:
        return float(rank is not None and rank <= self.cutoff)


class FactoidMRR(FactoidCut):
    """One over the rank of the first right answer to a factoid question, among five.

    Mean reciprocal rank of BioASQ's Task B, 0 where none is right; compared as in ``FactoidStrict``.
    """

    name = "FactoidMRR"

    def _score(self, rank: int | None) -> float:
        return 1 / rank if rank is not None and rank <= self.cutoff else 0.0


@dataclass(frozen=True, repr=False)
class ListMeasure(OfType):
    """What BioASQ's measures of list questions have in common.

    Answers are taken in order; each is right where one of its synonyms is one of a gold entry not yet found, so an
    entry given twice is right once. A gold entry that is left over is missed. One that the gold has twice is not missed
    where the answer has it once: BioASQ's program looks for it in the answer again.
    """

    type: ClassVar[QuestionType] = "list"

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given = exact_or_wrong(item)
        return None if given is None else one(self._score(len(given), *_list_counts(given, gold.exact)))

    @abstractmethod
    def _score(self, given: int, found: int, missed: int) -> float:
        """From the numbers of entries given, those of them that are right, and gold entries missed."""


class ListPrecision(ListMeasure):
    """Right entries of an answer's list, over its entries.

    Mean precision of BioASQ's Task B, the mean over list questions; 0 for an empty list, and for an answer without one.
    """

    name = "ListPrecision"

    def _score(self, given: int, found: int, missed: int) -> float:
        return found / given if given else 0.0


class ListRecall(ListMeasure):
    """Entries of the right list that an answer has, over these and those that it misses.

    Mean recall of BioASQ's Task B, the mean over list questions; compared as in ``ListPrecision``.
    """

    name = "ListRecall"

    def _score(self, given: int, found: int, missed: int) -> float:
        return found / (found + missed) if found else 0.0


class ListF1(ListMeasure):
    """F1 of an answer's list.

    Mean F-measure of BioASQ's Task B, its official measure: the mean over list questions of each one's F1.
    """

    name = "ListF1"

    def _score(self, given: int, found: int, missed: int) -> float:
        return 2 * found / (given + found + missed) if found else 0.0


def _rank(given: Entries, right: Entries) -> int | None:
    names = synonyms(right)
    return next((rank for rank, entry in enumerate(given, 1) if not names.isdisjoint(synonyms([entry]))), None)


def _list_counts(given: Entries, right: Entries) -> tuple[int, int]:
    """How many given entries are right, and how many of the right ones are missed."""
    answer = [synonyms([entry]) for entry in given]
    left = [synonyms([entry]) for entry in right]
    found = sum(_take(left, names) for names in answer)
    missed = sum(not _take(answer, names) for names in left)
    return found, missed


def _take(entries: list[set[str]], names: set[str]) -> bool:
    """Whether one of the entries has one of these names; it is taken out."""
    hit = next((index for index, known in enumerate(entries) if not known.isdisjoint(names)), None)
    if hit is not None:
        del entries[hit]
    return hit is not None


Refused = Literal["missing", "wrong"]
"""What a refusal, such as ANSWER UNAVAILABLE, is to a measure of right answers."""


def _refusal(item: Item, refused: Refused) -> Parts | None:
    """What a question without an answer adds: wrong where it was refused and that is to count, else it is missing."""
    wrong = refused == "wrong" and item.answer is not None and item.answer.insufficient
    return one(0.0) if wrong else None


@dataclass(frozen=True, repr=False)
class YesNoAccuracy(OfType):
    """Yes/no questions that are answered right.

    As in BioASQ's Task B. The answer is the exact one, or the first word of the text where that is yes, no or maybe and
    a mark or the end of the line follows ("No evidence was found" does not say no). An answer that says none of them is
    wrong; without any answer the question is missing. With ``refused='wrong'`` a refusal (ANSWER UNAVAILABLE) is wrong.
    """

    name = "YesNoAccuracy"
    whole = True
    type = "yesno"

    refused: Refused = "missing"

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given, right = closed_answer(item), closed_gold(gold)
        if right is None:
            return None
        return _refusal(item, self.refused) if given is None else one(float(given == right))


@dataclass(frozen=True, repr=False)
class MacroF1(Measure):
    """F1 of each class, pooled over all questions, and the mean of these. A class never asked nor said has none."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("exact", "gold")

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The classes."""

    @property
    def width(self) -> int:
        """Three sums a class."""
        return 3 * len(self.labels)

    def _counted(self, given: str, right: str) -> Parts:
        return tuple(float(count) for it in self.labels for count in (given == right == it, given == it, right == it))

    def statistic(self, sums: Floats) -> Floats:
        """The mean over classes of twice what was given rightly, over what was given and what is right."""
        out_of = sums[..., 1::3] + sums[..., 2::3]
        known = out_of > 0
        each = np.divide(2 * sums[..., 0::3], out_of, out=np.zeros_like(out_of), where=known)
        return each.sum(axis=-1) / known.sum(axis=-1)


class YesNoMacroF1(MacroF1, OfType):
    """F1 of yes and F1 of no over yes/no questions, and the mean of the two.

    As in BioASQ's Task B, where it is the official measure, and the answer is read as in ``YesNoAccuracy``. An answer
    that says neither counts as if it said the wrong one, against both F1s, as in BioASQ's program. Where one of the two
    is neither right nor said in any question, it has no F1 and is left out (BioASQ's program counts 0).
    """

    name = "YesNoMacroF1"
    type = "yesno"
    pooled = True

    @property
    def labels(self) -> tuple[str, ...]:
        """Yes and no."""
        return ("yes", "no")

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given, right = closed_answer(item), closed_gold(gold)
        if given is None or right is None:
            return None
        if given not in self.labels and right in self.labels:
            given = next(label for label in self.labels if label != right)
        return self._counted(given, right)


@dataclass(frozen=True, repr=False)
class CategoryAccuracy(Exact):
    """Questions whose answer is of the right category, such as yes, no or maybe.

    As in PubMedQA (Jin et al. 2019). The right one is the gold's ``category``, or its exact answer where that is yes,
    no or maybe; a question with another exact answer has nothing to count. The system's is its exact answer or, for
    yes, no and maybe, the first word of its text (see ``YesNoAccuracy``); one that says none of them is wrong. Other
    categories are not looked for in a text: there a question is missing without an exact answer. With
    ``refused='wrong'``, which reproduces table 2 of Reason and Verify, a refusal (ANSWER UNAVAILABLE) is wrong; their
    share is ``RefusedRate``.
    """

    name = "CategoryAccuracy"
    whole = True

    refused: Refused = "missing"

    def parts(self, item: Item) -> Parts | None:
        """1 where they are the same."""
        right = _category(item.gold)
        if not right:
            return None if right is None else NOTHING
        given = _given_category(item, right)
        return _refusal(item, self.refused) if given is None else one(float(given == right))


@dataclass(frozen=True, repr=False)
class CategoryMacroF1(MacroF1):
    """F1 of each category over all questions, and the mean of these.

    PubMedQA's second measure; right answers and the system's are read as in ``CategoryAccuracy``. An answer that says
    none counts against the F1 of the right one. A category that is neither right nor said in any question has no F1 and
    is left out.

    Attributes:
        classes: The categories, with commas between them.
    """

    name = "CategoryMacroF1"

    classes: str = ",".join(CLOSED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(self.labels) or len(set(self.labels)) < len(self.labels):
            raise InputError(f"expected classes of {self.name} as in 'yes,no,maybe', each once; found {self.classes!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories."""
        return tuple(map(label, self.classes.split(",")))

    def parts(self, item: Item) -> Parts | None:
        """What it adds to the counts."""
        right = _category(item.gold)
        if not right:
            return None if right is None else (0.0,) * self.width
        given = _given_category(item, right)
        return None if given is None else self._counted(given, right)


def _category(gold: Gold | None) -> str | None:
    """The right category; empty for a question that has none, None where it is not known."""
    if gold is None:
        return None
    if gold.category is not None:
        return label(gold.category)
    closed = closed_gold(gold)
    if closed is None:
        return "" if gold.exact or gold.type not in (None, "yesno") else None
    return closed


def _given_category(item: Item, right: str) -> str | None:
    """The system's category; its text is read only where the right one is a word that texts begin with."""
    exact = exact_answer(item)
    return closed_answer(item) if exact is not None or right in CLOSED else None
