"""Names of sources, in the many ways they are written: PubMed ids, DOIs, PMC ids, web addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from vericite.records import Document, Span

_PMID = re.compile(r"(?:(?:pmid|pubmed\s?id)\s{0,3}[:#=]?\s{0,3})?0*([0-9]{1,8})", re.IGNORECASE)
_SCHEME = re.compile(r"(?:https?://)?(?:www\.)?", re.IGNORECASE)
_PUBMED = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:[\w-]+\.)?ncbi\.nlm\.nih\.gov/pubmed|europepmc\.org/(?:article|abstract)/med)"
    r"/0*([0-9]{1,8})(?=[/?#]|\Z)"
)
_DOI = re.compile(r"(?:doi\s{0,3}:\s{0,3}|(?:dx\.)?doi\.org/)?(10\.[0-9]{4,9}/\S+)")
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+/")  # "doi.org/", and no DOI alone: "10.1000/"
_QUERY = re.compile(r"[?#]")
_PMC = re.compile(r"(?:pmcid\s{0,3}:\s{0,3}|[\w./-]*/)?pmc([0-9]{1,9})/?")

_NAME = r"(?:PMID|PubMed\s?ID)s?\s{0,2}[:#=]?\s{0,2}[0-9]{1,8}(?![0-9])"
# A number without PMID in front goes on with a list only if it is as long as these ids are: "PMID 123, 45 men".
_AND = r"\s{0,2}(?:[,;&/]|,?\sand\s)\s{0,2}"
_PMIDS = re.compile(rf"\b{_NAME}(?:{_AND}(?:{_NAME}|[0-9]{{5,8}}(?![0-9])))*", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_OPENED = re.compile(r"[(\[]([^()\[\]\n]*)\Z")
_CLOSED = re.compile(r"([^()\[\]\n]*)([)\]])")
_PAIRS = {"(": ")", "[": "]"}
# What may stand beside an id in its parentheses and is no part of the sentence: a DOI, "Smith 2020", "2020", "see".
_OTHER_ID = re.compile(
    r"\b(?:doi\s?:?\s?|(?:https?://)?(?:dx\.)?doi\.org/|PMCID\s?:?\s?|PMC(?=[0-9]))[^\s;]+", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:(?i:see(?: also)?|cf\.?|e\.g\.|refs?\.?|sources?:?)|(?:[A-Z][^;]*\b)?(?:19|20)[0-9]{2}[a-z]?)?"
)
_BEFORE = re.compile(r"\s{0,2}[,;]\s{1,2}\Z")
_BEHIND = re.compile(r"[,;]\s{0,2}")
_REACH = 200  # characters looked at on either side of an id; what keeps the work linear


@dataclass(frozen=True, slots=True)
class PmidGroup:
    """PubMed ids that stand together, with the parentheses that hold nothing else: ``(Smith 2020; PMID 123)``."""

    span: Span
    pmids: tuple[str, ...]


def parse_pmids(text: str) -> tuple[PmidGroup, ...]:
    """The PubMed ids of a text, in order, wherever ``PMID`` is written before them."""
    groups: list[PmidGroup] = []
    end = 0
    for match in _PMIDS.finditer(text):
        if match.start() < end:
            continue
        start, end = _enclosing(text, match, end) or _inserted(text, match, end)
        pmids = (pmid for found in _PMIDS.finditer(text, match.start(), end) for pmid in _DIGITS.findall(found[0]))
        groups.append(PmidGroup(Span(start=start, end=end), tuple(dict.fromkeys(str(int(pmid)) for pmid in pmids))))
    return tuple(groups)


def _inserted(text: str, match: re.Match[str], floor: int) -> tuple[int, int]:
    """An id with the comma that would be left over: "(300 men, PMID 1)", "(PMID 1; 300 men)"."""
    start, end = match.span()
    before = _BEFORE.search(text[max(floor, start - 5) : start])
    if before and text[end : end + 1] in tuple(",;)]."):
        return start - len(before[0]), end
    behind = _BEHIND.match(text, end)
    if behind and text[max(floor, start - 1) : start] in tuple("(["):
        return start, behind.end()
    return start, end


def _enclosing(text: str, match: re.Match[str], floor: int) -> tuple[int, int] | None:
    """The parentheses around an id, if all that they hold is references."""
    opened = _OPENED.search(text[max(floor, match.start() - _REACH) : match.start()])
    closed = _CLOSED.match(text, match.end(), match.end() + _REACH)
    if not opened or not closed or _PAIRS[opened[0][0]] != closed[2]:
        return None
    beside = _OTHER_ID.sub("", _PMIDS.sub("", f"{opened[1]}{match[0]}{closed[1]}"))
    if all(_ASIDE.fullmatch(part.strip(" ,.:")) for part in beside.split(";")):
        return match.start() - len(opened[0]), closed.end()
    return None


def reference_key(name: str) -> str:
    """One spelling for all the names of a source: ``pmid:123``, ``doi:10.1/x``, ``pmc:7``, ``url:a.b/c``, ``id:x``.

    A number of up to eight digits is taken for a PubMed id, and so is PubMed's address of one. Of an address the
    host is the same in capitals; what follows ``#`` is a place within the source, what follows ``?`` is part of the
    name only where nothing else tells which source it is.
    """
    bare = name.strip().strip("<>")
    if pmid := _PMID.fullmatch(bare):
        return f"pmid:{int(pmid[1])}"
    scheme = _SCHEME.match(bare)
    address = bare[scheme.end() if scheme else 0 :]
    lowered = address.lower()
    if pmid := _PUBMED.match(lowered):
        return f"pmid:{int(pmid[1])}"
    path = _QUERY.split(lowered, maxsplit=1)[0] if _HOST.match(lowered) else lowered
    if doi := _DOI.fullmatch(path):
        return "doi:" + doi[1].rstrip("/.,;")
    if pmc := _PMC.fullmatch(path):
        return f"pmc:{int(pmc[1])}"
    if scheme and scheme.end():
        host, slash, rest = address.split("#", 1)[0].partition("/")
        return "url:" + f"{host.lower()}{slash}{rest}".rstrip("/")
    return f"id:{bare}"


class Library:
    """Documents that are found by their names. Of two with the same name the first is found."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._documents = documents

    def find(self, name: str) -> Document | None:
        """The document of this PMID, DOI, address or id."""
        return self._by_key.get(reference_key(name))

    def __bool__(self) -> bool:
        return bool(self._by_key)

    @cached_property
    def _by_key(self) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for document in self._documents:
            for key in _keys(document):
                found.setdefault(key, document)
        return found


def _keys(document: Document) -> Iterator[str]:
    yield reference_key(document.id)
    if document.pmid:
        yield reference_key(document.pmid)
