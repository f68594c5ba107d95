"""The one module that knows LanceDB by name: connecting, the tables of a store, and whether they are whole.

Loads lancedb.
"""

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
"""Documents. Below, comparing with every vector is quick, and exact."""

KEPT = timedelta(hours=1)
"""How long files of earlier states stay, for readers that began on one. Every append leaves about as many bytes
behind as the index has, so a day would be too long."""

_NEAR, _REFINED = 20, 4
"""Of an index of vectors: the cells looked into, and how many times more candidates are compared in full."""

_PROBE = "patients treatment disease"
"""Words to try an index of words with; one that lacks them all has to be opened to say so."""

_RESTORE = "If it says so again, take the store from a copy, or build it again in another place"
_NAMED = 5
"""Problems of one kind that are told one by one; the others are counted."""

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
    """The database at a place. Of a folder that is not there it is made."""
    # LanceDB leaves cores to reading and writing: of two it computes on one, and a build takes a third longer.
    os.environ.setdefault("LANCE_CPU_THREADS", str(os.cpu_count() or 1))
    # Absolute: LanceDB takes a relative folder named like an address (gs:/bucket) for the address.
    where = place.name if place.folder is None else place.folder.absolute()
    return lancedb.connect(where, storage_options=place.options)


def words_index() -> FTS:
    """How words are found: split at what is no letter or digit, lower case, accents taken off, English stems.

    Stems, because a question's "inhibits" has to find "inhibition"; stop words are LanceDB's English ones. No
    positions: they are for phrases, and a question is none.
    """
    return FTS(with_position=False, num_workers=os.cpu_count())


def make_indexes(table: Any, place: Place) -> None:
    """Make the indexes that are not there, and bring the others up to date.

    Raises:
        InputError: LanceDB could not.
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


def mend_indexes(table: Any, place: Place) -> None:
    """Make those indexes anew that cannot be read.

    Raises:
        InputError: LanceDB could not.
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
    """How many rows each index does not cover; of an index that is not there, all."""
    rows = table.count_rows()
    there = {column: index.num_unindexed_rows or 0 for index in table.list_indices() for column in index.columns}
    return {column: there.get(column, rows) for column in _wanted(table, rows)}


def broken_indexes(table: Any, place: Place) -> dict[str, str]:
    """Why those indexes that cannot be read cannot, by the column that each is of; none of a table without rows."""
    if not table.count_rows():
        # No value to try them with, and nothing to be found through them.
        return {}
    digests = Digests(place, DOCUMENTS)
    found: dict[str, str] = {}
    with without_panics():
        for index in table.list_indices():
            (column,) = index.columns
            # Not opened as well: of changed bytes LanceDB may make anything.
            if name := digests.changed_index(index.index_uuid):
                found[column] = f"other bytes in {name} than were written"
                continue
            try:
                _try_index(table, column)
            # A damaged file may also make LanceDB's Rust panic, and the RustPanic raised for it is an Exception of a
            # module that cannot be imported to name it here.
            except Exception as error:
                if is_out_of_reach(error, place):
                    raise
                found[column] = reason_of(error)
    return found


def _try_index(table: Any, column: str) -> None:
    # Not read whole: of all of PubMed some would not fit into memory, and LanceDB then calls a sound one unusable.
    # To be searched each of its files is opened at its end, where one that was cut off shows.
    if column not in ("body", "vector"):
        (value,) = table.head(1)[column].to_pylist()
        table.count_rows(_equal(column, value))
        return
    if column == "body":
        query = table.search(MatchQuery(_PROBE, "body"), query_type="fts").select(["_score"])
    else:
        vector = [1.0] * table.schema.field("vector").type.list_size
        query = table.search(vector, vector_column_name="vector").distance_type("cosine").select(["_distance"])
    # Rows outside the index say nothing of it, and to compare with each of them takes long.
    query.fast_search().limit(1).to_arrow()


