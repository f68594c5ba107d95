"""Results of searches and summaries, the settings of the client, and the parts of queries."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal
from unicodedata import normalize
from urllib.parse import urlsplit

from pydantic import Field

from vericite.errors import InputError
from vericite.network.access import is_loopback
from vericite.records.base import Record

MOST_FOUND = 9_999
"""The most PMIDs that PubMed returns for a search, even with ``retstart`` or the history server.

They fit into one reply, which cannot change between pages as paged replies can.
"""


class SearchResult(Record):
    """The PMIDs that a search found, in order.

    ``count`` is the total number of matches; ``ids`` holds the number requested, at most 9,999. ``translation`` is
    PubMed's interpretation of the query. ``not_found`` has words and fields of the query that PubMed does not know,
    ``notices`` its other warnings. Both may mean that PubMed did not search for what was intended.
    """

    query: str
    ids: tuple[str, ...]
    count: int = Field(ge=0)
    translation: str = ""
    not_found: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether the search has more matches than ``ids`` holds."""
        return self.count > len(self.ids)


class PubMedSummary(Record):
    """PubMed's summary of an article.

    ``date`` is in PubMed's format (``2019 May 3``).
    """

    pmid: str
    title: str
    journal: str
    date: str
    authors: tuple[str, ...] = ()
    doi: str | None = None
    publication_types: tuple[str, ...] = ()
    has_abstract: bool = False


@dataclass(frozen=True)
class Summaries:
    """Summaries in the order of the request, and the PMIDs that PubMed reports as missing."""

    found: tuple[PubMedSummary, ...]
    missing: tuple[str, ...]


EUTILS = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
CONVERTER = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/"
"""Addresses of NCBI's services."""

_EMAIL = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")


def _email_of_environment() -> str | None:
    return os.environ.get("NCBI_EMAIL", "").strip() or None


@dataclass(frozen=True)
class EntrezSettings:
    """Settings of the E-utilities client.

    The API key is not a setting. It is only read from ``NCBI_API_KEY``, so that it is never in a file or a history.

    Attributes:
        email: Address that NCBI writes to before it blocks a client. Default: ``NCBI_EMAIL``; may be empty.
        base_url: Address of the E-utilities. The API key is only sent over HTTPS or to this machine.
        converter_url: Address of NCBI's id converter, which finds the PMIDs of DOIs and PMC ids. It gets no key.
        requests_per_second: Rate limit. Default: NCBI's limit, 3, or 10 with an API key. All clients of a process
            with the same address share the limit; separate processes do not.
        attempts: Maximum number of attempts per call.
        timeout: Seconds for one attempt, from connecting to the last byte.
        backoff: Approximate seconds before the second attempt; each later wait is up to twice as long.
        patience: Maximum seconds to wait when the service asks for a wait (``Retry-After``).
        cache: Folder of the cache of records and searches (or a ``.sqlite`` file), ``"default"`` for the user's
            cache folder, None for no cache.
        record_expiry: How long a cached record is used. Later it may have been corrected or retracted.
        search_expiry: How long a cached search is used. Later there may be newer articles.
    """

    email: str | None = field(default_factory=_email_of_environment)
    base_url: str = EUTILS
    converter_url: str = CONVERTER
    requests_per_second: float | None = None
    attempts: int = 6
    timeout: float = 60.0
    backoff: float = 0.5
    patience: float = 120.0
    cache: Path | Literal["default"] | None = "default"
    record_expiry: timedelta = timedelta(days=30)
    search_expiry: timedelta = timedelta(days=7)

    def __post_init__(self) -> None:
        if self.email is not None and not _EMAIL.fullmatch(self.email):
            raise InputError(
                f"expected an e-mail address in NCBI_EMAIL or the settings; found {self.email!r}. Correct it."
            )
        if self.attempts < 1:
            raise InputError(f"expected attempts to be at least 1; found {self.attempts}. Raise it.")
        for name in ("timeout", "requests_per_second"):
            value: float | None = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"expected {name} to be a number above 0; found {value}. Correct it.")
        for name in ("backoff", "patience"):
            seconds: float = getattr(self, name)
            if not 0 <= seconds < float("inf"):
                raise InputError(f"expected {name} to be 0 seconds or more; found {seconds}. Correct it.")
        object.__setattr__(self, "base_url", _address(self.base_url))


