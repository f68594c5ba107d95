"""Answers: claims with the citations attached to them."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field, model_validator

from vericite.records.base import Record, Span
from vericite.records.document import Document
from vericite.records.rationale import Rationale


class Citation(Record):
    """One reference to a source, as the answer makes it.

    ``marker`` is the number in the text (``[3]``), ``span`` where in the answer it stands.
    ``document`` is None when the number points at no source: a dangling citation.
    """

    marker: int = Field(ge=0)
    span: Span
    document: str | None

    @property
    def dangling(self) -> bool:
        """Whether the marker points at no source."""
        return self.document is None


class Claim(Record):
    """A sentence of an answer, to be judged.

    ``text`` is the sentence without its citation markers, as a judge reads it;
    ``span`` is where the sentence, markers and all, stands in the answer.
    """

    text: str
    span: Span
    citations: tuple[Citation, ...] = ()


class Trimmed(Record):
    """A document of the evidence of which a generator saw only some sentences, or none, for want of room."""

    document: str
    shown: int = Field(ge=0)
    sentences: int = Field(ge=1)


class Spent(Record):
    """What language models took for one answer.

    ``calls`` were made and ``remembered`` replies came from the cache; ``seconds`` are those of the calls, waits
    included; ``cost`` is in dollars, where the service or the user says what it charges.
    """

    calls: int = Field(default=0, ge=0)
    remembered: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)
    cost: float | None = Field(default=None, ge=0)


class Answer(Record):
    """An answer and the sources it may cite: marker ``[n]`` is ``documents[n - 1]``.

    ``insufficient`` is set by a generator that found no evidence worth citing and said so. ``exact`` is the answer in a
    word, as ``Question.gold_exact`` has it, of a generator that gives one; ``rationale`` the reasoning before it.
    ``trimmed`` tells which documents the generator did not see whole, ``spent`` what the answer took. ``failed`` is why
    there is no answer, where making one failed: its text is then empty.
    """

    id: str
    text: str
    claims: tuple[Claim, ...]
    documents: tuple[Document, ...]
    question: str | None = None
    generator: str | None = None
    insufficient: bool = False
    exact: tuple[tuple[str, ...], ...] | None = None
    rationale: Rationale | None = None
    trimmed: tuple[Trimmed, ...] = ()
    failed: str | None = None
    spent: Spent | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Answer:
        seen: dict[str, int] = {}
        for position, document in enumerate(self.documents):
            if document.id in seen:
                raise ValueError(
                    f"expected every document to have an id of its own; documents.{position}.id repeats "
                    f"documents.{seen[document.id]}.id, {document.id!r}"
                )
            seen[document.id] = position
        for claim in self.claims:
            if claim.span.end > len(self.text):
                raise ValueError(
                    f"expected claims inside the {len(self.text)} characters of the answer; "
                    f"found one that ends at {claim.span.end}"
                )
            for citation in claim.citations:
                if citation.document is not None and citation.document not in seen:
                    raise ValueError(f"expected citations of the answer's own documents; found {citation.document!r}")
        return self

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents}

    def document(self, id: str) -> Document:
        """The source with this id."""
        return self._by_id[id]

    @property
    def uncited(self) -> tuple[Claim, ...]:
        """The claims that cite nothing, not even a source that does not exist."""
        return tuple(claim for claim in self.claims if not claim.citations)
