"""Convert a PubMed record to a document, with the retractions that it announces.

A record has about sixty fields. Only those used by search, citations or checks are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from vericite.corpus.pubmed.text import children, date_in, date_of, iso_date, plain_text
from vericite.records import Document, Record

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]


PMID = r"^\d{1,15}$"

_OF_DOCUMENTS = frozenset(Document.model_fields)
_RETRACTED_IN = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
_RETRACTS = frozenset({"RetractionOf", "RetractedandRepublishedFrom"})
_NOTICES = {
    "ErratumIn": "corrected_by",
    "CorrectedandRepublishedIn": "corrected_by",
    "ExpressionOfConcernIn": "concerns",
}


class Deletion(Record):
    """PMIDs of records that PubMed deleted, and that a store should delete too."""

    pmids: tuple[str, ...]


class Retraction(Record):
    """PMIDs of articles that a notice retracts, whatever their own records say."""

    pmids: tuple[str, ...]

    @classmethod
    def by_notice(cls, notice: str | None, retracts: Iterable[str | None]) -> Retraction | None:
        """Build the retraction of a notice; None if it names no PMID but its own, as a republished article does.

        Args:
            notice: The notice's own PMID, if any.
            retracts: The PMIDs that it retracts; None or empty for an unknown PMID.
        """
        pmids = tuple(dict.fromkeys(pmid for pmid in retracts if pmid and pmid != notice))
        return cls(pmids=pmids) if pmids else None


class PubMedRecord(Record):
    """An article, a book, or a chapter of a book.

    The document's ``date`` is the publication date, as exact as the issue gives it; for a range such as
    "1998 Dec-1999 Jan", its beginning. The title of an article in another language is a translation in brackets. For
    a chapter, ``journal`` is the title of the book.

    Attributes:
        pmid: PMID of the record.
        document: The record as a document.
        retracts: PMIDs of the articles that it retracts, if it is a retraction notice.
        retracted_by: PMIDs of the notices that retract it.
        corrected_by: Notices of corrections: the PMID of each, or the citation.
        concerns: Expressions of concern about it, in the same form.
        abbreviation: Abbreviated title of the journal.
        volume: Volume of the journal.
        pagination: Pages as printed, such as "1234-40".
        years: Years of print and of electronic publication.
    """

    pmid: str = Field(pattern=PMID)
    document: Document
    retracts: tuple[str, ...] = ()
    retracted_by: tuple[str, ...] = ()
    corrected_by: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()
    abbreviation: str | None = None
    volume: str | None = None
    pagination: str | None = None
    years: tuple[int, ...] = ()

    @property
    def retraction(self) -> Retraction | None:
        """The other articles that it retracts; a republished article does not retract itself."""
        return Retraction.by_notice(self.pmid, self.retracts)


_Fields = dict[str, Any]
_Take = Callable[["_Element", _Fields], None]
_Table = Mapping[str, _Take]


def record_of(element: _Element) -> PubMedRecord | Deletion:
    """Convert an element to a record.

    Raises:
        pydantic.ValidationError: It has no PMID, or an invalid value.
    """
    if element.tag in ("DeleteCitation", "DeleteDocument"):
        return Deletion(pmids=tuple((child.text or "").strip() for child in element if child.tag == "PMID"))
    fields: _Fields = {}
    if element.tag == "MedlineCitation":
        _fill(element, _CITATION, fields)
    else:
        _fill(element, _RECORD, fields)
    pmid, book = fields.pop("pmid", None), fields.pop("book", {})
    title = fields.get("title") or book.get("title") or fields.pop("vernacular_title", "")
    links = {kind: fields.pop(kind, ()) for kind in ("retracts", "retracted_by", "corrected_by", "concerns")}
    imprint = {"abbreviation": fields.get("journal_abbreviation"), "volume": fields.get("volume")}
    imprint |= {"pagination": fields.get("pagination")}
    years = (date[:4] for kind in ("issue", "electronic") if (date := fields.get(kind)))
    imprint |= {"years": tuple(dict.fromkeys(int(year) for year in years))}
    dates: list[str | None] = [fields.pop(kind, None) for kind in ("issue", "electronic", "contribution", "entrez")]
    date = next(filter(None, dates), None)
    container = fields.pop("journal", None) or fields.pop("journal_abbreviation", None)
    types = fields.get("publication_types", ())
    document = {
        **{name: value for name, value in fields.items() if name in _OF_DOCUMENTS},
        "id": pmid or "none",
        "pmid": pmid,
        "title": title,
        "authors": fields.get("authors") or book.get("authors", ()),
        "journal": container or (book.get("title") if book.get("title") != title else None),
        "date": date,
        "year": int(date[:4]) if date else None,
        "retracted": fields.get("retracted", False) or "Retracted Publication" in types,
        "source": "pubmed",
    }
    return PubMedRecord.model_validate({"pmid": pmid, "document": document, **links, **imprint})


def _fill(element: _Element, table: _Table, fields: _Fields) -> None:
    """Pass each child to the function for its tag; skip tags without one."""
    for child in children(element):
        if take := table.get(child.tag):
            take(child, fields)


def _within(table: Callable[[], _Table]) -> _Take:
    """Descend into an element. The table is looked up late because it may be defined further down."""
    return lambda element, fields: _fill(element, table(), fields)


def _text(field: str) -> _Take:
    def take(element: _Element, fields: _Fields) -> None:
        if text := plain_text(element):
            fields[field] = text

    return take


def _append(field: str) -> _Take:
    def take(element: _Element, fields: _Fields) -> None:
        if text := plain_text(element):
            fields[field] = (*fields.get(field, ()), text)

    return take


def _date(field: str) -> _Take:
    def take(element: _Element, fields: _Fields) -> None:
        if date := date_of(element):
            fields[field] = date

    return take


def _pmid(element: _Element, fields: _Fields) -> None:
    fields["pmid"] = (element.text or "").strip()
    version = element.get("Version") or ""
    if version.isascii() and version.isdigit():
        fields["version"] = int(version)


def _pub_date(element: _Element, fields: _Fields) -> None:
    """Set the publication date of the issue or book, from any of PubMed's date formats."""
    parts = {child.tag: child.text for child in children(element)}
    if words := parts.get("MedlineDate"):
        fields["issue"] = date_in(" ".join(words.split()))
    else:
        fields["issue"] = iso_date(parts.get("Year"), parts.get("Month"), parts.get("Day"))