def _equal(column: str, value: Any) -> str:
    """The condition that leads to the page of an index where this value stands, or else to those of no value."""
    if isinstance(value, list):
        return has_any(column, cast(list[str], value) or [""]) or ""
    if isinstance(value, str):
        return is_in(column, [value])
    return f"{column} IS NULL" if value is None else f"{column} = {str(value).lower()}"


def by_words(table: Any, words: str, limit: int, predicate: str | None) -> Any:
    """The numbers of the rows that fit words best (``_rowid``), with their ``_score``."""
    # A query object: of a string LanceDB would read a syntax.
    query = table.search(MatchQuery(words, "body"), query_type="fts")
    return _where(query, predicate).select(["_score"]).with_row_id(True).limit(limit).to_arrow()


def by_vector(table: Any, vector: Any, limit: int, predicate: str | None) -> Any:
    """The numbers of the rows closest to a vector (``_rowid``), with their ``_distance``: 1 less the cosine."""
    query = table.search(vector, vector_column_name="vector").distance_type("cosine")
    query = query.nprobes(_NEAR).refine_factor(_REFINED)
    return _where(query, predicate).select(["_distance"]).with_row_id(True).limit(limit).to_arrow()


def rows_at(table: Any, numbers: Sequence[int], columns: Sequence[str]) -> Any:
    """The rows with these numbers, each once, in any order, with ``_rowid``."""
    return table.take_row_ids(list(numbers)).select(list(columns)).with_row_id().to_arrow()


def _where(query: Any, predicate: str | None) -> Any:
    return query.where(predicate, prefilter=True) if predicate else query


def rows_where(table: Any, predicate: str | None, columns: Sequence[str], batch: int = 1024) -> Any:
    """Stream the rows for which a condition holds, in batches."""
    return _where(table.search(), predicate).select(list(columns)).to_batches(batch)


def merge_documents(table: Any, rows: Any) -> tuple[int, int]:
    """Write rows in one commit: a new id is added, one that is there replaced unless it is the later one.

    How many were added, and how many replaced.
    """
    merge = table.merge_insert("id").when_matched_update_all(where=REPLACES)
    done = merge.when_not_matched_insert_all().execute(rows)
    return done.num_inserted_rows, done.num_updated_rows


# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false


PMIDS = "pmids"

Fact = Literal["deleted", "retracted"]
"""What may be known of a PMID."""

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
    """The facts of a store, which hold for documents that come later too. Reading makes no table."""

    def __init__(self, place: Place, database: Any) -> None:
        self._place = place
        self._database = database

    def known(self, fact: Fact, among: Collection[str] | None = None) -> set[str]:
        """The PMIDs of which this is known, or those of some of them."""
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
        """Remember this of these PMIDs; what is known already may be said again."""
        rows = [{"key": f"{fact} {pmid}", "pmid": pmid, "fact": fact} for pmid in dict.fromkeys(pmids)]
        if not rows:
            return
        with store_errors("write to", self._place):
            table = self._database.create_table(PMIDS, schema=_FORM, exist_ok=True)
            merge = table.merge_insert("key").when_not_matched_insert_all()
            merge.execute(pa.Table.from_pylist(rows, schema=_FORM))

    def forget(self, fact: Fact, pmids: Collection[str]) -> None:
        """Take this back of these PMIDs."""
        known = self.known(fact, pmids)
        for some in in_parts(known, _AT_ONCE):
            with store_errors("write to", self._place):
                self._database.open_table(PMIDS).delete(f"fact = '{fact}' AND {is_in('pmid', some)}")

    def problems(self) -> Iterator[str]:
        """What is wrong with them, a sentence each."""
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
        """Make one file of the many small ones."""
        if self._table() is not None:
            with store_errors("write to", self._place):
                self._database.open_table(PMIDS).optimize(cleanup_older_than=_KEPT)

    def _table(self) -> Any:
        with store_errors("read", self._place):
            return self._database.open_table(PMIDS) if PMIDS in self._database.list_tables().tables else None


