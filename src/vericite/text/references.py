"""Names of sources in their many forms: PubMed ids, DOIs, PMC ids, web addresses."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from vericite.records import Document, Span
from vericite.records.manuscripts import Reference

_PMID = re.compile(r"(?:(?:pmid|pubmed\s?id|pubmed(?=:))\s{0,3}[:#=]?\s{0,3})?0*([0-9]{1,8})", re.IGNORECASE)
_SCHEME = re.compile(r"(?:https?://)?(?:www\.)?", re.IGNORECASE)
_PUBMED = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:[\w-]+\.)?ncbi\.nlm\.nih\.gov/pubmed|europepmc\.org/(?:article|abstract)/med)"
    r"/0*([0-9]{1,8})(?=[/?#]|\Z)"
)
_DOI = re.compile(r"(?:doi\s{0,3}:\s{0,3}|(?:dx\.)?doi\.org/)?(10\.[0-9]{4,9}/\S+)")
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+/")  # "doi.org/", but not a DOI alone: "10.1000/"
_QUERY = re.compile(r"[?#]")
# Parameters that tell a site where a reader came from: OpenAI's search adds "utm_source=openai" to every address.
_TRACKING = re.compile(r"(?:\?utm_[a-z]+=[^&]*(?:&utm_[a-z]+=[^&]*)*\Z|&utm_[a-z]+=[^&]*|(?<=\?)utm_[a-z]+=[^&]*&)")
_PMC = re.compile(r"(?:pmcid\s{0,3}:\s{0,3}|[\w./-]*/)?pmc([0-9]{1,9})/?")

_NAME = r"(?:PMID|PubMed\s?ID)s?\s{0,2}[:#=]?\s{0,2}[0-9]{1,8}(?![0-9])"
# A number without PMID in front continues a list only if it is as long as these ids: "PMID 123, 45 men".
_AND = r"\s{0,2}(?:[,;&/]|,?\sand\s)\s{0,2}"
_PMIDS = re.compile(rf"\b{_NAME}(?:{_AND}(?:{_NAME}|[0-9]{{5,8}}(?![0-9])))*", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_BRACKET_BEFORE = re.compile(r"[(\[]([^()\[\]\n]*)\Z")
_BRACKET_BEHIND = re.compile(r"([^()\[\]\n]*)([)\]])")
_PAIRS = {"(": ")", "[": "]"}
# What may be next to an id in its parentheses without being part of the sentence: a DOI, "Smith 2020", "2020", "see".
_OTHER_ID = re.compile(
    r"\b(?:doi\s?:?\s?|(?:https?://)?(?:dx\.)?doi\.org/|PMCID\s?:?\s?|PMC(?=[0-9]))[^\s;]+", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:(?i:see(?: also)?|cf\.?|e\.g\.|refs?\.?|sources?:?)|(?:[A-Z][^;]*\b)?(?:19|20)[0-9]{2}[a-z]?)?"
)
_BEFORE = re.compile(r"\s{0,2}[,;]\s{1,2}\Z")
_BEHIND = re.compile(r"[,;]\s{0,2}")
_REACH = 200  # characters to search on either side of an id, to keep the time linear


@dataclass(frozen=True, slots=True)
class PmidGroup:
    """Adjacent PubMed ids, with parentheses that contain nothing else: ``(Smith 2020; PMID 123)``."""

    span: Span
    pmids: tuple[str, ...]


def parse_pmids(text: str) -> tuple[PmidGroup, ...]:
    """Return the PubMed ids of a text after ``PMID``, in order."""
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
    """Extend an id by the comma that would be left over: "(300 men, PMID 1)", "(PMID 1; 300 men)"."""
    start, end = match.span()
    before = _BEFORE.search(text[max(floor, start - 5) : start])
    if before and text[end : end + 1] in tuple(",;)]."):
        return start - len(before[0]), end
    behind = _BEHIND.match(text, end)
    if behind and text[max(floor, start - 1) : start] in tuple("(["):
        return start, behind.end()
    return start, end


def _enclosing(text: str, match: re.Match[str], floor: int) -> tuple[int, int] | None:
    """Return the parentheses around an id, if they contain only references."""
    before = _BRACKET_BEFORE.search(text[max(floor, match.start() - _REACH) : match.start()])
    behind = _BRACKET_BEHIND.match(text, match.end(), match.end() + _REACH)
    if not before or not behind or _PAIRS[before[0][0]] != behind[2]:
        return None
    beside = _OTHER_ID.sub("", _PMIDS.sub("", f"{before[1]}{match[0]}{behind[1]}"))
    if all(_ASIDE.fullmatch(part.strip(" ,.:")) for part in beside.split(";")):
        return match.start() - len(before[0]), behind.end()
    return None


def reference_key(name: str) -> str:
    """Return one spelling for all names of a source: ``pmid:123``, ``doi:10.1/x``, ``pmc:7``, ``url:a.b/c``, ``id:x``.

    A number of up to eight digits is read as a PubMed id, and so is its address at PubMed. The case of a host is
    ignored. What follows ``#`` in an address is a place within the source; what follows ``?`` belongs to the name only
    if nothing else identifies the source.
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
        host, slash, rest = _TRACKING.sub("", address.split("#", 1)[0]).partition("/")
        return "url:" + f"{host.lower()}{slash}{rest}".rstrip("/")
    return f"id:{bare}"


