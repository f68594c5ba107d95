"""Attributors: they find the sources that support the sentences of an answer without citations."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field, model_validator

from vericite.errors import InputError
from vericite.records import Answer, Citation, Claim, Document, Record, Span
from vericite.text.citations import parse_answer
from vericite.text.emphasis import replacement
from vericite.text.references import render_markers

_STOP = re.compile(r"(?<![.!?…:;])[.!?…:;]++[\"'”’)\]]*+\Z")
MOST_DOCUMENTS = 999
"""The highest marker number; markers have at most three digits."""


def uncited(answer: Answer, only: Collection[int] | None = None) -> Answer:
    """Return the answer without its citations.

    Headings, list bullets, reference lists and emphasis stay. Of a link that cites a document, its words stay; a link
    that points at none stays whole.

    Args:
        answer: The answer.
        only: Numbers of the claims to change. None: all.
    """
    loose = range(len(answer.claims)) if only is None else only
    pieces = [
        _bare(answer.text[claim.span.slice], claim) if index in loose and claim.citations else None
        for index, claim in enumerate(answer.claims)
    ]
    return _rewritten(answer, pieces, {index: () for index, piece in enumerate(pieces) if piece is not None})


def cited(answer: Answer, markers: Mapping[int, Sequence[int]], named: Mapping[int, str] | None = None) -> Answer:
    """Return the answer with markers before the full stops of its sentences.

    Args:
        answer: The answer; the claims that get markers must have none.
        markers: Document numbers to cite, by claim number.
        named: PubMed ids by document number, for answers that cite PubMed ids.

    Raises:
        InputError: The answer has more documents than markers can number.
    """
    if len(answer.documents) > MOST_DOCUMENTS:
        raise InputError(
            f"expected at most {MOST_DOCUMENTS} documents, the highest marker number; "
            f"found {len(answer.documents)}. Pass only the likeliest ones."
        )
    pieces = [
        _marked(answer.text[claim.span.slice], markers.get(index, ()), named or {}) if markers.get(index) else None
        for index, claim in enumerate(answer.claims)
    ]
    return _rewritten(answer, pieces, {index: numbers for index, numbers in markers.items() if numbers}, named or {})


_MARKUP = re.compile(r"\*\*|__|\|")


def _bare(piece: str, claim: Claim) -> tuple[str, int, int]:
    """Return a sentence without its citations. If a marker stood on the line before, only the line break is kept."""
    if (marked := _without_citations(piece, claim)) is not None:
        return marked, 0, 0
    first = claim.text.split()[0] if claim.text.split() else ""
    lead = piece[: max(piece.find(first), 0)]
    kept = lead[lead.rfind("\n") :] if "\n" in lead else ""
    return kept + claim.text, len(kept), 0


def _without_citations(piece: str, claim: Claim) -> str | None:
    """Cut the citations out of a sentence; None unless its own words, marks of emphasis and pipes of a row are left.

    Links to pages that are no document of the answer stay.
    """
    bare = piece
    for citation in sorted(claim.citations, key=lambda citation: -citation.span.start):
        start, end = (at - claim.span.start for at in (citation.span.start, citation.span.end))
        is_link = piece.startswith("](", start)
        bare = _cut(bare, start, end, is_link)
        if citation.document is not None or not is_link:
            piece = _cut(piece, start, end, is_link)
    return piece if " ".join(_MARKUP.sub("", bare).split()) == " ".join(claim.text.split()) else None


def _cut(text: str, start: int, end: int, is_link: bool) -> str:
    """Return a text without a marker; of a link, without its signs and its address."""
    before = text[:start]
    if is_link:
        label, bracket, words = before.rpartition("[")
        return (label + words if bracket else before) + text[end:]
    return before.rstrip() + text[end:]


def _shown(number: int, named: Mapping[int, str]) -> str:
    return f"(PMID: {named[number]})" if number in named else render_markers([number])


def _marked(piece: str, numbers: Sequence[int], named: Mapping[int, str]) -> tuple[str, int, int]:
    """Return a sentence with its markers, and where they begin."""
    stop = _STOP.search(piece)
    body, end = (piece[: stop.start()], stop[0]) if stop else (piece, "")
    body = body.rstrip()
    return f"{body} {''.join(_shown(number, named) for number in numbers)}{end}", 0, len(body) + 1


def _rewritten(
    answer: Answer,
    pieces: Sequence[tuple[str, int, int] | None],
    markers: Mapping[int, Sequence[int]],
    named: Mapping[int, str] = MappingProxyType({}),
) -> Answer:
    """Replace the text of some claims and shift the others."""
    changed = {index: piece for index, piece in enumerate(pieces) if piece is not None}
    whole, spans = replaced(answer, {index: piece[0] for index, piece in changed.items()})
    claims: list[Claim] = []
    for index, (claim, span) in enumerate(zip(answer.claims, spans, strict=True)):
        if index in changed:
            _, lead, mark = changed[index]
            own = Span(start=span.start + lead, end=span.end)
            claims.append(_citing(claim, own, answer, markers[index], span.start + mark, named))
        else:
            claims.append(claim.shifted(span.start - claim.span.start))
    return answer.model_copy(update={"text": whole, "claims": tuple(claims)})


def replaced(answer: Answer, texts: Mapping[int, str]) -> tuple[str, list[Span]]:
    """Return the text with some claims replaced, and the new span of each claim.

    Markdown marks that a replaced claim opened or closed for another sentence stay, so that none is left open.
    """
    whole = answer.text
    spans = [claim.span for claim in answer.claims]
    moves = [0] * len(spans)
    # From last to first, so that the claims still to be replaced do not move.
    for index in sorted(texts, reverse=True):
        found = replacement(whole, spans[index].start, spans[index].end, texts[index])
        whole, spans[index], moves[index] = found.applied(whole), found.span, found.moved
    return whole, [span.shifted(by) for span, by in zip(spans, accumulate(moves, initial=0), strict=False)]


def _citing(
    claim: Claim, span: Span, answer: Answer, numbers: Sequence[int], start: int, named: Mapping[int, str]
) -> Claim:
    """Return the claim at its new position, citing these documents with consecutive markers."""
    citations: list[Citation] = []
    for number in numbers:
        end = start + len(_shown(number, named))
        document = answer.documents[number - 1].id
        marker = int(named[number]) if number in named else number
        citations.append(Citation(marker=marker, span=Span(start=start, end=end), document=document))
        start = end
    return Claim(text=claim.text, span=span, citations=tuple(citations))


How = Literal["alone", "likeliest", "kept", "none", "failed"]
"""alone: each source supports the sentence by itself (a head or a decoder: by itself or with the others). likeliest:
some sources only stand out. kept: the citations were there before. none: nothing supports it. failed: not judged."""


class SentenceSources(Record):
    """A sentence and its sources.

    ``scores`` has a number for each document of the answer: a probability of support, or a random number
    (``random``). It is None if the source was not judged, its judgement failed, it contains the sentence word
    for word, or the judge gives no scores. ``cited`` has the markers of the sources that support it or stand out.
    ``reasons`` explain failures, abstentions and omissions.
    """

    text: str
    scores: tuple[float | None, ...]
    cited: tuple[int, ...] = ()
    how: How = "none"
    reasons: tuple[str, ...] = ()


class Attribution(Record):
    """An answer whose citations were added after it was written.

    ``sentences`` correspond to ``answer.claims``; ``by`` names the method that found the sources.
    """

    answer: Answer
    sentences: tuple[SentenceSources, ...]
    by: str = Field(min_length=1)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if len(self.sentences) != len(self.answer.claims):
            raise ValueError(
                f"expected a sentence for each of the answer's {len(self.answer.claims)} claims; "
                f"found {len(self.sentences)}"
            )
        return self

    @property
    def uncited(self) -> tuple[SentenceSources, ...]:
        """The sentences that no source supports."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "none")

    @property
    def likeliest(self) -> tuple[SentenceSources, ...]:
        """The sentences with sources that stand out but were not found to support them."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "likeliest")

    @property
    def failed(self) -> tuple[SentenceSources, ...]:
        """The sentences that could not be judged."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "failed")

    def above(self, threshold: float) -> Attribution:
        """Apply another threshold to the same scores: a source is cited if its score reaches ``threshold``.

        Sources without a score and citations that were there before stay as they are. Sources that only stand out are
        kept if no source reaches the threshold. Retracted sources are never cited.
        """
        sentences = tuple(self._above(sentence, threshold) for sentence in self.sentences)
        return Attribution(answer=recited(self.answer, sentences), sentences=sentences, by=self.by)

    def _above(self, sentence: SentenceSources, threshold: float) -> SentenceSources:
        if sentence.how in ("kept", "failed"):
            return sentence
        pairs = enumerate(zip(sentence.scores, self.answer.documents, strict=True), start=1)
        reached = {
            number for number, (score, document) in pairs if _reaches(score, threshold) and not document.retracted
        }
        unscored = {number for number in sentence.cited if sentence.scores[number - 1] is None}
        chosen = reached | unscored
        if not chosen and sentence.how == "likeliest":
            return sentence
        changes = {"cited": tuple(sorted(chosen)), "how": "alone" if chosen else "none"}
        return sentence.model_copy(update=changes)


