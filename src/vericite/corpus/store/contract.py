"""The interface of a store, independent of its backend, and the records that describe stores and builds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.corpus.pubmed.record import Deletion, Retraction
from vericite.errors import InputError, RecordError
from vericite.records import Document

LONGEST_QUERY = 10_000
"""Number of characters of a query that are used."""


@dataclass(frozen=True)
class Filters:
    """Conditions on documents. All of them must hold; for a list, one of its entries is enough.

    Names must match exactly. A document without a year never passes a filter on years. By default all documents pass,
    including retracted ones: pass ``retracted=False`` to answer questions.

    Attributes:
        year_from: First year.
        year_to: Last year.
        journals: Names of journals.
        mesh: MeSH headings.
        publication_types: PubMed's publication types, such as ``Randomized Controlled Trial``.
        languages: Three-letter codes (``eng``).
        retracted: Only retracted documents (True), only others (False), or all (None).
    """

    year_from: int | None = None
    year_to: int | None = None
    journals: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    retracted: bool | None = None

    def __post_init__(self) -> None:
        if self.year_from is not None and self.year_to is not None and self.year_from > self.year_to:
            raise InputError(f"expected the first year before the last; found {self.year_from} to {self.year_to}")

    def passes(self, document: Document) -> bool:
        """Whether a document passes, as one in a store would."""
        year = document.year
        lists = (
            (self.mesh, document.mesh),
            (self.publication_types, document.publication_types),
            (self.languages, document.languages),
        )
        return (
            (self.year_from is None or (year is not None and year >= self.year_from))
            and (self.year_to is None or (year is not None and year <= self.year_to))
            and (not self.journals or document.journal in self.journals)
            and all(not wanted or not set(wanted).isdisjoint(found) for wanted, found in lists)
            and (self.retracted is None or document.retracted == self.retracted)
        )

    def predicate(self) -> str | None:
        """Return the condition in SQL, or None if all documents pass."""
        parts = [
            _years(self.year_from, self.year_to),
            is_in("journal", self.journals) if self.journals else None,
            has_any("mesh", self.mesh),
            has_any("publication_types", self.publication_types),
            has_any("languages", self.languages),
            None if self.retracted is None else f"retracted = {str(self.retracted).lower()}",
        ]
        return " AND ".join(part for part in parts if part) or None


def is_in(column: str, values: Sequence[str]) -> str:
    """Return the condition that a column's value is one of these."""
    return f"{column} IN ({', '.join(_quoted(value) for value in values)})"


def in_parts(values: Iterable[str], size: int) -> Iterator[list[str]]:
    """Split the distinct values into lists of at most ``size``: very long conditions exhaust LanceDB's memory."""
    each = list(dict.fromkeys(values))
    return (each[start : start + size] for start in range(0, len(each), size))


def has_any(column: str, values: Sequence[str]) -> str | None:
    """Return the condition that a column's list has one of these values; None if there are no values."""
    return f"array_has_any({column}, [{', '.join(_quoted(value) for value in values)}])" if values else None


def names_one(names: Iterable[tuple[str, str]]) -> str:
    """Return the condition that a document has one of these (field, id) pairs in its ``about`` JSON."""
    parts = (f'"{field}":{json.dumps(name.lower(), ensure_ascii=False)}' for field, name in names)
    return " OR ".join(f"contains(lower(about), {_quoted(part)})" for part in parts)


ONLY_DOI = "pmid IS NULL AND starts_with(id, 'doi:')"
WITH_DOI = """pmid IS NOT NULL AND contains(about, '"doi":"')"""
"""Conditions for documents whose id is a DOI and that have no PMID, and for documents that have both."""


def _years(first: int | None, last: int | None) -> str | None:
    parts = [
        None if first is None else f"year >= {int(first)}",
        None if last is None else f"year <= {int(last)}",
    ]
    return " AND ".join(part for part in parts if part) or None


