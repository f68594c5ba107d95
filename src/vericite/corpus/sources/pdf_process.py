"""Extract the pieces of text on a PDF's pages with PDFium, in a separate process.

A malicious file may crash PDFium, fill the memory or take forever. So ``vericite.corpus.sources.pdf`` runs this file as
a program with limits, and reads its output: one line of JSON per page. It imports nothing from VeriCite, so that it
starts quickly.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportAttributeAccessIssue=false

PASSWORD, BROKEN, TOO_LONG, ABSENT = "password", "broken", "too long", "absent"
"""Reasons why a file cannot be read."""

_HYPHENS = "\x02\ufffe\u00ad"
"""Characters that PDFium returns for a hyphen at the end of a line."""
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
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
    height: float
    bold: bool


def main() -> None:
    """Read the file on the standard input and print its pages.

    The arguments are the maximum numbers of pages, of characters, of pieces on a page, and of bytes of memory.
    """
    most_pages, most_characters, most_pieces, most_bytes = (int(argument) for argument in sys.argv[1:5])
    try:
        import pypdfium2
    except ModuleNotFoundError:
        _say({"error": ABSENT})
        return
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
    _say({"pages": count, "title": _title(document)})
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
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(values: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _title(document: Any) -> str:
    try:
        return str(document.get_metadata_dict().get("Title", ""))[:500]
    except Exception:  # broken metadata is no reason to lose the text
        return ""


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
        yield angle, Glyph(_LIGATURES.get(char, char), left, right, baseline, top - bottom, bold)


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
    # The letters of a ligature share its box; an accent or a tightly set letter goes back a little.
    return level and (alike or glyph.char == " ") and (-0.5 * height < gap < _APART * height or glyph.left == last.left)


def _piece(held: list[Glyph]) -> Iterator[list[Any]]:
    words = ""
    end = 0.0
    for glyph in held:
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
            *(round(value, 2) for value in (first.left, last.right, first.baseline, first.height)),
            first.bold,
        ]


if __name__ == "__main__":
    main()
