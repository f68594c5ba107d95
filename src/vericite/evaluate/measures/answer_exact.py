"""Measures of exact answers: a name, a list of names, yes, no or maybe, or a category.

A system's exact answer is the field ``exact`` of its file. Without this field, yes, no and maybe are also read from the
first word of the answer's text. A question of another type has nothing to count. A question without any answer is
missing. An answer without an exact answer, or with an empty one (``[]``), is wrong, as in BioASQ's program, which
leaves out only questions that the system's file does not have.
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
from vericite.evaluate.measures.measure import NOTHING, Family, Measure, Need, Parts, own_score
from vericite.evaluate.resampling import Floats
from vericite.records import Gold, QuestionType

Entries = tuple[tuple[str, ...], ...]
"""Exact answers, each with its synonyms."""

CLOSED = ("yes", "no", "maybe")
"""The possible answers to a closed question."""

# Punctuation must follow: "No evidence was found" and "Yes-associated protein" do not answer a question.
_STATED = re.compile(r"[\W_]*(yes|no|maybe)(?=[\W_]*$|\s*[.,;:!?()\[*_–—]|[ \t]*\n|\s+-\s)", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def same_case(text: str) -> str:
    """Normalize case and spaces, as BioASQ does."""
    return " ".join(text.casefold().split())


def normalised(text: str) -> str:
    """Normalize as SQuAD does: remove case, ASCII punctuation, articles and extra spaces.

    If nothing is left ("A" is a blood group), only case and spaces are normalized.
    """
    bare = _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION))
    return " ".join(bare.split()) or same_case(text)


def label(text: str) -> str:
    """Normalize a category: case, spaces and a final full stop."""
    return same_case(text).rstrip(" .")


def synonyms(entries: Iterable[Iterable[str]]) -> set[str]:
    """Return all names of all entries, normalized as in BioASQ."""
    return {same_case(name) for entry in entries for name in entry}


def exact_answer(item: Item) -> Entries | None:
    """Return the exact answer; empty if the system says that it has none, None if it says nothing or refused."""
    refused = item.answer is not None and item.answer.insufficient
    return None if refused else item.exact


def exact_or_wrong(item: Item) -> Entries | None:
    """Return the exact answer; also empty for an answer in prose alone, and None only without any answer."""
    exact = exact_answer(item)
    return () if exact is None and item.given is not None else exact


def closed_answer(item: Item) -> str | None:
    """Return the system's yes, no or maybe; empty if its answer has none, None if there is no answer.

    This is the exact answer, which may be another word. Without an exact answer it is the first word of the text, if
    that is yes, no or maybe and punctuation or the end of the line follows: "**No.** Losartan ..." counts, "No evidence
    was found" does not.
    """
    exact = exact_answer(item)
    if exact is not None:
        return label(exact[0][0]) if exact and exact[0] else ""
    if item.given is None:
        return None
    stated = _STATED.match(item.given.text)
    return stated[1].lower() if stated else ""


def is_asked(gold: Gold, kind: QuestionType) -> bool | None:
    """Whether a question has this type; None if that is unknown.

    A question without a type is a yes/no question if its exact answer is yes, no or maybe. With another exact answer it
    is not, but could be a factoid or a list question.
    """
    if gold.type is not None:
        return gold.type == kind
    if closed_gold(gold) is not None:
        return kind == "yesno"
    return False if gold.exact and kind == "yesno" else None


def closed_gold(gold: Gold) -> str | None:
    """Return the exact answer if it is yes, no or maybe."""
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
    """A measure of questions of one type; other questions have nothing to count."""

    type: ClassVar[QuestionType]

    def parts(self, item: Item) -> Parts | None:
        """Return what the question adds; missing without an answer, or if its type or correct answer is unknown."""
        asked = None if item.gold is None else is_asked(item.gold, self.type)
        if asked is False:
            return (0.0,) * self.width
        return self._judged(item, item.gold) if asked and item.gold and item.gold.exact else None

    @abstractmethod
    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        """Return what a question of this type with a known correct answer adds."""


class ExactMatch(Exact):
    """Share of answers that equal a correct answer, word for word.

    Texts are normalized as in SQuAD (Rajpurkar et al. 2016): without case, punctuation and articles. The system's
    answer is its first exact answer, with any synonym. Without one it is the yes, no or maybe at the start of the text,
    for yes/no questions, or the whole text. It is compared with all names of the gold's exact answer or, without one,
    with the reference answers. List questions have nothing to count (see ``ListF1``).
    """

    name = "ExactMatch"
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """Return 1 for a match, else 0."""
        if item.gold is None:
            return None
        if item.gold.type == "list":
            return NOTHING
        right = [name for entry in item.gold.exact for name in entry] or item.gold.ideal
        given = self._given(item, item.gold)
        if given is None or not right:
            return None
        return own_score(float(not {normalised(name) for name in given}.isdisjoint(map(normalised, right))))

    @staticmethod
    def _given(item: Item, gold: Gold) -> Sequence[str] | None:
        exact = exact_answer(item)
        if exact is not None:
            return exact[0] if exact else ()
        text = (closed_answer(item) if is_asked(gold, "yesno") else None) or prose(item)
        return None if text is None else (text,)


class ShortAnswerRecall(Exact):
    """Share of the gold's short answers that the answer's text contains.

    String exact match of ALCE (Gao et al. 2023, arXiv 2305.14627) for ASQA: a short answer counts if one of its names
    is in the text, both normalized as in SQuAD; the mean over questions.
    """

    name = "ShortAnswerRecall"
    needs = ("answer", "gold")

    def parts(self, item: Item) -> Parts | None:
        """Return the share of a question's short answers."""
        text = prose(item)
        if text is None or item.gold is None or not item.gold.exact:
            return None
        said = normalised(text)
        held = [any(normalised(name) in said for name in names) for names in item.gold.exact]
        return own_score(sum(held) / len(held))


