"""From what a user names, files, folders, a query or PMIDs, to the sources that a store is built from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vericite.corpus.sources import AUTO, PMIDS, documents_in, pmids_in, sources_in
from vericite.corpus.store.contract import Item, Source
from vericite.errors import InputError, RecordError

if TYPE_CHECKING:
    from vericite.corpus.entrez.fetched import Fetched
    from vericite.corpus.entrez.results import SearchResult

_AT_ONCE = 1 << 20


class PubMed(Protocol):
    """What is asked of PubMed; ``vericite.corpus.entrez.Entrez`` is one."""

    def search(self, query: str, most: int = 200) -> SearchResult:
        """The PMIDs that a query finds."""
        ...

    def batches(self, pmids: Iterable[str]) -> Iterator[Fetched]:
        """The records of these PMIDs, some at a time."""
        ...


@dataclass(frozen=True)
class Gathered:
    """What a store is built from.

    Attributes:
        sources: In the order they are read.
        sizes: Bytes of those that are files, by their names; what is left to read is estimated by them.
        passed_over: Files of a folder that hold no documents, with the reason.
        told: What else the user should know, such as how many articles a query found.
    """

    sources: tuple[Source, ...]
    sizes: dict[str, int]
    passed_over: tuple[str, ...]
    told: tuple[str, ...]


def gather(
    places: Sequence[Path],
    pubmed: PubMed | None = None,
    queries: Sequence[str] = (),
    pmids: Sequence[str] = (),
    most: int = 1000,
    format: str = AUTO,
) -> Gathered:
    """Everything that was named, in order: files and folders, then queries, then PMIDs.

    Args:
        places: Files and folders of documents. A list of PMIDs among them is fetched.
        pubmed: Who is asked for what is not in files; needed for queries and PMIDs.
        queries: Queries to PubMed, in its own syntax.
        pmids: PMIDs to fetch.
        most: Articles of a query, at most.
        format: A name of ``SOURCES`` for all files; ``auto`` tells each by its content.

    Raises:
        InputError: Nothing was named, or a file named itself cannot be used.
    """
    found: list[Source] = []
    sizes: dict[str, int] = {}
    passed: list[str] = []
    told: list[str] = []
    for place in places:
        for file in sources_in(place) if format == AUTO else [_as_named(place, format)]:
            if isinstance(file, InputError):
                passed.append(str(file))
                continue
            path, form, name = file.path, file.format, file.name
            if form == PMIDS:
                found.append(_fetched(f"pmids in {path}", pmids_in(path) or (), pubmed))
            else:
                found.append(_of_file(path, form, name))
                sizes[found[-1].name] = path.stat().st_size
    for query in queries:
        result = _asked(pubmed).search(query, most)
        told.append(_found(query, result, most))
        found.append(_fetched(f"pubmed: {query}", result.ids, pubmed))
    if pmids:
        found.append(_fetched(f"pmids {_digest(' '.join(pmids).encode())[:12]}", pmids, pubmed))
    if not found:
        reasons = "".join(f"\n  {reason}" for reason in passed)
        raise InputError(f"expected files, folders, --pubmed or --pmids to build from; found no documents{reasons}")
    return Gathered(tuple(found), sizes, tuple(passed), tuple(told))


def _as_named(place: Path, format: str) -> _Named:
    if place.is_dir():
        raise InputError(f"expected a file with --format {format}; found {place}, a folder. Name its files instead.")
    return _Named(place, format, place.name.removesuffix(".gz").rsplit(".", 1)[0])


@dataclass(frozen=True)
class _Named:
    path: Path
    format: str
    name: str


def _of_file(path: Path, format: str, name: str) -> Source:
    def items() -> Iterator[Item]:
        return documents_in(path, format, name=name)

    return Source(str(path.resolve()), _fingerprint(path), items)


def _fetched(name: str, pmids: Sequence[str], pubmed: PubMed | None) -> Source:
    asked = _asked(pubmed)

    def items() -> Iterator[Item]:
        for batch in asked.batches(pmids):
            yield from batch.documents
            for missing in batch.missing:
                yield RecordError(name, 0, None, f"expected an article of PubMed; found no PMID {missing}")
            for pmid, problem in batch.problems.items():
                yield RecordError(name, 0, None, f"expected the article {pmid}; {problem}")

    return Source(name, _digest(" ".join(pmids).encode()), items)


def _asked(pubmed: PubMed | None) -> PubMed:
    if pubmed is None:
        raise InputError("expected someone to ask for PMIDs; found none. Pass pubmed=Entrez()")
    return pubmed


def _found(query: str, result: SearchResult, most: int) -> str:
    more = f", of which the first {len(result.ids):,} are taken (--most)" if result.count > most else ""
    return f"PubMed finds {result.count:,} articles for {query!r}{more}"


def _fingerprint(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while block := file.read(_AT_ONCE):
                digest.update(block)
    except OSError as error:
        raise InputError(f"expected a readable file; found {path}: {error.strerror}") from None
    return digest.hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
