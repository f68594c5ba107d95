"""The client for searches, records and summaries, from the cache or from NCBI."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, partial
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from lxml import etree
from pydantic import ValidationError

from vericite.corpus.entrez.results import MOST_FOUND, EntrezSettings, SearchResult, Summaries
from vericite.corpus.entrez.service import (
    ECITMATCH,
    IDCONV,
    EntrezService,
    UnfitReply,
    error_message,
    is_pmid,
    nothing_found,
    read_identifiers,
    read_matches,
    read_search,
    read_summaries,
)
from vericite.corpus.pubmed import PubMedRecord, read_pubmed
from vericite.corpus.pubmed.read import SAFE
from vericite.disk.files import cache_file
from vericite.disk.store import Form, Row, RowStore
from vericite.errors import EntrezAccessError, EntrezError, InputError, RecordError
from vericite.network.access import offline_by_environment
from vericite.records import Document
from vericite.records.base import storable

if TYPE_CHECKING:
    from httpx2 import BaseTransport


# Records and searches share a table, so that an unusable file gives one warning. A search's key is a hash; a record's
# key contains the address. If the meaning of rows or keys changes, rename the table.
_REPLIES = Form(
    "records and searches",
    "pubmed_reply",
    "(key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID",
)

_NO_RECORD = ""
_NO_RECORD_EXPIRY = timedelta(days=1)
"""A PMID without a record today may have one tomorrow."""


class EntrezCache:
    """Cached replies of one service. Opens at first use, and again after ``close``. Safe to share between threads.

    Args:
        file: The SQLite file.
        address: Base address of the service; replies of different services are kept separate.
    """

    def __init__(self, file: Path, address: str) -> None:
        self._address = address
        self._replies = RowStore(file, _REPLIES)

    def close(self) -> None:
        """Close the file."""
        self._replies.close()

    def records(self, pmids: Iterable[str], expiry: timedelta, at_any_age: bool) -> dict[str, PubMedRecord | None]:
        """Return the cached records, and None for PMIDs that PubMed reported as missing.

        With ``at_any_age``, expired records are returned too, with a warning: they may have been retracted since.
        """
        keys = {self._key(pmid): pmid for pmid in pmids}
        found: dict[str, PubMedRecord | None] = {}
        old = 0
        for key, (_, value, made) in self._replies.find(list(keys)).items():
            fresh = _fresh(made, min(expiry, _NO_RECORD_EXPIRY) if value == _NO_RECORD else expiry)
            record = None if value == _NO_RECORD else _record(value)
            if (fresh or at_any_age) and (record is not None or value == _NO_RECORD):
                found[keys[str(key)]] = record
                old += not fresh
        if old:
            _LOG.warning(
                "%d cached records are older than %s. They may have been corrected or retracted since", old, expiry
            )
        return found

    def keep_records(self, records: Mapping[str, PubMedRecord], missing: Sequence[str]) -> None:
        """Store records by requested PMID, and which PMIDs have no record."""
        now = time.time()
        rows: list[Row] = [(self._key(pmid), record.model_dump_json(), now) for pmid, record in records.items()]
        self._replies.put(rows + [(self._key(pmid), _NO_RECORD, now) for pmid in missing])

    def search(self, query: str, sort: str, most: int, expiry: timedelta, at_any_age: bool) -> SearchResult | None:
        """Return the cached result of this search, or None; with ``at_any_age``, even if it has expired."""
        key = self._search_key(query, sort, most)
        row = self._replies.find((key,)).get(key)
        if row is None or not (at_any_age or _fresh(row[2], expiry)):
            return None
        try:
            return SearchResult.model_validate_json(row[1])
        except ValidationError:
            return None

    def keep_search(self, result: SearchResult, sort: str, most: int) -> None:
        """Store the result of a search."""
        row = (self._search_key(result.query, sort, most), result.model_dump_json(), time.time())
        self._replies.put([row])

    def pmids(self, names: Iterable[str], expiry: timedelta, at_any_age: bool) -> dict[str, str | None]:
        """Return the cached PMIDs for DOIs and PMC ids, and None for those known to have no PMID."""
        keys = {self._key(name): name for name in names}
        found: dict[str, str | None] = {}
        for key, (_, value, made) in self._replies.find(list(keys)).items():
            if at_any_age or _fresh(made, min(expiry, _NO_RECORD_EXPIRY) if value == _NO_RECORD else expiry):
                found[keys[str(key)]] = value or None
        return found

    def keep_pmids(self, pmids: Mapping[str, str | None]) -> None:
        """Store the PMIDs of DOIs and PMC ids, None for those without one."""
        now = time.time()
        self._replies.put([(self._key(name), pmid or _NO_RECORD, now) for name, pmid in pmids.items()])

    def _key(self, pmid: str) -> str:
        return f"{self._address} {pmid}"

    def _search_key(self, query: str, sort: str, most: int) -> str:
        return sha256(json.dumps([self._address, query, sort, most]).encode()).hexdigest()


def _fresh(made: float, expiry: timedelta) -> bool:
    # A time in the future means that the clock was wrong.
    return 0 <= time.time() - made <= expiry.total_seconds()


def _record(value: str) -> PubMedRecord | None:
    """Parse a cached record; None if this version cannot read it, so that it is fetched again."""
    try:
        return PubMedRecord.model_validate_json(value)
    except ValidationError:
        return None


SOURCE = "efetch"


@dataclass(frozen=True)
class Fetched:
    """Result of a request for records. Each requested PMID is in exactly one of the three attributes.

    Attributes:
        records: The records in the order of the request, each once.
        missing: PMIDs that PubMed reports as missing: they never existed, or were deleted.
        problems: PMIDs that failed for another reason, with the reason: the text is not a PMID, or PubMed has a
            summary of the record but returned no readable record.
    """

    records: tuple[PubMedRecord, ...] = ()
    missing: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The records as documents."""
        return tuple(record.document for record in self.records)

    def __add__(self, other: Fetched) -> Fetched:
        """Concatenate two results."""
        return Fetched(self.records + other.records, self.missing + other.missing, {**self.problems, **other.problems})