@dataclass(frozen=True, repr=False)
class Factoid(OfType):
    """Base class of BioASQ's measures of factoid questions."""

    type: ClassVar[QuestionType] = "factoid"

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given = exact_or_wrong(item)
        return None if given is None else own_score(self._score(_rank(given, gold.exact)))

    @abstractmethod
    def _score(self, rank: int | None) -> float:
        """Return the score for the rank of the first correct answer, counted from 1; None: no correct answer."""


class FactoidStrict(Factoid):
    """Share of factoid questions whose first answer is correct.

    Strict accuracy of BioASQ's Task B: a synonym of the answer equals a synonym of the gold, ignoring case. An answer
    without an exact answer is wrong; a question without any answer is missing.
    """

    name = "FactoidStrict"
    whole = True

    def _score(self, rank: int | None) -> float:
        return float(rank == 1)


@dataclass(frozen=True, repr=False)
class FactoidCut(Factoid):
    """A measure of the first few answers to a factoid question; BioASQ uses five."""

    cutoff: int = 5


class FactoidLenient(FactoidCut):
    """Share of factoid questions with a correct answer among the first five.

    Lenient accuracy of BioASQ's Task B; compared as in ``FactoidStrict``.
    """

    name = "FactoidLenient"
    whole = True

    def _score(self, rank: int | None) -> float:
        return float(rank is not None and rank <= self.cutoff)


class FactoidMRR(FactoidCut):
    """Mean reciprocal rank of the first correct answer among the top five, for factoid questions.

    As in BioASQ's Task B; 0 if none is correct. Answers are compared as in ``FactoidStrict``.
    """

    name = "FactoidMRR"

    def _score(self, rank: int | None) -> float:
        return 1 / rank if rank is not None and rank <= self.cutoff else 0.0


@dataclass(frozen=True, repr=False)
class ListMeasure(OfType):
    """Base class of BioASQ's measures of list questions.

    Entries are matched in order. An entry is correct if it shares a synonym with a gold entry that was not matched
    before, so a repeated entry is correct only once. Unmatched gold entries are missed. A gold entry that appears twice
    is not missed if the answer has it once: BioASQ's program searches the answer again.
    """

    type: ClassVar[QuestionType] = "list"

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given = exact_or_wrong(item)
        return None if given is None else own_score(self._score(len(given), *_list_counts(given, gold.exact)))

    @abstractmethod
    def _score(self, given: int, found: int, missed: int) -> float:
        """Return the score from the numbers of given entries, correct entries and missed gold entries."""


class ListPrecision(ListMeasure):
    """Share of the entries of an answer's list that are correct.

    Mean precision of BioASQ's Task B, the mean over list questions; 0 for an empty or missing list.
    """

    name = "ListPrecision"

    def _score(self, given: int, found: int, missed: int) -> float:
        return found / given if given else 0.0


