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

    def numbered(self, number: int) -> Cited:
        """The document that ``[number]`` means."""
        return number, (self._numbered[number - 1] or None) if 1 <= number <= len(self._numbered) else None

    def knows(self, name: str) -> bool:
        """Whether there is a document of this name."""
        return (self._own.find(name) or self._library.find(name)) is not None

    def named(self, name: str) -> Cited:
        """The document of this name. A PubMed id is its own number, other names count on from the answer's own."""
        document = self._own.find(name)
        if document is None and (document := self._library.find(name)) and document not in self.documents:
            self.documents.append(document)
        key = reference_key(name)
        if key.startswith("pmid:"):
            number = int(key[5:])
        elif document and document.id in self._numbered:
            number = self._numbered.index(document.id) + 1
        else:
            number = self._given.setdefault(key, self._taken + len(self._given) + 1)
        return number, document.id if document else None

    def every(self) -> tuple[Cited, ...]:
        """All documents that have a number, each once."""
        return tuple((self._numbered.index(id) + 1, id) for id in dict.fromkeys(self._numbered))


def mentions_in(text: str, sources: Sources) -> list[Mention]:
    """The numbers in square brackets and the PubMed ids of a text."""
    pmids = (
        Mention(group.span, tuple(sources.named(f"pmid:{pmid}") for pmid in group.pmids)) for group in parse_pmids(text)
    )
    numbers = (Mention(group.span, tuple(map(sources.numbered, group.numbers))) for group in parse_markers(text))
    return disjoint([*pmids, *numbers])


def disjoint(mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions in order; of those that overlap, the one that came first in the list."""
    kept: list[Mention] = []
    ranked = sorted(enumerate(mentions), key=lambda item: (item[1].span.start, item[0]))
    for _, mention in ranked:
        if not kept or mention.span.start >= kept[-1].span.end:
            kept.append(mention)
    return kept
