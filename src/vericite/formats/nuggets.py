"""Nugget banks of TREC's AutoJudge: what a good answer says, as its tools keep it.

A bank has a topic and two collections: ``claim_bank``, statements by their text, and ``nugget_bank``, questions by
their text, each with its answers. Both may be lists. Followed is the public data model of the track's package
(``trec-auto-judge/auto-judge-base`` on GitHub, ``src/autojudge_base/nugget_data/nugget_data.py``, ``format_version``
v3, and ``ragtime26/ragtime26_nugget_data.py``, the form of submissions, whose topic is ``metadata.topic_id``).

Our gold has statements, so it is written as claims. A question is read as one nugget an answer, or where all answers
must be there (``aggregator_type`` is ``AND``) as one with all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from vericite.errors import InputError, RecordError
from vericite.formats.files import raw_records
from vericite.formats.form import Fields, Foreign, Name, RawRecord
from vericite.records import Gold, GoldNugget, storable

VERSION = "v3"
"""Of the form that is written."""

VITAL, OKAY = "vital", "okay"
"""How important a nugget is, as nugget tracks say it."""

_NOT_VITAL = frozenset({"okay", "ok", "nice", "nice-to-have", "nice_to_have", "low", "optional", "0", "false"})


class _Answer(Foreign):
    """An answer to a question of a bank."""

    answer: str


_Answers = tuple[_Answer | str, ...] | dict[str, _Answer] | None
"""Listed, some as bare texts, or by their texts."""


class _Question(Foreign):
    """A question that a good answer settles."""

    question: str
    question_id: Name | None = None
    answers: _Answers = None
    aggregator_type: str | None = None
    importance: str | int | None = None


class _Claim(Foreign):
    """A statement that a good answer makes."""

    claim: str
    claim_id: Name | None = None
    importance: str | int | None = None


class _Metadata(Foreign):
    """Where submissions have the topic."""

    topic_id: Name | None = None


class _Bank(Foreign):
    """The nuggets of one topic."""

    query_id: Name | None = None
    title_query: str | None = None
    full_query: Any = None
    metadata: _Metadata | None = None
    nugget_bank: tuple[_Question, ...] | dict[str, _Question] | None = None
    claim_bank: tuple[_Claim, ...] | dict[str, _Claim] | None = None


def is_bank(fields: frozenset[str] | Fields) -> bool:
    """Whether a record's fields are those of a bank."""
    return "nugget_bank" in fields or "claim_bank" in fields


def banks_in(path: Path) -> Iterator[Gold | RecordError]:
    """The gold in a file of banks, JSON or a line each; what is none costs itself."""
    for raw in raw_records(path, is_bank):
        if isinstance(raw, RecordError):
            yield raw
            continue
        try:
            yield _gold(raw)
        except RecordError as error:
            yield error


def _gold(raw: RawRecord) -> Gold:
    bank = raw.read(_Bank)
    topic = bank.query_id or (bank.metadata.topic_id if bank.metadata else None)
    if topic is None:
        raise raw.refused("query_id", "expected the topic here or in metadata.topic_id; found none")
    claims, questions = _listed(bank.claim_bank), _listed(bank.nugget_bank)
    found = [*map(_of_claim, claims), *(one for question in questions for one in _of_question(question))]
    nuggets = {nugget.id: nugget for nugget in found if nugget.text}
    if not nuggets:
        raise raw.refused("nugget_bank", "expected nuggets here or in claim_bank; found none")
    asked = bank.full_query if isinstance(bank.full_query, str) else bank.title_query
    return Gold(id=topic, question=storable(asked) if asked else None, nuggets=tuple(nuggets.values()))


_Item = TypeVar("_Item")


def _listed(items: tuple[_Item, ...] | dict[str, _Item] | None) -> list[_Item]:
    """What is listed, or kept by its text."""
    return list(items.values()) if isinstance(items, dict) else list(items or ())


def _of_claim(claim: _Claim) -> GoldNugget:
    text = storable(claim.claim).strip()
    return GoldNugget(id=claim.claim_id or _id(text), text=text, vital=_is_vital(claim.importance))


def _of_question(question: _Question) -> Iterator[GoldNugget]:
    asked, vital = storable(question.question).strip(), _is_vital(question.importance)
    given = question.answers
    listed = list(given.values()) if isinstance(given, dict) else list(given or ())
    said = (it if isinstance(it, str) else it.answer for it in listed)
    answers = [storable(answer).strip() for answer in said if answer.strip()]
    id = question.question_id or _id(asked)
    if (question.aggregator_type or "").upper() == "AND" or len(answers) < 2:
        yield GoldNugget(id=id, text=" ".join([asked, "; ".join(answers)]).strip(), vital=vital)
        return
    for number, answer in enumerate(answers, start=1):
        yield GoldNugget(id=f"{id}.{number}", text=f"{asked} {answer}", vital=vital)


def _is_vital(importance: str | int | None) -> bool:
    """A nugget whose importance is not said is taken for vital."""
    return importance is None or str(importance).strip().casefold() not in _NOT_VITAL


def _id(text: str) -> str:
    """The id that the track's tools give a nugget without one."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def to_bank(gold: Gold) -> dict[str, Any]:
    """Gold nuggets as a bank of claims.

    Raises:
        InputError: There are none, one has no text, or two have the same: a bank has one nugget a text.
    """
    nuggets = gold.nuggets or ()
    texts = [nugget.text for nugget in nuggets]
    if not nuggets or not all(text.strip() for text in texts):
        found = "one without" if nuggets else "none"
        raise InputError(f"expected nuggets with texts of question {gold.id!r}; found {found}")
    if twice := next((text for text in texts if texts.count(text) > 1), None):
        raise InputError(f"expected nuggets of different texts of question {gold.id!r}; found {twice[:80]!r} twice")
    claims = {
        nugget.text: {
            "claim": nugget.text,
            "claim_id": nugget.id,
            "query_id": gold.id,
            "importance": VITAL if nugget.vital else OKAY,
        }
        for nugget in nuggets
    }
    asked = {"title_query": gold.question, "full_query": gold.question} if gold.question else {}
    return {"query_id": gold.id, **asked, "format_version": VERSION, "claim_bank": claims}
