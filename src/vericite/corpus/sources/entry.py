"""Convert entries of bibliographies and tables to documents."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from vericite.corpus.pubmed.text import date_in, iso_date
from vericite.records import Document, Reference, Section, storable
from vericite.text.labels import section_labels
from vericite.text.references import reference_key

_LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_CODES: dict[str, str] = _LISTS["other_codes"] | {
    name: entry.split()[0] for entry in _LISTS["languages"].strip().split("\n") for name in entry.split()
}


def language_code(name: str) -> str | None:
    """Return PubMed's code for a language given as a code (``en``, ``en-GB``, ``deu``) or by its English name."""
    folded = name.strip().casefold()
    return _CODES.get(folded) or _CODES.get(folded.replace("_", "-").split("-")[0])


def abstract_sections(text: str) -> tuple[Section, ...]:
    """Split an abstract into sections at its labels: ``BACKGROUND: ... METHODS: ...``."""
    found = section_labels(text)
    if not found:
        return (Section(text=text),) if text else ()
    sections: list[Section] = []
    if opening := text[: found[0].start].strip():
        sections.append(Section(text=opening))
    ends = [label.start for label in found[1:]] + [len(text)]
    for label, end in zip(found, ends, strict=True):
        if body := text[label.end : end].strip():
            sections.append(Section(text=body, label=text[label.slice].removesuffix(":").strip()))
    return tuple(sections)


# "a<b" is not a tag: a tag holds only a known name and attributes.
_TAG = re.compile(
    r"</?(?P<name>p|br|b|i|u|em|strong|sub|sup|small|span|div|ul|ol|li|h[1-6]|title|sec|italic|bold|a|jats:[a-z]{1,20})"
    r"""(?:\s+[\w:-]{1,40}\s*=\s*(?:"[^"<>]{0,300}"|'[^'<>]{0,300}')){0,9}\s*/?>""",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"(?P<before>\d)<(?P<kind>sup|sub)>(?P<script>[^<>]{1,20})</(?:sup|sub)>(?P<behind>\d?)", re.IGNORECASE
)
_BLOCKS = frozenset("p br div ul ol li title sec h1 h2 h3 h4 h5 h6".split())
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\ufeff]")
_SIGNED_DIGIT = re.compile(r"\s*+[-+−–]?\s*+\d")


def plain(text: str) -> str:
    r"""Remove markup and join lines; paragraphs, separated by blank lines, are separated by ``\n``."""
    if "<" in text:
        text = _TAG.sub(_unmarked, _RAISED.sub(_set_apart, text))
    text = without_controls(html.unescape(text) if "&" in text else text)
    if "\n" not in text and "\r" not in text:
        return " ".join(text.split())
    paragraphs: list[list[str]] = [[]]
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if words := line.split():
            paragraphs[-1] += words
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n".join(" ".join(words) for words in paragraphs if words)


def without_controls(text: str) -> str:
    """Remove invisible characters, except spaces and line ends."""
    return _CONTROLS.sub("", storable(text))


def one_line(text: str) -> str:
    """Remove markup and join the text to one line."""
    return plain(text).replace("\n", " ")


def _set_apart(match: re.Match[str]) -> str:
    """Write 10 with a superscript 3 as 10^3, as for PubMed's XML; 103 would be another number."""
    apart = _SIGNED_DIGIT.match(match["script"])
    mark = ("^" if match["kind"].lower() == "sup" else "_") if apart else ""
    return f"{match['before']}{mark}{match['script']}{' ' if match['behind'] else ''}{match['behind']}"


def _unmarked(match: re.Match[str]) -> str:
    return "\n\n" if match["name"].lower().removeprefix("jats:") in _BLOCKS else ""


