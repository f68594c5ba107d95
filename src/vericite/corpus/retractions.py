"""The list of articles known to be retracted, regardless of what the documents themselves say.

The list is a file in the user's cache folder. Stores, PubMed and Retraction Watch's table add to it (``learn``), and it
marks documents from other sources (``Retractions.flagged``). If there is no list, only titles that say so are marked.
An article is known by its PMID, or by its DOI as ``doi:10.1000/x``.
"""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.disk.files import cache_file, default_cache_folder
from vericite.errors import EntrezError, InputError
from vericite.records import Answer, Document
from vericite.text.references import reference_key
from vericite.text.strength import says_retracted

if TYPE_CHECKING:
    from sqlite3 import Connection

    from vericite.corpus.entrez.client import Entrez
    from vericite.corpus.store import Store as DocumentStore
    from vericite.disk.store import Row, RowStore

FILE = "retractions.sqlite"
"""In the user's cache folder."""

PUBMED = "pubmed"
"""PubMed's name in the ``reported`` column of the list."""

_QUERY = '"retracted publication"[pt]'
_FIRST_YEAR = 1800
_SHORTEST_PMID = 5
"""Minimum digits for a bare number to count as a PMID: "12" is more likely a counter."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class RetractionReport:
    """Retracted articles reported by one source: their PMIDs or DOIs, with the PMIDs of their notices if known."""

    by: str
    notices: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class RetractedArticle:
    """A retracted article on the list; ``reported`` maps each source to the days of its first and last report."""

    id: str
    notices: tuple[str, ...] = ()
    reported: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


@dataclass(frozen=True)
class Retractions:
    """PMIDs and DOIs of retracted articles."""

    ids: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.ids)

    def flagged(self, document: Document) -> Document:
        """Return the document, marked as retracted if it is on the list or its title says so."""
        if document.retracted or not (self._lists(document) or says_retracted(document.title)):
            return document
        return document.model_copy(update={"retracted": True})

    def _lists(self, document: Document) -> bool:
        return bool(self.ids) and not self.ids.isdisjoint((pmid_of_document(document), doi_of_document(document)))

    def flagged_answer(self, answer: Answer) -> Answer:
        """Return the answer with its retracted documents marked."""
        documents = tuple(map(self.flagged, answer.documents))
        if all(new is old for new, old in zip(documents, answer.documents, strict=True)):
            return answer
        return answer.model_copy(update={"documents": documents})


def pmid_of_document(document: Document) -> str | None:
    """Return a document's PMID, or the PMID in its id: ``pmid:123``, a PubMed URL, a number of at least five digits."""
    name = document.pmid or document.id
    kind, _, key = reference_key(name).partition(":")
    bare = document.pmid is None and name.strip().isdigit()
    return None if kind != "pmid" or (bare and len(key) < _SHORTEST_PMID) else key


def doi_of_document(document: Document) -> str | None:
    """Return a document's DOI, or the DOI in its id, as ``doi:10.1000/x``."""
    key = reference_key(document.doi or document.id)
    return key if key.startswith("doi:") else None


def known_retractions() -> Retractions:
    """Return the retractions on this machine's list; it is read again only after it has changed."""
    file = _file()
    if file is None or not (state := _state(file)):
        return Retractions()
    kept = _read_before.get(file)
    if kept is None or kept[0] != state:
        found = _ids_in(file)
        if found is None:
            _LOG.warning(
                "expected to read the list of retracted articles at %s; it cannot be read now. No document is marked "
                "in this call. Try again.",
                file,
            )
            return Retractions()
        # The state was taken first: a list that changed during the read is read again at the next call.
        kept = _read_before[file] = (state, Retractions(found))
    return kept[1]


def entries() -> tuple[RetractedArticle, ...]:
    """Return all entries of the list: by PMID, then by DOI.

    Raises:
        InputError: The list cannot be read.
    """
    file = _file()
    if file is None or not file.exists():
        return ()
    return tuple(sorted(_entries_in(file).values(), key=lambda entry: (is_doi(entry.id), len(entry.id), entry.id)))


