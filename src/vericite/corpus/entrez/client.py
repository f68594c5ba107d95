"""The client: searches, records and summaries, from the cache or from NCBI."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from vericite.corpus.entrez.cache import EntrezCache
from vericite.corpus.entrez.fetched import Articles, Fetched, read_articles
from vericite.corpus.entrez.replies import is_pmid, read_search, read_summaries
from vericite.corpus.entrez.results import MOST_FOUND, SearchResult, Summaries
from vericite.corpus.entrez.service import Service
from vericite.corpus.entrez.settings import EntrezSettings
from vericite.corpus.pubmed import PubMedRecord
from vericite.disk.folder import cache_file
from vericite.errors import InputError
from vericite.llm.settings import offline_by_environment
from vericite.records.base import storable

if TYPE_CHECKING:
    from httpx2 import BaseTransport

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
        self._service = Service(self.settings, transport)
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
            told = "".join(f" ({problem})" for problem in dict.fromkeys([*first.problems, *again.problems]))
            reason = f"expected a record, for PubMed has a summary of it; found none in two replies{told}"
            problems = {pmid: reason for pmid in late if pmid not in records}
        return records, list(missing), problems

    def _articles(self, pmids: Sequence[str]) -> Articles:
        fields = {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml"}
        return self._service.ask("efetch", fields, partial(read_articles, asked=pmids))

    def _summaries(self, pmids: Sequence[str]) -> Summaries:
        fields = {"db": "pubmed", "id": ",".join(pmids), "retmode": "json"}
        return self._service.ask("esummary", fields, partial(read_summaries, asked=pmids))
