"""Read PubMed's XML record by record, in constant memory, skipping broken parts.

A file is cut into blocks that end with a record, and each block is parsed as a small document of its own. libxml2
frees a small document at once, which is faster than freeing records one by one from a large document that still
grows. If a block is not well-formed, its records are cut out by their tags and parsed one by one, so that only the
broken records are lost.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from vericite.corpus.pubmed.record import Deletion, PubMedRecord
from vericite.corpus.pubmed.text import UndefinedEntityError
from vericite.errors import InputError, RecordError
from vericite.records import first_problem

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]


RECORDS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation", "DeleteDocument")
"""Record elements in files since 2017 and in efetch replies."""

CITATIONS = ("MedlineCitation", "DeleteCitation")
"""Record elements in files up to 2016."""

LONGEST = 1 << 25
"""Maximum bytes of a record. PubMed's longest records, with thousands of authors, have a tenth of this."""

HEAD = 1 << 13
"""Bytes at the beginning of a file that are searched for its root element."""

# Atomic groups, so that a long file of another format is refused in one pass.
_ASIDE = rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?>[^>\[]+|\[.*?\]\s*(?=>))*+>"
_PROLOG = re.compile(rb"(?>" + _ASIDE + rb")*+", re.DOTALL)
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)")
# What may be between two records where files were concatenated; its end may be cut off.
_BETWEEN = re.compile(rb"(?>" + _ASIDE + rb"|</?[A-Za-z]+Set\b[^<>]*>)*+(?:<[^<>]*)?", re.DOTALL)
_PMID = re.compile(rb"<PMID[^>]*>\s*(\d{1,15})\s*<")
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z][\w.-]*)")


class Block(NamedTuple):
    """Bytes of a stream, and their first line, counted from 1; ``torn`` if they do not end with a record."""

    line: int
    data: bytes
    torn: bool = False

    @property
    def pmid(self) -> str | None:
        """The first PMID in the block."""
        found = _PMID.search(self.data)
        return found[1].decode() if found else None

    @property
    def named(self) -> str:
        """Error-message prefix: the PMID, if the block has one."""
        return f"PMID {self.pmid}: " if self.pmid else ""

    @property
    def is_between(self) -> bool:
        """Whether the block has nothing that could be part of a record."""
        return _BETWEEN.fullmatch(self.data.removeprefix(b"\xef\xbb\xbf")) is not None

    def ends(self, root: str) -> bool:
        """Whether the root element ends in the block."""
        return re.search(rf"</{root}\s*>|<{root}[^<>]*/>".encode(), self.data) is not None

    @property
    def excerpt(self) -> str:
        """The first words of the block, quoted."""
        return repr(" ".join(self.data[:80].decode("utf-8", "replace").split()))

    @property
    def end_line(self) -> int:
        """The last line of the block."""
        return self.line + self.data.count(b"\n")


class Piece(NamedTuple):
    """A part of a block, cut by tags: a record, ``whole`` or in part, or the text between records."""

    block: Block
    record: bool
    whole: bool


def head_of(data: bytes) -> tuple[str | None, str | None]:
    """Return the root element and the declared encoding from the first bytes of a file."""
    start = data[: 1 << 16].removeprefix(b"\xef\xbb\xbf")
    prolog = _PROLOG.match(start)
    root = _ROOT.match(start, prolog.end() if prolog else 0)
    encoding = _ENCODING.match(start)
    return root[1].decode("latin-1") if root else None, encoding[1].decode() if encoding else None


def blocks_of(chunks: Iterable[bytes], ends: Iterable[str]) -> Iterator[Block]:
    """Yield blocks that end with an end tag from ``ends`` (the most common first); the last block is the rest.

    Only a block without the end of a record within ``LONGEST`` bytes is cut elsewhere.
    """
    tags = [f"</{name}>".encode() for name in ends]
    line, rest = 1, b""
    for chunk in chunks:
        # The tag may be split over two chunks.
        seen = max(0, len(rest) - 32)
        rest += chunk
        ends_with = ((rest.rfind(tag, seen), len(tag)) for tag in tags)
        end = next((place + length for place, length in ends_with if place >= 0), 0)
        torn = not end and len(rest) > LONGEST
        if torn:
            end = len(rest)
        if end:
            block = Block(line, rest[:end], torn)
            yield block
            line, rest = block.end_line, rest[end:]
    if rest:
        yield Block(line, rest)


