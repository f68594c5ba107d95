"""Building a store, and adding to one, in batches that survive whatever stops the build."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.corpus.store.contract import BuildReport, Embedding, Progress, Source, SourceState
from vericite.corpus.store.lock import only_builder
from vericite.corpus.store.opening import existing_store, new_store, require_extra
from vericite.corpus.store.place import Place, place_of
from vericite.errors import InputError

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
    embedder: Embedding | None = None,
    batch: int | None = None,
    problems: int = PROBLEMS,
    progress: Callable[[Progress], None] | None = None,
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

    Raises:
        InputError: The place cannot be used, another build writes there, or the disk is full.
        MissingExtraError: LanceDB is not installed.
    """
    require_extra()
    clock = _Clock(progress)
    where = place_of(place)
    with only_builder(where):
        return _build(where, list(sources), (vectors, embedder), (batch, problems), clock)


def _build(
    place: Place,
    sources: list[Source],
    with_vectors: tuple[bool, Embedding | None],
    sizes: tuple[int | None, int],
    clock: _Clock,
) -> BuildReport:
    from vericite.corpus.store.writing import Writer

    (vectors, embedder), (batch, problems) = with_vectors, sizes
    store = existing_store(place, embedder)
    is_new = store is None
    if store is None:
        # What cannot be read at all leaves no empty store behind.
        sources = _begun(sources)
        store = new_store(place, embedder, vectors)
    else:
        store.mend()
    _check_vectors(store, vectors)
    size = batch or (BATCH if store.embedder is None else EMBEDDED)
    with Writer(store, size, problems, clock.tell) as writer:
        plan = _planned(sources, writer.claim())
        clock.total = plan.total
        _read_all(plan, writer)
        clock.tell("indexing", "", writer.items)
        writer.mark_retracted()
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


def _begun(sources: list[Source]) -> list[Source]:
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


def _read_all(plan: _Plan, writer: Writer) -> None:
    for source, state in plan.read:
        writer.begin(state, source.retry)
        for item in islice(source.items(), state.items, None):
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
