"""A manuscript: a text with citations and a list of references, as authors write it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from operator import not_
from typing import Literal, Self

from pydantic import Field, model_validator

from vericite.records.base import Record, Span
from vericite.records.values import Document


class Reference(Record):
    """A work in the list of references of a manuscript.

    ``key`` is what the text cites it by: its printed number, or the key of its record in a reference manager.
    ``text`` is the reference as printed, if it is. ``passage`` is text of the work itself, if the manuscript has that
    after the reference or in place of it. The other fields were read from what is printed, or from the record: see
    ``origin``. ``authors`` are written as in ``Document``: family name, then initials or given names.
    """

    key: str = Field(min_length=1)
    text: str = ""
    passage: str = Field(default="", exclude_if=not_)
    origin: Literal["printed", "field code", "bibliography"] = "printed"
    title: str = ""
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    url: str | None = None


class ManuscriptCitation(Record):
    """A place that cites: ``span`` of ``Manuscript.text`` has the mark, such as "[3, 5-7]", and ``keys`` what it names.

    Keys of no listed reference stay: the place cites what the list lacks.
    """

    span: Span
    keys: tuple[str, ...] = Field(min_length=1)


class ManuscriptHeading(Record):
    """A heading, at ``start`` of ``Manuscript.text``; ``level`` is 1 for the highest."""

    start: int = Field(ge=0)
    text: str
    level: int = Field(default=1, ge=1)


class Manuscript(Record):
    """A document with citing sentences.

    ``text`` is its running text in reading order, with the citation marks and headings, without the list of references.
    Paragraphs end with a blank line. ``pages`` has the start of each page in ``text``, if there are pages. ``notes``
    say what could not be read.
    """

    name: str
    title: str = ""
    text: str
    headings: tuple[ManuscriptHeading, ...] = ()
    pages: tuple[int, ...] = ()
    citations: tuple[ManuscriptCitation, ...] = ()
    references: tuple[Reference, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _inside(self) -> Self:
        if any(citation.span.end > len(self.text) for citation in self.citations):
            raise ValueError("expected citations within the text")
        return self

    @property
    def cited_keys(self) -> tuple[str, ...]:
        """Keys in the order of their first citation."""
        return tuple(dict.fromkeys(key for citation in self.citations for key in citation.keys))

    def citations_within(self, start: int, end: int) -> tuple[ManuscriptCitation, ...]:
        """Return the places that cite within a part of ``text``, in order."""
        first, last = (bisect_left(self._in_order, at, key=lambda item: item.span.start) for at in (start, end))
        return tuple(citation for citation in self._in_order[first:last] if citation.span.end <= end)

    @cached_property
    def _in_order(self) -> tuple[ManuscriptCitation, ...]:
        return tuple(sorted(self.citations, key=lambda citation: citation.span.start))

    def page_at(self, offset: int) -> int | None:
        """Return the page, from 1, of a character of ``text``; None without pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None

    def section_at(self, offset: int) -> str:
        """Return the last heading before a character of ``text``; empty without one."""
        before = [heading for heading in self.headings if heading.start <= offset]
        return max(before, key=lambda heading: heading.start).text if before else ""


ReferenceProblemKind = Literal[
    "not found",
    "not in these sources",
    "could not be asked",
    "could not be read",
    "title differs",
    "authors differ",
    "year differs",
    "another year",
    "journal differs",
    "volume differs",
    "pages differ",
    "wrong DOI",
    "wrong PMID",
    "duplicate",
    "retracted",
    "retraction notice",
    "expression of concern",
    "corrected",
    "listed, not cited",
    "cited, not listed",
]


class ReferenceProblem(Record):
    """What is wrong with a reference.

    ``given`` is what the reference says, and ``found`` what the record says; for a duplicate, the keys of the two.
    "not in these sources" says nothing about the work itself: it was only looked for in a store or a folder. "not
    found" means that PubMed or Crossref was asked and has no such work. "another year" means
    that a document with the title was found that may be another work. "could not be asked" has the sources in
    ``given``, and the reasons in ``found``; ``is_offline`` says that the user forbids the network. "could not be read"
    means that a note or an entry of the list has neither a title nor an identifier.
    """

    kind: ReferenceProblemKind
    given: str = ""
    found: str = ""
    is_offline: bool = Field(default=False, exclude_if=not_)

    def __str__(self) -> str:
        """Return the problem in a few words."""
        if self.kind in ("could not be asked", "could not be read"):
            return f"{self.kind}: {self.found}"
        if self.kind == "another year":
            return f"{self.kind}: a document with this title, or nearly, was found, but of {self.found}"
        if self.kind == "cited, not listed":
            return "cited but not in the list of references"
        if self.kind == "duplicate":
            return f"{self.kind}: same work as {self.found}"
        if self.given and self.found:
            return f"{self.kind}: {self.given} (found: {self.found})"
        return ": ".join(filter(None, (self.kind, self.given or self.found)))


class ResolvedReference(Record):
    """A reference with the document that it names, if one was found.

    ``source`` is where the document was found ("pubmed", "crossref", "pmc", a store or a folder), ``by`` what it was
    found by, and ``probability`` how likely it is the work that the reference means. ``reference`` is None for a key
    that the text cites and the list lacks.
    """

    key: str
    reference: Reference | None = None
    document: Document | None = None
    source: str | None = None
    by: Literal["PMID", "DOI", "PMCID", "citation", "title", "file name"] | None = None
    probability: float | None = Field(default=None, ge=0, le=1)
    problems: tuple[ReferenceProblem, ...] = ()
