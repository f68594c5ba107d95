"""Batches of a build, written while the next one is read. Loads lancedb and pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from vericite.corpus.store.contract import SourceState
from vericite.corpus.store.journal import Journal
from vericite.corpus.store.lance import LanceStore
from vericite.corpus.store.latest import State, replacements

_TIDY_EVERY = 64


@dataclass(frozen=True)
class Batch:
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

    batch: Batch
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

    def begin(self, batch: Batch) -> None:
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

    def _commit(self, batch: Batch) -> Committed:
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
