"""From what a user names, files, folders, a query or PMIDs, to the sources that a store is built from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vericite.corpus.sources.files import name_of, opened, written
from vericite.corpus.sources.registry import (
    AUTO,
    PMIDS,
    READERS,
    SOURCES,
    DocumentFile,
    PassedOver,
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

LIST = "pmids:"
"""What a file of PMIDs is named by for its articles to be fetched."""

_FETCHED_FOR = 30
"""Days after which articles are fetched again, for they may have been corrected or retracted."""


_COUNTED = 1 << 30
"""Bytes of files, at most, that are looked through beforehand for how many records there are."""

_ONE_A_RECORD = {
    "pubmed": b"</PubmedArticle>",
    "jats": b"</article>",
    "nbib": b"\nPMID- ",
    "ris": b"\nER  -",
    "enw": b"%0 ",
    "endnote": b"</record>",
    "bibtex": b"\n@",
    "jsonl": b"\n",
    "csv": b"\n",
    "tsv": b"\n",
}
"""What stands about once in every record of a form; other forms are one document a file."""


class PubMed(Protocol):
    """What is asked of PubMed; ``vericite.corpus.entrez.Entrez`` is one."""

    def search(self, query: str, most: int = 200) -> SearchResult:
        """The PMIDs that a query finds."""
        ...

    def batches(self, pmids: Iterable[str]) -> Iterator[Fetched]:
        """The records of these PMIDs, some at a time."""
        ...


@dataclass(frozen=True)
class CollectedSources:
    """What a store is built from.

    Attributes:
        sources: In the order they are read.
        sizes: Bytes of those that are files, by their names; what is left to read is estimated by them.
        passed_over: Files of a folder that hold no documents, with the reason.
        messages: What else the user should know, such as how many articles a query found, a line each.
    """

    sources: tuple[Source, ...]
    sizes: dict[str, int]
    passed_over: tuple[str, ...]
    messages: tuple[str, ...]


def collect_sources(
    places: Sequence[Path],
    pubmed: PubMed | None = None,
    queries: Sequence[str] = (),
    pmids: Sequence[str] = (),
    most: int = 1000,
    format: str = AUTO,
    today: date | None = None,
) -> CollectedSources:
    """Everything that was named, in order and each once: files and folders, then queries, then PMIDs.

    A file that cannot be read to its end costs itself: its source yields the error.

    Args:
        places: Files and folders of documents, and lists of PMIDs to fetch, ``pmids:FILE``; ``-`` is the standard
            input. A file of bare numbers in a folder is passed over.
        pubmed: Who is asked for what is not in files; needed for queries and PMIDs.
        queries: Queries to PubMed, in its own syntax.
        pmids: PMIDs to fetch.
        most: Articles of a query, at most.
        format: A name of ``SOURCES`` for all files; ``auto`` tells each by its content.
        today: The day, by which what was fetched is fetched again some time.

    Raises:
        InputError: Nothing was named, a file named itself is not there or of no form known, or a query finds nothing.
    """
    if format not in (AUTO, *SOURCES):
        raise UnknownNameError("format", format, [AUTO, *SOURCES])
    collector = _Collector(pubmed, today or datetime.now(UTC).date())
    for place in _each_once(places):
        collector.take_place(place, format)
    for query in dict.fromkeys(query.strip() for query in queries):
        collector.take_query(query, most)
    if pmids:
        collector.take_pmids(f"pmids {_digest(' '.join(pmids).encode())[:12]}", pmids, _named(pmids))
    return collector.all()


class _Collector:
    """What was found so far; the first source of a name stays."""

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
                f"expected files, folders, pmids:FILE, --pubmed or --pmids to build from; found no documents{reasons}"
            )
        if sum(self._sizes.values()) <= _COUNTED:
            for name, file in self._files.items():
                self._sources[name] = replace(self._sources[name], count=_records_in(file))
        return CollectedSources(tuple(self._sources.values()), self._sizes, tuple(self._passed), tuple(self._messages))

    def take_place(self, place: Path, format: str) -> None:
        if str(place).startswith(LIST):
            self._take_list(Path(str(place).removeprefix(LIST)))
            return
        for file in sources_in(place) if format == AUTO else [_as_named(place, format)]:
            if isinstance(file, PassedOver):
                self._passed.append(str(file))
            elif file.format == PMIDS:
                # Numbers may be anybody's: nothing leaves the machine for a file that was not named as PMIDs.
                problem = f"{file.path}: no documents (numbers alone). If they are PMIDs, name it {LIST}{file.path}"
                if not place.is_dir():
                    raise InputError(f"expected documents; found {problem}")
                self._passed.append(problem)
            elif (name := _where(file.path)) not in self._sources:
                self._sources[name] = _of_file(name, file)
                self._sizes[name] = _on_disk(file.path).stat().st_size
                self._files[name] = file

    def _take_list(self, path: Path) -> None:
        name = f"pmids in {_where(path)}"
        try:
            pmids = pmids_in(path)
            if pmids is None:
                raise InputError(f"expected a list of PMIDs; found {path}, which is none. Name it without {LIST}")
        except InputError as error:
            problem = _as_problem(path, error)
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


def _where(path: Path) -> str:
    return "the standard input" if path == STDIN else written(path.resolve())


def _on_disk(path: Path) -> Path:
    """The file itself; of the standard input what was kept of it."""
    return STANDARD_INPUT.keep() if path == STDIN else path


def _each_once(places: Sequence[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for place in places:
        # What cannot be resolved, such as links in a circle, is refused where it is read.
        where = place.resolve() if place.exists() else place
        if where not in seen:
            seen.add(where)
            yield place


def _as_named(place: Path, format: str) -> DocumentFile:
    if place.is_dir():
        raise InputError(f"expected a file with --format {format}; found {place}, a folder. Name its files instead.")
    if place != STDIN and not place.exists():
        raise InputError(f"expected a readable file; found {place}, which is not there")
    return DocumentFile(place, format, name_of(place))


def _of_file(name: str, file: DocumentFile) -> Source:
    def items() -> Iterator[Item]:
        try:
            yield from documents_in(file.path, file.format, name=file.name)
        except InputError as error:
            yield _as_problem(file.path, error)

    known = None if file.path == STDIN else StoreSourceFile(file.path, file.format, file.name)
    # The same bytes are other documents when read as another form, or by readers that were mended.
    return Source(name, f"{file.format}.{READERS}.{_fingerprint(file.path)}", items, file=known)


def _records_in(file: DocumentFile) -> int | None:
    """About how many records a file has, counted without reading them; None where that cannot be told."""
    mark = _ONE_A_RECORD.get(file.format)
    if mark is None:
        return 1
    count, block = 0, b""
    try:
        with opened(file.path) as content:
            if content.opening.lstrip().startswith("["):
                return None
            while more := content.stream.read(_AT_ONCE):
                # With the end of the block before, too short to be counted twice.
                block = block[len(block) - len(mark) + 1 :] + more if block else more
                count += block.count(mark)
    except (InputError, OSError):
        return None
    return max(1, count)


def _as_problem(path: Path, error: InputError) -> RecordError:
    return error if isinstance(error, RecordError) else RecordError(path, 0, None, str(error))


def _named(pmids: Sequence[str]) -> str:
    more = f" and {len(pmids) - 3} more" if len(pmids) > 3 else ""
    return f"the PMIDs {', '.join(pmids[:3])}{more}"


def _fetched(name: str, pmids: Sequence[str], shown: str, client: PubMed, period: int) -> Source:
    places = {pmid: place for place, pmid in enumerate(pmids)}

    def items() -> Iterator[Item]:
        try:
            for batch in client.batches(pmids):
                # In the order in which they were asked for, whatever came of them.
                found = _outcomes(shown, batch)
                for pmid in sorted(found, key=lambda pmid: places.get(pmid, len(places))):
                    yield from found[pmid]
        except EntrezError as error:
            # What came before stands, and the next build asks for the rest.
            yield RecordError(shown, 0, None, f"{error} What is left is asked for by the next build")

    return Source(name, f"{period}.{_digest(' '.join(pmids).encode())}", items, retry=True, count=len(places))


def _outcomes(shown: str, batch: Fetched) -> dict[str, tuple[Item, ...]]:
    found: dict[str, tuple[Item, ...]] = {}
    for record, document in zip(batch.records, batch.documents, strict=True):
        found[record.pmid] = (document, record.retraction) if record.retraction else (document,)
    for pmid in batch.missing:
        found[pmid] = (
            Missing(pmid, RecordError(shown, 0, None, f"expected an article of PubMed; found no PMID {pmid}")),
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
        raise InputError("expected someone to ask for PMIDs; found none. Pass pubmed=Entrez()")
    return pubmed


def _found(query: str, result: SearchResult, most: int) -> str:
    more = f", of which the first {len(result.ids):,} are taken (--most)" if result.count > most else ""
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