_RETRACTED = re.compile(r"\W{0,3}retracted(?:\s(?:article|paper|publication))?\s?:", re.IGNORECASE)
_RETRACTED_TYPES = frozenset(("retracted publication", "retracted article", "retracted"))
_NUMERIC = re.compile(r"\s*(\d{4})[-/.](\d{1,2})?(?:[-/.](\d{1,2}))?(?!\d)")
_ABBREVIATED = re.compile(r"\S.{0,60}\s[A-Z]{1,4}(?:\sJr|\s\d?[nr]d)?\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEntry:
    """The values of an entry as written; ids may be spelled in any way.

    ``number`` is the record number in the entry's database, used as the id if there is no better one; ``key`` is what
    manuscripts cite it by.
    """

    id: str = ""
    number: str = ""
    pmid: str = ""
    pmcid: str = ""
    doi: str = ""
    title: str = ""
    text: str = ""
    journal: str = ""
    date: str = ""
    languages: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    retracted: bool = False
    revised: str = ""
    source: str | None = None
    key: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    url: str = ""

    def reference(self, fallback: str) -> Reference:
        """Convert to a reference of a manuscript; ``fallback`` is its key if it has none."""
        date = date_of(self.date)
        return Reference(
            key=one_line(self.key) or fallback,
            origin="bibliography",
            title=one_line(self.title),
            authors=_distinct(tuple(map(cited_name, self.authors))),
            journal=one_line(self.journal) or None,
            year=int(date[:4]) if date else None,
            volume=one_line(self.volume) or None,
            issue=one_line(self.issue) or None,
            pages=one_line(self.pages) or None,
            doi=doi_of(self.doi),
            pmid=pmid_of(self.pmid),
            pmcid=pmcid_of(self.pmcid),
            url=one_line(self.url) or None,
        )

    def document(self, fallback: str) -> Document:
        """Convert to a document. Its id is the first of: id, PMID, PMC id, DOI, number, ``fallback``."""
        pmid, pmcid, doi = pmid_of(self.pmid), pmcid_of(self.pmcid), doi_of(self.doi)
        title, date = one_line(self.title), date_of(self.date)
        types = _distinct(self.publication_types)
        names = (one_line(self.id), pmid, pmcid, doi and f"doi:{doi}", one_line(self.number), one_line(fallback))
        return Document(
            id=next(name for name in (*names, "document") if name),
            title=title,
            sections=abstract_sections(plain(self.text)),
            pmid=pmid,
            pmcid=pmcid,
            doi=doi,
            journal=one_line(self.journal) or None,
            year=int(date[:4]) if date else None,
            date=date,
            languages=tuple(dict.fromkeys(code for name in self.languages if (code := language_code(name)))),
            authors=_distinct(tuple(map(cited_name, self.authors))),
            mesh=_distinct(self.mesh),
            publication_types=types,
            revised=self.revised or None,
            retracted=self.retracted or is_retracted(title, types),
            source=self.source,
        )


def date_of(text: str) -> str | None:
    """Convert a date to ISO format: ``2019/05/03/``, ``2019-05``, ``3 May 2019``, ``2019 Spring`` (the year)."""
    found = _NUMERIC.match(text)
    return iso_date(*found.groups()) if found else date_in(text)


def cited_name(name: str) -> str:
    """Write a name in PubMed's style: ``Doe, Jane A.`` becomes ``Doe JA``; a name without a comma is kept."""
    last, comma, fore = one_line(name).partition(",")
    if not comma or "," in fore or not fore.strip():
        return one_line(name).rstrip(".")
    return f"{last.strip()} {initials(fore)}"


def initials(fore: str) -> str:
    """Return the initials of given names: ``Jean-Paul A.`` becomes ``JPA``; ``JA`` is kept."""
    bare = fore.strip()
    if bare.isupper() and bare.isalpha() and len(bare) <= 3:
        return bare
    return "".join(part[0].upper() for part in re.split(r"[\s.\-‐–]+", bare) if part[:1].isalpha())


def is_retracted(title: str, publication_types: tuple[str, ...]) -> bool:
    """Whether the title (``RETRACTED: ...``) or a publication type marks the article as retracted."""
    return bool(_RETRACTED.match(title)) or any(kind.lower() in _RETRACTED_TYPES for kind in publication_types)


def pmid_of(name: str) -> str | None:
    """Return the PMID that a text spells, without prefixes; None if it is not a PMID."""
    return _of_kind("pmid", name)


def pmcid_of(name: str) -> str | None:
    """Return the PMC id that a text spells, as ``PMC123``; None if it is not a PMC id."""
    number = _of_kind("pmc", name.split(".")[0])
    return f"PMC{number}" if number else None


def doi_of(name: str) -> str | None:
    """Return the DOI that a text spells, without a URL; None if it is not a DOI."""
    return _of_kind("doi", name)


_PUBMED_LINK = re.compile(r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:m/)?pubmed)/", re.IGNORECASE)
_WRITTEN_PMID = re.compile(r"\bpmid\s{0,3}[:=]?\s{0,3}(\d{1,8})\b", re.IGNORECASE)


