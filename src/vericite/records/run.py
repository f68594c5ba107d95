"""Checked answers, and whole runs from question to verdicts."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from vericite.records.answer import Answer
from vericite.records.base import SCHEMA_VERSION, Floats, FrozenDict, Names, Record
from vericite.records.change import Change
from vericite.records.question import Evidence, Question, Rewriting
from vericite.records.verdict import Verdict, VerificationFailure


class Provenance(Record):
    """What made a result, precisely enough to make it again.

    ``parts`` maps a stage (``judge``, ``splitter``, ``retriever`` ...) to the signature of what filled it.
    """

    version: str
    protocol: str | None = None
    parts: Names = FrozenDict()
    seed: int | None = None
    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=SCHEMA_VERSION)


class UncitedClaim(Record):
    """A claim that cites nothing."""

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Summary(Record):
    """Counts over one answer or many; every share is kept as its numerator and denominator.

    ``citations`` are counted as the answer makes them: pairs of a claim and a document, and dangling markers.
    A *case* is what a protocol decides at once, under most protocols such a pair, under ``joint`` all that a
    claim cites. ``judged`` are the cases with a label that counts.

    ``statements`` were judged one by one, and ``holding`` of them hold. ``tested`` citations were left out one
    at a time, and ``needed`` of them are: their claim is supported, and not as well without them. ``retracted`` are
    citations, as they are counted, of documents known as retracted.
    """

    claims: int = 0
    uncited: int = 0
    citations: int = 0
    supported: int = 0
    contradicted: int = 0
    irrelevant: int = 0
    dangling: int = 0
    abstained: int = 0
    failed: int = 0
    statements: int = 0
    holding: int = 0
    tested: int = 0
    needed: int = 0
    retracted: int = 0

    @property
    def judged(self) -> int:
        """Cases that are supported, contradicted or irrelevant."""
        return self.supported + self.contradicted + self.irrelevant

    @property
    def cases(self) -> int:
        """All that were put to the protocol."""
        return self.judged + self.abstained + self.failed

    def __add__(self, other: Summary) -> Summary:
        """The counts of both."""
        mine, theirs = self.model_dump(), other.model_dump()
        return Summary(**{name: mine[name] + theirs[name] for name in mine})

    @classmethod
    def of(cls, answer: Answer, verdicts: tuple[Verdict, ...], failures: tuple[VerificationFailure, ...]) -> Self:
        """Count an answer's citations and the verdicts on them."""
        counts = {"supported": 0, "contradicted": 0, "irrelevant": 0, "dangling": 0, "abstained": 0}
        for verdict in verdicts:
            counts["abstained" if verdict.abstained else verdict.label] += 1
        pairs = [{citation.document or citation.marker for citation in claim.citations} for claim in answer.claims]
        retracted = {document.id for document in answer.documents if document.retracted}
        return cls(
            claims=len(answer.claims),
            uncited=len(answer.uncited),
            citations=sum(map(len, pairs)),
            failed=len(failures),
            retracted=sum(len(pair & retracted) for pair in pairs),
            **counts,
            **_closer(verdicts, failures),
        )


def _closer(verdicts: tuple[Verdict, ...], failures: tuple[VerificationFailure, ...]) -> dict[str, int]:
    """What protocols that look closer than at a case count. What was abstained from counts nowhere else."""
    decided = [verdict for verdict in verdicts if not verdict.abstained]
    # A claim that failed as a whole may have statements that did not.
    # Those of claims that were taken apart because they failed would say nothing of all statements.
    apart = [found for found in decided if not found.taken_apart]
    statements = [item for found in (*apart, *failures) for item in found.statements if item.label is not None]
    tested = [verdict for verdict in decided if verdict.unneeded is not None]
    return {
        "statements": len(statements),
        "holding": sum(item.holds for item in statements),
        "tested": sum(len(verdict.documents) for verdict in tested),
        "needed": sum(
            len(verdict.documents) - len(verdict.unneeded or ()) for verdict in tested if verdict.label == "supported"
        ),
    }


class CheckedAnswer(Record):
    """What ``check`` says of one answer; one line of its output."""

    id: str
    verdicts: tuple[Verdict, ...]
    failures: tuple[VerificationFailure, ...] = ()
    uncited: tuple[UncitedClaim, ...] = ()
    summary: Summary
    provenance: Provenance


class CheckedRationale(Record):
    """What verification says of a rationale: Algorithm 1 of Reason and Verify.

    ``checked`` has a verdict a statement, whose ``native`` label is its category. ``verdict`` is that of the rationale
    as a whole, ``quality`` the response's from 1 to 5; None where nobody was asked who can tell. ``context`` is the
    number of documents that statements were judged against. ``undecided`` are categories that this judge cannot tell.
    """

    checked: CheckedAnswer
    verdict: Literal["CORRECT", "INCORRECT"] | None = None
    quality: int | None = Field(default=None, ge=1, le=5)
    context: int = Field(ge=1)
    undecided: tuple[str, ...] = ()

    @property
    def faith(self) -> tuple[int, int]:
        """Faith(R): statements that are faithful, and statements judged."""
        return self.checked.summary.holding, self.checked.summary.statements


class Run(Record):
    """A question's way through the pipeline: what was found, answered and judged.

    ``changes`` are what repair did to the answer; ``seconds`` has the time of each stage by its name.
    """

    question: Question
    evidence: tuple[Evidence, ...]
    answer: Answer
    checked: CheckedAnswer
    provenance: Provenance
    rewriting: Rewriting | None = None
    rationale: CheckedRationale | None = None
    changes: tuple[Change, ...] = ()
    seconds: Floats = FrozenDict()
