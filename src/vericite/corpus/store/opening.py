"""Opening a store that is there, and making one where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vericite.corpus.store.contract import Embedding, Store
from vericite.corpus.store.place import Place, place_of, strangers, told
from vericite.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from vericite.corpus.store.lance import LanceStore


def open_store(place: str | Path, embedder: Embedding | None = None) -> Store:
    """Open a store to read it, or to change it document by document.

    Args:
        place: A folder, or an address such as ``s3://bucket/prefix``: credentials, region and endpoint are those of
            the usual variables (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``,
            ``AWS_ENDPOINT_URL``).
        embedder: Makes the vectors of what is put, where the store has vectors; the bundled one if None.

    Raises:
        InputError: There is no store, or one of a later form, or the place cannot be reached.
        MissingExtraError: LanceDB is not installed.
    """
    require_extra()
    where = place_of(place)
    found = existing_store(where, embedder)
    if found is None:
        raise InputError(
            f"expected a store in {where.name}; found none. Build one: vericite corpus build FILES --to {where.name}"
        )
    return found


def require_extra() -> None:
    """Make sure that what keeps a store is installed.

    Raises:
        MissingExtraError: It is not.
    """
    try:
        import lancedb  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import pyarrow  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]
    except ImportError:
        raise MissingExtraError("store", "The document store") from None


def existing_store(place: Place, embedder: Embedding | None) -> LanceStore | None:
    """The store at a place, or None where there is nothing.

    Raises:
        InputError: There is something else, or the place cannot be reached.
    """
    from vericite.corpus.store import tables
    from vericite.corpus.store.lance import LanceStore

    if place.folder is not None:
        if found := strangers(place.folder):
            named = ", ".join(found[:3])
            raise InputError(
                f"expected a store, or an empty folder; found {place.name}, a folder of something else ({named})"
            )
        if not place.folder.exists():
            return None
    with told("reach", place):
        database = tables.connect(place)
        names = set(database.list_tables().tables)
        if tables.DOCUMENTS not in names or not _is_whole(database, tables.DOCUMENTS):
            return None
    return LanceStore(place, database, embedder)


def _is_whole(database: object, table: str) -> bool:
    # A build that died while it made the table leaves a folder of that name without a table in it.
    try:
        database.open_table(table)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    except ValueError as error:
        if "not found" in str(error):
            return False
        raise
    return True


def new_store(place: Place, embedder: Embedding | None, vectors: bool) -> LanceStore:
    """An empty store at a place where there is none.

    Raises:
        InputError: The place cannot be written to.
    """
    from vericite.corpus.store import tables
    from vericite.corpus.store.columns import schema
    from vericite.corpus.store.lance import LanceStore, bundled_embedder

    signature = width = None
    if vectors:
        embedder = embedder or bundled_embedder()
        signature, width = embedder.signature, embedder.embed(["width"]).shape[1]
    with told("write to", place):
        database = tables.connect(place)
        database.create_table(tables.DOCUMENTS, schema=schema(signature, width), exist_ok=True)
    return LanceStore(place, database, embedder)