# NLM's words for a section without a category.
_NO_CATEGORY = frozenset({"UNASSIGNED", "UNLABELLED", "UNLABELED"})


def _abstract(element: _Element, fields: _Fields) -> None:
    """Set the sections that have text. A section without a label gets NLM's category as its label."""
    sections: list[_Fields] = []
    for child in children(element):
        if child.tag == "AbstractText" and (text := plain_text(child)):
            label = " ".join((child.get("Label") or "").split()) or child.get("NlmCategory")
            sections.append({"text": text, "label": None if label in _NO_CATEGORY else label or None})
    fields["sections"] = tuple(sections)


# Files before 2002 have FirstName.
_NAMES = ("LastName", "ForeName", "FirstName", "Initials", "Suffix", "CollectiveName")


def _authors(element: _Element, fields: _Fields) -> None:
    """Set the names in PubMed's citation style. A misprinted name is skipped: its correction is listed too."""
    if element.get("Type") == "editors":
        return
    people: list[dict[str, str]] = []
    # For hundreds of authors, one flat pass takes half the time of a pass over each author; libxml2 skips the
    # affiliations.
    for part in element.iter("Author", *_NAMES):
        tag = part.tag
        if tag == "Author":
            people.append({"wrong": "yes"} if part.get("ValidYN") == "N" else {})
        elif people and (text := plain_text(part)):
            people[-1]["ForeName" if tag == "FirstName" else tag] = text
    names = [_name(person) for person in people if "wrong" not in person]
    fields["authors"] = tuple([name for name in names if name])


def _name(person: Mapping[str, str]) -> str:
    """Return ``Nightingale F``, ``King ML Jr``, or the name of a group; empty if there is no name."""
    if not person.keys() & {"LastName", "ForeName"}:
        return person.get("CollectiveName", "")
    parts = (person.get("LastName"), person.get("Initials") or person.get("ForeName"), person.get("Suffix"))
    return " ".join(filter(None, parts))


def _mesh(element: _Element, fields: _Fields) -> None:
    fields["mesh"] = tuple([text for part in element.iter("DescriptorName") if (text := plain_text(part))])


def _types(element: _Element, fields: _Fields) -> None:
    fields["publication_types"] = tuple([text for child in children(element) if (text := plain_text(child))])


