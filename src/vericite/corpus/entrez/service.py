"""Calls to the E-utilities: rate limit, retries, and the checks of replies."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from errno import EHOSTUNREACH, ENETDOWN, ENETUNREACH
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlencode
from weakref import finalize

import httpx2

from vericite.corpus.entrez.results import MOST_FOUND, EntrezSettings, PubMedSummary, SearchResult, Summaries
from vericite.errors import EntrezAccessError, EntrezError, InputError, OfflineError
from vericite.network.access import Key, LogScrubber, ResponseTooLong, Unpacking, offline_by_environment
from vericite.network.pacing import backoff, seconds_asked, turnstile_of
from vericite.version import __version__

VARIABLE = "NCBI_API_KEY"


def entrez_key() -> Key:
    """Return NCBI's key from ``NCBI_API_KEY``; an empty key if it is not set or blank.

    Raises:
        EntrezAccessError: The value cannot be a key.
    """
    # No local variable holds the value, because a traceback that shows locals would show it.
    key = Key(VARIABLE, os.environ.get(VARIABLE, "").strip())
    if not key.sendable:
        raise EntrezAccessError(
            f"expected a key of printable ASCII characters in the environment variable {VARIABLE}; found others. "
            "Copy the key again."
        )
    return key


Fields = dict[str, Any]

_PASSING = ("backend failed", "exception", "temporar", "try again", "timeout", "timed out", "rate limit", "unavailable")
"""Words of errors that may be gone at the next attempt."""

_LASTING = ("larger than 9998", "is not supported", "invalid db name")
"""Words of errors that will not pass, whatever else the message says."""

_NOTHING = ("id list is empty", "empty id list", "pmid is not available")
"""Words of a reply in which no id has a record."""

_ERROR = re.compile(r"<ERROR>(.*?)</ERROR>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)
_PMID = re.compile(r"[1-9][0-9]{0,9}")
_NOT_THERE = "cannot get document summary"


class UnfitReply(Exception):
    """A reply that cannot be used.

    ``lasting`` means that a retry would get the same reply, ``refused`` that every other call would fail too.
    ``after`` is the number of seconds that the service asks to wait.
    """

    def __init__(self, reason: str, lasting: bool = False, refused: bool = False, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lasting = lasting
        self.refused = refused
        self.after = after


def is_pmid(text: str) -> bool:
    """Whether a text looks like a PMID."""
    return _PMID.fullmatch(text) is not None


def error_message(body: bytes) -> str | None:
    """Return the error message of a reply in JSON, XML or HTML; None if it has none."""
    text = body[:20_000].decode("utf-8", "replace").strip()
    head = text[:300].lower()
    if "<html" in head or head.startswith("<!doctype html"):
        title = _TITLE.search(text)
        return "an HTML page" + (f" titled {_line(title[1])!r}" if title else "")
    if text.startswith("{") and (found := _message_in(_loaded(body))):
        return found
    if text.startswith("<") and (found := _ERROR.search(text)):
        return _line(found[1])
    return None


def nothing_found(message: str) -> bool:
    """Whether an error message only means that no id has a record."""
    return any(words in message.lower() for words in _NOTHING)


def unfit(message: str) -> UnfitReply:
    """Return the error for an error message."""
    lowered = message.lower()
    if "api key" in lowered or "api-key" in lowered:
        return UnfitReply(message, lasting=True, refused=True)
    passing = message.startswith("an HTML page") or any(word in lowered for word in _PASSING)
    return UnfitReply(message, lasting=not passing or any(word in lowered for word in _LASTING))


def read_search(body: bytes, query: str, most: int) -> SearchResult:
    """Parse the reply to an esearch for at most ``most`` PMIDs.

    Raises:
        UnfitReply: It is not such a reply, or has fewer PMIDs than it should.
    """
    result = _section(body, "esearchresult")
    ids = tuple(map(str, _many(result.get("idlist"))))
    count = _count(result.get("count"))
    expected = min(most, count, MOST_FOUND)
    if len(ids) < expected or not all(map(is_pmid, ids)):
        raise UnfitReply(f"expected {expected} PMIDs out of {count}; found {len(ids)}, or entries that are not numbers")
    errors, warnings = _fields(result.get("errorlist")), _fields(result.get("warninglist"))
    return SearchResult(
        query=query,
        ids=tuple(dict.fromkeys(ids))[:most],
        count=count,
        translation=str(result.get("querytranslation") or ""),
        not_found=(*_words(errors.get("phrasesnotfound")), *_words(errors.get("fieldsnotfound"))),
        notices=tuple(note for name in sorted(warnings) for note in _words(warnings[name])),
    )


def read_summaries(body: bytes, asked: Sequence[str]) -> Summaries:
    """Parse the reply to an esummary.

    Raises:
        UnfitReply: It is not such a reply, or lacks a requested PMID.
    """
    result = _section(body, "result")
    found: list[PubMedSummary] = []
    missing: list[str] = []
    for pmid in asked:
        entry = _fields(result.get(pmid))
        problem = str(entry.get("error") or "")
        if _NOT_THERE in problem:
            missing.append(pmid)
        elif problem or "title" not in entry:
            raise UnfitReply(f"expected a summary of PMID {pmid}; found {problem or 'none'}")
        else:
            found.append(_summary(pmid, entry))
    return Summaries(tuple(found), tuple(missing))


def read_identifiers(body: bytes) -> dict[str, str]:
    """Parse the reply of the id converter: PMIDs by DOI and PMC id, both in lower case.

    Raises:
        UnfitReply: It is not such a reply.
    """
    found = _loaded(body)
    if found is None or not isinstance(found.get("records"), list):
        raise UnfitReply("expected JSON with records; found none, or incomplete JSON")
    pmids: dict[str, str] = {}
    for record in map(_fields, _many(found["records"])):
        pmid = str(record.get("pmid") or "")
        if is_pmid(pmid):
            names = (record.get(name) for name in ("requested-id", "doi", "pmcid"))
            pmids.update((str(name).lower(), pmid) for name in names if name)
    return pmids


def read_matches(body: bytes, asked: Sequence[str]) -> list[tuple[str, ...]]:
    """Parse the reply of the citation matcher: the PMIDs of each citation, several if it is ambiguous.

    Each line repeats a citation, ``journal|year|volume|page|author|key|``, and ends with its PMID, or with
    ``NOT_FOUND`` or ``AMBIGUOUS`` and a remark.

    Raises:
        UnfitReply: A citation is missing from the reply.
    """
    found: dict[str, tuple[str, ...]] = {}
    for line in body.decode("utf-8", "replace").splitlines():
        *_, key, said = ["", *line.strip().split("|")]
        names = said.replace("AMBIGUOUS", " ").replace(",", " ").split()
        # "AMBIGUOUS 12 citations" has a number that is no PMID.
        found[key] = () if "citations" in said else tuple(name for name in names if is_pmid(name))
    if missing := [key for key in asked if key not in found]:
        raise UnfitReply(f"expected {len(asked)} citations in the reply; found none for {missing[0]!r:.40}")
    return [found[key] for key in asked]


def _summary(pmid: str, entry: Fields) -> PubMedSummary:
    ids = [_fields(id) for id in _many(entry.get("articleids"))]
    return PubMedSummary(
        pmid=pmid,
        title=str(entry.get("title") or ""),
        journal=str(entry.get("fulljournalname") or entry.get("source") or ""),
        date=str(entry.get("pubdate") or ""),
        authors=tuple(str(author["name"]) for author in map(_fields, _many(entry.get("authors"))) if "name" in author),
        doi=next((str(id.get("value")) for id in ids if id.get("idtype") == "doi" and id.get("value")), None),
        publication_types=_words(entry.get("pubtype")),
        has_abstract="Has Abstract" in _words(entry.get("attributes")),
    )


def _section(body: bytes, name: str) -> Fields:
    found = _loaded(body)
    if found is None:
        raise UnfitReply("expected JSON; found none, or incomplete JSON")
    section = found.get(name)
    if not isinstance(section, dict):
        raise UnfitReply(f"expected {name!r} in the reply; found none")
    return cast(Fields, section)


def _loaded(body: bytes) -> Fields | None:
    try:
        # Not strict: NCBI's error messages may contain unescaped line breaks.
        found: object = json.loads(body.decode("utf-8", "replace"), strict=False)
    except ValueError:
        return None
    return cast(Fields, found) if isinstance(found, dict) else None


def _message_in(found: Fields | None) -> str | None:
    if found is None:
        return None
    for fields in (found, _fields(found.get("esearchresult"))):
        for name in ("error", "ERROR"):
            if message := fields.get(name):
                return _line(str(message))
    refused = found.get("esummaryresult")
    return _line(str(_many(refused)[0])) if _many(refused) else None


def _count(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise UnfitReply(f"expected the number of matches; found {_line(repr(value))}")


def _fields(value: object) -> Fields:
    return cast(Fields, value) if isinstance(value, dict) else {}


def _many(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(word) for word in _many(value))


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


TOOL = "vericite"

IDCONV = "idconv"
"""Tool name of the id converter. It is a separate service, called with GET and without the key."""

ECITMATCH = "ecitmatch"
"""Tool name of the citation matcher, which replies with lines of text."""

_MOST_BYTES = 256 * 2**20
"""Maximum unpacked bytes of a reply; 200 records take a few million."""

_AGAIN = (408, 425, 429)
_REFUSED = (401, 403, 407)

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class _Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Trouble(NamedTuple):
    """Why an attempt failed, as text: the exception would keep the request, which contains the key."""

    reason: str
    again: bool = True
    after: float | None = None
    refused: bool = False
    unreachable: bool = False


class _OfflineError(EntrezAccessError, OfflineError, InputError):
    """A call to NCBI was needed while offline. Also an ``InputError``: the user asked for both."""


class EntrezService:
    """Calls the E-utilities, with one rate limit for the whole process.

    Raises:
        EntrezAccessError: The API key in the environment is not valid.
    """

    def __init__(self, settings: EntrezSettings, transport: httpx2.BaseTransport | None = None) -> None:
        self.settings = settings
        self._key = entrez_key()
        self._rate = settings.requests_per_second or (10.0 if self._key else 3.0)
        self._turns = turnstile_of(settings.base_url)
        self._has_answered = False
        self._http = httpx2.Client(
            transport=transport,
            timeout=settings.timeout,
            headers={
                "user-agent": f"{TOOL}/{__version__}",
                "content-type": "application/x-www-form-urlencoded",
                "accept-encoding": "gzip",
            },
        )
        # A search that is no longer used closes its connections.
        finalize(self, self._http.close)
        self._scrubber = LogScrubber(self._key)
        self._scrubber.attach()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._scrubber.detach()

    def ask(self, tool: str, fields: Mapping[str, str], read: Callable[[bytes], _T]) -> _T:
        """Call a tool and return its reply as parsed by ``read``, which raises ``UnfitReply`` for an unusable reply.

        Raises:
            EntrezAccessError: NCBI refuses the key or the network, cannot be reached, or VERICITE_OFFLINE is set.
            EntrezError: No attempt got a usable reply.
        """
        attempt = 0
        while True:
            attempt += 1
            if offline_by_environment():
                raise _OfflineError(
                    f"expected network access to NCBI ({tool}); found --offline or VERICITE_OFFLINE set, and the reply "
                    "is not in the cache. Unset it, or repeat a request that is in the cache."
                )
            found = self._attempt(tool, fields, read)
            if not isinstance(found, _Trouble):
                return found[0]
            if (wait := self._wait(attempt, found)) is None:
                raise self._error(tool, found, attempt)
            _LOG.info("%s: %s; trying again in %.1f s", tool, found.reason, wait)
            time.sleep(wait)

    def _attempt(self, tool: str, fields: Mapping[str, str], read: Callable[[bytes], _T]) -> tuple[_T] | _Trouble:
        self._turns.enter(self._rate)
        try:
            reply = self._send(tool, fields)
            self._has_answered = True
            _check(reply)
            return (read(reply.body),)
        except httpx2.TimeoutException as error:
            return _Trouble(f"no reply in time ({type(error).__name__}, {self.settings.timeout:g} s)")
        except _Overdue:
            return _Trouble(f"no whole reply in {self.settings.timeout:g} s")
        except ResponseTooLong as error:
            return _Trouble(str(error), again=False)
        except (httpx2.TransportError, zlib.error) as error:
            reason = self._key.scrub(f"the connection failed ({type(error).__name__}: {error})")
            unreachable = _is_unreachable(error)
            # If there never was a network, the next attempt fails too. A lost network may come back.
            return _Trouble(reason, again=self._has_answered or not unreachable, unreachable=unreachable)
        except UnfitReply as error:
            return _Trouble(self._key.scrub(error.reason), not error.lasting, error.after, error.refused)

    def _send(self, tool: str, fields: Mapping[str, str]) -> _Reply:
        until = time.monotonic() + self.settings.timeout
        body = bytearray()
        with self._opened(tool, fields) as response:
            unpacking = Unpacking(response.headers.get("content-encoding"), _MOST_BYTES)
            # A test's transport may return the whole body, already unpacked.
            whole = [response.content] if response.is_stream_consumed else None
            for piece in whole or map(unpacking.feed, response.iter_raw()):
                body += piece
                if time.monotonic() > until:
                    raise _Overdue
            return _Reply(response.status_code, response.headers, bytes(body))

    def _opened(self, tool: str, fields: Mapping[str, str]) -> AbstractContextManager[httpx2.Response]:
        if tool == IDCONV:
            return self._http.stream("GET", self.settings.converter_url, params={**fields, **self._who()})
        # The key goes in the body, never in the URL: URLs are logged, here and by servers.
        kind = "cgi" if tool == ECITMATCH else "fcgi"
        return self._http.stream("POST", f"{self.settings.base_url}{tool}.{kind}", content=self._form(fields))

    def _address(self, tool: str) -> str:
        return self.settings.converter_url if tool == IDCONV else self.settings.base_url

    def _who(self) -> dict[str, str]:
        return {"tool": TOOL} | ({"email": self.settings.email} if self.settings.email else {})

    def _form(self, fields: Mapping[str, str]) -> bytes:
        form = urlencode({**fields, **self._who()})
        return (f"{form}&{urlencode({'api_key': self._key.form_value()})}" if self._key else form).encode()

    def _wait(self, attempt: int, trouble: _Trouble) -> float | None:
        """Return the seconds until the next attempt; None if there is none."""
        if not trouble.again or attempt == self.settings.attempts:
            return None
        if trouble.after is not None:
            if trouble.after > self.settings.patience:
                return None
            # The service is too busy, not only for this call: pause all calls to it.
            self._turns.pause(trouble.after)
        return max(backoff(attempt, self.settings.backoff), trouble.after or 0.0)

    def _error(self, tool: str, trouble: _Trouble, attempts: int) -> EntrezError:
        if trouble.refused:
            advice = f"Correct {VARIABLE} or unset it" if self._key else "Ask from another network, or write to NCBI"
            return EntrezAccessError(f"expected NCBI to answer {tool}; found {trouble.reason}. {advice}.")
        tries = f" in {attempts} attempts" if attempts > 1 else ""
        if trouble.unreachable:
            kind = EntrezError if self._has_answered else EntrezAccessError
            return kind(
                f"expected to reach NCBI at {self._address(tool)}{tries}; found {trouble.reason}. Check the network "
                "connection. Without one, search a file or a store (--corpus FILE or STORE), or use --offline to read "
                "only what is in the cache."
            )
        asked = f", with a request to wait {trouble.after:.0f} s" if trouble.after else ""
        advice = "Try again later" if trouble.again else "Correct the query"
        return EntrezError(
            f"expected a reply to {tool} from {self._address(tool)}{tries}; found {trouble.reason}{asked}. {advice}."
        )


class _Overdue(Exception):
    """The attempt took longer than the timeout."""


def _is_unreachable(error: BaseException | None) -> bool:
    """Whether the host name was not resolved, or the host has no route."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            return True
        if isinstance(error, OSError) and error.errno in (ENETUNREACH, EHOSTUNREACH, ENETDOWN):
            return True
        error = error.__cause__ or error.__context__
    return False


def _check(reply: _Reply) -> None:
    """Raise ``UnfitReply`` if the status or the text of a reply reports an error."""
    message = error_message(reply.body)
    if message is not None and nothing_found(message):
        return
    if reply.status == 200:
        if message is not None:
            raise unfit(message)
        return
    reason = f"HTTP {reply.status}" + (f": {message}" if message else "")
    if reply.status in _AGAIN or reply.status >= 500:
        raise UnfitReply(reason, after=seconds_asked(reply.headers))
    if message is None or reply.status in _REFUSED:
        raise UnfitReply(reason, lasting=True, refused=reply.status in _REFUSED)
    found = unfit(message)
    raise UnfitReply(reason, found.lasting, found.refused)
