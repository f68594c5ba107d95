"""An entry of a bibliography or a table, made a document."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vericite.corpus.pubmed.dates import date_in, iso_date
from vericite.corpus.sources.abstracts import abstract_sections
from vericite.corpus.sources.languages import language_code
from vericite.corpus.sources.markup import one_line, plain
from vericite.records import Document
from vericite.text.references import reference_key

_RETRACTED = re.compile(r"\W{0,3}retracted(?:\s(?:article|paper|publication))?\s?:", re.IGNORECASE)
_RETRACTED_TYPES = frozenset(("retracted publication", "retracted article", "retracted"))
_NUMERIC = re.compile(r"\s*(\d{4})[-/.](\d{1,2})?(?:[-/.](\d{1,2}))?(?!\d)")
_ABBREVIATED = re.compile(r"\S.{0,60}\s[A-Z]{1,4}(?:\sJr|\s\d?[nr]d)?\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What an entry says, in the words it says it in; ids may be spelt in any way.

    ``number`` is what the database calls it that it comes from, which names it where nothing better does.
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

    def document(self, fallback: str) -> Document:
        """The same as a document, named by its id, else its PMID, PMC id, DOI or number, else ``fallback``."""
        pmid, pmcid, doi = pmid_of(self.pmid), pmcid_of(self.pmcid), doi_of(self.doi)
        title, date = one_line(self.title), date_of(self.date)
        types = _told(self.publication_types)
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
            authors=_told(tuple(map(cited_name, self.authors))),
            mesh=_told(self.mesh),
            publication_types=types,
            revised=self.revised or None,
            retracted=self.retracted or is_retracted(title, types),
            source=self.source,
        )


def date_of(text: str) -> str | None:
    """A date as exact as it is written, in ISO form: ``2019/05/03/``, ``2019-05``, ``3 May 2019``, ``2019 Spring``."""
    found = _NUMERIC.match(text)
    return iso_date(*found.groups()) if found else date_in(text)


def cited_name(name: str) -> str:
    """A person's name as PubMed cites it: ``Doe, Jane A.`` is ``Doe JA``; what has no comma stays as it is."""
    last, comma, fore = one_line(name).partition(",")
    if not comma or "," in fore or not fore.strip():
        return one_line(name).rstrip(".")
    return f"{last.strip()} {initials(fore)}"


def initials(fore: str) -> str:
    """The first letters of somebody's given names: ``Jean-Paul A.`` is ``JPA``, ``JA`` stays."""
    bare = fore.strip()
    if bare.isupper() and bare.isalpha() and len(bare) <= 3:
        return bare
    return "".join(part[0].upper() for part in re.split(r"[\s.\-‐–]+", bare) if part[:1].isalpha())


def is_retracted(title: str, publication_types: tuple[str, ...]) -> bool:
    """Whether a title (``RETRACTED: ...``) or a type of publication says that the article was retracted."""
    return bool(_RETRACTED.match(title)) or any(kind.lower() in _RETRACTED_TYPES for kind in publication_types)


def pmid_of(name: str) -> str | None:
    """The PMID that a name is, in its shortest spelling; None if it is no PMID."""
    return _of_kind("pmid", name)


def pmcid_of(name: str) -> str | None:
    """The PMC id that a name is, as ``PMC123``; None if it is none."""
    number = _of_kind("pmc", name.split(".")[0])
    return f"PMC{number}" if number else None


def doi_of(name: str) -> str | None:
    """The DOI that a name is, without an address; None if it is none."""
    return _of_kind("doi", name)


def people(text: str) -> tuple[str, ...]:
    """The people that one text names: ``Doe J; Roe A``, ``Doe J, Roe A.``, ``Doe, Jane``."""
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
    # The key of a DOI is in small letters; the name keeps its own.
    start = bare.lower().find(key)
    return bare[start : start + len(key)] if start >= 0 else key


def _told(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bare for value in values if (bare := one_line(value))))
