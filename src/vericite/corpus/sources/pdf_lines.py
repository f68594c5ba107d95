"""Build the lines of a PDF page from its pieces in reading order, column after column."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from vericite.corpus.sources.entry import without_controls
from vericite.records import storable

PAGE_MARK = 0xF0000
"""Character ``PAGE_MARK + n`` marks the beginning of page n until its offset is known; it occurs in no text."""
MARKS = re.compile("[\U000f0000-\U000fffff]")


@dataclass(slots=True)
class PdfPiece:
    """Words close together on a line, with their position, letter height, and whether they are bold."""

    text: str
    left: float
    right: float
    baseline: float
    height: float
    bold: bool


@dataclass(slots=True)
class Line:
    """The pieces of a line of a column, from left to right; several pieces are table cells."""

    pieces: list[PdfPiece]
    page: int

    @property
    def left(self) -> float:
        """Left edge of the line."""
        return self.pieces[0].left

    @property
    def right(self) -> float:
        """Right edge of the line."""
        return max(piece.right for piece in self.pieces)

    @property
    def baseline(self) -> float:
        """Vertical position of the line."""
        return median(piece.baseline for piece in self.pieces)

    @property
    def height(self) -> float:
        """Height of the largest letters."""
        return max(piece.height for piece in self.pieces)

    @property
    def bold(self) -> bool:
        """Whether most letters are bold."""
        letters = sum(len(piece.text) for piece in self.pieces)
        return 2 * sum(len(piece.text) for piece in self.pieces if piece.bold) > letters

    @property
    def text(self) -> str:
        """The text of the line, with commas between table cells."""
        return ", ".join(piece.text.strip() for piece in self.pieces)


def lines_of(given: Sequence[Sequence[Any]], page: int) -> list[Line]:
    """Return the lines of a page in reading order."""
    pieces = [
        PdfPiece(storable(str(text)), float(left), float(right), float(baseline), float(height), bool(bold))
        for text, left, right, baseline, height, bold in given
    ]
    pieces = [piece for piece in pieces if MARKS.sub("", piece.text).strip()]
    for piece in pieces:
        piece.text = MARKS.sub("", without_controls(piece.text))
    pieces = _merged(pieces)
    return [line for column in _columns(pieces) for line in _in_rows(column, page)]


def _merged(pieces: list[PdfPiece]) -> list[PdfPiece]:
    """Merge adjacent pieces of a line, with superscript and subscript numbers written out."""
    merged: list[PdfPiece] = []
    # Pieces that a piece further right may still continue.
    near: list[PdfPiece] = []
    highest = max((piece.height for piece in pieces), default=0.0)
    for piece in sorted(pieces, key=lambda piece: (piece.left, -piece.baseline)):
        near = [other for other in near[-_NEAR:] if piece.left - other.right < _FAR * highest]
        before = _before(near, piece)
        if before is None:
            merged.append(piece)
            near.append(piece)
            continue
        gap = piece.left - before.right
        before.text += _attached(before, piece, gap)
        before.right = max(before.right, piece.right)
        if piece.height > before.height:
            before.height, before.baseline = piece.height, piece.baseline
        before.bold = before.bold and piece.bold
    return merged


_NEAR = 400
_FAR = 0.9
"""Gaps wider than this many letter heights separate two pieces."""
_LONGEST_LINE = 10_000


def _before(near: list[PdfPiece], piece: PdfPiece) -> PdfPiece | None:
    """Return the piece that ``piece`` continues, on the same line and close to it."""
    for other in reversed(near):
        height = max(other.height, piece.height)
        small = min(other.height, piece.height) < 0.85 * height
        off = abs(other.baseline - piece.baseline)
        if off > (0.55 if small else 0.15) * height:
            continue
        if -0.4 * height < piece.left - other.right < _FAR * height and len(other.text) < _LONGEST_LINE:
            return other
    return None


_NUMBERS = re.compile(r"\s*[\[(]?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*[\])]?[,\s]*")
_UNIT = re.compile(r"(?:\b|/)[kcm]?m\Z")


def _attached(before: PdfPiece, piece: PdfPiece, gap: float) -> str:
    """Return the text that a piece adds to the piece before it."""
    space = " " if gap > 0.15 * piece.height and not before.text.endswith(" ") else ""
    raised = piece.height < 0.85 * before.height and piece.baseline > before.baseline + 0.15 * before.height
    if not raised:
        lowered = piece.height < 0.85 * before.height and piece.baseline < before.baseline - 0.05 * before.height
        mark = "_" if lowered and before.text[-1:].isdigit() and piece.text[:1].isdigit() else ""
        return space + mark + piece.text
    stem = before.text.rstrip()
    if stem[-1:].isdigit():
        return f"^{piece.text.strip()} " if re.match(r"\s*[-+−–]?\d", piece.text) else piece.text
    if _NUMBERS.fullmatch(piece.text) and not (
        _UNIT.search(stem, max(0, len(stem) - 4)) and piece.text.strip() in ("2", "3")
    ):
        # A citation of another work is not part of the text.
        return " " if piece.text.endswith(" ") else ""
    return piece.text


def _columns(pieces: list[PdfPiece], depth: int = 0) -> Iterator[list[PdfPiece]]:
    """Yield the pieces in reading order: column after column, between pieces that span the columns."""
    gutter = _gutter(pieces) if depth < 3 else None
    if gutter is None:
        yield pieces
        return
    across: dict[float, list[PdfPiece]] = {}
    for piece in pieces:
        if piece.left < gutter < piece.right:
            across.setdefault(piece.baseline, []).append(piece)
    heights = sorted(across)
    # Key: the nearest height above at which a piece spans the columns.
    bands: dict[float, list[PdfPiece]] = {}
    for piece in pieces:
        if not piece.left < gutter < piece.right:
            at = bisect_left(heights, piece.baseline)
            bands.setdefault(heights[at] if at < len(heights) else float("inf"), []).append(piece)
    for above in (float("inf"), *reversed(heights)):
        if above in across:
            yield across[above]
        band = bands.get(above, ())
        for side in ([p for p in band if p.right <= gutter], [p for p in band if p.left >= gutter]):
            if side:
                yield from _columns(side, depth + 1)


_FEWEST = 3
"""Minimum lines on each side for two columns."""


def _gutter(pieces: list[PdfPiece]) -> float | None:
    """Return the position between two columns, if most lines end before it or begin after it."""
    if len(pieces) < 2 * _FEWEST:
        return None
    ends = sorted(piece.right for piece in pieces)
    begins = sorted(piece.left for piece in pieces)
    low, high = begins[0], max(ends)
    left_widths = _medians(piece.right - piece.left for piece in sorted(pieces, key=lambda piece: piece.right))
    right_widths = _medians(piece.right - piece.left for piece in sorted(pieces, key=lambda piece: -piece.left))
    best: tuple[float, float] | None = None
    for right in sorted({round(end, 0) for end in ends}):
        place = right + 2
        if not low + 0.2 * (high - low) < place < low + 0.8 * (high - low):
            continue
        lefts, first = bisect_right(ends, place), bisect_left(begins, place)
        rights = len(begins) - first
        crossing = len(pieces) - lefts - rights
        if min(lefts, rights) < _FEWEST or crossing > 0.5 * (lefts + rights):
            continue
        # Table cells are short; lines of a column are nearly as wide as the column.
        wide_left = left_widths[lefts - 1] / max(place - low, 1)
        wide_right = right_widths[rights - 1] / max(high - begins[first], 1)
        if min(wide_left, wide_right) > 0.3 and max(wide_left, wide_right) > 0.45:
            score = crossing - 0.01 * min(lefts, rights)
            best = min(best or (score, place), (score, place))
    return best[1] if best else None


def _medians(values: Iterable[float]) -> list[float]:
    """Return the running medians: of the first value, of the first two, and so on."""
    ordered: list[float] = []
    found: list[float] = []
    for value in values:
        insort(ordered, value)
        half = len(ordered) // 2
        found.append(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)
    return found


def _in_rows(pieces: list[PdfPiece], page: int) -> Iterator[Line]:
    row: list[PdfPiece] = []
    for piece in sorted(pieces, key=lambda piece: -piece.baseline):
        if row and row[0].baseline - piece.baseline > 0.5 * max(row[0].height, piece.height) * 0.7:
            yield Line(sorted(row, key=lambda piece: piece.left), page)
            row = []
        row.append(piece)
    if row:
        yield Line(sorted(row, key=lambda piece: piece.left), page)
