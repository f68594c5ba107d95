"""The bytes of a file or an open stream, gzipped or not, as far as they can be had."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from vericite.errors import InputError

CHUNK = 1 << 16
# What zlib may hand out at once, so that a small file that unpacks to a huge one does so piece by piece.
_UNPACKED = 1 << 16
_GZIP = b"\x1f\x8b"


class ByteStream:
    """Iterates over the bytes in chunks, unpacked.

    Attributes:
        damage: What ended the stream too early, once it has ended; None where all is well.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.damage: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        chunks = self._chunks()
        first = beginning(chunks, len(_GZIP))
        packed = first.startswith(_GZIP)
        yield from self._unpacked(first, chunks) if packed else _with_first(first, chunks)

    def _chunks(self) -> Iterator[bytes]:
        try:
            while chunk := self._stream.read(CHUNK):
                if isinstance(chunk, str):
                    raise InputError('expected a stream of bytes; found one of text. Open the file with mode "rb"')
                yield chunk
        except (OSError, EOFError, zlib.error) as error:
            # The last two are of a stream that unpacks on its own.
            self.damage = f"it cannot be read on ({error})"

    def _unpacked(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
        inflater = zlib.decompressobj(wbits=31)
        begun = False
        for chunk in _with_first(first, chunks):
            data = chunk
            while data:
                before = inflater.copy()
                try:
                    out = inflater.decompress(data, _UNPACKED)
                except zlib.error as error:
                    self.damage = f"its gzip data is damaged ({error})"
                    yield _until_damage(before, data)
                    return
                begun = True
                if out:
                    yield out
                data = inflater.unconsumed_tail
                if inflater.eof:
                    # One file may be several gzip members in a row, padded with zeros.
                    data = inflater.unused_data.lstrip(b"\0")
                    inflater, begun = zlib.decompressobj(wbits=31), bool(data)
        if begun and not self.damage:
            self.damage = "its gzip data ends too early"


def beginning(chunks: Iterator[bytes], least: int) -> bytes:
    """The first chunks up to so many bytes, for a pipe or a socket may hand out a few at a time."""
    first = b""
    while len(first) < least and (chunk := next(chunks, b"")):
        first += chunk
    return first


def _with_first(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks


def _until_damage(inflater: zlib._Decompress, data: bytes) -> bytes:  # pyright: ignore[reportPrivateUsage]
    """What comes out before the byte that cannot be: zlib itself drops it with the error."""
    out: list[bytes] = []
    try:
        for place in range(len(data)):
            out.append(inflater.decompress(data[place : place + 1]))
    except zlib.error:
        pass
    return b"".join(out)
