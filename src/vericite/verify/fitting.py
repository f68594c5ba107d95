"""Premises cut to what a judge can read.

A judge that silently drops the end of a premise would cite sources it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from vericite.records import EvidenceSpan
from vericite.verify.judging import Judge, Limited
from vericite.verify.premises import Part, Premise


def fitted(premises: Iterable[Premise], statements: Sequence[str], judge: Judge) -> tuple[Premise, ...]:
    """The premises, those too long for the judge cut between sentences into pieces that fit.

    A single sentence that is too long stays whole; the judge cuts it and says so.
    """
    if not isinstance(judge, Limited) or not statements:
        return tuple(premises)
    # A token has at least one character, so characters tell cheaply that a premise fits.
    longest = max(statements, key=len)
    pieces: list[Premise] = []
    for premise in premises:
        if len(premise.parts) < 2 or len(premise.text) + len(longest) <= judge.capacity:
            pieces.append(premise)
        else:
            pieces += _pieces(premise, judge.capacity - max(map(judge.length, statements)), judge)
    return tuple(pieces)


def room_for(statements: Sequence[str], judge: Judge) -> Callable[[str], bool]:
    """Whether the judge can read a premise whole beside any of the statements."""
    if not isinstance(judge, Limited):
        return lambda _: True
    limited = judge
    room = limited.capacity - max(map(limited.length, statements))
    return lambda text: limited.length(text) <= room


def _pieces(premise: Premise, room: int, judge: Limited) -> list[Premise]:
    if judge.length(premise.text) <= room:
        return [premise]
    groups: list[list[Part]] = [[]]
    used = 0
    for part in premise.parts:
        size = judge.length(part.text)
        if groups[-1] and used + size > room:
            groups.append([])
            used = 0
        groups[-1].append(part)
        used += size
    return [Premise("\n".join(part.text for part in group), _passages(group), role=premise.role) for group in groups]


def _passages(parts: Sequence[Part]) -> tuple[EvidenceSpan, ...]:
    """What the parts cover of each document; where a sentence between them is no evidence, in several spans."""
    found: list[EvidenceSpan] = []
    last: EvidenceSpan | None = None
    for _, span in parts:
        if span is None:
            continue
        if last is not None and _follows(span, last):
            found[-1] = found[-1].model_copy(update={"end": span.end})
        else:
            found.append(span)
        last = span
    return tuple(found)


def _follows(span: EvidenceSpan, last: EvidenceSpan) -> bool:
    known = span.sentence is not None and last.sentence is not None
    return span.document == last.document and (not known or span.sentence == (last.sentence or 0) + 1)
