"""Build a store, or add to one, in batches, so that an interrupted build can resume."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.corpus.store.ahead import Prefetcher, Readers, items_after
from vericite.corpus.store.contract import BuildReport, Progress, Source, SourceState, Store
from vericite.corpus.store.place import Place, foreign_entries, only_builder, place_of, store_errors
from vericite.errors import InputError, MissingExtraError
from vericite.models.contracts import Embeds

if TYPE_CHECKING:
    from vericite.corpus.store.lance import LanceStore
    from vericite.corpus.store.writing import Writer


BATCH, EMBEDDED = 25_000, 2_000
"""Documents per commit, without and with vectors. Large enough that commits are cheap, small enough for a laptop's
memory. Vectors take seconds per hundred documents, so batches are smaller: a killed build repeats its last batch."""

PROBLEMS = 20
"""Maximum number of refused items in a report."""


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
    """Create a store from sources, or add them to an existing store.

    A document replaces an earlier version with the same id; ``Store.put`` defines which version is later. Documents
    named by a ``Deletion`` are removed and do not come back. Documents named by a ``Retraction`` or by a retracted
    document are marked, wherever they occur in the sources. An unusable item is counted, and the build continues.

    A source that is in the store with the same fingerprint is skipped. With another fingerprint it is read again from
    its start; documents that it no longer has are kept. No store is created before the first item has been read, and
    none is kept if no item could be used. An interrupted build that is run again continues after its last batch, with
    the same result as an uninterrupted build. One batch is held in memory.

    Args:
        place: A folder, or an address such as ``s3://bucket/prefix``.
        sources: Sources to read; names must be unique.
        vectors: Whether to store vectors, which takes time. A store that has vectors always gets them.
        embedder: Makes the vectors. Default: the bundled embedder.
        batch: Documents per commit. Default: a size that fits in memory.
        problems: Maximum number of refused items in the report.
        progress: Called after every batch, every hundred vectors, and before indexing.
        readers: Processes that read files ahead and embed with the bundled embedder. Default: none.

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
        # Unreadable sources must not leave an empty store behind.
        sources = _started(sources)
        store = new_store(place, embedder, vectors)
    else:
        store.repair()
    _check_vectors(store, vectors)
    size = batch or (BATCH if store.embedder is None else EMBEDDED)
    from vericite.corpus.store.writing import Writer

    with Writer(store, size, problems, clock.report) as writer:
        plan = _planned(sources, writer.claim())
        clock.total = plan.total
        _read_all(plan, writer, None if readers is None else Prefetcher(readers, _made_there(store, embedder)))
        clock.report("indexing", "", writer.items)
        writer.mark_retracted()
        writer.join_articles()
        store.index()
        writer.finish()
        report = writer.report(plan.skipped, plan.resumed, clock.seconds)
    return _without_empty(store, report) if is_new else report


def _without_empty(store: LanceStore, report: BuildReport) -> BuildReport:
    """Remove a new store if items were read but none could be used."""
    facts = store.facts.known("deleted") or store.facts.known("retracted")
    if report.added or facts or not (report.refused or report.missing):
        return report
    return replace(report, kept=not store.drop())


def _started(sources: list[Source]) -> list[Source]:
    """Return the same sources after reading the first item of the first source."""
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
            f"expected a store with vectors; found {store.place.name}, which has none. "
            "Build a new store in another place"
        )


@dataclass(frozen=True)
class _Plan:
    """The sources to read, each with its state, and the names of skipped and resumed sources."""

    read: tuple[tuple[Source, SourceState], ...]
    skipped: tuple[str, ...]
    resumed: tuple[str, ...]

    @property
    def total(self) -> int | None:
        """Number of items to read; None if a source does not know its count."""
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
            raise InputError(f"expected every source to have a unique name; found {source.name!r} twice")
        seen.add(source.name)
        begun, state = before.get(source.name), SourceState(source.name, source.fingerprint)
        if begun is not None and begun.fingerprint == source.fingerprint:
            if begun.done:
                skipped.append(source.name)
                continue
            if begun.items:
                resumed.append(source.name)
            # A retried source is read from its start: items refused before may be documents now, so their number is
            # not a position to continue from.
            state = state if source.retry else begun
        read.append((source, state))
    return _Plan(tuple(read), tuple(skipped), tuple(resumed))


