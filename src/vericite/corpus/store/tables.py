"""The tables of a store in LanceDB: connecting, searching, indexing and verifying. Imports lancedb."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Literal, cast, get_args

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree, IvfSq, LabelList
from lancedb.query import MatchQuery

from vericite.corpus.store.columns import (
    DESCRIBING_COLUMNS,
    DOCUMENT_COLUMNS,
    PRIMARY,
    REPLACES,
    description_of,
    document_of,
)
from vericite.corpus.store.contract import has_any, in_parts, is_in
from vericite.corpus.store.digests import FILE, Digests, without_panics
from vericite.corpus.store.place import Place, is_out_of_reach, reason_of, store_errors
from vericite.errors import InputError

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportCallIssue=false


DOCUMENTS = "documents"

VECTOR_INDEX_FROM = 100_000
"""Minimum documents for a vector index. With fewer, comparing with every vector is fast, and exact."""

KEPT = timedelta(hours=1)
"""How long files of earlier states are kept for readers that use them. Each append leaves about as many bytes behind as
the index has, so a day would be too long."""

_NEAR, _REFINED = 20, 4
"""For a vector index: the number of cells to search, and the factor of extra candidates to compare exactly."""

_PROBE = "patients treatment disease"
"""Words to test a word index with; even an index without them has to be opened."""

_RESTORE = "If this happens again, restore the store from a backup, or build it again in another place"
_NAMED = 5
"""Maximum problems of one kind to list; the others are counted."""

_SCALARS: dict[str, Any] = {
    "id": BTree,
    "pmid": BTree,
    "year": BTree,
    "journal": BTree,
    "retracted": Bitmap,
    "mesh": LabelList,
    "publication_types": LabelList,
}


def connect(place: Place) -> Any:
    """Open the database at a place; a missing folder is created."""
    # By default LanceDB reserves a core for I/O. With two cores, a build would take a third longer.
    os.environ.setdefault("LANCE_CPU_THREADS", str(os.cpu_count() or 1))
    # Absolute, because LanceDB would read a relative folder such as gs:/bucket as an address.
    where = place.name if place.folder is None else place.folder.absolute()
    return lancedb.connect(where, storage_options=place.options)


def words_index() -> FTS:
    """Configure the word index: split at non-alphanumeric characters, lower case, no accents, English stems.

    Stems, because "inhibits" in a question has to find "inhibition". Stop words are LanceDB's English list. No
    positions, which only phrase queries need.
    """
    return FTS(with_position=False, num_workers=os.cpu_count())


def make_indexes(table: Any, place: Place) -> None:
    """Create missing indexes and update the others.

    Raises:
        InputError: LanceDB failed.
    """
    with store_errors("index", place):
        rows = table.count_rows()
        wanted = _wanted(table, rows)
        there = {column: index for index in table.list_indices() for column in index.columns}
        if any(index.num_unindexed_rows for index in there.values()):
            table.optimize(cleanup_older_than=KEPT)
        for column, config in wanted.items():
            if column not in there:
                table.create_index(column, config=config)
    Digests(place, DOCUMENTS).learn()


def repair_indexes(table: Any, place: Place) -> None:
    """Rebuild unreadable indexes.

    Raises:
        InputError: LanceDB failed.
    """
    with store_errors("index", place):
        wanted = _wanted(table, table.count_rows())
        for column in broken_indexes(table, place):
            if column in wanted:
                table.create_index(column, config=wanted[column])


def _wanted(table: Any, rows: int) -> dict[str, Any]:
    if not rows:
        return {}
    wanted = {column: kind() for column, kind in _SCALARS.items()} | {"body": words_index()}
    if "vector" in table.schema.names and rows >= VECTOR_INDEX_FROM:
        wanted["vector"] = IvfSq(distance_type="cosine")
    return wanted


def unindexed(table: Any) -> dict[str, int]:
    """Return the number of rows that each index does not cover; for a missing index, all rows."""
    rows = table.count_rows()
    there = {column: index.num_unindexed_rows or 0 for index in table.list_indices() for column in index.columns}
    return {column: there.get(column, rows) for column in _wanted(table, rows)}


def broken_indexes(table: Any, place: Place) -> dict[str, str]:
    """Return unreadable indexes by column, with the reason; empty for a table without rows."""
    if not table.count_rows():
        # There is no value to test an index with.
        return {}
    digests = Digests(place, DOCUMENTS)
    found: dict[str, str] = {}
    with without_panics():
        for index in table.list_indices():
            (column,) = index.columns
            # Do not open it: LanceDB may do anything with changed bytes.
            if name := digests.changed_index(index.index_uuid):
                found[column] = f"{name} has changed since it was written"
                continue
            try:
                _try_index(table, column)
            # A damaged file may also make LanceDB's Rust code panic; the RustPanic that it raises cannot be imported.
            except Exception as error:
                if is_out_of_reach(error, place):
                    raise
                found[column] = reason_of(error)
    return found


def _try_index(table: Any, column: str) -> None:
    # Do not read the whole index: with all of PubMed it may not fit into memory, and LanceDB would then report a good
    # index as unusable. A search opens each file at its end, which detects truncated files.
    if column not in ("body", "vector"):
        (value,) = table.head(1)[column].to_pylist()
        table.count_rows(_equal(column, value))
        return
    if column == "body":
        query = table.search(MatchQuery(_PROBE, "body"), query_type="fts").select(["_score"])
    else:
        vector = [1.0] * table.schema.field("vector").type.list_size
        query = table.search(vector, vector_column_name="vector").distance_type("cosine").select(["_distance"])
    # Search only the index: rows outside of it say nothing about it and are slow to compare.
    query.fast_search().limit(1).to_arrow()


def _equal(column: str, value: Any) -> str:
    """Return a condition that reads the index page with this value, or the pages without a value."""
    if isinstance(value, list):
        return has_any(column, cast(list[str], value) or [""]) or ""
    if isinstance(value, str):
        return is_in(column, [value])
    return f"{column} IS NULL" if value is None else f"{column} = {str(value).lower()}"


def by_words(table: Any, words: str, limit: int, predicate: str | None) -> Any:
    """Return the row numbers (``_rowid``) and ``_score`` of the rows that match the words best."""
    # A query object, because LanceDB would parse a string as a query syntax.
    query = table.search(MatchQuery(words, "body"), query_type="fts")
    return _where(query, predicate).select(["_score"]).with_row_id(True).limit(limit).to_arrow()


def by_vector(table: Any, vector: Any, limit: int, predicate: str | None) -> Any:
    """Return the row numbers (``_rowid``) and ``_distance`` (1 minus the cosine) of the rows closest to a vector."""
    query = table.search(vector, vector_column_name="vector").distance_type("cosine")
    query = query.nprobes(_NEAR).refine_factor(_REFINED)
    return _where(query, predicate).select(["_distance"]).with_row_id(True).limit(limit).to_arrow()


def rows_at(table: Any, numbers: Sequence[int], columns: Sequence[str]) -> Any:
    """Return the rows with these numbers, each once, in any order, with ``_rowid``."""
    return table.take_row_ids(list(numbers)).select(list(columns)).with_row_id().to_arrow()


def _where(query: Any, predicate: str | None) -> Any:
    return query.where(predicate, prefilter=True) if predicate else query


def rows_where(table: Any, predicate: str | None, columns: Sequence[str], batch: int = 1024) -> Any:
    """Return an iterator over batches of the rows that meet a condition."""
    return _where(table.search(), predicate).select(list(columns)).to_batches(batch)


def merge_documents(table: Any, rows: Any) -> tuple[int, int]:
    """Write rows in one commit: add new ids, and replace stored documents that are not later versions.

    Returns:
        The numbers of rows added and replaced.
    """
    merge = table.merge_insert("id").when_matched_update_all(where=REPLACES)
    done = merge.when_not_matched_insert_all().execute(rows)
    return done.num_inserted_rows, done.num_updated_rows


# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false


PMIDS = "pmids"

Fact = Literal["deleted", "retracted"]
"""A fact about a PMID."""

_KEPT = timedelta(minutes=10)
_AT_ONCE = 1000

_FORM = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False, metadata=PRIMARY),
        pa.field("pmid", pa.string(), nullable=False),
        pa.field("fact", pa.string(), nullable=False),
    ]
)


class PmidFacts:
    """Facts about PMIDs, which also apply to documents added later. Reading does not create the table."""

    def __init__(self, place: Place, database: Any) -> None:
        self._place = place
        self._database = database

    def known(self, fact: Fact, among: Collection[str] | None = None) -> set[str]:
        """Return the PMIDs with this fact, optionally only those ``among`` some PMIDs."""
        table = self._table()
        if table is None:
            return set()
        found: set[str] = set()
        for some in [None] if among is None else in_parts(among, _AT_ONCE):
            condition = f"fact = '{fact}'" + (f" AND {is_in('pmid', some)}" if some else "")
            with store_errors("read", self._place):
                found.update(table.search().where(condition).select(["pmid"]).to_arrow().column("pmid").to_pylist())
        return found

    def learn(self, fact: Fact, pmids: Iterable[str]) -> None:
        """Record this fact for these PMIDs; known facts may be repeated."""
        rows = [{"key": f"{fact} {pmid}", "pmid": pmid, "fact": fact} for pmid in dict.fromkeys(pmids)]
        if not rows:
            return
        with store_errors("write to", self._place):
            table = self._database.create_table(PMIDS, schema=_FORM, exist_ok=True)
            merge = table.merge_insert("key").when_not_matched_insert_all()
            merge.execute(pa.Table.from_pylist(rows, schema=_FORM))

    def forget(self, fact: Fact, pmids: Collection[str]) -> None:
        """Remove this fact for these PMIDs."""
        known = self.known(fact, pmids)
        for some in in_parts(known, _AT_ONCE):
            with store_errors("write to", self._place):
                self._database.open_table(PMIDS).delete(f"fact = '{fact}' AND {is_in('pmid', some)}")

    def problems(self) -> Iterator[str]:
        """Yield a sentence for each problem with the facts."""
        table = self._table()
        if table is None:
            return
        seen: set[str] = set()
        facts = get_args(Fact)
        with store_errors("read", self._place):
            if missing := set(_FORM.names) - set(table.schema.names):
                yield f"expected the columns of the table {PMIDS}; found none named {', '.join(sorted(missing))}"
                return
            for batch in table.search().select(_FORM.names).to_batches(65_536):
                for row in batch.to_pylist():
                    if row["fact"] not in facts or row["key"] != f"{row['fact']} {row['pmid']}":
                        yield f"expected a fact of a PMID; found {row!r}"
                    elif row["key"] in seen:
                        yield f"expected every fact once; found {row['key']!r} again"
                    seen.add(row["key"])

    def tidy(self) -> None:
        """Merge the many small files into one."""
        if self._table() is not None:
            with store_errors("write to", self._place):
                self._database.open_table(PMIDS).optimize(cleanup_older_than=_KEPT)

    def _table(self) -> Any:
        with store_errors("read", self._place):
            return self._database.open_table(PMIDS) if PMIDS in self._database.list_tables().tables else None


def problems_of(table: Any, place: Place, embedder: str | None, facts: PmidFacts) -> Iterator[str]:
    """Yield a sentence for each problem with the documents, vectors and indexes of a table, and with the facts."""
    yield from _readable("documents", place, lambda: _in_documents(table, embedder))
    digests = Digests(place, DOCUMENTS)
    if found := digests.problem():
        yield (
            f"expected a digest of each file in {FILE}; found {found}. Without digests, changed bytes cannot be "
            "detected. The next build that adds to the store writes them again"
        )
    for name in digests.changed_data():
        yield changed_documents(name)
    yield from _readable("indexes", place, lambda: _in_indexes(table, place, facts))


def changed_documents(name: str) -> str:
    """Return the error for a data file that has changed since it was written."""
    return f"expected the documents in {name} as they were written; found other bytes. {_RESTORE}"


def _readable(what: str, place: Place, problems: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Yield the problems, and a last one if reading them fails."""
    try:
        yield from problems()
    except InputError as error:
        yield f"{error} {_RESTORE}"
    # Exception, because LanceDB's RustPanic cannot be imported.
    except Exception as error:
        if is_out_of_reach(error, place):
            raise
        yield f"expected to read all {what}; found: {reason_of(error)}. {_RESTORE}"


