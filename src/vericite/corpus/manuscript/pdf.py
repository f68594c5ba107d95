"""Read manuscripts in PDF: running text with page starts, citing places, and the list of references by its layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from vericite.corpus.manuscript.bibliography import Bibliography
from vericite.corpus.manuscript.draft import Works, names_of
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.sources.files import SourceFile
from vericite.corpus.sources.pdf import PDF, Paragraph, PdfLayout, layout_of, marked_lines
from vericite.corpus.sources.pdf_lines import MARKS, PAGE_MARK, Line
from vericite.corpus.sources.texts import joined_lines, words_in
from vericite.records.manuscripts import Manuscript, ManuscriptCitation, ManuscriptHeading, Reference
from vericite.text.printed import (
    AFTER_LIST,
    LIST_HEADING,
    NO_LIST,
    link,
    listed_reference,
    split_list,
    split_references,
)


def _read(file: SourceFile, bibliography: Bibliography) -> Manuscript:
    layout = layout_of(file, is_manuscript=True)
    body, listed = _without_list(layout)
    text, headings, pages = _running_text(body, layout.pages)
    entries = split_list(_indented(listed))
    if not entries:
        start, entries = split_references(text)
        text = text[:start].rstrip()
        headings = [heading for heading in headings if heading.start < len(text)]
        pages = [min(page, len(text)) for page in pages]
    file.check_cancelled()
    references = _known([listed_reference(entry, key) for key, entry in entries], bibliography)
    notes = [*bibliography.notes]
    notes += [problem if page == 0 else f"page {page}: {problem}" for page, problem in layout.problems]
    if not references:
        notes.append(NO_LIST)
    citations = link(text, references)
    return Manuscript(
        name=file.name,
        title=layout.title,
        text=text,
        headings=tuple(headings),
        pages=tuple(pages),
        citations=tuple(_after_front(text, headings, citations)),
        references=tuple(references),
        notes=tuple(notes),
    )


def lines_in_order(file: SourceFile) -> tuple[list[Line], list[Line]]:
    """Return the lines of a PDF in the order of the manuscript's text, and those of its list of references."""
    layout = layout_of(file, is_manuscript=True)
    body, listed = _without_list(layout)
    return [line for paragraph in body for line in paragraph.lines], listed


def _known(printed: list[Reference], bibliography: Bibliography) -> list[Reference]:
    """Give printed references the fields of their records; without a printed list, return the records."""
    works = Works()
    for record in bibliography.works.values():
        works.add(record)
    if not printed:
        return list(works.by_key.values())
    found: list[Reference] = []
    for reference in printed:
        key = works.find(*names_of(reference))
        own = {"key": reference.key, "text": reference.text, "passage": reference.passage}
        record = works.by_key[key].model_copy(update=own) if key else None
        found.append(record or reference)
    return found


def _without_list(layout: PdfLayout) -> tuple[list[Paragraph], list[Line]]:
    """Separate the list of references: what follows the last heading of one, up to a heading of something else."""
    paragraphs = layout.paragraphs
    at = [number for number, each in enumerate(paragraphs) if LIST_HEADING.fullmatch(each.text.strip())]
    if not at:
        return paragraphs, []
    begin = at[-1]
    end = next(
        (number for number in range(begin + 1, len(paragraphs)) if _ends_list(paragraphs[number])), len(paragraphs)
    )
    listed = {id(line) for paragraph in paragraphs[begin + 1 : end] for line in paragraph.lines}
    return [*paragraphs[:begin], *paragraphs[end:]], [line for line in layout.lines if id(line) in listed]


def _ends_list(paragraph: Paragraph) -> bool:
    return paragraph.heading is not None and bool(AFTER_LIST.fullmatch(paragraph.text.strip()))


def _indented(lines: Sequence[Line]) -> list[str]:
    """Return the lines of the list, those that hang with spaces in front."""
    found: list[str] = []
    for line in lines:
        # The left edge of the line's column.
        edge = min(other.left for other in lines if other.page == line.page and -0.5 <= line.left - other.left < 45)
        found.append(("   " if line.left - edge > 4 else "") + " ".join(piece.text.strip() for piece in line.pieces))
    return found


_BROKEN_MARK = re.compile("(?<=[⁰¹²³⁴-⁹][⁻,]) (?=[⁰¹²³⁴-⁹])")
"""The space in raised numbers that begin on one line and end on the next."""


def _running_text(paragraphs: Iterable[Paragraph], count: int) -> tuple[str, list[ManuscriptHeading], list[int]]:
    """Return the text, its headings and the start of each page."""
    given = list(paragraphs)
    words = words_in("\n".join(line.text for paragraph in given for line in paragraph.lines))
    parts: list[str] = []
    headings: list[ManuscriptHeading] = []
    begins: dict[int, int] = {}
    at = page = 0
    for paragraph in given:
        texts, page = marked_lines(paragraph, page)
        joined = joined_lines(texts, words) if paragraph.heading is None else [" ".join(texts)]
        for block in (_BROKEN_MARK.sub("", block) for block in joined):
            plain = ""
            for part in re.split(f"({MARKS.pattern})", block):
                if len(part) == 1 and MARKS.match(part):
                    begins.setdefault(ord(part) - PAGE_MARK, at + len(plain))
                else:
                    plain += part
            if not plain.strip():
                continue
            if paragraph.heading is not None:
                headings.append(ManuscriptHeading(start=at, text=plain, level=paragraph.heading))
            parts.append(plain)
            at += len(plain) + 2
    text = "\n\n".join(parts)
    following = len(text)
    starts: list[int] = []
    for number in range(count, 0, -1):
        following = begins.get(number, following)
        starts.append(following)
    return text, headings, starts[::-1]


_FRONT = re.compile(
    r"(?:\d{1,2}\.?\s{1,3})?(?:abstract|summary|introduction|background|objectives?|purpose)\W{0,3}", re.IGNORECASE
)


def _after_front(
    text: str, headings: Sequence[ManuscriptHeading], found: Iterable[ManuscriptCitation]
) -> Iterator[ManuscriptCitation]:
    """Leave out the marks of authors and their addresses, before the first heading of the text itself."""
    first = next((heading.start for heading in headings if _FRONT.fullmatch(heading.text)), 0)
    begin = first if first < len(text) / 3 else 0
    return (citation for citation in found if citation.span.start >= begin)


PDF_MANUSCRIPT = ManuscriptKind("a PDF with text (.pdf)", _read, PDF.matches, suffixes=PDF.suffixes)
