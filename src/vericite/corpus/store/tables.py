"""The one module that knows LanceDB by name: connecting, and the tables of a store. Loads lancedb."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Literal, cast, get_args

import lancedb
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree, IvfSq, LabelList
from lancedb.query import MatchQuery

from vericite.corpus.store.columns import PRIMARY, REPLACES
from vericite.corpus.store.contract import has_any, in_parts, is_in
from vericite.corpus.store.digests import Digests, without_panics
from vericite.corpus.store.place import Place, is_out_of_reach, reason_of, store_errors

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
    return lancedb.connect(place.folder or place.name, storage_options=place.options)


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
