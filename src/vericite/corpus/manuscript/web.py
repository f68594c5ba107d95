"""Calls to Crossref and Europe PMC: paced, cached, repeated after passing errors, and refused offline."""

from __future__ import annotations

import json
import logging
import os
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeVar
from weakref import finalize

import httpx2

from vericite.disk.files import cache_file
from vericite.disk.store import Form, RowStore
from vericite.errors import CatalogueError, OfflineError
from vericite.network.access import ResponseTooLong, Unpacking, offline_by_environment
from vericite.network.pacing import backoff, seconds_asked, turnstile_of
from vericite.version import __version__

CROSSREF = "https://api.crossref.org/"
EUROPE_PMC = "https://www.ebi.ac.uk/europepmc/webservices/rest/"
MAIL = "CROSSREF_MAILTO"
"""Variable with the address that is sent to Crossref, which then answers faster. Without one, none is sent."""


def crossref_settings() -> CatalogueSettings:
    """Return the settings for Crossref, with the address of the environment."""
    return CatalogueSettings(CROSSREF, mailto=os.environ.get(MAIL, "").strip() or None)


_REPLIES = Form(
    "replies of catalogues", "catalogue_reply", "(key TEXT PRIMARY KEY, value BLOB NOT NULL, made REAL NOT NULL)"
)
_MOST_BYTES = 64 << 20
_AGAIN = (408, 425, 429)
_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class CatalogueSettings:
    """Settings of the calls to one catalogue.

    Attributes:
        base_url: Address of the service.
        requests_per_second: Rate limit, shared by all clients of this process.
        attempts: Maximum number of attempts per call.
        timeout: Seconds for one attempt.
        backoff: Approximate seconds before the second attempt; each later wait is up to twice as long.
        patience: Maximum seconds to wait when the service asks for a wait.
        cache: Folder of the cache, ``"default"`` for the user's cache folder, None for no cache.
        mailto: Address that is sent with each request, so that the service can write to its owner.
        expiry: How long a cached reply is used. Offline, older ones are used too.
    """

    base_url: str
    requests_per_second: float = 3.0
    attempts: int = 5
    timeout: float = 60.0
    backoff: float = 0.5
    patience: float = 120.0
    cache: Path | Literal["default"] | None = "default"
    mailto: str | None = None
    expiry: timedelta = timedelta(days=30)


class _OfflineCatalogueError(CatalogueError, OfflineError):
    """No network access, by the user's wish."""


class CatalogueClient:
    """Gets replies of one catalogue.

    Args:
        settings: Address, rate and cache.
        transport: HTTP transport to use in place of the network.
    """

    def __init__(self, settings: CatalogueSettings, transport: httpx2.BaseTransport | None = None) -> None:
        self.settings = settings
        self._turns = turnstile_of(settings.base_url)
        agent = f"vericite/{__version__}"
        headers = {"user-agent": agent, "accept-encoding": "gzip"}
        self._http = httpx2.Client(transport=transport, timeout=settings.timeout, headers=headers)
        finalize(self, self._http.close)
        file = None if settings.cache is None else cache_file(settings.cache, "catalogues.sqlite")
        self._cache = file and RowStore(file, _REPLIES)

    def close(self) -> None:
        """Close the connections and the cache."""
        self._http.close()
        if self._cache:
            self._cache.close()

    def get(self, path: str, read: Callable[[bytes], _T], fields: Mapping[str, str] | None = None) -> _T | None:
        """Return the reply to a request as read; None if the service has nothing there (404).

        Args:
            path: What is asked for, after the address of the service.
            read: Parses a reply; raises ``ValueError`` if it cannot be used. Such a reply is not kept.
            fields: Fields of the query.

        Raises:
            CatalogueError: No attempt got a usable reply, or VERICITE_OFFLINE is set and the reply is not cached.
        """
        fields = dict(fields or {})
        address = f"{self.settings.base_url}{path}"
        key = json.dumps([address, sorted(fields.items())])
        if (known := self._known(key)) is not None:
            return read(known) if known else None
        body, reply = self._asked(address, fields, read)
        if self._cache:
            self._cache.put([(key, body, time.time())])
        return reply

    def _known(self, key: str) -> bytes | None:
        row = self._cache.find((key,)).get(key) if self._cache else None
        if row is None:
            return None
        # What is absent today may be there tomorrow.
        expiry = self.settings.expiry if row[1] else min(self.settings.expiry, timedelta(days=1))
        fresh = 0 <= time.time() - row[2] <= expiry.total_seconds()
        return row[1] if fresh or offline_by_environment() else None

    def _asked(self, address: str, fields: Mapping[str, str], read: Callable[[bytes], _T]) -> tuple[bytes, _T | None]:
        attempt = 0
        while True:
            attempt += 1
            if offline_by_environment():
                raise _OfflineCatalogueError(
                    f"expected network access to {self.settings.base_url}; found --offline or VERICITE_OFFLINE set, "
                    "and the reply is not in the cache. Unset it."
                )
            self._turns.enter(self.settings.requests_per_second)
            try:
                return self._attempt(address, fields, read)
            except _Trouble as trouble:
                after = trouble.after or 0.0
                if not trouble.again or attempt == self.settings.attempts or after > self.settings.patience:
                    advice = "Try again later" if trouble.again else "Correct the address or the query"
                    raise CatalogueError(
                        f"expected a reply from {self.settings.base_url}; found {trouble.reason}. {advice}."
                    ) from None
                if after:
                    # The service is too busy, not only for this call: pause all calls to it.
                    self._turns.pause(after)
                wait = max(backoff(attempt, self.settings.backoff), after)
                _LOG.info("%s: %s; trying again in %.1f s", address, trouble.reason, wait)
                time.sleep(wait)

    def _attempt(self, address: str, fields: Mapping[str, str], read: Callable[[bytes], _T]) -> tuple[bytes, _T | None]:
        try:
            status, headers, body = self._send(address, fields)
            if status == 200:
                return body, read(body)
        except (httpx2.TransportError, zlib.error, TimeoutError) as error:
            raise _Trouble(f"no whole reply ({type(error).__name__}: {error})") from None
        except ResponseTooLong as error:
            raise _Trouble(str(error), again=False) from None
        except ValueError as error:
            raise _Trouble(f"a reply that cannot be read ({error})") from None
        if status == 404:
            return b"", None
        again = status in _AGAIN or status >= 500
        raise _Trouble(f"HTTP {status}", again, seconds_asked(headers))

    def _send(self, address: str, fields: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        until = time.monotonic() + self.settings.timeout
        body = bytearray()
        asked = {**fields, **({"mailto": self.settings.mailto} if self.settings.mailto else {})}
        with self._http.stream("GET", address, params=asked) as response:
            unpacking = Unpacking(response.headers.get("content-encoding"), _MOST_BYTES)
            for piece in map(unpacking.feed, response.iter_raw()):
                body += piece
                if time.monotonic() > until:
                    raise TimeoutError(f"{self.settings.timeout:g} s")
            return response.status_code, response.headers, bytes(body)


class _Trouble(Exception):
    """Why an attempt failed."""

    def __init__(self, reason: str, again: bool = True, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.after = after