def pieces_of(block: Block, names: Iterable[str]) -> Iterator[Piece]:
    """Split a block into records and the text between them, using only the tags."""
    kinds = "|".join(names).encode()
    # A record in a comment does not count.
    tag = re.compile(rb"<!--.*?-->|<(/?)(?:" + kinds + rb")(?=[\s/>])[^<>]*>", re.DOTALL)
    data, line, done, opened = block.data, block.line, 0, False
    for found in tag.finditer(data):
        if found[0].startswith(b"<!"):
            continue
        closing = found[1] == b"/"
        cut = found.end() if closing else found.start()
        if cut > done:
            piece = Block(line, data[done:cut])
            yield Piece(piece, record=opened or closing, whole=opened and closing)
            line, done = piece.end_line, cut
        opened = not closing
    if done < len(data):
        yield Piece(Block(line, data[done:]), record=opened, whole=False)


SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "remove_comments": True,
    "remove_pis": True,
    "huge_tree": False,
}
"""Settings for lxml's parsers: nothing is fetched, no entity is expanded, and libxml2's size limits apply."""

# With a document type, which is not read, undeclared entities are kept instead of being an error.
_TYPE = b'<!DOCTYPE block SYSTEM "unread">'
_HEAD, _TAIL = _TYPE + b"<block>", b"</block>"


class BlockParser:
    """Parses blocks, with ``SAFE`` settings."""

    def __init__(self, name: str, encoding: str | None) -> None:
        # Imported here because lxml takes time to load.
        from lxml import etree

        from vericite.corpus.pubmed.record import record_of

        self._name = name
        self._etree = etree
        self._record_of = record_of
        try:
            self._parser = etree.XMLParser(encoding=encoding, **SAFE)
        except LookupError:
            raise InputError(f"expected UTF-8 in {name}; found the encoding {encoding!r}. Save it as UTF-8") from None

    def record(self, element: _Element) -> PubMedRecord | Deletion:
        """Return the record in an element.

        Raises:
            pydantic.ValidationError: The element is not a valid record.
        """
        return self._record_of(element)

    def elements(self, block: Block, kinds: Sequence[str]) -> list[_Element] | None:
        """Return the record elements of a block; None if it is not well-formed or holds anything else."""
        try:
            parsed = self._etree.fromstring(b"".join((_HEAD, block.data, _TAIL)), self._parser)
        except self._etree.XMLSyntaxError:
            return None
        elements = list(parsed)
        strange = (parsed.text or "").strip() or any(
            element.tag not in kinds or (element.tail or "").strip() for element in elements
        )
        return None if strange else elements

    def element(self, block: Block) -> _Element | RecordError:
        """Parse a block that is one record; return the element, or the error."""
        try:
            return self._etree.fromstring(_TYPE + block.data, self._parser)
        except self._etree.XMLSyntaxError as error:
            line = block.line + max(error.lineno or 1, 1) - 1
            problem = f"{block.named}expected well-formed XML; found an error ({error.msg}). The record is lost"
            return RecordError(self._name, line, None, problem)


