"""Documents found by an entry of a list of references, in answers as in manuscripts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from vericite.corpus.manuscript.resolve import resolve
from vericite.corpus.manuscript.sources import FileWorks
from vericite.records import Document
from vericite.records.manuscripts import Reference
from vericite.text.references import Library, names_itself


class ReferencedLibrary(Library):
    """Documents by their names, and by what an entry of a list of references says of them.

    Attributes:
        by_reference: Number of entries found by DOI, PMID, PMC id or title.
        by_number: Number of entries found by their number, because the document has nothing else to find it by.
        missing: Keys of the entries without a document.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        """Set the documents."""
        self._all = tuple(documents)
        self.by_reference = self.by_number = 0
        self.missing: list[str] = []
        super().__init__(self._all)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all documents."""
        return tuple(document.id for document in self._all)

    @cached_property
    def _works(self) -> FileWorks:
        return FileWorks("documents", self._all)

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {document.id: document for document in reversed(self._all)}

    def referenced(self, reference: Reference) -> Document | None:
        """Return the document of a reference."""
        (resolved,) = resolve([reference], [self._works]) if self._all else (None,)
        if resolved is not None and resolved.document is not None:
            self.by_reference += 1
            return self._by_id[resolved.document.id]
        found = self.find(reference.key) if reference.title else None
        if found and names_itself(found, reference.key) and not (found.title or found.doi or found.pmid):
            self.by_number += 1
            return found
        self.missing.append(reference.key)
        return None