def _quoted(value: str) -> str:
    # Only the quote has a meaning inside quotes: there are no backslash escapes.
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Missing:
    """A requested record that does not exist. It is reported once and, unlike a refused record, not requested again.

    Attributes:
        id: The requested id.
        problem: The error to report.
    """

    id: str
    problem: RecordError


class PreparedRow(NamedTuple):
    """A document that another process converted to a row, with its vector if the store has vectors.

    Attributes:
        row: The row; None if the document cannot be stored.
        vector: Vector from the store's embedder; None if it is made later.
        unfit: Why the document cannot be stored, if there is no row.
    """

    row: tuple[Any, ...] | None
    vector: NDArray[np.float32] | None
    unfit: str = ""


Item = Document | Deletion | Retraction | RecordError | Missing | PreparedRow
"""An item of a source: a document or its row, deleted or retracted PMIDs, an error, or a record that does not exist."""


class StoreSourceFile(NamedTuple):
    """A file that a source reads: its path, its format, and the base of its documents' ids."""

    path: Path
    format: str
    name: str

    def problem(self, error: InputError) -> RecordError:
        """Return the error that stopped reading, as an item."""
        return error if isinstance(error, RecordError) else RecordError(self.path, 0, None, str(error))


class Hit(NamedTuple):
    """A document that was found, and its score: BM25, or the cosine of the vectors."""

    document: Document
    score: float