def learn(reports: Sequence[RetractionReport], replace: bool = False) -> int:
    """Add reports to the list in one transaction.

    Args:
        reports: The reports of all sources.
        replace: Remove entries that are not in these reports.

    Returns:
        Number of articles that were not on the list before.

    Raises:
        InputError: The list cannot be written.
    """
    file = cache_file("default", FILE)
    if file is None:
        raise InputError("expected a folder for the list of retracted articles; found none. Set VERICITE_CACHE to one.")
    before = _entries_in(file) if file.exists() else {}
    today = datetime.now(UTC).date().isoformat()
    after: dict[str, RetractedArticle] = {} if replace else dict(before)
    for report in reports:
        for id, notices in report.notices.items():
            known = after.get(id) or RetractedArticle(id)
            first = known.reported.get(report.by, (today, today))[0]
            both = tuple(dict.fromkeys((*known.notices, *notices)))
            after[id] = RetractedArticle(id, both, {**known.reported, report.by: (first, today)})
    # A removed entry stays as a row without reports, so that one transaction does everything.
    changed = [entry for id, entry in after.items() if entry != before.get(id)]
    if changed := [*changed, *(RetractedArticle(id) for id in before.keys() - after.keys())]:
        _write(file, changed)
    return len(after.keys() - before.keys())


def retracted_in_store(store: DocumentStore, name: str) -> RetractionReport:
    """Return the retracted articles of a store; ``name`` is the store's name on the list."""
    from vericite.corpus.store import Filters

    found = (pmid_of_document(document) for document in store.scan(Filters(retracted=True)))
    return RetractionReport(f"store {name}", {pmid: () for pmid in found if pmid is not None})


_WATCHED = ("OriginalPaperPubMedID", "OriginalPaperDOI", "RetractionPubMedID", "RetractionNature")
"""The columns that are read of Retraction Watch's table."""


def retracted_in_table(path: Path) -> RetractionReport:
    """Return the retracted articles of Retraction Watch's table (a CSV file), by PMID and by DOI.

    Corrections and expressions of concern do not count, and neither does an article that was reinstated.

    Raises:
        InputError: The file cannot be read, or lacks the columns of Retraction Watch.
    """
    natures: dict[str, set[str]] = {}
    notices: dict[str, tuple[str, ...]] = {}
    try:
        # A few rows have characters in another encoding.
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            if lacks := [name for name in _WATCHED if name not in (rows.fieldnames or ())]:
                raise InputError(
                    f"expected Retraction Watch's table with the columns {', '.join(_WATCHED)}; found {path} without "
                    f"{', '.join(lacks)}"
                )
            for row in rows:
                pmid, doi, notice, nature = ((row[name] or "").strip() for name in _WATCHED)
                key, noticed = reference_key(doi), _pmid(notice)
                for id in filter(None, (_pmid(pmid), key if is_doi(key) else None)):
                    natures.setdefault(id, set()).add(nature.lower())
                    if noticed and nature.lower() == "retraction":
                        notices[id] = (*notices.get(id, ()), noticed)
    except (OSError, csv.Error) as error:
        raise InputError(
            f"expected Retraction Watch's table (a CSV file) at {path}; it cannot be read: {error}"
        ) from None
    retracted = [id for id, found in natures.items() if "retraction" in found and "reinstatement" not in found]
    return RetractionReport(f"table {path.name}", {id: tuple(dict.fromkeys(notices.get(id, ()))) for id in retracted})


def _pmid(text: str) -> str | None:
    """Return the PMID in a cell; None if it has none. Retraction Watch writes 0 for none."""
    return str(int(text)) if text.isdecimal() and int(text) else None


def is_doi(id: str) -> bool:
    """Whether an id on the list is a DOI, and not a PMID."""
    return id.startswith("doi:")


def retracted_in_pubmed(entrez: Entrez, since_year: int | None = None, notices: bool = False) -> RetractionReport:
    """Return the articles that PubMed lists as retracted.

    PubMed returns at most 9,999 articles per search, so a larger search is split by publication date.

    Args:
        entrez: Client that searches PubMed.
        since_year: Only articles published in this year or later.
        notices: Also fetch the records for the PMIDs of the notices. This takes minutes for thousands of articles.

    Raises:
        EntrezError: NCBI cannot be reached, or returned fewer articles than it counted.
    """
    last = datetime.now(UTC).year + 2
    if since_year is not None and since_year > last:
        raise InputError(f"expected a year up to {last}; found {since_year}. Correct it.")
    whole = None if since_year is None else _Months.of_years(since_year, last)
    pmids = _found(entrez, whole, _Months.of_years(_FIRST_YEAR, last))
    if not notices:
        return RetractionReport(PUBMED, dict.fromkeys(pmids, ()))
    records = (record for batch in entrez.batches(pmids) for record in batch.records)
    links = {record.pmid: record.retracted_by for record in records}
    return RetractionReport(PUBMED, {pmid: links.get(pmid, ()) for pmid in pmids})


