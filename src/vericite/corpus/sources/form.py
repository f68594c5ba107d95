"""What a form of source is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vericite.corpus.pubmed import Deletion, Retraction
from vericite.corpus.sources.opening import SourceFile
from vericite.errors import RecordError
from vericite.records import Document

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
    """

    summary: str
    read: Callable[[SourceFile], Iterator[Numbered]]
    matches: Callable[[SourceFile], bool]
    updates: bool = False
    may_be_empty: bool = False
