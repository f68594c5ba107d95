"""What a repair does to a sentence of an answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vericite.records.base import Record

RepairAction = Literal["dropped citation", "re-cited", "rewritten", "dropped"]
"""What is done with a sentence: some of its citations go; others take their place; other words do; it goes."""


class Change(Record):
    """One thing that was done to a sentence.

    ``sentence`` is the number, from 0, of the claim in the answer as it was before any repair. ``before`` and ``after``
    are the sentence with its markers; there is none ``after`` it was dropped. ``why`` is what was wrong with it,
    ``by`` whose words a rewritten one has: ``restoration`` of what its source says, ``quotation`` of a source, or the
    signature of a language model.
    """

    sentence: int = Field(ge=0)
    action: RepairAction
    before: str
    after: str | None = None
    why: str = Field(min_length=1)
    round: int = Field(ge=1)
    by: str | None = None
