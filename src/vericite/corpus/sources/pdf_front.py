"""What the first page of a PDF says of the article itself: its DOI, authors, journal and year.

Nothing is guessed. A DOI counts if no other one stands with it, a journal if it stands with a year and a volume, or
with a year alone if its name is that of a journal ("Annals of Medicine, 2021"). Authors count if a line below the title
holds at least two names and nothing else, or one or more names, a full stop, a journal and a year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vericite.corpus.sources.entry import cited_name, doi_of
from vericite.corpus.sources.pdf_lines import Line
from vericite.corpus.sources.texts import REFERENCES

KEYWORDS = re.compile(r"(?:key ?words?|index terms)\s*[:—–-]\s*(?P<words>\S.*)", re.IGNORECASE)
"""Matches a line of keywords, which stands below an abstract and is no part of it."""
_BODY = re.compile(
    r"(?:\d\.?\s+)?(?:abstract|summary|background|introduction|objectives?|keywords?)\b\s*(?:[:.—–-].*)?", re.IGNORECASE
)
_MOST_OF_HEAD = 25
"""Maximum lines before the abstract that are read."""
_AT_THE_EDGE = 3
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>,;|]+")
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DATED = (
    re.compile(rf"\bpublished\b(?: online| first)?[^.;|]{{0,40}}?\b{_YEAR}", re.IGNORECASE),
    re.compile(rf"(?:©|\(c\)|\bcopyright\b)\s*{_YEAR}", re.IGNORECASE),
    re.compile(rf"\baccepted\b[^.;|]{{0,40}}?\b{_YEAR}", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a first page says of its article; what it does not say is None or empty."""

    doi: str | None = None
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None


def front_matter_of(page: Sequence[Line], title: str, subject: str) -> FrontMatter:
    """Read the front matter of an article.

    Args:
        page: All lines of the first page, in reading order.
        title: The title.
        subject: The subject in the file's metadata, where some publishers put the journal and the DOI.
    """
    head = [line.text.strip() for line in _head(page)]
    own = list(_before_references(page))
    edges = sorted(own, key=lambda line: line.baseline)
    edge = [line.text.strip() for line in (*edges[:_AT_THE_EDGE], *edges[-_AT_THE_EDGE:])]
    doi, below = _own_doi([subject], head, edge), _below(head, title)
    if byline := _byline(below):
        return FrontMatter(doi, *byline)
    around = list(dict.fromkeys([subject, *head, *edge]))
    journal, year = next(filter(None, map(_cited, around)), (None, None))
    dated = (int(found["year"]) for pattern in _DATED for text in around if (found := pattern.search(text)))
    return FrontMatter(doi, _authors(below), journal, year or next(dated, None))


def _head(page: Sequence[Line]) -> Iterator[Line]:
    for line in page[:_MOST_OF_HEAD]:
        if _BODY.fullmatch(line.text.strip()):
            return
        yield line


def _own_doi(*places: Sequence[str]) -> str | None:
    """Return the only DOI in the first of these places that has one."""
    for texts in places:
        found = {doi.lower(): doi for text in texts for doi in _dois(text)}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return None


def _before_references(page: Sequence[Line]) -> Iterator[Line]:
    for line in page:
        if REFERENCES.fullmatch(line.text.strip()):
            return
        yield line


def _dois(text: str) -> Iterator[str]:
    for match in _DOI.finditer(text):
        # A DOI that ends with such a sign may go on in the next line.
        if not match[0].endswith(("/", "-", "_")) and (doi := doi_of(match[0].rstrip(".)]"))):
            yield doi


_JOURNAL_AND_YEAR = re.compile(
    r"(?=.*\b(?:Journal|Annals|Archives|Acta|Bulletin|Letters|Proceedings|Transactions|J)\b)"
    rf"(?P<journal>[^\W\d_][^\d|()\[\]@/:;.]{{2,80}}?)[,.]?\s+\(?{_YEAR}\)?\.?"
)
_BEFORE = "Author AB. A title of a work."


def _cited(text: str) -> tuple[str, int] | None:
    """Return the journal and the year of a line such as "BMJ Open 2020;10:e031662"."""
    from vericite.text.printed import parse_reference

    if not 10 < len(text) < 200 or not re.search(_YEAR, text):
        return None
    if alone := _JOURNAL_AND_YEAR.fullmatch(text):
        return alone["journal"], int(alone["year"])
    found = parse_reference(f"{_BEFORE} {text}", "line")
    if found.journal and found.year and found.volume and re.fullmatch(r"[^\W\d_][^\d|()\[\]@/]{2,100}", found.journal):
        return found.journal, found.year
    return None


_JOURNAL_WORD = r"[^\W\d_a-z][\w&'’-]*"
_NAMED_JOURNAL = re.compile(
    rf"(?P<journal>{_JOURNAL_WORD}(?: (?:of|the|and|for|in|on|&|{_JOURNAL_WORD})){{0,9}} {_JOURNAL_WORD})[,.]? "
    rf"\(?{_YEAR}\)?\.?"
)
"""A journal of two words or more and its year, below a title and behind the names of the authors."""
_NO_JOURNAL = re.compile(
    r"\b(?:universit\w*|hospitals?|departments?|school|institut\w*|cent(?:er|re)|college|division|faculty|group|street|road|"
    r"received|accepted|published|submitted|revised|copyright|rights|preprint|version|draft|thesis|protocol|working|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"new york|los angeles|united|city|kingdom)\b",
    re.IGNORECASE,
)


