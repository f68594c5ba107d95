"""What searches and summaries bring."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from vericite.records.base import Record

MOST_FOUND = 9_999
"""PubMed gives no more of any search, whichever way it is asked: not by ``retstart``, nor from its history server.

So many fit into one reply, which needs no history server and cannot change from one page to the next.
"""


class SearchResult(Record):
    """The PMIDs that a search found, in its order.

    ``count`` is how many PubMed knows of; ``ids`` holds as many of them as were asked for, and never more than
    9,999. ``translation`` is what PubMed made of the query. ``not_found`` are words and fields of it that PubMed does
    not know, ``notices`` what else it said; both may mean that it searched for something else than was meant.
    """

    query: str
    ids: tuple[str, ...]
    count: int = Field(ge=0)
    translation: str = ""
    not_found: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether there is more than ``ids`` holds."""
        return self.count > len(self.ids)

    @property
    def beyond_reach(self) -> int:
        """How many of those found PubMed gives to nobody; dates in the query (``AND 2024:2025[dp]``) divide them."""
        return max(0, self.count - MOST_FOUND)


class PubMedSummary(Record):
    """What PubMed says of an article in short.

    ``date`` is as PubMed prints it (``2019 May 3``).
    """

    pmid: str
    title: str
    journal: str
    date: str
    authors: tuple[str, ...] = ()
    doi: str | None = None
    publication_types: tuple[str, ...] = ()
    has_abstract: bool = False


@dataclass(frozen=True)
class Summaries:
    """Summaries in the order they were asked for, and the PMIDs of which PubMed says that there are none."""

    found: tuple[PubMedSummary, ...]
    missing: tuple[str, ...]