class Library:
    """Documents by their names. If two share a name, the first is returned."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._documents = documents

    def find(self, name: str) -> Document | None:
        """Return the document with this PMID, DOI, address or id."""
        return self._by_key.get(reference_key(name))

    def referenced(self, reference: Reference) -> Document | None:
        """Return the document of an entry of a list of references; None where only names are known."""
        return None

    def __bool__(self) -> bool:
        return bool(self._by_key)

    @cached_property
    def _by_key(self) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for document in self._documents:
            for key in _keys(document):
                found.setdefault(key, document)
        return found


class UnneededLibrary(Library):
    """Stands for the cited documents where only the sentences of answers are wanted: no format asks for documents."""

    def __bool__(self) -> bool:
        return True


_FILE_ID = re.compile(r"(?P<name>.+)-[0-9a-f]{10}")
"""The id of a file without an identifier of its own: its name, and a digest of where it is."""


def names_itself(document: Document, name: str) -> bool:
    """Whether a name is the document's id, or that of its file, without the ending."""
    file = _FILE_ID.fullmatch(document.id)
    return name in (document.id, file["name"] if file else None)


def _keys(document: Document) -> Iterator[str]:
    yield reference_key(document.id)
    yield from (reference_key(name) for name in (document.pmid, document.doi, document.pmcid) if name)
    if file := _FILE_ID.fullmatch(document.id):
        yield reference_key(file["name"])


_SPACE = r"[^\S\n]"
REFERENCES = re.compile(r"(?:references?|sources?|bibliography|citations?)", re.IGNORECASE)
_ENTRY = re.compile(
    rf"\s*+(?:[-*•]{_SPACE}++)?(?:(?P<cited>\[+\^?\d)|[(\[]?[\d¹²³⁴-⁹]{{1,3}}[.):\]]|\d{{1,3}}\s|https?://|pmid\b|doi\b)",
    re.IGNORECASE,
)
_WRAPPED = re.compile(rf"(?:{_SPACE}{{2,}}|\t)[^\W\d]")
_NUMBERED = re.compile(rf"\s*+(?:\[++\^?(?P<cited>\d{{1,3}})\]|(?P<plain>\d{{1,3}})\.(?={_SPACE}))")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their positions."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def body_end(text: str) -> int:
    """Return where the reference list at the end begins; the length of the text if there is none."""
    wrapped = False
    for start, line in reversed(list(lines(text))):
        bare = line.strip().strip("#*_: ")
        if REFERENCES.fullmatch(bare) and not wrapped:
            return start
        entry = _ENTRY.match(line)
        # "Sources:\n1. Oily fish [1]" lists sources of vitamin D: a numbered line with a citation is a claim.
        listed = entry and (entry["cited"] or not MARKER.search(line))
        if listed:
            wrapped = False
        elif _WRAPPED.match(line) and not MARKER.search(line):
            wrapped = True  # the end of an entry, if there is one above it
        elif bare or wrapped:
            break
    return _listing(text)


