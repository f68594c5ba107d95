"""Rationales: the reasoning behind an answer, a statement at a time, with the passages each rests on."""

from __future__ import annotations

from pydantic import Field

from vericite.records.base import Record
from vericite.records.verdict import EvidenceSpan


class RationaleStep(Record):
    """A sub-claim that the question was taken apart into, and what the evidence says of it.

    ``statement`` is in the words of whoever reasoned; ``documents`` are the sources it names, ``passages`` the words it
    quotes of them where they were found there, and ``unfound`` the quotations that stand in none of its sources.
    """

    statement: str = Field(min_length=1)
    question: str | None = None
    documents: tuple[str, ...] = ()
    passages: tuple[EvidenceSpan, ...] = ()
    unfound: tuple[str, ...] = ()


class Rationale(Record):
    """The steps from the evidence to an answer, and the answer they come to before it was checked.

    ``raw`` is what a language model wrote, kept where it is more than the steps.
    """

    steps: tuple[RationaleStep, ...] = ()
    provisional: str | None = None
    raw: str | None = None
