"""Build the lines of a PDF page from its pieces in reading order, column after column."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
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


def lines_of(given: Sequence[Sequence[Any]], page: int, is_manuscript: bool = False) -> list[Line]:
    """Return the lines of a page in reading order.

    In a manuscript, superscript citations are kept, as in "shown²,⁴⁻⁶", and the numbers of lines are left out.
    """
    pieces = [
        PdfPiece(storable(str(text)), float(left), float(right), float(baseline), float(height), bool(bold))
        for text, left, right, baseline, height, bold in given
    ]
    pieces = [piece for piece in pieces if MARKS.sub("", piece.text).strip()]
    for piece in pieces:
        piece.text = MARKS.sub("", without_controls(piece.text))
    if not is_manuscript:
        return [line for column in _columns(_merged(pieces), _gutter) for line in _in_rows(column, page)]
    # An accent over a capital is a piece of its own.
    pieces = _without_line_numbers([piece for piece in pieces if piece.text.strip() not in "´`¨ˆ˜ˇ¸˚˙˝˘¯"])
    gutter = (_strip(pieces) if pieces else None) or _uncrossed(pieces)
    pieces = _merged(pieces, keep_citations=True) if gutter is None else _merged_by_column(pieces, gutter)
    columns = _columns(pieces, lambda _: gutter)
    lines = [line for column in columns for line in _in_rows(column, page)]
    for line in lines:
        line.pieces = _without_gaps(line.pieces)
    return lines


_WIDE = 3
"""Gaps wider than this many letter heights separate the cells of a table in a manuscript; narrower ones are spaces."""


def _without_gaps(pieces: list[PdfPiece]) -> list[PdfPiece]:
    """Join the pieces of a justified line that are separated by a stretched space."""
    joined = pieces[:1]
    for piece in pieces[1:]:
        last = joined[-1]
        if piece.left - last.right < _WIDE * max(piece.height, last.height):
            text = f"{last.text.rstrip()} {piece.text.lstrip()}"
            height, bold = max(last.height, piece.height), last.bold and piece.bold
            joined[-1] = PdfPiece(text, last.left, max(last.right, piece.right), last.baseline, height, bold)
        else:
            joined.append(piece)
    return joined


_LINE_NUMBER = re.compile(r"\s?\d{1,4}\s?")
_FEWEST_NUMBERS = 8
"""Minimum numbers in the margin of a page to be line numbers."""


def _without_line_numbers(pieces: list[PdfPiece]) -> list[PdfPiece]:
    """Remove numbers in the left or right margin that rise from line to line."""
    found = [piece for piece in pieces if _LINE_NUMBER.fullmatch(piece.text)]
    words = [piece for piece in pieces if len(piece.text) > 15]
    if len(found) < _FEWEST_NUMBERS or not words:
        return pieces
    left, right = min(piece.left for piece in words), max(piece.right for piece in words)
    for side in ([p for p in found if p.right < left], [p for p in found if p.left > right]):
        side.sort(key=lambda piece: -piece.baseline)
        numbers = [int(piece.text) for piece in side]
        rising = sum(1 for first, second in pairwise(numbers) if first < second)
        if len(side) >= _FEWEST_NUMBERS and rising >= len(side) - 2:
            taken = {id(piece) for piece in side}
            return [piece for piece in pieces if id(piece) not in taken]
    return pieces


def _merged(pieces: list[PdfPiece], keep_citations: bool = False) -> list[PdfPiece]:
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
        if keep_citations and _is_raised(before, piece) and _NUMBERS.fullmatch(before.text):
            # The number that a reference of the list begins with.
            before.text = _superscript(before.text)
        before.text += _attached(before, piece, gap, keep_citations)
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


_NUMBERS = re.compile(r"\s*[\[(]?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*[\])]?[,\s–-]*")
_UNIT = re.compile(r"(?:\b|/)[kcm]?m\Z")


_SUPERSCRIPTS = str.maketrans("0123456789-‐‑–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻⁻")


def _superscript(text: str) -> str:
    return re.sub(r"[\s\[\]()]", "", text).translate(_SUPERSCRIPTS)


def _is_raised(piece: PdfPiece, other: PdfPiece) -> bool:
    return piece.height < 0.85 * other.height and piece.baseline > other.baseline + 0.15 * other.height


def _attached(before: PdfPiece, piece: PdfPiece, gap: float, keep_citations: bool = False) -> str:
    """Return the text that a piece adds to the piece before it."""
    space = " " if gap > 0.15 * piece.height and not before.text.endswith(" ") else ""
    if not _is_raised(piece, before):
        lowered = piece.height < 0.85 * before.height and piece.baseline < before.baseline - 0.05 * before.height
        mark = "_" if lowered and before.text[-1:].isdigit() and piece.text[:1].isdigit() else ""
        return space + mark + piece.text
    stem = before.text.rstrip()
    if stem[-1:].isdigit():
        return f"^{piece.text.strip()} " if re.match(r"\s*[-+−–]?\d", piece.text) else piece.text
    if _NUMBERS.fullmatch(piece.text) and not (
        _UNIT.search(stem, max(0, len(stem) - 4)) and piece.text.strip() in ("2", "3")
    ):
        if keep_citations:
            return _superscript(piece.text) + (" " if piece.text.endswith(" ") else "")
        # A citation of another work is not part of the text.
        return " " if piece.text.endswith(" ") else ""
    return piece.text


def _columns(
    pieces: list[PdfPiece], gutter_of: Callable[[list[PdfPiece]], float | None], depth: int = 0
) -> Iterator[list[PdfPiece]]:
    """Yield the pieces in reading order: column after column, between pieces that span the columns."""
    gutter = gutter_of(pieces) if depth < 3 else None
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
                yield from _columns(side, gutter_of, depth + 1)


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


_NARROWEST = 3
"""Minimum width of the strip between two columns, in points."""
_DEEPEST_INDENT = 40
"""Maximum distance, in points, from the edge of a column to the place where most of its lines begin."""
_FEWEST_ALIGNED = 6
"""Minimum lines that begin at the same place in the right column of a manuscript."""


def _strip(pieces: list[PdfPiece]) -> float | None:
    """Return the middle of the empty strip between two columns, right of which lines begin at few places.

    Justified lines may fall apart into words, and then no piece is as wide as its column; so ``_gutter`` fails.
    """
    low, high = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    begin, end = round(low + 0.35 * (high - low)), round(low + 0.65 * (high - low))
    crossing = [0] * (end - begin + 2)
    for piece in pieces:
        first, last = max(int(piece.left) + 1, begin), min(int(piece.right), end)
        if first <= last:
            crossing[first - begin] += 1
            crossing[last + 1 - begin] -= 1
    counts = list(accumulate(crossing))[:-1]
    fewest = min(counts, default=0)
    runs = [list(run) for is_low, run in groupby(range(len(counts)), lambda at: counts[at] == fewest) if is_low]
    longest = max(runs, key=len, default=list[int]())
    if len(longest) < _NARROWEST:
        return None
    place = begin + (longest[0] + longest[-1]) / 2
    # The entries of a list are indented in their column.
    indented = begin + longest[-1] + _DEEPEST_INDENT
    lefts = Counter(round(piece.left) for piece in pieces if place < piece.left < indented)
    # A column may be of text above a list, whose lines begin at another place.
    aligned = sum(lefts[edge] for edge in lefts if lefts[edge] + lefts[edge + 1] >= _FEWEST_ALIGNED)
    rows_left = {round(piece.baseline) for piece in pieces if piece.right <= place}
    rows_right = {round(piece.baseline) for piece in pieces if piece.left >= place}
    enough = aligned >= max(_FEWEST_ALIGNED, 0.4 * len(rows_right)) and len(rows_left) >= _FEWEST_ALIGNED
    return place if enough and fewest < 0.5 * len(rows_left | rows_right) else None


def _uncrossed(pieces: list[PdfPiece]) -> float | None:
    gutter = _gutter(pieces)
    return None if gutter is None or any(piece.left < gutter < piece.right for piece in pieces) else gutter


def _merged_by_column(pieces: list[PdfPiece], gutter: float) -> list[PdfPiece]:
    """Merge the pieces of lines; those on different sides of the gutter are not of one line."""
    across = {round(piece.baseline) for piece in pieces if piece.left < gutter < piece.right}
    sides: dict[int, list[PdfPiece]] = {}
    for piece in pieces:
        is_across = piece.left < gutter < piece.right or round(piece.baseline) in across
        sides.setdefault(2 if is_across else int(piece.left >= gutter), []).append(piece)
    return [piece for side in sides.values() for piece in _merged(side, keep_citations=True)]


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
