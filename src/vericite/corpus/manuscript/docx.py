"""Read Word manuscripts: field codes of Zotero, Mendeley, EndNote and Word, notes, tracked changes."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from vericite.corpus.manuscript.bibliography import Bibliography
from vericite.corpus.manuscript.draft import Draft, Mark, Piece, read_notes, text_of
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.pubmed.read import SAFE
from vericite.corpus.sources.docx import (
    ALTERNATIVES,
    BODY,
    DOCX,
    STYLES,
    W,
    descendants,
    heading_level,
    heading_levels,
    parsed_part,
    read_children,
    unpacked,
)
from vericite.corpus.sources.endnote import entry_of_xml
from vericite.corpus.sources.entry import DocumentEntry
from vericite.corpus.sources.files import SourceFile
from vericite.corpus.sources.rows import entry_of_csl
from vericite.errors import InputError
from vericite.formats.form import dict_of, dicts_in, items_in
from vericite.records import Manuscript

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

MOST_FIELDS = 50
"""Maximum number of nested fields."""
_MOST_FIELD = 1 << 24
"""Maximum characters of the code of a field."""
_BIBLIOGRAPHY = re.compile(
    r"\s*(?:ADDIN\s+(?:ZOTERO_BIBL|EN\.REFLIST|Mendeley\s+Bibliography|CSL_BIBLIOGRAPHY)|BIBLIOGRAPHY|BIBL)\b"
)
_CONTENTS = re.compile(r"\s*TO[AC]\b")
_CSL = re.compile(
    r"\s*(?:ADDIN\s+)?(?:ZOTERO_)?(?:ITEM\s+)?(?:Mendeley\s+Citation\{[^{}]{0,99}\}\s*)?CSL_CITATION\s*(?=\{)"
)
_ENDNOTE = re.compile(r"\s*ADDIN\s+EN\.CITE(?:\.DATA)?\b")
_WORD = re.compile(r"\s*CITATION\s+(?P<first>[^\s\\]+)")
_WORD_MORE = re.compile(r"\\m\s+([^\s\\]+)")
_SDT_CITATION = "MENDELEY_CITATION_v3_"
_RAISED = re.compile(r"\s*\d{1,4}(?:\s*[,;–—-]\s*\d{1,4})*\s*,?\s*")
_UNREAD = {
    "vbaProject.bin": "macros were not read",
    "/embeddings/": "embedded files were not read",
    "/activeX/": "controls were not read",
}
_HYPERLINK = "/hyperlink"


@dataclass(slots=True, eq=False)
class _Field:
    """A field that is open: its code, and what stands in its place."""

    code: list[str] = field(default_factory=list[str])
    data: str = ""
    in_result: bool = False
    result: list[Piece] = field(default_factory=list[Piece])
    printed: list[str] = field(default_factory=list[str])
    name: str = ""

    @property
    def is_list(self) -> bool:
        return self.in_result and bool(_BIBLIOGRAPHY.match("".join(self.code)))

    @property
    def is_contents(self) -> bool:
        return self.in_result and bool(_CONTENTS.match("".join(self.code)))


@dataclass(slots=True)
class _Reader:
    """Walks through the body of a document, field codes included."""

    draft: Draft
    levels: dict[str, int]
    sources: Mapping[str, DocumentEntry]
    bookmarks: Mapping[str, str]
    notes: Mapping[str, _Element]
    open: list[_Field] = field(default_factory=list[_Field])
    pieces: list[Piece] = field(default_factory=list[Piece])
    raised: list[str] = field(default_factory=list[str])
    has_codes: bool = False

    def blocks(self, elements: Iterable[_Element]) -> None:
        for child in elements:
            if child.tag == f"{W}p":
                self.paragraph(child)
            elif child.tag == f"{W}tbl":
                self.table(child)
            elif child.tag == f"{W}sdt":
                self.control(child, blocks=True)
            elif child.tag not in _SKIPPED:
                self.blocks(_children(child))

    def paragraph(self, element: _Element) -> None:
        self.runs(element)
        level = heading_level(element, self.levels)
        self.finish(level)
        for box in _found(element, "txbxContent"):
            self.blocks(_children(box))

    def table(self, table: _Element) -> None:
        for row in _found(table, "tr"):
            first = True
            for cell in _found(row, "tc"):
                if not first and self.pieces:
                    self.emit(" | ")
                first = False
                for paragraph in _found(cell, "p"):
                    self.runs(paragraph)
                    self.emit(" ")
            self.finish(None)

    def finish(self, level: int | None) -> None:
        """End the paragraph. A field of a list goes on in the next one; a citation that is not closed ends here."""
        self.flush()
        for frame in reversed(self.open):
            if frame.is_list or frame.is_contents:
                frame.printed.append(_plain(frame.result))
                frame.result = []
            elif frame.in_result:
                self.close(frame)
        pieces, self.pieces = self.pieces, []
        words = _plain(pieces)
        if level is not None and len(words) < 300:
            self.draft.paragraph(pieces, level)
        elif words.strip():
            self.draft.paragraph(pieces)

    # Inline

    def runs(self, element: _Element) -> None:
        for child in _children(element):
            tag = child.tag
            if tag == f"{W}r":
                self.run(child)
            elif tag == f"{W}fldSimple":
                frame = _Field(code=[child.get(f"{W}instr") or ""], in_result=True, data=_data(child))
                self.begin(frame)
                self.runs(child)
                self.close(frame)
            elif tag == f"{W}sdt":
                self.control(child, blocks=False)
            elif tag == f"{W}bookmarkStart":
                name = child.get(f"{W}name") or ""
                if code := self.bookmarks.get(name):
                    self.begin(_Field(code=[code], in_result=True, name=child.get(f"{W}id") or ""))
            elif tag == f"{W}bookmarkEnd":
                id = child.get(f"{W}id") or ""
                for frame in [frame for frame in self.open if id and frame.name == id]:
                    self.close(frame)
            elif tag not in _SKIPPED:
                self.runs(child)

    def run(self, run: _Element) -> None:
        style = run.find(f"{W}rPr")
        hidden = style is not None and _is_on(style.find(f"{W}vanish"))
        align = style.find(f"{W}vertAlign") if style is not None else None
        raised = align is not None and align.get(f"{W}val") == "superscript"
        if hidden:
            self.draft.note("hidden text was left out")
        for child in _children(run):
            if child.tag == f"{W}fldChar":
                self.field_char(child)
            elif child.tag == f"{W}instrText":
                self.instruct("".join(map(str, child.itertext())))
            elif not hidden:
                self.shown(child, raised)

    def shown(self, child: _Element, raised: bool) -> None:
        if child.tag == f"{W}t":
            text = "".join(map(str, child.itertext()))
            if raised:
                self.raised.append(text)
            else:
                self.emit(text)
        elif child.tag in (f"{W}tab", f"{W}br", f"{W}cr"):
            self.emit(" ")
        elif child.tag == f"{W}noBreakHyphen":
            self.emit("-")
        elif child.tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
            self.note_mark(child)
        elif child.tag == ALTERNATIVES:
            self.runs(child)

    def begin(self, frame: _Field) -> None:
        """Open a field, perhaps within others."""
        self.flush()
        self.open.append(frame)
        if len(self.open) > MOST_FIELDS:
            limit = f"at most {MOST_FIELDS} nested fields"
            raise InputError(f"expected {limit}; found more in {self.draft.name}. Turn its fields into text")

    def field_char(self, char: _Element) -> None:
        kind = char.get(f"{W}fldCharType")
        if kind == "begin":
            self.begin(_Field(data=_data(char)))
            return
        frame = next((frame for frame in reversed(self.open) if not frame.name), None)
        if kind == "separate" and self.open:
            self.flush()
            (frame or self.open[-1]).in_result = True
        elif kind == "end" and frame is not None:
            self.close(frame)

    def instruct(self, text: str) -> None:
        frame = next((frame for frame in reversed(self.open) if not frame.in_result), None)
        if frame is not None and sum(map(len, frame.code)) + len(text) <= _MOST_FIELD:
            frame.code.append(text)

    def flush(self) -> None:
        """Write what stands superscript: numbers as ``^1,2^``."""
        if self.raised:
            text, self.raised = "".join(self.raised), []
            bare = text.strip()
            self.emit(f"^{''.join(bare.split())}^" if _RAISED.fullmatch(bare) else text)

    def emit(self, piece: Piece) -> None:
        self.flush()
        if self.open and not self.open[-1].in_result:
            # In the code of a field, which is not shown.
            return
        (self.open[-1].result if self.open else self.pieces).append(piece)

    def close(self, frame: _Field) -> None:
        self.flush()
        if frame not in self.open:
            return
        at = next(at for at, other in enumerate(self.open) if other is frame)
        inner, self.open = self.open[at + 1 :], self.open[:at]
        for other in inner:
            frame.result += other.result
        code = "".join(frame.code)
        if _BIBLIOGRAPHY.match(code):
            self.draft.list_is_known = self.has_codes = True
            self.draft.printed += [text for text in [*frame.printed, _plain(frame.result)] if text.strip()]
            return
        if _CONTENTS.match(code):
            return
        if _ENDNOTE.match(code) and self.open and not self.open[-1].in_result:
            # EN.CITE.DATA in the code of EN.CITE.
            self.open[-1].data = self.open[-1].data or frame.data
            return
        keys = self.keys(code, frame.data)
        if keys:
            self.has_codes = True
            self.emit(Mark(_plain(frame.result).strip(), keys))
        else:
            for piece in frame.result:
                self.emit(piece)

    def control(self, control: _Element, blocks: bool) -> None:
        tag = control.find(f"{W}sdtPr/{W}tag")
        value = (tag.get(f"{W}val") or "") if tag is not None else ""
        content = control.find(f"{W}sdtContent")
        if content is None:
            return
        code = ""
        if value.startswith(_SDT_CITATION):
            code = f"CSL_CITATION {_base64(value[len(_SDT_CITATION) :])}"
        elif value == "MENDELEY_BIBLIOGRAPHY":
            code = "BIBLIOGRAPHY"
        if not code:
            self.blocks(_children(content)) if blocks else self.runs(content)
            return
        frame = _Field(code=[code], in_result=True, name="control")
        self.begin(frame)
        if blocks and not frame.is_list:
            for paragraph in _found(content, "p"):
                self.runs(paragraph)
        elif blocks:
            self.blocks(_children(content))
        else:
            self.runs(content)
        self.close(frame)
        if blocks and not frame.is_list:
            self.finish(None)

    def keys(self, code: str, data: str) -> tuple[str, ...]:
        """Return the works that a field cites."""
        if found := _CSL.match(code):
            return self.csl(code[found.end() :])
        if _ENDNOTE.match(code):
            written = code[code.find("<EndNote") :] if "<EndNote" in code else _base64(data)
            return self.endnote(written)
        if found := _WORD.match(code):
            tags = [found["first"], *_WORD_MORE.findall(code)]
            return tuple(dict.fromkeys(self.source(tag) for tag in tags))
        return ()

    def csl(self, text: str) -> tuple[str, ...]:
        try:
            value, _ = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            self.draft.note("a citation of the reference manager could not be read: its data is not JSON")
            return ()
        keys: list[str] = []
        for number, item in enumerate(dicts_in(dict_of(value).get("citationItems")), start=1):
            data = dict_of(item.get("itemData"))
            named = (item.get(name) for name in ("uris", "uri"))
            uris = [uri for value in named for uri in (items_in(value) or [value]) if isinstance(uri, str)]
            own = str(data.get("id") or item.get("id") or number)
            # Mendeley counts the items of each citation: ITEM-1 is another work in the next.
            key = re.split(r"[/=]", uris[0])[-1] if uris else own
            keys.append(self.add(entry_of_csl(data), key or own))
        return tuple(dict.fromkeys(keys))

    def endnote(self, text: str) -> tuple[str, ...]:
        from lxml import etree

        try:
            root = etree.fromstring(text.rstrip("\0 ").encode(), etree.XMLParser(**SAFE))
        except (etree.XMLSyntaxError, ValueError):
            self.draft.note("a citation of EndNote could not be read: its data is not XML")
            return ()
        keys: list[str] = []
        for cite in root.iter("Cite"):
            number = (cite.findtext("RecNum") or "").strip()
            record = cite.find("record")
            if record is not None:
                keys.append(self.add(entry_of_xml(record), number or f"EndNote {len(keys) + 1}"))
            elif number:
                words = [(cite.findtext(name) or "").strip() for name in ("Author", "Year")]
                entry = DocumentEntry(authors=(words[0],) if words[0] else (), date=words[1])
                keys.append(number if number in self.draft.works.by_key else self.add(entry, number))
        return tuple(dict.fromkeys(keys))

    def source(self, tag: str) -> str:
        entry = self.sources.get(tag)
        return tag if entry is None else self.add(entry, tag)

    def add(self, entry: DocumentEntry, key: str) -> str:
        reference = entry.reference(key).model_copy(update={"key": key, "origin": "field code"})
        return self.draft.works.add(reference)

    def note_mark(self, element: _Element) -> None:
        kind = "footnote" if element.tag == f"{W}footnoteReference" else "endnote"
        id = element.get(f"{W}id") or ""
        content = self.notes.get(f"{kind} {id}")
        if content is None:
            # The text cites a note that the file lacks.
            self.draft.by_note.add(f"{kind} {id}")
            self.emit(Mark(f"^{id}^", (f"{kind} {id}",)))
            return
        inner = _Reader(Draft(f"{kind} {id}", works=self.draft.works), {}, self.sources, self.bookmarks, {})
        marks: list[str] = []
        words: list[str] = []
        for paragraph in _found(content, "p"):
            inner.runs(paragraph)
            inner.flush()
            for frame in [frame for frame in inner.open if frame.in_result]:
                inner.close(frame)
            words.append(_plain(inner.pieces))
            marks += [key for piece in inner.pieces if isinstance(piece, Mark) for key in piece.keys]
            inner.pieces, inner.open = [], []
        self.has_codes |= inner.has_codes
        text = " ".join(" ".join(words).split())
        keys = tuple(dict.fromkeys(marks))
        if not keys and (key := self.draft.cited_by_note(f"{kind} {id}", text)):
            keys = (key,)
        if keys:
            self.emit(Mark(f"^{id}^", keys))


_SKIPPED = frozenset(
    f"{W}{name}" for name in "pPr rPr sdtPr sdtEndPr tbl txbxContent delText delInstrText sectPr".split()
)


_DELETED = (f"{W}del", f"{W}moveFrom")


def _children(element: _Element) -> Iterable[_Element]:
    return read_children(element, _DELETED)


def _found(element: _Element, name: str) -> Iterable[_Element]:
    return descendants(element, (f"{W}{name}",), _DELETED)


def _is_on(element: _Element | None) -> bool:
    return element is not None and element.get(f"{W}val") not in ("0", "false", "off")


def _plain(pieces: Iterable[Piece]) -> str:
    return "".join(map(text_of, pieces))


def _data(element: _Element) -> str:
    return element.findtext(f"{W}fldData") or ""


def _base64(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=False).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _read(file: SourceFile, bibliography: Bibliography) -> Manuscript:
    with unpacked(file) as archive:
        return read_notes(partial(_drafted, file, archive, bibliography))


def _drafted(file: SourceFile, archive: zipfile.ZipFile, bibliography: Bibliography, has_remarks: bool) -> Draft:
    draft = Draft(file.name, notes=list(bibliography.notes), has_remarks=has_remarks)
    names = set(archive.namelist())
    styles = parsed_part(file, archive, STYLES) if STYLES in names else None
    _note_unread(draft, file, archive, names)
    reader = _Reader(
        draft,
        heading_levels(styles),
        _word_sources(file, archive, names),
        _bookmarks(file, archive, names),
        _notes(file, archive, names),
    )
    reader.blocks(_children(parsed_part(file, archive, BODY)))
    reader.finish(None)
    for frame in reader.open:
        # A list whose field is not closed.
        if frame.is_list:
            draft.list_is_known = True
            draft.printed += [text for text in frame.printed if text.strip()]
    if not reader.has_codes:
        draft.only_if_cited = {draft.works.add(reference) for reference in bibliography.works.values()}
    return draft


def _note_unread(draft: Draft, file: SourceFile, archive: zipfile.ZipFile, names: set[str]) -> None:
    for part, note in _UNREAD.items():
        if any(part in f"/{name}" for name in names):
            draft.note(note)
    relations = "word/_rels/document.xml.rels"
    if relations in names:
        outside = [
            relation
            for relation in parsed_part(file, archive, relations)
            if relation.get("TargetMode") == "External" and not (relation.get("Type") or "").endswith(_HYPERLINK)
        ]
        if outside:
            links = "1 link to another file was" if len(outside) == 1 else f"{len(outside)} links to other files were"
            draft.note(f"{links} not followed")


def _notes(file: SourceFile, archive: zipfile.ZipFile, names: set[str]) -> dict[str, _Element]:
    found: dict[str, _Element] = {}
    for kind in ("footnote", "endnote"):
        if (part := f"word/{kind}s.xml") in names:
            for note in parsed_part(file, archive, part).iter(f"{W}{kind}"):
                if note.get(f"{W}type") in (None, "normal"):
                    found[f"{kind} {note.get(f'{W}id')}"] = note
    return found


_B = "{http://schemas.openxmlformats.org/officeDocument/2006/bibliography}"
_PROPERTY = "{http://schemas.openxmlformats.org/officeDocument/2006/custom-properties}property"
_ZOTERO = re.compile(r"((?:ZOTERO|CSL)_BREF_\w{1,40}?)_(\d{1,5})")


def _word_sources(file: SourceFile, archive: zipfile.ZipFile, names: set[str]) -> dict[str, DocumentEntry]:
    """Return the sources of Word's own citations by tag."""
    found: dict[str, DocumentEntry] = {}
    for part in sorted(name for name in names if re.fullmatch(r"customXml/item\d{1,5}\.xml", name)):
        try:
            root = parsed_part(file, archive, part)
        except InputError:
            continue
        for source in root.iter(f"{_B}Source"):
            values = {child.tag.removeprefix(_B): (child.text or "").strip() for child in source}
            people = [
                f"{person.findtext(f'{_B}Last') or ''}, {person.findtext(f'{_B}First') or ''}".strip(", ")
                for person in source.iterfind(f"{_B}Author/{_B}Author/{_B}NameList/{_B}Person")
            ]
            group = source.findtext(f"{_B}Author/{_B}Author/{_B}Corporate")
            found[values.get("Tag", "")] = DocumentEntry(
                title=values.get("Title", ""),
                authors=tuple(people) or ((group,) if group else ()),
                journal=values.get("JournalName", "") or values.get("PeriodicalTitle", ""),
                date=values.get("Year", ""),
                volume=values.get("Volume", ""),
                issue=values.get("Issue", ""),
                pages=values.get("Pages", ""),
                doi=values.get("DOI", "") or values.get("StandardNumber", ""),
                url=values.get("URL", ""),
            )
    return found


def _bookmarks(file: SourceFile, archive: zipfile.ZipFile, names: set[str]) -> dict[str, str]:
    """Return Zotero's citations that are bookmarks: their codes are in the properties, in numbered parts."""
    part = "docProps/custom.xml"
    if part not in names:
        return {}
    parts: dict[str, dict[int, str]] = {}
    for entry in parsed_part(file, archive, part).iter(_PROPERTY):
        if found := _ZOTERO.fullmatch(entry.get("name") or ""):
            parts.setdefault(found[1], {})[int(found[2])] = "".join(map(str, entry.itertext()))
    return {name: "".join(text for _, text in sorted(texts.items())) for name, texts in parts.items()}


DOCX_MANUSCRIPT = ManuscriptKind("a Word document (.docx)", _read, DOCX.matches, suffixes=DOCX.suffixes)
