"""What is wrong with each sentence of an answer, as its verdicts say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vericite.errors import InputError
from vericite.records import Answer, CheckedAnswer, Claim, Verdict, VerificationFailure

State = Literal["sound", "loose", "broken", "uncited", "left"]
"""Nothing is wrong; some citations are, and others are not; all are; there is none; it could not be judged."""

LOWERED = "lowered by a check"
"""What a verdict calls itself where the judge agreed with a claim and a check beside it did not."""

_Place = tuple[int, int]


@dataclass(frozen=True)
class Condition:
    """A sentence and what was found of it.

    Attributes:
        number: Of the claim in its answer.
        claim: The claim.
        state: Whether it needs repair.
        kept: Of a loose one, the documents that it goes on citing.
        why: What is wrong, or why it was not judged.
        against: Whether a document that it cites says otherwise.
    """

    number: int
    claim: Claim
    state: State
    kept: tuple[str, ...] = ()
    why: str = ""
    against: bool = False


def conditions(answer: Answer, checked: CheckedAnswer) -> list[Condition]:
    """The condition of each claim.

    Raises:
        InputError: These are not the verdicts on this answer.
    """
    verdicts: dict[_Place, list[Verdict]] = {_place(claim): [] for claim in answer.claims}
    failures: dict[_Place, list[VerificationFailure]] = {place: [] for place in verdicts}
    for item in (*checked.verdicts, *checked.failures):
        place = item.start, item.end
        if checked.id != answer.id or place not in verdicts:
            raise InputError(
                f"expected the verdicts on the answer {answer.id!r}; found some of another text. Check it again."
            )
        if isinstance(item, Verdict):
            verdicts[place].append(item)
        else:
            failures[place].append(item)
    return [
        _condition(number, claim, verdicts[_place(claim)], failures[_place(claim)])
        for number, claim in enumerate(answer.claims)
    ]


def _place(claim: Claim) -> _Place:
    return claim.span.start, claim.span.end


def _condition(
    number: int, claim: Claim, verdicts: Sequence[Verdict], failures: Sequence[VerificationFailure]
) -> Condition:
    if not claim.citations:
        return Condition(number, claim, "uncited", why="it cites nothing")
    abstained = [verdict for verdict in verdicts if verdict.abstained]
    rejected = [verdict for verdict in verdicts if not verdict.abstained and verdict.label != "supported"]
    supported = [verdict for verdict in verdicts if not verdict.abstained and verdict.label == "supported"]
    open_ = [*abstained, *failures]
    if not claim.text or (open_ and not rejected):
        return Condition(number, claim, "left", why="; ".join(_unjudged(abstained, failures)) or "it has no text")
    if not rejected:
        return Condition(number, claim, "sound" if supported else "left", why="" if supported else "it was not judged")
    against = any(verdict.label == "contradicted" or verdict.native == LOWERED for verdict in rejected)
    why = "; ".join(map(_why, rejected))
    kept = tuple(dict.fromkeys(id for item in (*supported, *open_) for id in item.documents))
    return Condition(number, claim, "loose" if kept else "broken", kept, why, against)


def _unjudged(abstained: Sequence[Verdict], failures: Sequence[VerificationFailure]) -> Iterator[str]:
    for verdict in abstained:
        yield f"abstained: {verdict.reasons[0]}" if verdict.reasons else "abstained"
    for failure in failures:
        yield f"failed: {failure.reason}"


def _why(verdict: Verdict) -> str:
    marks = "".join(f"[{marker}]" for marker in verdict.markers)
    if verdict.label == "dangling":
        return f"{marks} points at no source"
    many = len(verdict.documents) > 1
    said = "contradict" if verdict.label == "contradicted" else "do not support"
    if not many:
        said = "contradicts" if verdict.label == "contradicted" else "does not support"
    told = f" ({verdict.reasons[0]})" if verdict.native == LOWERED and verdict.reasons else ""
    return f"{marks} {said} it{told}"