def _listing(text: str) -> int:
    """Return where a reference list without a heading begins; the length of the text if there is none.

    It follows a blank line, each line opens with a number, and the numbers rise. The text before has other lines too,
    and cites one of the entries.
    """
    filled = [(start, line) for start, line in lines(text) if line.strip()]
    entries: list[tuple[int, int]] = []
    for start, line in reversed(filled):
        number = _entry_number(line)
        if number is None or (entries and number >= entries[-1][1]):
            break
        entries.append((start, number))
    while entries and not re.search(r"\n[^\S\n]*\n\Z", text[max(0, entries[-1][0] - 99) : entries[-1][0]]):
        entries.pop()
    if not entries:
        return len(text)
    begin = entries[-1][0]
    before = filled[: len(filled) - len(entries)]
    if all(_entry_number(line) is not None for _, line in before):
        return len(text)
    inside = (group for _, line in before for group in parse_markers(line) if line[: group.span.start].strip())
    cited = {number for group in inside for number in group.numbers}
    return begin if cited.intersection(number for _, number in entries) else len(text)


def _entry_number(line: str) -> int | None:
    """Return the number that a line of a reference list opens with; None for other lines."""
    entry = _NUMBERED.match(line)
    if not entry or (entry["plain"] and MARKER.search(line)):
        return None
    return int(entry["cited"] or entry["plain"])


_GAP = r"\s{0,3}"
# At most three digits: [2019] is a year and [12345678] a PubMed id, and no one cites a thousand sources.
_NUMBER = r"\d{1,3}"
_DASH = "[-‐‑–—−]"
_ITEM = rf"{_NUMBER}(?:{_GAP}{_DASH}{_GAP}{_NUMBER})?"
_JOINT = rf"(?:{_GAP}[,;]{_GAP}(?:(?:and\s|&){_GAP})?|{_GAP}&{_GAP}|\s{_GAP}and\s{_GAP})"
# Some providers write [1†source] and 【1†L5-L9】.
_ORIGIN = r"(?:†[^\[\]【】［］†\n]{0,60})?"
# Language models sometimes leave a comma after the last number: [1,2,].
_STRAY = rf"(?:{_GAP}[,;])?"
_LIST = rf"{_GAP}{_ITEM}(?:{_JOINT}{_ITEM})*{_STRAY}{_GAP}{_ORIGIN}"
# [1,2,4]triazolo[4,3-a]pyridine: attached to the lower-case letters of a ring system, the numbers are positions.
_RING = r"(?![a-z]{0,20}(?:azol|azin|benz|diaz|furo|furan|naphth|pyr[iraoe]|quinol|thien|thia|indol|oxa))"
# Many language models write [[1]]; [^1] is a footnote in Markdown; 【1】 and ［1］ come from models with much Chinese
# training text.
_ONE = rf"(?:\[\[{_LIST}\]\]|\[{_LIST}\]|\[\^{_NUMBER}\]|【{_LIST}】|［{_LIST}］)"
_SINGLE = rf"(?:\[\[{_NUMBER}\]\]|\[\^?{_NUMBER}\]|【{_NUMBER}】|［{_NUMBER}］)"
MARKER = re.compile(rf"{_ONE}{_RING}")
"""A marker by its form alone; ``parse_markers`` checks the order of its numbers."""
_SPREAD = re.compile(rf"(?P<first>{_SINGLE}){_DASH}{_SINGLE}{_RING}")  # [1]-[3]
# [3]H-thymidine, [14]C-urea: the mass numbers of isotopes in labelled molecules. After a stop, as in
# "disease.[1]H-scores", it is a citation after all.
_ISOTOPE = re.compile(
    r"""(?<![.,;:!?])\[(?:[1-3]\]H|1[1-4]\]C|1[35]\]N|1[5-8]\]O|18\]F|3[1-3]\]P|35\]S|12[3-9]\]I|13[01]\]I|6[678]\]Ga
    |11[1-3]\]In|177\]Lu|9[0-9]\]Y|6[0-9]\]Cu|89\]Zr|99\]Tc|51\]Cr|4[0-9]\]Ca|5[2-9]\]Fe|2[2-4]\]Na|4[0-3]\]K|8[2-7]\]Rb
    |7[5-7]\]Br|8[0-2]\]Br|201\]Tl|13[0-9]\]Xe|7[2-9]\]Se|5[7-9]\]Co|60\]Co|6[2-9]\]Zn|22[3-8]\](?:Ra|Ac)|18[68]\]Re
    |153\]Sm|166\]Ho|21[123]\](?:At|Bi|Pb)|8[5-9]\]Sr|13[1-7]\]Cs|6[0-9]\]Ni|10\]B|11\]B|2[89]\]Si|19\]F)-""",
    re.VERBOSE,
)
_WIDEST_RANGE = 50
_HIGHEST = 999


