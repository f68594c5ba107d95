"""The parts of a BookDocument: a book, or a chapter of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vericite.corpus.pubmed.citation import (
    take_abstract,
    take_authors,
    take_grants,
    take_investigators,
    take_pmid,
    take_pub_date,
)
from vericite.corpus.pubmed.gather import Fields, Table, append_to, date_into, gather, texts_into
from vericite.corpus.pubmed.markup import plain_text

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_PUBLISHER: Table = {"PublisherName": "publisher", "PublisherLocation": "place"}


def _take_publisher(element: _Element, fields: Fields) -> None:
    gather(element, _PUBLISHER, fields)


_BOOK: Table = {
    "BookTitle": "title",
    "CollectionTitle": "collection",
    "Publisher": _take_publisher,
    "Edition": "edition",
    "Volume": "volume",
    "VolumeTitle": "volume_title",
    "Medium": "medium",
    "ReportNumber": "report_number",
    "Isbn": append_to("isbns"),
    "BeginningDate": date_into("begun"),
    "EndingDate": date_into("ended"),
    "AuthorList": take_authors,
    "InvestigatorList": take_investigators,
}


def _take_book(element: _Element, fields: Fields) -> None:
    book: Fields = {}
    gather(element, _BOOK, book)
    book.pop("authors_complete", None)
    fields["book"] = book
    gather(element, {"PubDate": take_pub_date}, fields)


def _contents(element: _Element) -> tuple[Fields, ...]:
    return tuple(_content(child) for child in element if child.tag == "Section")


def _content(element: _Element) -> Fields:
    content: Fields = {"title": "", "contents": _contents(element)}
    for child in element:
        if child.tag == "SectionTitle":
            content["title"] = plain_text(child)
        elif child.tag == "LocationLabel":
            content["label"] = plain_text(child) or None
    return content


def _take_contents(element: _Element, fields: Fields) -> None:
    fields["contents"] = _contents(element)


_DOCUMENT: Table = {
    "PMID": take_pmid,
    "Book": _take_book,
    "ArticleTitle": "title",
    "VernacularTitle": "vernacular_title",
    "Language": append_to("languages"),
    "AuthorList": take_authors,
    "InvestigatorList": take_investigators,
    "PublicationType": append_to("publication_types"),
    "Abstract": take_abstract,
    "Sections": _take_contents,
    "KeywordList": texts_into("keywords"),
    "ContributionDate": date_into("contribution_date"),
    "DateRevised": date_into("revised_date"),
    "GrantList": take_grants,
}


def take_book_document(element: _Element, fields: Fields) -> None:
    """All of a BookDocument but its ids and references. A book as a whole has the book's own title and authors."""
    gather(element, _DOCUMENT, fields)
    book = fields.get("book", {})
    fields.setdefault("title", book.get("title", ""))
    if not fields.get("authors") and book.get("authors"):
        fields["authors"] = book["authors"]
