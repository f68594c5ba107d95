"""Read files in other processes, ahead of the process that writes; the result is the same as without them.

A process turns a file into lines of JSON, one per item: the row of a document with its vector, deleted or retracted
PMIDs, or the error of a record. The writer takes the items in the order of the files and keeps its journal as usual, so
that a build with readers can resume one without, and vice versa.
"""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from vericite.corpus.pubmed.record import Deletion, Retraction
from vericite.corpus.sources.registry import documents_in
from vericite.corpus.store.contract import Item, PreparedRow, Source, SourceState, StoreSourceFile
from vericite.environment import THREADS
from vericite.errors import InputError, RecordError
from vericite.records import Document

if TYPE_CHECKING:
    from vericite.models.contracts import Embeds

AHEAD = 2
"""Number of files per process that are read before the writer needs them."""

_AT_ONCE = 100
"""Number of documents embedded together."""


class Task(NamedTuple):
    """A file to read, whether to embed its documents, and the number of its items that are already in the store."""

    file: StoreSourceFile
    vectors: bool
    done: int = 0


class Readers(Protocol):
    """A pool of processes that read files."""

    @property
    def count(self) -> int:
        """Number of files read at the same time."""
        ...

    def start(self, task: Task) -> Callable[[], Iterable[bytes]]:
        """Start reading a file; return a function that waits for its lines."""
        ...


def lines_of(task: Task) -> Iterator[bytes]:
    """Yield a line for each item of a file that is not yet in the store. Runs in the reading process."""
    items = islice(_items_of(task.file), task.done, None)
    if not task.vectors:
        yield from map(line_of, items)
        return
    from vericite.corpus.store.lance import bundled_embedder

    embedder = bundled_embedder()
    while some := list(islice(items, _AT_ONCE)):
        yield from _with_vectors(some, embedder)


def _items_of(file: StoreSourceFile) -> Iterator[Item]:
    try:
        yield from documents_in(file.path, file.format, name=file.name)
    except InputError as error:
        yield file.problem(error)


def _with_vectors(items: Sequence[Item], embedder: Embeds) -> Iterator[bytes]:
    documents = [item for item in items if isinstance(item, Document)]
    vectors = iter(embedder.embed(document.titled_text for document in documents))
    for item in items:
        yield line_of(item, next(vectors) if isinstance(item, Document) else None)


def line_of(item: Item, vector: Any = None) -> bytes:
    """Encode an item as a line. A document that cannot be stored becomes the same error as in the writer."""
    from vericite.corpus.store.columns import row_of

    if isinstance(item, Document):
        try:
            made: dict[str, Any] = {"row": row_of(item)}
        except ValueError as error:
            made = {"unfit": str(error)}
        if vector is not None:
            made["vector"] = base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
    elif isinstance(item, Deletion | Retraction):
        made = {type(item).__name__.lower(): item.pmids}
    elif isinstance(item, RecordError):
        made = {"problem": [item.path, item.line, item.field, item.problem]}
    else:
        raise TypeError(f"expected an item of a file; found {type(item).__name__}")
    return json.dumps(made, ensure_ascii=True, separators=(",", ":")).encode()


def item_of(line: bytes) -> Item:
    """Decode the item of a line."""
    made = json.loads(line)
    if "row" in made:
        vector = made.get("vector")
        row = tuple(made["row"])
        return PreparedRow(row, None if vector is None else np.frombuffer(base64.b64decode(vector), dtype="<f4"))
    if "unfit" in made:
        return PreparedRow(None, None, made["unfit"])
    if "problem" in made:
        return RecordError(*made["problem"])
    if "deletion" in made:
        return Deletion(pmids=tuple(made["deletion"]))
    return Retraction(pmids=tuple(made["retraction"]))


@dataclass(frozen=True)
class Prefetcher:
    """Reads the next files of a build while the writer works on earlier files.

    Attributes:
        readers: The processes that read.
        vectors: Whether they also embed the documents.
    """

    readers: Readers
    vectors: bool = False

    def prefetch(
        self, sources: Iterable[tuple[Source, SourceState]]
    ) -> Iterator[tuple[Source, SourceState, Iterator[Item]]]:
        """Yield each source, its state, and its remaining items. Sources that are not files are read here."""
        waiting: deque[tuple[Source, SourceState, Callable[[], Iterable[bytes]] | None]] = deque()
        upcoming = iter(sources)
        while True:
            for source, state in islice(upcoming, max(1, self.readers.count * AHEAD) - len(waiting)):
                task = None if source.file is None else Task(source.file, self.vectors, state.items)
                waiting.append((source, state, None if task is None else self.readers.start(task)))
            if not waiting:
                return
            source, state, read = waiting.popleft()
            yield source, state, items_after(source, state) if read is None else map(item_of, read())


def items_after(source: Source, state: SourceState) -> Iterator[Item]:
    """Return the items of a source that are not yet in the store."""
    return islice(source.items(), state.items, None)


@contextmanager
def local_readers(count: int) -> Generator[Readers]:
    """Start ``count`` processes on this machine; they keep their results in a temporary folder."""
    with TemporaryDirectory(prefix="vericite-") as folder:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(count, context, _begin, (str(max(1, (os.cpu_count() or 1) // count)),)) as pool:
            try:
                yield _LocalReaders(pool, count, Path(folder))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


class _LocalReaders:
    def __init__(self, pool: ProcessPoolExecutor, count: int, folder: Path) -> None:
        self._pool, self.count, self._folder, self._started = pool, count, folder, 0

    def start(self, task: Task) -> Callable[[], Iterable[bytes]]:
        kept = self._folder / f"{self._started}.jsonl"
        self._started += 1
        return _Reading(self._pool.submit(_read_into, task, kept), task, kept).lines


@dataclass(frozen=True)
class _Reading:
    going: Future[None]
    task: Task
    kept: Path

    def lines(self) -> Iterator[bytes]:
        try:
            self.going.result()
        except BrokenExecutor:
            raise InputError(
                f"expected a process to read {self.task.file.path}; the process died, perhaps for lack of memory. "
                "Set workers.count to a smaller number. The work so far is kept; run the same command to continue"
            ) from None
        with self.kept.open("rb") as file:
            yield from file
        self.kept.unlink()


def _begin(threads: str) -> None:
    # Otherwise each process would use all processors to embed.
    os.environ[THREADS] = threads


def _read_into(task: Task, kept: Path) -> None:
    with kept.open("wb") as file:
        for line in lines_of(task):
            file.write(line + b"\n")
