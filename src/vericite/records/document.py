"""Documents and the sentences in them."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from pydantic import Field

from vericite.records.base import Record, Span, storable


class Section(Record):
    """A part of an abstract, with the label it was printed under (BACKGROUND, RESULTS ...) if it had one."""

    text: str
    label: str | None = None


class Document(Record):
    """A source that can be cited.

    ``text`` is what offsets refer to: the sections joined by a newline, without their labels.
    The title is kept apart, because most protocols do not take it as evidence.

    ``date`` is as exact as is known, in ISO form: ``2019``, ``2019-05`` or ``2019-05-03``; ``languages`` are codes of
    three letters as PubMed has them (``eng``). ``version`` is that of a PMID's record, which only a few journals count;
    ``revised`` is when the record was last changed, in ISO form, and tells two states of one record apart.
    """

    id: str = Field(min_length=1)
    title: str = ""
    sections: tuple[Section, ...] = ()
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    version: int = Field(default=1, ge=1)
    journal: str | None = None
    year: int | None = None
    date: str | None = Field(default=None, pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")
    revised: str | None = Field(default=None, pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")
    languages: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    retracted: bool = False
    source: str | None = None

    @classmethod
    def from_text(cls, id: str, text: str, title: str = "") -> Self:
        """A document with one unlabelled section. Halves of surrogate pairs, which no file holds, become U+FFFD."""
        text, title = storable(text), storable(title)
        return cls(id=id, title=title, sections=(Section(text=text),) if text else ())

    @cached_property
    def text(self) -> str:
        """The abstract: its sections joined by a newline, labels left out."""
        return "\n".join(section.text for section in self.sections)

    @property
    def titled_text(self) -> str:
        """The title and the abstract, as they are indexed."""
        return f"{self.title} {self.text}".strip()

    @property
    def section_spans(self) -> tuple[Span, ...]:
        """Where each section lies in ``text``."""
        spans: list[Span] = []
        start = 0
        for section in self.sections:
            spans.append(Span(start=start, end=start + len(section.text)))
            start += len(section.text) + 1
        return tuple(spans)


class SourceText(Record):
    """A document as people have it: an id, a text, perhaps a title."""

    id: str = Field(min_length=1)
    text: str
    title: str | None = None

    def document(self) -> Document:
        """The same as a document."""
        return Document.from_text(self.id, self.text, self.title or "")


class Sentence(Record):
    """A sentence of a document: ``document.text[sentence.span.slice]``."""

    document: str
    index: int = Field(ge=0)
    span: Span

    def text_in(self, document: Document) -> str:
        """The sentence's words, read from its document."""
        if document.id != self.document:
            raise ValueError(f"expected document {self.document!r}; found {document.id!r}")
        return document.text[self.span.slice]
