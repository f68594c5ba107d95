"""Reference marks of a source, and their removal before its text enters an answer or a prompt.

A guideline writes ``[12]``, ``(refs. 2,3)`` or ``(Smith et al., 2020)`` and means its own list of references. In an
answer the same signs would cite our documents. So the text of a source goes through ``without_marks`` before an answer
quotes it, a model reads it, a repair proposes it or a demonstration shows it. Only marks are removed. A number in
brackets that is a result stays, in parentheses, so that a quotation can still be compared word for word with its
source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vericite.records import Span
from vericite.text.references import (
    MARKER,
    NO_AUTHOR,
    MarkerGroup,
    other_markers,
    parse_markers,
    parse_pmids,
    unread_markers,
)

MARKS = "marks.v1"
"""Signature of the rules; changes whenever they would find other marks in some text."""

_NUMBER = r"\d{1,3}"
_LIST = rf"{_NUMBER}(?:\s?[-‐‑–—,;]\s?{_NUMBER})*"
_PLAIN = re.compile(rf"\(\s?(?P<list>{_LIST})\s?\)")
_CLAUSE_END = re.compile(r"\s{0,2}(?:[.,;:!?]|\Z)")
# Text before numbers that are not marks: "grade (3, 4)", "p = (1)"; and before counts: "patients (12)".
_COUNTED = re.compile(
    r"(?:[=<>±%\d]|\b(?:n|p|tables?|figs?|figures?|equations?|types?|phases?|groups?|grades?|stages?|days?|weeks?|months?"
    r"|years?|steps?|parts?|items?|factors?|levels?|scores?|ages?|aged|versions?|categor(?:y|ies)|class(?:es)?|arms?"
    r"|cohorts?|visits?|models?|sections?|chapters?)\.?)\s{0,2}\Z",
    re.IGNORECASE,
)
_NOUN = re.compile(
    r"\b(?:patients|men|women|participants|subjects|controls|placebo|cases"
    r"|deaths|events|children|adults|persons|people|eyes|samples|trials|studies)\s{0,2}\Z",
    re.IGNORECASE,
)
_GOVERNS = re.compile(
    r"\b(?:according to|as in|as by|see|of|in|by|from|to|with|than|and|or|both|refs?\.?|references?)\s{0,2}\Z",
    re.IGNORECASE,
)
_AVERAGE = re.compile(
    r"\b(?:means?|medians?|average|sd|iqr|range|interquartile)\b[^.;]{0,40}\d\s?%?\s?\Z", re.IGNORECASE
)
_BEFORE = re.compile(r"(\d+(?:\.\d+)?)[^\d.;()\[\]]{0,25}\Z")
_DIGITS = re.compile(r"\d+")

# "(refs. 2,3)", "[see ref 12 for a review]", "(reviewed in refs. 4-6)"
_WORDED = re.compile(
    r"(?:\((?:[A-Za-z.]{1,12},?\s){0,3}|\[(?:[A-Za-z.]{1,12},?\s){0,3})"
    rf"(?:refs?|references?|citations?)\.?\s?{_LIST}(?:\s(?:and|&)\s{_NUMBER})?(?:\s[a-z ,]{{1,30}})?[)\]]",
    re.IGNORECASE,
)

_YEAR = r"(?:19|20)\d\d[a-z]?"
_AUTHOR = (
    r"(?:(?:de|del|van|von|der|den|la|le|du|di|da|dos|el|al|ter)\s){0,2}[A-Z][\w'’‐-]{1,40}"
    r"(?:\s[A-Z]\.?(?:[A-Z]\.?)?(?=[\s,]))?"
)
_WORK = (
    rf"{_AUTHOR}(?:,\s{_AUTHOR}){{0,4}}(?:,?\s(?:and|&)\s{_AUTHOR}|,?\s(?:et\sal|and colleagues)\.?)?"
    rf"[,.]?\s\(?{_YEAR}\)?(?:,\s?(?:{_YEAR}|[a-z]\b))*(?:,\s?pp?\.\s?\d+(?:[-–]\d+)?)?"
)
_AUTHOR_YEAR = re.compile(
    rf"(?:\(|\[)(?:(?:see|see also|reviewed (?:in|by)|e\.g\.,?|cf\.|for review,? see|also)\s){{0,2}}{_WORK}"
    rf"(?:[;,]\s?(?:(?:see also|and)\s)?(?:{_WORK}|{_YEAR})){{0,20}}(?:[,;]?\sfor (?:a )?reviews?)?(?:\)|\])"
)
_NOT_NAMED = re.compile(rf"[(\[](?:see\s)?{NO_AUTHOR}")
# Printed as a superscript and extracted as plain digits: "outcomes.12 However", "rate,3 and".
_GLUED = re.compile(rf"(?<=[a-z]{{4}}[.,]){_NUMBER}(?:[-–,]{_NUMBER})*(?=\s|\Z)|\^{_NUMBER}(?:[-–,]{_NUMBER})*\^")
_ACCESSION = re.compile(r"\[\s?(?:PMC\d{3,9}|PMID:?\s?\d{1,8}|\d{5,8})(?:[,;]\s?(?:PMC)?\d{3,9})*\s?\]", re.IGNORECASE)

_BETWEEN = re.compile(r"\s{0,2}(?:[,;&/–-]|,?\s?and)?\s{0,2}")
_DRESSING = re.compile(
    r"(?:\(|\[|<sup>|\^)\s?(?:(?:see|see also|cf\.?|e\.g\.,?|reviewed in|refs?\.?|references?|sources?:?)\s){0,2}\Z",
    re.IGNORECASE,
)
_LONGEST_DRESSING = 30
_CLOSES = {"(": ")", "[": "]", "<sup>": "</sup>", "^": "^"}
_SIGNS = re.compile(r"[\[【［({<^⁰¹²³⁴-⁹\\]|[.,]\d|pmid|pubmed", re.IGNORECASE)
"""Every mark contains at least one of these."""
_PASSES = 3
"""Maximum number of passes over a text. Marks that remain then are not ordinary writing."""
_ROUND = str.maketrans("[]【】［］{}", "()()()()")
_ENCLOSING = re.compile(r"[\[\]【】［］(){}<>⁰¹²³⁴-⁹]")
_IDS = re.compile(r"\b(?:PMID|PubMed\s?ID)(?=s?\s{0,2}[:#=]?\s{0,2}\d)", re.IGNORECASE)


def without_marks(text: str) -> str:
    """Remove a text's own reference marks, so that no sign in it is read as a citation.

    The space that a mark would leave is removed too. A number in brackets that is a result, or the object of a
    preposition ("according to [12]"), stays, in parentheses.
    """
    if not _SIGNS.search(text):
        return text
    for _ in range(_PASSES):
        text, _ = over_marks(text)
        if not reads_as_citation(text):
            return text
    return plain_words(text)


def over_marks(text: str) -> tuple[str, tuple[int, ...]]:
    """Remove the marks of a text; also return the original position of each remaining character."""
    origins: list[int] = []
    position = 0
    for span in source_marks(text):
        origins += range(position, span.start)
        position = span.end
    origins += range(position, len(text))
    return _rounded("".join(text[place] for place in origins)), tuple(origins)


def plain_words(text: str) -> str:
    """Remove any sign that could enclose a citation, from text that imitates one."""
    # Spaces first: "PMID: [ 2" becomes "PMID: 2".
    return _IDS.sub("number", " ".join(_ENCLOSING.sub(" ", text).split()))


def reads_as_citation(text: str) -> bool:
    """Whether a parser of answers would read any sign in the text as a citation."""
    return bool(parse_markers(text) or parse_pmids(text)) or next(other_markers(text, 1), None) is not None


def source_marks(text: str) -> tuple[Span, ...]:
    """Return the reference marks in the text of a source, in order, with the spaces and signs that belong to them."""
    found = sorted(_marks(text), key=lambda span: (span.start, span.end))
    spans: list[Span] = []
    floor = 0
    for span in _runs(text, found):
        whole = _spaced(text, _dressed(text, span, floor), floor)
        spans.append(whole)
        floor = whole.end
    return tuple(spans)


def _marks(text: str) -> Iterator[Span]:
    groups = parse_markers(text)
    yield from (group.span for group in groups if not _is_kept(text, group))
    yield from (group.span for group in other_markers(text, 1))
    yield from (group.span for group in parse_pmids(text))
    for pattern in (_WORDED, _GLUED, _ACCESSION):
        yield from (Span(start=match.start(), end=match.end()) for match in pattern.finditer(text))
    for match in _AUTHOR_YEAR.finditer(text):
        if not _NOT_NAMED.match(match[0]):
            yield Span(start=match.start(), end=match.end())
    yield from _unknown(text, groups)
    yield from _plain(text)


def _unknown(text: str, read: Iterable[MarkerGroup]) -> Iterator[Span]:
    """Yield what looks like a citation in a form that we do not parse: ``[S1]``, ``[@smith]``, ``{1}``."""
    for span in unread_markers(text, (group.span for group in read)):
        written = text[span.slice]
        # Numbers that are not a list of references are results: [-3, 5], [1200-1500]. Parentheses: see _plain.
        if written[0] != "(" and (MARKER.match(written) or not re.fullmatch(r"\[[\s\d,;–−-]*\]", written)):
            yield span


def _plain(text: str) -> Iterator[Span]:
    """Yield numbers in parentheses: lists anywhere, single numbers at the end of a clause."""
    matches = list(_PLAIN.finditer(text))
    single = [match for match in matches if match["list"].isdigit()]
    # "in men (12) and women (14)", "(1) pain and (2) fever" are counts.
    counted = any(not _CLAUSE_END.match(text, match.end()) and text[: match.start()].strip() for match in single)
    for match in matches:
        before = text[max(0, match.start() - 60) : match.start()]
        numbers = [int(number) for number in _DIGITS.findall(match["list"])]
        if not before.strip():
            if match["list"].isdigit() and match.end() < len(text):
                yield Span(start=match.start(), end=match.end())
            continue
        if 0 in numbers or numbers != sorted(set(numbers)) or _COUNTED.search(before) or _GOVERNS.search(before):
            continue
        if _is_interval(before, numbers) or _AVERAGE.search(before) or _is_scale(before):
            continue
        ends = not counted and _CLAUSE_END.match(text, match.end()) and not _NOUN.search(before)
        if len(numbers) > 1 or ends:
            yield Span(start=match.start(), end=match.end())


_SCALE = re.compile(
    r"\b(?:scores?|scales?|rang(?:es?|ing|ed)|rated|ratings?|intervals?|iqr|ci|vas|nrs)\b[^.;]{0,15}\Z", re.I
)


def _is_scale(before: str) -> bool:
    return _SCALE.search(before) is not None


def _is_kept(text: str, group: MarkerGroup) -> bool:
    """Whether a number in square brackets is a result, or the object of a preposition."""
    before = text[max(0, group.span.start - 60) : group.span.start]
    bounds = [int(number) for number in _DIGITS.findall(group.text)]
    if _is_interval(before, bounds) or (len(bounds) == 1 and _AVERAGE.search(before)):
        return True
    behind = text[group.span.end : group.span.end + 1]
    return _GOVERNS.search(before) is not None and not behind.isalnum()


def _is_interval(before: str, bounds: list[int]) -> bool:
    """Whether two numbers enclose the number before them: "5 days [3-8]"."""
    value = _BEFORE.search(before)
    return value is not None and len(bounds) == 2 and bounds[0] <= float(value[1]) <= bounds[1]


def _runs(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Merge marks that overlap or have only a comma between them."""
    run: Span | None = None
    for span in spans:
        if run is None:
            run = span
        elif span.start <= run.end or _BETWEEN.fullmatch(text, run.end, span.start):
            run = Span(start=run.start, end=max(run.end, span.end))
        else:
            yield run
            run = span
    if run is not None:
        yield run