# "a score of [0-10]", "95% CI [12, 45]": numbers after these words are not citations.
_SCALE = re.compile(
    r"\b(?:scores?|scales?|scored|rang(?:es?|ing|ed)|rated|ratings?|intervals?|iqr|ci|vas|nrs|points?)\b"
    r"(?:\s(?:of|from|was|were|is)|[:=,])?\s{0,2}\Z",
    re.IGNORECASE,
)
_FROM_ZERO = re.compile(r"\[\s{0,3}0\s{0,3}[-‐‑–—−]")

# Other forms of a marker. A word in front makes a number a marker: [Doc 1], [source: 1, 2], (ref. 3).
_BRACKETED_WORD = (
    r"(?:docs?|documents?|sources?|refs?|references?|citations?|cites?|passages?|contexts?|chunks?|evidence|abstracts?|"
    r"articles?|papers?|(?:search\s)?results?)"
)
_WORD = r"(?:docs?|documents?|sources?|refs?|references?|citations?)"
_SEPARATED = r"\s{0,3}(?:[,;&]|and\s)\s{0,3}"


def _numbered_words(word: str) -> str:
    numbered = rf"(?:{word}\.?\s{{0,2}}[:#]?\s{{0,2}})"
    return rf"\s{{0,2}}{numbered}{_NUMBER}(?!\d)(?:{_SEPARATED}{numbered}?{_NUMBER}(?!\d))*\s{{0,2}}"


_WORDED = re.compile(
    rf"\[{_numbered_words(_BRACKETED_WORD)}\](?!\()|【{_numbered_words(_BRACKETED_WORD)}】|\({_numbered_words(_WORD)}\)",
    re.IGNORECASE,
)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# After a word of three letters or a stop; after less it is a power, a charge or an isotope: cm², Ca²⁺, ¹³C.
_CITING = r"(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?)\]\"”’%]))"
_SUPERSCRIPT = re.compile(
    rf"{_CITING}(?:[{_RAISED}]{{1,3}}(?:[,˒‚–-][{_RAISED}]{{1,3}})*|<sup>\s?\d{{1,3}}(?:\s?[,;–-]\s?\d{{1,3}})*\s?</sup>)"
    rf"(?![\w{_RAISED}⁺⁻])"
)
_POWERS = re.compile(
    r"\b(?:inch|inches|feet|foot|yards?|miles?|met(?:re|er)s?|chi|eta|tau|sigma|omega|kappa|phi|log|sec|rad|mol)\Z",
    re.IGNORECASE,
)
_DIGITS_RAISED = str.maketrans(_RAISED, "0123456789")
_PLAIN = re.compile(r"\((\d{1,3}(?:\s?[,;]\s?\d{1,3})*)\)(?=\s{0,2}(?:[.,;:!?]|\Z|\n))")
_COUNT = re.compile(r"(?<=[^\W\d_] )\((\d{1,3})\)(?=\s[^\W\d_])")
"""A number in parentheses between two words: "two died (2) and one moved (1)"."""
_NO_CITATION = re.compile(
    r"(?:[=<>±%\d]|\b(?:n|p|table|fig|figure|figs|eq|equation|type|phase|group|grade|stage|day|week|step|part|item|factor|no|level"
    r"|score|age|version|category|class|arm|cohort|study|trial|visit|model|appendix|box|panel|section|chapter"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\.?)\s{0,2}\Z",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")
