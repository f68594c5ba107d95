"""RIS, which reference managers and databases export: Zotero, EndNote, Embase, Ovid and others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.corpus.sources.entry import Entry, pmid_of
from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.opening import SourceFile
from vericite.corpus.sources.tagged import TaggedRecord, tagged_records
from vericite.errors import RecordError

_TAG = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*))?\Z")
_BEGINS = re.compile(r"^TY {1,2}- ?[A-Z]", re.MULTILINE)
_OF_PUBMED = re.compile(r"pubmed|medline", re.IGNORECASE)
_NAMED_PMID = re.compile(r"\s*pmid\s*[:=]?\s*(\d{1,8})\b", re.IGNORECASE)
_PUBMED_LINK = re.compile(r"ncbi\.nlm\.nih\.gov", re.IGNORECASE)
_PMCID = re.compile(r"(?:\A|/|pmcid\s?:?\s?)(PMC\d{1,9})\b", re.IGNORECASE)
_DOI = re.compile(r"(?:doi\s?:\s?|doi\.org/|\A)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_HEADING = re.compile(r"\*?([^/*[\]]+)")
_TYPES = {
    "JOUR": "Journal Article", "EJOUR": "Journal Article", "MGZN": "Journal Article", "ABST": "Journal Article",
    "CONF": "Congress", "CPAPER": "Congress", "THES": "Academic Dissertation", "RPRT": "Technical Report",
    "CHAP": "Book Chapter", "BOOK": "Book", "UNPB": "Preprint", "STAND": "Guideline",
}  # fmt: skip


def _read(file: SourceFile) -> Iterator[Numbered]:
    seen = 0
    for record in tagged_records(file, _TAG, "TY", "ER", joint="\n"):
        if isinstance(record, RecordError):
            # "Provider: ...", "Database: ...": some databases say so above their records.
            if seen or ":" not in record.problem.partition("; found ")[2]:
                yield record.line, record
            continue
        seen += 1
        if problem := record.problem or _unfit(record):
            yield record.line, RecordError(file.path, record.line, None, problem)
        else:
            yield record.line, _entry(record).document(f"{file.name}:{record.line}")


def _unfit(record: TaggedRecord) -> str | None:
    return None if record.all(*_TITLE, *_TEXT) else "expected a title (TI) or an abstract (AB); found neither"


_TITLE = ("TI", "T1", "CT", "BT")
_TEXT = ("AB", "N2")


def _entry(record: TaggedRecord) -> Entry:
    pmid = _pmid(record)
    links = record.all("UR", "L1", "L2", "LK", "DO", "M3", "C2", "C1", "N1", "AN")
    doi = next((found[1] for value in record.all("DO", "M3", "UR", "LK") if (found := _DOI.search(value))), "")
    return Entry(
        number=record.first("AN", "ID"),
        pmid=pmid,
        pmcid=next((found[1].upper() for value in links if (found := _PMCID.search(value))), ""),
        doi=doi,
        title=record.first(*_TITLE),
        text=max(record.all(*_TEXT), key=len, default=""),
        journal=record.first("JO", "JF", "T2", "JA", "J2"),
        date=_date(record),
        languages=tuple(part for value in record.all("LA") for part in re.split(r"[,;]", value)),
        authors=record.all("AU", "A1"),
        mesh=_mesh(record),
        publication_types=(*record.all("PT"), *filter(None, (_TYPES.get(record.first("TY").strip()),))),
    )


def _date(record: TaggedRecord) -> str:
    """The year or what says it more exactly: "2019" and "2019/05/03/"."""
    dates = record.all("DA", "PY", "Y1", "YR")
    year = record.first("PY", "Y1", "YR")[:4]
    # DA is when the entry was made in some programs; then it is of another year.
    return max(
        (value for value in dates if value.startswith(year)), key=lambda value: sum(map(str.isdigit, value)), default=""
    )


def _pmid(record: TaggedRecord) -> str:
    if _OF_PUBMED.search(" ".join(record.all("DB", "DP"))):
        for value in record.all("AN", "ID"):
            if found := pmid_of(value):
                return found
    for value in record.all("AN", "N1", "M1", "C1", "C2", "C5", "C6", "C7", "C8", "U2"):
        if found := _NAMED_PMID.match(value):
            return found[1]
    links = (pmid_of(value) for value in record.all("UR", "LK", "L1", "L2") if _PUBMED_LINK.search(value))
    return next(filter(None, links), "")


def _mesh(record: TaggedRecord) -> tuple[str, ...]:
    """The keywords where they are MeSH headings, which is so of records that come from PubMed."""
    if not _OF_PUBMED.search(" ".join(record.all("DB", "DP"))):
        return ()
    return tuple(
        found[1] for value in record.all("KW") for line in value.split("\n") if (found := _HEADING.match(line))
    )


def _matches(file: SourceFile) -> bool:
    return bool(_BEGINS.search(file.opening))


RIS = SourceForm("RIS (.ris): records that begin with 'TY  - ' and end with 'ER  - '", _read, _matches)