def _dressed(text: str, span: Span, floor: int) -> Span:
    """Extend the mark by the parentheses that contain nothing else: ``(see [1])``."""
    start, end = span.start, span.end
    while opening := _DRESSING.search(text[max(floor, start - _LONGEST_DRESSING) : start]):
        sign = next(sign for sign in _CLOSES if opening[0].lower().startswith(sign))
        gap = 1 if text[end : end + 1] == " " else 0
        if not text.startswith(_CLOSES[sign], end + gap):
            break
        start -= len(opening[0])
        end += gap + len(_CLOSES[sign])
    return Span(start=start, end=end)


def _spaced(text: str, span: Span, floor: int) -> Span:
    """Extend the mark by the spaces that would be left over."""
    start, end = span.start, span.end
    behind = text[end : end + 1]
    while (
        start > floor
        and text[start - 1].isspace()
        and not (behind.isalnum() and not text[start - 2 : start - 1].isspace())
    ):
        start -= 1
    if not text[:start].strip():
        while end < len(text) and text[end].isspace():
            end += 1
    return Span(start=start, end=end)


def _rounded(text: str) -> str:
    """Put the remaining numbers in parentheses; no character changes its position."""
    parts, position = list[str](), 0
    for group in parse_markers(text):
        parts += [text[position : group.span.start], text[group.span.slice].translate(_ROUND)]
        position = group.span.end
    return "".join([*parts, text[position:]])