def _in_documents(table: Any, embedder: str | None) -> Iterator[str]:
    counts: Counter[str] = Counter()
    # Hashes, because the ids of all of PubMed would not fit into a laptop's memory.
    hashes = array("q")
    columns = [*DOCUMENT_COLUMNS, *DESCRIBING_COLUMNS, *(["vector"] if embedder else [])]
    for batch in rows_where(table, None, columns):
        for kind, problem in _problems_in(batch, hashes, embedder is not None):
            counts[kind] += 1
            if counts[kind] <= _NAMED:
                yield problem
    for kind, count in counts.items():
        if count > _NAMED:
            yield f"expected every {kind} to be valid; found {count - _NAMED} more that are not"
    rows = table.count_rows()
    if rows != len(hashes):
        yield f"expected to read {rows} documents, the number of rows; found {len(hashes)}"
    yield from _repeated(table, hashes)


def _in_indexes(table: Any, place: Place, facts: PmidFacts) -> Iterator[str]:
    broken = broken_indexes(table, place)
    for column, reason in broken.items():
        yield (
            f"expected a readable index of {column}; found: {reason}. Build the store again from any of its sources "
            "to rebuild this index"
        )
    for column, missing in unindexed(table).items():
        if missing:
            yield f"expected the index of {column} to cover all documents; found {missing} outside. Index the store"
    # PMIDs cannot be looked up through a broken index, which was reported above.
    if not broken.keys() & {"pmid", "retracted"}:
        yield from _readable("facts of PMIDs", place, lambda: _in_facts(table, facts))


