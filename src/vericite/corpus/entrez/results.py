"""What searches and summaries bring."""

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
"""PubMed gives no more of any search, whichever way it is asked: not by ``retstart``, nor from its history server.

So many fit into one reply, which needs no history server and cannot change from one page to the next.
"""


class SearchResult(Record):
    """The PMIDs that a search found, in its order.

    ``count`` is how many PubMed knows of; ``ids`` holds as many of them as were asked for, and never more than
    9,999. ``translation`` is what PubMed made of the query. ``not_found`` are words and fields of it that PubMed does
    not know, ``notices`` what else it said; both may mean that it searched for something else than was meant.
    """

    query: str
    ids: tuple[str, ...]
    count: int = Field(ge=0)
    translation: str = ""
    not_found: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether there is more than ``ids`` holds."""
        return self.count > len(self.ids)


class PubMedSummary(Record):
    """What PubMed says of an article in short.

    ``date`` is as PubMed prints it (``2019 May 3``).
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
    """Summaries in the order they were asked for, and the PMIDs of which PubMed says that there are none."""

    found: tuple[PubMedSummary, ...]
    missing: tuple[str, ...]


EUTILS = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
CONVERTER = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/"
"""Where NCBI has them."""

_EMAIL = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")


def _email_of_environment() -> str | None:
    return os.environ.get("NCBI_EMAIL", "").strip() or None


@dataclass(frozen=True)
class EntrezSettings:
    """How the E-utilities are asked.

    The API key is no setting: it comes from ``NCBI_API_KEY`` alone, so that none lies in a file or a history.

    Attributes:
        email: Whom NCBI writes to before it blocks somebody; by default ``NCBI_EMAIL``. Without one none is sent.
        base_url: Where the E-utilities are. The API key goes over HTTPS or to this machine only.
        converter_url: Where NCBI's converter of ids is, which finds the PMIDs of DOIs and PMC ids. It gets no key.
        requests_per_second: What NCBI allows: by default 3, or 10 with an API key. All clients of this process that
            ask the same address take turns; two processes do not know of each other.
        attempts: How often one call is tried.
        timeout: Seconds for one attempt, from connecting to the last byte.
        backoff: Seconds before the second attempt, about; each further wait is up to twice as long.
        patience: Seconds to wait, at most, where the service says how long (``Retry-After``).
        cache: Folder of the cache of records and searches (or a ``.sqlite`` file), ``"default"`` for the user's, None
            for no cache.
        record_expiry: How long a record is taken from the cache; then it may have been corrected or retracted.
        search_expiry: How long a search is; then there may be newer articles.
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
            raise InputError(f"expected attempts of at least 1; found {self.attempts}. Raise it.")
        for name in ("timeout", "requests_per_second"):
            value: float | None = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"expected {name} to be a number above 0; found {value}. Correct it.")
        for name in ("backoff", "patience"):
            seconds: float = getattr(self, name)
            if not 0 <= seconds < float("inf"):
                raise InputError(f"expected {name} of 0 seconds or more; found {seconds}. Correct it.")
        object.__setattr__(self, "base_url", _address(self.base_url))


def _address(url: str) -> str:
    """The base address with a slash at its end, so that all spellings of one take the same turns."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    # Not shown where there may be a password in it.
    shown = repr(url) if plain and host else "another"
    if not host or not plain or parts.scheme not in ("http", "https"):
        raise InputError(f"expected the address of the E-utilities, such as {EUTILS}; found {shown}. Correct it.")
    if parts.scheme == "http" and not is_loopback(host):
        raise InputError(
            f"expected an address that begins with https://; found {shown}. A key would be readable there."
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}/"


# A word may have marks inside that PubMed knows as part of one (IL-6, 0.5, Crohn's). Brackets, quotes, slashes,
# colons, asterisks, tildes and number signs mean something in a query and are in no word.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")


_DASHES = re.compile("[\u2010\u2011\u2012\u2013\u2212]")


# By NLM's guide PubMed takes them for operators in capitals only: in lower case they are words.
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b", re.IGNORECASE)


_LONGEST_WORD = 100
"""Characters; what is longer is a sequence or a mistake, and in no index of words."""


STOPWORDS = frozenset(
    "a about again all almost also although always among an and another any are as at be because been before being "
    "between both but by can could did do does done due during each either enough especially etc for found from "
    "further had has have having here how however i if in into is it its itself just kg km made mainly make may mg "
    "might ml mm most mostly must nearly neither no nor obtained of often on our overall perhaps pmid quite rather "
    "really regarding seem seen several should show showed shown shows significantly since so some such than that the "
    "their theirs them then there therefore these they this those through thus to upon use used using various very "
    "was we were what when which while with within without would".split()
)
"""The words that PubMed does not look up, by its own list."""


_OPERATORS = frozenset({"and", "or", "not"})


def query_words(text: str) -> tuple[str, ...]:
    """The words of a text in their order, as they are spelt."""
    text = _DASHES.sub("-", normalize("NFKC", text)).replace("\u2019", "'")
    return tuple(word for word in _WORD.findall(text) if len(word) <= _LONGEST_WORD)


def acronyms(words: Sequence[str]) -> frozenset[str]:
    """Of a text's words those of two letters or more, all capitals; none where the whole text is in capitals."""
    if not any(char.islower() for word in words for char in word):
        return frozenset()
    return frozenset(word for word in words if len(word) > 1 and word.isupper())


def content_words(words: Sequence[str], kept: Collection[str] = ()) -> tuple[str, ...]:
    """The words to look up, lower-cased, each once: no AND, OR or NOT, and no stopword that is not to be ``kept``."""
    chosen = (word.lower() for word in words if word.lower() not in STOPWORDS or word in kept)
    return tuple(word for word in dict.fromkeys(chosen) if word not in _OPERATORS)


def all_in_title_or_abstract(words: Sequence[str]) -> str:
    """Articles with an abstract that have every one of these words in it or in the title."""
    return " AND ".join([*(f"{word}[tiab]" for word in words), "hasabstract"])


def mapped(words: Sequence[str]) -> str:
    """Articles with an abstract about these words, as PubMed's Automatic Term Mapping understands them."""
    return f"({' '.join(words)}) AND hasabstract"


def as_asked(words: Sequence[str]) -> str:
    """The words of a text as they stand, with AND, OR and NOT as words like others."""
    return _OPERATOR.sub(lambda found: found[0].lower(), " ".join(words))
