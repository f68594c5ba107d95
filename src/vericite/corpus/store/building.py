"""Building a store, and adding to one, in batches that survive whatever stops the build."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.corpus.store.ahead import Ahead, Readers, items_after
from vericite.corpus.store.contract import BuildReport, Progress, Source, SourceState, Store
from vericite.corpus.store.place import Place, foreign_entries, only_builder, place_of, store_errors
from vericite.errors import InputError, MissingExtraError
from vericite.models.contracts import Embeds

if TYPE_CHECKING:
    from vericite.corpus.store.lance import LanceStore
    from vericite.corpus.store.writing import Writer


BATCH, EMBEDDED = 25_000, 2_000
"""Documents in a commit: large enough that its cost is small, small enough for a laptop's memory. Where vectors are
made, which takes seconds for a hundred, there are fewer: what a build that is killed has to do again."""

PROBLEMS = 20
"""Refused items that a report keeps."""


def build_store(
    place: str | Path,
    sources: Iterable[Source],
    *,
    vectors: bool = False,
    embedder: Embeds | None = None,
    batch: int | None = None,
    problems: int = PROBLEMS,
    progress: Callable[[Progress], None] | None = None,
    readers: Readers | None = None,
) -> BuildReport:
    """Make a store of these sources, or add them to the store that is there; see ``Store.put`` for which one is later.

    A document takes the place of one of its id that is not later. What a ``Deletion`` names is removed and does not
    come back, and what a ``Retraction`` or a retracted document names is marked, wherever they stand in the sources.
    An unusable item is counted, and the rest goes on. A source that is in the store with the same fingerprint is
    skipped; with another one it is read again from its start, and what it no longer has stays. No store is made
    before the first item could be read, and none is left where no item could be used. A build that was stopped,
    however, and is run again goes on after its last batch, and ends with the store it would have made in one go. It
    holds one batch in memory.

    Args:
        place: A folder, or an address such as ``s3://bucket/prefix``.
        sources: What to read; no two of one name.
        vectors: Whether to keep vectors too, which takes time. A store that was made with them gets them in any case.
        embedder: What makes them; the bundled one if None.
        batch: Documents in one commit; a number that fits if None.
        problems: How many of the refused items the report keeps.
        progress: Told after every batch, every hundred vectors, and when the indexing begins.
        readers: Other processes that read files ahead, and make vectors by the bundled embedder; none if None.

    Raises:
        InputError: The place cannot be used, another build writes there, or the disk is full.
        MissingExtraError: LanceDB is not installed.
    """
    require_extra()
    clock = _Clock(progress)
    where = place_of(place)
    with only_builder(where):
        return _build(where, list(sources), (vectors, embedder), (batch, problems), clock, readers)


def _build(
    place: Place,
    sources: list[Source],
    with_vectors: tuple[bool, Embeds | None],
    sizes: tuple[int | None, int],
    clock: _Clock,
    readers: Readers | None,
) -> BuildReport:

    (vectors, embedder), (batch, problems) = with_vectors, sizes
    store = existing_store(place, embedder)
    is_new = store is None
    if store is None:
        # What cannot be read at all leaves no empty store behind.
        sources = _started(sources)
        store = new_store(place, embedder, vectors)
    else:
        store.mend()
    _check_vectors(store, vectors)
    size = batch or (BATCH if store.embedder is None else EMBEDDED)
    from vericite.corpus.store.writing import Writer

    with Writer(store, size, problems, clock.tell) as writer:
        plan = _planned(sources, writer.claim())
        clock.total = plan.total
        _read_all(plan, writer, None if readers is None else Ahead(readers, _made_there(store, embedder)))
        clock.tell("indexing", "", writer.items)
        writer.mark_retracted()
        writer.join_articles()
        store.index()
        writer.finish()
        report = writer.report(plan.skipped, plan.resumed, clock.seconds)
    return _without_empty(store, report) if is_new else report


def _without_empty(store: LanceStore, report: BuildReport) -> BuildReport:
    """Take a new store away again where something was read and nothing of it could be used."""
    facts = store.facts.known("deleted") or store.facts.known("retracted")
    if report.added or facts or not (report.refused or report.missing):
        return report
    return replace(report, kept=not store.drop())


def _started(sources: list[Source]) -> list[Source]:
    """The same sources, the first of them read as far as its first item."""
    if not sources:
        return []
    first, *rest = sources
    items = first.items()
    item = next(items, None)
    whole = items if item is None else chain([item], items)
    return [replace(first, items=lambda: whole), *rest]


def _check_vectors(store: LanceStore, vectors: bool) -> None:
    if vectors and store.embedder is None:
        raise InputError(
            f"expected a store with vectors; found {store.place.name}, which was made without. "
            "Build it again in another place"
        )


@dataclass(frozen=True)
class _Plan:
    """What is read, each source from where it was left, and what is not."""

    read: tuple[tuple[Source, SourceState], ...]
    skipped: tuple[str, ...]
    resumed: tuple[str, ...]

    @property
    def total(self) -> int | None:
        """How many items are to be read, where every source says it."""
        total = 0
        for source, state in self.read:
            if source.count is None:
                return None
            total += max(0, source.count - state.items)
        return total


def _planned(sources: Sequence[Source], before: Mapping[str, SourceState]) -> _Plan:
    seen: set[str] = set()
    read: list[tuple[Source, SourceState]] = []
    skipped: list[str] = []
    resumed: list[str] = []
    for source in sources:
        if not source.name or source.name in seen:
            raise InputError(f"expected every source to have a name of its own; found {source.name!r}")
        seen.add(source.name)
        begun, state = before.get(source.name), SourceState(source.name, source.fingerprint)
        if begun is not None and begun.fingerprint == source.fingerprint:
            if begun.done:
                skipped.append(source.name)
                continue
            if begun.items:
                resumed.append(source.name)
            # Of what is tried again what was refused may be a document now, so that how many items there were tells no
            # place to go on from.
            state = state if source.retry else begun
        read.append((source, state))
    return _Plan(tuple(read), tuple(skipped), tuple(resumed))


def _made_there(store: LanceStore, embedder: Embeds | None) -> bool:
    """Whether readers can make the store's vectors: they have the bundled embedder alone."""
    from vericite.corpus.store.lance import bundled_embedder

    return embedder is None and store.embedder is not None and store.embedder == bundled_embedder().signature