def _reaches(score: float | None, threshold: float) -> bool:
    return score is not None and score >= threshold


def recited(answer: Answer, sentences: tuple[SentenceSources, ...]) -> Answer:
    """Replace the answer's citations with those of these sentences, except kept ones."""
    loose = {index for index, sentence in enumerate(sentences) if sentence.how != "kept"}
    bare = uncited(answer, loose)
    return cited(bare, {index: sentences[index].cited for index in loose})


ANSWERS_AT_ONCE = 64
"""Answers judged together: enough to fill batches and to share pairs, few enough to show progress."""


@dataclass(frozen=True)
class SourcesFound:
    """The sources found for one sentence.

    Attributes:
        scores: A number for each document asked about, or None.
        chosen: Positions of the supporting documents.
        reasons: Notes for the reader, such as failures and abstentions.
        failed: Whether the sentence could not be judged.
        likeliest: Whether some of the chosen documents only stand out.
    """

    scores: tuple[float | None, ...]
    chosen: tuple[int, ...] = ()
    reasons: tuple[str, ...] = field(default=())
    failed: bool = False
    likeliest: bool = False


class Attributor(ABC):
    """Finds the sources of sentences. Retracted sources are never judged or cited."""

    answers_at_once: int = ANSWERS_AT_ONCE

    @property
    @abstractmethod
    def signature(self) -> str:
        """The attributor and its settings, for provenance."""

    @abstractmethod
    def find(self, answers: Sequence[Answer]) -> Iterable[Sequence[SourcesFound]]:
        """Yield the sources of each sentence of each answer, in order. The answers come without citations."""

    def attribute(self, answer: Answer | str, documents: Sequence[Document] = (), *, keep: bool = False) -> Answer:
        """Return the answer with citations before the full stop of each sentence; see ``attributions``.

        Raises:
            InputError: Documents are given with an answer that has its own.
        """
        return self.attribution(answer, documents, keep=keep).answer

    def attribution(
        self, answer: Answer | str, documents: Sequence[Document] = (), *, keep: bool = False
    ) -> Attribution:
        """Return the answer with its citations and the scores of each source for each sentence.

        Raises:
            InputError: Documents are given with an answer that has its own.
        """
        if isinstance(answer, str):
            answer = parse_answer("answer", answer, documents)
        elif documents:
            raise InputError("expected no documents with a parsed answer, which already has its documents; found some")
        return next(self.attributions([answer], keep=keep))

    def attributions(self, answers: Iterable[Answer], *, keep: bool = False) -> Iterator[Attribution]:
        """Cite a stream of answers, in order.

        Args:
            answers: The answers with their documents.
            keep: Leave sentences that already cite something as they are. Otherwise all citations are removed first.
        """
        source = iter(answers)
        while batch := list(islice(source, self.answers_at_once)):
            bare = [answer if keep else uncited(answer) for answer in batch]
            asked = [_without_cited(answer) for answer in bare]
            for answer, found in zip(bare, self.find(asked), strict=True):
                yield _attribution(answer, found, self.signature)


