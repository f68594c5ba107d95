"""Sentences of an answer changed or taken out, every offset kept right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vericite.attribute import cited, uncited
from vericite.records import Answer, Claim, Document, Span
from vericite.text.citations import parse_answer

_LEAD = re.compile(r"\s*(?:(?:[-*+•‣◦▪●·–—>]|\(?\d{1,2}[.)])\s+)?")
_GAP = re.compile(r"[^\S\n]*")


@dataclass(frozen=True)
class Edit:
    """What becomes of a sentence: its words, None where it goes, and the documents it cites."""

    text: str | None
    documents: tuple[Document, ...] = ()


def is_orderly(answer: Answer) -> bool:
    """Whether the claims follow each other in the text, so that one can be changed without another."""
    return all(one.span.end <= other.span.start for one, other in pairwise(answer.claims))


def stands_alone(text: str) -> bool:
    """Whether a reader of answers takes this for one sentence without a citation, all of it."""
    claims = parse_answer("sentence", text, ()).claims
    return len(claims) == 1 and claims[0].text == text and not claims[0].citations


def edited(answer: Answer, edits: Mapping[int, Edit]) -> Answer:
    """The answer with some of its sentences, by number, changed.

    Documents that it does not have are appended, so that its markers keep their meaning.
    """
    documents = _with(answer.documents, edits.values())
    number = {document.id: place for place, document in enumerate(documents, start=1)}
    bare = uncited(answer, edits).model_copy(update={"documents": documents})
    texts = {index: edit.text for index, edit in edits.items() if edit.text is not None}
    markers = {index: sorted({number[it.id] for it in edits[index].documents}) for index in texts}
    found = cited(_reworded(bare, texts), markers)
    for index in sorted(set(edits) - set(texts), reverse=True):
        found = _without(found, index)
    return found


def _with(documents: Sequence[Document], edits: Iterable[Edit]) -> tuple[Document, ...]:
    found = {document.id: document for document in documents}
    for edit in edits:
        for document in edit.documents:
            found.setdefault(document.id, document)
    return tuple(found.values())


def _reworded(answer: Answer, texts: Mapping[int, str]) -> Answer:
    """The answer with other words in some sentences, which have no citations."""
    pieces: list[str] = []
    claims: list[Claim] = []
    position = moved = 0
    for index, claim in enumerate(answer.claims):
        text = texts.get(index, claim.text)
        if text == claim.text:
            claims.append(_shifted(claim, moved))
            continue
        pieces += [answer.text[position : claim.span.start], text]
        start = claim.span.start + moved
        claims.append(Claim(text=text, span=Span(start=start, end=start + len(text))))
        moved += len(text) - (claim.span.end - claim.span.start)
        position = claim.span.end
    whole = "".join([*pieces, answer.text[position:]])
    return answer.model_copy(update={"text": whole, "claims": tuple(claims)})


def _without(answer: Answer, index: int) -> Answer:
    """The answer without a sentence, the space behind it or, at the end of its line, before it."""
    start, end = _region(answer.text, answer.claims[index].span)
    others = (*answer.claims[:index], *answer.claims[index + 1 :])
    claims = tuple(_shifted(claim, start - end if claim.span.start >= end else 0) for claim in others)
    return answer.model_copy(update={"text": answer.text[:start] + answer.text[end:], "claims": claims})


def _region(text: str, span: Span) -> tuple[int, int]:
    """What goes with a sentence: of a line that has nothing else, the line."""
    line = text.rfind("\n", 0, span.start) + 1
    behind = _GAP.match(text, span.end)
    end = behind.end() if behind else span.end
    last = end == len(text) or text[end] == "\n"
    if last and _LEAD.fullmatch(text, line, span.start):
        return (line, end + 1) if end < len(text) else (max(0, line - 1), end)
    if last:
        return len(text[: span.start].rstrip(" \t")), span.end
    return span.start, end


def _shifted(claim: Claim, by: int) -> Claim:
    if not by:
        return claim
    citations = tuple(citation.model_copy(update={"span": citation.span.shifted(by)}) for citation in claim.citations)
    return Claim(text=claim.text, span=claim.span.shifted(by), citations=citations)
