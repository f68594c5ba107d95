"""Access to services: the offline guard, API keys and bounded responses.

API keys appear only in requests. Responses are read within bounds, so that no service can fill the memory.
"""

from __future__ import annotations

import json
import logging
import re
import zlib
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Never
from urllib.parse import quote

from vericite.environment import OFFLINE, is_on

if TYPE_CHECKING:
    import ssl

_SHORTEST_SECRET = 8
"""Shorter values are placeholders ("EMPTY", "none"). Removing them would damage replies."""


def offline_by_environment() -> bool:
    """Whether ``VERICITE_OFFLINE`` forbids the network: any value except 0, no, false, off and an empty one."""
    return is_on(OFFLINE)


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own, without a look-up."""
    # Not "x.localhost": a resolver may ask a name server for it.
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Key:
    """An API key without a readable form: not in ``repr``, ``vars`` or a pickle."""

    __slots__ = ("__forms", "__pattern", "__value", "variable")

    def __init__(self, variable: str | None, value: str) -> None:
        self.variable = variable
        self.__value = value
        # As is, and as JSON and addresses escape it; the longest first, since one may begin another.
        forms = _forms(value) if len(value) >= _SHORTEST_SECRET else set[str]()
        self.__forms = sorted(forms, key=len, reverse=True)
        self.__pattern = re.compile("|".join(map(re.escape, self.__forms))) if forms else None

    def __bool__(self) -> bool:
        return bool(self.__value)

    def __repr__(self) -> str:
        return f"Key({self.variable or 'none'}, {'hidden' if self else 'not set'})"

    def __reduce__(self) -> Never:
        raise TypeError("expected no key to leave the process; read it from the environment there")

    @property
    def sendable(self) -> bool:
        """Whether a header can contain it."""
        return self.__value.isascii() and self.__value.isprintable() and " " not in self.__value

    def bearer(self) -> str:
        """Return the header's value. Only for the request that is about to be sent."""
        return f"Bearer {self.__value}"

    def form_value(self) -> str:
        """Return the value of a form's field. Only for the request that is about to be sent."""
        return self.__value

    def scrub(self, text: str) -> str:
        """Return the text without the key, including its escaped forms in JSON and addresses."""
        return text if self.__pattern is None else self.__pattern.sub(f"[{self.variable}]", text)

    def possible_start(self, text: str) -> int:
        """Return how many of the text's last characters may be the beginning of the key."""
        longest = max(map(len, self.__forms), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(form.startswith(text[-length:]) for form in self.__forms):
                return length
        return 0


class PieceScrubber:
    """Removes the key from a text that arrives in pieces, even if it is split between them."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._rest = ""

    def feed(self, piece: str) -> str:
        """Return the text that can be shown so far."""
        text = self._key.scrub(self._rest + piece)
        keep = len(text) - self._key.possible_start(text)
        self._rest = text[keep:]
        return text[:keep]

    def finish(self) -> str:
        """Return the text that was held back."""
        text, self._rest = self._rest, ""
        return text


class LogScrubber(logging.Filter):
    """Removes the key from log messages of the packages below. At DEBUG they repeat a service's replies and headers."""

    _PACKAGES = ("httpx2", "httpcore2")
    _MODULES = ("connection", "http11", "http2", "proxy", "socks")

    def __init__(self, key: Key) -> None:
        super().__init__()
        self._key = key
        self._loggers: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass every record, without the key."""
        message = record.getMessage()
        scrubbed = self._key.scrub(message)
        if scrubbed != message:
            record.msg, record.args = scrubbed, ()
        if record.exc_info:
            # As text, so that no later handler formats the error itself.
            record.exc_text = self._key.scrub(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True

    def attach(self) -> None:
        """Start filtering."""
        # A filter applies to its own logger only, not to loggers below it. Loggers that the packages have not created
        # yet are named here; all others are found, whatever the modules are called in this version.
        named = {f"{package}.{module}" for package in self._PACKAGES for module in self._MODULES}
        found = {name for name in list(logging.root.manager.loggerDict) if name.split(".")[0] in self._PACKAGES}
        self._loggers = sorted({*self._PACKAGES, *named, *found})
        for name in self._loggers:
            logging.getLogger(name).addFilter(self)

    def detach(self) -> None:
        """Stop filtering."""
        for name in self._loggers:
            logging.getLogger(name).removeFilter(self)


class ResponseTooLong(Exception):
    """A response that was not read to its end, with the reason."""


class Unpacking:
    """Unpacks a body piece by piece.

    Args:
        encoding: Its ``content-encoding``.
        most: Maximum number of unpacked bytes.

    Raises:
        ResponseTooLong: The encoding is not supported.
    """

    def __init__(self, encoding: str | None, most: int) -> None:
        encoding = (encoding or "identity").strip().lower()
        if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise ResponseTooLong(f"expected a response without compression, as asked for; found {encoding!r:.40}")
        self._most = self._left = most
        # 32 + 15: detect the format from the first bytes.
        self._unpacker = None if encoding == "identity" else zlib.decompressobj(32 + 15)

    def feed(self, piece: bytes) -> bytes:
        """Return the next bytes.

        Raises:
            ResponseTooLong: There are more bytes than allowed.
            zlib.error: They are not packed as announced.
        """
        unpacked = piece if self._unpacker is None else self._unpacker.decompress(piece, self._left + 1)
        self._left -= len(unpacked)
        if self._left < 0:
            raise ResponseTooLong(
                f"expected a response of at most {self._most / 2**20:g} MiB; found a longer one, and stopped "
                "reading it. Check the address"
            )
        return unpacked


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Load the certificates once: this takes longer than the rest of a connection, and clients come and go."""
    import httpx2

    return httpx2.create_ssl_context()


def _forms(value: str) -> set[str]:
    escaped = json.dumps(value)[1:-1]
    return {value, escaped, escaped.replace("/", "\\/"), quote(value), quote(value, safe="")}
