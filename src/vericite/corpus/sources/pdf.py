"""Read PDF files in reading order, with the offset of each page.

``pdf_process`` extracts pieces of lines, and ``pdf_lines`` builds lines from them, column after column. This module
removes running heads and page numbers, joins hyphenated words, detects headings by their letters, and drops reference
lists. Pages without text, such as scans, are reported.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from typing import Any

from vericite.corpus.sources import pdf_process
from vericite.corpus.sources.files import MOST_CHARACTERS, Numbered, SourceFile, SourceFormat
from vericite.corpus.sources.pdf_front import KEYWORDS, FrontMatter, front_matter_of
from vericite.corpus.sources.pdf_lines import MARKS, PAGE_MARK, Line, lines_of
from vericite.corpus.sources.texts import REFERENCES, Block, Heading, joined_lines, sections_of, words_in
from vericite.errors import InputError, MissingExtraError, RecordError
from vericite.records import Document, Section

MOST_PAGES = 5_000
MOST_PIECES = 10_000
"""Maximum pieces of a page. A full page has a few hundred; a page with more than this is reported and skipped."""
SECONDS = 120
"""Maximum seconds to read a file."""
MEMORY = 3 << 30
"""Maximum bytes that the reading process may map; PDFium and Python need less than a third."""


@dataclass(slots=True)
class PdfPages:
    """What the reading process found in a file."""

    title: str = ""
    subject: str = ""
    lines: list[list[Line]] = field(default_factory=list[list[Line]])
    pictures: list[int] = field(default_factory=list[int])
    broken: dict[int, str] = field(default_factory=dict[int, str])


@dataclass(slots=True)
class PdfLayout:
    """A PDF in paragraphs, in reading order.

    Attributes:
        title: Its title, which is not among the paragraphs.
        paragraphs: Paragraphs and headings, without running heads and page numbers. Tables and figures between the
            parts of a paragraph come after it.
        lines: Their lines in the order of the pages.
        pages: Number of pages.
        problems: Pages that cannot be read, each with what is wrong with it.
        front: What the first page says of the article.
    """

    title: str
    paragraphs: list[Paragraph]
    lines: list[Line]
    pages: int
    problems: list[tuple[int, str]]
    front: FrontMatter


def layout_of(file: SourceFile, is_manuscript: bool = False) -> PdfLayout:
    """Read a PDF in paragraphs; see ``lines_of`` for manuscripts.

    Raises:
        InputError: The file cannot be read, or has no text.
        MissingExtraError: The extra ``[documents]`` is not installed.
    """
    if not _matches(file):
        raise InputError(f"expected a PDF; found {file.path}, which does not begin with %PDF-")
    pages = _pages_of(file, is_manuscript)
    if not any(pages.lines):
        raise InputError(f"expected a PDF with text; found {file.path}, {_without_text(pages)}")
    file.check_cancelled()
    lines = _without_margins(pages.lines)
    file.check_cancelled()
    paragraphs = _paragraphs(lines)
    file.check_cancelled()
    problems = [(number, f"expected a readable page; found: {problem}") for number, problem in pages.broken.items()]
    if pages.pictures:
        named = ", ".join(map(str, pages.pictures[:20])) + (" ..." if len(pages.pictures) > 20 else "")
        problems.append((0, f"expected text on every page; found only an image on page {named}. {_RECOGNISE}"))
    found = [line for page in lines for line in page]
    title = _own_title(paragraphs, pages.title)
    front = front_matter_of(next(filter(None, pages.lines)), title, pages.subject)
    return PdfLayout(title, paragraphs, found, len(pages.lines), problems, front)


def _read(file: SourceFile) -> Iterator[Numbered]:
    found = layout_of(file)
    document, front = _document(file.name, found.title, found.paragraphs, found.pages), found.front
    stated = {"doi": front.doi, "authors": front.authors, "journal": front.journal, "year": front.year}
    yield 1, document.model_copy(update=stated)
    for page, problem in found.problems:
        yield page or 1, RecordError(file.path, 0, f"page {page}" if page else None, problem)


def printed_lines(file: SourceFile) -> str:
    """Return the text of a PDF line by line as printed, without running heads and feet.

    An empty line stands where the page has a wider space between two lines.

    Raises:
        InputError: The file cannot be read, or has no text.
        MissingExtraError: The extra ``[documents]`` is not installed.
    """
    pages = _pages_of(file)
    if not any(pages.lines):
        raise InputError(f"expected a PDF with text; found {file.path}, {_without_text(pages)}")
    found: list[str] = []
    for page in _without_margins(pages.lines):
        leading = _leading(page)
        before: Line | None = None
        for line in page:
            if before is not None and before.baseline - line.baseline > 1.45 * leading:
                found.append("")
            found.append(" ".join(piece.text.strip() for piece in line.pieces))
            before = line
    return "\n".join(found)


_RECOGNISE = "Run text recognition on the file first, for example ocrmypdf"


def _without_text(pages: PdfPages) -> str:
    if pages.broken:
        return f"of which no page can be read: {next(iter(pages.broken.values()))}"
    if pages.pictures:
        return f"a scan: {len(pages.lines)} pages of images. {_RECOGNISE}"
    return "which has none"


def _pages_of(file: SourceFile, is_manuscript: bool = False) -> PdfPages:
    deadline = time.monotonic() + SECONDS
    said, code = _said_of(file, deadline)
    first = said[0] if said else {}
    # A file that is too long has its error after its pages.
    _refuse(file.path, next((line for line in (first, *said[-1:]) if "error" in line), None), bool(said), code)
    found = PdfPages(str(first.get("title", "")), str(first.get("subject", "")))
    for number, page in enumerate(said[1:], start=1):
        _check(file, deadline)
        found.lines.append(lines_of(page.pop("pieces", ()), number, is_manuscript))
        if "broken" in page:
            found.broken[number] = str(page["broken"])
        elif page.get("image") and not found.lines[-1]:
            found.pictures.append(number)
    for number in range(len(said), int(first["pages"]) + 1):
        found.lines.append([])
        found.broken[number] = "that reading it needs too much memory, or crashes"
    return found


def _said_of(file: SourceFile, deadline: float) -> tuple[list[dict[str, Any]], int]:
    """Run the reading process; return its messages and its exit code."""
    said, code = _output_of(file, deadline)
    return [json.loads(line) for line in said.splitlines() if line.endswith(b"}")], code


def _output_of(file: SourceFile, deadline: float, task: Sequence[str] = (), head: bytes = b"") -> tuple[bytes, int]:
    """Run ``pdf_process`` on a file; return its output and its exit code."""
    limits = [str(limit) for limit in (MOST_PAGES, MOST_CHARACTERS, MOST_PIECES, MEMORY)]
    # Run as a file, not as a module: the package's imports would take longer than most PDFs.
    command = [sys.executable, "-P", pdf_process.__file__, *limits, *task]
    # Input is a file: with a pipe, repeated communicate() calls with a timeout would lose unsent input.
    with TemporaryFile() as given:
        given.write(head + file.content())
        given.seek(0)
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=given, stdout=pipe, stderr=pipe) as process:
            return _awaited(process, file, deadline), process.wait()


@dataclass(frozen=True, slots=True)
class PdfMark:
    """A highlight with a comment, over parts of lines.

    ``rows`` has for each line the first of its letters and digits that is marked, and the first that no longer is.
    """

    rows: tuple[tuple[Line, int, int], ...]
    text: str
    author: str
    color: tuple[int, int, int]


def annotated(file: SourceFile, marks: Sequence[PdfMark]) -> tuple[bytes, set[int]]:
    """Return a PDF with annotations behind its own bytes, and the numbers of the marks that are in it.

    Raises:
        InputError: The file cannot be read.
        MissingExtraError: The extra ``[documents]`` is not installed.
    """
    head = [
        {
            "rows": [
                [line.page, line.left, line.right, line.baseline, line.height, len(letters_of(line.text)), first, end]
                for line, first, end in mark.rows
            ],
            "text": mark.text,
            "author": mark.author,
            "color": mark.color,
        }
        for mark in marks
    ]
    deadline = time.monotonic() + SECONDS
    output, code = _output_of(file, deadline, ["annotate"], json.dumps(head).encode() + b"\n")
    line, _, content = output.partition(b"\n")
    said: dict[str, Any] = json.loads(line) if line.endswith(b"}") else {}
    _refuse(file.path, said if "error" in said else None, "placed" in said and bool(content), code)
    return content, set(said["placed"])


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, which do not depend on how its lines are joined."""
    return "".join(filter(str.isalnum, text))


