"""What an attributor is: it says which sources support the sentences of an answer that cites none."""

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


def cited(answer: Answer, markers: Mapping[int, Sequence[int]], named: Mapping[int, str] | None = None) -> Answer:
    """The answer with markers before the full stop of its sentences.

    Args:
        answer: The answer; the claims that get markers have none.
        markers: The numbers of the documents that each claim, by number, shall cite.
        named: PubMed ids of documents, by number, where the answer cites by these and not by numbers.

    Raises:
        InputError: The answer has more documents than markers can count.
    """
    if len(answer.documents) > MOST_DOCUMENTS:
        raise InputError(
            f"expected at most {MOST_DOCUMENTS} documents, as many as markers can count; "
            f"found {len(answer.documents)}. Give the likeliest ones alone."
        )
    pieces = [
        _marked(answer.text[claim.span.slice], markers.get(index, ()), named or {}) if markers.get(index) else None
        for index, claim in enumerate(answer.claims)
    ]
    return _rewritten(answer, pieces, {index: numbers for index, numbers in markers.items() if numbers}, named or {})


def _bare(piece: str, claim: Claim) -> tuple[str, int, int]:
    """A sentence without its citations, after the line end where its marker stood on a line before."""
    first = claim.text.split()[0] if claim.text.split() else ""
    lead = piece[: max(piece.find(first), 0)]
    kept = lead[lead.rfind("\n") :] if "\n" in lead else ""
    return kept + claim.text, len(kept), 0


def _shown(number: int, named: Mapping[int, str]) -> str:
    return f"(PMID: {named[number]})" if number in named else render_markers([number])


def _marked(piece: str, numbers: Sequence[int], named: Mapping[int, str]) -> tuple[str, int, int]:
    """A sentence with its markers, and where these begin."""
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
    """The answer with some claims' stretches of text replaced; the others move along."""
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
    """The answer's text with other words in the place of some claims, and where each claim stands in it.

    Marks of Markdown that one of them opened or closed for another sentence stay, so that none is left open.
    """
    whole = answer.text
    spans = [claim.span for claim in answer.claims]
    moves = [0] * len(spans)
    # From the last to the first: then nothing that is still to be replaced has moved.
    for index in sorted(texts, reverse=True):
        found = replacement(whole, spans[index].start, spans[index].end, texts[index])
        whole, spans[index], moves[index] = found.applied(whole), found.span, found.moved
    return whole, [span.shifted(by) for span, by in zip(spans, accumulate(moves, initial=0), strict=False)]


def _citing(
    claim: Claim, span: Span, answer: Answer, numbers: Sequence[int], start: int, named: Mapping[int, str]
) -> Claim:
    """The claim in its new place, citing these documents one marker after the other."""
    citations: list[Citation] = []
    for number in numbers:
        end = start + len(_shown(number, named))
        document = answer.documents[number - 1].id
        marker = int(named[number]) if number in named else number
        citations.append(Citation(marker=marker, span=Span(start=start, end=end), document=document))
        start = end
    return Claim(text=claim.text, span=span, citations=tuple(citations))


How = Literal["alone", "likeliest", "kept", "none", "failed"]
"""Each source supports the sentence by itself (of a classifier over all sources: by itself or with the others); not all
were found to, but stand out; the citations were there before; nothing supports it; it could not be judged."""


class SentenceSources(Record):
    """A sentence and its sources.

    ``scores`` has a number for each document of the answer: a probability of support, for ``cosine`` a cosine, for
    ``random`` a draw. It is None where there is none: the source was not judged, its judgement failed, it has the
    sentence word for word, or whoever judged only says yes or no. ``cited`` are the markers of what supports the
    sentence or stands out. ``reasons`` say what failed, was abstained from or left out.
    """

    text: str
    scores: tuple[float | None, ...]
    cited: tuple[int, ...] = ()
    how: How = "none"
    reasons: tuple[str, ...] = ()


class Attribution(Record):
    """An answer cited after it was written: ``sentences`` are those of ``answer.claims``, ``by`` found the sources."""

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
        """The sentences that cite sources which stand out, though they were not found to support them."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "likeliest")

    @property
    def failed(self) -> tuple[SentenceSources, ...]:
        """The sentences of which it could not be told."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "failed")

    def above(self, threshold: float) -> Attribution:
        """The same scores, with another bar: a source is cited if it has a score of at least ``threshold``.

        What has no score stays as it is, and so do citations that were there before. Sources that only
        stand out are kept where no source reaches the bar. Retracted sources are still not cited.
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
    """The answer with the citations of these sentences in place of its own; those that were kept stay."""
    loose = {index for index, sentence in enumerate(sentences) if sentence.how != "kept"}
    bare = uncited(answer, loose)
    return cited(bare, {index: sentences[index].cited for index in loose})


ANSWERS_AT_ONCE = 64
"""Answers judged together: enough to fill batches and to find what they share, few enough to see them come."""


@dataclass(frozen=True)
class SourcesFound:
    """What was found of one sentence.

    Attributes:
        scores: A number for each document asked about; None where there is none.
        chosen: The documents that support it, by their place.
        reasons: What a reader should know: failures, abstentions.
        failed: Whether it could not be told.
        likeliest: Whether one of those chosen, or all, only stand out among the documents.
    """

    scores: tuple[float | None, ...]
    chosen: tuple[int, ...] = ()
    reasons: tuple[str, ...] = field(default=())
    failed: bool = False
    likeliest: bool = False


class Attributor(ABC):
    """Finds the sources of sentences. A retracted source is never asked about, and so never cited."""

    answers_at_once: int = ANSWERS_AT_ONCE

    @property
    @abstractmethod
    def signature(self) -> str:
        """For provenance."""

    @abstractmethod
    def find(self, answers: Sequence[Answer]) -> Iterable[Sequence[SourcesFound]]:
        """What supports each sentence of each answer, in order. The answers come without citations."""

    def attribute(self, answer: Answer | str, documents: Sequence[Document] = (), *, keep: bool = False) -> Answer:
        """The answer with its citations, before the full stop of each sentence; see ``attributions``.

        Raises:
            InputError: Documents are given beside an answer that has its own.
        """
        return self.attribution(answer, documents, keep=keep).answer

    def attribution(
        self, answer: Answer | str, documents: Sequence[Document] = (), *, keep: bool = False
    ) -> Attribution:
        """The answer with its citations and what each source says of each sentence.

        Raises:
            InputError: Documents are given beside an answer that has its own.
        """
        if isinstance(answer, str):
            answer = parse_answer("answer", answer, documents)
        elif documents:
            raise InputError("expected no documents beside a parsed answer, which has its own; found some")
        return next(self.attributions([answer], keep=keep))

    def attributions(self, answers: Iterable[Answer], *, keep: bool = False) -> Iterator[Attribution]:
        """Cite answers in a stream, in order, some at a time.

        Args:
            answers: The answers with their documents.
            keep: Leave the sentences that cite something as they are; otherwise all citations are taken out first.
        """
        source = iter(answers)
        while batch := list(islice(source, self.answers_at_once)):
            bare = [answer if keep else uncited(answer) for answer in batch]
            asked = [_without_cited(answer) for answer in bare]
            for answer, found in zip(bare, self.find(asked), strict=True):
                yield _attribution(answer, found, self.signature)


def _without_cited(answer: Answer) -> Answer:
    """What an attributor sees: the sentences that cite nothing, and the sources that may be cited."""
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
    """What was found, by markers of the whole answer in place of what was asked about."""
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
