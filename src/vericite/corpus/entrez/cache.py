"""Records and searches kept between runs, so that a second one needs no network.

Neither the API key nor the e-mail address is part of a key or a row.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from vericite.corpus.entrez.results import SearchResult
from vericite.corpus.pubmed import PubMedRecord
from vericite.disk.store import Form, Row, Store

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

_LOG = logging.getLogger(__name__)


class EntrezCache:
    """What one address has answered. It opens at the first use, and again after ``close``; threads take turns at it.

    Args:
        file: The SQLite file.
        address: Whose answers they are: another service's are kept apart.
    """

    def __init__(self, file: Path, address: str) -> None:
        self._address = address
        self._replies = Store(file, _REPLIES)

    def close(self) -> None:
        """Let go of the file."""
        self._replies.close()

    def records(self, pmids: Iterable[str], expiry: timedelta, at_any_age: bool) -> dict[str, PubMedRecord | None]:
        """The records there are, and None for those of which PubMed has said that there is none.

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