class ListRecall(ListMeasure):
    """Share of the entries of the correct list that an answer has.

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
    """Return the number of correct entries, and of missed gold entries."""
    answer = [synonyms([entry]) for entry in given]
    left = [synonyms([entry]) for entry in right]
    found = sum(_take(left, names) for names in answer)
    missed = sum(not _take(answer, names) for names in left)
    return found, missed


def _take(entries: list[set[str]], names: set[str]) -> bool:
    """Remove the first entry that has one of these names; return whether there was one."""
    hit = next((index for index, known in enumerate(entries) if not known.isdisjoint(names)), None)
    if hit is not None:
        del entries[hit]
    return hit is not None


Refused = Literal["missing", "wrong"]
"""How a refusal, such as ANSWER UNAVAILABLE, counts in a measure of correct answers."""


def _refusal(item: Item, refused: Refused) -> Parts | None:
    """Return the parts of a question without an answer: 0 for a refusal that counts as wrong, otherwise missing."""
    wrong = refused == "wrong" and item.answer is not None and item.answer.insufficient
    return own_score(0.0) if wrong else None


@dataclass(frozen=True, repr=False)
class YesNoAccuracy(OfType):
    """Share of yes/no questions that are answered correctly.

    As in BioASQ's Task B. The answer is the exact answer, or the first word of the text if it is yes, no or maybe and
    punctuation or the end of the line follows ("No evidence was found" does not say no). An answer without any of these
    is wrong; a question without any answer is missing. With ``refused='wrong'`` a refusal (ANSWER UNAVAILABLE) is
    wrong.
    """

    name = "YesNoAccuracy"
    whole = True
    type = "yesno"

    refused: Refused = "missing"

    def _judged(self, item: Item, gold: Gold) -> Parts | None:
        given, right = closed_answer(item), closed_gold(gold)
        if right is None:
            return None
        return _refusal(item, self.refused) if given is None else own_score(float(given == right))


@dataclass(frozen=True, repr=False)
class MacroF1(Measure):
    """The mean over classes of the F1 pooled over all questions; a class that never occurs is left out."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("exact", "gold")

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The classes."""

    @property
    def width(self) -> int:
        """Three sums per class."""
        return 3 * len(self.labels)

    def _counts(self, given: str, right: str) -> Parts:
        return tuple(
            float(count) for label in self.labels for count in (given == right == label, given == label, right == label)
        )

    def statistic(self, sums: Floats) -> Floats:
        """Return the mean F1 over classes."""
        out_of = sums[..., 1::3] + sums[..., 2::3]
        known = out_of > 0
        scores = np.divide(2 * sums[..., 0::3], out_of, out=np.zeros_like(out_of), where=known)
        return scores.sum(axis=-1) / known.sum(axis=-1)


class YesNoMacroF1(MacroF1, OfType):
    """Mean of the F1 of yes and the F1 of no over yes/no questions.

    The official measure of BioASQ's Task B; the answer is read as in ``YesNoAccuracy``. An answer that says neither
    counts as the wrong one, against both F1s, as in BioASQ's program. A class that is never correct and never answered
    has no F1 and is left out (BioASQ's program counts 0).
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
        return self._counts(given, right)


@dataclass(frozen=True, repr=False)
class CategoryAccuracy(Exact):
    """Share of questions answered with the correct category, such as yes, no or maybe.

    As in PubMedQA (Jin et al. 2019). The correct category is the gold's ``category``, or its exact answer if that is
    yes, no or maybe; a question with another exact answer has nothing to count. The system's category is its exact
    answer or, for yes, no and maybe, the first word of its text (see ``YesNoAccuracy``); a text without one is wrong.
    Other categories are not read from a text, so a question without an exact answer is missing. With
    ``refused='wrong'``, which reproduces table 2 of Reason and Verify, a refusal (ANSWER UNAVAILABLE) is wrong. For the
    share of refusals see ``RefusedRate``.
    """

    name = "CategoryAccuracy"
    whole = True

    refused: Refused = "missing"

    def parts(self, item: Item) -> Parts | None:
        """Return 1 for the correct category, else 0."""
        right = _category(item.gold)
        if not right:
            return None if right is None else NOTHING
        given = _given_category(item, right)
        return _refusal(item, self.refused) if given is None else own_score(float(given == right))


@dataclass(frozen=True, repr=False)
class CategoryMacroF1(MacroF1):
    """Mean F1 over categories.

    PubMedQA's second measure; answers are read as in ``CategoryAccuracy``. An answer without a category counts against
    the F1 of the correct one. A category that is never correct and never answered has no F1 and is left out.

    Attributes:
        classes: The categories, separated by commas.
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
        """Return what the question adds to the counts."""
        right = _category(item.gold)
        if not right:
            return None if right is None else (0.0,) * self.width
        given = _given_category(item, right)
        return None if given is None else self._counts(given, right)


def _category(gold: Gold | None) -> str | None:
    """Return the correct category; empty for a question without categories, None if it is unknown."""
    if gold is None:
        return None
    if gold.category is not None:
        return label(gold.category)
    closed = closed_gold(gold)
    if closed is None:
        return "" if gold.exact or gold.type not in (None, "yesno") else None
    return closed


def _given_category(item: Item, right: str) -> str | None:
    """Return the system's category; its text is read only if the correct category is yes, no or maybe."""
    exact = exact_answer(item)
    return closed_answer(item) if exact is not None or right in CLOSED else None
