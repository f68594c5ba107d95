"""How many of the documents that a search found are of each year, design and journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from vericite.records import Record
from vericite.serve.events import FoundDocument


class FacetCount(Record):
    """A value that documents have, and how many of those found have it."""

    value: str
    count: int


class Facets(Record):
    """Numbers of documents found by year, design and journal. A document that does not state one is not counted there.

    Years are in their order, designs and journals by count. A request narrows a search to them by ``search.year_from``,
    ``search.year_to``, ``search.designs`` and ``search.journals`` of its plan.
    """

    years: tuple[FacetCount, ...]
    designs: tuple[FacetCount, ...]
    journals: tuple[FacetCount, ...]

    @classmethod
    def of(cls, documents: Sequence[FoundDocument]) -> Self:
        """Count the documents found."""
        years = Counter(str(document.year) for document in documents if document.year is not None)
        return cls(
            years=tuple(FacetCount(value=year, count=years[year]) for year in sorted(years, key=int)),
            designs=_most_frequent(document.design for document in documents),
            journals=_most_frequent(document.journal for document in documents),
        )


def _most_frequent(values: Iterable[str | None]) -> tuple[FacetCount, ...]:
    counts = Counter(value for value in values if value)
    return tuple(FacetCount(value=value, count=count) for value, count in counts.most_common())
