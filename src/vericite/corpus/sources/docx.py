"""Read Word documents (.docx): headings become sections, and tables are read row by row."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.read import SAFE
from vericite.corpus.sources.entry import plain, without_controls
from vericite.corpus.sources.files import MOST_CHARACTERS, Numbered, SourceFile, SourceFormat
from vericite.corpus.sources.texts import Block, Heading, sections_of
from vericite.errors import InputError
from vericite.records import Document

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

BODY, STYLES = "word/document.xml", "word/styles.xml"
_MOST = 1 << 26
"""Maximum unpacked bytes of XML: a small zip may unpack to a huge file."""
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
# Deleted text, and text that belongs elsewhere: notes, field codes, comments.
LEFT_OUT = frozenset(
    f"{W}{name}"
    for name in "del moveFrom instrText delText footnoteReference endnoteReference commentReference".split()
)
ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
# Elements in a paragraph or a cell that are not part of its sentences.
_APART = (f"{W}tbl", f"{W}txbxContent")


def _read(file: SourceFile) -> Iterator[Numbered]:
    body, styles = _parts(file)
    levels = heading_levels(styles)
    blocks: list[Block] = []
    left = MOST_CHARACTERS
    for block in _blocks(body, levels):
        file.check_cancelled()
        left -= len(block.title if isinstance(block, Heading) else block)
        if left < 0:
            limit = f"at most {MOST_CHARACTERS:,} characters"
            raise InputError(f"expected a Word document of {limit}; found more in {file.path}. Split it")
        blocks.append(block)
    title = ""
    if blocks and isinstance(first := blocks[0], Heading) and _is_title(blocks):
        title, blocks = first.title, blocks[1:]
    sections = sections_of(blocks)
    if not sections:
        raise InputError(f"expected text; found an empty document: {file.path}")
    yield 1, Document(id=file.name, title=title, sections=sections)


def _is_title(blocks: list[Block]) -> bool:
    """Whether the first heading is above all other headings."""
    first, *others = (block for block in blocks if isinstance(block, Heading))
    return all(other.level > first.level for other in others)


def _parts(file: SourceFile) -> tuple[_Element, _Element | None]:
    with unpacked(file) as archive:
        styles = parsed_part(file, archive, STYLES) if STYLES in archive.namelist() else None
        return parsed_part(file, archive, BODY), styles


@contextmanager
def unpacked(file: SourceFile) -> Generator[zipfile.ZipFile]:
    """Open a Word document as an archive.

    Raises:
        InputError: It is no Word document, or cannot be unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(file.content())) as archive:
            if BODY not in archive.namelist():
                raise InputError(f"expected a Word document; found {file.path}, a ZIP archive without {BODY}")
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
        # RuntimeError: encrypted. NotImplementedError: an unusual compression method.
        raise InputError(f"expected a Word document; found {file.path}, which cannot be unpacked: {error}") from None


