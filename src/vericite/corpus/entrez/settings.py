"""How the E-utilities are asked: by whom, how fast, how patiently, and what is remembered."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from vericite.errors import InputError
from vericite.llm.spec import is_loopback

EUTILS = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
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
