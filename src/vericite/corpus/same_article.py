"""Records of one article: one that has its PMID, and others that have its DOI alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vericite.records import Document

_FILLED = (
    "title", "pmcid", "journal", "year", "date", "languages", "authors", "mesh", "publication_types",
)  # fmt: skip
"""Fields that a record takes from another of the same article where it has none itself."""


def doi_alone(document: Document) -> str | None:
    """The DOI, in small letters, of a record that is named by it and has no PMID; None for every other record."""
    doi = (document.doi or "").lower()
    return doi if doi and document.pmid is None and document.id.lower() == f"doi:{doi}" else None


def joined(kept: Document, other: Document) -> Document:
    """A record with what only another record of the same article has."""
    filled: dict[str, Any] = {name: getattr(other, name) for name in _FILLED if not getattr(kept, name)}
    if not kept.text:
        filled["sections"] = other.sections
    return kept.model_copy(update=filled | {"retracted": kept.retracted or other.retracted})


def each_article_once(documents: Iterable[Document]) -> tuple[Document, ...]:
    """The records in their order, those that have only the DOI of another one joined with it."""
    given = list(documents)
    with_pmid = {document.doi.lower(): document.id for document in given if document.doi and document.pmid}
    return tuple(join_records(given, with_pmid).values())


def join_records(documents: Iterable[Document], with_pmid: Mapping[str, str]) -> dict[str, Document]:
    """The records by their ids, in their order, each article once.

    Args:
        documents: The records, each with an id of its own.
        with_pmid: The ids of those that have a PMID and a DOI, by the DOI in small letters.
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
