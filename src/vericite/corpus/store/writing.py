"""The batches of a build. Loads lancedb and pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vericite.corpus.pubmed.record import Deletion, Retraction
from vericite.corpus.store.columns import unstorable
from vericite.corpus.store.contract import BuildReport, Item, SourceState
from vericite.corpus.store.journal import Journal
from vericite.corpus.store.lance import LanceStore, as_retracted
from vericite.corpus.store.latest import latest_of, replacements
from vericite.errors import RecordError
from vericite.records import Document

CHARACTERS = 64_000_000
"""Of a batch, at most about: full texts make smaller batches than abstracts."""

_TIDY_EVERY = 64


class Writer:
    """Takes items, and commits them batch by batch: what is said of PMIDs, documents, deletions, then the journal.

    Every step may be the last one before the process dies: done again from the first, they lead to the same store.
    That a PMID is deleted or retracted holds for good, for what came before and for what comes later, so that the
    store is the same in whatever order its sources are read.
    """

    def __init__(self, store: LanceStore, batch: int, problems: int, tell: Callable[[str, str, int], None]) -> None:
        self._store = store
        self._journal = Journal(store.place, store.database)
        self._batch, self._most_problems, self._tell = max(1, batch), problems, tell
        self._documents: dict[str, list[Document]] = {}
        self._held = self._characters = 0
        self._gone: list[str] = []
        self._deleted_pmids: set[str] = set()
        self._retracted_pmids: set[str] = set()
        self._retracted_since: list[str] = []
        self._states: dict[str, SourceState] = {}
        self._source, self._retry = "", False
        self.items = self._since = self._writes = 0
        self._taken = self._added = self._replaced = self._deleted = self._refused = 0
        self._problems: list[RecordError] = []

    def claim(self) -> dict[str, SourceState]:
        """Become the store's builder; what was read into it before, by name."""
        self._journal.claim()
        self._deleted_pmids = self._store.facts.known("deleted")
        self._retracted_pmids = self._store.facts.known("retracted")
        return {state.name: state for state in self._journal.sources()}

    def begin(self, state: SourceState, retry: bool = False) -> None:
        """Go on with a source after those of its items that are in the store."""
        self._source, self._retry = state.name, retry
        self._states[state.name] = state

    def take(self, item: Item) -> None:
        """The next item of the source."""
        state = self._states[self._source]
        self._states[self._source] = replace(state, items=state.items + 1)
        self.items += 1
        self._since += 1
        if isinstance(item, Document):
            self._take_document(item, state.items + 1)
        elif isinstance(item, Deletion):
            self._gone += item.pmids
            self._deleted_pmids.update(item.pmids)
        elif isinstance(item, Retraction):
            self._retract(item.pmids)
        else:
            self._refuse(item)
        if self._held >= self._batch or self._since >= 4 * self._batch or self._characters >= CHARACTERS:
            self.flush()

    def _take_document(self, document: Document, number: int) -> None:
        if reason := unstorable(document):
            problem = f"expected a document that a file can hold; found {reason}"
            self._refuse(RecordError(self._source, number, None, problem))
            return
        if document.pmid and document.retracted:
            self._retract((document.pmid,))
        if document.pmid in self._deleted_pmids:
            self._deleted += 1
            return
        self._taken += 1
        self._held += 1
        self._characters += len(document.text)
        self._documents.setdefault(document.id, []).append(document)

    def _retract(self, pmids: tuple[str, ...]) -> None:
        self._retracted_since += [pmid for pmid in pmids if pmid not in self._retracted_pmids]
        self._retracted_pmids.update(pmids)

    def _refuse(self, problem: RecordError) -> None:
        state = self._states[self._source]
        self._states[self._source] = replace(state, refused=state.refused + 1)
        self._refused += 1
        if len(self._problems) < self._most_problems:
            self._problems.append(problem)

    def end(self) -> None:
        """All of the source was taken."""
        state = self._states[self._source]
        self._states[self._source] = replace(state, done=not (self._retry and state.refused))

    def flush(self) -> None:
        """Commit what was taken, and note it."""
        if not self._states:
            return
        self._write()
        self._journal.note(self._states.values())
        # A source that goes on is noted again with the next batch; one that ended is not.
        self._states = {name: state for name, state in self._states.items() if name == self._source and not state.done}
        self._since = 0
        self._tell("reading", self._source, self.items)

    def _write(self) -> None:
        self._journal.check_claim()
        self._store.facts.learn("deleted", self._gone)
        self._store.facts.learn("retracted", self._retracted_since)
        left = {id: latest_of(same) for id, same in self._documents.items()}
        again = {id: same for id, same in self._documents.items() if len(same) > 1}
        before = self._store.states_of(again)
        marked = [as_retracted(document, self._retracted_pmids) for document in left.values()]
        added, replaced = self._store.merge(self._store.rows_of(marked))
        self._added += added
        # Of those that came several times the commit counts the last one alone.
        self._replaced += replaced + sum(
            replacements(before.get(id), same) - replacements(before.get(id), [left[id]]) for id, same in again.items()
        )
        if self._gone:
            self._deleted += self._store.delete_where("pmid", self._gone)
        self._documents, self._held, self._characters = {}, 0, 0
        self._gone, self._retracted_since = [], []
        self._writes += 1
        if self._writes % _TIDY_EVERY == 0:
            self._store.facts.tidy()

    def finish(self) -> None:
        """Leave the journal tidy."""
        self._journal.tidy()
        self._store.facts.tidy()

    def mark_retracted(self) -> None:
        """Mark what was in the store before its retraction was read."""
        self._journal.check_claim()
        self._store.mark_retracted(self._retracted_pmids)

    def report(self, skipped: tuple[str, ...], resumed: tuple[str, ...], seconds: float) -> BuildReport:
        """What was done in all."""
        return BuildReport(
            added=self._added,
            replaced=self._replaced,
            outdated=self._taken - self._added - self._replaced,
            deleted=self._deleted,
            refused=self._refused,
            problems=tuple(self._problems),
            skipped=skipped,
            resumed=resumed,
            seconds=seconds,
        )
