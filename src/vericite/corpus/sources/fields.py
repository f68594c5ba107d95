"""The names that fields of documents have in tables and in other programs' JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from vericite.corpus.sources.entry import Entry, people

_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "docid", "documentid", "docno", "identifier", "uid", "recordid", "refid"),
    "number": ("accessionnumber", "key", "eid", "ut"),
    "pmid": ("pmid", "pubmedid", "pubmed", "pm"),
    "pmcid": ("pmcid", "pmc"),
    "doi": ("doi", "di", "digitalobjectidentifier"),
    "title": ("title", "articletitle", "documenttitle", "primarytitle", "papertitle", "ti"),
    "text": ("text", "content", "contents", "abstract", "abstracttext", "abstractnote", "ab", "body", "fulltext",
             "document", "passage"),
    "journal": ("journal", "journalbook", "publicationtitle", "sourcetitle", "secondarytitle", "journaltitle",
                "journalname", "so"),
    "date": ("date", "publicationdate", "pubdate", "publicationyear", "pubyear", "year", "py", "createdate"),
    "languages": ("languages", "language", "la", "lang"),
    "authors": ("authors", "author", "authorfullnames", "au"),
    "mesh": ("mesh", "meshterms", "meshheadings", "meshmajor"),
    "publication_types": ("publicationtypes", "publicationtype", "documenttype", "itemtype"),
}  # fmt: skip
_FIELD_OF = {name: field for field, names in _NAMES.items() for name in names}
_MANY = frozenset(("languages", "authors", "mesh", "publication_types"))


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A name without what the spellings of it differ in: ``Abstract Note``, ``abstract_note``."""
    return re.sub(r"[\W_]+", "", name.casefold())


def field_of(name: str) -> str | None:
    """The field of ``Entry`` that a column or key of this name holds."""
    return _FIELD_OF.get(folded(name))


def entry_of(values: Mapping[str, object]) -> Entry:
    """An entry out of named values. Of two names of one field the one that says it more exactly counts."""
    named = {folded(name): value for name, value in reversed(list(values.items()))}
    found: dict[str, str | tuple[str, ...]] = {}
    for field, names in _NAMES.items():
        value = next((value for name in names if (value := _words(named.get(name)))), None)
        if value:
            found[field] = _many(field, value) if field in _MANY else "\n\n".join(value)
    return Entry(**found)  # pyright: ignore[reportArgumentType]


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
    # MeSH headings have commas of their own.
    return people(value[0]) if field == "authors" else tuple(re.split(r"[;|\n]", value[0]))
