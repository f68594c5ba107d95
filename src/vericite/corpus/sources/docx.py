"""Read Word documents (.docx): headings become sections, and tables are read row by row."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.read import SAFE
from vericite.corpus.sources.entry import plain, without_controls
from vericite.corpus.sources.files import MOST_CHARACTERS, Numbered, SourceFile, SourceFormat
from vericite.corpus.sources.texts import Block, Heading, sections_of
from vericite.errors import InputError
from vericite.records import Document

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_BODY, _STYLES = "word/document.xml", "word/styles.xml"
_MOST = 1 << 26
"""Maximum unpacked bytes of XML: a small zip may unpack to a huge file."""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
# Deleted text, and text that belongs elsewhere: notes, field codes, comments.
_LEFT_OUT = frozenset(
    f"{_W}{name}"
    for name in "del moveFrom instrText delText footnoteReference endnoteReference commentReference".split()
)
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
# Elements in a paragraph or a cell that are not part of its sentences.
_APART = (f"{_W}tbl", f"{_W}txbxContent")


def _read(file: SourceFile) -> Iterator[Numbered]:
    body, styles = _parts(file)
    levels = _levels(styles)
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
    try:
        with zipfile.ZipFile(io.BytesIO(file.content())) as archive:
            names = set(archive.namelist())
            if _BODY not in names:
                raise InputError(f"expected a Word document; found {file.path}, a ZIP archive without {_BODY}")
            styles = _parsed(file, archive, _STYLES) if _STYLES in names else None
            return _parsed(file, archive, _BODY), styles
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
        # RuntimeError: encrypted. NotImplementedError: an unusual compression method.
        raise InputError(f"expected a Word document; found {file.path}, which cannot be unpacked: {error}") from None


def _parsed(file: SourceFile, archive: zipfile.ZipFile, name: str) -> _Element:
    from lxml import etree

    with archive.open(name) as part:
        content = part.read(_MOST + 1)
    if len(content) > _MOST:
        raise InputError(f"expected a Word document of at most {_MOST:,} bytes of text; found more in {file.path}")
    try:
        # Comments and processing instructions are dropped; entities are not resolved.
        return etree.fromstring(content, etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        raise InputError(f"expected a Word document; found {file.path} with broken XML: {error.msg}") from None


def _levels(styles: _Element | None) -> dict[str, int]:
    """Return the levels of heading styles by id; 0 is the title. Ids are in the language of the author's Word."""
    found: dict[str, int] = {}
    for style in styles.iter(f"{_W}style") if styles is not None else ():
        id = style.get(f"{_W}styleId") or ""
        name = style.find(f"{_W}name")
        called = (name.get(f"{_W}val") or "" if name is not None else "").lower()
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        if called == "title":
            found[id] = 0
        elif heading := _HEADING.fullmatch(called):
            found[id] = int(heading[1])
        elif outline is not None and (level := outline.get(f"{_W}val") or "").isdigit() and int(level) < 9:
            found[id] = int(level) + 1
    return found


def _blocks(elements: Iterable[_Element], levels: dict[str, int]) -> Iterator[Block]:
    for child in elements:
        if child.tag == f"{_W}p":
            if text := plain(without_controls(_text(child)).replace("<", "&lt;")):
                level = _level(child, levels)
                yield text if level is None or len(text) >= 300 else Heading(level, text.replace("\n", " "))
            yield from _blocks(_found(child, _APART), levels)
        elif child.tag == f"{_W}tbl":
            for row in _found(child, (f"{_W}tr",)):
                cells = (" ".join(_text(cell).split()) for cell in _found(row, (f"{_W}tc",)))
                if words := ", ".join(without_controls(cell) for cell in cells if cell):
                    yield words if words.endswith((".", "!", "?")) else f"{words}."
                yield from _blocks(_found(row, _APART), levels)
        else:
            # Elements that wrap paragraphs: the body, content controls, insertions.
            yield from _blocks(_read_of(child), levels)


def _read_of(element: _Element) -> Iterable[_Element]:
    """Return the children to read; of alternatives with the same content, only the first."""
    if element.tag == _ALTERNATIVES:
        return list(element)[:1]
    return (child for child in element if child.tag not in _LEFT_OUT)


def _found(element: _Element, tags: tuple[str, ...]) -> Iterator[_Element]:
    """Yield descendants with these tags, except those nested in another match, a table or a text box."""
    for child in _read_of(element):
        if child.tag in tags:
            yield child
        elif child.tag not in _APART:
            yield from _found(child, tags)


def _level(paragraph: _Element, levels: dict[str, int]) -> int | None:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    if style is None:
        return None
    id = style.get(f"{_W}val") or ""
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
    for child in _read_of(element):
        if child.tag in _APART:
            continue
        if child.tag == f"{_W}t":
            # Unresolved entities split the text; itertext returns all of it.
            yield "".join(map(str, child.itertext())), raised
        elif child.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
            yield " ", raised
        elif child.tag == f"{_W}noBreakHyphen":
            yield "-", raised
        elif child.tag == f"{_W}p":
            yield from _runs(child, raised)
            yield " ", ""
        elif child.tag not in (f"{_W}pPr", f"{_W}rPr"):
            mark = child.find(f"{_W}rPr/{_W}vertAlign") if child.tag == f"{_W}r" else None
            value = "" if mark is None else mark.get(f"{_W}val")
            yield from _runs(child, {"superscript": "^", "subscript": "_"}.get(value or "", raised))


_SUFFIXES = (".docx", ".docm")


def _matches(file: SourceFile) -> bool:
    return file.head.startswith(b"PK\x03\x04") and (file.suffix in _SUFFIXES or b"word/" in file.head)


DOCX = SourceFormat("a Word document (.docx), one document", _read, _matches, suffixes=_SUFFIXES)
