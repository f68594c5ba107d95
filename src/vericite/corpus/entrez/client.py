"""The client: searches, records and summaries, from the cache or from NCBI."""

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
    IDCONV,
    EntrezService,
    UnfitReply,
    error_message,
    is_pmid,
    nothing_found,
    read_identifiers,
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


# One table for both, so that a file that cannot be used costs one warning. A search's key is a hash, a record's has an
# address in it. Where rows or keys come to mean something else, the table gets another name.
_REPLIES = Form(
    "records and searches",
    "pubmed_reply",
    "(key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID",
)

_NO_RECORD = ""
_NO_RECORD_EXPIRY = timedelta(days=1)
"""What does not exist today may be tomorrow's article."""


class EntrezCache:
    """What one address has answered. It opens at the first use, and again after ``close``; threads take turns at it.

    Args:
        file: The SQLite file.
        address: Whose answers they are: another service's are kept apart.
    """

    def __init__(self, file: Path, address: str) -> None:
        self._address = address
        self._replies = RowStore(file, _REPLIES)

    def close(self) -> None:
        """Let go of the file."""
        self._replies.close()

    def records(self, pmids: Iterable[str], expiry: timedelta, at_any_age: bool) -> dict[str, PubMedRecord | None]:
        """The records there are, and None for those of which PubMed has message that there is none.

        With ``at_any_age`` those that have expired are taken too, with a warning: they may have been retracted since.
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
                "%d records are older than %s: offline, what has been corrected since is not known", old, expiry
            )
        return found

    def keep_records(self, records: Mapping[str, PubMedRecord], missing: Sequence[str]) -> None:
        """Keep records by the PMIDs they were asked for, and that there are none of others."""
        now = time.time()
        rows: list[Row] = [(self._key(pmid), record.model_dump_json(), now) for pmid, record in records.items()]
        self._replies.put(rows + [(self._key(pmid), _NO_RECORD, now) for pmid in missing])

    def search(self, query: str, sort: str, most: int, expiry: timedelta, at_any_age: bool) -> SearchResult | None:
        """What this search found before, or None; with ``at_any_age`` also where it has expired."""
        key = self._search_key(query, sort, most)
        row = self._replies.find((key,)).get(key)
        if row is None or not (at_any_age or _fresh(row[2], expiry)):
            return None
        try:
            return SearchResult.model_validate_json(row[1])
        except ValidationError:
            return None

    def keep_search(self, result: SearchResult, sort: str, most: int) -> None:
        """Keep what a search found."""
        row = (self._search_key(result.query, sort, most), result.model_dump_json(), time.time())
        self._replies.put([row])

    def pmids(self, names: Iterable[str], expiry: timedelta, at_any_age: bool) -> dict[str, str | None]:
        """The PMIDs of other names of articles that were found before, and None for names without one."""
        keys = {self._key(name): name for name in names}
        found: dict[str, str | None] = {}
        for key, (_, value, made) in self._replies.find(list(keys)).items():
            if at_any_age or _fresh(made, min(expiry, _NO_RECORD_EXPIRY) if value == _NO_RECORD else expiry):
                found[keys[str(key)]] = value or None
        return found

    def keep_pmids(self, pmids: Mapping[str, str | None]) -> None:
        """Keep the PMIDs of other names, and that some have none."""
        now = time.time()
        self._replies.put([(self._key(name), pmid or _NO_RECORD, now) for name, pmid in pmids.items()])

    def _key(self, pmid: str) -> str:
        return f"{self._address} {pmid}"

    def _search_key(self, query: str, sort: str, most: int) -> str:
        return sha256(json.dumps([self._address, query, sort, most]).encode()).hexdigest()


def _fresh(made: float, expiry: timedelta) -> bool:
    # What was made in the future was made by a clock that was wrong.
    return 0 <= time.time() - made <= expiry.total_seconds()


def _record(value: str) -> PubMedRecord | None:
    """The record, or None where the row is none that this version knows: then it is asked for again."""
    try:
        return PubMedRecord.model_validate_json(value)
    except ValidationError:
        return None


SOURCE = "efetch"


@dataclass(frozen=True)
class Fetched:
    """What came of a request for records: each PMID that was asked for is in one of three places.

    Attributes:
        records: In the order they were asked for, each once.
        missing: PMIDs of which PubMed says that it has no record: they never existed, or were deleted.
        problems: What could not be had for another reason, with the reason: it is no PMID at all, or PubMed announces a
            record and delivers none, or none that can be read.
    """

    records: tuple[PubMedRecord, ...] = ()
    missing: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The records as documents."""
        return tuple(record.document for record in self.records)

    def __add__(self, other: Fetched) -> Fetched:
        """Both, one after the other."""
        return Fetched(self.records + other.records, self.missing + other.missing, {**self.problems, **other.problems})


