"""Read bibliographies in tagged lines: PubMed's MEDLINE display (.nbib) and RIS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from vericite.corpus.pubmed import Retraction
from vericite.corpus.sources.entry import DocumentEntry, pmid_of
from vericite.corpus.sources.files import Entries, Numbered, SourceFile, SourceFormat, undecoded
from vericite.errors import RecordError

_SHOWN = 60


@dataclass(slots=True)
class TaggedRecord:
    """The values of a record by tag, in order; ``line`` is its first line."""

    line: int
    values: dict[str, list[str]] = field(default_factory=lambda: dict[str, list[str]]())

    def all(self, *tags: str) -> tuple[str, ...]:
        """Return the values of these tags in the order of the tags, without empty values."""
        return tuple(value for tag in tags for value in self.values.get(tag, ()) if value.strip())

    def first(self, *tags: str) -> str:
        """Return the first value of these tags; empty if there is none."""
        return next(iter(self.all(*tags)), "")

    @property
    def problem(self) -> str | None:
        """The problem with the record's encoding, if any."""
        return next((found for values in self.values.values() for value in values if (found := undecoded(value))), None)


def tagged_records(
    file: SourceFile, tag: re.Pattern[str], begins: str, ends: str | None = None, joint: str = " "
) -> Iterator[TaggedRecord | RecordError]:
    """Yield the records of a file.

    Args:
        file: The file.
        tag: Pattern of a tagged line, with the tag and the value as groups. Any other line continues the last value.
        begins: Tag that begins a record.
        ends: Tag that ends a record, if the format has one.
        joint: Separator between the lines of a value.
    """
    record: TaggedRecord | None = None
    stray = False
    last = ""
    for number, line in file.lines():
        found = tag.match(line)
        if found and found[1] == begins:
            if record:
                yield record
            record, stray = TaggedRecord(number), False
        elif record is None:
            if line.strip() and not stray:
                stray = True
                yield RecordError(
                    file.path, number, None, f"expected a record, which begins with {begins}; {_found(line)}"
                )
            continue
        if found and found[1] == ends:
            yield record
            record = None
        elif found:
            last = found[1]
            record.values.setdefault(last, []).append((found[2] or "").strip())
        else:
            values = record.values[last]
            values[-1] = f"{values[-1]}{joint}{line.strip()}"
    if record:
        yield record


def _found(line: str) -> str:
    shown = line.strip().encode("utf-8", "replace").decode()
    return f"found {shown[:_SHOWN]!r}"


# Four characters, then a hyphen: "AB  - ", "PMID- ". Continuation lines are indented.
_TAG = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) {0,2}-(?: (.*))?\Z")
_BEGINS = re.compile(r"^PMID- ?\d", re.MULTILINE)
_DOI = re.compile(r"(?<!\S)(\S+?)\s*+\[doi\]")
_PMID = re.compile(r"\bPMID:\s*(\d{1,15})\b")


def _read(file: SourceFile) -> Iterator[Numbered]:
    for record in tagged_records(file, _TAG, "PMID"):
        if isinstance(record, RecordError):
            yield record.line, record
        elif problem := record.problem or _unfit(record):
            yield record.line, RecordError(file.path, record.line, None, problem)
        else:
            document = _entry(record).document(file.name)
            yield record.line, document
            if retraction := Retraction.by_notice(document.pmid, _retracted_by(record)):
                yield record.line, retraction


def _entries(file: SourceFile) -> Entries:
    for record in tagged_records(file, _TAG, "PMID"):
        if isinstance(record, RecordError):
            yield record.line, record
        elif problem := record.problem or _unfit(record):
            yield record.line, RecordError(file.path, record.line, None, problem)
        else:
            yield record.line, _entry(record)


_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)")
"""Date of the last revision: ``LR  - 20190903``."""


def _unfit(record: TaggedRecord) -> str | None:
    if pmid_of(record.first("PMID")) is None:
        return f"expected a PMID; found {record.first('PMID')[:60]!r}"
    # The title of a chapter is in CTI, of a book in BTI, and of a text in another language sometimes only in TT.
    return None if record.all("TI", "CTI", "BTI", "TT", "AB") else "expected a title or an abstract; found neither"


def _entry(record: TaggedRecord) -> DocumentEntry:
    dois = (found[1] for value in record.all("LID", "AID") if (found := _DOI.search(value)))
    return DocumentEntry(
        pmid=record.first("PMID"),
        pmcid=record.first("PMC"),
        doi=next(dois, ""),
        title=record.first("TI", "CTI", "BTI", "TT"),
        volume=record.first("VI"),
        issue=record.first("IP"),
        pages=record.first("PG"),
        text=record.first("AB"),
        journal=record.first("JT", "TA", "BTI"),
        date=record.first("DP", "DEP", "EDAT"),
        languages=record.all("LA"),
        authors=record.all("AU", "CN") if record.all("AU") else record.all("FAU", "CN"),
        mesh=tuple(heading.split("/")[0].lstrip("*") for heading in record.all("MH")),
        publication_types=record.all("PT"),
        # RIN is the notice that retracts this record, ROF the record that this notice retracts. RRI and RRF are the
        # same for republished articles.
        retracted=bool(record.all("RIN", "RRI")),
        revised="-".join(day.groups()) if (day := _DAY.fullmatch(record.first("LR").strip())) else "",
        source="pubmed",
    )


