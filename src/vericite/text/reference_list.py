"""The reference list at the end of an answer, which is no claim."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.text.markers import MARKER, parse_markers

_SPACE = r"[^\S\n]"
REFERENCES = re.compile(r"(?:references?|sources?|bibliography|citations?)", re.IGNORECASE)
_ENTRY = re.compile(
    rf"\s*(?:[-*•]{_SPACE}+)?(?:(?P<cited>\[+\^?\d)|[(\[]?[\d¹²³⁴-⁹]{{1,3}}[.):\]]|\d{{1,3}}\s|https?://|pmid\b|doi\b)",
    re.IGNORECASE,
)
_WRAPPED = re.compile(rf"(?:{_SPACE}{{2,}}|\t)[^\W\d]")
_NUMBERED = re.compile(rf"\s*(?:\[+\^?(?P<cited>\d{{1,3}})\]|(?P<plain>\d{{1,3}})\.(?={_SPACE}))")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, each with its place."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def body_end(text: str) -> int:
    """Where the reference list at the end begins; the length of the text if there is none."""
    wrapped = False
    for start, line in reversed(list(lines(text))):
        bare = line.strip().strip("#*_: ")
        if REFERENCES.fullmatch(bare) and not wrapped:
            return start
        entry = _ENTRY.match(line)
        # "Sources:\n1. Oily fish [1]" lists sources of vitamin D: a numbered line that cites is a claim.
        listed = entry and (entry["cited"] or not MARKER.search(line))
        if listed:
            wrapped = False
        elif _WRAPPED.match(line) and not MARKER.search(line):
            wrapped = True  # the end of an entry, if there is one above it
        elif bare or wrapped:
            break
    return _listing(text)


def _listing(text: str) -> int:
    """Where a reference list without heading begins; the length of the text if there is none.

    It is set off by a blank line, each line opens with a number, these rise, and the text before, which is more
    than such lines, cites one of them.
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
    """The number that a line of a reference list opens with; None for any other line."""
    entry = _NUMBERED.match(line)
    if not entry or (entry["plain"] and MARKER.search(line)):
        return None
    return int(entry["cited"] or entry["plain"])
