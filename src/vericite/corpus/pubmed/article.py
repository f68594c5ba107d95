"""A whole record: PubmedArticle, MedlineCitation, PubmedBookArticle, or a list of deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vericite.corpus.pubmed.book import take_book_document
from vericite.corpus.pubmed.citation import take_citation, take_id
from vericite.corpus.pubmed.gather import Fields, Table, date_of, gather
from vericite.corpus.pubmed.markup import children, plain_text
from vericite.corpus.pubmed.record import Deletion, PubMedRecord

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

DELETIONS = frozenset({"DeleteCitation", "DeleteDocument"})


def record_of(element: _Element) -> PubMedRecord | Deletion:
    """The record in an element.

    Raises:
        pydantic.ValidationError: It is none: it has no PMID, or something impossible in it.
    """
    if element.tag in DELETIONS:
        return Deletion(pmids=tuple((child.text or "").strip() for child in element if child.tag == "PMID"))
    fields: Fields = {}
    if element.tag == "MedlineCitation":
        take_citation(element, fields)
    else:
        gather(element, _RECORD, fields)
    if references := fields.get("references"):
        fields["references"] = tuple(dict.fromkeys(references))
    return PubMedRecord.model_validate(fields)


def _take_history(element: _Element, fields: Fields) -> None:
    stages: list[Fields] = []
    for stage in children(element):
        status = stage.get("PubStatus")
        if status and stage.tag == "PubMedPubDate" and (date := date_of(stage)):
            stages.append({"status": status, "date": date})
    fields["history"] = tuple(stages)


def _take_ids(element: _Element, fields: Fields) -> None:
    for child in children(element):
        take_id(child.get("IdType"), child, fields)


def _take_references(element: _Element, fields: Fields) -> None:
    # Lists may lie within lists, so the ids are sought at any depth.
    cited = (plain_text(child) for child in element.iter("ArticleId") if child.get("IdType") == "pubmed")
    fields["references"] = (*fields.get("references", ()), *filter(None, cited))


_PUBMED_DATA: Table = {
    "History": _take_history,
    "PublicationStatus": "publication_status",
    "ArticleIdList": _take_ids,
    "ReferenceList": _take_references,
}


def _take_pubmed_data(element: _Element, fields: Fields) -> None:
    gather(element, _PUBMED_DATA, fields)


def _take_book_document(element: _Element, fields: Fields) -> None:
    take_book_document(element, fields)
    gather(element, {"ArticleIdList": _take_ids, "ReferenceList": _take_references}, fields)


_RECORD: Table = {
    "MedlineCitation": take_citation,
    "PubmedData": _take_pubmed_data,
    "BookDocument": _take_book_document,
    "PubmedBookData": _take_pubmed_data,
}
