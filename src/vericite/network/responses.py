"""Reading responses within bounds: no service can fill the memory, whatever it sends."""

from __future__ import annotations

import ssl
import zlib
from functools import cache

import httpx2


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
    return httpx2.create_ssl_context()
