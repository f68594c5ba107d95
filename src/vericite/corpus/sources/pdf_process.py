"""Extract the pieces of text on a PDF's pages with PDFium, or annotate a PDF, in a separate process.

A malicious file may crash PDFium, fill the memory or take forever. So ``vericite.corpus.sources.pdf`` runs this file as
a program with limits, and reads its output: one line of JSON per page, or a line of JSON and the annotated file. It
imports nothing from VeriCite, so that it starts quickly.
"""

from __future__ import annotations

import ctypes
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple
from unicodedata import normalize

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportAttributeAccessIssue=false

PASSWORD, BROKEN, TOO_LONG, ABSENT = "password", "broken", "too long", "absent"
"""Reasons why a file cannot be read."""

_HYPHENS = "\x02\ufffe\u00ad"
"""Characters that PDFium returns for a hyphen at the end of a line."""
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_ACCENTS = dict(
    zip(
        "´`¨ˆ˜ˇ¸˚˙˝˘¯^~",
        "\u0301\u0300\u0308\u0302\u0303\u030c\u0327\u030a\u0307\u030b\u0306\u0304\u0302\u0303",
        strict=True,
    )
)
"""Accents that some programs, such as LaTeX, set as a character of their own over a letter, in combining form."""
_APART = 0.9
"""Gaps wider than this many letter heights separate two pieces; gaps between columns are wider than this."""
_SPACE = 0.13
"""Gaps wider than this many letter heights separate two words if the file has no space."""
_QUARTER = 1.5707963


class Glyph(NamedTuple):
    """A character, rotated so that its line runs from left to right."""

    char: str
    left: float
    right: float
    baseline: float
    bottom: float
    height: float
    bold: bool


def main() -> None:
    """Read the file on the standard input and print its pages, or a copy with annotations.

    The arguments are the maximum numbers of pages, of characters, of pieces on a page, and of bytes of memory. If
    "annotate" follows, the first line of the input is a list of marks in JSON: see ``_annotate``.
    """
    most_pages, most_characters, most_pieces, most_bytes = (int(argument) for argument in sys.argv[1:5])
    try:
        import pypdfium2
    except ModuleNotFoundError:
        _say({"error": ABSENT})
        return
    marks = json.loads(sys.stdin.buffer.readline()) if "annotate" in sys.argv[5:] else None
    content = sys.stdin.buffer.read()
    _limit(most_bytes)
    try:
        document = pypdfium2.PdfDocument(content)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        _say({"error": PASSWORD if "password" in str(error).lower() else BROKEN, "found": str(error)})
        return
    if count > most_pages:
        _say({"error": TOO_LONG, "found": f"{count:,} pages"})
        return
    if marks is not None:
        _annotate(document, content, marks)
        return
    _say({"pages": count, **_metadata(document)})
    left = most_characters
    for number in range(count):
        try:
            page, used = _page(document, number, left, most_pieces)
        except (pypdfium2.PdfiumError, MemoryError, ValueError, OverflowError) as error:
            page, used = {"broken": str(error) or type(error).__name__}, 0
        left -= used
        if left < 0:
            _say({"error": TOO_LONG, "found": f"more than {most_characters:,} characters"})
            return
        _say(page)


