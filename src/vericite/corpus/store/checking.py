"""Whether a store is whole. Loads pyarrow and lancedb."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vericite.corpus.store import tables
from vericite.corpus.store.columns import DESCRIBING_COLUMNS, DOCUMENT_COLUMNS, description_of, document_of
from vericite.corpus.store.contract import in_parts, is_in
from vericite.corpus.store.digests import FILE, Digests
from vericite.corpus.store.place import Place, is_out_of_reach, reason_of
from vericite.corpus.store.tables import PmidFacts
from vericite.errors import InputError

_AT_ONCE = 1000
_RESTORE = "If it says so again, take the store from a copy, or build it again in another place"
_NAMED = 5
"""Problems of one kind that are told one by one; the others are counted."""


def problems_of(table: Any, place: Place, embedder: str | None, facts: PmidFacts) -> Iterator[str]:
    """What is wrong with the documents, the vectors and the indexes of a table, and with facts, a sentence each."""
    yield from _readable("documents", place, lambda: _in_documents(table, embedder))
    digests = Digests(place, tables.DOCUMENTS)
    if found := digests.problem():
        yield (
            f"expected a digest of each file in {FILE}; found {found}. Bytes that changed cannot be told without. If "
            "the store is sound, the next build that adds to it writes them anew"
        )
    for name in digests.changed_data():
        yield f"expected the documents in {name} as they were written; found other bytes. {_RESTORE}"
    yield from _readable("indexes", place, lambda: _in_indexes(table, place, facts))


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
    for batch in tables.rows_where(table, None, columns):
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
    broken = tables.broken_indexes(table, place)
    for column, reason in broken.items():
        yield (
            f"expected an index of {column} that can be read; found: {reason}. Build the store again from any of its "
            "sources, which makes this index anew"
        )
    for column, missing in tables.unindexed(table).items():
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
        for batch in tables.rows_where(table, f"{condition} AND {is_in('pmid', some)}", ["id"]):
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
    for batch in tables.rows_where(table, None, ["id"], batch=65_536):
        ids.update(id for id in batch.column("id").to_pylist() if hash(id) in suspects)
    for id, count in ids.items():
        if count > 1:
            yield f"expected every id once; found {id!r} {count} times"
