"""The one way into a file of documents: packed or not, in UTF-8 or UTF-16."""

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
from vericite.errors import InputError, RecordError
from vericite.records import STANDARD_INPUT, STDIN, Document
from vericite.records.base import expect_end, open_told

MOST_CHARACTERS = 10_000_000
"""What one document may have that is made of something else than its text."""

_LOOKED_AT = 65_536
_LONGEST_LINE = 1 << 26  # characters; a packed file of nothing but spaces must not fill the memory
_LONGEST_TEXT = 1 << 26  # bytes of a file that is one document
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
    """A file that is open for reading, once and from its beginning.

    Attributes:
        path: The file.
        name: What a document is named by that has no id of its own.
        head: Its first bytes, unpacked.
        stream: All its bytes, unpacked. Reading it raises ``OSError`` where the file breaks off, and not before all
            that came until there was handed out. It looks as well, so that who reads it bit by bit need not.
        look: To be called now and then by who works long on it; raises where nobody waits for the file any more.
    """

    path: Path
    name: str
    head: bytes
    stream: BinaryIO
    look: Callable[[], None]

    @property
    def suffix(self) -> str:
        """The ending of its name in small letters, ``.gz`` left out."""
        return suffix_of(self.path)

    @property
    def opening(self) -> str:
        """Its first characters, with U+FFFD for what cannot be read as text."""
        text = self.head.decode(self._encoding, errors="replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it but spaces."""
        return not self.head.removeprefix(BOM_UTF8).strip()

    @property
    def known_kind(self) -> str | None:
        """What a file of no text is, told by its first bytes, and what to do with it."""
        return next((kind for magic, kind in _KINDS.items() if self.head.startswith(magic)), None)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Its lines, each with its number, counted from 1, and without its end.

        A byte that is no UTF-8 comes out as half a surrogate pair: see ``undecoded``.

        Raises:
            OSError: The file breaks off.
            RecordError: The line is too long to be one, or no UTF-16. What follows cannot be read.
        """
        errors = "surrogateescape" if self._encoding == "utf-8-sig" else "strict"
        # Not buffered: a buffer that is filled while the file breaks off loses what was in it.
        text = io.TextIOWrapper(self.stream, encoding=self._encoding, errors=errors)
        number = 0
        while True:
            number += 1
            try:
                line = text.readline(_LONGEST_LINE)
            except UnicodeError as error:
                raise RecordError(self.path, number, None, f"expected UTF-16; found none: {error}") from None
            if not line:
                return
            if len(line) >= _LONGEST_LINE:
                problem = f"expected a line of fewer than {_LONGEST_LINE:,} characters; found a longer one"
                raise RecordError(self.path, number, None, problem)
            yield number, line.removesuffix("\n")

    def content(self) -> bytes:
        """All its bytes.

        Raises:
            OSError: The file breaks off.
            InputError: It is too long for one document.
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
        r"""All of it as one text, its lines ended by ``\n``.

        Raises:
            OSError: The file breaks off.
            InputError: It is no text, or too long for one document.
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
    """What is wrong with a text of ``SourceFile.lines`` that was no UTF-8; None if nothing is."""
    found = None if text.isascii() else _ESCAPED.search(text)
    if not found:
        return None
    before = text[max(0, found.start() - 20) : found.start()].encode("ascii", "replace").decode().strip()
    where = f" after {before!r}" if before else ""
    return f"expected UTF-8; found byte 0x{ord(found[0]) & 0xFF:02x}{where}. Save the file as UTF-8"


def suffix_of(path: Path) -> str:
    """The ending of a file's name in small letters, ``.gz`` left out."""
    return Path(_unpacked(path.name)).suffix.lower()


def stem_of(path: Path) -> str:
    """A file's name without its endings: ``a.txt.gz`` is ``a``."""
    return "stdin" if path == STDIN else Path(_unpacked(path.name)).stem


def name_of(path: Path) -> str:
    """A name that no other file has: its stem, and what is made of where it lies, as in ``a-0123456789``.

    Every time the same, until the file is moved.
    """
    if path == STDIN:
        return "stdin"
    where = blake2b(os.fsencode(path.resolve()), digest_size=5).hexdigest()
    return f"{written(Path(stem_of(path) or path.name))}-{where}"


def written(path: Path) -> str:
    r"""The path as a store can hold it: bytes that are not UTF-8 as ``\xff``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@contextmanager
def opened(path: Path, name: str | None = None, look: Callable[[], None] = lambda: None) -> Generator[SourceFile]:
    """A file, unpacked if it is packed with gzip.

    Args:
        path: The file; ``-`` is the standard input.
        name: What a document is named by that has no id of its own, if not by the file's name.
        look: Called again and again while it is read; what it raises ends that.

    Raises:
        InputError: It cannot be read.
    """
    try:
        # The standard input is kept, because a file is looked into before it is read.
        file = open_told(STANDARD_INPUT.keep() if path == STDIN else path)
    except (OSError, ValueError) as error:
        # ValueError: a path with a zero byte in it.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected a readable file; found {path}: {reason}") from None
    with file:
        expect_end(path, file)
        stream = _Stream(file, look)
        try:
            head = stream.opening(_LOOKED_AT)
        except OSError as error:
            raise InputError(f"expected a readable file; found {path}: {error}") from None
        yield SourceFile(path, name or stem_of(path) or path.name, head, cast(BinaryIO, stream), look)


def _unpacked(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


class _Stream(io.RawIOBase):
    """The bytes of a file, unpacked; where it breaks off, an ``OSError`` after the last of them."""

    def __init__(self, file: BinaryIO, look: Callable[[], None]) -> None:
        self._look = look
        self._bytes = ByteStream(file)
        self._chunks = iter(self._bytes)
        self._buffer = memoryview(b"")

    def opening(self, most: int) -> bytes:
        """Its first bytes, which stay to be read.

        Raises:
            OSError: There are none, for the file breaks off at once.
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
            self._look()
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
            raise OSError(f"expected a whole file; found that {self._bytes.damage}. Fetch it again")


Item = Document | Deletion | Retraction | RecordError
"""What a source holds: a document, word that others were withdrawn or retracted, or what was wrong with a record."""

Numbered = tuple[int, Item]
"""An item and the line on which it begins."""


@dataclass(frozen=True, slots=True)
class SourceForm:
    """A form that documents come in.

    Attributes:
        summary: What a file of it looks like, as an error says it.
        read: The items of a file. What raises there ends the file, not the run: ``RecordError`` or ``OSError``.
        matches: Whether a file is of this form, told by its beginning, else by its name.
        updates: Whether a document whose id came before replaces that one. Elsewhere it is an error.
        may_be_empty: Whether a sound file may hold nothing, as a day without updates does.
        read_abstracts: The same items with their abstracts alone, of a form whose documents have more.
    """

    summary: str
    read: Callable[[SourceFile], Iterator[Numbered]]
    matches: Callable[[SourceFile], bool]
    updates: bool = False
    may_be_empty: bool = False
    read_abstracts: Callable[[SourceFile], Iterator[Numbered]] | None = None


# What may stand before the first element. A declaration may bring a subset of its own, in brackets.
_PROLOGUE = re.compile(
    r"\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE
)
_ELEMENT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")


def root_of(opening: str) -> str | None:
    """The name of the first element, without its namespace; None if the text does not begin as XML does."""
    position = 0
    while found := _PROLOGUE.match(opening, position):
        position = found.end()
    element = _ELEMENT.match(opening, position)
    return element[1] if element else None
