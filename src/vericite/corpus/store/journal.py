"""What was read into a store, so that a build goes on where one stopped; and who builds. Loads lancedb and pyarrow.

A batch of documents is committed first and noted here after. A build that dies in between leaves a batch that is
written again by the next one, with the same outcome.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pyarrow as pa

from vericite.corpus.store.columns import PRIMARY
from vericite.corpus.store.contract import SourceState
from vericite.corpus.store.place import Place, told
from vericite.errors import InputError

JOURNAL = "journal"

_BUILDER = ""
"""The name of the row whose fingerprint is the builder's; no source has it."""

_TIDY_EVERY = 64
_KEPT = timedelta(minutes=10)

_LATER = "missing"
"""A column that journals of earlier builds do not have."""

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
    """The notes of a store. Reading makes no table."""

    def __init__(self, place: Place, database: Any) -> None:
        self.place = place
        self._database = database
        self._builder = uuid4().hex
        self._numbers: dict[str, int] = {}
        self._writes = 0

    def sources(self) -> tuple[SourceState, ...]:
        """What was read, in the order in which it was first."""
        rows = sorted((row for row in self._rows() if row["name"] != _BUILDER), key=lambda row: row["number"])
        self._numbers = {row["name"]: row["number"] for row in rows}
        return tuple(SourceState(**{key: row[key] for key in asdict(_NOTHING) if key in row}) for row in rows)

    def claim(self) -> None:
        """Become the store's one builder; whoever was it before learns so at its next batch."""
        with told("write to", self.place):
            if JOURNAL not in self._database.list_tables().tables:
                self._database.create_table(JOURNAL, schema=_FORM, exist_ok=True)
            table = self._database.open_table(JOURNAL)
            if _LATER not in table.schema.names:
                table.add_columns({_LATER: "cast(0 as bigint)"})
        self.sources()
        self._write([replace(_NOTHING, fingerprint=self._builder)])

    def check_claim(self) -> None:
        """Make sure to be the builder still.

        Raises:
            InputError: Another one took over.
        """
        if self._builder not in [row["fingerprint"] for row in self._rows() if row["name"] == _BUILDER]:
            raise InputError(
                f"expected to be the only one that builds {self.place.name}; found that another build took over. "
                "What this one wrote stays"
            )

    def note(self, states: Iterable[SourceState]) -> None:
        """Remember how far these sources are in the store."""
        self._write(list(states))
        self._writes += 1
        if self._writes % _TIDY_EVERY == 0:
            self.tidy()

    def tidy(self) -> None:
        """Make one file of the many small ones."""
        with told("write to", self.place):
            self._database.open_table(JOURNAL).optimize(cleanup_older_than=_KEPT)

    def _rows(self) -> list[dict[str, Any]]:
        with told("read", self.place):
            if JOURNAL not in self._database.list_tables().tables:
                return []
            return self._database.open_table(JOURNAL).search().to_arrow().to_pylist()

    def _write(self, states: list[SourceState]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [{**asdict(state), "at": now, "number": self._number(state.name)} for state in states]
        with told("write to", self.place):
            merge = self._database.open_table(JOURNAL).merge_insert("name").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(pa.Table.from_pylist(rows, schema=_FORM))

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, max(self._numbers.values(), default=0) + 1)


_NOTHING = SourceState(_BUILDER, "")