def _limit(most_bytes: int) -> None:
    """Limit memory, if the system supports it: Windows does not, nor does macOS."""
    if sys.platform == "win32":
        return
    import resource

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(values: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _metadata(document: Any) -> dict[str, str]:
    try:
        found = document.get_metadata_dict()
        return {name.lower(): str(found.get(name, ""))[:500] for name in ("Title", "Subject")}
    except Exception:  # broken metadata is no reason to lose the text
        return {}


def _page(document: Any, number: int, most: int, most_pieces: int) -> tuple[dict[str, Any], int]:
    import pypdfium2.raw as raw

    page = document[number]
    text = page.get_textpage()
    count = raw.FPDFText_CountChars(text.raw)
    if count > most:
        return {}, count
    found = list(_glyphs(raw, text.raw, count))
    angles = [angle for angle, glyph in found if not glyph.char.isspace()]
    usual = max(range(4), key=angles.count)
    pieces = list(islice(_pieces(glyph for angle, glyph in found if angle == usual), most_pieces + 1))
    if len(pieces) > most_pieces:
        raise ValueError(f"more than {most_pieces:,} pieces of text, each placed separately. Save its text as .txt")
    has_image = len(angles) < 20 and any(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    text.close()
    page.close()
    return {"pieces": pieces, "image": has_image}, count


def _glyphs(raw: Any, text: Any, count: int) -> Iterator[tuple[int, Glyph]]:
    """Yield the characters of a page in file order, each with the rotation of its line in quarter turns."""
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    for index in range(count):
        code = raw.FPDFText_GetUnicode(text, index)
        char = "-" if chr(code) in _HYPHENS else chr(code)
        if char in "\r\n\x00" or not raw.FPDFText_GetLooseCharBox(text, index, box):
            continue
        if char == " " and raw.FPDFText_IsGenerated(text, index) == 1:
            continue
        if not raw.FPDFText_GetCharOrigin(text, index, x, y):
            continue
        length = raw.FPDFText_GetFontInfo(text, index, name, 128, flags)
        bold = 0 < length <= 128 and b"bold" in name.value.lower()
        angle = round(raw.FPDFText_GetCharAngle(text, index) / _QUARTER) % 4
        sides, baseline = _turned(angle, (box.left, box.bottom, box.right, box.top), (x.value, y.value))
        left, bottom, right, top = sides
        yield angle, Glyph(_LIGATURES.get(char, char), left, right, baseline, bottom, top - bottom, bold)


Box = tuple[float, float, float, float]


def _turned(angle: int, box: Box, origin: tuple[float, float]) -> tuple[Box, float]:
    """Rotate a box and a baseline so that the text runs from left to right."""
    left, bottom, right, top = box
    x, y = origin
    if angle == 1:
        return (-top, left, -bottom, right), x
    if angle == 2:
        return (-right, -top, -left, -bottom), -y
    if angle == 3:
        return (bottom, -right, top, -left), -x
    return box, y


def _pieces(glyphs: Iterable[Glyph]) -> Iterator[list[Any]]:
    """Group characters close together on a line: yield text, left, right, baseline, height and whether it is bold."""
    held: list[Glyph] = []
    for glyph in glyphs:
        if held and not _goes_on(held[-1], glyph):
            yield from _piece(held)
            held = []
        held.append(glyph)
    yield from _piece(held)


def _goes_on(last: Glyph, glyph: Glyph) -> bool:
    height = max(last.height, glyph.height, 0.1)
    level = abs(last.baseline - glyph.baseline) < 0.08 * height
    alike = abs(last.height - glyph.height) < 0.12 * height and last.bold == glyph.bold
    gap = glyph.left - last.right
    if _is_over(last, glyph):
        return abs(last.baseline - glyph.baseline) < 0.3 * height
    # The letters of a ligature share its box; an accent or a tightly set letter goes back a little.
    return level and (alike or glyph.char == " ") and (-0.5 * height < gap < _APART * height or glyph.left == last.left)


def _is_over(accent: Glyph, glyph: Glyph) -> bool:
    """Whether an accent stands over the letter that follows it."""
    return (
        accent.char in _ACCENTS
        and glyph.char.isalpha()
        and glyph.left < accent.right - 0.2 * (accent.right - accent.left)
    )


def _piece(held: list[Glyph]) -> Iterator[list[Any]]:
    words = ""
    end = 0.0
    for before, glyph in zip([*held[:1], *held], held, strict=False):
        if words and before is not glyph and _is_over(before, glyph):
            letter = {"ı": "i", "ȷ": "j"}.get(glyph.char, glyph.char)
            words = words[:-1] + normalize("NFC", letter + _ACCENTS[before.char])
            end = max(before.right, glyph.right)
            continue
        if words and not words.endswith(" ") and glyph.left - end > _SPACE * glyph.height:
            words += " "
        if glyph.char.isspace():
            words += "" if words.endswith(" ") else " "
        else:
            words += glyph.char
        end = glyph.right
    if words.strip():
        first, last = held[0], held[-1]
        yield [
            words,
            *(
                round(value, 2)
                for value in (
                    first.left,
                    last.right,
                    first.baseline,
                    sorted(glyph.height for glyph in held)[len(held) // 2],
                )
            ),
            first.bold,
        ]


# Annotations.

_ROW = 0.55
"""Characters within this many line heights of a line's baseline are on the line."""


def _annotate(document: Any, content: bytes, marks: list[dict[str, Any]]) -> None:
    """Print a line of JSON and the file with a highlight for each mark.

    A mark has ``rows``, ``text``, ``author`` and ``color``. A row is a part of a line: the page from 1; left, right,
    baseline and height of the line; the number of its letters and digits; the first of them that is marked, and the
    first that no longer is. The original bytes stay as they are, and the annotations follow them. A file whose table of
    objects is a stream, or damaged, is written again in full: other readers refuse what PDFium appends to such a file.
    """
    import pypdfium2
    import pypdfium2.raw as raw

    # PDFium writes again what it has loaded, such as fonts. So the text is read from the first document.
    copy = pypdfium2.PdfDocument(content)
    by_page: dict[int, list[tuple[int, list[Any]]]] = {}
    for number, mark in enumerate(marks):
        for row in mark["rows"]:
            by_page.setdefault(row[0], []).append((number, row[1:]))
    placed: set[int] = set()
    for page_number, rows in sorted(by_page.items()):
        with suppress(pypdfium2.PdfiumError, ValueError, OverflowError):
            quads = _quads_of(raw, document[page_number - 1], rows)
            page = copy[page_number - 1]
            for number, boxes in quads.items():
                if _highlight(raw, page.raw, boxes, marks[number]):
                    placed.add(number)
            page.close()
    held = io.BytesIO()
    copy.save(held, flags=raw.FPDF_INCREMENTAL if _has_plain_table(content) else raw.FPDF_NO_INCREMENTAL)
    _say({"placed": sorted(placed)})
    sys.stdout.buffer.write(held.getvalue())
    sys.stdout.buffer.flush()


def _has_plain_table(content: bytes) -> bool:
    """Whether the table of objects, to which the end of a file points, is there and is no stream."""
    pointers = re.findall(rb"startxref\s+(\d{1,12})\s+%%EOF", content[-2048:])
    return bool(pointers) and content[int(pointers[-1]) :].lstrip()[:4] == b"xref"


def _quads_of(raw: Any, page: Any, rows: list[tuple[int, list[Any]]]) -> dict[int, list[Box]]:
    """Return the boxes of the rows on a page, by the number of their mark."""
    text = page.get_textpage()
    found = list(_glyphs(raw, text.raw, raw.FPDFText_CountChars(text.raw)))
    angles = [angle for angle, glyph in found if not glyph.char.isspace()]
    usual = max(range(4), key=angles.count)
    glyphs = [glyph for angle, glyph in found if angle == usual and not glyph.char.isspace()]
    quads: dict[int, list[Box]] = {}
    for number, row in rows:
        box, _ = _turned(-usual % 4, _row_box(glyphs, *row), (0.0, 0.0))
        quads.setdefault(number, []).append(box)
    text.close()
    page.close()
    return quads


def _row_box(
    glyphs: list[Glyph],
    left: float,
    right: float,
    baseline: float,
    height: float,
    count: int,
    first: int,
    end: int,
) -> Box:
    """Return the box of some letters of a line; by their share of its width, if its characters are not found."""
    row = [
        glyph
        for glyph in glyphs
        if abs(glyph.baseline - baseline) < _ROW * height and left - 1 < glyph.left and glyph.right < right + 1
    ]
    row.sort(key=lambda glyph: glyph.left)
    letters = [at for at, glyph in enumerate(row) for sign in glyph.char if sign.isalnum() and sign not in _ACCENTS]
    largest = max((glyph for glyph in row if glyph.height > 0.9 * height), key=lambda glyph: glyph.height, default=None)
    bottom = largest.bottom if largest else baseline - 0.25 * height
    if len(letters) != count:
        width = (right - left) / max(count, 1)
        return left + first * width, bottom, left + end * width, bottom + height
    begin, last = letters[first], letters[end - 1]
    # Quotation marks, brackets and the full stop next to the letters are marked with them.
    while begin > 0 and letters[first - 1 : first] != [begin - 1] and _touches(row[begin - 1], row[begin]):
        begin -= 1
    while last + 1 < len(row) and letters[end : end + 1] != [last + 1] and _touches(row[last], row[last + 1]):
        last += 1
    return row[begin].left, bottom, max(glyph.right for glyph in row[begin : last + 1]), bottom + height


def _touches(before: Glyph, glyph: Glyph) -> bool:
    return glyph.left - before.right < _SPACE * max(before.height, glyph.height)


def _highlight(raw: Any, page: Any, boxes: list[Box], mark: dict[str, Any]) -> bool:
    """Add one annotation over these boxes; return whether it was added."""
    annotation = raw.FPDFPage_CreateAnnot(page, raw.FPDF_ANNOT_HIGHLIGHT)
    if not annotation:
        return False
    edges = [f(values) for f, values in zip((min, min, max, max), zip(*boxes, strict=True), strict=True)]
    left, bottom, right, top = edges
    done = raw.FPDFAnnot_SetRect(annotation, raw.FS_RECTF(left, top, right, bottom))
    for left, bottom, right, top in boxes:
        quad = raw.FS_QUADPOINTSF(left, top, right, top, left, bottom, right, bottom)
        done = raw.FPDFAnnot_AppendAttachmentPoints(annotation, quad) and done
    raw.FPDFAnnot_SetColor(annotation, raw.FPDFANNOT_COLORTYPE_Color, *mark["color"], 255)
    raw.FPDFAnnot_SetFlags(annotation, raw.FPDF_ANNOT_FLAG_PRINT)
    for key, value in ((b"Contents", mark["text"]), (b"T", mark["author"])):
        words = ctypes.create_string_buffer(value.encode("utf-16-le") + b"\0\0")
        done = raw.FPDFAnnot_SetStringValue(annotation, key, ctypes.cast(words, raw.FPDF_WIDESTRING)) and done
    raw.FPDFPage_CloseAnnot(annotation)
    return bool(done)


if __name__ == "__main__":
    main()
