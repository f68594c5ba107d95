"""A PDF with comments on its sentences and references. Its own bytes stay; the annotations follow them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from vericite.corpus.manuscript.pdf import lines_in_order
from vericite.corpus.sources.files import opened
from vericite.corpus.sources.pdf import PdfMark, annotated, letters_of
from vericite.corpus.sources.pdf_lines import Line
from vericite.reporting.commented import AUTHOR, Commented, Remark

_COLORS = {
    "contradicted": (255, 140, 130),
    "not found": (255, 200, 120),
    "partly supported": (255, 235, 110),
    "supported": (185, 235, 170),
    "reference": (205, 180, 255),
}
_OTHER = (205, 205, 205)


def with_annotations(path: Path, sentences: Sequence[Remark], references: Sequence[Remark]) -> Commented:
    """Return a PDF with a highlight and a comment on each sentence and reference that is found in it.

    Args:
        path: The PDF.
        sentences: Remarks on sentences, in the order of the text.
        references: Remarks on references as they are printed, in the order of the list.

    Raises:
        InputError: The file is no PDF that can be read.
        MissingExtraError: The extra ``[documents]`` is not installed.
    """
    with opened(path) as file:
        body, listed = lines_in_order(file)
    text = _Letters([*body, *listed])
    remarks = [*sentences, *references]
    begin = sum(len(letters_of(line.text)) for line in body) if listed else 0
    places = [*text.places(sentences, 0), *text.places(references, begin)]
    found = [(remark, rows) for remark, rows in zip(remarks, places, strict=True) if rows]
    marks = [
        PdfMark(rows, "\n".join(remark.lines), AUTHOR, _COLORS.get(remark.about, _OTHER)) for remark, rows in found
    ]
    with opened(path) as file:
        content, placed = annotated(file, marks)
    done = {id(remark) for number, (remark, _) in enumerate(found) if number in placed}
    return Commented(content, len(done), tuple(remark for remark in remarks if id(remark) not in done))


class _Letters:
    """The letters and digits of lines, with the place of each."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        parts = [letters_of(line.text) for line in lines]
        self._letters = "".join(parts)
        self._ends = list(accumulate(map(len, parts)))

    def places(self, remarks: Sequence[Remark], begin: int) -> list[tuple[tuple[Line, int, int], ...]]:
        """Return the parts of lines of each remark; a repeated sentence is searched behind the one before."""
        found: list[tuple[tuple[Line, int, int], ...]] = []
        for remark in remarks:
            letters = letters_of(remark.sentence)
            at = self._letters.find(letters, begin) if letters else -1
            if at < 0 and letters:
                at = self._letters.find(letters)
            elif letters:
                begin = at + len(letters)
            found.append(self._rows(at, at + len(letters)) if at >= 0 else ())
        return found

    def _rows(self, start: int, end: int) -> tuple[tuple[Line, int, int], ...]:
        rows: list[tuple[Line, int, int]] = []
        number = bisect_right(self._ends, start)
        while start < end:
            begin = self._ends[number - 1] if number else 0
            stop = min(end, self._ends[number])
            if stop > start:
                rows.append((self._lines[number], start - begin, stop - begin))
            start, number = max(start, stop), number + 1
        return tuple(rows)