def _made_there(store: LanceStore, embedder: Embeds | None) -> bool:
    """Whether readers can make the store's vectors: they only have the bundled embedder."""
    from vericite.corpus.store.lance import bundled_embedder

    return embedder is None and store.embedder is not None and store.embedder == bundled_embedder().signature


def _read_all(plan: _Plan, writer: Writer, prefetcher: Prefetcher | None) -> None:
    here = ((source, state, items_after(source, state)) for source, state in plan.read)
    for source, state, items in prefetcher.prefetch(plan.read) if prefetcher else here:
        writer.begin(state, source.retry)
        for item in items:
            writer.take(item)
        writer.end()
    writer.finish_reading()


class _Clock:
    """Measures the speed of a build and reports its progress."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self.total: int | None = None
        self._progress = progress
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def report(self, stage: str, source: str, items: int) -> None:
        if self._progress is None:
            return
        seconds = self.seconds
        rate = items / seconds if seconds > 0 else 0.0
        left = None if self.total is None or not rate else max(0, self.total - items) / rate
        self._progress(Progress(stage, source, items, seconds, rate, left))


def open_store(place: str | Path, embedder: Embeds | None = None) -> Store:
    """Open a store to search it, or to change single documents.

    Args:
        place: A folder, or an address such as ``s3://bucket/prefix``. Credentials, region and endpoint come from the
            usual variables (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``, ``AWS_ENDPOINT_URL``).
            If ``VERICITE_STORE_COPY`` names a folder, a bucket's documents are copied to it and read there.
        embedder: Makes the vectors of new documents, if the store has vectors. Default: the bundled embedder.

    Raises:
        InputError: There is no store, it has a newer format, or the place cannot be reached.
        MissingExtraError: LanceDB is not installed.
    """
    require_extra()
    where = place_of(place)
    if where.folder is not None and (others := foreign_entries(where.folder)):
        raise InputError(
            f"expected a store; found {where.name}, a folder with other files ({', '.join(others[:3])}). Build a store "
            f"from them: vericite corpus build {where.name} --to STORE"
        )
    found = existing_store(where, embedder, copied=True)
    if found is None:
        raise InputError(
            f"expected a store in {where.name}; found none. Build one: vericite corpus build FILES --to {where.name}"
        )
    return found


def require_extra() -> None:
    """Check that LanceDB is installed.

    Raises:
        MissingExtraError: It is not.
    """
    try:
        import lancedb  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import pyarrow  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]
    except ImportError:
        raise MissingExtraError("store", "The document store") from None


def existing_store(place: Place, embedder: Embeds | None, copied: bool = False) -> LanceStore | None:
    """Open the store at a place; None if there is none. With ``copied``, read a bucket through its local copy.

    Raises:
        InputError: The place holds something else, or cannot be reached.
    """
    from vericite.corpus.store import tables
    from vericite.corpus.store.copying import Copy
    from vericite.corpus.store.lance import LanceStore

    if place.folder is not None:
        if found := foreign_entries(place.folder):
            named = ", ".join(found[:3])
            raise InputError(
                f"expected a store or an empty folder; found {place.name}, a folder with other files ({named})"
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
    # A build that died while creating the table leaves a folder of that name without a table.
    try:
        database.open_table(table)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    except ValueError as error:
        if "not found" in str(error):
            return False
        raise
    return True


def new_store(place: Place, embedder: Embeds | None, vectors: bool) -> LanceStore:
    """Create an empty store.

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
