"""Documents as people have them, read one after the other: PubMed, JATS, NBIB, RIS, tables, JSON, texts."""

from vericite.corpus.sources.folder import PassedOver, Source, sources_in
from vericite.corpus.sources.form import Item, SourceForm
from vericite.corpus.sources.opening import name_of
from vericite.corpus.sources.pmids import pmids_in
from vericite.corpus.sources.registry import AUTO, PMIDS, READERS, SOURCES, documents_in, form_of

__all__ = [
    "AUTO",
    "PMIDS",
    "READERS",
    "SOURCES",
    "Item",
    "PassedOver",
    "Source",
    "SourceForm",
    "documents_in",
    "form_of",
    "name_of",
    "pmids_in",
    "sources_in",
]
