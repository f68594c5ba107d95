"""The rows of a table, quoted or not, one bad row costing no other."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

_MOST_LINES = 2_000  # of one row; a quote that is never closed would take in all that follows
_LONGEST_FIELD = 1 << 26


@dataclass(frozen=True, slots=True)
class Row:
    """A row and the line on which it begins; ``problem`` says why it is none."""

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


def rows(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    """Stream the rows of a table, empty ones left out."""
    # The limit is the process's own and small for full texts; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    feed = _Feed(lines)
    while True:
        feed.taken = []
        try:
            cells = next(csv.reader(iter(feed), delimiter=delimiter, strict=True), None)
        except csv.Error:
            if len(feed.taken) > 1:
                # It went on until another row's quote, or to the end.
                yield Row(feed.taken[0][0], (), "expected a quote to be closed; found it open at the end of the line")
                feed.put_back()
                continue
            cells = next(csv.reader([feed.taken[0][1]], delimiter=delimiter), None)
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield Row(feed.taken[0][0], tuple(cells))


def first_row(text: str, delimiter: str) -> tuple[str, ...]:
    """The cells of a table's first row that is not empty."""
    lines = enumerate(chain(text.split("\n")), start=1)
    return next((row.cells for row in rows(lines, delimiter) if not row.problem), ())