def problems_of(table: Any, place: Place, embedder: str | None, facts: PmidFacts) -> Iterator[str]:
    """What is wrong with the documents, the vectors and the indexes of a table, and with facts, a sentence each."""
    yield from _readable("documents", place, lambda: _in_documents(table, embedder))
    digests = Digests(place, DOCUMENTS)
    if found := digests.problem():
        yield (
            f"expected a digest of each file in {FILE}; found {found}. Bytes that changed cannot be told without. If "
            "the store is sound, the next build that adds to it writes them anew"
        )
    for name in digests.changed_data():
        yield changed_documents(name)
    yield from _readable("indexes", place, lambda: _in_indexes(table, place, facts))


def changed_documents(name: str) -> str:
    """What to say of a data file that holds something else than was written."""
    return f"expected the documents in {name} as they were written; found other bytes. {_RESTORE}"


def _readable(what: str, place: Place, problems: Callable[[], Iterator[str]]) -> Iterator[str]:
    """The problems; that they cannot be read to their end is one too."""
    try:
        yield from problems()
    except InputError as error:
        yield f"{error} {_RESTORE}"
    # Also LanceDB's RustPanic, which cannot be imported to name it here.
    except Exception as error:
        if is_out_of_reach(error, place):
            raise
        yield f"expected to read all {what}; found: {reason_of(error)}. {_RESTORE}"


def _in_documents(table: Any, embedder: str | None) -> Iterator[str]:
    counts: Counter[str] = Counter()
    # Of all of PubMed the ids themselves would not fit into a laptop's memory.
    hashes = array("q")
    columns = [*DOCUMENT_COLUMNS, *DESCRIBING_COLUMNS, *(["vector"] if embedder else [])]
    for batch in rows_where(table, None, columns):
        for kind, problem in _problems_in(batch, hashes, embedder is not None):
            counts[kind] += 1
            if counts[kind] <= _NAMED:
                yield problem
    for kind, count in counts.items():
        if count > _NAMED:
            yield f"expected every {kind} to be whole; found {count - _NAMED} more that are not"
    rows = table.count_rows()
    if rows != len(hashes):
        yield f"expected to read the {rows} documents that are counted; found {len(hashes)}"
    yield from _repeated(table, hashes)


def _in_indexes(table: Any, place: Place, facts: PmidFacts) -> Iterator[str]:
    broken = broken_indexes(table, place)
    for column, reason in broken.items():
        yield (
            f"expected an index of {column} that can be read; found: {reason}. Build the store again from any of its "
            "sources, which makes this index anew"
        )
    for column, missing in unindexed(table).items():
        if missing:
            yield f"expected the index of {column} to cover all documents; found {missing} outside. Index the store"
    # Through a broken index of them nothing can be found out about PMIDs; that it is broken was said.
    if not broken.keys() & {"pmid", "retracted"}:
        yield from _readable("facts of PMIDs", place, lambda: _in_facts(table, facts))


def _in_facts(table: Any, facts: PmidFacts) -> Iterator[str]:
    yield from facts.problems()
    yield from _against(table, "no document of a deleted PMID", facts.known("deleted"), "true")
    yield from _against(table, "every document of a retracted PMID marked", facts.known("retracted"), "NOT retracted")


def _against(table: Any, expected: str, pmids: set[str], condition: str) -> Iterator[str]:
    """That no document with one of these PMIDs is what it should not be."""
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
    # float16 keeps three digits.
    unfit = ~(np.abs(np.linalg.norm(rows, axis=1) - 1) < 0.01)
    for id in batch.column("id").filter(unfit).to_pylist():
        yield "vector", f"expected a vector of length 1 for {id!r}; found another"


def _repeated(table: Any, hashes: array[int]) -> Iterator[str]:
    values, times = np.unique(np.frombuffer(hashes, dtype=np.int64), return_counts=True)
    suspects = {int(value) for value in values[times > 1]}
    if not suspects:
        return
    # Two ids can have one hash: those that have are compared by their letters.
    ids: Counter[str] = Counter()
    for batch in rows_where(table, None, ["id"], batch=65_536):
        ids.update(id for id in batch.column("id").to_pylist() if hash(id) in suspects)
    for id, count in ids.items():
        if count > 1:
            yield f"expected every id once; found {id!r} {count} times"
