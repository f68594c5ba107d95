"""What a corpus says for and against each sentence of an answer."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vericite.records.base import Record
from vericite.records.results import Provenance
from vericite.records.values import EvidenceSpan


class Article(Record):
    """An article that supports or contradicts a sentence, and the passage that does.

    ``id`` is the document's id in its corpus, ``pmid`` its PubMed id, if it has one. ``design`` and ``n`` are those of
    the study, if the document says so. ``retraction`` is "expression of concern" if its journal has published one.
    """

    id: str
    pmid: str | None = None
    title: str = ""
    year: int | None = None
    design: str | None = None
    n: int | None = None
    retraction: str | None = None
    probability: float = Field(ge=0, le=1)
    passages: tuple[EvidenceSpan, ...] = ()


class SentenceEvidence(Record):
    """The articles of one sentence, the surest first. ``failed`` is why it could not be searched for or judged."""

    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    supporting: tuple[Article, ...] = ()
    contradicting: tuple[Article, ...] = ()
    failed: str | None = None


class AnswerEvidence(Record):
    """The articles for and against each sentence of an answer."""

    id: str
    question: str | None = None
    sentences: tuple[SentenceEvidence, ...]
    provenance: Provenance

    @property
    def contradicted(self) -> tuple[SentenceEvidence, ...]:
        """The sentences that an article contradicts."""
        return tuple(sentence for sentence in self.sentences if sentence.contradicting)

    @property
    def articles(self) -> tuple[Article, ...]:
        """All articles of all sentences."""
        return tuple(
            article for sentence in self.sentences for article in (*sentence.supporting, *sentence.contradicting)
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values."""
        return self.model_dump(mode="json")