NO_AUTHOR = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|Spring|Summer|Autumn|Fall|Winter|Year|Version|Edition|Revision|Updated?|Published"
    r"|In|Since|From|Until|Between|By|Before|After|Table|Figure|Fig|Phase|COVID)\b"
)
"""Pattern of words before a year that name no author: "(March 2020)", "(Version 2020)"."""
# What looks like a citation: numbers out of order, a word for a source, a key, "(Smith et al., 2020)", "(Smith 2020)".
_UNREAD = re.compile(
    rf"\[\s{{0,3}}[-–−]?\s?\d[\d\s,;–−-]{{0,60}}\](?!\(){_RING}"
    rf"|[\[【]\s?(?i:docs?|documents?|sources?|refs?|references?|citations?)\b[^\[\]【】\n]{{0,60}}[\]】](?!\()"
    # A letter and a number, or the number and a letter that is not a unit: [S1], [1a], [#1]; other brackets: {1}, <1>.
    rf"|\[(?:[DPRS]\d{{1,3}}|\d{{1,3}}[abcef]|\#\s?\d{{1,3}})(?:[,;]\s?(?:[DPRS]|\#)?\d{{1,3}}[abcef]?)*\](?!\(){_RING}"
    r"|(?<![\w^}\])])\{\d{1,3}(?:,\s?\d{1,3})*\}|<\d{1,3}>(?!\w)"
    r"|\[@[^\[\]\s]{1,80}\]|\\cite[a-z]{0,5}\{[^{}\n]{1,200}\}"
    rf"|\((?:see\s)?(?!{NO_AUTHOR})[A-Z][\w'’-]{{1,40}}(?:,?\set\sal\.?,?\s|(?:\sand|\s&)\s[A-Z][\w'’-]{{1,40}},?\s|,?\s)"
    r"(?:19|20)\d\d[a-z]?(?:;[^()\n]{1,200})?\)"
)
_YEAR = re.compile(r"\[(?:18|19|20)\d\d\]")


@dataclass(frozen=True, slots=True)
class MarkerGroup:
    """A bracketed marker: its place, its numbers (ranges expanded), and its text."""

    span: Span
    numbers: tuple[int, ...]
    text: str


def parse_markers(text: str) -> tuple[MarkerGroup, ...]:
    """Return the citation markers of a text, in order, one group per pair of brackets, or per two for ``[1]-[3]``.

    ``[0]`` is a marker, although no source has that number. These are not markers: numbers of more than three digits,
    ranges that run backwards or over more than 50 numbers, brackets with other content, and the mass number of an
    isotope, ``[3]H-thymidine``.
    """
    return tuple(
        MarkerGroup(span=Span(start=start, end=end), numbers=numbers, text=text[start:end])
        for start, end in _brackets(text)
        if (numbers := _numbers(text[start:end]))
    )