def _address(url: str) -> str:
    """Normalize the base address, with a slash at the end, so that all spellings share a rate limit."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    # Do not show an address that may contain a password.
    shown = repr(url) if plain and host else "another address"
    if not host or not plain or parts.scheme not in ("http", "https"):
        raise InputError(f"expected the address of the E-utilities, such as {EUTILS}; found {shown}. Correct it.")
    if parts.scheme == "http" and not is_loopback(host):
        raise InputError(
            f"expected an address that begins with https://; found {shown}. An API key would be sent in the clear."
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}/"


# A word may contain characters that PubMed accepts inside words (IL-6, 0.5, Crohn's). Brackets, quotes, slashes,
# colons, asterisks, tildes and number signs have a meaning in queries and are never part of a word.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")


_DASHES = re.compile("[\u2010\u2011\u2012\u2013\u2212]")


# According to NLM's guide these are operators only in capitals.
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b", re.IGNORECASE)


_LONGEST_WORD = 100
"""Maximum characters of a word; anything longer is a sequence or a mistake, and is in no word index."""


STOPWORDS = frozenset(
    "a about again all almost also although always among an and another any are as at be because been before being "
    "between both but by can could did do does done due during each either enough especially etc for found from "
    "further had has have having here how however i if in into is it its itself just kg km made mainly make may mg "
    "might ml mm most mostly must nearly neither no nor obtained of often on our overall perhaps pmid quite rather "
    "really regarding seem seen several should show showed shown shows significantly since so some such than that the "
    "their theirs them then there therefore these they this those through thus to upon use used using various very "
    "was we were what when which while with within without would".split()
)
"""PubMed's own list of words that it ignores."""


_OPERATORS = frozenset({"and", "or", "not"})


def query_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, as spelled."""
    text = _DASHES.sub("-", normalize("NFKC", text)).replace("\u2019", "'")
    return tuple(word for word in _WORD.findall(text) if len(word) <= _LONGEST_WORD)


def acronyms(words: Sequence[str]) -> frozenset[str]:
    """Return the words of at least two letters that are all capitals; none if the whole text is in capitals."""
    if not any(char.islower() for word in words for char in word):
        return frozenset()
    return frozenset(word for word in words if len(word) > 1 and word.isupper())


def content_words(words: Sequence[str], kept: Collection[str] = ()) -> tuple[str, ...]:
    """Return the lower-cased words to search for, each once, without operators and stopwords, except ``kept`` ones."""
    chosen = (word.lower() for word in words if word.lower() not in STOPWORDS or word in kept)
    return tuple(word for word in dict.fromkeys(chosen) if word not in _OPERATORS)


def all_in_title_or_abstract(words: Sequence[str]) -> str:
    """Build a query for articles with all these words in the title or the abstract."""
    return " AND ".join([*(f"{word}[tiab]" for word in words), "hasabstract"])


def mapped(words: Sequence[str]) -> str:
    """Build a query for articles with an abstract that PubMed's Automatic Term Mapping matches to these words."""
    return f"({' '.join(words)}) AND hasabstract"


def created_by(query: str, day: str) -> str:
    """Restrict a query to records that PubMed had by a day, such as 2025-03-01."""
    return f"{query} AND 1800/01/01:{day.replace('-', '/')}[crdt]"


def as_asked(words: Sequence[str]) -> str:
    """Join the words unchanged, except that AND, OR and NOT are lower-cased to be plain words."""
    return _OPERATOR.sub(lambda found: found[0].lower(), " ".join(words))