@dataclass(frozen=True)
class Articles:
    """Content of an efetch reply: records by PMID, and the problems with other records."""

    records: Mapping[str, PubMedRecord]
    problems: tuple[str, ...] = ()


def read_articles(body: bytes, asked: Collection[str]) -> Articles:
    """Parse the reply to an efetch.

    Raises:
        UnfitReply: The reply is not XML, is incomplete, or does not hold the requested articles.
    """
    message = error_message(body)
    if message is not None and nothing_found(message):
        return Articles({})
    found = list(read_pubmed(BytesIO(body), SOURCE)) if _holds_articles(body) else []
    records = {item.pmid: item for item in found if isinstance(item, PubMedRecord)}
    if records and records.keys().isdisjoint(asked):
        raise UnfitReply("expected the requested records; found only others")
    return Articles(
        {pmid: records[pmid] for pmid in asked if pmid in records},
        tuple(item.problem for item in found if isinstance(item, RecordError)),
    )


def _holds_articles(body: bytes) -> bool:
    """Whether the reply has a record. Refuses a truncated reply, which ``read_pubmed`` would read in part."""
    try:
        root = etree.fromstring(body, etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        reason = f"expected XML; found none, or incomplete XML ({error.msg})"
    else:
        if root.tag != "PubmedArticleSet":
            raise UnfitReply(f"expected a PubmedArticleSet; found {str(root.tag)[:50]}")
        return len(root) > 0
    raise UnfitReply(reason)


Sort = Literal["relevance", "pub_date", "Author", "JournalName"]

AT_ONCE = 200
"""Records per call, as NCBI recommends."""

_LONGEST_QUERY = 20_000
"""Maximum characters of a query; a longer text is a document."""

_LOG = logging.getLogger(__name__)


class Entrez:
    """PubMed client. Threads may share a client, and all clients of a process share one rate limit.

    Args:
        settings: E-mail address, rate limit, timeouts and cache.
        transport: HTTP transport to use in place of the network.

    Raises:
        InputError: A setting is not valid.
        EntrezAccessError: ``NCBI_API_KEY`` holds a value that cannot be a key.
    """

    def __init__(self, settings: EntrezSettings | None = None, transport: BaseTransport | None = None) -> None:
        self.settings = settings or EntrezSettings()
        self._service = EntrezService(self.settings, transport)
        file = None if self.settings.cache is None else cache_file(self.settings.cache, "entrez.sqlite")
        self._cache = file and EntrezCache(file, self.settings.base_url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache file."""
        self._service.close()
        if self._cache:
            self._cache.close()

    @property
    def signature(self) -> str:
        """Name and address of the service, for provenance."""
        return f"entrez({self.settings.base_url})"

    def search(self, query: str, most: int = 200, sort: Sort = "relevance") -> SearchResult:
        """Return the PMIDs that a query in PubMed's own syntax finds.

        Args:
            query: Sent unchanged: field tags, AND, OR and NOT work.
            most: Maximum number of PMIDs. PubMed returns at most 9,999 for any search.
            sort: Order of the PMIDs.

        Raises:
            InputError: The query is empty or too long, or ``most`` is above PubMed's limit.
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        if not (query := storable(query.strip())) or len(query) > _LONGEST_QUERY:
            found = f"{len(query):,} characters" if query else "none"
            raise InputError(f"expected a query of 1 to {_LONGEST_QUERY:,} characters; found {found}. Correct it.")
        if not 0 <= most <= MOST_FOUND:
            raise InputError(
                f"expected 0 to {MOST_FOUND:,} PMIDs, PubMed's limit for a search; found {most:,}. "
                "Divide the search by dates, such as AND 2024:2025[dp]."
            )
        # Offline, use expired results too: nothing newer can be fetched.
        if self._cache and (
            known := self._cache.search(query, sort, most, self.settings.search_expiry, offline_by_environment())
        ):
            return known
        result = self._search(query, most, sort)
        if self._cache:
            self._cache.keep_search(result, sort, most)
        return result

    def fetch(self, pmids: Iterable[str]) -> Fetched:
        """Fetch the records of PMIDs, in order, each once, and list the PMIDs without a record.

        Raises:
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        fetched = Fetched()
        for batch in self.batches(pmids):
            fetched += batch
        return fetched

    def batches(self, pmids: Iterable[str]) -> Iterator[Fetched]:
        """Like ``fetch``, but yield 200 records at a time, to use less memory."""
        rest = iter(dict.fromkeys(pmids))
        while batch := list(islice(rest, AT_ONCE)):
            yield self._batch(batch)

    def pmids_of(self, names: Iterable[str]) -> dict[str, str | None]:
        """Return the PMIDs of DOIs (``doi:10.1/x``) and PMC ids (``pmc:123``), as ``reference_key`` writes them.

        NCBI's converter only knows articles in PubMed Central. Any other DOI is searched for, and matches if the
        search finds exactly one article. The value is None for a name without an article and, offline, for a name
        that is not in the cache.

        Raises:
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        asked = list(dict.fromkeys(names))
        offline = offline_by_environment()
        found = self._cache.pmids(asked, self.settings.record_expiry, offline) if self._cache else {}
        if not offline and (rest := [name for name in asked if name not in found]):
            converted, unanswered = self._converted(rest)
            fresh = dict.fromkeys(rest) | converted
            for name in rest:
                if fresh[name] is None and name.startswith("doi:"):
                    ids = self.search(f'"{name[4:]}"[AID]', 2).ids if '"' not in name else ()
                    fresh[name] = ids[0] if len(ids) == 1 else None
            if self._cache:
                # Only cache a missing PMID if the converter reported it, not if the converter failed.
                self._cache.keep_pmids({name: pmid for name, pmid in fresh.items() if pmid or name not in unanswered})
            found |= fresh
        return {name: found.get(name) for name in asked}

    def _converted(self, names: Sequence[str]) -> tuple[dict[str, str | None], set[str]]:
        """Return the converter's PMIDs, and the names for which its call failed.

        The converter takes 200 ids of one kind, and refuses all of them if it cannot read one.
        """
        found: dict[str, str | None] = {}
        unanswered: set[str] = set()
        for kind, idtype in (("doi:", "doi"), ("pmc:", "pmcid")):
            ids = {name.replace("pmc:", "pmc").removeprefix("doi:"): name for name in names if name.startswith(kind)}
            # A comma separates ids.
            sendable = [id for id in ids if "," not in id]
            for start in range(0, len(sendable), AT_ONCE):
                some = sendable[start : start + AT_ONCE]
                fields = {"ids": ",".join(some), "idtype": idtype, "format": "json", "versions": "no"}
                try:
                    pmids = self._service.ask(IDCONV, fields, read_identifiers)
                except EntrezAccessError:
                    raise
                except EntrezError as error:
                    _LOG.warning("skipped the id converter for %d ids: %s", len(some), error)
                    unanswered.update(ids[id] for id in some)
                    continue
                found.update((ids[id], pmids[id]) for id in some if id in pmids)
        return found, unanswered

    def match_citations(self, citations: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the PMIDs that NCBI's citation matcher finds for citations; several if one is ambiguous.

        Args:
            citations: ``journal|year|volume|first page|author``. Parts may be empty.

        Raises:
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        names = {citation: f"citation:{citation}" for citation in citations}
        offline = offline_by_environment()
        known = self._cache.pmids(names.values(), self.settings.search_expiry, offline) if self._cache else {}
        rest = [citation for citation, name in names.items() if name not in known]
        for start in range(0, len(rest), AT_ONCE):
            some = rest[start : start + AT_ONCE]
            keys = [f"r{number}" for number in range(len(some))]
            lines = "\r".join(f"{citation}|{key}|" for citation, key in zip(some, keys, strict=True))
            fields = {"db": "pubmed", "retmode": "xml", "bdata": lines}
            matches = self._service.ask(ECITMATCH, fields, partial(read_matches, asked=keys))
            fresh = {names[one]: " ".join(found) or None for one, found in zip(some, matches, strict=True)}
            if self._cache:
                self._cache.keep_pmids(fresh)
            known |= fresh
        return [tuple((known.get(names[citation]) or "").split()) for citation in citations]

    def cached(self, pmids: Iterable[str]) -> Fetched:
        """Return the records in the cache, of any age, without using the network."""
        known = self._cache.records(pmids, self.settings.record_expiry, at_any_age=True) if self._cache else {}
        return Fetched(
            tuple(record for record in known.values() if record is not None),
            tuple(pmid for pmid, record in known.items() if record is None),
        )

    def summaries(self, pmids: Iterable[str]) -> Summaries:
        """Return PubMed's summaries of PMIDs. They are not cached, because cached records hold more.

        Raises:
            InputError: An entry is not a PMID.
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        asked = list(dict.fromkeys(pmids))
        if strange := next((pmid for pmid in asked if not is_pmid(pmid)), None):
            raise InputError(f"expected PMIDs; found {strange!r}. Remove it.")
        parts = [self._summaries(asked[start : start + AT_ONCE]) for start in range(0, len(asked), AT_ONCE)]
        return Summaries(
            tuple(summary for part in parts for summary in part.found),
            tuple(pmid for part in parts for pmid in part.missing),
        )

    def _search(self, query: str, most: int, sort: Sort) -> SearchResult:
        fields = {"db": "pubmed", "term": query, "sort": sort, "retmax": str(most), "retmode": "json"}
        return self._service.ask("esearch", fields, partial(read_search, query=query, most=most))

    def _batch(self, asked: Sequence[str]) -> Fetched:
        problems = {pmid: "expected a PMID of digits only" for pmid in asked if not is_pmid(pmid)}
        pmids = [pmid for pmid in asked if pmid not in problems]
        known: dict[str, PubMedRecord | None] = {}
        if self._cache:
            known = self._cache.records(pmids, self.settings.record_expiry, offline_by_environment())
        records = {pmid: record for pmid, record in known.items() if record is not None}
        missing = {pmid for pmid, record in known.items() if record is None}
        if rest := [pmid for pmid in pmids if pmid not in known]:
            fresh, none, failed = self._asked_for(rest)
            if self._cache:
                self._cache.keep_records(fresh, none)
            records |= fresh
            missing |= set(none)
            problems |= failed
        return Fetched(
            tuple(records[pmid] for pmid in pmids if pmid in records),
            tuple(pmid for pmid in pmids if pmid in missing),
            {pmid: problems[pmid] for pmid in asked if pmid in problems},
        )

    def _asked_for(self, pmids: Sequence[str]) -> tuple[dict[str, PubMedRecord], list[str], dict[str, str]]:
        """Fetch PMIDs from NCBI: the records, the PMIDs without a record, and the failures with reasons."""
        first = self._articles(pmids)
        records = dict(first.records)
        absent = [pmid for pmid in pmids if pmid not in records]
        if not absent:
            return records, [], {}
        # An efetch omits records that do not exist, and sometimes records that do. An esummary tells them apart.
        missing = self._summaries(absent).missing
        problems: dict[str, str] = {}
        if late := [pmid for pmid in absent if pmid not in missing]:
            again = self._articles(late)
            records |= again.records
            problems_shown = "".join(f" ({problem})" for problem in dict.fromkeys([*first.problems, *again.problems]))
            reason = f"expected a record, since PubMed has its summary; found none in two replies{problems_shown}"
            problems = {pmid: reason for pmid in late if pmid not in records}
        return records, list(missing), problems

    def _articles(self, pmids: Sequence[str]) -> Articles:
        fields = {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml"}
        return self._service.ask("efetch", fields, partial(read_articles, asked=pmids))

    def _summaries(self, pmids: Sequence[str]) -> Summaries:
        fields = {"db": "pubmed", "id": ",".join(pmids), "retmode": "json"}
        return self._service.ask("esummary", fields, partial(read_summaries, asked=pmids))
