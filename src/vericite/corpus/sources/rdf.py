"""Read Zotero's RDF exports: items, whose journals and containers stand apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.read import SAFE
from vericite.corpus.sources.entry import DocumentEntry, linked_pmid
from vericite.corpus.sources.files import Entries, Numbered, SourceFile, SourceFormat, root_of
from vericite.errors import RecordError

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_BIB = "{http://purl.org/net/biblio#}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_FOAF = "{http://xmlns.com/foaf/0.1/}"
_PRISM = "{http://prismstandard.org/namespaces/1.2/basic/}"
_ZOTERO = "{http://www.zotero.org/namespaces/export#}"
_CONTAINERS = frozenset(f"{_BIB}{name}" for name in ("Journal", "Series", "Periodical"))
_DOI = re.compile(r"\bDOI:?\s{0,3}(10\.\d{4,9}/\S+)", re.IGNORECASE)


def _entries(file: SourceFile) -> Entries:
    from lxml import etree

    try:
        root = etree.fromstring(file.content(), etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        problem = f"expected well-formed XML; found an error ({error.msg})"
        raise RecordError(file.path, max(error.lineno or 1, 1), None, problem) from None
    containers = {item.get(f"{_RDF}about") or "": item for item in root if item.tag in _CONTAINERS}
    for item in root:
        kind = (item.findtext(f"{_ZOTERO}itemType") or "").strip()
        if item.tag in _CONTAINERS or not kind or kind in ("attachment", "note"):
            continue
        line = item.sourceline or 1
        entry = _entry(item, containers)
        missing = RecordError(file.path, line, None, "expected a title or an abstract; found neither")
        yield line, entry if entry.title or entry.text else missing


def _entry(item: _Element, containers: dict[str, _Element]) -> DocumentEntry:
    part = item.find(f"{_TERMS}isPartOf")
    held: _Element | None = None
    if part is not None:
        held = containers.get(part.get(f"{_RDF}resource") or "", next(iter(part), None))
    both = (item,) if held is None else (item, held)

    def first(tag: str, *elements: _Element) -> str:
        return next((text for element in elements or both if (text := (element.findtext(tag) or "").strip())), "")

    ids = [
        text for element in both for found in element.iter(f"{_DC}identifier") for text in map(str, found.itertext())
    ]
    about = item.get(f"{_RDF}about") or ""
    return DocumentEntry(
        pmid=linked_pmid(about, *ids, *(text.strip() for text in map(str, item.itertext()) if "PMID" in text)),
        doi=next((found[1] for text in ids if (found := _DOI.search(text))), ""),
        title=first(f"{_DC}title", item),
        text=first(f"{_TERMS}abstract", item),
        journal=first(f"{_DC}title", held) if held is not None else "",
        date=first(f"{_DC}date", item),
        languages=tuple(filter(None, (first(f"{_ZOTERO}language", item),))),
        authors=tuple(_people(item)),
        volume=first(f"{_PRISM}volume"),
        issue=first(f"{_PRISM}number"),
        pages=first(f"{_BIB}pages", item),
        url=about if about.startswith("http") else "",
    )


def _people(item: _Element) -> Iterator[str]:
    for person in item.iterfind(f"{_BIB}authors//{_FOAF}Person"):
        given = person.findtext(f"{_FOAF}givenName") or person.findtext(f"{_FOAF}givenname") or ""
        yield f"{person.findtext(f'{_FOAF}surname') or ''}, {given}".strip(", ")


def _read(file: SourceFile) -> Iterator[Numbered]:
    for line, entry in _entries(file):
        yield line, entry if isinstance(entry, RecordError) else entry.document(f"{file.name}:{line}")


RDF = SourceFormat(
    "Zotero's RDF (.rdf)",
    _read,
    lambda file: root_of(file.opening) == "RDF",
    suffixes=(".rdf",),
    record_mark=b"</z:itemType>",
    entries=_entries,
)
