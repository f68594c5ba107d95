"""Rows of tables in plain text, cells apart by a delimiter; a quote that is not closed costs one row."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_MOST_LINES = 2_000  # of one row; a quote that is never closed would take in all that follows
_LONGEST_FIELD = 1 << 26


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row and the line on which it begins; ``problem`` says why it cannot be read."""

    line: int
    cells: tuple[str, ...]
    problem: str | None = None


@dataclass(slots=True)
class _Feed:
    """Lines for the reader of one row, and which of them it took."""

    lines: Iterator[tuple[int, str]]
    waiting: deque[tuple[int, str]] = field(default_factory=lambda: deque[tuple[int, str]]())
    taken: list[tuple[int, str]] = field(default_factory=lambda: list[tuple[int, str]]())

    def __iter__(self) -> Iterator[str]:
        while len(self.taken) < _MOST_LINES:
            line = self.waiting.popleft() if self.waiting else next(self.lines, None)
            if line is None:
                break
            self.taken.append(line)
            yield line[1] + "\n"

    def put_back(self) -> None:
        """All but the first line taken are read again."""
        self.waiting.extendleft(reversed(self.taken[1:]))


def rows(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[TableRow]:
    """Stream the rows of a table, empty ones left out.

    Args:
        lines: The lines without their ends, each with its number.
        delimiter: The character between two cells.
    """
    # The limit is the process's own and small for full texts; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    feed = _Feed(lines)
    while True:
        feed.taken = []
        try:
            cells = next(csv.reader(iter(feed), delimiter=delimiter, strict=True), None)
        except csv.Error as error:
            at_end = "unexpected end" in str(error)
            if len(feed.taken) > 1 or at_end:
                # It went on until another row's quote, or to the end.
                yield TableRow(feed.taken[0][0], (), _unclosed(feed.taken if at_end else feed.taken[:-1]))
                feed.put_back()
                continue
            try:
                cells = next(csv.reader([feed.taken[0][1]], delimiter=delimiter), None)
            except csv.Error as fault:
                yield TableRow(feed.taken[0][0], (), f"expected a row of a table; found none: {fault}")
                continue
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield TableRow(feed.taken[0][0], tuple(cells))


def _unclosed(taken: Sequence[tuple[int, str]]) -> str:
    """That a quote is not closed, and on which line it opened."""
    opened, is_open = taken[0][0], False
    for number, line in taken:
        for _ in range(line.replace('""', "").count('"')):
            is_open = not is_open
            opened = number if is_open else opened
    return (
        f"expected each quotation mark to be closed; found one that opens on line {opened} and is not. "
        'Close it, or write "" for a quotation mark within a text'
    )


def repeated(names: Sequence[str]) -> list[str]:
    """The names that come more than once, each once; empty names left out."""
    return [name for name in dict.fromkeys(names) if name and names.count(name) > 1]


def several_columns(names: Sequence[str]) -> str:
    """What is wrong with a table that has these names several times."""
    shown = ", ".join(repr(name[:40]) for name in names[:8])
    return f"expected each column to have a name of its own; found several named {shown}. Rename or remove all but one"
