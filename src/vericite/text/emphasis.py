"""Markdown emphasis and code marks in a text, so that editing one sentence leaves none of them open.

The rules are CommonMark's for ``*``, ``_`` and backticks, within a paragraph, a heading or a list item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from vericite.records import Span

_RUN = re.compile(r"\\.|`+|\*+|_+", re.DOTALL)
_TICKS = re.compile(r"`+")
_SIGNS = re.compile(r"[`*_]")
_BLOCK = re.compile(r"\n(?=[ \t]*(?:\n|[-*+•] |\d{1,3}[.)] |#{1,6} |>))")
_REACH = 20_000
"""Characters to search on each side of an edit; paragraphs are rarely longer."""


class Emphasis(NamedTuple):
    """Text between two marks: the mark, and where it opens and closes."""

    mark: str
    opens: int
    closes: int


class Insertion(NamedTuple):
    """Marks to insert, and their place."""

    at: int
    marks: str


class Replacement(NamedTuple):
    """New words for a part of a text, and marks to insert before and after them."""

    start: int
    end: int
    before: Insertion
    words: str
    behind: Insertion

    def applied(self, text: str) -> str:
        """Apply the replacement to the text."""
        head = text[: self.before.at] + self.before.marks + text[self.before.at : self.start]
        return head + self.words + text[self.end : self.behind.at] + self.behind.marks + text[self.behind.at :]

    @property
    def span(self) -> Span:
        """Place of the new words."""
        start = self.start + len(self.before.marks)
        return Span(start=start, end=start + len(self.words))

    @property
    def moved(self) -> int:
        """Distance by which the following text moves."""
        return len(self.before.marks) + len(self.words) - (self.end - self.start) + len(self.behind.marks)


@dataclass
class OpenRun:
    """The unused rest of a run of one sign that may open or close emphasis."""

    sign: str
    start: int
    length: int
    opening: bool
    closing: bool
    whole: int

    @property
    def end(self) -> int:
        """End of the run."""
        return self.start + self.length


def emphases(text: str) -> tuple[list[Emphasis], list[OpenRun]]:
    """Match the marks in one block of text.

    Args:
        text: A paragraph, a heading or a list item.

    Returns:
        The emphases, in the order in which they close; and the runs that could be marks but neither close anything nor
        are closed.
    """
    found: list[Emphasis] = []
    open_runs: list[OpenRun] = []
    left: list[OpenRun] = []
    bottoms: dict[tuple[str, bool, int], int] = {}
    for item in _runs(text):
        if isinstance(item, Emphasis):
            found.append(item)
            continue
        if item.closing:
            found += _closed(item, open_runs, bottoms)
        if item.length and item.opening:
            open_runs.append(item)
        elif item.length and (item.closing or item.sign == "`"):
            left.append(item)
    return found, sorted([*left, *open_runs], key=lambda run: run.start)


def _runs(text: str) -> Iterator[OpenRun | Emphasis]:
    """Yield the runs of signs; for code both marks at once, because nothing inside is a mark."""
    last = {len(run[0]): run.start() for run in _TICKS.finditer(text)}
    position = 0
    while match := _RUN.search(text, position):
        position, run = match.end(), match[0]
        if run[0] == "\\":
            continue
        if run[0] != "`":
            yield _flanking(text, match.start(), match.end())
        elif last.get(len(run), 0) > match.start():
            closing = next(ticks for ticks in _TICKS.finditer(text, position) if len(ticks[0]) == len(run))
            yield Emphasis(run, match.start(), closing.start())
            position = closing.end()
        else:
            yield OpenRun("`", match.start(), len(run), False, False, len(run))


def _flanking(text: str, start: int, end: int) -> OpenRun:
    before, behind = text[start - 1 : start] or " ", text[end : end + 1] or " "
    left = not behind.isspace() and (behind.isalnum() or before.isspace() or not before.isalnum())
    right = not before.isspace() and (before.isalnum() or behind.isspace() or not behind.isalnum())
    if text[start] == "_":
        opening, closing = left and (not right or not before.isalnum()), right and (not left or not behind.isalnum())
    else:
        opening, closing = left, right
    return OpenRun(text[start], start, end - start, opening, closing, end - start)


def _closed(run: OpenRun, open_runs: list[OpenRun], bottoms: dict[tuple[str, bool, int], int]) -> Iterator[Emphasis]:
    """Yield what a run closes. If no opener fits, later runs of this kind need not search as far back again."""
    kind = run.sign, run.opening, run.whole % 3
    while run.length:
        bottom = bottoms.get(kind, 0)
        place = next((at for at in range(len(open_runs) - 1, bottom - 1, -1) if _fits(open_runs[at], run)), None)
        if place is None:
            bottoms[kind] = len(open_runs)
            return
        opener = open_runs[place]
        size = 2 if opener.length >= 2 and run.length >= 2 else 1
        del open_runs[place + 1 :]
        for other, bound in bottoms.items():
            bottoms[other] = min(bound, len(open_runs))
        opener.length -= size
        yield Emphasis(run.sign * size, opener.end, run.start)
        run.start += size
        run.length -= size
        if not opener.length:
            open_runs.pop()
            for other, bound in bottoms.items():
                bottoms[other] = min(bound, len(open_runs))


def _fits(opener: OpenRun, closer: OpenRun) -> bool:
    if opener.sign != closer.sign:
        return False
    either = opener.closing or closer.opening
    return not either or (opener.whole + closer.whole) % 3 != 0 or (opener.whole % 3 == 0 and closer.whole % 3 == 0)


def open_marks(text: str) -> str:
    """Return the signs of a text that would pair with those of another text in the same paragraph."""
    return "".join(text[run.start : run.end] for run in emphases(text)[1]) if _SIGNS.search(text) else ""


def has_emphasis(text: str) -> bool:
    """Whether anything in a text is between marks."""
    return bool(_SIGNS.search(text)) and any(emphases(block)[0] for block in _BLOCK.split(text))


def with_its_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a part by the marks right before it that open and right after it that close; marks are never split."""
    found = _around(text, start, end)
    while opener := next((each for each in found if each.opens < start <= each.opens + len(each.mark)), None):
        start = opener.opens
    while closer := next((each for each in found if each.closes <= end < each.closes + len(each.mark)), None):
        end = closer.closes + len(closer.mark)
    return start, end