def _behind_names(text: str) -> tuple[str, int] | None:
    """Return the journal and the year of a text such as "Example Medicine 2021" that stands behind names."""
    found = _NAMED_JOURNAL.fullmatch(text)
    if _NO_JOURNAL.search(text):
        return None
    return (found["journal"], int(found["year"])) if found else _cited(text)


_DEGREE = re.compile(
    r"(?:MD|PhD|DPhil|MSc|BSc|MPH|MBBS|MBChB|RN|DSc|ScD|PharmD|DrPH|DO|MS|MA|BA|BM|MSN|FRCP|FRCS|MRCP|FACP|Jr|Sr|II|III)",
    re.IGNORECASE,
)
_TITLES = re.compile(r"\b(?:Prof(?:essor)?|Dr)\.?\s+")
_MARKS = re.compile(r"[\d*†‡§¶∥#⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:\s*,\s*[\d*†‡§¶]+)*")
_PARTICLE = r"(?:v[ao]n|de[nrl]?|la|le|di|da|dos|du|el|al|bin|ten|ter|zu[mr]?)"
_NAME = re.compile(
    rf"(?P<fore>(?:[^\W\d_a-zß-öø-ÿ][^\W\d_]*(?:[-'’][^\W\d_]+)*\s+|[^\W\d_a-z]\.[\s-]?){{1,4}})"
    rf"(?P<family>(?:{_PARTICLE}\s+){{0,2}}[^\W\d_a-z][^\W\d_]+(?:[-'’][^\W\d_]+)*)"
)
"""A name as bylines print it: "N. A. Okafor". A full stop stands behind an initial only."""
_CITED_NAME = re.compile(
    rf"(?P<family>(?:{_PARTICLE}\s+){{0,2}}[^\W\d_a-z][^\W\d_]+(?:[-'’][^\W\d_]+)*) (?P<fore>[A-Z]{{1,3}})"
)
"""A name as references print it: "Okafor N"."""
_NO_NAMES = re.compile(
    r"\b(?:universit\w*|hospitals?|departments?|school|institut\w*|cent(?:er|re)|college|division|faculty|group|trial|study|"
    r"review|article|research|original|journal|medicine|medical|health|care|sciences?|editor\w*|street|road|open|access|the|a|"
    r"an|of|for|with|in|on|patients?|treatment|therapy|diseases?|effects?|clinical|oncology|infectious|key|points|findings|"
    r"main|new|york|los|angeles|city|united|states|kingdom)\b",
    re.IGNORECASE,
)
_MOST_LINES = 6


def _below(head: Sequence[str], title: str) -> Sequence[str]:
    """Return the lines below the title; none if the title is not found."""
    letters = _letters(title)
    below = next((place + 1 for place in range(len(head)) if letters and letters.endswith(_letters(head[place]))), None)
    while below is not None and below < len(head) and _letters(head[below]) and _letters(head[below]) in letters:
        below += 1
    return head[below:] if below is not None else ()


def _authors(below: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the first lines below the title, if these hold at least two names and nothing else."""
    found: tuple[str, ...] = ()
    for end in range(1, min(len(below), _MOST_LINES) + 1):
        names = _names(" ".join(below[:end]))
        if not names:
            break
        found = names
    return found if len(found) > 1 else ()


def _byline(below: Sequence[str]) -> tuple[tuple[str, ...], str, int] | None:
    """Return authors, journal and year if the first lines below the title are "Names. Journal year" and nothing else.

    A single author counts if an initial shows that it is a name: "Brief Report. Example Medicine 2021" has none.
    """
    for end in range(1, min(len(below), _MOST_LINES) + 1):
        text = " ".join(" ".join(below[:end]).split())
        for stop in re.finditer(r"\. (?=[^\W\d_a-z])", text):
            names, place = _names(text[: stop.start() + 1]), _behind_names(text[stop.end() :])
            if place and names and (len(names) > 1 or _ONE_AUTHOR.match(text[: stop.start() + 1])):
                return names, *place
    return None


_ONE_AUTHOR = re.compile(
    r"(?!(?i:phase|part|series|type|class|grade|stage|section|appendix|volume|table|figure|vitamin|hepatitis|protein|factor|"
    r"influenza|antigen|complement)\b).*(?:\b[A-Z]\.|\s[A-Z]{2,3}\.$)"
)


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _names(text: str) -> tuple[str, ...]:
    """Return the names of a text as in PubMed; none if it holds anything else, such as a year."""
    if re.search(r"(?<!\d)\d{4}(?!\d)", text):
        return ()
    plain = _MARKS.sub("", _TITLES.sub("", text))
    parts = [" ".join(part.split()).strip(" .·•") for part in re.split(r"[,;·•]|\s(?:and|&)\s", f"{plain} ")]
    names: list[str] = []
    orders = set[bool]()
    for part in parts:
        if not part or all(_DEGREE.fullmatch(word) for word in part.replace(".", "").split()):
            continue
        words = part.split()
        while len(words) > 2 and _DEGREE.fullmatch(words[-1].replace(".", "")) and words[-1].isupper():
            words.pop()
        plain_name = " ".join(words)
        found = _CITED_NAME.fullmatch(plain_name.replace(".", ""))
        # "A" is a word of no name, but an initial.
        no_name = _NO_NAMES.search(found["family"] if found else re.sub(r"\bA\.", "", part))
        found = found or _NAME.fullmatch(plain_name)
        if found is None or no_name:
            return ()
        orders.add(found.re is _CITED_NAME)
        names.append(cited_name(f"{found['family']}, {found['fore']}"))
    # "Okafor N, Lind A. Example": all names of a line have the initials on one side.
    return () if len(orders) > 1 else tuple(dict.fromkeys(names))
