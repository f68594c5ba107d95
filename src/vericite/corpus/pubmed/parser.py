"""lxml on bytes that nobody vouches for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vericite.corpus.pubmed.blocks import Block
from vericite.corpus.pubmed.record import Deletion, PubMedRecord
from vericite.errors import InputError, RecordError

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "remove_comments": True,
    "remove_pis": True,
    "huge_tree": False,
}
"""For lxml's parsers: nothing is fetched, no entity expanded, and libxml2's limits on depth and length hold."""

# Without a document type an entity that only the type declares is an error; with one, which is not read, it stays.
_TYPE = b'<!DOCTYPE block SYSTEM "unread">'
_HEAD, _TAIL = _TYPE + b"<block>", b"</block>"


class BlockParser:
    """Parses blocks, with ``SAFE`` settings."""

    def __init__(self, name: str, encoding: str | None) -> None:
        # Here, for lxml costs time to load.
        from lxml import etree

        from vericite.corpus.pubmed.article import record_of

        self._name = name
        self._etree = etree
        self._record_of = record_of
        try:
            self._parser = etree.XMLParser(encoding=encoding, **SAFE)
        except LookupError:
            raise InputError(f"expected UTF-8 in {name}; found the encoding {encoding!r}. Save it as UTF-8") from None

    def record(self, element: _Element) -> PubMedRecord | Deletion:
        """The record in an element.

        Raises:
            pydantic.ValidationError: It is none.
        """
        return self._record_of(element)

    def elements(self, block: Block, kinds: Sequence[str]) -> list[_Element] | None:
        """The records of a block; None where it is not well-formed, or holds anything else."""
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
        """The one record of a block, or what is wrong with it."""
        try:
            return self._etree.fromstring(_TYPE + block.data, self._parser)
        except self._etree.XMLSyntaxError as error:
            line = block.line + max(error.lineno or 1, 1) - 1
            problem = f"{block.named}expected well-formed XML; found an error ({error.msg}). It is lost"
            return RecordError(self._name, line, None, problem)