def replacement(text: str, start: int, end: int, words: str = "") -> Replacement:
    """Replace a part of a text with other words, or delete it, so that no mark is left open.

    A mark that the part opened or closed for its neighbours stays. Most texts have none.
    """
    plain = Replacement(start, end, Insertion(start, ""), words, Insertion(end, ""))
    if not _SIGNS.search(text, start, end):
        return plain
    found = _around(text, start, end)
    opening = "".join(each.mark for each in found if start <= each.opens < end <= each.closes)
    closed = sorted((each.closes, each.mark) for each in found if each.opens < start <= each.closes < end)
    closing = "".join(mark for _, mark in closed)
    if not (opening or closing) or open_marks(words) == closing + opening:
        # Neighbours need no mark, or the new words have it.
        return plain
    for run in reversed(emphases(words)[1]):
        words = words[: run.start] + words[run.end :]
    if words and not closing:
        return plain._replace(before=Insertion(start, opening), words=words)
    if words and not opening:
        return plain._replace(words=words, behind=Insertion(end, closing))
    # Marks must touch the words that they belong to: next to a space they are not marks.
    behind = len(text) - len(text[end:].lstrip())
    return Replacement(start, end, Insertion(len(text[:start].rstrip()), closing), words, Insertion(behind, opening))


def _around(text: str, start: int, end: int) -> list[Emphasis]:
    """Return the emphases of the blocks around a part, in the order in which they open."""
    first = max(0, start - _REACH)
    first = max((match.end() for match in _BLOCK.finditer(text, first, start)), default=first)
    last = min(len(text), end + _REACH)
    behind = _BLOCK.search(text, end, last)
    found, _ = emphases(text[first : behind.start() if behind else last])
    return sorted(
        (Emphasis(each.mark, each.opens + first, each.closes + first) for each in found), key=lambda each: each.opens
    )
