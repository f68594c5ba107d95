"""Events that a request emits while it works, and the data of each, as ``/openapi.json`` describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

from vericite.records import Change, Document, Evidence, Record, Verdict, VerificationFailure
from vericite.serve.engine import check_stopped
from vericite.text.strength import Strength

Emit = Callable[[str, dict[str, Any]], None]
"""Receives the name and data of each event."""


def stage_callback(emit: Emit | None) -> Callable[[str, float | None], None]:
    """Return a function that emits the stages of a request, and stops the request if its client is gone."""

    def on_stage(stage: str, seconds: float | None) -> None:
        check_stopped()
        if emit is not None:
            emit("stage", {"stage": stage, "seconds": seconds})

    return on_stage


class StageEvent(Record):
    """A stage of the work began (``seconds`` is null) or ended."""

    stage: str
    seconds: float | None


class BriefDocument(Record):
    """A document without its text."""

    id: str
    title: str
    pmid: str | None
    year: int | None
    journal: str | None
    retracted: bool

    @classmethod
    def brief(cls, document: Document, **more: Any) -> Self:
        """Return what is shown of a document, with the values of further fields."""
        return cls(
            id=document.id,
            title=document.title,
            pmid=document.pmid,
            year=document.year,
            journal=document.journal,
            retracted=document.retracted,
            **more,
        )


class FoundDocument(BriefDocument):
    """A document that was found for the question, with the design and number of participants that it states.

    ``stage`` is the search of PubMed that found it: every word in title or abstract (``tiab``), PubMed's own mapping of
    the words (``atm``), or the words as asked (``raw``); null if it was found elsewhere.
    """

    design: str | None
    n: int | None
    depth: str | None
    rank: int
    stage: str | None

    @classmethod
    def of(cls, hit: Evidence) -> Self:
        """Return what is shown of a hit."""
        strength = Strength.of(hit.document)
        return cls.brief(
            hit.document, design=strength.design, n=strength.n, depth=strength.depth, rank=hit.rank, stage=hit.stage
        )


class EvidenceEvent(Record):
    """The documents found, those that can be used first."""

    documents: tuple[FoundDocument, ...]


class AnswerEvent(Record):
    """The answer is written: its number of sentences."""

    sentences: int


class SentenceEvent(Record):
    """A sentence of the answer. A draft, sent while a model writes, may still change and has no ``start``."""

    number: int
    text: str
    start: int | None = None
    draft: bool = False


class VerdictEvent(Record):
    """A verdict, and how it is counted: by its label, or as abstained, quoted or failed."""

    kind: Literal["supported", "contradicted", "irrelevant", "dangling", "abstained", "quoted", "failed"]
    result: Verdict | VerificationFailure


class ProgressEvent(Record):
    """How much of a manuscript is done: of its references looked up, or its sentences judged."""

    what: str
    done: int
    total: int


class KeptEvent(Record):
    """Id of the stored run."""

    run: str


CHECK_EVENTS: dict[str, Any] = {"answer": AnswerEvent, "sentence": SentenceEvent, "verdict": VerdictEvent}
ASK_EVENTS = {"stage": StageEvent, "evidence": EvidenceEvent, **CHECK_EVENTS, "repair": Change, "kept": KeptEvent}
MANUSCRIPT_EVENTS: dict[str, Any] = {"stage": StageEvent, "progress": ProgressEvent}
