"""A stream of XML cut into blocks that end where a record does, and blocks into records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

RECORDS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation", "DeleteDocument")
"""What a set of records holds since 2017, and as efetch has it."""

CITATIONS = ("MedlineCitation", "DeleteCitation")
"""What the files of 2016 and before hold."""

LONGEST = 1 << 25
"""Of a record, in bytes. The longest that PubMed has, with thousands of authors, are a tenth of it."""

HEAD = 1 << 13
"""Bytes at the beginning of a file in which its root element is looked for."""

# Atomic, so that a long file of something else is refused in one pass.
_ASIDE = rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?>[^>\[]+|\[.*?\]\s*(?=>))*+>"
_PROLOG = re.compile(rb"(?>" + _ASIDE + rb")*+", re.DOTALL)
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)")
# What may stand between two records where one file was written after another; the end may be torn off.
_BETWEEN = re.compile(rb"(?>" + _ASIDE + rb"|</?[A-Za-z]+Set\b[^<>]*>)*+(?:<[^<>]*)?", re.DOTALL)
_PMID = re.compile(rb"<PMID[^>]*>\s*(\d{1,15})\s*<")
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z][\w.-]*)")


class Block(NamedTuple):
    """Bytes of a stream, and the line they begin in, counted from 1; ``torn`` where no record ends with them."""

    line: int
    data: bytes
    torn: bool = False

    @property
    def pmid(self) -> str | None:
        """The first PMID in it."""
        found = _PMID.search(self.data)
        return found[1].decode() if found else None

    @property
    def named(self) -> str:
        """How an error about it begins: with the PMID, if it has one."""
        return f"PMID {self.pmid}: " if self.pmid else ""

    @property
    def is_between(self) -> bool:
        """Whether there is nothing in it that a record could have been."""
        return _BETWEEN.fullmatch(self.data.removeprefix(b"\xef\xbb\xbf")) is not None

    def ends(self, root: str) -> bool:
        """Whether the root element ends in it."""
        return re.search(rf"</{root}\s*>|<{root}[^<>]*/>".encode(), self.data) is not None

    @property
    def excerpt(self) -> str:
        """Its first words, quoted."""
        return repr(" ".join(self.data[:80].decode("utf-8", "replace").split()))

    @property
    def end_line(self) -> int:
        """The line it ends in."""
        return self.line + self.data.count(b"\n")


class Piece(NamedTuple):
    """A part of a block by its tags: a record, ``whole`` or what is left of one; or what stands between records."""

    block: Block
    record: bool
    whole: bool


def head_of(data: bytes) -> tuple[str | None, str | None]:
    """The root element that the first bytes of a file name, and the encoding that they declare."""
    start = data[: 1 << 16].removeprefix(b"\xef\xbb\xbf")
    prolog = _PROLOG.match(start)
    root = _ROOT.match(start, prolog.end() if prolog else 0)
    encoding = _ENCODING.match(start)
    return root[1].decode("latin-1") if root else None, encoding[1].decode() if encoding else None


def blocks_of(chunks: Iterable[bytes], ends: Iterable[str]) -> Iterator[Block]:
    """Blocks that end with an end tag out of ``ends``, the commonest of which comes first; the last one is the rest.

    Only a block in which no record ends within ``LONGEST`` bytes is cut elsewhere.
    """
    tags = [f"</{name}>".encode() for name in ends]
    line, rest = 1, b""
    for chunk in chunks:
        # The tag may be torn over two chunks.
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
    """The block's records and what stands between them, by their tags alone."""
    kinds = "|".join(names).encode()
    # What stands in a comment is no record.
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