def render_markers(numbers: Sequence[int]) -> str:
    """Write numbers as markers in the usual form: ``[1][3]``.

    Raises:
        ValueError: A number is below 0 or above 999, and would not be parsed as a marker.
    """
    for number in numbers:
        if not 0 <= number <= _HIGHEST:
            raise ValueError(f"expected marker numbers from 0 to {_HIGHEST}; found {number}")
    return "".join(f"[{number}]" for number in numbers)


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of marker forms; two in a row that are the ends of a range as one."""
    position = 0
    while match := MARKER.search(text, position):
        spread = _SPREAD.match(text, match.start())
        if spread and _numbers(spread[0]):
            match = spread
        position = match.end()
        if not _ISOTOPE.match(text, match.start()) and not is_scale(text, match):
            yield match.span()


def is_scale(text: str, match: re.Match[str]) -> bool:
    """Whether numbers in brackets are the ends of a scale or of an interval: "a score of [0-10]"."""
    if _FROM_ZERO.match(match[0]):
        return True
    several = any(sign in match[0] for sign in "-‐‑–—−,;")
    return several and _SCALE.search(text[max(0, match.start() - 30) : match.start()]) is not None


def other_markers(text: str, most: int) -> Iterator[MarkerGroup]:
    """Yield markers in other forms: ``[Doc 1]``, ``(ref. 3)``, superscripts.

    ``most`` is the number of documents. If it is 0, a superscript is a footnote of another text.
    """
    for match in _WORDED.finditer(text):
        yield _group(match, match[0])
    for match in _SUPERSCRIPT.finditer(text) if most else ():
        group = _group(match, match[0].translate(_DIGITS_RAISED))
        # A raised zero is an exponent or a degree sign: documents are counted from 1.
        if 0 not in group.numbers and not _POWERS.search(text[max(0, match.start() - 10) : match.start()]):
            yield group


def plain_markers(text: str, most: int) -> Iterator[MarkerGroup]:
    """Yield numbers in parentheses at the end of a clause, ``(1)``, if there is such a document.

    None if such a number stands within a clause, too: then they are counts.
    """
    if any(1 <= int(match[1]) <= most for match in _COUNT.finditer(text)):
        return
    for match in _PLAIN.finditer(text):
        group = _group(match, match[0])
        before = text[max(0, match.start() - 20) : match.start()]
        if all(1 <= number <= most for number in group.numbers) and not _NO_CITATION.search(before):
            yield group


def bracketed_names(text: str) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the content of brackets that may be names of documents."""
    for match in _BRACKETS.finditer(text):
        names = tuple(filter(None, (name.strip() for name in re.split("[,;]", match[1]))))
        if names and not MARKER.fullmatch(match[0]):
            yield Span(start=match.start(), end=match.end()), names


def unread_markers(text: str, read: Iterable[Span], most: int = 0) -> tuple[Span, ...]:
    """Return what looks like a citation and was not read as one.

    In a text with other markers this includes ``(2)``, if it may be one of ``most`` documents.
    """
    taken = sorted((span.start, span.end) for span in read)

    def is_read(start: int) -> bool:
        place = bisect_right(taken, (start, len(text))) - 1
        return place >= 0 and taken[place][1] > start

    plain = plain_markers(text, most) if taken else ()
    found = [group.span for group in plain if not is_read(group.span.start)]
    for match in _UNREAD.finditer(text):
        if (
            is_read(match.start())
            or _YEAR.fullmatch(match[0])
            or _ISOTOPE.match(text, match.start())
            or is_scale(text, match)
        ):
            continue
        found.append(Span(start=match.start(), end=match.end()))
    return tuple(sorted(found, key=lambda span: span.start))


def _group(match: re.Match[str], written: str) -> MarkerGroup:
    span = Span(start=match.start(), end=match.end())
    bounds = [int(number) for number in _DIGITS.findall(written)]
    if re.fullmatch(r"\D*\d+\s?[–-]\s?\d+\D*", written) and 0 <= bounds[1] - bounds[0] <= _WIDEST_RANGE:
        bounds = list(range(bounds[0], bounds[1] + 1))
    return MarkerGroup(span=span, numbers=tuple(bounds), text=match[0])


def _numbers(marker: str) -> tuple[int, ...]:
    """Return the numbers of a marker with ranges expanded; empty if a range is invalid."""
    numbers: list[int] = []
    for item in re.split("[,;&]|and", marker.split("†", 1)[0]):
        bounds = [int(number) for number in re.findall(r"\d+", item)]
        if not bounds:  # between "," and "and", or behind a stray comma
            continue
        if not 0 <= bounds[-1] - bounds[0] <= _WIDEST_RANGE:
            return ()
        numbers.extend(range(bounds[0], bounds[-1] + 1))
    return tuple(numbers)
