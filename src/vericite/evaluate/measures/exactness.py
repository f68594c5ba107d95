"""What a system's exact answer is, which questions have one of which kind, and when two of them are the same."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

from vericite.evaluate.gold import Gold
from vericite.evaluate.items import Item
from vericite.records import QuestionType

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
    """The system's exact answer; empty where it said that it has none, None where it stated none or refused."""
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

    One whose type is not told is a yes/no question where its exact answer is yes, no or maybe. Where that is another,
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
