"""Who may be asked, with which key, and how much they may answer.

The offline guard, API keys that appear nowhere but in requests, and responses read within bounds: no service can fill
the memory, whatever it sends.
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
"""Shorter values are placeholders ("EMPTY", "none"); removing them would damage replies."""


def offline_by_environment() -> bool:
    """Whether ``VERICITE_OFFLINE`` forbids the network: any value but 0, no, false, off and nothing does."""
    return is_on(OFFLINE)


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own; nothing is looked up."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Key:
    """An API key. It has no readable form: not in ``repr``, not in ``vars``, not in a pickle."""

    __slots__ = ("__forms", "__pattern", "__value", "variable")

    def __init__(self, variable: str | None, value: str) -> None:
        self.variable = variable
        self.__value = value
        # As it stands, and as JSON and addresses escape it; the longest first, as one may begin another.
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
        """Whether a header can hold it."""
        return self.__value.isascii() and self.__value.isprintable() and " " not in self.__value

    def bearer(self) -> str:
        """The header's value. For the request about to be sent only."""
        return f"Bearer {self.__value}"

    def form_value(self) -> str:
        """The value of a form's field. For the request about to be sent only."""
        return self.__value

    def scrub(self, text: str) -> str:
        """The text without the key, also where JSON or an address escapes it."""
        return text if self.__pattern is None else self.__pattern.sub(f"[{self.variable}]", text)

    def possible_start(self, text: str) -> int:
        """How many of the text's last characters may begin the key, whose rest may still come."""
        longest = max(map(len, self.__forms), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(form.startswith(text[-length:]) for form in self.__forms):
                return length
        return 0


class PieceScrubber:
    """Removes the key from a text that comes in pieces, also where it is spread over several."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._rest = ""

    def feed(self, piece: str) -> str:
        """What can be shown so far."""
        text = self._key.scrub(self._rest + piece)
        keep = len(text) - self._key.possible_start(text)
        self._rest = text[keep:]
        return text[:keep]

    def finish(self) -> str:
        """What was held back."""
        text, self._rest = self._rest, ""
        return text


class LogScrubber(logging.Filter):
    """Removes the key from what the packages below log: at DEBUG they repeat what a service sends, headers too."""

    _PACKAGES = ("httpx2", "httpcore2")
    _MODULES = ("connection", "http11", "http2", "proxy", "socks")

    def __init__(self, key: Key) -> None:
        super().__init__()
        self._key = key
        self._loggers: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without the key."""
        message = record.getMessage()
        scrubbed = self._key.scrub(message)
        if scrubbed != message:
            record.msg, record.args = scrubbed, ()
        if record.exc_info:
            # As text, so that nothing behind this filter prints the error in its own words.
            record.exc_text = self._key.scrub(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True

    def attach(self) -> None:
        """Begin."""
        # A filter holds for the very logger that it is given to, and not for those below. Those that the packages
        # have not made yet are named; all others are found, whatever a version of them calls its modules.
        named = {f"{package}.{module}" for package in self._PACKAGES for module in self._MODULES}
        found = {name for name in list(logging.root.manager.loggerDict) if name.split(".")[0] in self._PACKAGES}
        self._loggers = sorted({*self._PACKAGES, *named, *found})
        for name in self._loggers:
            logging.getLogger(name).addFilter(self)

    def detach(self) -> None:
        """End."""
        for name in self._loggers:
            logging.getLogger(name).removeFilter(self)


class ResponseTooLong(Exception):
    """A response that is not read to its end, and why."""


class Unpacking:
    """The bytes of a body, unpacked piece by piece.

    Args:
        encoding: Its ``content-encoding``.
        most: Bytes, unpacked, that are read at most.

    Raises:
        ResponseTooLong: It cannot be unpacked within bounds.
    """

    def __init__(self, encoding: str | None, most: int) -> None:
        encoding = (encoding or "identity").strip().lower()
        if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise ResponseTooLong(f"expected a response without compression, as asked for; found {encoding!r:.40}")
        self._most = self._left = most
        # 32 + 15: the format is read from its first bytes.
        self._unpacker = None if encoding == "identity" else zlib.decompressobj(32 + 15)

    def feed(self, piece: bytes) -> bytes:
        """The next bytes.

        Raises:
            ResponseTooLong: There are more than may be read.
            zlib.error: They are not packed as was announced.
        """
        unpacked = piece if self._unpacker is None else self._unpacker.decompress(piece, self._left + 1)
        self._left -= len(unpacked)
        if self._left < 0:
            raise ResponseTooLong(
                f"expected a response of at most {self._most / 2**20:g} MiB; found a longer one, and left it. "
                "Check the address"
            )
        return unpacked


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Reading the certificates takes longer than all else that a connection needs; clients come and go."""
    import httpx2

    return httpx2.create_ssl_context()


def _forms(value: str) -> set[str]:
    escaped = json.dumps(value)[1:-1]
    return {value, escaped, escaped.replace("/", "\\/"), quote(value), quote(value, safe="")}
