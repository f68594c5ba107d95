"""A Word document with comments on its sentences. Nothing else in the file is changed.

The parts of the file are copied byte for byte, except the body, which receives the places of the comments, and the
three parts that list the comments. A run of the body is split where a sentence begins or ends within it.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfileobj
from xml.parsers import expat
from xml.sax.saxutils import escape

from vericite.corpus.sources.docx import BODY, part_content, unpacked
from vericite.corpus.sources.files import SourceFile, opened
from vericite.errors import InputError
from vericite.reporting.blocks import NOT_XML

_MOST_IN_ALL = 1 << 30
"""Maximum unpacked bytes of all parts."""
_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_RELATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
)
_PACKAGE_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_COMMENTS, _TYPES = "word/comments.xml", "[Content_Types].xml"
_RELS = "word/_rels/document.xml.rels"
_NO_MACROS = "without macros (save it as .docx to get a copy with comments)"
AUTHOR = "VeriCite"


@dataclass(frozen=True)
class Remark:
    """What is said about a sentence: the words of the sentence, and the lines about it.

    ``parts`` are its words between the marks that cite: the document may print these in another form. ``about`` is the
    outcome of the sentence, or "reference" if the words are a printed reference.
    """

    sentence: str
    lines: tuple[str, ...]
    parts: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Commented:
    """A file with comments.

    Attributes:
        content: The bytes of the file.
        placed: Number of comments in it.
        unplaced: Remarks whose sentence is not in the body, for example because it is in a footnote.
    """

    content: bytes
    placed: int
    unplaced: tuple[Remark, ...]


def with_comments(path: Path, remarks: Sequence[Remark]) -> Commented:
    """Return a Word document with a comment on each sentence that is found in it.

    Args:
        path: The document.
        remarks: The comments, in the order of the text.

    Raises:
        InputError: The file is no Word document, or has a form that cannot be changed safely.
    """
    with opened(path) as file, unpacked(file) as archive:
        return _commented(file, archive, remarks)


def _text_of(content: bytes) -> str | None:
    """Return the text of a part; None if it is no XML."""
    pieces: list[str] = []
    parser = expat.ParserCreate()
    parser.CharacterDataHandler = pieces.append
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        return None
    return "".join(pieces)


def _commented(file: SourceFile, archive: zipfile.ZipFile, remarks: Sequence[Remark]) -> Commented:
    path, names = file.path, set(archive.namelist())
    if sum(member.file_size for member in archive.infolist()) > _MOST_IN_ALL:
        raise InputError(f"expected a Word document of at most {_MOST_IN_ALL:,} bytes; found more in {path}")
    types = part_content(file, archive, _TYPES) if _TYPES in names else b""
    if not types or b"macroEnabled" in types:
        raise InputError(f"expected a Word document {_NO_MACROS if types else f'with {_TYPES}'}; found {path}")
    body = _Body(path, part_content(file, archive, BODY))
    relations = part_content(file, archive, _RELS) if _RELS in names else b""
    name = _comments_part(relations, names)
    old = part_content(file, archive, name) if name in names else b""
    used = _ID.findall(old) + _ID.findall(b"".join(_OF_COMMENT.findall(body.raw)))
    first = 1 + max(map(int, used), default=-1)
    places = body.places(remarks)
    placed = [(place, remark) for place, remark in zip(places, remarks, strict=True) if place is not None]
    for number, (place, _) in enumerate(placed, start=first):
        body.mark(*place, number)
    comments = "".join(_comment(body.space, number, remark) for number, (_, remark) in enumerate(placed, start=first))
    changed = {BODY: body.changed()} if placed else {}
    if placed and _text_of(changed[BODY]) != _text_of(body.raw):
        raise InputError(
            f"expected a Word document whose text can be marked; found {path} in an unusual form. Save it again"
        )
    if placed:
        changed[name] = _with_comments(path, body.space, old, comments)
    if placed and not old:
        link = f'<Relationship Id="vericiteComments" Type="{body.relation}/comments" Target="comments.xml"/>'
        changed[_RELS] = _inside(path, relations, "Relationships", _PACKAGE_RELATIONS, link)
        override = f'<Override PartName="/{_COMMENTS}" ContentType="{_TYPE}"/>'
        changed[_TYPES] = _inside(path, types, "Types", "", override)
    unplaced = tuple(remark for place, remark in zip(places, remarks, strict=True) if place is None)
    return Commented(_packed(archive, changed), len(placed), unplaced)


_ID = re.compile(rb':id\s*=\s*["\'](\d{1,9})["\']')
_OF_COMMENT = re.compile(rb"<(?:[\w.-]+:)?comment(?:RangeStart|RangeEnd|Reference)\b[^<>]*>")
_RELATION = re.compile(rb"<(?:[\w.-]+:)?Relationship\b[^<>]*>")
_TARGET = re.compile(rb"""\bTarget\s*=\s*["']([^"'<>]{1,300})["']""")


def _comments_part(relations: bytes, names: set[str]) -> str:
    """Return the name of the part with comments, which a relation of the body names."""
    for relation in _RELATION.findall(relations):
        target = _TARGET.search(relation)
        if target is not None and re.search(rb"""/comments["']""", relation):
            name = posixpath.normpath(posixpath.join("/word", target[1].decode("utf-8", "replace"))).lstrip("/")
            if name in names:
                return name
    return _COMMENTS