@dataclass(frozen=True)
class _Months:
    """A range of months, counted from the year 0."""

    first: int
    last: int

    @classmethod
    def of_years(cls, first: int, last: int) -> _Months:
        return cls(12 * first, 12 * last + 11)

    @property
    def query(self) -> str:
        if self.first % 12 == 0 and self.last % 12 == 11:
            return f"{self.first // 12}:{self.last // 12}[dp]"
        return f"{_month(self.first)}:{_month(self.last)}[dp]"

    def halves(self) -> tuple[_Months, _Months]:
        """Split the range in two, between years if it covers several."""
        years = (self.last + 1 - self.first) // 12
        size = 12 * (years // 2) if years > 1 else (self.last + 1 - self.first) // 2
        return _Months(self.first, self.first + size - 1), _Months(self.first + size, self.last)


def _month(number: int) -> str:
    return f"{number // 12}/{number % 12 + 1:02}"


def _found(entrez: Entrez, asked: _Months | None, within: _Months) -> list[str]:
    """Return PMIDs published in the months ``asked`` (None: any date; all dates lie ``within``)."""
    from vericite.corpus.entrez.results import MOST_FOUND

    query = _QUERY if asked is None else f"{_QUERY} AND {asked.query}"
    result = entrez.search(query, MOST_FOUND, sort="pub_date")
    if not result.partial:
        return list(result.ids)
    months = asked or within
    if months.first == months.last:
        raise EntrezError(
            f"expected at most {MOST_FOUND:,} retracted articles in one month, the most that PubMed returns; found "
            f"{result.count:,} in {_month(months.first)}. The list is unchanged; please report this"
        )
    found = list(dict.fromkeys(pmid for half in months.halves() for pmid in _found(entrez, half, half)))
    if len(found) < result.count:
        raise EntrezError(
            f"expected the {result.count:,} articles that PubMed counts for {query}; found {len(found):,} when "
            "searching in smaller date ranges. The list is unchanged. Try again later"
        )
    return found


def _file() -> Path | None:
    # Without a home folder there is no list. That does not deserve a warning at every check.
    return None if default_cache_folder() is None else cache_file("default", FILE)


def _state(file: Path) -> tuple[tuple[int, int], ...]:
    """Return values that change with the list: time and size of the file and of its write-ahead log."""
    found: list[tuple[int, int]] = []
    for path in (file, file.with_name(file.name + "-wal")):
        try:
            about = path.stat()
        except OSError:
            continue
        found.append((about.st_mtime_ns, about.st_size))
    return tuple(found)


_read_before: dict[Path, tuple[tuple[tuple[int, int], ...], Retractions]] = {}


def _store(file: Path) -> RowStore:
    from vericite.disk.store import Form, RowStore

    columns = "(key TEXT PRIMARY KEY, notices TEXT NOT NULL, told TEXT NOT NULL) WITHOUT ROWID"
    return RowStore(file, Form("retracted articles", "retraction", columns))


def _rows_in(file: Path) -> list[Row] | None:
    def read(connection: Connection) -> list[Row]:
        return connection.execute("SELECT * FROM retraction WHERE told != '{}'").fetchall()

    store = _store(file)
    try:
        rows = store.read(read)
        return None if rows is None else store.sound(rows)
    finally:
        store.close()


def _ids_in(file: Path) -> frozenset[str] | None:
    rows = _rows_in(file)
    return None if rows is None else frozenset(key for key, _, _ in rows)


def _entries_in(file: Path) -> dict[str, RetractedArticle]:
    rows = _rows_in(file)
    if rows is None:
        raise InputError(
            f"expected the list of retracted articles at {file}; it cannot be read. Stop the program that uses it, or "
            "move the file away if it is damaged"
        )
    return {entry.id: entry for entry in _entries_of(rows)}


def _entries_of(rows: Iterable[Row]) -> Iterator[RetractedArticle]:
    for id, notices, reported in rows:
        days = {by: (first, last) for by, (first, last) in json.loads(reported).items()}
        yield RetractedArticle(id, tuple(notices.split()), days)


def _write(file: Path, changed: Sequence[RetractedArticle]) -> None:
    store = _store(file)
    rows: list[Row] = [(entry.id, " ".join(entry.notices), json.dumps(dict(entry.reported))) for entry in changed]
    try:
        store.put(rows)
    finally:
        store.close()
    _read_before.pop(file, None)
    # The row store only warns if it loses rows. An incomplete list must be an error.
    there = _entries_in(file)
    if any(there.get(entry.id) != (entry if entry.reported else None) for entry in changed):
        raise InputError(
            f"cannot write the list of retracted articles to {file}. Stop the program that is using it, or set "
            "VERICITE_CACHE to another folder"
        )
