"""Reading PubMed's XML record by record, in constant memory, past what is broken.

A file is cut into blocks that end where a record does, and each block is parsed as a small document of its own: libxml2
frees such a one at once, which is faster than to free record after record out of a large one that still grows. Where a
block is no well-formed XML, its records are cut out by their tags and parsed one by one, so that each broken one costs
only itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pydantic import ValidationError

from vericite.corpus.pubmed.blocks import CITATIONS, HEAD, RECORDS, Block, blocks_of, head_of, pieces_of
from vericite.corpus.pubmed.parser import BlockParser
from vericite.corpus.pubmed.record import Deletion, PubMedRecord
from vericite.corpus.pubmed.refusal import refusal
from vericite.corpus.pubmed.stream import ByteStream, beginning
from vericite.errors import InputError, RecordError
from vericite.records import first_problem

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

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
"""What to look for under which root element."""


def read_pubmed(source: Path | BinaryIO, name: str | None = None) -> Iterator[Item]:
    """Stream the records and deletions of a PubMed file; what cannot be read comes out as its error.

    Args:
        source: A file of PubMed's XML, gzipped or not, or such bytes from an open stream, which is left open.
        name: What errors call it; usually its path, or ``<stream>``.

    Raises:
        InputError: The source cannot be read or is no PubMed XML. It is raised when the first item is asked for.
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
    """One pass over one source."""

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
        """All there is in it; last, where it ends too early, an error that says so."""
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
        """The record in an element, the one of that number in its block."""
        try:
            return self._parser.record(element)
        except ValidationError as error:
            records = (piece.block for piece in pieces_of(block, self._kinds) if piece.record)
            own = next(islice(records, number, None), block)
            field, problem = first_problem(error)
            return RecordError(self._name, own.line, field, own.named + problem)

    def _by_tags(self, block: Block) -> Iterator[Item]:
        """The block's records, each parsed on its own."""
        for piece in pieces_of(block, self._kinds):
            if self._torn:
                problem = f"{self._torn.named}expected its end tag; found none before the next record. It is lost"
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
            problem = f"expected a record; found {block.excerpt}. It is passed over"
            yield RecordError(self._name, block.line, None, problem)

    def _ending(self, line: int) -> Iterator[RecordError]:
        damage = self._stream.damage
        if self._torn and self._torn.ends(self._root):
            problem = f"{self._torn.named}expected its end tag; found the end of the file. It is lost"
            yield RecordError(self._name, self._torn.line, None, problem)
            self._torn, self._ended = None, True
        if self._ended and not damage and not self._torn:
            return
        problem = f"expected the file to end with </{self._root}>; found that it ends too early"
        if self._torn and self._torn.pmid:
            problem += f", within the record of PMID {self._torn.pmid}"
        elif self._ended and damage:
            problem = "expected a sound file; found that what was read may be wrong"
        because = f" ({damage})" if damage else ""
        advice = "The records before it were read; get the file again"
        yield RecordError(self._name, line, None, f"{problem}{because}. {advice}")
