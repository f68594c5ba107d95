"""A store in LanceDB. Imports lancedb and pyarrow."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vericite.corpus.same_article import doi_alone, join_records
from vericite.corpus.store import tables
from vericite.corpus.store.columns import (
    DOCUMENT_COLUMNS,
    EMBEDDER_KEY,
    PRIMARY,
    SCHEMA,
    VERSION_KEY,
    Row,
    State,
    as_retracted,
    document_table,
    documents_of,
    latest_of,
    row_of,
)
from vericite.corpus.store.contract import (
    LONGEST_QUERY,
    ONLY_DOI,
    WITH_DOI,
    Filters,
    Found,
    Hit,
    SourceState,
    StoreInfo,
    in_parts,
    is_in,
    names_one,
)
from vericite.corpus.store.copying import Copy, size_of
from vericite.corpus.store.digests import Digests, without_panics
from vericite.corpus.store.place import Place, store_errors
from vericite.corpus.store.tables import PMIDS, PmidFacts
from vericite.errors import InputError
from vericite.models.contracts import Embeds
from vericite.records import Document
from vericite.records.base import storable

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false


JOURNAL = "journal"

_BUILDER = ""
"""Name of the row with the builder's id as its fingerprint; no source has this name."""

_TIDY_EVERY = 64
_KEPT = timedelta(minutes=10)

_LATER = "missing"
"""A column that journals of older versions do not have."""