_FETCH = "Fetch records with efetch, db=pubmed and retmode=xml"
# Replies of NCBI's services that hold no records.
_KNOWN = {
    "eSearchResult": f"the answer of a search, which has ids alone. {_FETCH}",
    "eSummaryResult": f"summaries, which have no abstracts. {_FETCH}",
    "ePostResult": f"the answer to a list of ids. {_FETCH}",
    "eLinkResult": f"links between records. {_FETCH}",
    "eInfoResult": f"a description of a database. {_FETCH}",
    "eFetchResult": "NCBI's report of an error. Ask for fewer records, or later",
    "pmc-articleset": f"articles of PubMed Central. {_FETCH}",
    "article": f"an article of PubMed Central or a publisher. {_FETCH}",
    "html": "a web page. Get the file itself, not the page that links to it",
}
_MAGIC = {
    b"PK\x03\x04": "a zip archive. Unpack it",
    b"BZh": "bzip2 data. Unpack it",
    b"\xfd7zXZ": "xz data. Unpack it",
    b"(\xb5/\xfd": "zstandard data. Unpack it",
    b"\xff\xfe": "text in UTF-16. Save it as UTF-8",
    b"\xfe\xff": "text in UTF-16. Save it as UTF-8",
    b"{": f"JSON ({{}}). {_FETCH}",
    b"[": f"JSON ({{}}). {_FETCH}",
    b"PMID- ": f"PubMed's text format. {_FETCH}, or save the file as XML",
}


def refusal(name: str, root: str | None, head: bytes, damage: str | None) -> str:
    """Return the error message for a file without records, from its root element or its first bytes.

    Args:
        name: Name of the file.
        root: Its root element, if any.
        head: Its first bytes, unpacked.
        damage: Why the file could not be read further, if it could not.
    """
    return f"expected PubMed XML in {name}; found {_found(root, head, damage)}."


def _found(root: str | None, head: bytes, damage: str | None) -> str:
    if root is not None:
        known = _KNOWN.get("html" if root.lower() == "html" else root)
        return f"the root element <{root}>" + (f", {known}" if known else f". {_FETCH}")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return f"nothing: {damage}" if damage else "an empty file. Get it again"
    excerpt = repr(text[:60].decode("utf-8", "replace"))
    for magic, found in _MAGIC.items():
        if text.startswith(magic):
            return found.replace("{}", excerpt)
    return f"no root element but {excerpt}" + (f": {damage}" if damage else f". {_FETCH}")


CHUNK = 1 << 16
# Maximum bytes that zlib returns at once, so that a small file that unpacks to a huge one fills no memory.
_UNPACKED = 1 << 16
_GZIP = b"\x1f\x8b"


