"""What a kind of manuscript is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vericite.corpus.manuscript.bibliography import Bibliography
from vericite.corpus.sources.files import SourceFile
from vericite.records import Manuscript


@dataclass(frozen=True, slots=True)
class ManuscriptKind:
    """A kind of manuscript.

    Attributes:
        summary: Description for messages.
        read: Reads a file, with the references of the bibliography that was named with it.
        matches: Whether a file is of this kind, from its beginning or else its name.
        suffixes: Usual suffixes of the files.
    """

    summary: str
    read: Callable[[SourceFile, Bibliography], Manuscript]
    matches: Callable[[SourceFile], bool]
    suffixes: tuple[str, ...] = ()
