"""Documents as people have them, read one after the other: PubMed, JATS, NBIB, RIS, tables, JSON, texts."""

from vericite.corpus.sources.folder import Source, sources_in
from vericite.corpus.sources.form import Item, SourceForm
from vericite.corpus.sources.pmids import pmids_in
from vericite.corpus.sources.registry import AUTO, PMIDS, SOURCES, documents_in, form_of

__all__ = [
    "AUTO",
    "PMIDS",
    "SOURCES",
    "Item",
    "Source",
    "SourceForm",
    "documents_in",
    "form_of",
    "pmids_in",
    "sources_in",
]
