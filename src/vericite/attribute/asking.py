"""A verifier asked about any text and any sources, not only about what an answer cites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vericite.records import Answer, Citation, Claim, Span, Verdict, VerificationFailure
from vericite.verify import Verifier


class Asked(NamedTuple):
    """A statement, and the documents that are to support it together, by their place in the answer."""

    text: str
    sources: tuple[int, ...]


class Said(NamedTuple):
    """What a verifier says: whether it is supported, how likely, and why it is not told where it is not."""

    supported: bool
    probability: float | None
    reason: str | None = None
    failed: bool = False


def ask_verifier(
    verifier: Verifier, answers: Sequence[Answer], asked: Sequence[Sequence[Asked]]
) -> list[dict[Asked, Said]]:
    """What the verifier says of all that is asked about each answer's documents."""
    distinct = [list(dict.fromkeys(items)) for items in asked]
    checked = verifier.verify(_cited(answer, items) for answer, items in zip(answers, distinct, strict=True))
    told: list[dict[Asked, Said]] = []
    for items, result in zip(distinct, checked, strict=True):
        by_place = {verdict.start: verdict for verdict in (*result.verdicts, *result.failures)}
        told.append({item: _said(by_place[place]) for place, item in enumerate(items)})
    return told


def _cited(answer: Answer, asked: Sequence[Asked]) -> Answer:
    """An answer whose claims are what is asked; each stands at its own place, by which its verdict is known."""
    claims = tuple(_claim(place, item, answer) for place, item in enumerate(asked))
    return Answer(
        id=answer.id, text="." * len(asked), claims=claims, documents=answer.documents, question=answer.question
    )


def _claim(place: int, asked: Asked, answer: Answer) -> Claim:
    span = Span(start=place, end=place + 1)
    citations = tuple(
        Citation(marker=source + 1, span=span, document=answer.documents[source].id) for source in asked.sources
    )
    return Claim(text=asked.text, span=span, citations=citations)


def _said(result: Verdict | VerificationFailure) -> Said:
    if isinstance(result, VerificationFailure):
        return Said(False, None, result.reason, failed=True)
    if result.abstained:
        return Said(False, None, result.reasons[0] if result.reasons else "abstained")
    return Said(result.label == "supported", result.probabilities.get("supported"))
