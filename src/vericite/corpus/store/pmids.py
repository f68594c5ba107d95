"""What is known of PMIDs beyond the documents: which were deleted for good, and which are retracted. Loads lancedb."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from typing import Any, Literal, get_args

import pyarrow as pa

from vericite.corpus.store.columns import PRIMARY
from vericite.corpus.store.filters import in_parts, is_in
from vericite.corpus.store.place import Place, told

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
            with told("read", self._place):
                found.update(table.search().where(condition).select(["pmid"]).to_arrow().column("pmid").to_pylist())
        return found

    def learn(self, fact: Fact, pmids: Iterable[str]) -> None:
        """Remember this of these PMIDs; what is known already may be said again."""
        rows = [{"key": f"{fact} {pmid}", "pmid": pmid, "fact": fact} for pmid in dict.fromkeys(pmids)]
        if not rows:
            return
        with told("write to", self._place):
            table = self._database.create_table(PMIDS, schema=_FORM, exist_ok=True)
            merge = table.merge_insert("key").when_not_matched_insert_all()
            merge.execute(pa.Table.from_pylist(rows, schema=_FORM))

    def forget(self, fact: Fact, pmids: Collection[str]) -> None:
        """Take this back of these PMIDs."""
        known = self.known(fact, pmids)
        for some in in_parts(known, _AT_ONCE):
            with told("write to", self._place):
                self._database.open_table(PMIDS).delete(f"fact = '{fact}' AND {is_in('pmid', some)}")

    def problems(self) -> Iterator[str]:
        """What is wrong with them, a sentence each."""
        table = self._table()
        if table is None:
            return
        seen: set[str] = set()
        facts = get_args(Fact)
        with told("read", self._place):
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
            with told("write to", self._place):
                self._database.open_table(PMIDS).optimize(cleanup_older_than=_KEPT)

    def _table(self) -> Any:
        with told("read", self._place):
            return self._database.open_table(PMIDS) if PMIDS in self._database.list_tables().tables else None
