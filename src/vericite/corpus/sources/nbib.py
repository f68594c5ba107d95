"""PubMed's MEDLINE display, which it saves as .nbib or .txt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.corpus.pubmed import Retraction
from vericite.corpus.sources.entry import Entry, pmid_of
from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.opening import SourceFile
from vericite.corpus.sources.tagged import TaggedRecord, tagged_records
from vericite.errors import RecordError

# Four places, then a hyphen: "AB  - ", "PMID- ". The lines of a value that goes on are indented.
_TAG = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) {0,2}-(?: (.*))?\Z")
_BEGINS = re.compile(r"^PMID- ?\d", re.MULTILINE)
_DOI = re.compile(r"(\S+)\s*\[doi\]")
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
            if retraction := Retraction.said_by(document.pmid, _retracted_by(record)):
                yield record.line, retraction


_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)")
"""As a record says when it was last revised: ``LR  - 20190903``."""


def _unfit(record: TaggedRecord) -> str | None:
    if pmid_of(record.first("PMID")) is None:
        return f"expected a PMID; found {record.first('PMID')[:60]!r}"
    # A chapter of a book has its title in CTI, a book in BTI, what is in no English perhaps in TT alone.
    return None if record.all("TI", "CTI", "BTI", "TT", "AB") else "expected a title or an abstract; found neither"


def _entry(record: TaggedRecord) -> Entry:
    dois = (found[1] for value in record.all("LID", "AID") if (found := _DOI.search(value)))
    return Entry(
        pmid=record.first("PMID"),
        pmcid=record.first("PMC"),
        doi=next(dois, ""),
        title=record.first("TI", "CTI", "BTI", "TT"),
        text=record.first("AB"),
        journal=record.first("JT", "TA", "BTI"),
        date=record.first("DP", "DEP", "EDAT"),
        languages=record.all("LA"),
        authors=record.all("AU", "CN") if record.all("AU") else record.all("FAU", "CN"),
        mesh=tuple(heading.split("/")[0].lstrip("*") for heading in record.all("MH")),
        publication_types=record.all("PT"),
        # RIN is the notice that retracts this record, ROF the record that this notice retracts; RRI and RRF the same
        # of what was published again.
        retracted=bool(record.all("RIN", "RRI")),
        revised="-".join(day.groups()) if (day := _DAY.fullmatch(record.first("LR").strip())) else "",
        source="pubmed",
    )


def _retracted_by(record: TaggedRecord) -> Iterator[str | None]:
    """The PMIDs of what a notice retracts: ``ROF - J Trials. 2020;1:1. PMID: 12345``."""
    for value in record.all("ROF", "RRF"):
        found = _PMID.search(value)
        yield found and pmid_of(found[1])


def _matches(file: SourceFile) -> bool:
    return bool(_BEGINS.search(file.opening))


NBIB = SourceForm("PubMed's MEDLINE display (.nbib): lines such as 'PMID- 123' and 'AB  - ...'", _read, _matches, True)
