"""PubMed over the network, through NCBI's E-utilities and within their rate limits.

    with Entrez() as entrez:
        found = entrez.search("aspirin[tiab] AND hasabstract", most=20)
        documents = entrez.fetch(found.ids).documents

The client is imported at its first use; the result classes need neither the HTTP client nor the XML parser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vericite.corpus.entrez.results import EntrezSettings, PubMedSummary, SearchResult, Summaries

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez, Fetched

__all__ = ["Entrez", "EntrezSettings", "Fetched", "PubMedSummary", "SearchResult", "Summaries"]

_HOMES = {"Entrez": "vericite.corpus.entrez.client", "Fetched": "vericite.corpus.entrez.client"}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'vericite.corpus.entrez' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
