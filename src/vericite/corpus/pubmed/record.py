"""A PubMed record with everything that is worth keeping, and the document it is to the rest of VeriCite."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from vericite.corpus.pubmed.parts import (
    AbstractSection,
    ArticleId,
    Author,
    Book,
    BookContent,
    Chemical,
    Correction,
    DataBank,
    Grant,
    HistoryDate,
    Journal,
    MeshHeading,
    OtherAbstract,
    PartialDate,
)
from vericite.records import Document, Record, Section

PMID = r"^\d{1,15}$"

RETRACTED_IN = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
RETRACTS = frozenset({"RetractionOf", "RetractedandRepublishedFrom"})


class Deletion(Record):
    """Records that PubMed took back: whoever keeps them deletes them."""

    pmids: tuple[str, ...]


class Retraction(Record):
    """Word of a notice that the articles with these PMIDs are retracted, whatever their own records say."""

    pmids: tuple[str, ...]

    @classmethod
    def said_by(cls, notice: str | None, retracts: Iterable[str | None]) -> Retraction | None:
        """What a notice says; None where it names no PMID but its own, as an article that was republished does.

        Args:
            notice: Its own PMID, if it has one.
            retracts: The PMIDs that it retracts, None or empty where one is not told.
        """
        pmids = tuple(dict.fromkeys(pmid for pmid in retracts if pmid and pmid != notice))
        return cls(pmids=pmids) if pmids else None


class PubMedRecord(Record):
    """An article, or a book or a chapter of one (then ``book`` is set).

    ``date`` is when it was published, as exact as the issue says; of a span ("1998 Dec-1999 Jan") the beginning, and
    ``date_text`` then keeps the words. ``title`` of an article in another language is a translation in brackets, the
    original stands in ``vernacular_title``. ``subjects`` are people whom it is about. ``references`` are the PMIDs
    that it cites; works without one are not among them.
    """

    pmid: str = Field(pattern=PMID)
    version: int = Field(default=1, ge=1)
    status: str | None = None
    publication_status: str | None = None
    publication_model: str | None = None
    title: str = ""
    vernacular_title: str | None = None
    sections: tuple[AbstractSection, ...] = ()
    copyright: str | None = None
    other_abstracts: tuple[OtherAbstract, ...] = ()
    journal: Journal | None = None
    book: Book | None = None
    contents: tuple[BookContent, ...] = ()
    date: PartialDate | None = None
    date_text: str | None = None
    electronic_date: PartialDate | None = None
    contribution_date: PartialDate | None = None
    created_date: PartialDate | None = None
    completed_date: PartialDate | None = None
    revised_date: PartialDate | None = None
    history: tuple[HistoryDate, ...] = ()
    languages: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    authors: tuple[Author, ...] = ()
    authors_complete: bool = True
    editors: tuple[Author, ...] = ()
    investigators: tuple[Author, ...] = ()
    subjects: tuple[Author, ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    supplementary_mesh: tuple[str, ...] = ()
    chemicals: tuple[Chemical, ...] = ()
    keywords: tuple[str, ...] = ()
    genes: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    data_banks: tuple[DataBank, ...] = ()
    conflict_of_interest: str | None = None
    doi: str | None = None
    pmcid: str | None = None
    other_ids: tuple[ArticleId, ...] = ()
    corrections: tuple[Correction, ...] = ()
    references: tuple[str, ...] = ()

    @property
    def entrez_date(self) -> str | None:
        """When the record came into Entrez: what PubMed sorts and counts new records by."""
        return next((stage.date for stage in self.history if stage.status == "entrez"), None)

    @property
    def retraction_notices(self) -> tuple[Correction, ...]:
        """The notices that retract this article, each with its PMID or at least its source."""
        return tuple(link for link in self.corrections if link.kind in RETRACTED_IN)

    @property
    def retracts(self) -> tuple[Correction, ...]:
        """The articles that this one, a notice, retracts."""
        return tuple(link for link in self.corrections if link.kind in RETRACTS)

    @property
    def retraction(self) -> Retraction | None:
        """The same as word to whoever keeps those articles; an article that was republished does not retract itself."""
        return Retraction.said_by(self.pmid, (link.pmid for link in self.retracts))

    @property
    def retracted(self) -> bool:
        """Whether it is marked as retracted, or a notice of retraction is linked. A part retracted does not count."""
        return "Retracted Publication" in self.publication_types or bool(self.retraction_notices)

    def document(self) -> Document:
        """The record as a source that can be cited; a chapter's book stands where an article's journal does."""
        container = self.journal.title or self.journal.abbreviation if self.journal else None
        book = self.book.title if self.book else None
        date = self.date or self.electronic_date or self.contribution_date or self.entrez_date
        return Document(
            id=self.pmid,
            title=self.title or self.vernacular_title or "",
            sections=tuple(Section(text=part.text, label=part.label) for part in self.sections),
            pmid=self.pmid,
            pmcid=self.pmcid,
            doi=self.doi,
            version=self.version,
            journal=container or (book if book != self.title else None),
            year=int(date[:4]) if date else None,
            date=date,
            revised=self.revised_date,
            languages=self.languages,
            authors=tuple(author.name for author in self.authors if author.valid and author.name),
            mesh=tuple(heading.name for heading in self.mesh),
            publication_types=self.publication_types,
            retracted=self.retracted,
            source="pubmed",
        )