def _corrections(element: _Element, fields: _Fields) -> None:
    """Set the notices about the article, and the articles it retracts. Partial retractions do not count."""
    for link in element.iter("CommentsCorrections"):
        kind = link.get("RefType")
        if kind not in _RETRACTED_IN and kind not in _RETRACTS and kind not in _NOTICES:
            continue
        parts = {child.tag: plain_text(child) for child in children(link)}
        if notices := _NOTICES.get(kind or ""):
            if name := parts.get("PMID") or parts.get("RefSource"):
                fields[notices] = (*fields.get(notices, ()), name)
            continue
        direction = "retracts" if kind in _RETRACTS else "retracted_by"
        if pmid := parts.get("PMID"):
            fields[direction] = (*fields.get(direction, ()), pmid)
        # Ignore a link that has only a type.
        if kind in _RETRACTED_IN and any(parts.values()):
            fields["retracted"] = True


_PMCID = re.compile(r"PMC\d+")


def _id(kind: str | None, element: _Element, fields: _Fields) -> None:
    """Set the DOI or the PMCID, the first of each."""
    value = plain_text(element)
    if kind == "doi" and value:
        fields.setdefault("doi", value)
    elif kind in ("pmc", "pmcid") and (match := _PMCID.search(value)):
        fields.setdefault("pmcid", match[0])


def _location(element: _Element, fields: _Fields) -> None:
    if element.get("ValidYN") != "N":
        _id(element.get("EIdType"), element, fields)


def _other_id(element: _Element, fields: _Fields) -> None:
    # Old records give the PMC id as "PMC4380289 [Available on 12/01/15]".
    if (element.text or "").strip().startswith("PMC"):
        _id("pmc", element, fields)


def _ids(element: _Element, fields: _Fields) -> None:
    for child in children(element):
        _id(child.get("IdType"), child, fields)


def _history(element: _Element, fields: _Fields) -> None:
    for stage in children(element):
        if stage.get("PubStatus") == "entrez" and stage.tag == "PubMedPubDate" and (date := date_of(stage)):
            fields.setdefault("entrez", date)


def _book(element: _Element, fields: _Fields) -> None:
    book: _Fields = {}
    _fill(element, {"BookTitle": _text("title"), "AuthorList": _authors, "PubDate": _pub_date}, book)
    fields["issue"] = book.pop("issue", None)
    fields["book"] = book


_ISSUE: _Table = {"PubDate": _pub_date, "Volume": _text("volume")}
_PAGES: _Table = {"MedlinePgn": _text("pagination")}
_JOURNAL: _Table = {
    "Title": _text("journal"),
    "ISOAbbreviation": _text("journal_abbreviation"),
    "JournalIssue": _within(lambda: _ISSUE),
}
_ARTICLE: _Table = {
    "Journal": _within(lambda: _JOURNAL),
    "ArticleTitle": _text("title"),
    "VernacularTitle": _text("vernacular_title"),
    "ELocationID": _location,
    "Pagination": _within(lambda: _PAGES),
    "Abstract": _abstract,
    "AuthorList": _authors,
    "Language": _append("languages"),
    "PublicationTypeList": _types,
    "ArticleDate": _date("electronic"),
}
_CITATION: _Table = {
    "PMID": _pmid,
    "DateRevised": _date("revised"),
    "Article": _within(lambda: _ARTICLE),
    "CommentsCorrectionsList": _corrections,
    "MeshHeadingList": _mesh,
    "OtherID": _other_id,
}
_PUBMED_DATA: _Table = {"History": _history, "ArticleIdList": _ids}
_BOOK_DOCUMENT: _Table = {
    "PMID": _pmid,
    "Book": _book,
    "ArticleTitle": _text("title"),
    "VernacularTitle": _text("vernacular_title"),
    "Language": _append("languages"),
    "AuthorList": _authors,
    "PublicationType": _append("publication_types"),
    "Abstract": _abstract,
    "ContributionDate": _date("contribution"),
    "DateRevised": _date("revised"),
    "ArticleIdList": _ids,
}
_RECORD: _Table = {
    "MedlineCitation": _within(lambda: _CITATION),
    "PubmedData": _within(lambda: _PUBMED_DATA),
    "BookDocument": _within(lambda: _BOOK_DOCUMENT),
    "PubmedBookData": _within(lambda: _PUBMED_DATA),
}
