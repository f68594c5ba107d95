"""Open files of documents, compressed or not, in UTF-8 or UTF-16."""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, cast

from vericite.corpus.pubmed import Deletion, Retraction
from vericite.corpus.pubmed.read import ByteStream
from vericite.corpus.sources.entry import DocumentEntry
from vericite.errors import InputError, RecordError
from vericite.records import STANDARD_INPUT, STDIN, Document
from vericite.records.base import expect_end, open_or_wait

MOST_CHARACTERS = 10_000_000
"""Maximum characters of a document that is converted from Word, PDF and the like."""

_LOOKED_AT = 65_536
_LONGEST_LINE = 1 << 26  # characters; a compressed file of only spaces must not fill the memory
_LONGEST_TEXT = 1 << 26  # bytes, for a file that is one document
_ESCAPED = re.compile("[\udc80-\udcff]")
_KINDS = {
    b"PK\x03\x04": "a ZIP archive, as .xlsx and .epub are. Unpack it, or save its text as .txt, .md or .csv",
    b"\xd0\xcf\x11\xe0": "an old Office file. Save it as .docx, .txt or .csv",
    b"{\\rtf": "rich text. Save it as .docx or plain text",
    b"SQLite format 3": "an SQLite file",
    b"PAR1": "a Parquet file. Write its rows as JSON Lines",
    b"BZh": "a file packed with bzip2. Unpack it, or pack it with gzip",
    b"\xfd7zXZ": "a file packed with xz. Unpack it, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "a file packed with zstd. Unpack it, or pack it with gzip",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that is open for reading once, from its beginning.

    Attributes:
        path: The file.
        name: Base of the ids of documents without an id of their own.
        head: The first bytes, unpacked.
        stream: All bytes, unpacked. If the file is truncated, reading raises ``OSError`` after the last byte.
            Reading also calls ``check_cancelled``.
        check_cancelled: Raises if the file is no longer wanted. Long computations should call it.
    """

    path: Path
    name: str
    head: bytes
    stream: BinaryIO
    check_cancelled: Callable[[], None]

    @property
    def suffix(self) -> str:
        """The lower-case suffix of the file's name, without ``.gz``."""
        return suffix_of(self.path)

    @property
    def opening(self) -> str:
        """The first characters of the file, with U+FFFD for bytes that are not text."""
        text = self.head.decode(self._encoding, errors="replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def is_empty(self) -> bool:
        """Whether the file has only white space."""
        return not self.head.removeprefix(BOM_UTF8).strip()

    @property
    def known_kind(self) -> str | None:
        """The kind of a file that is not text, from its first bytes, and advice on how to convert it."""
        return next((kind for magic, kind in _KINDS.items() if self.head.startswith(magic)), None)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines without line ends, each with its number, counted from 1.

        A byte that is not UTF-8 becomes a lone surrogate: see ``undecoded``.

        Raises:
            OSError: The file is truncated.
            RecordError: A line is too long, or not UTF-16. The rest cannot be read.
        """
        errors = "surrogateescape" if self._encoding == "utf-8-sig" else "strict"
        # Unbuffered: a buffer would lose the last bytes before the point where the file is truncated.
        text = io.TextIOWrapper(self.stream, encoding=self._encoding, errors=errors)
        number = 0
        while True:
            number += 1
            try:
                line = text.readline(_LONGEST_LINE)
            except UnicodeError as error:
                raise RecordError(self.path, number, None, f"expected UTF-16; found other bytes: {error}") from None
            if not line:
                return
            if len(line) >= _LONGEST_LINE:
                problem = f"expected a line of fewer than {_LONGEST_LINE:,} characters; found a longer one"
                raise RecordError(self.path, number, None, problem)
            yield number, line.removesuffix("\n")

    def content(self) -> bytes:
        """Return all bytes.

        Raises:
            OSError: The file is truncated.
            InputError: The file is too long for one document.
        """
        raw = bytearray()
        while len(raw) <= _LONGEST_TEXT and (part := self.stream.read(_LOOKED_AT)):
            raw += part
        if len(raw) > _LONGEST_TEXT:
            raise InputError(
                f"expected a document of at most {_LONGEST_TEXT:,} bytes; found {self.path}, which is longer. Split it"
            )
        return bytes(raw)

    def text(self) -> str:
        r"""Return the whole file as text with ``\n`` line ends.

        Raises:
            OSError: The file is truncated.
            InputError: The file is not text, or is too long for one document.
        """
        raw = self.content()
        try:
            text = raw.decode(self._encoding)
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            problem = f"byte 0x{error.object[error.start]:02x} at {error.start}, line {line}"
            name = self._encoding.removesuffix("-sig").upper()
            raise InputError(f"expected {name}; found {self.path} with {problem}. Save it as UTF-8") from None
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

    @property
    def _encoding(self) -> str:
        return "utf-16" if self.head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"


def undecoded(text: str) -> str | None:
    """Return the error for a line of ``SourceFile.lines`` that was not UTF-8; None if it was."""
    found = None if text.isascii() else _ESCAPED.search(text)
    if not found:
        return None
    before = text[max(0, found.start() - 20) : found.start()].encode("ascii", "replace").decode().strip()
    where = f" after {before!r}" if before else ""
    return f"expected UTF-8; found byte 0x{ord(found[0]) & 0xFF:02x}{where}. Save the file as UTF-8"


def suffix_of(path: Path) -> str:
    """Return the lower-case suffix of a file's name, without ``.gz``."""
    return Path(_unpacked(path.name)).suffix.lower()


def stem_of(path: Path) -> str:
    """Return a file's name without its suffixes: ``a`` for ``a.txt.gz``."""
    return "stdin" if path == STDIN else Path(_unpacked(path.name)).stem


def name_of(path: Path) -> str:
    """Return a unique name for a file: its stem and a hash of its path, such as ``a-0123456789``.

    The name stays the same until the file is moved.
    """
    if path == STDIN:
        return "stdin"
    where = blake2b(os.fsencode(path.resolve()), digest_size=5).hexdigest()
    return f"{written(Path(stem_of(path) or path.name))}-{where}"


def written(path: Path) -> str:
    r"""Return the path as text that a store can hold, with bytes that are not UTF-8 as ``\xff``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@contextmanager
def opened(
    path: Path, name: str | None = None, check_cancelled: Callable[[], None] = lambda: None
) -> Generator[SourceFile]:
    """Open a file; a gzip file is unpacked.

    Args:
        path: The file; ``-`` is the standard input.
        name: Base of the ids of documents without an id of their own. Default: the file's name.
        check_cancelled: Called repeatedly during reading; an exception that it raises stops the reading.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        # The standard input is saved, because a file is inspected before it is read.
        file = open_or_wait(STANDARD_INPUT.keep() if path == STDIN else path)
    except (OSError, ValueError) as error:
        # ValueError: a path with a zero byte in it.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected a readable file; found {path}: {reason}") from None
    with file:
        expect_end(path, file)
        stream = _Stream(file, check_cancelled)
        try:
            head = stream.opening(_LOOKED_AT)
        except OSError as error:
            raise InputError(f"expected a readable file; found {path}: {error}") from None
        yield SourceFile(path, name or stem_of(path) or path.name, head, cast(BinaryIO, stream), check_cancelled)


def _unpacked(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


class _Stream(io.RawIOBase):
    """The unpacked bytes of a file; if it is truncated, an ``OSError`` after the last byte."""

    def __init__(self, file: BinaryIO, check_cancelled: Callable[[], None]) -> None:
        self._check_cancelled = check_cancelled
        self._bytes = ByteStream(file)
        self._chunks = iter(self._bytes)
        self._buffer = memoryview(b"")

    def opening(self, most: int) -> bytes:
        """Return the first bytes without consuming them.

        Raises:
            OSError: The file is truncated before its first byte.
        """
        head = bytearray()
        while len(head) < most and (chunk := next(self._chunks, None)) is not None:
            head += chunk
        if not head:
            self._check()
        self._buffer = memoryview(bytes(head))
        return bytes(head[:most])

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        while not self._buffer:
            self._check_cancelled()
            chunk = next(self._chunks, None)
            if chunk is None:
                self._check()
                return 0
            self._buffer = memoryview(chunk)
        part = self._buffer[: len(buffer)]
        self._buffer = self._buffer[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _check(self) -> None:
        if self._bytes.damage:
            raise OSError(f"expected a complete file; {self._bytes.damage}. Fetch it again")


Item = Document | Deletion | Retraction | RecordError
"""An item of a source: a document, a notice that others were deleted or retracted, or a record's error."""

Numbered = tuple[int, Item]
"""The line on which an item begins, and the item."""

Entries = Iterator[tuple[int, DocumentEntry | RecordError]]
"""Entries of a bibliography, each with the line on which it begins."""


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A file format for documents.

    Attributes:
        summary: Description of the format for error messages.
        read: Yields the items of a file. A ``RecordError`` or ``OSError`` that it raises ends the file, not the run.
        matches: Whether a file has this format, from its beginning or else its name.
        updates: Whether a document with a repeated id replaces the first. In other formats that is an error.
        may_be_empty: Whether a valid file may hold nothing, such as the updates of a day without any.
        read_abstracts: Like ``read``, but with only the abstracts; for formats that have full texts.
        suffixes: Usual suffixes of the files, which the service's page offers when the user chooses a file.
        entries: Yields the entries of a bibliography, also those without an abstract; None: not a bibliography.
        record_mark: Bytes that occur about once in every record, from which progress is estimated. None: a file is one
            document.
    """

    summary: str
    read: Callable[[SourceFile], Iterator[Numbered]]
    matches: Callable[[SourceFile], bool]
    updates: bool = False
    may_be_empty: bool = False
    read_abstracts: Callable[[SourceFile], Iterator[Numbered]] | None = None
    suffixes: tuple[str, ...] = ()
    record_mark: bytes | None = None
    entries: Callable[[SourceFile], Entries] | None = None


# What may come before the first element. A document type may have an internal subset in brackets.
_PROLOGUE = re.compile(
    r"\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE
)
_ELEMENT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")


def root_of(opening: str) -> str | None:
    """Return the name of the first element without its namespace; None if the text does not begin like XML."""
    position = 0
    while found := _PROLOGUE.match(opening, position):
        position = found.end()
    element = _ELEMENT.match(opening, position)
    return element[1] if element else None
