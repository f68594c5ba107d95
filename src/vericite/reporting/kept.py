"""Answers rebuilt from their verdicts, for reports on a file that has verdicts and no answers.

Verdicts keep each sentence with its markers, and the passages of its sources that decided. They keep neither what
stands between the sentences nor the rest of the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from vericite.evaluate.items import Item
from vericite.evaluate.systems import System
from vericite.records import (
    Answer,
    CheckedAnswer,
    Citation,
    Claim,
    Document,
    EvidenceSpan,
    Section,
    Span,
    UncitedClaim,
    UnsupportedWords,
    Verdict,
    VerificationFailure,
)
from vericite.text.strength import FROM_VERDICTS

_Judgement = Verdict | VerificationFailure | UncitedClaim
_BETWEEN = " ... "
"""What stands for the text of a source between two passages."""


def by_number(id: str) -> list[tuple[int, str, str]]:
    """Return what ids are sorted by for people: their words, and their numbers by size, so that c2 is before c10."""
    parts = re.split("([0-9]+)", id)
    sizes = [part.lstrip("0") if place % 2 else "" for place, part in enumerate(parts)]
    return [(len(size), size, part) for size, part in zip(sizes, parts, strict=True)]


def shown_items(system: System) -> list[Item]:
    """Return the items of a system in the order in which reports show them."""
    return sorted(system.items, key=lambda item: by_number(item.id))


def with_kept_answer(item: Item) -> Item:
    """Return an item with an answer rebuilt from its verdicts, if it has verdicts and no answer."""
    if item.answer is not None or item.checked is None:
        return item
    answer, checked = _rebuilt(item.checked)
    return replace(item, answer=answer, checked=checked)


def _rebuilt(checked: CheckedAnswer) -> tuple[Answer, CheckedAnswer]:
    """Return the answer, and the verdicts with their places in it and in the passages of its documents."""
    passages = _passages(checked)
    documents = tuple(kept.document for kept in passages.values())
    sentences: dict[tuple[int, int], list[_Judgement]] = {}
    for judgement in (*checked.verdicts, *checked.failures, *checked.uncited):
        sentences.setdefault((judgement.start, judgement.end), []).append(judgement)
    text, claims, end = "", list[Claim](), 0
    places: dict[tuple[int, int], Claim] = {}
    for span, judgements in sorted(sentences.items()):
        # More than a space between two sentences was most likely the end of a paragraph or an item.
        text += "" if not claims else "\n" if span[0] > end + 1 else " "
        claim, words = _sentence(judgements)
        places[span] = claim.shifted(len(text))
        text += words
        claims.append(places[span])
        end = span[1]
    answer = Answer(id=checked.id, text=text, claims=tuple(claims), documents=documents, question=checked.question)
    verdicts = tuple(
        _moved(verdict, places[verdict.start, verdict.end], text, passages) for verdict in checked.verdicts
    )

    def there(item: VerificationFailure | UncitedClaim) -> dict[str, int]:
        span = places[item.start, item.end].span
        return {"start": span.start, "end": span.end}

    failures = tuple(failure.model_copy(update=there(failure)) for failure in checked.failures)
    uncited = tuple(item.model_copy(update=there(item)) for item in checked.uncited)
    return answer, checked.model_copy(update={"verdicts": verdicts, "failures": failures, "uncited": uncited})


def _cited(judgement: _Judgement) -> Iterator[tuple[int, str | None]]:
    """Yield each marker of a judgement with its document; None if it points at no source."""
    if isinstance(judgement, UncitedClaim):
        return
    documents = judgement.by_marker or judgement.documents
    if not documents:
        yield from ((marker, None) for marker in judgement.markers)
    # Without a document each, the file is of an earlier version, and only a single document is certain.
    elif len(documents) in (1, len(judgement.markers)):
        yield from zip(judgement.markers, documents * (len(judgement.markers) // len(documents)), strict=True)


def _sentence(judgements: list[_Judgement]) -> tuple[Claim, str]:
    """Return a sentence as the claim of a text that begins with it, and its words with the markers before the stop."""
    claim = judgements[0].claim.rstrip()
    stop = claim[-1] if claim[-1:] in tuple(".!?") else ""
    text = claim.removesuffix(stop)
    cited = dict.fromkeys(pair for judgement in judgements for pair in _cited(judgement))
    text += " " if cited and text else ""
    citations: list[Citation] = []
    for marker, document in sorted(cited, key=lambda pair: pair[0]):
        start = len(text)
        text += f"[{marker}]"
        citations.append(Citation(marker=marker, span=Span(start=start, end=len(text)), document=document))
    text += stop
    return Claim(text=claim, span=Span(start=0, end=len(text)), citations=tuple(citations)), text


class _KeptPassages:
    """The passages of a document that verdicts keep, as a document of its own."""

    def __init__(self, id: str, spans: list[EvidenceSpan], is_retracted: bool) -> None:
        self._starts: dict[int, int] = {}
        text, end = "", 0
        for span in sorted(spans, key=lambda span: (span.start, -span.end)):
            kept = span.text or ""
            if text and span.start < end:
                self._starts[span.start] = len(text) - (end - span.start)
                text += kept[end - span.start :]
            else:
                text += _BETWEEN if text else ""
                self._starts[span.start] = len(text)
                text += kept
            end = max(end, span.end)
        sections = (Section(text=text),) if text else ()
        self.document = Document(id=id, sections=sections, source=FROM_VERDICTS, retracted=is_retracted)

    def moved(self, span: EvidenceSpan) -> EvidenceSpan:
        """Return a passage with its place in this document."""
        start = self._starts[span.start]
        return span.model_copy(update={"start": start, "end": start + len(span.text or "")})


def _passages(checked: CheckedAnswer) -> dict[str, _KeptPassages]:
    """Return the passages of each cited document, in the order of the markers."""
    judged = (*checked.verdicts, *checked.failures)
    numbers: dict[str, int] = {}
    for judgement in judged:
        for marker, document in _cited(judgement):
            if document is not None:
                numbers[document] = min(marker, numbers.get(document, marker))
        for document in judgement.documents:
            numbers.setdefault(document, max(judgement.markers, default=0))
    spans: dict[str, list[EvidenceSpan]] = {id: [] for id in numbers}
    for verdict in checked.verdicts:
        for span in _usable((*verdict.evidence, *([verdict.nearest] if verdict.nearest else []))):
            spans.setdefault(span.document, []).append(span)
    retracted = {id for verdict in checked.verdicts for id in verdict.retracted}
    order = sorted(spans, key=lambda id: numbers.get(id, len(spans)))
    return {id: _KeptPassages(id, spans[id], id in retracted) for id in order}


def _usable(spans: Iterable[EvidenceSpan]) -> Iterator[EvidenceSpan]:
    """Yield the passages whose words the file keeps; files written before 2026-12 may lack them."""
    return (span for span in spans if span.text and len(span.text) == span.end - span.start)


def _moved(verdict: Verdict, claim: Claim, text: str, passages: dict[str, _KeptPassages]) -> Verdict:
    by = claim.span.start - verdict.start
    evidence = tuple(passages[span.document].moved(span) for span in _usable(verdict.evidence))
    nearest = next(_usable([verdict.nearest]), None) if verdict.nearest else None
    nearest = nearest and passages[nearest.document].moved(nearest)
    words = tuple(found for word in verdict.words if (found := _found(word, by, claim, text)))
    place = {"start": claim.span.start, "end": claim.span.end}
    return verdict.model_copy(update={**place, "evidence": evidence, "nearest": nearest, "words": words})


def _found(word: UnsupportedWords, by: int, claim: Claim, text: str) -> UnsupportedWords | None:
    """Return the words with their place in the sentence: that nearest to where they were, as markers may have moved."""
    start, end = claim.span.start, claim.span.end
    there = [at for at in range(start, end) if text.startswith(word.text, at, end)]
    if not there:
        return None
    at = min(there, key=lambda at: abs(at - word.start - by))
    return word.model_copy(update={"start": at, "end": at + len(word.text)})
