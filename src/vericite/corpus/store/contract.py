"""What a store is, whatever keeps it, and what is told about one."""

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
"""Characters of a query that count, whatever is searched."""


@dataclass(frozen=True)
class Filters:
    """What a document has to be; all of it has to hold, and of a list one entry is enough.

    Names are compared as they stand in the documents, letter for letter. A document without a year passes no
    filter of years. The default lets everything pass, retracted documents too: a caller that answers questions
    says ``retracted=False``.

    Attributes:
        year_from: The first year.
        year_to: The last year.
        journals: Names of journals.
        mesh: MeSH headings.
        publication_types: PubMed's types, such as ``Randomized Controlled Trial``.
        languages: Codes of three letters (``eng``).
        retracted: Only those that are, or are not; None for both.
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

    def predicate(self) -> str | None:
        """The condition, or None where everything passes."""
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
    """The condition that a column's value is one of these."""
    return f"{column} IN ({', '.join(_quoted(value) for value in values)})"


def in_parts(values: Iterable[str], size: int) -> Iterator[list[str]]:
    """The values, each once, so many at a time: conditions of any length take LanceDB's memory."""
    each = list(dict.fromkeys(values))
    return (each[start : start + size] for start in range(0, len(each), size))


def has_any(column: str, values: Sequence[str]) -> str | None:
    """The condition that a list of a column has one of these; None for none of them."""
    return f"array_has_any({column}, [{', '.join(_quoted(value) for value in values)}])" if values else None


def names_one(names: Iterable[tuple[str, str]]) -> str:
    """The condition that a document has one of these ids, each with its field; ``about`` has them in JSON."""
    parts = (f'"{field}":{json.dumps(name.lower(), ensure_ascii=False)}' for field, name in names)
    return " OR ".join(f"contains(lower(about), {_quoted(part)})" for part in parts)


ONLY_DOI = "pmid IS NULL AND starts_with(id, 'doi:')"
WITH_DOI = """pmid IS NOT NULL AND contains(about, '"doi":"')"""
"""The conditions that a document is named by its DOI, having no PMID, and that it has both."""


def _years(first: int | None, last: int | None) -> str | None:
    parts = [
        None if first is None else f"year >= {int(first)}",
        None if last is None else f"year <= {int(last)}",
    ]
    return " AND ".join(part for part in parts if part) or None


def _quoted(value: str) -> str:
    # The one character with a meaning inside quotes is the quote: there are no backslash escapes.
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Missing:
    """What was asked for and does not exist: told once, and not asked for again as what was refused is.

    Attributes:
        id: What it would have been.
        problem: How it is told.
    """

    id: str
    problem: RecordError


class PreparedRow(NamedTuple):
    """A document that another process made a row of, and its vector where the store has them.

    Attributes:
        row: Its values in the order of the columns; None where no file can hold the document.
        vector: By the store's embedder; None where it is made later.
        unfit: What is wrong with the document, where there is no row.
    """

    row: tuple[Any, ...] | None
    vector: NDArray[np.float32] | None
    unfit: str = ""


Item = Document | Deletion | Retraction | RecordError | Missing | PreparedRow
"""What a source yields: a document, as it is or as a row, PMIDs that are deleted or retracted, what was wrong with a
record, or that there is none."""


class StoreSourceFile(NamedTuple):
    """A file that a source reads: where it is, its form, and the name that its records are told by."""

    path: Path
    format: str
    name: str

    def problem(self, error: InputError) -> RecordError:
        """What kept it from being read, as an item."""
        return error if isinstance(error, RecordError) else RecordError(self.path, 0, None, str(error))


class Hit(NamedTuple):
    """A document that was found, and how well it fits: BM25's score, or the cosine of the vectors."""

    document: Document
    score: float


