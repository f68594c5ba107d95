"""The places of an answer that cite something, and what they cite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vericite.records import Document, Span
from vericite.text.markers import parse_markers
from vericite.text.references import Library, parse_pmids, reference_key

Cited = tuple[int, str | None]
"""The number that a citation is shown with, and the id of the document; None where it points at none."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that is no part of the sentence around it, and what it cites: nothing where it is mere signs."""

    span: Span
    cited: tuple[Cited, ...] = ()


class Sources:
    """What one answer can cite: its own documents by number or name, those of a library by name alone."""

    def __init__(
        self,
        own: Sequence[Document],
        library: Library | None = None,
        numbered: Sequence[str] | None = None,
        taken: int = 0,
    ) -> None:
        """Take the answer's documents.

        Args:
            own: In the order that numbers count them.
            library: Where else to look for a name.
            numbered: Ids in the order that numbers count them, where that is not the documents' own: several numbers
                may be one document, and an empty id is none.
            taken: The highest number that the answer writes itself, so that no other source is shown with one of them.
        """
        self.documents = list(own)
        self._numbered = [document.id for document in own] if numbered is None else list(numbered)
        self._own = Library(tuple(own))
        self._library = library or Library()
        self._taken = max(taken, len(self._numbered))
        self._given: dict[str, int] = {}
        self._borrowed: dict[Document, Document] = {}

    def numbered(self, number: int) -> Cited:
        """The document that ``[number]`` means."""
        return number, (self._numbered[number - 1] or None) if 1 <= number <= len(self._numbered) else None

    def knows(self, name: str) -> bool:
        """Whether there is a document of this name."""
        return (self._own.find(name) or self._library.find(name)) is not None

    def named(self, name: str) -> Cited:
        """The document of this name. A PubMed id is its own number, other names count on from the answer's own."""
        document = self._own.find(name) or self._from_library(name)
        key = reference_key(name)
        if key.startswith("pmid:"):
            number = int(key[5:])
        elif document and document.id in self._numbered:
            number = self._numbered.index(document.id) + 1
        else:
            number = self._given.setdefault(key, self._taken + len(self._given) + 1)
        return number, document.id if document else None

    def _from_library(self, name: str) -> Document | None:
        """The library's document of this name; under its PubMed id or DOI where the answer's own have taken its id."""
        found = self._library.find(name)
        if found is None:
            return None
        if found not in self._borrowed:
            taken = {document.id for document in self.documents}
            id = found.id if found.id not in taken else reference_key(name)
            while id in taken:
                id += "'"
            self._borrowed[found] = found if id == found.id else found.model_copy(update={"id": id})
            self.documents.append(self._borrowed[found])
        return self._borrowed[found]

    def every(self) -> tuple[Cited, ...]:
        """All documents that have a number, each once."""
        return tuple((self._numbered.index(id) + 1, id) for id in dict.fromkeys(self._numbered))


def mentions_in(text: str, sources: Sources) -> list[Mention]:
    """The numbers in square brackets and the PubMed ids of a text."""
    numbers = (Mention(group.span, tuple(map(sources.numbered, group.numbers))) for group in parse_markers(text))
    return disjoint([*pmids_in(text, sources), *numbers])


def pmids_in(text: str, sources: Sources) -> list[Mention]:
    """The PubMed ids of a text, wherever ``PMID`` is written before them."""
    return [
        Mention(group.span, tuple(sources.named(f"pmid:{pmid}") for pmid in group.pmids)) for group in parse_pmids(text)
    ]


def disjoint(mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions in order; of those that overlap, the one that came first in the list."""
    kept: list[Mention] = []
    ranked = sorted(enumerate(mentions), key=lambda item: (item[1].span.start, item[0]))
    for _, mention in ranked:
        if not kept or mention.span.start >= kept[-1].span.end:
            kept.append(mention)
    return kept
