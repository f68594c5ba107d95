"""Write a store in batches, so that a killed build can continue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vericite.corpus.pubmed.record import Deletion, Retraction
from vericite.corpus.store.columns import (
    Row,
    State,
    documents_of_rows,
    pmid_of_row,
    replacements,
    retracted_row,
    row_of,
    row_retracted,
    state_of_row,
)
from vericite.corpus.store.contract import BuildReport, Item, Missing, PreparedRow, SourceState
from vericite.corpus.store.lance import Journal, LanceStore
from vericite.errors import Problems, RecordError
from vericite.records import Document

_TIDY_EVERY = 64


@dataclass(frozen=True)
class WrittenBatch:
    """Changes that are committed together.

    Attributes:
        table: The documents, each id once, as ``LanceStore.merge`` takes them.
        again: For ids that occurred several times, the states of their documents in order.
        deleted: Deleted PMIDs.
        retracted: Newly retracted PMIDs.
        states: States of the sources after this batch.
        items: Number of items read so far.
    """

    table: Any
    again: Mapping[str, Sequence[State]]
    deleted: Sequence[str]
    retracted: Sequence[str]
    states: Sequence[SourceState]
    items: int


@dataclass(frozen=True)
class Committed:
    """Result of a batch: numbers of documents added, replaced and deleted."""

    batch: WrittenBatch
    added: int
    replaced: int
    deleted: int


class Committer:
    """Commits batches one after the other: facts about PMIDs, documents, deletions, then the journal.

    The process may die after any step: repeating all steps leads to the same store. Commits run in a thread of their
    own, one batch at a time, while the next batch is read: LanceDB releases the GIL.
    """

    def __init__(self, store: LanceStore, journal: Journal) -> None:
        self._store, self._journal = store, journal
        self._thread = ThreadPoolExecutor(1, "vericite-store")
        self._going: Future[Committed] | None = None
        self._writes = 0

    def begin(self, batch: WrittenBatch) -> None:
        """Start committing a batch; call ``done`` for the previous batch first."""
        self._going = self._thread.submit(self._commit, batch)

    @property
    def ready(self) -> bool:
        """Whether a batch is committed, so that ``done`` returns without waiting."""
        return self._going is not None and self._going.done()

    def done(self) -> Committed | None:
        """Wait for the current batch and return its result; None if there is no batch.

        Raises:
            InputError: The commit failed.
        """
        going, self._going = self._going, None
        return None if going is None else going.result()

    def close(self) -> None:
        """Wait until all writes are done."""
        self._thread.shutdown()

    def _commit(self, batch: WrittenBatch) -> Committed:
        self._journal.check_claim()
        self._store.facts.learn("deleted", batch.deleted)
        self._store.facts.learn("retracted", batch.retracted)
        before = self._store.states_of(batch.again)
        added, replaced = self._store.merge(batch.table)
        # For ids that came several times, the commit only counts the last document.
        replaced += sum(
            replacements(before.get(id), states) - replacements(before.get(id), [max(states)])
            for id, states in batch.again.items()
        )
        deleted = self._store.delete_where("pmid", batch.deleted) if batch.deleted else 0
        self._journal.note(batch.states)
        self._writes += 1
        if self._writes % _TIDY_EVERY == 0:
            self._store.facts.tidy()
        return Committed(batch, added, replaced, deleted)


CHARACTERS = 64_000_000
"""Approximate maximum characters of a batch: batches of full texts have fewer documents."""


_EMBEDDED_AT_ONCE = 100
"""Number of documents embedded between progress reports; takes some seconds."""


class Writer:
    """Collects items and commits them in batches. Use it as a context manager, which waits for the last batch.

    A deletion or retraction of a PMID applies to earlier and later documents alike, so that the order of the sources
    does not matter.
    """

    def __init__(self, store: LanceStore, batch: int, problems: int, report: Callable[[str, str, int], None]) -> None:
        self._store = store
        self._journal = Journal(store.place, store.database)
        self._committer = Committer(store, self._journal)
        self._batch, self._most_problems, self._report = max(1, batch), problems, report
        self._rows: dict[str, Row] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._again: dict[str, list[State]] = {}
        self._accepted = self._characters = 0
        self._gone: list[str] = []
        self._deleted_pmids: set[str] = set()
        self._retracted_pmids: set[str] = set()
        self._retracted_since: list[str] = []
        self._states: dict[str, SourceState] = {}
        self._state, self._retry = SourceState("", ""), False
        self._read = self._unfit = self._absent = 0
        self.items = self._since = 0
        self._taken = self._added = self._replaced = self._deleted = self._refused = self._missing = self._joined = 0
        self._problems = Problems()
        self._absentees = Problems()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._committer.close()

    def claim(self) -> dict[str, SourceState]:
        """Become the store's builder; return the states of its sources by name."""
        self._journal.claim()
        self._deleted_pmids = self._store.facts.known("deleted")
        self._retracted_pmids = self._store.facts.known("retracted")
        return {state.name: state for state in self._journal.sources()}

    def begin(self, state: SourceState, retry: bool = False) -> None:
        """Start a source after its items that are already in the store."""
        self._state, self._retry = state, retry
        self._read, self._unfit, self._absent = state.items, state.refused, state.missing
        self._states[state.name] = state

    def take(self, item: Item) -> None:
        """Add the next item of the source."""
        self._read += 1
        self.items += 1
        self._since += 1
        if isinstance(item, Document):
            self._take_document(item)
        elif isinstance(item, PreparedRow):
            self._take_prepared(item)
        elif isinstance(item, Deletion):
            self._gone += item.pmids
            self._deleted_pmids.update(item.pmids)
        elif isinstance(item, Retraction):
            self._retract(item.pmids)
        elif isinstance(item, Missing):
            self._absent += 1
            self._missing += 1
            self._absentees += [item.problem][: self._most_problems - len(self._absentees)]
        else:
            self._refuse(item)
        if self._accepted >= self._batch or self._since >= 4 * self._batch or self._characters >= CHARACTERS:
            self.flush()
        elif self._committer.ready:
            self._settle()

    def _take_document(self, document: Document) -> None:
        try:
            row = row_of(document)
        except ValueError as error:
            self._refuse_document(str(error))
        else:
            self._take_row(row)

    def _take_prepared(self, prepared: PreparedRow) -> None:
        if prepared.row is None:
            self._refuse_document(prepared.unfit)
            return
        row = prepared.row
        if self._take_row(row) and prepared.vector is not None:
            self._vectors[row[0]] = prepared.vector

    def _refuse_document(self, problem: str) -> None:
        expected = f"expected a document that can be stored; found {problem}"
        self._refuse(RecordError(self._state.name, self._read, None, expected))

    def _take_row(self, row: Row) -> bool:
        """Add a row; return whether it is the latest version of its id in the batch."""
        pmid = pmid_of_row(row)
        if pmid and retracted_row(row):
            self._retract((pmid,))
        if pmid in self._deleted_pmids:
            self._deleted += 1
            return False
        self._taken += 1
        self._accepted += 1
        self._characters += len(row[1])
        earlier = self._rows.setdefault(row[0], row)
        if earlier is not row:
            self._again.setdefault(row[0], [state_of_row(earlier)]).append(state_of_row(row))
            if state_of_row(row) < state_of_row(earlier):
                return False
            self._rows[row[0]] = row
            # The vector belongs to the earlier version.
            self._vectors.pop(row[0], None)
        return True

    def _retract(self, pmids: tuple[str, ...]) -> None:
        self._retracted_since += [pmid for pmid in pmids if pmid not in self._retracted_pmids]
        self._retracted_pmids.update(pmids)

    def _refuse(self, problem: RecordError) -> None:
        self._unfit += 1
        self._refused += 1
        self._problems += [problem][: self._most_problems - len(self._problems)]

    def end(self) -> None:
        """Mark the source as read completely."""
        self._note(done=not (self._retry and self._unfit))

    def _note(self, done: bool) -> None:
        self._state = replace(self._state, items=self._read, refused=self._unfit, missing=self._absent, done=done)
        self._states[self._state.name] = self._state

    def flush(self) -> None:
        """Commit the collected items as a batch, after the previous batch."""
        if not self._states:
            return
        if not self._state.done:
            self._note(done=False)
        if self._store.embedder is not None:
            # Embedding takes longer than the commit, and all cores.
            self._settle()
        rows = [row_retracted(row, self._retracted_pmids) for row in self._rows.values()]
        table = self._store.table_of(rows, self._vectors_of(rows))
        batch = WrittenBatch(
            table, self._again, self._gone, self._retracted_since, tuple(self._states.values()), self.items
        )
        self._settle()
        self._committer.begin(batch)
        self._rows, self._vectors, self._again, self._accepted, self._characters = {}, {}, {}, 0, 0
        self._gone, self._retracted_since = [], []
        # An unfinished source is recorded again with the next batch.
        self._states = {} if self._state.done else {self._state.name: self._state}
        self._since = 0

    def _vectors_of(self, rows: Sequence[Row]) -> NDArray[np.float32] | None:
        """Return the vectors of rows, made in parts to report progress; None if the store has no vectors."""
        if self._store.embedder is None:
            return None
        made = dict(self._vectors)
        missing = [row for row in rows if row[0] not in made]
        before = self.items - self._since
        for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
            some = missing[start : start + _EMBEDDED_AT_ONCE]
            made.update(zip((row[0] for row in some), self._store.embed(documents_of_rows(some)), strict=True))
            share = (start + len(some)) / len(missing)
            self._report("embedding", self._state.name, before + int(self._since * share))
        return np.stack([made[row[0]] for row in rows]) if rows else self._store.embed([])

    def _settle(self) -> None:
        """Wait for the current batch, count its results and report progress."""
        if done := self._committer.done():
            self._added += done.added
            self._replaced += done.replaced
            self._deleted += done.deleted
            self._report("reading", done.batch.states[-1].name, done.batch.items)

    def finish_reading(self) -> None:
        """Commit the remaining items and wait."""
        self.flush()
        self._settle()

    def finish(self) -> None:
        """Tidy the tables of the journal and the facts."""
        self._journal.tidy()
        self._store.facts.tidy()

    def mark_retracted(self) -> None:
        """Mark documents that were stored before their retraction was read."""
        self._journal.check_claim()
        self._store.mark_retracted(self._retracted_pmids)

    def join_articles(self) -> None:
        """Merge records of the same article."""
        self._journal.check_claim()
        self._joined = self._store.join_articles()

    def report(self, skipped: tuple[str, ...], resumed: tuple[str, ...], seconds: float) -> BuildReport:
        """Return the report of the whole build."""
        return BuildReport(
            added=self._added,
            replaced=self._replaced,
            outdated=self._taken - self._added - self._replaced,
            deleted=self._deleted,
            refused=self._refused,
            missing=self._missing,
            problems=tuple([*self._problems, *self._absentees][: self._most_problems]),
            skipped=skipped,
            resumed=resumed,
            seconds=seconds,
            joined=self._joined,
        )
