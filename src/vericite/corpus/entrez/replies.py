"""What the E-utilities answer in JSON, and the many ways in which an answer is none."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from vericite.corpus.entrez.results import MOST_FOUND, PubMedSummary, SearchResult, Summaries

Fields = dict[str, Any]

_PASSING = ("backend failed", "exception", "temporar", "try again", "timeout", "timed out", "rate limit", "unavailable")
"""Words of failures that may be over when it is asked again."""

_LASTING = ("larger than 9998", "is not supported", "invalid db name")
"""Words of those that will not be, whatever else is said."""

_NOTHING = ("id list is empty", "empty id list", "pmid is not available")
"""Words of a reply to ids of which none has a record."""

_ERROR = re.compile(r"<ERROR>(.*?)</ERROR>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)
_PMID = re.compile(r"[1-9][0-9]{0,9}")
_NOT_THERE = "cannot get document summary"


class UnfitReply(Exception):
    """A reply that cannot be used.

    ``lasting`` says that it would come again, ``refused`` that every other call would end alike, ``after`` how many
    seconds the service asks to wait.
    """

    def __init__(self, reason: str, lasting: bool = False, refused: bool = False, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lasting = lasting
        self.refused = refused
        self.after = after


def is_pmid(text: str) -> bool:
    """Whether it looks like a PMID."""
    return _PMID.fullmatch(text) is not None


def complaint(body: bytes) -> str | None:
    """What a reply complains of in JSON, in XML or on a page of HTML; None where it looks like no complaint."""
    text = body[:20_000].decode("utf-8", "replace").strip()
    head = text[:300].lower()
    if "<html" in head or head.startswith("<!doctype html"):
        title = _TITLE.search(text)
        return "an HTML page" + (f" titled {_line(title[1])!r}" if title else "")
    if text.startswith("{") and (found := _complaint_in(_loaded(body))):
        return found
    if text.startswith("<") and (found := _ERROR.search(text)):
        return _line(found[1])
    return None


def nothing_found(said: str) -> bool:
    """Whether a complaint says no more than that no id has a record."""
    return any(words in said.lower() for words in _NOTHING)


def unfit(said: str) -> UnfitReply:
    """The error for a complaint."""
    lowered = said.lower()
    if "api key" in lowered or "api-key" in lowered:
        return UnfitReply(said, lasting=True, refused=True)
    passing = said.startswith("an HTML page") or any(word in lowered for word in _PASSING)
    return UnfitReply(said, lasting=not passing or any(word in lowered for word in _LASTING))


def read_search(body: bytes, query: str, most: int) -> SearchResult:
    """The reply to an esearch of a query for so many PMIDs.

    Raises:
        UnfitReply: It is none, or has fewer of them than there are.
    """
    result = _section(body, "esearchresult")
    ids = tuple(map(str, _many(result.get("idlist"))))
    count = _count(result.get("count"))
    expected = min(most, count, MOST_FOUND)
    if len(ids) < expected or not all(map(is_pmid, ids)):
        raise UnfitReply(f"expected {expected} PMIDs of {count}; found {len(ids)}, or others than numbers")
    errors, warnings = _fields(result.get("errorlist")), _fields(result.get("warninglist"))
    return SearchResult(
        query=query,
        ids=tuple(dict.fromkeys(ids))[:most],
        count=count,
        translation=str(result.get("querytranslation") or ""),
        not_found=(*_words(errors.get("phrasesnotfound")), *_words(errors.get("fieldsnotfound"))),
        notices=tuple(note for name in sorted(warnings) for note in _words(warnings[name])),
    )


def read_summaries(body: bytes, asked: Sequence[str]) -> Summaries:
    """The reply to an esummary.

    Raises:
        UnfitReply: It is none, or says nothing of a PMID that was asked for.
    """
    result = _section(body, "result")
    found: list[PubMedSummary] = []
    missing: list[str] = []
    for pmid in asked:
        entry = _fields(result.get(pmid))
        problem = str(entry.get("error") or "")
        if _NOT_THERE in problem:
            missing.append(pmid)
        elif problem or "title" not in entry:
            raise UnfitReply(f"expected a summary of PMID {pmid}; found {problem or 'none'}")
        else:
            found.append(_summary(pmid, entry))
    return Summaries(tuple(found), tuple(missing))


def _summary(pmid: str, entry: Fields) -> PubMedSummary:
    ids = [_fields(id) for id in _many(entry.get("articleids"))]
    return PubMedSummary(
        pmid=pmid,
        title=str(entry.get("title") or ""),
        journal=str(entry.get("fulljournalname") or entry.get("source") or ""),
        date=str(entry.get("pubdate") or ""),
        authors=tuple(str(author["name"]) for author in map(_fields, _many(entry.get("authors"))) if "name" in author),
        doi=next((str(id.get("value")) for id in ids if id.get("idtype") == "doi" and id.get("value")), None),
        publication_types=_words(entry.get("pubtype")),
        has_abstract="Has Abstract" in _words(entry.get("attributes")),
    )


def _section(body: bytes, name: str) -> Fields:
    found = _loaded(body)
    if found is None:
        raise UnfitReply("expected JSON; found none, or a part of it")
    section = found.get(name)
    if not isinstance(section, dict):
        raise UnfitReply(f"expected {name!r} in the reply; found none")
    return cast(Fields, section)


def _loaded(body: bytes) -> Fields | None:
    try:
        # Not strict: where NCBI has an error to tell there may be bare line breaks in it.
        found: object = json.loads(body.decode("utf-8", "replace"), strict=False)
    except ValueError:
        return None
    return cast(Fields, found) if isinstance(found, dict) else None


def _complaint_in(found: Fields | None) -> str | None:
    if found is None:
        return None
    for fields in (found, _fields(found.get("esearchresult"))):
        for name in ("error", "ERROR"):
            if said := fields.get(name):
                return _line(str(said))
    refused = found.get("esummaryresult")
    return _line(str(_many(refused)[0])) if _many(refused) else None


def _count(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise UnfitReply(f"expected the count of those found; found {_line(repr(value))}")


def _fields(value: object) -> Fields:
    return cast(Fields, value) if isinstance(value, dict) else {}


def _many(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(word) for word in _many(value))


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
