"""Turn files, folders, queries and PMIDs into the sources that a store is built from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vericite.corpus.sources.files import name_of, opened, written
from vericite.corpus.sources.folder import as_problem
from vericite.corpus.sources.registry import (
    AUTO,
    PMIDS,
    READERS,
    SOURCES,
    DocumentFile,
    SkippedFile,
    documents_in,
    sources_in,
)
from vericite.corpus.sources.rows import pmids_in
from vericite.corpus.store.contract import Item, Missing, Source, StoreSourceFile
from vericite.errors import EntrezError, InputError, RecordError, UnknownNameError
from vericite.records import STANDARD_INPUT, STDIN

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Fetched
    from vericite.corpus.entrez.results import SearchResult

_AT_ONCE = 1 << 20

QUERY, LIST = "pubmed:", "pmids:"
"""Prefixes of a query to PubMed, and of PMIDs to fetch or a file of them."""

_FETCHED_FOR = 30
"""Days after which articles are fetched again, because they may have been corrected or retracted."""


_COUNTED = 1 << 30
"""Maximum total bytes of files whose records are counted before reading."""


class PubMed(Protocol):
    """The PubMed client that ``collect_sources`` needs, such as ``vericite.corpus.entrez.Entrez``."""

    def search(self, query: str, most: int = 200) -> SearchResult:
        """Return the PMIDs that a query finds."""
        ...

    def batches(self, pmids: Iterable[str]) -> Iterator[Fetched]:
        """Yield the records of these PMIDs in batches."""
        ...


@dataclass(frozen=True)
class CollectedSources:
    """The sources that a store is built from.

    Attributes:
        sources: The sources in reading order.
        sizes: Size in bytes of each source that is a file, by name; used to estimate progress.
        skipped_files: Files of a folder that hold no documents, with the reason.
        messages: Lines to show to the user, such as how many articles a query found.
    """

    sources: tuple[Source, ...]
    sizes: dict[str, int]
    skipped_files: tuple[str, ...]
    messages: tuple[str, ...]


def collect_sources(
    places: Sequence[str | Path],
    pubmed: PubMed | None = None,
    most: int = 1000,
    format: str = AUTO,
    today: date | None = None,
) -> CollectedSources:
    """Collect all sources in order, each once.

    A file that cannot be read completely does not stop the others: its source yields the error.

    Args:
        places: Files and folders of documents; queries in PubMed's own syntax (``pubmed:QUERY``); PMIDs to fetch
            (``pmids:FILE``, ``pmids:1,2,3``). ``-`` is the standard input. A file of bare numbers in a folder is
            skipped.
        pubmed: Client that queries and PMIDs need.
        most: Maximum number of articles per query.
        format: A name in ``SOURCES`` for all files; ``auto`` detects each file's format from its content.
        today: Current date, which decides when articles are fetched again.

    Raises:
        InputError: Nothing was named, a named file does not exist or has an unknown format, or a query finds nothing.
    """
    if format not in (AUTO, *SOURCES):
        raise UnknownNameError("format", format, [AUTO, *SOURCES])
    collector = _Collector(pubmed, today or datetime.now(UTC).date())
    for place in _each_once(places):
        if isinstance(place, Path):
            collector.take_place(place, format)
        elif place.startswith(QUERY):
            collector.take_query(place.removeprefix(QUERY), most)
        else:
            collector.take_list(place.removeprefix(LIST))
    return collector.all()


class _Collector:
    """Collects sources. If two have the same name, the first is kept."""

    def __init__(self, pubmed: PubMed | None, today: date) -> None:
        self._pubmed = pubmed
        self._period = today.toordinal() // _FETCHED_FOR
        self._sources: dict[str, Source] = {}
        self._sizes: dict[str, int] = {}
        self._files: dict[str, DocumentFile] = {}
        self._passed: list[str] = []
        self._messages: list[str] = []

    def all(self) -> CollectedSources:
        if not self._sources:
            reasons = "".join(f"\n  {reason}" for reason in self._passed)
            raise InputError(
                f"expected files, folders, pubmed:QUERY or pmids:FILE to build from; found no documents{reasons}"
            )
        if sum(self._sizes.values()) <= _COUNTED:
            for name, file in self._files.items():
                self._sources[name] = replace(self._sources[name], count=_records_in(file))
        return CollectedSources(tuple(self._sources.values()), self._sizes, tuple(self._passed), tuple(self._messages))

    def take_place(self, place: Path, format: str) -> None:
        for file in sources_in(place) if format == AUTO else [_as_named(place, format)]:
            if isinstance(file, SkippedFile):
                self._passed.append(str(file))
            elif file.format == PMIDS:
                # The numbers may be private: only send them if the user said that they are PMIDs.
                problem = f"{file.path}: no documents (numbers alone). If they are PMIDs, name it {LIST}{file.path}"
                if not place.is_dir():
                    raise InputError(f"expected documents; found {problem}")
                self._passed.append(problem)
            elif (name := _where(file.path)) not in self._sources:
                self._sources[name] = _of_file(name, file)
                self._sizes[name] = _on_disk(file.path).stat().st_size
                self._files[name] = file

    def take_list(self, given: str) -> None:
        path = Path(given)
        # ``Path.exists`` raises an error for a name that is too long for a file, as many numbers are.
        if _is_list(given) and not os.path.exists(given):
            pmids = [pmid.strip() for pmid in given.split(",") if pmid.strip()]
            self.take_pmids(f"pmids {_digest(' '.join(pmids).encode())[:12]}", pmids, _named(pmids))
            return
        name = f"pmids in {_where(path)}"
        try:
            pmids = pmids_in(path)
            if pmids is None:
                raise InputError(
                    f"expected a list of PMIDs; found a different kind of file: {path}. Name it without {LIST}"
                )
        except InputError as error:
            problem = as_problem(path, error)
            self._sources.setdefault(name, Source(name, _fingerprint(path), lambda: iter([problem])))
        else:
            self.take_pmids(name, pmids, str(path))

    def take_query(self, query: str, most: int) -> None:
        result = _client(self._pubmed).search(query, most)
        if not result.ids:
            raise InputError(
                f"expected a query that finds articles; found none for {query!r}, which PubMed reads as "
                f"{result.translation!r}. {' '.join(_remarks(result))}".strip()
            )
        self._messages += [_found(query, result, most), *_remarks(result)]
        self.take_pmids(f"pubmed: {query}", result.ids, f"pubmed: {query}")

    def take_pmids(self, name: str, pmids: Sequence[str], shown: str) -> None:
        self._sources.setdefault(name, _fetched(name, pmids, shown, _client(self._pubmed), self._period))


def _is_list(text: str) -> bool:
    """Whether a text is PMIDs with commas between them, and not the name of a file."""
    return "," in text or text.strip().isdigit()


def _where(path: Path) -> str:
    return "the standard input" if path == STDIN else written(path.resolve())


def _on_disk(path: Path) -> Path:
    """Return the file itself, or the saved copy of the standard input."""
    return STANDARD_INPUT.keep() if path == STDIN else path


def _each_once(places: Sequence[str | Path]) -> Iterator[str | Path]:
    """Yield each place once: files and folders as paths, what is fetched as text."""
    seen: set[str | Path] = set()
    for text in map(str, places):
        place: str | Path = text if text.startswith((QUERY, LIST)) else Path(text)
        if isinstance(place, str):
            prefix, sign, rest = place.partition(":")
            place = f"{prefix}{sign}{rest.strip()}"
            if place not in seen:
                seen.add(place)
                yield place
            continue
        # A path that cannot be resolved, such as a circular link, fails when it is read.
        where = place.resolve() if place.exists() else place
        if where not in seen:
            seen.add(where)
            yield place


def _as_named(place: Path, format: str) -> DocumentFile:
    if place.is_dir():
        raise InputError(f"expected a file with --format {format}; found {place}, a folder. Name its files instead.")
    if place != STDIN and not place.exists():
        raise InputError(f"expected a readable file; {place} does not exist")
    return DocumentFile(place, format, name_of(place))


def _of_file(name: str, file: DocumentFile) -> Source:
    def items() -> Iterator[Item]:
        try:
            yield from documents_in(file.path, file.format, name=file.name)
        except InputError as error:
            yield as_problem(file.path, error)

    known = None if file.path == STDIN else StoreSourceFile(file.path, file.format, file.name)
    # The same bytes give other documents when they are read as another format, or by a newer version of the readers.
    return Source(name, f"{file.format}.{READERS}.{_fingerprint(file.path)}", items, file=known)


def _records_in(file: DocumentFile) -> int | None:
    """Estimate the number of records in a file without parsing it; None if that is not possible."""
    mark = SOURCES[file.format].record_mark
    if mark is None:
        return 1
    count, block = 0, b""
    try:
        with opened(file.path) as content:
            if content.opening.lstrip().startswith("["):
                return None
            while more := content.stream.read(_AT_ONCE):
                # Keep the end of the previous block, which is too short to hold a mark already counted.
                block = block[len(block) - len(mark) + 1 :] + more if block else more
                count += block.count(mark)
    except (InputError, OSError):
        return None
    return max(1, count)


def _named(pmids: Sequence[str]) -> str:
    more = f" and {len(pmids) - 3} more" if len(pmids) > 3 else ""
    return f"the PMIDs {', '.join(pmids[:3])}{more}"


def _fetched(name: str, pmids: Sequence[str], shown: str, client: PubMed, period: int) -> Source:
    places = {pmid: place for place, pmid in enumerate(pmids)}

    def items() -> Iterator[Item]:
        try:
            for batch in client.batches(pmids):
                # Keep the order of the request, whatever the outcome of each PMID.
                found = _outcomes(shown, batch)
                for pmid in sorted(found, key=lambda pmid: places.get(pmid, len(places))):
                    yield from found[pmid]
        except EntrezError as error:
            # Keep the batches already fetched; the next build fetches the rest.
            yield RecordError(shown, 0, None, f"{error} The next build fetches the rest")

    return Source(name, f"{period}.{_digest(' '.join(pmids).encode())}", items, retry=True, count=len(places))


def _outcomes(shown: str, batch: Fetched) -> dict[str, tuple[Item, ...]]:
    found: dict[str, tuple[Item, ...]] = {}
    for record, document in zip(batch.records, batch.documents, strict=True):
        found[record.pmid] = (document, record.retraction) if record.retraction else (document,)
    for pmid in batch.missing:
        found[pmid] = (
            Missing(pmid, RecordError(shown, 0, None, f"expected an article in PubMed; found no PMID {pmid}")),
        )
    for pmid, problem in batch.problems.items():
        found[pmid] = (RecordError(shown, 0, None, _unfetched(pmid, problem)),)
    return found


def _unfetched(pmid: str, problem: str) -> str:
    from vericite.corpus.entrez.service import is_pmid

    if not is_pmid(pmid):
        return f"expected a PMID, a number of up to 8 digits; found {pmid[:60]!r}"
    return f"expected the article {pmid}; {problem}"


def _client(pubmed: PubMed | None) -> PubMed:
    if pubmed is None:
        raise InputError("expected a PubMed client; found none. Pass pubmed=Entrez()")
    return pubmed


def _found(query: str, result: SearchResult, most: int) -> str:
    more = f"; using the first {len(result.ids):,} (--most)" if result.count > most else ""
    return f"PubMed finds {result.count:,} articles for {query!r}{more}"


def _remarks(result: SearchResult) -> list[str]:
    unknown = [f"PubMed does not know: {', '.join(result.not_found)}."] if result.not_found else []
    return [*unknown, *(f"PubMed says: {notice}" for notice in result.notices)]


def _fingerprint(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    try:
        with _on_disk(path).open("rb") as file:
            while block := file.read(_AT_ONCE):
                digest.update(block)
    except OSError as error:
        raise InputError(f"expected a readable file; found {path}: {error.strerror}") from None
    return digest.hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