def _retracted_by(record: TaggedRecord) -> Iterator[str | None]:
    """Yield the PMIDs of the articles that a notice retracts: ``ROF - J Trials. 2020;1:1. PMID: 12345``."""
    for value in record.all("ROF", "RRF"):
        found = _PMID.search(value)
        yield found and pmid_of(found[1])


def _matches(file: SourceFile) -> bool:
    return bool(_BEGINS.search(file.opening))


NBIB = SourceFormat(
    "PubMed's MEDLINE display (.nbib): lines such as 'PMID- 123' and 'AB  - ...'",
    _read,
    _matches,
    updates=True,
    suffixes=(".nbib",),
    record_mark=b"\nPMID- ",
    entries=_entries,
)


_RIS_TAG = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*))?\Z")
_RIS_BEGINS = re.compile(r"^TY {1,2}- ?[A-Z]", re.MULTILINE)
_OF_PUBMED = re.compile(r"pubmed|medline", re.IGNORECASE)
_NAMED_PMID = re.compile(r"\s*pmid\s*[:=]?\s*(\d{1,8})\b", re.IGNORECASE)
_PUBMED_LINK = re.compile(r"ncbi\.nlm\.nih\.gov", re.IGNORECASE)
_PMCID = re.compile(r"(?:\A|/|pmcid\s?:?\s?)(PMC\d{1,9})\b", re.IGNORECASE)
_RIS_DOI = re.compile(r"(?:doi\s?:\s?|doi\.org/|\A)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_HEADING = re.compile(r"\*?([^/*[\]]+)")
_TYPES = {
    "JOUR": "Journal Article", "EJOUR": "Journal Article", "MGZN": "Journal Article", "ABST": "Journal Article",
    "CONF": "Congress", "CPAPER": "Congress", "THES": "Academic Dissertation", "RPRT": "Technical Report",
    "CHAP": "Book Chapter", "BOOK": "Book", "UNPB": "Preprint", "STAND": "Guideline",
}  # fmt: skip


def _read_ris(file: SourceFile) -> Iterator[Numbered]:
    for line, entry in _entries_ris(file):
        yield line, entry if isinstance(entry, RecordError) else entry.document(f"{file.name}:{line}")


def _entries_ris(file: SourceFile) -> Entries:
    seen = 0
    for record in tagged_records(file, _RIS_TAG, "TY", "ER", joint="\n"):
        if isinstance(record, RecordError):
            # Some databases write "Provider: ..." and "Database: ..." above their records.
            if seen or ":" not in record.problem.partition("; found ")[2]:
                yield record.line, record
            continue
        seen += 1
        if problem := record.problem or _unfit_ris(record):
            yield record.line, RecordError(file.path, record.line, None, problem)
        else:
            yield record.line, _entry_ris(record)


def _unfit_ris(record: TaggedRecord) -> str | None:
    return None if record.all(*_TITLE, *_TEXT) else "expected a title (TI) or an abstract (AB); found neither"


_TITLE = ("TI", "T1", "CT", "BT")
_TEXT = ("AB", "N2")


def _entry_ris(record: TaggedRecord) -> DocumentEntry:
    pmid = _pmid(record)
    links = record.all("UR", "L1", "L2", "LK", "DO", "M3", "C2", "C1", "N1", "AN")
    doi = next((found[1] for value in record.all("DO", "M3", "UR", "LK") if (found := _RIS_DOI.search(value))), "")
    return DocumentEntry(
        number=record.first("AN", "ID"),
        key=record.first("ID"),
        volume=record.first("VL"),
        issue=record.first("IS"),
        pages="-".join(dict.fromkeys((*record.all("SP")[:1], *record.all("EP")[:1]))),
        url=record.first("UR"),
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
    """Return the most exact form of the publication date: "2019/05/03/" rather than "2019"."""
    dates = record.all("DA", "PY", "Y1", "YR")
    year = record.first("PY", "Y1", "YR")[:4]
    # In some programs DA is the date of the entry, often of another year: ignore those.
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
    """Return the keywords if they are MeSH headings, which only holds for records from PubMed."""
    if not _OF_PUBMED.search(" ".join(record.all("DB", "DP"))):
        return ()
    return tuple(
        found[1] for value in record.all("KW") for line in value.split("\n") if (found := _HEADING.match(line))
    )


def _matches_ris(file: SourceFile) -> bool:
    return bool(_RIS_BEGINS.search(file.opening))


RIS = SourceFormat(
    "RIS (.ris): records that begin with 'TY  - ' and end with 'ER  - '",
    _read_ris,
    _matches_ris,
    suffixes=(".ris",),
    record_mark=b"\nER  -",
    entries=_entries_ris,
)