def linked_pmid(*values: str) -> str:
    """Return the PMID in a PubMed URL or after the word ``PMID``; empty if there is none."""
    for value in values:
        for part in value.split():
            if _PUBMED_LINK.search(part) and (found := pmid_of(part)):
                return found
    return next((found[1] for value in values if (found := _WRITTEN_PMID.search(value))), "")


def people(text: str) -> tuple[str, ...]:
    """Split a list of people: ``Doe J; Roe A``, ``Doe J, Roe A.``, ``Doe, Jane``."""
    for sign in (";", "|", "\n"):
        if sign in text:
            return tuple(text.split(sign))
    names = text.strip().rstrip(".").split(",")
    apart = all(_ABBREVIATED.fullmatch(name.strip()) for name in names)
    return tuple(names) if apart else (text,)


def _of_kind(kind: str, name: str) -> str | None:
    bare = one_line(name)
    found, _, key = reference_key(bare).partition(":")
    if found != kind or not key.strip("0"):
        return None
    # The key of a DOI is in lower case; keep the case of the text.
    start = bare.lower().find(key)
    return bare[start : start + len(key)] if start >= 0 else key


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bare for value in values if (bare := one_line(value))))


_LINKED = ("url", "link", "extra", "note", "notes")
_NAMES: Mapping[str, list[str]] = {field: names.split() for field, names in _LISTS["fields"].items()}
_FIELD_OF = {name: field for field, names in _NAMES.items() for name in names}
_MANY = frozenset(("languages", "authors", "mesh", "publication_types"))


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Normalize a name, so that ``Abstract Note`` and ``abstract_note`` are equal."""
    return re.sub(r"[\W_]+", "", name.casefold())


def field_of(name: str) -> str | None:
    """Return the field of ``DocumentEntry`` for a column or key name."""
    return _FIELD_OF.get(folded(name))


def names_document(name: str) -> bool:
    """Whether the id of a document may come from a column or key of this name."""
    return field_of(name) in ("id", "pmid", "pmcid", "doi", "number")


def entry_of(values: Mapping[str, object]) -> DocumentEntry:
    """Build an entry from named values. If two names mean the same field, the more specific name wins."""
    named = {folded(name): value for name, value in reversed(list(values.items()))}
    found: dict[str, str | tuple[str, ...]] = {}
    for field, names in _NAMES.items():
        value = next((value for name in names if (value := _words(named.get(name)))), None)
        if value:
            found[field] = _many(field, value) if field in _MANY else "\n\n".join(value)
    if "pmid" not in found:
        # Zotero's CSV has the PMID only in a URL or in the extra lines.
        found["pmid"] = linked_pmid(*(word for name in _LINKED for word in _words(named.get(name))))
    return DocumentEntry(**found)  # pyright: ignore[reportArgumentType]


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (str(value),)
    if isinstance(value, list):
        return tuple(word for item in cast("list[object]", value) for word in _words(item))
    return ()


def _many(field: str, value: tuple[str, ...]) -> tuple[str, ...]:
    if len(value) != 1:
        return value
    # MeSH headings contain commas.
    return people(value[0]) if field == "authors" else tuple(re.split(r"[;|\n]", value[0]))