def _without_cited(answer: Answer) -> Answer:
    """Return what an attributor sees: the sentences without citations, and the sources that may be cited."""
    sound = tuple(document for document in answer.documents if not document.retracted)
    return answer.model_copy(update={"claims": _open(answer), "documents": sound})


def _open(answer: Answer) -> tuple[Claim, ...]:
    return tuple(claim for claim in answer.claims if not claim.citations)


def _attribution(answer: Answer, found: Sequence[SourcesFound], by: str) -> Attribution:
    given = iter(found)
    markers = [number for number, document in enumerate(answer.documents, start=1) if not document.retracted]
    sentences = tuple(
        _kept(claim, len(answer.documents)) if claim.citations else _sources_of(claim, next(given), markers, answer)
        for claim in answer.claims
    )
    return Attribution(answer=recited(answer, sentences), sentences=sentences, by=by)


def _kept(claim: Claim, documents: int) -> SentenceSources:
    markers = tuple(citation.marker for citation in claim.citations)
    return SentenceSources(text=claim.text, scores=(None,) * documents, cited=markers, how="kept")


def _how(found: SourcesFound) -> How:
    if found.failed or not found.chosen:
        return "failed" if found.failed else "none"
    return "likeliest" if found.likeliest else "alone"


def _sources_of(claim: Claim, found: SourcesFound, markers: Sequence[int], answer: Answer) -> SentenceSources:
    """Convert positions among the judged documents to markers of the whole answer."""
    scores: list[float | None] = [None] * len(answer.documents)
    for marker, score in zip(markers, found.scores, strict=True):
        scores[marker - 1] = score
    chosen = tuple(sorted(markers[place] for place in found.chosen))
    left_out = tuple(
        f"[{number}] is retracted: not asked about"
        for number, document in enumerate(answer.documents, start=1)
        if document.retracted
    )
    return SentenceSources(
        text=claim.text,
        scores=tuple(scores),
        cited=chosen,
        how=_how(found),
        reasons=(*found.reasons, *left_out),
    )
