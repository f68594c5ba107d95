"""Documents kept in a folder or a bucket, found by words, by meaning and by id: from a hundred to all of PubMed.

``build_store`` makes a store and adds to it, ``open_store`` reads it. Both need the extra ``[store]`` (LanceDB); its
packages are loaded when they are called.
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
