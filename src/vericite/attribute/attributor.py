"""What an attributor is: it says which sources support the sentences of an answer that cites none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from vericite.attribute.attribution import Attribution, How, SentenceSources, recited
from vericite.attribute.citing import uncited
from vericite.errors import InputError
from vericite.records import Answer, Claim, Document
from vericite.text.citations import parse_answer

ANSWERS_AT_ONCE = 64
"""Answers judged together: enough to fill batches and to find what they share, few enough to see them come."""


@dataclass(frozen=True)
class Found:
    """What was found of one sentence.

    Attributes:
        scores: A number for each document asked about; None where there is none.
        chosen: The documents that support it, by their place.
        together: Those of them that do so only as a set.
        reasons: What a reader should know: failures, abstentions.
        failed: Whether it could not be told.
        likeliest: Whether one of those chosen, or all, only stand out among the documents.
    """

    scores: tuple[float | None, ...]
    chosen: tuple[int, ...] = ()
    together: tuple[int, ...] = ()
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
    def find(self, answers: Sequence[Answer]) -> Iterable[Sequence[Found]]:
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
        """The answer with its citations and what each source was worth to each sentence.

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
            asked = [_asked(answer) for answer in bare]
            for answer, found in zip(bare, self.find(asked), strict=True):
                yield _attribution(answer, found, self.signature)


def _asked(answer: Answer) -> Answer:
    """What an attributor sees: the sentences that cite nothing, and the sources that may be cited."""
    sound = tuple(document for document in answer.documents if not document.retracted)
    return answer.model_copy(update={"claims": _open(answer), "documents": sound})


def _open(answer: Answer) -> tuple[Claim, ...]:
    return tuple(claim for claim in answer.claims if not claim.citations)


def _attribution(answer: Answer, found: Sequence[Found], by: str) -> Attribution:
    given = iter(found)
    markers = [number for number, document in enumerate(answer.documents, start=1) if not document.retracted]
    sentences = tuple(
        _kept(claim, len(answer.documents)) if claim.citations else _told(claim, next(given), markers, answer)
        for claim in answer.claims
    )
    return Attribution(answer=recited(answer, sentences), sentences=sentences, by=by)


def _kept(claim: Claim, documents: int) -> SentenceSources:
    markers = tuple(citation.marker for citation in claim.citations)
    return SentenceSources(text=claim.text, scores=(None,) * documents, cited=markers, how="kept")


def _how(found: Found) -> How:
    if found.failed or not found.chosen:
        return "failed" if found.failed else "none"
    return "likeliest" if found.likeliest else "together" if found.together else "alone"


def _told(claim: Claim, found: Found, markers: Sequence[int], answer: Answer) -> SentenceSources:
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
        together=tuple(sorted(markers[place] for place in found.together)),
        reasons=(*found.reasons, *left_out),
    )
