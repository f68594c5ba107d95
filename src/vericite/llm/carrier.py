"""The HTTP client under the ``openai`` package: what it may send, where it may go, and how much it reads."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import AsyncIterator, Generator
from functools import cache
from typing import Any

import httpx2

from vericite.errors import InputError
from vericite.llm.keys import Key
from vericite.llm.spec import ModelSpec
from vericite.version import __version__

MOST_READ = 32 * 2**20
"""Bytes of a response, uncompressed: many times the longest reply that a model writes."""

_WRAPPED = 16
"""As much longer a stream may be: each of its tokens comes in an event of a few hundred bytes."""

_HEADERS_KEPT = frozenset(["host", "accept", "connection", "content-length", "content-type", "transfer-encoding"])


class ReadingError(Exception):
    """A response that is not read, or not to its end, and why."""


class BoundedClient(httpx2.AsyncClient):
    """Reads no more of a response than fits a reply, whatever the service sends."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **choices: Any) -> httpx2.Response:
        """Send a request; a response that is too long fails while it is read."""
        response = await super().send(request, stream=True, **choices)
        try:
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            # It comes out of the stream uncompressed: httpx2 would unpack it without a bound.
            response.headers.pop("content-encoding", None)
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Bounded(response.stream, encoding, MOST_READ * _WRAPPED if stream else MOST_READ)
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, source: httpx2.AsyncByteStream, encoding: str, most: int) -> None:
        if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise ReadingError(f"expected a response without compression, as asked for; found {encoding!r:.40}")
        self._source = source
        self._most = most
        # 32 + 15: the format is read from its first bytes.
        self._unpacking = None if encoding == "identity" else zlib.decompressobj(32 + 15)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._source:
            unpacked = piece if self._unpacking is None else self._unpacking.decompress(piece, left + 1)
            left -= len(unpacked)
            if left < 0:
                raise ReadingError(
                    f"expected a response of at most {self._most / 2**20:g} MiB; found a longer one, and left it. "
                    "Check that the address is that of a language model"
                )
            yield unpacked

    async def aclose(self) -> None:
        await self._source.aclose()


class OnlyWhatIsMeant(httpx2.Auth):
    """Sends the key, and of the package's headers those that the request needs."""

    def __init__(self, key: Key) -> None:
        self._key = key

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Put the headers in order."""
        for name in set(request.headers) - _HEADERS_KEPT:
            del request.headers[name]
        request.headers["user-agent"] = f"vericite/{__version__}"
        # Replies are short, and what is not compressed cannot grow when it is read.
        request.headers["accept-encoding"] = "identity"
        if self._key:
            request.headers["authorization"] = self._key.bearer()
        yield request


def carrier(spec: ModelSpec, key: Key, concurrency: int) -> httpx2.AsyncClient:
    """The client for a service.

    Raises:
        InputError: The environment names a proxy that cannot be used.
    """
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    # With a transport of its own a client asks no proxy: what goes to this machine has no business with one.
    transport = httpx2.AsyncHTTPTransport(verify=_trusted(), limits=limits) if spec.local else None
    try:
        return BoundedClient(
            auth=OnlyWhatIsMeant(key),
            transport=transport,
            verify=_trusted(),
            limits=limits,
            follow_redirects=False,
            timeout=None,
        )
    except (ValueError, ImportError):
        # Not in its own words: the address of a proxy may hold a password.
        raise InputError(
            "expected proxies in the environment (HTTPS_PROXY, ALL_PROXY ...) that can be used; found one that cannot. "
            "Correct it, or unset it."
        ) from None


@cache
def _trusted() -> ssl.SSLContext:
    """Reading the certificates takes longer than all else that a connection needs; clients come and go."""
    return httpx2.create_ssl_context()
