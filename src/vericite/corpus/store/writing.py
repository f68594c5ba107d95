"""The batches of a build. Loads lancedb and pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from vericite.corpus.pubmed.record import Deletion
from vericite.corpus.store.columns import BATCH_ERRORS
from vericite.corpus.store.contract import BuildReport, Item, SourceState
from vericite.corpus.store.journal import Journal
from vericite.corpus.store.lance import LanceStore, keep_latest
from vericite.errors import RecordError
from vericite.records import Document

CHARACTERS = 64_000_000
"""Of a batch, at most about: full texts make smaller batches than abstracts."""


class _Origin(NamedTuple):
    source: str
    number: int


class Writer:
    """Takes items, and commits them batch by batch: documents, then deletions, then the journal.

    Every step may be the last one before the process dies: done again from the first, they lead to the same store.
    """

    def __init__(self, store: LanceStore, batch: int, problems: int, tell: Callable[[str, str, int], None]) -> None:
        self._store = store
        self._journal = Journal(store.place, store.database)
        self._batch, self._most_problems, self._tell = max(1, batch), problems, tell
        self._documents: dict[str, Document] = {}
        self._origins: dict[str, _Origin] = {}
        self._characters = 0
        self._gone: list[str] = []
        self._states: dict[str, SourceState] = {}
        self._source = ""
        self.items = self._since = 0
        self._taken = self._added = self._replaced = self._deleted = self._refused = 0
        self._problems: list[RecordError] = []

    def claim(self) -> dict[str, SourceState]:
        """Become the store's builder; what was read into it before, by name."""
        self._journal.claim()
        return {state.name: state for state in self._journal.sources()}

    def begin(self, state: SourceState) -> None:
        """Go on with a source after those of its items that are in the store."""
        self._source = state.name
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
        else:
            self._refuse(self._source, item)
        if len(self._documents) >= self._batch or self._since >= 4 * self._batch or self._characters >= CHARACTERS:
            self.flush()

    def _take_document(self, document: Document, number: int) -> None:
        if self._gone:
            # What a source takes back is what came before; this document comes after.
            self._write()
        self._taken += 1
        if keep_latest(self._documents, document):
            self._origins[document.id] = _Origin(self._source, number)
            self._characters += len(document.text)

    def _refuse(self, source: str, problem: RecordError) -> None:
        state = self._states[source]
        self._states[source] = replace(state, refused=state.refused + 1)
        self._refused += 1
        if len(self._problems) < self._most_problems:
            self._problems.append(problem)

    def end(self) -> None:
        """All of the source was taken."""
        self._states[self._source] = replace(self._states[self._source], done=True)

    def flush(self) -> None:
        """Commit what was taken, and note it."""
        if not self._states:
            return
        self._write()
        self._journal.note(self._states.values())
        # A source that goes on is noted again with the next batch; one that ended is not.
        self._states = {name: state for name, state in self._states.items() if not state.done}
        self._since = 0
        self._tell("reading", self._source, self.items)

    def _write(self) -> None:
        self._journal.check_claim()
        added, replaced = self._store.merge(self._rows())
        self._added += added
        self._replaced += replaced
        if self._gone:
            self._deleted += self._store.delete_where("pmid", self._gone)
        self._documents, self._origins, self._characters, self._gone = {}, {}, 0, []

    def _rows(self) -> object:
        try:
            return self._store.rows_of(list(self._documents.values()))
        except BATCH_ERRORS:
            self._documents = {id: document for id, document in self._documents.items() if self._fits(document)}
            return self._store.rows_of(list(self._documents.values()))

    def _fits(self, document: Document) -> bool:
        try:
            self._store.rows_of([document])
        except BATCH_ERRORS as error:
            origin = self._origins[document.id]
            problem = f"expected a document that a file can hold; found {error}"
            self._taken -= 1
            self._refuse(origin.source, RecordError(origin.source, origin.number, None, problem))
            return False
        return True

    def finish(self) -> None:
        """Leave the journal tidy."""
        self._journal.tidy()

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
