"""What a PubMed record is made of: people, headings, ids, links to other records."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vericite.records import Record, Section

PartialDate = Annotated[str, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")]
"""A date in ISO form, as exact as is known: ``2019``, ``2019-05`` or ``2019-05-03``."""


class AbstractSection(Section):
    """A section of an abstract, and what NLM sorts its label under (METHODS for "Patients and methods").

    A section that has no label of its own is labelled by its category.
    """

    category: str | None = None


class OtherAbstract(Record):
    """A second abstract: in another language, or of another ``kind`` such as ``plain-language-summary``."""

    kind: str | None = None
    language: str | None = None
    sections: tuple[AbstractSection, ...] = ()
    copyright: str | None = None


class Author(Record):
    """A person or a group (``collective``); not ``valid`` where the name was printed wrong and stands corrected too."""

    last: str | None = None
    fore: str | None = None
    initials: str | None = None
    suffix: str | None = None
    collective: str | None = None
    orcid: str | None = None
    affiliations: tuple[str, ...] = ()
    valid: bool = True

    @property
    def name(self) -> str:
        """As PubMed cites it: ``Nightingale F``, ``King ML Jr``, or the name of the group."""
        parts = (self.last, self.initials or self.fore, self.suffix)
        return " ".join(part for part in parts if part) or self.collective or ""


class Journal(Record):
    """The journal, and where in it. ``pages`` are as printed: ``332-40``, ``e1004``."""

    title: str | None = None
    abbreviation: str | None = None
    medline_abbreviation: str | None = None
    issn: str | None = None
    linking_issn: str | None = None
    nlm_id: str | None = None
    country: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None


class HistoryDate(Record):
    """When a record reached a stage: ``received``, ``accepted``, ``entrez``, ``pubmed``, ``medline`` ..."""

    status: str
    date: PartialDate


class Qualifier(Record):
    """A subheading of a MeSH heading."""

    name: str
    ui: str | None = None
    major: bool = False


class MeshHeading(Record):
    """A MeSH descriptor and its subheadings; ``major`` is the descriptor's own flag."""

    name: str
    ui: str | None = None
    major: bool = False
    qualifiers: tuple[Qualifier, ...] = ()

    @property
    def is_major(self) -> bool:
        """Whether the descriptor or one of its subheadings is a main topic of the article."""
        return self.major or any(qualifier.major for qualifier in self.qualifiers)


class Chemical(Record):
    """A substance, with its CAS or EC number; ``0`` there means that it has none."""

    name: str
    ui: str | None = None
    registry_number: str | None = None


class Grant(Record):
    """What paid for the work."""

    id: str | None = None
    acronym: str | None = None
    agency: str | None = None
    country: str | None = None


class DataBank(Record):
    """Where data or a trial's registration lie: ``ClinicalTrials.gov`` and the accession numbers there."""

    name: str | None = None
    accessions: tuple[str, ...] = ()


class ArticleId(Record):
    """Another id of the article: ``pii``, ``mid``, ``bookaccession`` ..."""

    kind: str
    value: str


class Correction(Record):
    """A link to another record; ``kind`` is PubMed's word for it: ``ErratumIn``, ``RetractionOf``, ``CommentOn`` ..."""

    kind: str
    pmid: str | None = None
    source: str | None = None
    note: str | None = None


class BookContent(Record):
    """An entry of a book chapter's table of contents."""

    title: str
    label: str | None = None
    contents: tuple[BookContent, ...] = ()


class Book(Record):
    """The book a chapter is part of."""

    title: str | None = None
    collection: str | None = None
    publisher: str | None = None
    place: str | None = None
    edition: str | None = None
    volume: str | None = None
    volume_title: str | None = None
    medium: str | None = None
    report_number: str | None = None
    isbns: tuple[str, ...] = ()
    begun: PartialDate | None = None
    ended: PartialDate | None = None
    authors: tuple[Author, ...] = ()
    editors: tuple[Author, ...] = ()
    investigators: tuple[Author, ...] = ()
