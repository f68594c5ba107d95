"""Read EndNote exports: tagged lines (.enw), which Zotero and publishers also write, and XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.read import SAFE
from vericite.corpus.sources.entry import DocumentEntry, linked_pmid, pmid_of
from vericite.corpus.sources.files import Entries, Numbered, SourceFile, SourceFormat, root_of
from vericite.corpus.sources.tagged import TaggedRecord, tagged_records
from vericite.errors import RecordError

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_TAG = re.compile(r"%(\S)(?: (.*))?\Z")
_BEGINS = re.compile(r"\A\s*%0 [A-Z]")
_OF_PUBMED = re.compile(r"pubmed|medline|nlm", re.IGNORECASE)
_TYPES = {
    "journal article": "Journal Article", "electronic article": "Journal Article", "magazine article":
    "Journal Article", "conference paper": "Congress", "conference proceedings": "Congress",
    "thesis": "Academic Dissertation", "report": "Technical Report", "book section": "Book Chapter", "book": "Book",
}  # fmt: skip
_NO_TEXT = "expected a title or an abstract; found neither"


def _documents(entries: Callable[[SourceFile], Entries]) -> Callable[[SourceFile], Iterator[Numbered]]:
    def read(file: SourceFile) -> Iterator[Numbered]:
        for line, entry in entries(file):
            yield line, entry if isinstance(entry, RecordError) else entry.document(f"{file.name}:{line}")

    return read


def _tagged_entries(file: SourceFile) -> Entries:
    for record in tagged_records(file, _TAG, "0", joint="\n"):
        if isinstance(record, RecordError):
            yield record.line, record
        elif problem := record.problem or (None if record.all("T", "X") else _NO_TEXT):
            yield record.line, RecordError(file.path, record.line, None, problem)
        else:
            yield record.line, _tagged_entry(record)


def _tagged_entry(record: TaggedRecord) -> DocumentEntry:
    number = record.first("M")
    own = pmid_of(number) if _OF_PUBMED.search(" ".join(record.all("~", "W"))) else None
    return DocumentEntry(
        number=number,
        pmid=own or linked_pmid(*record.all("U", ">", "M", "Z", "1", "2", "3")),
        pmcid=next((value for value in record.all("2", "U") if "pmc" in value.lower()), ""),
        doi=record.first("R"),
        title=record.first("T"),
        key=record.first("F"),
        volume=record.first("V"),
        issue=record.first("N"),
        pages=record.first("P"),
        url=record.first("U"),
        text=record.first("X"),
        journal=record.first("J", "B"),
        date=record.first("D"),
        languages=record.all("G"),
        authors=record.all("A"),
        publication_types=tuple(filter(None, (_TYPES.get(record.first("0").strip().lower()),))),
    )


ENW = SourceFormat(
    "EndNote's tagged lines (.enw): records that begin with '%0 Journal Article'",
    _documents(_tagged_entries),
    lambda file: file.suffix == ".enw" or bool(_BEGINS.match(file.opening)),
    suffixes=(".enw",),
    record_mark=b"%0 ",
    entries=_tagged_entries,
)


def _xml_entries(file: SourceFile) -> Entries:
    from lxml import etree

    line = 1
    records = etree.iterparse(file.stream, events=("end",), tag="record", **SAFE)
    try:
        for _, record in records:
            line = record.sourceline or line
            entry = entry_of_xml(record)
            if entry.title or entry.text:
                yield line, entry
            else:
                yield line, RecordError(file.path, line, None, _NO_TEXT)
            record.clear(keep_tail=True)  # pyright: ignore[reportCallIssue]
    except etree.XMLSyntaxError as error:
        problem = f"expected well-formed XML; found an error ({error.msg}). The rest was not read"
        raise RecordError(file.path, max(error.lineno or line, 1), None, problem) from None


def entry_of_xml(record: _Element) -> DocumentEntry:
    """Return the entry in a ``<record>`` of EndNote, from an export or a field of a Word document."""

    def all_of(*paths: str) -> tuple[str, ...]:
        found = (element for path in paths for element in record.iterfind(path))
        # The text is split into <style> elements, one for each change of font.
        return tuple(words for element in found if (words := "".join(map(str, element.itertext())).strip()))

    def first(*paths: str) -> str:
        return next(iter(all_of(*paths)), "")

    number = first("accession-num")
    origin = " ".join(all_of("remote-database-name", "remote-database-provider"))
    kind = record.find("ref-type")
    type_name = "" if kind is None else (kind.get("name") or "").lower()
    return DocumentEntry(
        number=number or first("rec-number"),
        pmid=(pmid_of(number) if _OF_PUBMED.search(origin) else None)
        or linked_pmid(*all_of("urls//url", "accession-num", "notes", "custom1", "custom2", "custom3")),
        pmcid=next((value for value in all_of("custom2", "urls//url") if "pmc" in value.lower()), ""),
        doi=first("electronic-resource-num"),
        title=first("titles/title"),
        key=first("rec-number"),
        volume=first("volume"),
        issue=first("number"),
        pages=first("pages"),
        url=first("urls/related-urls/url"),
        text=first("abstract"),
        journal=first("periodical/full-title", "titles/secondary-title", "alt-periodical/full-title"),
        date=first("dates/year"),
        languages=all_of("language"),
        authors=all_of("contributors/authors/author"),
        publication_types=tuple(filter(None, (_TYPES.get(type_name),))),
    )


ENDNOTE_XML = SourceFormat(
    "EndNote's XML: <xml><records><record>",
    _documents(_xml_entries),
    lambda file: root_of(file.opening) == "xml" and "<record" in file.opening,
    suffixes=(".xml",),
    record_mark=b"</record>",
    entries=_xml_entries,
)