@dataclass(frozen=True)
class Articles:
    """What one reply to an efetch held: records by PMID, and what was wrong with others."""

    records: Mapping[str, PubMedRecord]
    problems: tuple[str, ...] = ()


def read_articles(body: bytes, asked: Collection[str]) -> Articles:
    """The reply to an efetch.

    Raises:
        UnfitReply: It is no XML, not whole, no set of articles, or one of others.
    """
    message = error_message(body)
    if message is not None and nothing_found(message):
        return Articles({})
    found = list(read_pubmed(BytesIO(body), SOURCE)) if _holds_articles(body) else []
    records = {item.pmid: item for item in found if isinstance(item, PubMedRecord)}
    if records and records.keys().isdisjoint(asked):
        raise UnfitReply("expected the records that were asked for; found only others")
    return Articles(
        {pmid: records[pmid] for pmid in asked if pmid in records},
        tuple(item.problem for item in found if isinstance(item, RecordError)),
    )


def _holds_articles(body: bytes) -> bool:
    """Whether there is a record in it. What is cut off is not for the reader, which makes the best of it."""
    try:
        root = etree.fromstring(body, etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        reason = f"expected XML; found none, or a part of it ({error.msg})"
    else:
        if root.tag != "PubmedArticleSet":
            raise UnfitReply(f"expected a PubmedArticleSet; found {str(root.tag)[:50]}")
        return len(root) > 0
    raise UnfitReply(reason)


Sort = Literal["relevance", "pub_date", "Author", "JournalName"]

AT_ONCE = 200
"""Records in one call, as NCBI asks."""

_LONGEST_QUERY = 20_000
"""Characters; what is longer is a document and no query."""

_LOG = logging.getLogger(__name__)


class Entrez:
    """PubMed through the E-utilities. Threads may share a client, and all clients of a process take turns.

    Args:
        settings: Who asks, how fast and how patiently, and where replies are kept.
        transport: What carries the requests, in place of the network.

    Raises:
        InputError: A setting cannot be used.
        EntrezAccessError: ``NCBI_API_KEY`` holds what can be no key.
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
        """Let go of connections and of the cache's file."""
        self._service.close()
        if self._cache:
            self._cache.close()

    @property
    def signature(self) -> str:
        """Whom it asks, for provenance."""
        return f"entrez({self.settings.base_url})"

    def search(self, query: str, most: int = 200, sort: Sort = "relevance") -> SearchResult:
        """The PMIDs of a query in PubMed's own language.

        Args:
            query: Sent as it is: field tags, AND, OR and NOT count.
            most: How many PMIDs are wanted; PubMed gives 9,999 of any search and no more.
            sort: Their order.

        Raises:
            InputError: The query is empty or too long, or more is wanted than PubMed gives.
            EntrezError: NCBI cannot be asked, or gave no usable reply.
        """
        if not (query := storable(query.strip())) or len(query) > _LONGEST_QUERY:
            found = f"{len(query):,} characters" if query else "none"
            raise InputError(f"expected a query of 1 to {_LONGEST_QUERY:,} characters; found {found}. Correct it.")
        if not 0 <= most <= MOST_FOUND:
            raise InputError(
                f"expected 0 to {MOST_FOUND:,} PMIDs, for PubMed gives no more of any search; found {most:,} wanted. "
                "Divide the search by dates, such as AND 2024:2025[dp]."
            )
        # Offline what has expired will do, for there is nothing newer to be had.
        if self._cache and (
            known := self._cache.search(query, sort, most, self.settings.search_expiry, offline_by_environment())
        ):
            return known
        result = self._search(query, most, sort)
        if self._cache:
            self._cache.keep_search(result, sort, most)
        return result

    def fetch(self, pmids: Iterable[str]) -> Fetched:
        """The records of PMIDs, in their order, each once; and which of them there are none of.

        Raises:
            EntrezError: NCBI cannot be asked, or gave no usable reply.
        """
        fetched = Fetched()
        for batch in self.batches(pmids):
            fetched += batch
        return fetched

    def batches(self, pmids: Iterable[str]) -> Iterator[Fetched]:
        """As ``fetch``, 200 at a time: for more than should be in memory at once."""
        rest = iter(dict.fromkeys(pmids))
        while batch := list(islice(rest, AT_ONCE)):
            yield self._batch(batch)

    def pmids_of(self, names: Iterable[str]) -> dict[str, str | None]:
        """The PMIDs of DOIs (``doi:10.1/x``) and PMC ids (``pmc:123``), as ``reference_key`` writes them.

        NCBI's converter knows articles of PubMed Central alone. A DOI that it does not know is searched for, and is
        taken for the one article that it finds. None stands for a name without an article, and offline for one that
        was not asked for before.

        Raises:
            EntrezError: NCBI cannot be asked, or gave no usable reply.
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
                # That there is none is kept where the converter said so, not where it failed.
                self._cache.keep_pmids({name: pmid for name, pmid in fresh.items() if pmid or name not in unanswered})
            found |= fresh
        return {name: found.get(name) for name in asked}

    def _converted(self, names: Sequence[str]) -> tuple[dict[str, str | None], set[str]]:
        """What the converter knows, and the names that it did not answer.

        It takes 200 ids of one kind, and refuses them all for one that it cannot read.
        """
        found: dict[str, str | None] = {}
        unanswered: set[str] = set()
        for kind, idtype in (("doi:", "doi"), ("pmc:", "pmcid")):
            ids = {name.replace("pmc:", "pmc").removeprefix("doi:"): name for name in names if name.startswith(kind)}
            # A comma would end the id.
            sendable = [id for id in ids if "," not in id]
            for start in range(0, len(sendable), AT_ONCE):
                some = sendable[start : start + AT_ONCE]
                fields = {"ids": ",".join(some), "idtype": idtype, "format": "json", "versions": "no"}
                try:
                    pmids = self._service.ask(IDCONV, fields, read_identifiers)
                except EntrezAccessError:
                    raise
                except EntrezError as error:
                    _LOG.warning("the converter of ids is left out for %d ids: %s", len(some), error)
                    unanswered.update(ids[id] for id in some)
                    continue
                found.update((ids[id], pmids[id]) for id in some if id in pmids)
        return found, unanswered

    def cached(self, pmids: Iterable[str]) -> Fetched:
        """Those of the records that were fetched before, of whatever age; nobody is asked."""
        known = self._cache.records(pmids, self.settings.record_expiry, at_any_age=True) if self._cache else {}
        return Fetched(
            tuple(record for record in known.values() if record is not None),
            tuple(pmid for pmid, record in known.items() if record is None),
        )

    def summaries(self, pmids: Iterable[str]) -> Summaries:
        """What PubMed says of PMIDs in short. Not kept: the records, which are, say more.

        Raises:
            InputError: One of them is no PMID.
            EntrezError: NCBI cannot be asked, or gave no usable reply.
        """
        asked = list(dict.fromkeys(pmids))
        if strange := next((pmid for pmid in asked if not is_pmid(pmid)), None):
            raise InputError(f"expected PMIDs; found {strange!r}. Leave it out.")
        parts = [self._summaries(asked[start : start + AT_ONCE]) for start in range(0, len(asked), AT_ONCE)]
        return Summaries(
            tuple(summary for part in parts for summary in part.found),
            tuple(pmid for part in parts for pmid in part.missing),
        )

    def _search(self, query: str, most: int, sort: Sort) -> SearchResult:
        fields = {"db": "pubmed", "term": query, "sort": sort, "retmax": str(most), "retmode": "json"}
        return self._service.ask("esearch", fields, partial(read_search, query=query, most=most))

    def _batch(self, asked: Sequence[str]) -> Fetched:
        problems = {pmid: "expected a PMID, which is digits" for pmid in asked if not is_pmid(pmid)}
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
        """Records, the PMIDs without one, and those that could not be had."""
        first = self._articles(pmids)
        records = dict(first.records)
        absent = [pmid for pmid in pmids if pmid not in records]
        if not absent:
            return records, [], {}
        # An efetch leaves out what does not exist, and sometimes what does. An esummary says which it is.
        missing = self._summaries(absent).missing
        problems: dict[str, str] = {}
        if late := [pmid for pmid in absent if pmid not in missing]:
            again = self._articles(late)
            records |= again.records
            problems_shown = "".join(f" ({problem})" for problem in dict.fromkeys([*first.problems, *again.problems]))
            reason = f"expected a record, for PubMed has a summary of it; found none in two replies{problems_shown}"
            problems = {pmid: reason for pmid in late if pmid not in records}
        return records, list(missing), problems

    def _articles(self, pmids: Sequence[str]) -> Articles:
        fields = {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml"}
        return self._service.ask("efetch", fields, partial(read_articles, asked=pmids))

    def _summaries(self, pmids: Sequence[str]) -> Summaries:
        fields = {"db": "pubmed", "id": ",".join(pmids), "retmode": "json"}
        return self._service.ask("esummary", fields, partial(read_summaries, asked=pmids))
