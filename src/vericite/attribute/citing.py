"""Citations taken out of an answer and put into it, every offset kept right.

Both work on the claims that an answer has, so that one whose citations are no markers in its text is treated alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from vericite.errors import InputError
from vericite.records import Answer, Citation, Claim, Span
from vericite.text.citations import render_markers

_STOP = re.compile(r"[.!?…:;]+[\"'”’)\]]*\Z")
MOST_DOCUMENTS = 999
"""Markers have three digits at most."""


def uncited(answer: Answer, only: Collection[int] | None = None) -> Answer:
    """The answer without its citations: a sentence that has some is left with its words alone.

    Bold signs in such a sentence go with its markers; a heading, a list's bullets and a reference list stay.

    Args:
        answer: The answer.
        only: The claims to take citations from, by number; None for all.
    """
    loose = range(len(answer.claims)) if only is None else only
    pieces = [
        _bare(answer.text[claim.span.slice], claim) if index in loose and claim.citations else None
        for index, claim in enumerate(answer.claims)
    ]
    return _rewritten(answer, pieces, {index: () for index, piece in enumerate(pieces) if piece is not None})


def cited(answer: Answer, markers: Mapping[int, Sequence[int]]) -> Answer:
    """The answer with markers before the full stop of its sentences.

    Args:
        answer: The answer; the claims that get markers have none.
        markers: The numbers of the documents that each claim, by number, shall cite.

    Raises:
        InputError: The answer has more documents than markers can count.
    """
    if len(answer.documents) > MOST_DOCUMENTS:
        raise InputError(
            f"expected at most {MOST_DOCUMENTS} documents, as many as markers can count; "
            f"found {len(answer.documents)}. Give the likeliest ones alone."
        )
    pieces = [
        _marked(answer.text[claim.span.slice], markers.get(index, ())) if markers.get(index) else None
        for index, claim in enumerate(answer.claims)
    ]
    return _rewritten(answer, pieces, {index: numbers for index, numbers in markers.items() if numbers})


def _bare(piece: str, claim: Claim) -> tuple[str, int, int]:
    """A sentence without its citations, after the line end where its marker stood on a line before."""
    first = claim.text.split()[0] if claim.text.split() else ""
    lead = piece[: max(piece.find(first), 0)]
    kept = lead[lead.rfind("\n") :] if "\n" in lead else ""
    return kept + claim.text, len(kept), 0


def _marked(piece: str, numbers: Sequence[int]) -> tuple[str, int, int]:
    """A sentence with its markers, and where these begin."""
    stop = _STOP.search(piece)
    body, end = (piece[: stop.start()], stop[0]) if stop else (piece, "")
    body = body.rstrip()
    return f"{body} {render_markers(numbers)}{end}", 0, len(body) + 1


def _rewritten(
    answer: Answer, pieces: Sequence[tuple[str, int, int] | None], markers: Mapping[int, Sequence[int]]
) -> Answer:
    """The answer with some claims' stretches of text replaced; the others move along."""
    texts: list[str] = []
    claims: list[Claim] = []
    position = moved = 0
    for index, (claim, piece) in enumerate(zip(answer.claims, pieces, strict=True)):
        if piece is None:
            claims.append(_shifted(claim, moved))
            continue
        text, lead, mark = piece
        texts += [answer.text[position : claim.span.start], text]
        start = claim.span.start + moved
        span = Span(start=start + lead, end=start + len(text))
        position = claim.span.end
        moved += len(text) - (claim.span.end - claim.span.start)
        claims.append(_citing(claim, span, answer, markers[index], start + mark))
    whole = "".join([*texts, answer.text[position:]])
    return answer.model_copy(update={"text": whole, "claims": tuple(claims)})


def _citing(claim: Claim, span: Span, answer: Answer, numbers: Sequence[int], start: int) -> Claim:
    """The claim in its new place, citing these documents one marker after the other."""
    citations: list[Citation] = []
    for number in numbers:
        end = start + len(render_markers([number]))
        document = answer.documents[number - 1].id
        citations.append(Citation(marker=number, span=Span(start=start, end=end), document=document))
        start = end
    return Claim(text=claim.text, span=span, citations=tuple(citations))


def _shifted(claim: Claim, by: int) -> Claim:
    if not by:
        return claim
    citations = tuple(citation.model_copy(update={"span": citation.span.shifted(by)}) for citation in claim.citations)
    return Claim(text=claim.text, span=claim.span.shifted(by), citations=citations)
