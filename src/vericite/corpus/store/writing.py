"""Writing a store in batches: what of a source is new, committed so that a kill does no harm."""

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
from vericite.errors import RecordError
from vericite.records import Document

_TIDY_EVERY = 64


@dataclass(frozen=True)
class WrittenBatch:
    """What is committed together.

    Attributes:
        table: The documents, each id once, as ``LanceStore.merge`` takes them.
        again: Of ids that came several times what their documents are ordered by, as they came.
        deleted: PMIDs that are deleted.
        retracted: PMIDs that are retracted, and were not known as such.
        states: How far the sources are in the store with this batch.
        items: How many items were read until here.
    """

    table: Any
    again: Mapping[str, Sequence[State]]
    deleted: Sequence[str]
    retracted: Sequence[str]
    states: Sequence[SourceState]
    items: int


@dataclass(frozen=True)
class Committed:
    """What a batch did: documents added, replaced and deleted."""

    batch: WrittenBatch
    added: int
    replaced: int
    deleted: int


class Committer:
    """Commits batches one after the other: what is said of PMIDs, documents, deletions, then the journal.

    Every step may be the last one before the process dies: done again from the first, they lead to the same store.
    It works in a thread of its own, at one batch at a time and never with another waiting: LanceDB needs Python's lock
    for none of it, so that meanwhile the next one is read.
    """

    def __init__(self, store: LanceStore, journal: Journal) -> None:
        self._store, self._journal = store, journal
        self._thread = ThreadPoolExecutor(1, "vericite-store")
        self._going: Future[Committed] | None = None
        self._writes = 0

    def begin(self, batch: WrittenBatch) -> None:
        """Begin to commit; the batch before has to be taken by ``done`` first."""
        self._going = self._thread.submit(self._commit, batch)

    @property
    def ready(self) -> bool:
        """Whether ``done`` need not wait for a batch."""
        return self._going is not None and self._going.done()

    def done(self) -> Committed | None:
        """What the batch did that was begun last, once it is committed; None where there is none.

        Raises:
            InputError: It could not be committed.
        """
        going, self._going = self._going, None
        return None if going is None else going.result()

    def close(self) -> None:
        """Wait until nothing is written any more."""
        self._thread.shutdown()

    def _commit(self, batch: WrittenBatch) -> Committed:
        self._journal.check_claim()
        self._store.facts.learn("deleted", batch.deleted)
        self._store.facts.learn("retracted", batch.retracted)
        before = self._store.states_of(batch.again)
        added, replaced = self._store.merge(batch.table)
        # Of those that came several times the commit counts the last one alone.
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
"""Of a batch, at most about: full texts make smaller batches than abstracts."""


_EMBEDDED_AT_ONCE = 100
"""Documents: some seconds' work, after which it is told how far it is."""


class Writer:
    """Takes items, and hands them on batch by batch; use it as a context, which waits for the last one.

    That a PMID is deleted or retracted holds for good, for what came before and for what comes later, so that the
    store is the same in whatever order its sources are read.
    """

    def __init__(self, store: LanceStore, batch: int, problems: int, tell: Callable[[str, str, int], None]) -> None:
        self._store = store
        self._journal = Journal(store.place, store.database)
        self._committer = Committer(store, self._journal)
        self._batch, self._most_problems, self._tell = max(1, batch), problems, tell
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
        self._problems: list[RecordError] = []
        self._absentees: list[RecordError] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._committer.close()

    def claim(self) -> dict[str, SourceState]:
        """Become the store's builder; what was read into it before, by name."""
        self._journal.claim()
        self._deleted_pmids = self._store.facts.known("deleted")
        self._retracted_pmids = self._store.facts.known("retracted")
        return {state.name: state for state in self._journal.sources()}

    def begin(self, state: SourceState, retry: bool = False) -> None:
        """Go on with a source after those of its items that are in the store."""
        self._state, self._retry = state, retry
        self._read, self._unfit, self._absent = state.items, state.refused, state.missing
        self._states[state.name] = state

    def take(self, item: Item) -> None:
        """The next item of the source."""
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
        expected = f"expected a document that a file can hold; found {problem}"
        self._refuse(RecordError(self._state.name, self._read, None, expected))

    def _take_row(self, row: Row) -> bool:
        """Whether it is the latest of its id in the batch."""
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
            # It was of the document before.
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
        """All of the source was taken."""
        self._note(done=not (self._retry and self._unfit))

    def _note(self, done: bool) -> None:
        self._state = replace(self._state, items=self._read, refused=self._unfit, missing=self._absent, done=done)
        self._states[self._state.name] = self._state

    def flush(self) -> None:
        """Hand on what was taken, once the batch before is committed."""
        if not self._states:
            return
        if not self._state.done:
            self._note(done=False)
        if self._store.embedder is not None:
            # The making of vectors takes both longer and every core.
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
        # A source that goes on is noted again with the next batch; one that ended is not.
        self._states = {} if self._state.done else {self._state.name: self._state}
        self._since = 0

    def _vectors_of(self, rows: Sequence[Row]) -> NDArray[np.float32] | None:
        """Their vectors, made some at a time to tell how far it is; None where the store has none."""
        if self._store.embedder is None:
            return None
        made = dict(self._vectors)
        missing = [row for row in rows if row[0] not in made]
        before = self.items - self._since
        for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
            some = missing[start : start + _EMBEDDED_AT_ONCE]
            made.update(zip((row[0] for row in some), self._store.embed(documents_of_rows(some)), strict=True))
            share = (start + len(some)) / len(missing)
            self._tell("embedding", self._state.name, before + int(self._since * share))
        return np.stack([made[row[0]] for row in rows]) if rows else self._store.embed([])

    def _settle(self) -> None:
        """Count, and tell of, the batch that was handed on last."""
        if done := self._committer.done():
            self._added += done.added
            self._replaced += done.replaced
            self._deleted += done.deleted
            self._tell("reading", done.batch.states[-1].name, done.batch.items)

    def finish_reading(self) -> None:
        """Commit what was taken, and wait until it is."""
        self.flush()
        self._settle()

    def finish(self) -> None:
        """Leave the journal tidy."""
        self._journal.tidy()
        self._store.facts.tidy()

    def mark_retracted(self) -> None:
        """Mark what was in the store before its retraction was read."""
        self._journal.check_claim()
        self._store.mark_retracted(self._retracted_pmids)

    def join_articles(self) -> None:
        """Leave one record of each article."""
        self._journal.check_claim()
        self._joined = self._store.join_articles()

    def report(self, skipped: tuple[str, ...], resumed: tuple[str, ...], seconds: float) -> BuildReport:
        """What was done in all."""
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