_FORM = pa.schema(
    [
        pa.field("name", pa.string(), nullable=False, metadata=PRIMARY),
        pa.field("fingerprint", pa.string(), nullable=False),
        pa.field("items", pa.int64(), nullable=False),
        pa.field("done", pa.bool_(), nullable=False),
        pa.field("refused", pa.int64(), nullable=False),
        pa.field("at", pa.string(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field(_LATER, pa.int64()),
    ]
)


class Journal:
    """The journal of a store: which sources were read, and how far. Reading does not create the table."""

    def __init__(self, place: Place, database: Any) -> None:
        self.place = place
        self._database = database
        self._builder = uuid4().hex
        self._numbers: dict[str, int] = {}
        self._writes = 0

    def sources(self) -> tuple[SourceState, ...]:
        """Return the sources in the order of their first read."""
        rows = sorted((row for row in self._rows() if row["name"] != _BUILDER), key=lambda row: row["number"])
        self._numbers = {row["name"]: row["number"] for row in rows}
        return tuple(SourceState(**{key: row[key] for key in asdict(_NOTHING) if key in row}) for row in rows)

    def claim(self) -> None:
        """Become the store's only builder; an earlier builder notices at its next batch."""
        with store_errors("write to", self.place):
            if JOURNAL not in self._database.list_tables().tables:
                self._database.create_table(JOURNAL, schema=_FORM, exist_ok=True)
            table = self._database.open_table(JOURNAL)
            if _LATER not in table.schema.names:
                table.add_columns({_LATER: "cast(0 as bigint)"})
        self.sources()
        self._write([replace(_NOTHING, fingerprint=self._builder)])

    def check_claim(self) -> None:
        """Check that no other build has claimed the store.

        Raises:
            InputError: Another build took over.
        """
        if self._builder not in [row["fingerprint"] for row in self._rows() if row["name"] == _BUILDER]:
            raise InputError(
                f"expected to be the only build of {self.place.name}; another build took over. "
                "What this build has written is kept"
            )

    def note(self, states: Iterable[SourceState]) -> None:
        """Record how far these sources are in the store."""
        self._write(list(states))
        self._writes += 1
        if self._writes % _TIDY_EVERY == 0:
            self.tidy()

    def tidy(self) -> None:
        """Merge the many small files into one."""
        with store_errors("write to", self.place):
            self._database.open_table(JOURNAL).optimize(cleanup_older_than=_KEPT)

    def _rows(self) -> list[dict[str, Any]]:
        with store_errors("read", self.place):
            if JOURNAL not in self._database.list_tables().tables:
                return []
            return self._database.open_table(JOURNAL).search().to_arrow().to_pylist()

    def _write(self, states: list[SourceState]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [{**asdict(state), "at": now, "number": self._number(state.name)} for state in states]
        with store_errors("write to", self.place):
            merge = self._database.open_table(JOURNAL).merge_insert("name").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(pa.Table.from_pylist(rows, schema=_FORM))

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, max(self._numbers.values(), default=0) + 1)


_NOTHING = SourceState(_BUILDER, "")


# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false


COMPARED = 64 << 20
"""Maximum bytes of documents that are checked against their digests before the first read (under 0.2 s). Larger stores
are checked when all documents are read, and by ``vericite corpus verify``."""

FRESH = 5.0
"""Seconds after which a reader looks for new writes of other processes."""

_SPARE = 16
"""Extra rows to fetch, so that ties at the cut are seen."""

_NAMES_AT_ONCE = 200
"""Names per pass over all rows, each of which is compared with all names."""

_IDS_AT_ONCE, _DELETED_AT_ONCE = 1000, 5000
"""Values per condition. Each part of a deletion is a commit."""


class LanceStore:
    """A ``Store`` in tables of LanceDB.

    Args:
        place: Place of the store.
        database: LanceDB's database at that place.
        embedder: Makes the vectors of new documents. Default: the bundled embedder, loaded when needed.
        copy: Local copy from which a store in a bucket is read. Default: read the bucket itself.
    """

    def __init__(self, place: Place, database: Any, embedder: Embeds | None = None, copy: Copy | None = None) -> None:
        self.place = place
        self.database = database
        self._copy = copy
        self.facts = PmidFacts(place, database)
        self._given = embedder
        self._lock = Lock()
        self._opened = -FRESH
        self._table: Any = None
        self._signed: tuple[int, str] | None = None
        self._comparing = Lock()
        self._compared: frozenset[str] = frozenset()
        self._compared_state = -1
        self.form = self.snapshot().schema
        self._check_version()

    def _check_version(self) -> None:
        value = (self.form.metadata or {}).get(VERSION_KEY.encode(), b"").decode()
        if not value.isdigit():
            raise InputError(f"expected a store of documents; found {self.place.name}, another kind of database")
        if int(value) != SCHEMA:
            raise InputError(
                f"expected a store of format {SCHEMA}; found {self.place.name} of format {value}. "
                f"{'Upgrade vericite, or build' if int(value) > SCHEMA else 'Build'} the store again in another place"
            )

    @property
    def embedder(self) -> str | None:
        """Signature of the embedder that made the vectors; None without vectors."""
        value = (self.form.metadata or {}).get(EMBEDDER_KEY.encode())
        return value.decode() if value else None

    @property
    def signature(self) -> str:
        """See ``Store.signature``; computed again when the table changes."""
        table = self.snapshot()
        if self._signed is None or self._signed[0] != table.version:
            with store_errors("read", self.place):
                count = table.count_rows()
            sources = Journal(self.place, self.database).sources()
            read = sorted((source.fingerprint, source.items) for source in sources)
            digest = blake2b(json.dumps([count, read]).encode(), digest_size=6).hexdigest()
            self._signed = (table.version, f"{count}@{digest}")
        return self._signed[1]

    @property
    def width(self) -> int:
        """Number of dimensions of the vectors, in a store that has them."""
        return self.form.field("vector").type.list_size

    def snapshot(self) -> Any:
        """Return the table in a consistent state that is at most a few seconds old."""
        with self._lock:
            now = time.monotonic()
            if now - self._opened >= FRESH:
                with store_errors("read", self.place):
                    # A new handle: updating the old one would change it under its readers.
                    self._table = self._copy.table() if self._copy else self.database.open_table(tables.DOCUMENTS)
                self._opened = now
            return self._table

    def _sound(self, whole: bool = False) -> Any:
        """Return the snapshot after checking its files against their digests.

        Each file is checked once per process. Buckets are not checked: they keep their own checksums.

        Args:
            whole: Also check large stores, for callers that read all documents anyway.

        Raises:
            InputError: A file has changed since it was written.
        """
        table = self.snapshot()
        folder = self.place.folder
        if folder is None or (self._compared_state == table.version and not whole):
            return table
        digests = Digests(self.place, tables.DOCUMENTS)
        with self._comparing:
            new = digests.data_files() - self._compared
            if whole or sum(size_of(folder / f"{tables.DOCUMENTS}.lance" / name) or 0 for name in new) <= COMPARED:
                for name in digests.changed_data(but=self._compared):
                    raise InputError(tables.changed_documents(name))
                self._compared |= new
            self._compared_state = table.version
        return table

    def _latest(self) -> Any:
        """Return the current table, not a copy or an older snapshot; later reads use it too."""
        with self._lock:
            self._opened = -FRESH
        if self._copy is None:
            return self.snapshot()
        with store_errors("read", self.place):
            return self.database.open_table(tables.DOCUMENTS)

    def put(self, documents: Iterable[Document]) -> None:
        """See ``Store.put``. All documents are held in memory.

        Raises:
            InputError: A document cannot be stored, or the place cannot be written to.
        """
        given: dict[str, list[Document]] = {}
        for document in documents:
            given.setdefault(document.id, []).append(document)
        each = [document for same in given.values() for document in same]
        pmids = {document.pmid for document in each if document.pmid}
        retracted = {document.pmid for document in each if document.pmid and document.retracted}
        marked = retracted | self.facts.known("retracted", pmids)
        left = [as_retracted(latest_of(same), marked) for same in given.values()]
        try:
            rows = [row_of(document) for document in left]
        except ValueError as error:
            raise InputError(f"expected documents that can be stored; found {error}") from None
        table = self._table_of(rows, left)
        self.facts.forget("deleted", pmids)
        self.facts.learn("retracted", retracted)
        self.merge(table)
        self.mark_retracted(retracted)

    def mark_retracted(self, pmids: Iterable[str]) -> None:
        """Mark the documents with these PMIDs that are not marked yet."""
        for some in in_parts(pmids, _IDS_AT_ONCE):
            unmarked = f"retracted = false AND {is_in('pmid', some)}"
            if found := list(self._stream(self._latest(), unmarked)):
                marked = [as_retracted(document, set(some)) for document in found]
                self.merge(self._table_of([row_of(document) for document in marked], marked))

    def join_articles(self) -> int:
        """Merge records with only a DOI into another record of the same article; return the number removed."""
        table = self._latest()
        alone = [document for document in self._stream(table, ONLY_DOI) if doi_alone(document)]
        if not alone:
            return 0
        dois = {doi for document in alone if (doi := doi_alone(document))}
        with_pmid: dict[str, str] = {}
        with store_errors("read", self.place):
            for batch in tables.rows_where(table, WITH_DOI, ["id", "about"]):
                for id, about in zip(batch["id"].to_pylist(), batch["about"].to_pylist(), strict=True):
                    doi = json.loads(about)["doi"].lower()
                    if doi in dois:
                        with_pmid.setdefault(doi, str(id))
        partners = [
            document
            for some in in_parts(with_pmid.values(), _IDS_AT_ONCE)
            for document in self._stream(table, is_in("id", some))
        ]
        before = {document.id: document for document in (*partners, *sorted(alone, key=lambda document: document.id))}
        after = join_records(before.values(), with_pmid)
        changed = [document for id, document in after.items() if document != before[id]]
        # Write first, delete second: a build that stops in between repeats this.
        self.merge(self._table_of([row_of(document) for document in changed], changed))
        return self.delete([id for id in before if id not in after])

    def states_of(self, ids: Iterable[str]) -> dict[str, State]:
        """Return the ``state_of`` of the stored documents with these ids."""
        found: dict[str, State] = {}
        for some in in_parts(ids, _IDS_AT_ONCE):
            with store_errors("read", self.place):
                for batch in tables.rows_where(self._latest(), is_in("id", some), ["id", "version", "revised"]):
                    found.update((row["id"], (row["version"], row["revised"] or "")) for row in batch.to_pylist())
        return found

    def table_of(self, rows: Sequence[Row], vectors: NDArray[np.float32] | None) -> Any:
        """Build the table that ``merge`` takes from rows."""
        return document_table(rows, self.form, vectors)

    def _table_of(self, rows: Sequence[Row], documents: Sequence[Document]) -> Any:
        return self.table_of(rows, self.embed(documents) if self.embedder else None)

    def embed(self, documents: Sequence[Document]) -> NDArray[np.float32]:
        """Return the vectors of documents from the store's embedder."""
        if not documents:
            return np.zeros((0, self.width), dtype=np.float32)
        return self._own_embedder().embed(document.titled_text for document in documents)

    def _own_embedder(self) -> Embeds:
        if self._given is None:
            self._given = bundled_embedder()
        if self._given.signature != self.embedder:
            raise InputError(
                f"expected the embedder of the store's vectors, {self.embedder}; found {self._given.signature}. "
                "Build the store again in another place"
            )
        return self._given

    def merge(self, rows: Any) -> tuple[int, int]:
        """Write rows with distinct ids in one commit; return how many were added and how many replaced another."""
        if not rows.num_rows:
            return 0, 0
        with store_errors("write to", self.place):
            done = tables.merge_documents(self.database.open_table(tables.DOCUMENTS), rows)
        self._latest()
        return done

    def delete(self, ids: Iterable[str]) -> int:
        """See ``Store.delete``."""
        return self.delete_where("id", ids)

    def delete_where(self, column: str, values: Iterable[str]) -> int:
        """Remove the documents with one of these values in a column; return their number."""
        deleted = 0
        for some in in_parts(values, _DELETED_AT_ONCE):
            with store_errors("write to", self.place):
                table = self.database.open_table(tables.DOCUMENTS)
                deleted += table.delete(is_in(column, some)).num_deleted_rows
        self._latest()
        return deleted

    def get(self, ids: Iterable[str]) -> Found:
        """See ``Store.get``."""
        asked = list(ids)
        there: dict[str, Document] = {}
        table = self._sound()
        for some in in_parts(asked, _IDS_AT_ONCE):
            there.update((document.id, document) for document in self._stream(table, is_in("id", some)))
        missing = tuple(id for id in dict.fromkeys(asked) if id not in there)
        return Found(tuple(there[id] for id in asked if id in there), missing)

    def of_pmids(self, pmids: Iterable[str]) -> tuple[Document, ...]:
        """See ``Store.of_pmids``."""
        table = self._sound()
        parts = in_parts(pmids, _IDS_AT_ONCE)
        return tuple(document for some in parts for document in self._stream(table, is_in("pmid", some)))

    def of_names(self, dois: Iterable[str], pmcids: Iterable[str]) -> tuple[Document, ...]:
        """See ``Store.of_names``."""
        table = self._sound()
        names = [*(("doi", doi) for doi in dois), *(("pmcid", pmcid) for pmcid in pmcids)]
        parts = (names[start : start + _NAMES_AT_ONCE] for start in range(0, len(names), _NAMES_AT_ONCE))
        return tuple(document for some in parts for document in self._stream(table, names_one(some)))

    def scan(self, filters: Filters | None = None) -> Iterator[Document]:
        """See ``Store.scan``."""
        return self._stream(self._sound(whole=True), filters.predicate() if filters else None)

    def _stream(self, table: Any, predicate: str | None) -> Iterator[Document]:
        with store_errors("read", self.place):
            for batch in tables.rows_where(table, predicate, DOCUMENT_COLUMNS):
                yield from documents_of(batch)

    def search(self, query: str, k: int, filters: Filters | None = None) -> tuple[Hit, ...]:
        """See ``Store.search``."""
        words = storable(query[:LONGEST_QUERY])
        table, predicate = self._sound(), filters.predicate() if filters else None

        def ask(limit: int) -> Any:
            return tables.by_words(table, words, limit, predicate)

        with store_errors("search", self.place):
            return _hits(table, _best(ask, k, "_score", lambda score: score), k)

    def search_vectors(self, vector: NDArray[np.float32], k: int, filters: Filters | None = None) -> tuple[Hit, ...]:
        """See ``Store.search_vectors``."""
        self._check_vector(vector)
        table, predicate = self._sound(), filters.predicate() if filters else None

        def ask(limit: int) -> Any:
            return tables.by_vector(table, vector.astype(np.float32), limit, predicate)

        with store_errors("search", self.place):
            return _hits(table, _best(ask, k, "_distance", lambda distance: 1 - distance), k)

    def _check_vector(self, vector: NDArray[np.float32]) -> None:
        if self.embedder is None:
            raise InputError(
                f"expected a store with vectors; found {self.place.name}, which has none. Build a store with vectors "
                "in another place"
            )
        width = self.width
        if vector.shape != (width,) or not np.isfinite(vector).all():
            raise InputError(f"expected a vector of {width} finite numbers; found shape {vector.shape}")

    def index(self) -> None:
        """See ``Store.index``.

        Raises:
            InputError: LanceDB failed; the previous indexes are kept.
        """
        tables.make_indexes(self.database.open_table(tables.DOCUMENTS), self.place)
        self._latest()

    def repair(self) -> None:
        """Rebuild unreadable indexes, through which nothing could be found."""
        tables.repair_indexes(self.database.open_table(tables.DOCUMENTS), self.place)
        self._latest()

    def drop(self) -> bool:
        """Remove the store if it has no documents; return whether it was removed. Then it must not be used again.

        Other files in its folder or bucket are kept.
        """
        with store_errors("write to", self.place):
            # Count now: another build may have taken over and written meanwhile.
            if self.database.open_table(tables.DOCUMENTS).count_rows():
                return False
            # The documents go last: a leftover journal would make the next build skip its sources.
            for name in (JOURNAL, PMIDS, tables.DOCUMENTS):
                self.database.drop_table(name, ignore_missing=True)
            Digests(self.place, tables.DOCUMENTS).forget()
        return True

    def info(self) -> StoreInfo:
        """See ``Store.info``."""
        table = self._latest()
        with store_errors("read", self.place):
            return StoreInfo(
                documents=table.count_rows(),
                with_abstract=table.count_rows("characters > 0"),
                years=_years(table),
                retracted=table.count_rows("retracted = true"),
                size=table.stats()["total_bytes"],
                unindexed=max(tables.unindexed(table).values(), default=0),
                embedder=self.embedder,
                schema=SCHEMA,
                sources=Journal(self.place, self.database).sources(),
            )

    def verify(self) -> tuple[str, ...]:
        """See ``Store.verify``."""
        with store_errors("read", self.place), without_panics():
            return tuple(tables.problems_of(self._latest(), self.place, self.embedder, self.facts))


def bundled_embedder() -> Embeds:
    """Return the embedder that comes with VeriCite, and load its weights."""
    from vericite.models.embedder import Embedder

    return Embedder.shared()


def _years(table: Any) -> tuple[int, int] | None:
    found: list[int] = []
    for batch in tables.rows_where(table, None, ["year"], batch=65_536):
        years = batch.column("year").drop_null().to_numpy()
        if len(years):
            found += [int(years.min()), int(years.max())]
    return (min(found), max(found)) if found else None


def _best(ask: Callable[[int], Any], k: int, column: str, score: Callable[[float], float]) -> dict[int, float]:
    """Return the scores of the k best rows and of all ties with the last: LanceDB would return any of the ties."""
    if k < 1:
        raise InputError(f"expected to search for at least one document; found k = {k}")
    limit = k + _SPARE
    while True:
        rows = ask(limit)
        scores = {
            row: score(value)
            for row, value in zip(rows.column("_rowid").to_pylist(), rows.column(column).to_pylist(), strict=True)
        }
        ranked = sorted(scores.values(), reverse=True)
        if len(ranked) < limit or ranked[-1] < ranked[k - 1]:
            last = ranked[min(k, len(ranked)) - 1] if ranked else 0.0
            return {row: value for row, value in scores.items() if value >= last}
        limit *= 4


def _hits(table: Any, scores: dict[int, float], k: int) -> tuple[Hit, ...]:
    if not scores:
        return ()
    if len(scores) > k + _SPARE:
        # Many ties: their ids decide, so that only the documents that are returned are read.
        ids = tables.rows_at(table, list(scores), ["id"])
        named = sorted(zip(ids.column("id").to_pylist(), ids.column("_rowid").to_pylist(), strict=True))
        scores = {row: scores[row] for _, row in sorted(named, key=lambda item: -scores[item[1]])[:k]}
    rows = tables.rows_at(table, list(scores), DOCUMENT_COLUMNS)
    found = zip(documents_of(rows), rows.column("_rowid").to_pylist(), strict=True)
    hits = [Hit(document, scores[row]) for document, row in found]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.document.id))[:k])