def _packed(archive: zipfile.ZipFile, changed: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as target:
        for known in archive.infolist():
            member = copy(known)
            if member.filename in changed:
                target.writestr(member, changed.pop(member.filename), member.compress_type)
                continue
            with archive.open(known) as source, target.open(member, "w") as part:
                copyfileobj(source, part)
        for name, content in changed.items():
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _comment(space: str, number: int, remark: Remark) -> str:
    lines = "".join(
        f'<w:p><w:r><w:t xml:space="preserve">{escape(NOT_XML.sub("�", line))}</w:t></w:r></w:p>'
        for line in remark.lines
    )
    head = f'<w:comment xmlns:w="{space}" w:id="{number}" w:author="{AUTHOR}" w:initials="VC">'
    return f"{head}{lines}</w:comment>"


def _with_comments(path: Path, space: str, old: bytes, comments: str) -> bytes:
    if old:
        return _inside(path, old, "comments", "", comments)
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    return f'{head}<w:comments xmlns:w="{space}">{comments}</w:comments>'.encode()


def _inside(path: Path, part: bytes, root: str, space: str, added: str) -> bytes:
    """Return a part with more elements at the end of its root."""
    if not part:
        return f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{space}">{added}</{root}>'.encode()
    end = re.compile(rf"</(?:[\w.-]+:)?{root}\s*>\s*\Z".encode()).search(part)
    if end is not None:
        return part[: end.start()] + added.encode() + part[end.start() :]
    empty = re.compile(rf"<((?:[\w.-]+:)?{root})\b([^<>]*)/>\s*\Z".encode()).search(part)
    if empty is None:
        raise InputError(f"expected XML in UTF-8; found {path} with a part that has no end of <{root}>")
    return part[: empty.start()] + b"<%b%b>%b</%b>" % (empty[1], empty[2], added.encode(), empty[1])


@dataclass(slots=True)
class _Run:
    """A run: where its elements are, in bytes of the part."""

    start: int
    content: int = 0
    end: int = 0
    properties: tuple[int, int] | None = None
    last: int = 0


@dataclass(slots=True)
class _Text:
    """The text of a run: where its tag is, whether the tag keeps white space, and where it ends."""

    run: _Run
    tag: tuple[int, int]
    keeps: bool
    end: int = 0
    first: int = 0


@dataclass(slots=True)
class _Body:
    """The body of a document, with the place of each visible character in its bytes."""

    path: Path
    raw: bytes
    space: str = ""
    prefix: str = ""
    letters: str = ""
    at: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    """Of each letter: the number of its text, and where it begins and ends."""
    texts: list[_Text] = field(default_factory=list[_Text])
    inserts: list[tuple[int, int, bytes]] = field(default_factory=list[tuple[int, int, bytes]])

    def __post_init__(self) -> None:
        _Reader(self).read()

    @property
    def relation(self) -> str:
        return _RELATIONS[_WORD.index(self.space)]

    def places(self, remarks: Iterable[Remark]) -> list[tuple[int, int] | None]:
        """Return the first and last letter of each sentence; a repeated one is searched behind the one before."""
        found: list[tuple[int, int] | None] = []
        behind = 0
        for remark in remarks:
            place = self._place(_bare(remark.sentence), list(filter(None, map(_bare, remark.parts))), behind)
            found.append(place)
            behind = behind if place is None else place[1] + 1
        return found

    def _place(self, bare: str, parts: Sequence[str], behind: int) -> tuple[int, int] | None:
        if not bare:
            return None
        for start in (behind, 0):
            at = self.letters.find(bare, start)
            if at >= 0:
                return at, at + len(bare) - 1
        if parts and (found := self._place_parts(parts, behind) or self._place_parts(parts, 0)):
            return found
        # A note or a field within it may be printed in another form: its beginning and its end must do.
        head, tail = bare[:_ENDS], bare[-_ENDS:]
        at = self.letters.find(head, behind) if len(bare) > 2 * _ENDS else -1
        end = self.letters.find(tail, at + len(head), at + 2 * len(bare) + _ENDS) if at >= 0 else -1
        return None if end < 0 else (at, end + len(tail) - 1)

    def _place_parts(self, parts: Sequence[str], behind: int) -> tuple[int, int] | None:
        """Return where the parts follow each other, with at most a mark between two of them."""
        at = self.letters.find(parts[0], behind)
        while at >= 0:
            end = at + len(parts[0])
            for part in parts[1:]:
                next_ = self.letters.find(part, end, end + len(part) + _MARK)
                if next_ < 0:
                    break
                end = next_ + len(part)
            else:
                return at, end - 1
            at = self.letters.find(parts[0], at + 1)
        return None

    def mark(self, first: int, last: int, number: int) -> None:
        """Add the places of a comment around these letters."""
        w = self.prefix
        start = f'<{w}commentRangeStart {w}id="{number}"/>'
        end = f'<{w}commentRangeEnd {w}id="{number}"/><{w}r><{w}commentReference {w}id="{number}"/></{w}r>'
        text, at, _ = self.at[first]
        self._insert(text, at, start, is_end=False)
        text, _, at = self.at[last]
        self._insert(text, at, end, is_end=True)

    def _insert(self, number: int, at: int, added: str, is_end: bool) -> None:
        text = self.texts[number]
        run = text.run
        if not is_end and at == text.first and text.tag[0] == run.content:
            self.inserts.append((run.start, 1, added.encode()))
        elif is_end and at == text.end and run.last == text.end:
            self.inserts.append((run.end, 0, added.encode()))
        else:
            w = self.prefix.encode()
            properties = self.raw[slice(*run.properties)] if run.properties else b""
            # A tag that did not keep white space must, as the text before now ends with a space.
            if not text.keeps:
                self.inserts.append((text.tag[1] - 1, 0, b' xml:space="preserve"'))
                text.keeps = True
            split = b'</%bt></%br>%b<%br>%b<%bt xml:space="preserve">'
            self.inserts.append((at, int(not is_end), split % (w, w, added.encode(), w, properties, w)))

    def changed(self) -> bytes:
        """Return the part with the insertions; where one comment ends and one begins, the end comes first."""
        pieces: list[bytes] = []
        position = 0
        for at, _, added in sorted(self.inserts, key=lambda insert: insert[:2]):
            pieces += (self.raw[position:at], added)
            position = at
        return b"".join([*pieces, self.raw[position:]])


_ENDS = 30
"""Letters at the beginning and at the end of a sentence by which it is found."""
_MARK = 60
"""Maximum letters of a mark that cites."""
_SPACE = re.compile("[\\s\u00ad\u200b-\u200f\u2011\u2060\ufeff\ufffd\x00-\x1f-]+")


def _bare(text: str) -> str:
    """Return a text without white space, hyphens and signs that are not seen."""
    return _SPACE.sub("", text)


class _Reader:
    """Reads the bytes of a body by expat, which knows the place of each event."""

    def __init__(self, body: _Body) -> None:
        self._body, self._open, self._letters = body, list[str](), list[str]()
        self._runs: list[_Run] = []  # a text box in a run has runs of its own
        self._text: _Text | None = None
        self._hidden = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = False
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.XmlDeclHandler = self._declared

    def read(self) -> None:
        try:
            self._parser.Parse(self._body.raw, True)
        except expat.ExpatError as error:
            raise InputError(f"expected a Word document; found {self._body.path} with broken XML: {error}") from None
        self._body.letters = "".join(self._letters)

    def _refuse(self, *_: object) -> None:
        raise InputError(f"expected a Word document; found {self._body.path}, whose text declares a document type")

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii"):
            raise InputError(f"expected a Word document in UTF-8; found {self._body.path} in {encoding}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        body, at = self._body, self._parser.CurrentByteIndex
        if not self._open:
            known = [key for key, value in attributes.items() if value in _WORD and key.startswith("xmlns")]
            if not known:
                raise InputError(f"expected a Word document; found {body.path} with another kind of text")
            body.space = attributes[known[0]]
            body.prefix = known[0].removeprefix("xmlns").lstrip(":") + ":" if ":" in known[0] else ""
        kind, within = self._kind(name), self._open[-1:] == [f"{body.prefix}r"]
        self._open.append(name)
        self._hidden += self._hides(name)
        run = self._runs[-1] if self._runs else None
        if run is not None and within and kind == "rPr":
            run.properties = (at, at)
        elif run is not None and within and not run.content:
            run.content = at
        if kind == "r":
            self._runs.append(_Run(at))
        elif kind == "t" and run is not None and not self._hidden:
            tag = (at, body.raw.index(b">", at) + 1)
            if not body.raw[tag[0] : tag[1]].endswith(b"/>"):
                self._text = _Text(run, tag, "xml:space" in attributes, first=tag[1])

    def _end(self, name: str) -> None:
        at = self._parser.CurrentByteIndex
        self._open.pop()
        kind = self._kind(name)
        self._hidden -= self._hides(name)
        run = self._runs[-1] if self._runs else None
        if run is None:
            return
        if kind == "t" and self._text is not None:
            self._text.end = run.last = at
            self._text = None
        elif kind == "r":
            self._runs.pop().end = self._after(at)
            if self._runs:
                self._runs[-1].last = 0
        else:
            run.last = 0
            if kind == "rPr" and run.properties and self._open[-1:] == [f"{self._body.prefix}r"]:
                run.properties = run.properties[0], self._after(at)

    def _characters(self, data: str) -> None:
        text, body, at = self._text, self._body, self._parser.CurrentByteIndex
        if text is None:
            return
        if not body.texts or body.texts[-1] is not text:
            body.texts.append(text)
        number = len(body.texts) - 1
        if body.raw[at : at + 1] == b"&":
            # A reference to a character is one letter in several bytes.
            sizes = [body.raw.index(b";", at) + 1 - at]
        else:
            sizes = [len(sign.encode()) for sign in data]
        for sign, size in zip(data, sizes, strict=True):
            if bare := _bare(sign):
                self._letters.append(bare)
                body.at.append((number, at, at + size))
            at += size

    def _kind(self, name: str) -> str:
        prefix = self._body.prefix
        return name[len(prefix) :] if name.startswith(prefix) else ""

    def _hides(self, name: str) -> bool:
        """Whether what an element holds is not part of the text: of two forms of a drawing, the second."""
        return name.rpartition(":")[2] in ("Fallback", "del", "moveFrom")

    def _after(self, at: int) -> int:
        """Return the place behind the end tag at a place; expat puts the end of an empty element behind its tag."""
        raw = self._body.raw
        return raw.index(b">", at) + 1 if raw.startswith(b"</", at) else at