_LOOK_EVERY = 0.2


def _awaited(process: subprocess.Popen[bytes], file: SourceFile, deadline: float) -> bytes:
    """Return all output of a process, and kill it if the reading is cancelled."""
    try:
        while True:
            try:
                return process.communicate(timeout=_LOOK_EVERY)[0]
            except subprocess.TimeoutExpired:
                _check(file, deadline)
    finally:
        process.kill()


def _check(file: SourceFile, deadline: float) -> None:
    file.check_cancelled()
    if time.monotonic() > deadline:
        raise InputError(
            f"expected a PDF that can be read within {SECONDS} s; found {file.path}, which takes longer. Split it"
        )


def _refuse(path: Path, error: dict[str, Any] | None, has_answer: bool, code: int) -> None:
    if error is None and has_answer:
        return
    kind, found = (error or {}).get("error"), (error or {}).get("found")
    if kind == pdf_process.ABSENT:
        raise MissingExtraError("documents", "Reading PDF")
    if kind == pdf_process.PASSWORD:
        raise InputError(f"expected a PDF without a password; found {path}, which has one. Save it without a password")
    if kind == pdf_process.TOO_LONG:
        limits = f"at most {MOST_PAGES:,} pages and {MOST_CHARACTERS:,} characters"
        raise InputError(f"expected a PDF of {limits}; found {path} with {found}. Split it")
    # The reasons of the PDF library end with a full stop.
    reason = str(found or f"reading it needs too much memory, or crashes (exit {code})").rstrip(".")
    raise InputError(f"expected a readable PDF; found {path}: {reason}. Save it again, or as text")