class Found(NamedTuple):
    """The documents there are, in the order in which they were asked for, and the ids of the others."""

    documents: tuple[Document, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """Something to build from that can be read again from its start, in the same order.

    Attributes:
        name: What the store remembers it by.
        fingerprint: Another one where its content is another: a file's hash, or its size and time.
        items: Begins to read it. Later items win over earlier ones of the same id.
        retry: Whether what was refused may be had another time. Such a source counts as read only when nothing in it
            was refused: until then each build reads it again, from its start.
        count: How many items it has, about, where that is known: from it the time left is told.
        file: The one file that it reads, where it is one, so that another process can read it.
    """

    name: str
    fingerprint: str
    items: Callable[[], Iterator[Item]]
    retry: bool = False
    count: int | None = None
    file: StoreSourceFile | None = None


@dataclass(frozen=True)
class SourceState:
    """What a store knows of a source it was built from.

    Attributes:
        name: The source's.
        fingerprint: The source's, when it was read.
        items: How many of its items are in the store.
        done: Whether that is all of them; of a source to be tried again, whether none was refused besides.
        refused: How many items were no usable document.
        at: When it was last written, in ISO form (UTC).
        missing: How many of its items do not exist.
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
    """What is in a store.

    Attributes:
        documents: How many.
        with_abstract: How many of them have an abstract.
        years: The first and the last year, or None where no document has one.
        retracted: How many are retracted.
        size: Bytes that the documents and their indexes take; earlier states that are still kept are not counted.
        unindexed: Documents that the index does not cover yet. They are found all the same, more slowly, and their
            scores are not quite those they will have: ``index()`` takes them in.
        embedder: The signature of the embedder that made the vectors, or None where there are none.
        schema: Version of the store's form.
        sources: What it was built from, in the order in which they were first read.
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
        """When a source was last read into it, in ISO form (UTC)."""
        return max((source.at for source in self.sources), default=None)


@dataclass(frozen=True)
class Progress:
    """How far a build is.

    Attributes:
        stage: ``reading``, ``embedding``, which is done batch by batch where there are vectors, or ``indexing``.
        source: The source that is being read.
        items: Items read in this run, those skipped not counted; where there are vectors, those that have one.
        seconds: Since this run began.
        rate: Items a second in this run.
        remaining: Seconds until all is read, where every source that is read says its count; an estimate.
    """

    stage: str
    source: str
    items: int
    seconds: float
    rate: float
    remaining: float | None


@dataclass(frozen=True)
class BuildReport:
    """What a build did, counted as if items had come one by one: the size of the batches does not matter.

    Attributes:
        added: Documents whose id was new.
        replaced: Documents that took the place of one with their id.
        outdated: Documents that were left out, for a later one of their id was there or had come before.
        deleted: Documents that a source took back, and those that were left out because their PMID is deleted.
        refused: Items that were no usable document.
        missing: Items that do not exist, such as PMIDs without a record.
        problems: The first of those refused and missing.
        skipped: Sources that were in the store already, with the same fingerprint.
        resumed: Sources that an earlier build had begun and this one ended.
        seconds: How long it took, with the index.
        kept: Whether there is a store now. A first build that could use nothing of what it read leaves none.
        joined: Records with a DOI alone that were joined with another record of the same article.
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
    """Documents, kept and found.

    What is written in one call is seen by readers as a whole or not at all. A reader sees what others wrote a few
    seconds later.
    """

    @property
    def embedder(self) -> str | None:
        """The signature of the embedder that made the vectors, or None where there are none."""
        ...

    @property
    def signature(self) -> str:
        """How many documents there are, and a digest of what they were built from; where they lie says nothing."""
        ...

    def put(self, documents: Iterable[Document]) -> None:
        """Keep documents. One takes the place of the document with its id, unless that is the later one.

        Later is the higher ``version``, then the later ``revised``, which none is before any; of equals, what is put.
        A PMID that was deleted is one again. A document whose PMID is known as retracted is marked, and one that is
        retracted marks the others of its PMID.
        """
        ...

    def delete(self, ids: Iterable[str]) -> int:
        """Remove the documents with these ids; how many there were."""
        ...

    def get(self, ids: Iterable[str]) -> Found:
        """The documents with these ids, in their order, and the ids that are not there."""
        ...

    def of_pmids(self, pmids: Iterable[str]) -> tuple[Document, ...]:
        """The documents with one of these PMIDs, whatever their ids are: records, full texts, parts of them."""
        ...

    def of_names(self, dois: Iterable[str], pmcids: Iterable[str]) -> tuple[Document, ...]:
        """The documents with one of these DOIs or PMC ids, in small or capital letters. Every row is looked at."""
        ...

    def scan(self, filters: Filters | None = None) -> Iterator[Document]:
        """Stream all documents, or those that pass, in the order they lie in: the same until the store is written to.

        The whole stream is of the moment it began.
        """
        ...

    def search(self, query: str, k: int, filters: Filters | None = None) -> tuple[Hit, ...]:
        """The ``k`` documents that fit a question's words best (BM25); equal scores in order of their ids.

        The query is plain words: quotes, brackets and AND have no meaning. Words beyond its first 10,000 characters
        do not count. A document that shares no word with it is not found.
        """
        ...

    def search_vectors(self, vector: NDArray[np.float32], k: int, filters: Filters | None = None) -> tuple[Hit, ...]:
        """The ``k`` documents whose vectors are closest to this one (cosine); equal scores in order of their ids.

        Raises:
            InputError: The store has no vectors, or of another width.
        """
        ...

    def index(self) -> None:
        """Make the indexes, or bring them up to date with what was written since."""
        ...

    def info(self) -> StoreInfo:
        """What is in it."""
        ...

    def verify(self) -> tuple[str, ...]:
        """What is wrong with it, a sentence each; nothing where all is well. Reads every document."""
        ...