def _read_all(plan: _Plan, writer: Writer, ahead: Ahead | None) -> None:
    here = ((source, state, items_after(source, state)) for source, state in plan.read)
    for source, state, items in ahead.over(plan.read) if ahead else here:
        writer.begin(state, source.retry)
        for item in items:
            writer.take(item)
        writer.end()
    writer.finish_reading()


class _Clock:
    """How fast it goes, told to whoever wants to know."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self.total: int | None = None
        self._progress = progress
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def tell(self, stage: str, source: str, items: int) -> None:
        if self._progress is None:
            return
        seconds = self.seconds
        rate = items / seconds if seconds > 0 else 0.0
        left = None if self.total is None or not rate else max(0, self.total - items) / rate
        self._progress(Progress(stage, source, items, seconds, rate, left))


def open_store(place: str | Path, embedder: Embeds | None = None) -> Store:
    """Open a store to read it, or to change it document by document.

    Args:
        place: A folder, or an address such as ``s3://bucket/prefix``: credentials, region and endpoint are those of
            the usual variables (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``,
            ``AWS_ENDPOINT_URL``). Where ``VERICITE_STORE_COPY`` names a folder, a bucket's documents are copied there,
            and read from there.
        embedder: Makes the vectors of what is put, where the store has vectors; the bundled one if None.

    Raises:
        InputError: There is no store, or one of a later form, or the place cannot be reached.
        MissingExtraError: LanceDB is not installed.
    """
    require_extra()
    where = place_of(place)
    found = existing_store(where, embedder, copied=True)
    if found is None:
        raise InputError(
            f"expected a store in {where.name}; found none. Build one: vericite corpus build FILES --to {where.name}"
        )
    return found


def require_extra() -> None:
    """Make sure that what keeps a store is installed.

    Raises:
        MissingExtraError: It is not.
    """
    try:
        import lancedb  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import pyarrow  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]
    except ImportError:
        raise MissingExtraError("store", "The document store") from None


def existing_store(place: Place, embedder: Embeds | None, copied: bool = False) -> LanceStore | None:
    """The store at a place, or None where there is nothing; read from a copy of it where one is asked for and allowed.

    Raises:
        InputError: There is something else, or the place cannot be reached.
    """
    from vericite.corpus.store import tables
    from vericite.corpus.store.copying import Copy
    from vericite.corpus.store.lance import LanceStore

    if place.folder is not None:
        if found := foreign_entries(place.folder):
            named = ", ".join(found[:3])
            raise InputError(
                f"expected a store, or an empty folder; found {place.name}, a folder of something else ({named})"
            )
        if not place.folder.exists():
            return None
    with store_errors("reach", place):
        database = tables.connect(place)
        names = set(database.list_tables().tables)
        if tables.DOCUMENTS not in names or not _is_whole(database, tables.DOCUMENTS):
            return None
    return LanceStore(place, database, embedder, Copy.of(place) if copied else None)


def _is_whole(database: object, table: str) -> bool:
    # A build that died while it made the table leaves a folder of that name without a table in it.
    try:
        database.open_table(table)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    except ValueError as error:
        if "not found" in str(error):
            return False
        raise
    return True


def new_store(place: Place, embedder: Embeds | None, vectors: bool) -> LanceStore:
    """An empty store at a place where there is none.

    Raises:
        InputError: The place cannot be written to.
    """
    from vericite.corpus.store import tables
    from vericite.corpus.store.columns import schema
    from vericite.corpus.store.lance import LanceStore, bundled_embedder

    signature = width = None
    if vectors:
        embedder = embedder or bundled_embedder()
        signature, width = embedder.signature, embedder.embed(["width"]).shape[1]
    with store_errors("write to", place):
        database = tables.connect(place)
        database.create_table(tables.DOCUMENTS, schema=schema(signature, width), exist_ok=True)
    return LanceStore(place, database, embedder)
