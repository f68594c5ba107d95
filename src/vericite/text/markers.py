"""Citation markers in any text, ``[1]``, ``[2][3]``, ``[2, 3]``, ``[1-3]``: read and written.

What is a marker is decided by form alone: one to three digit numbers, lists and ranges of them, in square
brackets; a stray comma or semicolon behind the last is let be. So an interval that looks like a citation is read
as one: "a score of [0-10]", "[1, 5] mm".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vericite.records import Span

_GAP = r"\s{0,3}"
# Three digits at most: [2019] is a year and [12345678] a PubMed id, and nobody cites a thousand sources.
_NUMBER = r"\d{1,3}"
_DASH = "[-‐‑–—−]"
_ITEM = rf"{_NUMBER}(?:{_GAP}{_DASH}{_GAP}{_NUMBER})?"
_AND = rf"(?:{_GAP}[,;]{_GAP}(?:(?:and\s|&){_GAP})?|{_GAP}&{_GAP}|\s{_GAP}and\s{_GAP})"
# [1†source] and 【1†L5-L9】 are how some providers write it.
_ORIGIN = r"(?:†[^\[\]【】［］†\n]{0,60})?"
# Language models leave a comma behind the last number at times: [1,2,].
_STRAY = rf"(?:{_GAP}[,;])?"
_LIST = rf"{_GAP}{_ITEM}(?:{_AND}{_ITEM})*{_STRAY}{_GAP}{_ORIGIN}"
# [1,2,4]triazolo[4,3-a]pyridine: glued to the small letters of a ring system, the numbers are positions.
_RING = r"(?![a-z]{0,20}(?:azol|azin|benz|diaz|furo|furan|naphth|pyr[iraoe]|quinol|thien|thia|indol|oxa))"
# [[1]] is how many language models write it, [^1] is a footnote in Markdown; 【1】 and ［1］ are how some write
# it after much Chinese.
_ONE = rf"(?:\[\[{_LIST}\]\]|\[{_LIST}\]|\[\^{_NUMBER}\]|【{_LIST}】|［{_LIST}］)"
_SINGLE = rf"(?:\[\[{_NUMBER}\]\]|\[\^?{_NUMBER}\]|【{_NUMBER}】|［{_NUMBER}］)"
MARKER = re.compile(rf"{_ONE}{_RING}")
"""A marker by its form alone; whether its numbers are in order is for ``parse_markers`` to say."""

_SPREAD = re.compile(rf"(?P<first>{_SINGLE}){_DASH}{_SINGLE}{_RING}")  # [1]-[3]
# [3]H-thymidine, [14]C-urea: the mass numbers of the isotopes that label molecules. Behind a stop, as in
# "disease.[1]H-scores", it is a citation all the same.
_ISOTOPE = re.compile(
    r"""(?<![.,;:!?])\[(?:[1-3]\]H|1[1-4]\]C|1[35]\]N|1[5-8]\]O|18\]F|3[1-3]\]P|35\]S|12[3-9]\]I|13[01]\]I|6[678]\]Ga
    |11[1-3]\]In|177\]Lu|9[0-9]\]Y|6[0-9]\]Cu|89\]Zr|99\]Tc|51\]Cr|4[0-9]\]Ca|5[2-9]\]Fe|2[2-4]\]Na|4[0-3]\]K|8[2-7]\]Rb
    |7[5-7]\]Br|8[0-2]\]Br|201\]Tl|13[0-9]\]Xe|7[2-9]\]Se|5[7-9]\]Co|60\]Co|6[2-9]\]Zn|22[3-8]\](?:Ra|Ac)|18[68]\]Re
    |153\]Sm|166\]Ho|21[123]\](?:At|Bi|Pb)|8[5-9]\]Sr|13[1-7]\]Cs|6[0-9]\]Ni|10\]B|11\]B|2[89]\]Si|19\]F)-""",
    re.VERBOSE,
)
_WIDEST_RANGE = 50
_HIGHEST = 999


@dataclass(frozen=True, slots=True)
class MarkerGroup:
    """One bracketed marker: where it stands, its numbers (ranges written out), and how it is written."""

    span: Span
    numbers: tuple[int, ...]
    text: str


def parse_markers(text: str) -> tuple[MarkerGroup, ...]:
    """The citation markers of a text, in order, one group for each pair of brackets, or two: ``[1]-[3]``.

    ``[0]`` is a marker, though no source has that number. Numbers of more than three digits, ranges that run
    backwards or over more than 50 numbers, and brackets with anything else in them are no markers; nor is the mass
    number of an isotope, ``[3]H-thymidine``.
    """
    return tuple(
        MarkerGroup(span=Span(start=start, end=end), numbers=numbers, text=text[start:end])
        for start, end in _brackets(text)
        if (numbers := _numbers(text[start:end]))
    )


def segments(text: str) -> tuple[str | MarkerGroup, ...]:
    """A text as plain strings (first, last and in between; perhaps empty) and marker groups, in turn."""
    parts: list[str | MarkerGroup] = []
    position = 0
    for group in parse_markers(text):
        parts += [text[position : group.span.start], group]
        position = group.span.end
    return (*parts, text[position:])


def render(segments: Iterable[str | MarkerGroup]) -> str:
    """The text that ``segments`` was made from, character for character."""
    return "".join(part if isinstance(part, str) else part.text for part in segments)


def render_markers(numbers: Sequence[int]) -> str:
    """Numbers as markers in the one form that everyone reads: ``[1][3]``.

    Raises:
        ValueError: A number is below 0 or above 999, and would not be read back as a marker.
    """
    for number in numbers:
        if not 0 <= number <= _HIGHEST:
            raise ValueError(f"expected marker numbers from 0 to {_HIGHEST}; found {number}")
    return "".join(f"[{number}]" for number in numbers)


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Where markers stand by their form, two in a row that are the ends of a range as one."""
    position = 0
    while match := MARKER.search(text, position):
        spread = _SPREAD.match(text, match.start())
        if spread and _numbers(spread[0]):
            match = spread
        position = match.end()
        if not _ISOTOPE.match(text, match.start()):
            yield match.span()


def _numbers(marker: str) -> tuple[int, ...]:
    """The numbers of a marker, ranges written out; empty if one of its ranges is none."""
    numbers: list[int] = []
    for item in re.split("[,;&]|and", marker.split("†", 1)[0]):
        bounds = [int(number) for number in re.findall(r"\d+", item)]
        if not bounds:  # between "," and "and", or behind a stray comma
            continue
        if not 0 <= bounds[-1] - bounds[0] <= _WIDEST_RANGE:
            return ()
        numbers.extend(range(bounds[0], bounds[-1] + 1))
    return tuple(numbers)
