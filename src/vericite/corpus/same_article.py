"""Merge records of the same article: one with its PMID, others with only its DOI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vericite.records import Document

_FILLED = (
    "title", "pmcid", "journal", "year", "date", "languages", "authors", "mesh", "publication_types",
)  # fmt: skip
"""Fields that a record takes from another record of the same article if its own are empty."""


def doi_alone(document: Document) -> str | None:
    """Return the lower-case DOI of a record whose id is that DOI and that has no PMID; None for other records."""
    doi = (document.doi or "").lower()
    return doi if doi and document.pmid is None and document.id.lower() == f"doi:{doi}" else None


def joined(kept: Document, other: Document) -> Document:
    """Fill empty fields of a record from another record of the same article."""
    filled: dict[str, Any] = {name: getattr(other, name) for name in _FILLED if not getattr(kept, name)}
    if not kept.text:
        filled["sections"] = other.sections
    return kept.model_copy(update=filled | {"retracted": kept.retracted or other.retracted})


def each_article_once(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Return the records in order, with records that have only a DOI merged into the one with the same DOI."""
    given = list(documents)
    with_pmid = {document.doi.lower(): document.id for document in given if document.doi and document.pmid}
    return tuple(join_records(given, with_pmid).values())


def join_records(documents: Iterable[Document], with_pmid: Mapping[str, str]) -> dict[str, Document]:
    """Return the records by id, in order, each article once.

    Args:
        documents: The records; no two have the same id.
        with_pmid: Ids of records that have a PMID and a DOI, by the lower-case DOI.
    """
    made = {document.id: document for document in documents}
    first: dict[str, str] = {}
    for id, document in list(made.items()):
        doi = doi_alone(document)
        if doi is None:
            continue
        kept = with_pmid.get(doi) or first.setdefault(doi, id)
        if kept != id and kept in made:
            made[kept] = joined(made[kept], made.pop(id))
    return made
