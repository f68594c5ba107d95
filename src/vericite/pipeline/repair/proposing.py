"""Proposals: other citations or other words for a sentence, of which the verifier takes the first that it supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vericite.pipeline.repair.condition import Condition
from vericite.records import Answer, Citation, Claim, Document, RepairAction, Span
from vericite.verify import Verifier


@dataclass(frozen=True)
class Proposal:
    """What a sentence may become.

    Attributes:
        action: What that is called.
        text: Its words.
        documents: What it would cite.
        by: Whose words they are, where they are not its own.
    """

    action: RepairAction
    text: str
    documents: tuple[Document, ...]
    by: str | None = None


@dataclass
class Wound:
    """A sentence to be mended.

    Attributes:
        answer: The answer that it is in.
        condition: What is wrong with it.
        chosen: What it becomes; None as long as nothing was found.
    """

    answer: Answer
    condition: Condition
    chosen: Proposal | None = field(default=None)

    @property
    def claim(self) -> Claim:
        """The sentence."""
        return self.condition.claim

    @property
    def usable(self) -> tuple[Document, ...]:
        """The answer's documents that may be cited: those that are not retracted."""
        return tuple(document for document in self.answer.documents if not document.retracted)

    @property
    def cited(self) -> tuple[Document, ...]:
        """Those of them that the sentence cites."""
        own = {citation.document for citation in self.claim.citations}
        return tuple(document for document in self.usable if document.id in own)


def supported(verifier: Verifier, asked: Sequence[tuple[Wound, Sequence[Proposal]]]) -> list[list[bool]]:
    """Whether the verifier supports each proposal by all that it would cite."""
    answers = [_trial(wound.answer, proposals) for wound, proposals in asked]
    held: list[list[bool]] = []
    for answer, checked in zip(answers, verifier.verify(answers), strict=True):
        good, bad = set[int](), {failure.start for failure in checked.failures}
        for verdict in checked.verdicts:
            sound = verdict.label == "supported" and not verdict.abstained
            (good if sound else bad).add(verdict.start)
        held.append([place in good - bad for place in range(len(answer.claims))])
    return held


def _trial(answer: Answer, proposals: Sequence[Proposal]) -> Answer:
    """An answer whose claims are the proposals, each at its own place, by which its verdicts are known."""
    documents = {document.id: document for proposal in proposals for document in proposal.documents}
    number = {id: place for place, id in enumerate(documents, start=1)}
    return Answer(
        id=answer.id,
        text="." * len(proposals),
        claims=tuple(_claims(proposals, number)),
        documents=tuple(documents.values()),
        question=answer.question,
    )


def _claims(proposals: Sequence[Proposal], number: dict[str, int]) -> Iterator[Claim]:
    for place, proposal in enumerate(proposals):
        span = Span(start=place, end=place + 1)
        citations = tuple(
            Citation(marker=number[document.id], span=span, document=document.id) for document in proposal.documents
        )
        yield Claim(text=proposal.text, span=span, citations=citations)