def parsed_part(file: SourceFile, archive: zipfile.ZipFile, name: str) -> _Element:
    """Return the root of an XML part of a Word document; see ``unpacked``."""
    from lxml import etree

    content = part_content(file, archive, name)
    try:
        # Comments and processing instructions are dropped; entities are not resolved.
        return etree.fromstring(content, etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        raise InputError(f"expected a Word document; found {file.path} with broken XML: {error.msg}") from None


def part_content(file: SourceFile, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a part of a Word document; see ``unpacked``.

    Raises:
        InputError: The part is too large.
    """
    try:
        with archive.open(name) as part:
            content = part.read(_MOST + 1)
    except ValueError as error:  # An offset that is negative, or behind the end.
        raise zipfile.BadZipFile(str(error)) from None
    if len(content) > _MOST:
        raise InputError(f"expected a Word document of at most {_MOST:,} bytes of text; found more in {file.path}")
    return content


def heading_levels(styles: _Element | None) -> dict[str, int]:
    """Return the levels of heading styles by id; 0 is the title. Ids are in the language of the author's Word."""
    found: dict[str, int] = {}
    for style in styles.iter(f"{W}style") if styles is not None else ():
        id = style.get(f"{W}styleId") or ""
        name = style.find(f"{W}name")
        called = (name.get(f"{W}val") or "" if name is not None else "").lower()
        outline = style.find(f"{W}pPr/{W}outlineLvl")
        if called == "title":
            found[id] = 0
        elif heading := _HEADING.fullmatch(called):
            found[id] = int(heading[1])
        elif outline is not None and (level := outline.get(f"{W}val") or "").isdigit() and int(level) < 9:
            found[id] = int(level) + 1
    return found


def _blocks(elements: Iterable[_Element], levels: dict[str, int]) -> Iterator[Block]:
    for child in elements:
        if child.tag == f"{W}p":
            if text := plain(without_controls(_text(child)).replace("<", "&lt;")):
                level = heading_level(child, levels)
                yield text if level is None or len(text) >= 300 else Heading(level, text.replace("\n", " "))
            yield from _blocks(descendants(child, _APART), levels)
        elif child.tag == f"{W}tbl":
            for row in descendants(child, (f"{W}tr",)):
                cells = (" ".join(_text(cell).split()) for cell in descendants(row, (f"{W}tc",)))
                if words := ", ".join(without_controls(cell) for cell in cells if cell):
                    yield words if words.endswith((".", "!", "?")) else f"{words}."
                yield from _blocks(descendants(row, _APART), levels)
        else:
            # Elements that wrap paragraphs: the body, content controls, insertions.
            yield from _blocks(read_children(child), levels)


def read_children(element: _Element, left_out: Collection[str] = LEFT_OUT) -> Iterable[_Element]:
    """Return the children to read; of alternatives with the same content, only the first."""
    if element.tag == ALTERNATIVES:
        return list(element)[:1]
    return (child for child in element if child.tag not in left_out)


def descendants(element: _Element, tags: tuple[str, ...], left_out: Collection[str] = LEFT_OUT) -> Iterator[_Element]:
    """Yield descendants with these tags, except those nested in another match, a table or a text box."""
    for child in read_children(element, left_out):
        if child.tag in tags:
            yield child
        elif child.tag not in _APART:
            yield from descendants(child, tags, left_out)


def heading_level(paragraph: _Element, levels: dict[str, int]) -> int | None:
    """Return the level of a paragraph that is a heading; 0 is the title."""
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    if style is None:
        return None
    id = style.get(f"{W}val") or ""
    known = _HEADING.fullmatch(id)
    return levels.get(id, int(known[1]) if known else 0 if id == "Title" else None)


def _text(element: _Element) -> str:
    words = ""
    for part, raised in _runs(element, ""):
        if raised and words[-1:].isdigit() and part[:1].strip() and (part[0].isdigit() or part[0] in "-−+"):
            words += f"{raised}{part} "
        else:
            words += part
    return words


def _runs(element: _Element, raised: str) -> Iterator[tuple[str, str]]:
    """Yield the text of an element in runs, with ``^`` for superscript and ``_`` for subscript."""
    for child in read_children(element):
        if child.tag in _APART:
            continue
        if child.tag == f"{W}t":
            # Unresolved entities split the text; itertext returns all of it.
            yield "".join(map(str, child.itertext())), raised
        elif child.tag in (f"{W}tab", f"{W}br", f"{W}cr"):
            yield " ", raised
        elif child.tag == f"{W}noBreakHyphen":
            yield "-", raised
        elif child.tag == f"{W}p":
            yield from _runs(child, raised)
            yield " ", ""
        elif child.tag not in (f"{W}pPr", f"{W}rPr"):
            mark = child.find(f"{W}rPr/{W}vertAlign") if child.tag == f"{W}r" else None
            value = "" if mark is None else mark.get(f"{W}val")
            yield from _runs(child, {"superscript": "^", "subscript": "_"}.get(value or "", raised))


_SUFFIXES = (".docx", ".docm")


def _matches(file: SourceFile) -> bool:
    return file.head.startswith(b"PK\x03\x04") and (file.suffix in _SUFFIXES or b"word/" in file.head)


DOCX = SourceFormat("a Word document (.docx), one document", _read, _matches, suffixes=_SUFFIXES)
