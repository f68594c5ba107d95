"""Verdicts: what a protocol says of a claim and the sources it cites."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from vericite.records.base import Floats, FrozenDict, Names, Record

Label = Literal["supported", "contradicted", "irrelevant", "dangling"]
"""What every protocol's own label is mapped to. ``dangling``: the source cited does not exist."""


class EvidenceSpan(Record):
    """A passage that carries a verdict: characters ``start`` to ``end`` of a document's text.

    ``sentence`` is the number, from 0, of the (first) sentence; None where the passage is the whole text.
    """

    document: str
    sentence: int | None = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.start > self.end:
            raise ValueError(f"expected start <= end; found start {self.start}, end {self.end}")
        return self


class StatementVerdict(Record):
    """The judgement on one of the statements that a claim was split into.

    ``label`` is None where it could not be judged. ``holds`` says whether the protocol counts the statement
    in the answer's favour; Reason and Verify counts labels that are not support from the source.
    """

    text: str
    label: Label | None
    native: str
    holds: bool
    probabilities: Floats = FrozenDict()


class Verdict(Record):
    """The judgement on one claim against the sources judged together for it.

    ``label`` is the common label, ``native`` what the protocol or its judge calls it (the papers have two
    to eight labels). ``probabilities`` are those of the passage that decided, empty where no model was asked
    or where it has none.
    ``evidence`` lists the passages that carry the verdict, the strongest first. ``statements`` are there
    where the claim was judged in several, or was ``taken_apart`` because it failed whole. ``unneeded`` are the
    documents without which the others support the claim as well, and which alone do not (ALCE's irrelevant
    citations); None where the protocol does not ask. ``apart`` has, of several documents judged together, the label of
    each by its own sentences alone, where the protocol tells: one that is irrelevant may be cited in vain.
    An ``abstained`` verdict is not counted: ``reasons`` says why. ``retracted`` are the documents known as retracted.
    """

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    markers: tuple[int, ...]
    documents: tuple[str, ...]
    label: Label
    native: str
    probabilities: Floats = FrozenDict()
    evidence: tuple[EvidenceSpan, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()
    taken_apart: bool = False
    unneeded: tuple[str, ...] | None = None
    apart: Names = FrozenDict()
    abstained: bool = False
    retracted: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    protocol: str


class VerificationFailure(Record):
    """A judgement that could not be made. It is counted as a failure, never as a label.

    ``raw`` holds what the judge said instead, where it said something that could not be read. ``statements`` are
    those of the claim, where it was judged in several and some were.
    """

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    markers: tuple[int, ...]
    documents: tuple[str, ...]
    reason: str
    raw: tuple[str, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()
    protocol: str
