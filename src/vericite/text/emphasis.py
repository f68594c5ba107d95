"""Markdown's emphasis and code marks in a text, so that an edit of one sentence leaves none of them open.

The rules are CommonMark's for ``*``, ``_`` and backticks, within a paragraph, a heading or an item of a list.
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
"""Characters on each side of an edit that are looked at; a paragraph is rarely longer."""


class Emphasis(NamedTuple):
    """A stretch between two marks: the mark, and where it opens and where it closes."""

    mark: str
    opens: int
    closes: int


class Insertion(NamedTuple):
    """Marks, and where they go."""

    at: int
    marks: str


class Replacement(NamedTuple):
    """A stretch of a text with other words in its place, and marks before and behind them."""

    start: int
    end: int
    before: Insertion
    words: str
    behind: Insertion

    def applied(self, text: str) -> str:
        """The text with it."""
        head = text[: self.before.at] + self.before.marks + text[self.before.at : self.start]
        return head + self.words + text[self.end : self.behind.at] + self.behind.marks + text[self.behind.at :]

    @property
    def span(self) -> Span:
        """Where the words stand then."""
        start = self.start + len(self.before.marks)
        return Span(start=start, end=start + len(self.words))

    @property
    def moved(self) -> int:
        """How far it moves what follows."""
        return len(self.before.marks) + len(self.words) - (self.end - self.start) + len(self.behind.marks)


@dataclass
class OpenRun:
    """A run of one sign that may open or close emphasis, as far as it has not been used."""

    sign: str
    start: int
    length: int
    opening: bool
    closing: bool
    whole: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.length


def emphases(text: str) -> tuple[list[Emphasis], list[OpenRun]]:
    """The stretches of one block of text between marks that belong together, and the signs without a partner.

    Args:
        text: A paragraph, a heading or an item of a list.

    Returns:
        The stretches, in the order in which they close; and the runs of signs that could be marks but close nothing
        and are not closed.
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
    """The runs of signs; of code the two marks at once, as nothing inside is a mark."""
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
    """What a run closes. Where no opener fits, later runs like it need not look as far back again."""
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
    """The signs of a text that would pair with those of another, if both stood in one paragraph."""
    return "".join(text[run.start : run.end] for run in emphases(text)[1]) if _SIGNS.search(text) else ""


def has_emphasis(text: str) -> bool:
    """Whether anything in a text stands between marks."""
    return bool(_SIGNS.search(text)) and any(emphases(block)[0] for block in _BLOCK.split(text))


def with_its_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch with the marks right before it that open and right behind it that close; none is cut in two."""
    found = _around(text, start, end)
    while opener := next((it for it in found if it.opens < start <= it.opens + len(it.mark)), None):
        start = opener.opens
    while closer := next((it for it in found if it.closes <= end < it.closes + len(it.mark)), None):
        end = closer.closes + len(closer.mark)
    return start, end


def replacement(text: str, start: int, end: int, words: str = "") -> Replacement:
    """Put other words in the place of a stretch, or nothing, so that no mark is left open.

    A mark that the stretch opened or closed for its neighbours stays. In most texts there is none.
    """
    plain = Replacement(start, end, Insertion(start, ""), words, Insertion(end, ""))
    if not _SIGNS.search(text, start, end):
        return plain
    found = _around(text, start, end)
    opening = "".join(each.mark for each in found if start <= each.opens < end <= each.closes)
    closed = sorted((each.closes, each.mark) for each in found if each.opens < start <= each.closes < end)
    closing = "".join(mark for _, mark in closed)
    if not (opening or closing) or open_marks(words) == closing + opening:
        # No neighbour needs any, or the words bring them.
        return plain
    for run in reversed(emphases(words)[1]):
        words = words[: run.start] + words[run.end :]
    if words and not closing:
        return plain._replace(before=Insertion(start, opening), words=words)
    if words and not opening:
        return plain._replace(words=words, behind=Insertion(end, closing))
    # Marks touch the words that they belong to: next to a space they would be no marks.
    behind = len(text) - len(text[end:].lstrip())
    return Replacement(start, end, Insertion(len(text[:start].rstrip()), closing), words, Insertion(behind, opening))


def _around(text: str, start: int, end: int) -> list[Emphasis]:
    """The emphasis of the block, or blocks, that a stretch is in, in the order in which it opens."""
    first = max(0, start - _REACH)
    first = max((match.end() for match in _BLOCK.finditer(text, first, start)), default=first)
    last = min(len(text), end + _REACH)
    behind = _BLOCK.search(text, end, last)
    found, _ = emphases(text[first : behind.start() if behind else last])
    return sorted((Emphasis(it.mark, it.opens + first, it.closes + first) for it in found), key=lambda it: it.opens)