def _in_facts(table: Any, facts: PmidFacts) -> Iterator[str]:
    yield from facts.problems()
    yield from _against(table, "no document of a deleted PMID", facts.known("deleted"), "true")
    yield from _against(table, "every document of a retracted PMID marked", facts.known("retracted"), "NOT retracted")


def _against(table: Any, expected: str, pmids: set[str], condition: str) -> Iterator[str]:
    """Yield a problem if documents with these PMIDs meet a condition that they should not."""
    found: list[str] = []
    for some in in_parts(sorted(pmids), _AT_ONCE):
        for batch in rows_where(table, f"{condition} AND {is_in('pmid', some)}", ["id"]):
            found += batch.column("id").to_pylist()
    if found:
        named = ", ".join(map(repr, sorted(found)[:_NAMED]))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        yield f"expected {expected}; found {named}{more}. If a build was stopped, run it again"


def _problems_in(batch: Any, hashes: array[int], vectors: bool) -> Iterator[tuple[str, str]]:
    for row in batch.select([*DOCUMENT_COLUMNS, *DESCRIBING_COLUMNS]).to_pylist():
        hashes.append(hash(row["id"]))
        if problem := _problem_of(row):
            yield "row", problem
    if vectors:
        yield from _unfit_vectors(batch)


def _problem_of(row: dict[str, Any]) -> str | None:
    try:
        document = document_of(row)
    except (LookupError, TypeError, ValueError) as error:
        return f"expected a document in the row {row['id']!r}; found {' '.join(str(error).split())[:200]}"
    for column in DESCRIBING_COLUMNS:
        expected = description_of(document, column)
        if row[column] != (list(expected) if isinstance(expected, tuple) else expected):
            return f"expected {column} of {document.id!r} to be {expected!r}; found {row[column]!r} in its column"
    return None


def _unfit_vectors(batch: Any) -> Iterator[tuple[str, str]]:
    column = batch.column("vector")
    rows = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(column), -1)
    # float16 has three decimal digits.
    unfit = ~(np.abs(np.linalg.norm(rows, axis=1) - 1) < 0.01)
    for id in batch.column("id").filter(unfit).to_pylist():
        yield "vector", f"expected a vector of length 1 for {id!r}; found another length"


def _repeated(table: Any, hashes: array[int]) -> Iterator[str]:
    values, times = np.unique(np.frombuffer(hashes, dtype=np.int64), return_counts=True)
    suspects = {int(value) for value in values[times > 1]}
    if not suspects:
        return
    # Different ids can have the same hash: compare the ids themselves.
    ids: Counter[str] = Counter()
    for batch in rows_where(table, None, ["id"], batch=65_536):
        ids.update(id for id in batch.column("id").to_pylist() if hash(id) in suspects)
    for id, count in ids.items():
        if count > 1:
            yield f"expected every id once; found {id!r} {count} times"