# Removing what is repeated on every page.

_NUMBER_ALONE = re.compile(r"\W*(?:page\s*)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_AT_THE_EDGE = 3


def _without_margins(pages: list[list[Line]]) -> list[list[Line]]:
    """Remove running heads, running feet (nearly equal lines at the edges of several pages) and page numbers."""
    edges = [side for lines in pages for side in _edges(lines)]
    counts = Counter(place for lines in pages for place in {_place(line) for side in _edges(lines) for line in side})
    written = sum(1 for lines in pages if lines)
    enough = 2 if written < 6 else max(3, written // 5)
    usual = _usual_height([line for lines in pages for line in lines])
    headings = {_words(line) for lines in pages for line in lines if len(line.text) < 80 and not line.text.isupper()}
    margin = {id(line) for side in edges for line in _outer(side, counts, enough, usual, headings)}
    return [[line for line in lines if id(line) not in margin] for lines in pages]


def _outer(
    side: list[Line], counts: Counter[tuple[str, int]], enough: int, usual: float, headings: set[str]
) -> Iterator[Line]:
    """Yield the lines of an edge, from the outside in, that are set apart from the page's text."""
    apart = 0
    for number, (line, inner) in enumerate(pairwise(side), start=1):
        if abs(line.baseline - inner.baseline) > 1.6 * max(line.height, inner.height):
            apart = number
    for line in side[:apart]:
        small = line.height < 0.93 * usual and len(line.text) < 120
        # "6 CONCLUSIONS": the heading of a section, repeated in capitals.
        repeated = line.text.isupper() and len(line.text) < 80 and _words(line) in headings
        if repeated or _NUMBER_ALONE.fullmatch(line.text) or counts[_place(line)] >= enough or small:
            yield line


def _words(line: Line) -> str:
    return "".join(char for char in line.text.casefold() if char.isalpha())


def _place(line: Line) -> tuple[str, int]:
    return _DIGITS.sub("#", line.text).casefold(), round(line.baseline / 3)


def _edges(lines: list[Line]) -> list[list[Line]]:
    """Return the top and the bottom lines of a page, each from the outside in."""
    ordered = sorted(lines, key=lambda line: -line.baseline)
    return [ordered[: _AT_THE_EDGE + 1], ordered[::-1][: _AT_THE_EDGE + 1]]


# Paragraphs, headings, sections.


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, in one font."""

    lines: list[Line]
    heading: int | None = None
    is_row: bool = False

    @property
    def first(self) -> Line:
        """The first line."""
        return self.lines[0]

    @property
    def text(self) -> str:
        """The text on one line."""
        return " ".join(line.text.strip() for line in self.lines)

    @property
    def is_ended(self) -> bool:
        """Whether it ends with the end of a sentence; looks at two lines only, since a paragraph may be very long."""
        return bool(_ENDED.search(" ".join(line.text.strip() for line in self.lines[-2:])))


_LONGEST_HEADING = 160
_SECTION = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+)?(?:abstract|summary|background|introduction|objectives?|aims?|"
    r"(?:materials? and |patients and )?methods?|results?|discussion|results and discussion|conclusions?|"
    r"limitations|acknowledge?ments?|funding|appendix|references?|bibliography|literature cited|works cited)\s*:?",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:fig(?:ure|\.)?|table|box|supplementary (?:figure|table))\s*\.?\s*[\dIVX]+\b", re.IGNORECASE)
_ENTRY = re.compile(r"\s*(?:\[?\d{1,3}[\].)]|[•▪◦*–-]\s)\s*")
_ENDED = re.compile(r"[.!?:;][\"'”’)\]]*\s*(?:\[[\d,\s–-]{1,20}\])?\Z")


def _paragraphs(pages: list[list[Line]]) -> list[Paragraph]:
    lines = [line for page in pages for line in page]
    usual = _usual_height(lines)
    found: list[Paragraph] = []
    for page in pages:
        leading = _leading(page)
        before: Line | None = None
        for line in page:
            if before is None or _begins(before, line, leading):
                found.append(Paragraph([line], is_row=len(line.pieces) > 2))
            else:
                found[-1].lines.append(line)
            before = line
    for paragraph in found:
        paragraph.heading = _heading_level(paragraph, usual)
    return _joined(found)


def _usual_height(lines: Sequence[Line]) -> float:
    heights = Counter[float]()
    for line in lines:
        heights[round(line.height, 1)] += len(line.text)
    return heights.most_common(1)[0][0] if heights else 1.0


def _leading(lines: Sequence[Line]) -> float:
    gaps = Counter(
        round(upper.baseline - lower.baseline, 0)
        for upper, lower in pairwise(lines)
        if 0 < upper.baseline - lower.baseline < 3 * upper.height
    )
    return float(gaps.most_common(1)[0][0]) if gaps else 0.0


def _begins(before: Line, line: Line, leading: float) -> bool:
    """Whether ``line`` begins a paragraph."""
    gap = before.baseline - line.baseline
    height = max(before.height, line.height)
    if gap <= 0 or gap > max(1.45 * leading, 1.3 * height) or min(len(before.pieces), 2) != min(len(line.pieces), 2):
        return True
    if len(line.pieces) > 1 or abs(before.height - line.height) > 0.08 * height or before.bold != line.bold:
        return True
    if _SECTION.fullmatch(line.text.strip()) or _SECTION.fullmatch(before.text.strip()):
        return True
    if (_ENTRY.match(line.text) and _ENDED.search(before.text)) or KEYWORDS.match(line.text.strip()):
        return True
    indent = line.left - before.left
    ended = bool(_ENDED.search(before.text))
    return (indent > 0.6 * height and ended) or (ended and before.right < line.right - 3 * height and indent >= 0)


def _heading_level(paragraph: Paragraph, usual: float) -> int | None:
    """Return the level of a heading, 1 for the highest; None for a paragraph that is not a heading."""
    text, line = paragraph.text.strip(), paragraph.first
    if len(text) > _LONGEST_HEADING or len(paragraph.lines) > 4 or paragraph.is_row or len(line.pieces) > 2:
        return None
    if _CAPTION.match(text) or not any(char.isalpha() for char in text):
        return None
    larger = line.height > 1.12 * usual
    known = bool(_SECTION.fullmatch(text))
    if _ENDED.search(text) and not (known or (larger and text.endswith("?"))):
        return None
    shouted = text.isupper() and sum(char.isalpha() for char in text) >= 5
    if not (larger or known or ((line.bold or shouted) and len(text) <= 100 and line.height > 0.9 * usual)):
        return None
    # By its number if it has one, otherwise by its letters.
    if number := re.match(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s", text):
        return 2 + number[1].count(".")
    return 1 if line.height > 1.5 * usual else 2 if larger or known or shouted else 3


def _joined(paragraphs: list[Paragraph]) -> list[Paragraph]:
    """Join paragraphs split by the end of a column or a page; figures and tables between them come after."""
    result: list[Paragraph] = []
    open_: Paragraph | None = None
    for paragraph in paragraphs:
        if open_ is not None and _continues(open_, paragraph):
            open_.lines += paragraph.lines
            if open_.is_ended:
                open_ = None
            continue
        result.append(paragraph)
        if paragraph.heading is not None:
            open_ = None
        elif _floats(paragraph):
            continue
        else:
            open_ = None if paragraph.is_ended else paragraph
    return result


def _floats(paragraph: Paragraph) -> bool:
    return paragraph.is_row or len(paragraph.first.pieces) > 1 or bool(_CAPTION.match(paragraph.text.strip()))


def _continues(open_: Paragraph, paragraph: Paragraph) -> bool:
    if paragraph.heading is not None or _floats(paragraph):
        return False
    last, first = open_.lines[-1], paragraph.first
    alike = abs(last.height - first.height) < 0.08 * max(last.height, first.height)
    begins = paragraph.text.lstrip()[:1]
    goes_on = begins.islower() or begins.isdigit() or begins in "([" or last.text.rstrip().endswith("-")
    return alike and bool(begins) and (goes_on or last.text.rstrip()[-1:] == ",")


def _own_title(paragraphs: list[Paragraph], named: str) -> str:
    """Remove and return the largest heading at the top of the first page, or return the title in the metadata."""
    first = [paragraph for paragraph in paragraphs[:8] if paragraph.first.page == paragraphs[0].first.page]
    largest = max(first, key=lambda paragraph: paragraph.first.height, default=None)
    if largest is not None and not _SECTION.fullmatch(largest.text.strip()):
        others = [paragraph.first.height for paragraph in paragraphs if paragraph is not largest]
        larger = largest.first.height / median(others) if others else inf
        if (largest.heading is not None and larger > 1.1) or (_is_long_title(largest) and larger > 1.3):
            paragraphs.remove(largest)
            return " ".join(joined_lines([line.text for line in largest.lines], Counter()))
    shown = " ".join(named.split())
    beginning = " ".join(paragraph.text for paragraph in first[:3]).casefold()
    return shown if len(shown) > 8 and shown.casefold() in beginning else ""


def _is_long_title(paragraph: Paragraph) -> bool:
    """Whether a paragraph may be a title that is too long for a heading."""
    text = paragraph.text.strip()
    is_long = _LONGEST_HEADING < len(text) <= 2 * _LONGEST_HEADING or 4 < len(paragraph.lines) <= 8
    return is_long and not paragraph.is_row and len(paragraph.first.pieces) == 1 and not text.endswith((".", ":", ";"))


def _document(name: str, title: str, paragraphs: list[Paragraph], pages: int) -> Document:
    words = words_in("\n".join(line.text for paragraph in paragraphs for line in paragraph.lines))
    marked = sections_of(_blocks(paragraphs, words))
    sections: list[Section] = []
    begins: dict[int, int] = {}
    at = 0
    for section in marked:
        text = ""
        for part in re.split(f"({MARKS.pattern})", section.text):
            if len(part) == 1 and MARKS.match(part):
                begins.setdefault(ord(part) - PAGE_MARK, at + len(text))
            else:
                text += part
        sections.append(section.model_copy(update={"text": text}))
        at += len(text) + 1
    starts: list[int] = []
    following = max(at - 1, 0)
    for page in range(pages, 0, -1):
        following = begins.get(page, following)
        starts.append(following)
    return Document(id=name, title=title, sections=tuple(sections), pages=tuple(reversed(starts)))


def _blocks(paragraphs: list[Paragraph], words: Counter[str]) -> Iterator[Block]:
    """Yield the headings and paragraphs, with a mark before the first word of every page."""
    page = 0
    after_references: Line | None = None
    for paragraph in paragraphs:
        line = paragraph.first
        if paragraph.heading is not None:
            text = " ".join(line.text.strip() for line in paragraph.lines)
            if after_references is not None and not _is_like(after_references, line):
                continue
            level = 1 if _SECTION.fullmatch(text) else paragraph.heading
            after_references = line if REFERENCES.fullmatch(text) else None
            yield Heading(level, _unnumbered(text))
            continue
        if after_references is not None or _is_keywords(paragraph):
            continue
        texts, page = marked_lines(paragraph, page)
        if paragraph.is_row or len(paragraph.first.pieces) > 1:
            yield from (row if _ENDED.search(row) else f"{row}." for row in texts)
        else:
            yield from joined_lines(texts, words)


def _is_keywords(paragraph: Paragraph) -> bool:
    """Whether a paragraph of the first page is a list of keywords and nothing else."""
    found = KEYWORDS.fullmatch(paragraph.text.strip()) if paragraph.first.page == 1 else None
    return found is not None and len(found["words"]) <= _LONGEST_KEYWORDS and ". " not in found["words"]


_LONGEST_KEYWORDS = 300


def marked_lines(paragraph: Paragraph, page: int) -> tuple[list[str], int]:
    """Return the lines of a paragraph and the page of its last line, with a mark before the first word of each page.

    Args:
        paragraph: The paragraph.
        page: The page of the line before it.
    """
    texts: list[str] = []
    for line in paragraph.lines:
        text = line.text.strip()
        if line.page != page:
            page = line.page
            # Place the mark after the rest of a hyphenated word, which is joined to its beginning.
            cut = re.match(r"\w*", text) if texts and texts[-1].endswith("-") else None
            at = cut.end() if cut else 0
            text = f"{text[:at]}{chr(PAGE_MARK + page)}{text[at:]}"
        texts.append(text)
    return texts, page


def _is_like(first: Line, second: Line) -> bool:
    """Whether the second of two headings has the same font as the first, or a larger one."""
    return (
        second.height > 0.95 * first.height
        and (second.bold or not first.bold)
        and (second.text.isupper() or not first.text.isupper())
    )


def _unnumbered(text: str) -> str:
    return re.sub(r"\A\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+", "", text).rstrip(":")


def _matches(file: SourceFile) -> bool:
    return file.head.lstrip()[:5] == b"%PDF-"


PDF = SourceFormat("a PDF with text, one document", _read, _matches, suffixes=(".pdf",))
