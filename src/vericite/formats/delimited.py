"""Read rows of delimited tables; an unclosed quotation mark costs only one row."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_MOST_LINES = 2_000  # of a row; an unclosed quotation mark would otherwise take the rest of the file
_LONGEST_FIELD = 1 << 26


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row and its first line; ``problem`` says why it cannot be read."""

    line: int
    cells: tuple[str, ...]
    problem: str | None = None


@dataclass(slots=True)
class _Feed:
    """Feeds lines to the reader of a row, and records which lines it took."""

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
        """Put back all lines but the first, to be read again."""
        self.waiting.extendleft(reversed(self.taken[1:]))


def rows(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[TableRow]:
    """Yield the rows of a table, without empty rows.

    Args:
        lines: The lines without line ends, each with its number.
        delimiter: The character between two cells.
    """
    # The limit is global and too small for full texts; never lower it.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    feed = _Feed(lines)
    while True:
        feed.taken = []
        try:
            cells = next(csv.reader(iter(feed), delimiter=delimiter, strict=True), None)
        except csv.Error as error:
            at_end = "unexpected end" in str(error)
            if len(feed.taken) > 1 or at_end:
                # The cell continued to another row's quotation mark, or to the end.
                yield TableRow(feed.taken[0][0], (), _unclosed(feed.taken if at_end else feed.taken[:-1]))
                feed.put_back()
                continue
            try:
                cells = next(csv.reader([feed.taken[0][1]], delimiter=delimiter), None)
            except csv.Error as fault:
                yield TableRow(feed.taken[0][0], (), f"expected a row of a table; it cannot be read: {fault}")
                continue
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield TableRow(feed.taken[0][0], tuple(cells))


def _unclosed(taken: Sequence[tuple[int, str]]) -> str:
    """Return the error for an unclosed quotation mark, with the line on which it opened."""
    opened, is_open = taken[0][0], False
    for number, line in taken:
        for _ in range(line.replace('""', "").count('"')):
            is_open = not is_open
            opened = number if is_open else opened
    return (
        f"expected each quotation mark to be closed; the one that opens on line {opened} is not. "
        'Close it, or write "" for a quotation mark within a text'
    )


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, without empty names."""
    return [name for name in dict.fromkeys(names) if name and names.count(name) > 1]


def several_columns(names: Sequence[str]) -> str:
    """Return the error for a table with repeated column names."""
    shown = ", ".join(repr(name[:40]) for name in names[:8])
    return f"expected unique column names; found several columns named {shown}. Rename or remove all but one"
