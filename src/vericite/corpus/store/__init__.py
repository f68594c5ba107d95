"""Stores of documents in a folder or a bucket, searched by words, by vectors and by id; up to all of PubMed.

``build_store`` creates a store or adds to it, ``open_store`` opens it. Both need the extra ``[store]`` (LanceDB), whose
packages are imported when they are called.
"""

from vericite.corpus.store.building import build_store, open_store
from vericite.corpus.store.contract import (
    BuildReport,
    Filters,
    Found,
    Hit,
    Missing,
    Progress,
    Source,
    SourceState,
    Store,
    StoreInfo,
)

__all__ = [
    "BuildReport",
    "Filters",
    "Found",
    "Hit",
    "Missing",
    "Progress",
    "Source",
    "SourceState",
    "Store",
    "StoreInfo",
    "build_store",
    "open_store",
]
