"""Records fetched by PMID, and what became of those that did not come."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO

from lxml import etree

from vericite.corpus.entrez.replies import UnfitReply, complaint, nothing_found
from vericite.corpus.pubmed import PubMedRecord, read_pubmed
from vericite.corpus.pubmed.parser import SAFE
from vericite.errors import RecordError
from vericite.records import Document

SOURCE = "efetch"


@dataclass(frozen=True)
class Fetched:
    """What came of a request for records: each PMID that was asked for is in one of three places.

    Attributes:
        records: In the order they were asked for, each once.
        missing: PMIDs of which PubMed says that it has no record: they never existed, or were deleted.
        problems: What could not be had for another reason, with the reason: it is no PMID at all, or PubMed announces a
            record and delivers none, or none that can be read.
    """

    records: tuple[PubMedRecord, ...] = ()
    missing: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The records as documents."""
        return tuple(record.document() for record in self.records)

    def __add__(self, other: Fetched) -> Fetched:
        """Both, one after the other."""
        return Fetched(self.records + other.records, self.missing + other.missing, {**self.problems, **other.problems})


@dataclass(frozen=True)
class Articles:
    """What one reply to an efetch held: records by PMID, and what was wrong with others."""

    records: Mapping[str, PubMedRecord]
    problems: tuple[str, ...] = ()


def read_articles(body: bytes, asked: Collection[str]) -> Articles:
    """The reply to an efetch.

    Raises:
        UnfitReply: It is no XML, not whole, no set of articles, or one of others.
    """
    said = complaint(body)
    if said is not None and nothing_found(said):
        return Articles({})
    found = list(read_pubmed(BytesIO(body), SOURCE)) if _holds_articles(body) else []
    records = {item.pmid: item for item in found if isinstance(item, PubMedRecord)}
    if records and records.keys().isdisjoint(asked):
        raise UnfitReply("expected the records that were asked for; found only others")
    return Articles(
        {pmid: records[pmid] for pmid in asked if pmid in records},
        tuple(item.problem for item in found if isinstance(item, RecordError)),
    )


def _holds_articles(body: bytes) -> bool:
    """Whether there is a record in it. What is cut off is not for the reader, which makes the best of it."""
    try:
        root = etree.fromstring(body, etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        reason = f"expected XML; found none, or a part of it ({error.msg})"
    else:
        if root.tag != "PubmedArticleSet":
            raise UnfitReply(f"expected a PubmedArticleSet; found {str(root.tag)[:50]}")
        return len(root) > 0
    raise UnfitReply(reason)