class ByteStream:
    """Iterates over the unpacked bytes of a stream in chunks.

    Attributes:
        damage: Why the stream ended too early, set at its end; None if it is complete.
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
            # EOFError and zlib.error come from a stream that unpacks itself.
            self.damage = f"it cannot be read further ({error})"

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
                    # A file may be several gzip members in a row, padded with zeros.
                    data = inflater.unused_data.lstrip(b"\0")
                    inflater, begun = zlib.decompressobj(wbits=31), bool(data)
        if begun and not self.damage:
            self.damage = "its gzip data ends too early"


def beginning(chunks: Iterator[bytes], least: int) -> bytes:
    """Return the first chunks, at least ``least`` bytes: a pipe or a socket may return a few bytes at a time."""
    first = b""
    while len(first) < least and (chunk := next(chunks, b"")):
        first += chunk
    return first


def _with_first(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks


def _until_damage(inflater: zlib._Decompress, data: bytes) -> bytes:  # pyright: ignore[reportPrivateUsage]
    """Unpack byte by byte up to the damaged byte: zlib drops its output if it raises an error."""
    out: list[bytes] = []
    try:
        for place in range(len(data)):
            out.append(inflater.decompress(data[place : place + 1]))
    except zlib.error:
        pass
    return b"".join(out)


Item = PubMedRecord | Deletion | RecordError

KINDS = {
    "PubmedArticleSet": RECORDS,
    "PubmedBookArticleSet": RECORDS,
    "BookDocumentSet": RECORDS,
    "PubmedArticle": RECORDS,
    "PubmedBookArticle": RECORDS,
    "MedlineCitationSet": CITATIONS,
    "MedlineCitation": CITATIONS,
}
"""Record elements by root element."""


def read_pubmed(source: Path | BinaryIO, name: str | None = None) -> Iterator[Item]:
    """Yield the records and deletions of a PubMed file, and an error for each part that cannot be read.

    Args:
        source: A file of PubMed's XML, gzipped or not, or an open stream of such bytes, which is not closed.
        name: Name in error messages. Default: its path, or ``<stream>``.

    Raises:
        InputError: The source cannot be read or is not PubMed XML. Raised with the first item.
    """
    with ExitStack() as stack:
        if isinstance(source, Path):
            try:
                opened: BinaryIO = stack.enter_context(source.open("rb"))
            except (OSError, ValueError) as error:
                # ValueError: a path with a zero byte in it.
                reason = error.strerror if isinstance(error, OSError) else error
                raise InputError(f"expected a readable file; found {source}: {reason}") from None
        else:
            opened = source
        yield from _Reading(opened, name or (str(source) if isinstance(source, Path) else "<stream>")).items()


class _Reading:
    """One pass over a source."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._name = name
        self._stream = ByteStream(stream)
        chunks = iter(self._stream)
        head = beginning(chunks, HEAD)
        root, encoding = head_of(head)
        if root not in KINDS:
            raise InputError(refusal(name, root, head, self._stream.damage))
        self._root = root
        self._kinds = KINDS[root]
        self._blocks = blocks_of(chain([head], chunks), self._kinds)
        self._parser = BlockParser(name, encoding)
        self._torn: Block | None = None
        self._ended = False

    def items(self) -> Iterator[Item]:
        """Yield all items, and at the end an error if the file ends too early."""
        block = Block(1, b"")
        for block in self._blocks:
            records = None if block.torn else self._parser.elements(block, self._kinds)
            if records is None:
                yield from self._by_tags(block)
            else:
                self._ended = self._root in self._kinds
                yield from (self._built(element, block, number) for number, element in enumerate(records))
        yield from self._ending(block.end_line)

    def _built(self, element: _Element, block: Block, number: int = 0) -> Item:
        """Build the record of an element; ``number`` is its position in the block."""
        try:
            return self._parser.record(element)
        except UndefinedEntityError as error:
            field, problem = None, f"{error}. The record is lost: write the character itself"
        except ValidationError as error:
            field, problem = first_problem(error)
        records = (piece.block for piece in pieces_of(block, self._kinds) if piece.record)
        own = next(islice(records, number, None), block)
        return RecordError(self._name, own.line, field, own.named + problem)

    def _by_tags(self, block: Block) -> Iterator[Item]:
        """Parse each record of a block separately."""
        for piece in pieces_of(block, self._kinds):
            if self._torn:
                problem = f"{self._torn.named}expected its end tag; found another record first. The record is lost"
                yield RecordError(self._name, self._torn.line, None, problem)
                self._torn = None
            if not piece.record:
                yield from self._not_a_record(piece.block)
            elif piece.whole:
                self._ended = self._root in self._kinds
                element = self._parser.element(piece.block)
                yield element if isinstance(element, RecordError) else self._built(element, piece.block)
            else:
                self._torn = piece.block

    def _not_a_record(self, block: Block) -> Iterator[RecordError]:
        self._ended = self._ended or block.ends(self._root)
        if not block.is_between:
            problem = f"expected a record; found {block.excerpt}. It is skipped"
            yield RecordError(self._name, block.line, None, problem)

    def _ending(self, line: int) -> Iterator[RecordError]:
        damage = self._stream.damage
        if self._torn and self._torn.ends(self._root):
            problem = f"{self._torn.named}expected its end tag; found the end of the file. The record is lost"
            yield RecordError(self._name, self._torn.line, None, problem)
            self._torn, self._ended = None, True
        if self._ended and not damage and not self._torn:
            return
        problem = f"expected the file to end with </{self._root}>; it ends too early"
        if self._torn and self._torn.pmid:
            problem += f", within the record of PMID {self._torn.pmid}"
        elif self._ended and damage:
            problem = "expected an undamaged file; the records that were read may be wrong"
        because = f" ({damage})" if damage else ""
        advice = "The records before it were read; get the file again"
        yield RecordError(self._name, line, None, f"{problem}{because}. {advice}")
