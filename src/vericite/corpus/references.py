"""References to documents: a line to read, and RIS, which reference managers such as Zotero and EndNote import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from vericite.records import Document
from vericite.text.strength import ABSTRACT, depth_of

_AUTHORS = 6
_WEB = re.compile(r"https?://[^\s\"<>]+", re.IGNORECASE)


def reference_text(document: Document, most: int = _AUTHORS) -> str:
    """Return authors (at most ``most``), title, journal and year, as in the Vancouver style."""
    authors = ", ".join(document.authors[:most]) + (", et al" if len(document.authors) > most else "")
    return in_sentences(
        authors, document.title or _named_after_file(document) or "(no title)", document.journal, document.year, ""
    )


def in_sentences(*parts: str | int | None) -> str:
    """Join the parts of a reference by full stops; PubMed's titles already end with one."""
    *before, last = [str(part).strip() for part in parts if part is not None]
    ended = [part if part.endswith((".", "?", "!")) else f"{part}." for part in before if part]
    return " ".join([*ended, last.removesuffix(".")]).strip()


_HASHED = re.compile(r"(?P<stem>.+)-[0-9a-f]{10}")


def file_name(document: Document) -> str:
    """Return the id; of a document named after its file, the file's name, without the hash that makes the id unique."""
    return _named_after_file(document) or document.id


def _named_after_file(document: Document) -> str:
    named = None if document.pmid or document.doi else _HASHED.fullmatch(document.id)
    return named["stem"] if named else ""


def links(document: Document) -> list[tuple[str, str]]:
    """Return the names and addresses of a document: its PMID, PMCID and DOI, or its id and web address."""
    found: list[tuple[str, str]] = []
    if document.pmid and document.pmid.isdigit():
        found.append((f"PMID {document.pmid}", f"https://pubmed.ncbi.nlm.nih.gov/{document.pmid}/"))
    if document.pmcid:
        found.append((document.pmcid, f"https://pmc.ncbi.nlm.nih.gov/articles/{quote(document.pmcid, safe='')}/"))
    if document.doi:
        found.append((f"doi:{document.doi}", f"https://doi.org/{quote(document.doi, safe='/;:')}"))
    if not (found or document.title) and _named_after_file(document):
        return []  # The file's name stands for the title.
    return found or [(file_name(document), document.id if _WEB.fullmatch(document.id) else "")]


def to_ris(documents: Iterable[Document], notes: Sequence[Sequence[str]] = ()) -> str:
    """Return the documents as RIS.

    Args:
        documents: The documents.
        notes: Notes on each document, in the same order.
    """
    records: list[str] = []
    for number, document in enumerate(documents):
        own = notes[number] if number < len(notes) else ()
        lines = [line for tag, values in _fields(document, own) for value in values if (line := _line(tag, value))]
        records.append("\r\n".join(["TY  - " + _type(document), *lines, "ER  - ", ""]))
    return "\r\n".join(records)


def _fields(document: Document, notes: Iterable[str]) -> Iterable[tuple[str, Iterable[str | None]]]:
    is_pubmed = bool(document.pmid)
    date = (document.date or "").replace("-", "/")
    yield "AU", document.authors
    yield "TI", [document.title]
    yield "T2", [document.journal]
    yield "PY", [str(document.year or date[:4])]
    yield "DA", [date if "/" in date else ""]
    yield "AB", [_abstract(document)]
    yield "DO", [document.doi]
    yield "C2", [document.pmcid]
    yield "AN", [document.pmid or document.id]
    yield "DB", ["PubMed" if is_pubmed else ""]
    yield "UR", [address for _, address in links(document)]
    yield "LA", document.languages
    yield "KW", document.mesh
    yield "N1", ["RETRACTED" if document.retracted else "", *notes]


def _abstract(document: Document) -> str:
    """Return the abstract, with its labels; of a full text or a PDF only what is labelled as its abstract."""
    labelled = [(section.label or "", section.text) for section in document.sections]
    if document.pages or depth_of(document) == "full text":
        marked = [(ABSTRACT.fullmatch(label), text) for label, text in labelled]
        labelled = [(found["part"] or "", text) for found, text in marked if found]
    return " ".join(f"{label}: {text}" if label else text for label, text in labelled)


def _line(tag: str, value: str | None) -> str:
    # A line break in a value would begin another field or record.
    text = " ".join((value or "").split())
    return f"{tag}  - {text}" if text else ""


_KINDS = {"Book Chapter": "CHAP", "Book": "BOOK", "Academic Dissertation": "THES", "Congress": "CONF"}


def _type(document: Document) -> str:
    if found := next((kind for name, kind in _KINDS.items() if name in document.publication_types), None):
        return found
    if document.journal or document.pmid or document.doi:
        return "JOUR"
    return "ELEC" if _WEB.fullmatch(document.id) else "GEN"