class Found(NamedTuple):
    """The documents found, in the order of the request, and the ids that were not found."""

    documents: tuple[Document, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """A source of documents for a build. Reading it again must yield the same items in the same order.

    Attributes:
        name: Name of the source in the store.
        fingerprint: Changes with the content of the source, such as a file's hash or its size and time.
        items: Starts reading the source. Later items replace earlier items with the same id.
        retry: Whether refused items may succeed later. Such a source counts as read only if no item was refused;
            until then each build reads it again from its start.
        count: Approximate number of items, if known, to estimate the remaining time.
        file: The file that it reads, if it is a single file, so that another process can read it.
    """

    name: str
    fingerprint: str
    items: Callable[[], Iterator[Item]]
    retry: bool = False
    count: int | None = None
    file: StoreSourceFile | None = None


@dataclass(frozen=True)
class SourceState:
    """A store's record of a source that it was built from.

    Attributes:
        name: Name of the source.
        fingerprint: Fingerprint of the source when it was read.
        items: Number of its items that are in the store.
        done: Whether all items were read; for a source with ``retry``, also whether none was refused.
        refused: Number of items that were not usable.
        at: Time of the last write, in ISO format (UTC).
        missing: Number of its items that do not exist.
    """

    name: str
    fingerprint: str
    items: int = 0
    done: bool = False
    refused: int = 0
    at: str = ""
    missing: int = 0


@dataclass(frozen=True)
class StoreInfo:
    """Statistics of a store.

    Attributes:
        documents: Number of documents.
        with_abstract: Number of documents with an abstract.
        years: First and last year; None if no document has a year.
        retracted: Number of retracted documents.
        size: Bytes of the documents and their indexes, without earlier states that are still kept.
        unindexed: Number of documents not yet in the index. They are found, but more slowly and with slightly
            different scores; ``index()`` adds them.
        embedder: Signature of the embedder that made the vectors; None without vectors.
        schema: Version of the store's format.
        sources: The sources that it was built from, in the order of their first read.
    """

    documents: int
    with_abstract: int
    years: tuple[int, int] | None
    retracted: int
    size: int
    unindexed: int
    embedder: str | None
    schema: int
    sources: tuple[SourceState, ...]

    @property
    def built(self) -> str | None:
        """Time when a source was last read into the store, in ISO format (UTC)."""
        return max((source.at for source in self.sources), default=None)


@dataclass(frozen=True)
class Progress:
    """Progress of a build.

    Attributes:
        stage: ``reading``, ``embedding`` (after each batch, if there are vectors) or ``indexing``.
        source: Name of the source that is being read.
        items: Number of items read in this run, without skipped items; with vectors, the items that are embedded.
        seconds: Seconds since this run began.
        rate: Items per second in this run.
        remaining: Estimated seconds until all sources are read; None if a source does not know its count.
    """

    stage: str
    source: str
    items: int
    seconds: float
    rate: float
    remaining: float | None


@dataclass(frozen=True)
class BuildReport:
    """Result of a build. The counts do not depend on the batch size.

    Attributes:
        added: Number of documents with a new id.
        replaced: Number of documents that replaced an earlier version.
        outdated: Number of documents skipped because a later version came first.
        deleted: Number of documents removed by a source, or skipped because their PMID is deleted.
        refused: Number of items that were not usable.
        missing: Number of items that do not exist, such as PMIDs without a record.
        problems: The first refused and missing items.
        skipped: Names of sources that were already in the store with the same fingerprint.
        resumed: Names of sources that an earlier build had begun.
        seconds: Duration of the build, including the index.
        kept: Whether there is a store now. A first build without any usable item leaves none.
        joined: Number of records with only a DOI that were merged into another record of the same article.
    """

    added: int
    replaced: int
    outdated: int
    deleted: int
    refused: int
    missing: int
    problems: tuple[RecordError, ...]
    skipped: tuple[str, ...]
    resumed: tuple[str, ...]
    seconds: float
    kept: bool = True
    joined: int = 0


class Store(Protocol):
    """A searchable store of documents.

    Readers see all changes of a call or none of them. They see changes of other processes after a few seconds.
    """

    @property
    def embedder(self) -> str | None:
        """Signature of the embedder that made the vectors; None without vectors."""
        ...

    @property
    def signature(self) -> str:
        """Number of documents and a digest of their sources. It does not depend on the place of the store."""
        ...

    def put(self, documents: Iterable[Document]) -> None:
        """Store documents. A document replaces the stored document with its id, unless that is a later version.

        A later version has a higher ``version``, then a later ``revised`` (a document without one is older); equal
        versions are replaced. A deleted PMID counts as existing again. A document with a PMID known to be retracted is
        marked, and a retracted document marks other documents with its PMID.
        """
        ...

    def delete(self, ids: Iterable[str]) -> int:
        """Remove the documents with these ids; return their number."""
        ...

    def get(self, ids: Iterable[str]) -> Found:
        """Return the documents with these ids, in order, and the ids that are not in the store."""
        ...

    def of_pmids(self, pmids: Iterable[str]) -> tuple[Document, ...]:
        """Return the documents with one of these PMIDs, whatever their ids: records, full texts and their parts."""
        ...

    def of_names(self, dois: Iterable[str], pmcids: Iterable[str]) -> tuple[Document, ...]:
        """Return the documents with one of these DOIs or PMC ids, in any case. Reads every row."""
        ...

    def scan(self, filters: Filters | None = None) -> Iterator[Document]:
        """Yield all documents, or those that pass the filters, in storage order, which only changes with writes.

        The documents are those stored when the iteration began.
        """
        ...

    def search(self, query: str, k: int, filters: Filters | None = None) -> tuple[Hit, ...]:
        """Return the ``k`` documents that match the words of a query best (BM25); ties are sorted by id.

        The query is plain words: quotes, brackets and AND have no meaning. Only its first 10,000 characters are used.
        A document that shares no word with it is not found.
        """
        ...

    def search_vectors(self, vector: NDArray[np.float32], k: int, filters: Filters | None = None) -> tuple[Hit, ...]:
        """Return the ``k`` documents with the vectors closest to this one (cosine); ties are sorted by id.

        Raises:
            InputError: The store has no vectors, or vectors of another width.
        """
        ...

    def index(self) -> None:
        """Create the indexes, or update them with new documents."""
        ...

    def info(self) -> StoreInfo:
        """Return statistics of the store."""
        ...

    def verify(self) -> tuple[str, ...]:
        """Check the store and return a sentence for each problem. Reads every document."""
        ...
