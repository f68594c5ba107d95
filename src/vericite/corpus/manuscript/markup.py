"""Read manuscripts in Markdown, with Pandoc's citations, footnotes and links, and in plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from vericite.corpus.manuscript.bibliography import Bibliography, read_bibliography
from vericite.corpus.manuscript.cited import of_address
from vericite.corpus.manuscript.draft import Draft, Mark, Piece, read_notes, text_of
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.manuscript.latex import path_in_folder
from vericite.corpus.sources.entry import without_controls
from vericite.corpus.sources.files import SourceFile
from vericite.corpus.sources.texts import (
    MARKDOWN,
    REFERENCES,
    TEXT,
    Heading,
    MarkdownParser,
    front_matter,
    is_first_title,
    spoken,
    text_blocks,
    text_paragraphs,
    without_comments,
    words_in,
)
from vericite.formats.form import items_in
from vericite.records import Manuscript, Reference
from vericite.text.counted import counted
from vericite.text.printed import looks_like_reference, parse_reference
from vericite.text.references import parse_markers, unread_markers

_OPEN, _CLOSE, _DIGIT = "\uf8f0", "\uf8f1", 0xF8E0
"""Private characters around the number of a mark, which stands for it while the Markdown is read."""
_PLACED = re.compile(f"{_OPEN}([{chr(_DIGIT)}-{chr(_DIGIT + 9)}]{{1,9}}){_CLOSE}")
_PRIVATE = re.compile("[\uf8e0-\uf8f1]")

_KEY = r"@(?:\{(?P<braced>[^{}\s]{1,200})\}|(?P<key>[\w](?:[\w:.#$%&+?<>~/-]{0,200}[\w/])?))"
_IN_BRACKETS = re.compile(r"\[(?P<inside>(?:[^\[\]\\]|\\.){1,2000})\](?![(\[{])")
_CITED = re.compile(rf"(?<![\w.@/]){_KEY}")
_OTHERS = re.compile(r"(?:fig|tbl|tab|sec|eq|lst|thm|lem|cor|def|exr|exm)[-:]", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\[\^([^\[\]\s]{1,99})\](?!:)")
_INLINE_NOTE = re.compile(r"\^\[((?:[^\[\]]|\[[^\[\]]{0,300}\]){1,2000})\]")
_DEFINED = re.compile(r"^ {0,3}\[\^([^\[\]\s]{1,99})\]:[ \t]*(.*(?:\n(?:[ \t]*\n)?(?: {4}|\t).*)*)", re.MULTILINE)
_LINK = re.compile(
    r"(?<!!)\[(?P<label>(?:[^\[\]]|\[[^\[\]]{0,200}\]){0,500})\]"
    r"\(\s{0,3}<?(?P<address>(?:https?://|doi:)(?:[^\s()<>]|\([^\s()]{0,300}\)){1,2000})>?(?:\s{1,3}\"[^\"]{0,300}\")?\s{0,3}\)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"<?\b(?:https?://(?:[^\s()<>\[\]]|\([^\s()]{0,300}\)){1,2000}|doi:10\.\d{4,9}/[^\s<>\[\])]{1,300})>?"
)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|(?<!`)(`{1,3})(?!`)[^\n`]{1,2000}\2(?!`)",
                     re.MULTILINE | re.DOTALL)  # fmt: skip
_LISTED = re.compile(r"^[ \t]*(?:(\d{1,4})[.)]|\[(\d{1,4})\]:?|[-*+])[ \t]+(?=\S)", re.MULTILINE)
_HEADING_LINE = re.compile(
    r"^(?: {0,3}#{1,6}[ \t]{1,9}([^\n]{1,200})|\*\*([^\n*]{1,200})\*\*[ \t]{0,9}|"
    r"([^\n]{1,200})\n(?:={1,200}|-{2,200})[ \t]{0,9})$",
    re.MULTILINE,
)


@dataclass(slots=True)
class _Marks:
    """The citing places of a text, each replaced by a number in private characters."""

    draft: Draft
    works: dict[str, Reference]
    notes: dict[str, str] = field(default_factory=dict[str, str])
    placed: list[Piece] = field(default_factory=list[Piece])

    def place(self, piece: Piece) -> str:
        if isinstance(piece, Mark) and _OPEN in piece.text:
            piece = Mark("".join(map(text_of, self.pieces(piece.text))), piece.keys)
        self.placed.append(piece)
        number = "".join(chr(_DIGIT + int(digit)) for digit in str(len(self.placed) - 1))
        return f"{_OPEN}{number}{_CLOSE}"

    def pieces(self, text: str) -> Iterator[Piece]:
        done = 0
        for found in _PLACED.finditer(text):
            yield text[done : found.start()]
            number = int("".join(str(ord(sign) - _DIGIT) for sign in found[1]))
            yield self.placed[number]
            done = found.end()
        yield text[done:]

    def in_body(self, text: str) -> str:
        """Replace the citing places of running text."""
        text = _INLINE_NOTE.sub(lambda match: self.note(match[0], match[1]), text)
        text = _FOOTNOTE.sub(lambda match: self.note(match[0], self.notes.get(match[1])), text)
        text = _IN_BRACKETS.sub(self.bracket, text)
        text = _LINK.sub(self.link, text)
        text = _ADDRESS.sub(self.address, text)
        return _CITED.sub(self.bare, text)

    def bracket(self, match: re.Match[str]) -> str:
        keys = self.keys(match["inside"])
        return self.place(Mark(match[0], keys)) if keys else match[0]

    def bare(self, match: re.Match[str]) -> str:
        key = match["braced"] or match["key"]
        known = key in self.works or (not self.works and any(sign.isdigit() for sign in key))
        return self.place(Mark(match[0], (key,))) if known and not _OTHERS.match(key) else match[0]

    def keys(self, text: str) -> tuple[str, ...]:
        keys = (found["braced"] or found["key"] for found in _CITED.finditer(text))
        return tuple(dict.fromkeys(key for key in keys if not _OTHERS.match(key)))

    def link(self, match: re.Match[str]) -> str:
        reference = of_address(match["address"])
        if reference is None:
            return match[0]
        label = spoken(match["label"]).strip()
        shown = f"[{label}]" if re.fullmatch(r"\d{1,4}", label) else label or reference.key
        return self.place(Mark(shown, (self.draft.works.add(reference),)))

    def address(self, match: re.Match[str]) -> str:
        bare = _bare(match[0])
        reference = of_address(bare)
        if reference is None:
            return match[0]
        behind = match[0].strip("<>")[len(bare) :]
        return self.place(Mark(bare, (self.draft.works.add(reference),))) + behind

    def note(self, shown: str, text: str | None) -> str:
        """Replace a footnote by what it cites; other notes are left out."""
        number = re.fullmatch(r"\[\^(.+)\]", shown)
        name = f"note {number[1]}" if number else f"note {len(self.placed) + 1}"
        if text is None:
            # Of a note that is missing; otherwise such as [^a-z].
            if number is None or not number[1].isdigit():
                return shown
            self.draft.by_note.add(name)
            return self.place(Mark(shown, (name,)))
        words = " ".join(text.split())
        keys = list(self.keys(words))
        linked = [match["address"] for match in _LINK.finditer(words)] + _ADDRESS.findall(words)
        found = [reference for address in linked if (reference := of_address(_bare(address)))]
        plain = spoken(words)
        if not keys and found:
            parsed = parse_reference(plain, name) if looks_like_reference(plain) else None
            if parsed and not (parsed.doi or parsed.pmid):
                parsed = parsed.model_copy(update={"doi": found[0].doi, "pmid": found[0].pmid})
            keys = [self.draft.works.add(reference) for reference in ([parsed] if parsed else found)]
            self.draft.by_note.update(keys)
        elif not keys and (key := self.draft.cited_by_note(name, plain)):
            keys = [key]
        return (
            self.place(Mark(shown if is_footnote_mark(shown) else "[^note]", tuple(dict.fromkeys(keys))))
            if keys
            else ""
        )


def _bare(address: str) -> str:
    """Return an address without the brackets around it and the stop behind it."""
    return address.strip("<>").rstrip(".,;:")


def is_footnote_mark(shown: str) -> bool:
    """Whether a mark of a footnote is a name in brackets, and not the note itself."""
    return bool(_FOOTNOTE.fullmatch(shown))


def _read(file: SourceFile, bibliography: Bibliography) -> Manuscript:
    manuscript = read_notes(partial(_drafted, file, file.text(), bibliography))
    left = _left_out(manuscript)
    return manuscript if left is None else manuscript.model_copy(update={"notes": (*manuscript.notes, left)})


_SHOWN = 3


def _left_out(manuscript: Manuscript) -> str | None:
    """Return a note on markers of another form than those that the text cites by; None without any."""
    read = [citation.span for citation in manuscript.citations]
    if not read:
        return None
    text, ends = manuscript.text, {span.start: span.end for span in read}
    numbers = [group.span for group in parse_markers(text) if group.span.start not in ends]
    found = [*numbers, *unread_markers(text, [*read, *numbers])]
    markers = [text[span.slice] for span in sorted(found, key=lambda span: span.start)]
    markers = [marker for marker in markers if "@" not in marker]
    if not markers:
        return None
    shown = ", ".join(markers[:_SHOWN]) + (" ..." if len(markers) > _SHOWN else "")
    how = f"the text cites as {text[read[0].slice]}. To read the numbers of an answer instead: --format markdown"
    return f"{counted(len(markers), 'marker')} of another form left out: {shown}; {how}"


def _drafted(file: SourceFile, text: str, bibliography: Bibliography, has_remarks: bool) -> Draft:
    fields, text = front_matter(_PRIVATE.sub("", without_controls(text)))
    draft = Draft(file.name, notes=list(bibliography.notes), has_remarks=has_remarks)
    works = dict(bibliography.works)
    for name in _names(fields.get("bibliography")):
        if not bibliography.has(name) and (path := path_in_folder(file.path.parent, name, "", draft.note)):
            found = read_bibliography([path])
            draft.notes += found.notes
            works |= {key: reference for key, reference in found.works.items() if key not in works}
    draft.works.know(works.values())
    named_only = set(re.findall(r"@\{?([\w:.#$%&+?<>~/*-]*[\w*])", " ".join(_names(fields.get("nocite")))))
    draft.only_if_cited = set() if "*" in named_only else {*works} - named_only
    title = fields.get("title")
    draft.title = spoken(title) if isinstance(title, str) else ""
    marks = _Marks(draft, works)
    text = _DEFINED.sub(lambda match: marks.notes.setdefault(match[1], match[2]) and "", without_comments(text))
    begin = _list_begin(text)
    body = _outside_code(text[:begin], marks.in_body)
    tail = _LISTED.sub(lambda match: f"\n\n{marks.place(_number(match))}", text[begin:])
    if begin == len(text) and works:
        draft.list_is_known = True
    blocks = list(MarkdownParser(f"{body}\n\n{tail}".expandtabs(4).split("\n")).blocks())
    first = next((block.level for block in blocks if isinstance(block, Heading)), 0)
    only = sum(isinstance(block, Heading) and block.level == first for block in blocks) == 1
    for at, block in enumerate(blocks):
        if isinstance(block, Heading):
            is_title = at == 0 and only and not draft.title
            draft.paragraph(marks.pieces(block.title), 0 if is_title else block.level)
        else:
            draft.paragraph(marks.pieces(block))
    return draft


def _names(value: object) -> Iterable[str]:
    return [name for name in items_in(value) or [value] if name and isinstance(name, str)]


def _number(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    return f"{number}. " if number else ""


def _list_begin(text: str) -> int:
    """Return where the list of references begins; the length of the text if there is none."""
    found = [
        match
        for match in _HEADING_LINE.finditer(text)
        if REFERENCES.fullmatch(next(filter(None, match.groups())).strip(" \t#"))
    ]
    return found[-1].start() if found else len(text)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    done = 0
    for code in _FENCED.finditer(text):
        parts += [change(text[done : code.start()]), code[0]]
        done = code.end()
    return "".join([*parts, change(text[done:])])


MARKDOWN_MANUSCRIPT = ManuscriptKind("Markdown (.md)", _read, MARKDOWN.matches, suffixes=MARKDOWN.suffixes)


def _read_text(file: SourceFile, bibliography: Bibliography) -> Manuscript:
    draft = Draft(file.name, notes=list(bibliography.notes))
    text = without_controls(file.text().replace("\f", "\n\n").replace("\u00ad\n", ""))
    lines = text.split("\n")
    at = max((number for number, line in enumerate(lines) if REFERENCES.fullmatch(line)), default=len(lines))
    paragraphs = list(text_paragraphs("\n".join(lines[:at])))
    if len(paragraphs) > 1 and is_first_title(paragraphs[0]):
        draft.paragraph([" ".join(paragraphs.pop(0))], 0)
    for block in text_blocks(paragraphs, words_in(text)):
        if isinstance(block, Heading):
            draft.paragraph([block.title], block.level)
        else:
            draft.paragraph(_linked(block, draft))
    draft.lines(lines[at:])
    draft.only_if_cited = {draft.works.add(reference) for reference in bibliography.works.values()}
    return draft.manuscript()


def _linked(text: str, draft: Draft) -> Iterator[Piece]:
    """Yield a text with the addresses of articles, and PMIDs, as marks."""
    done = 0
    for found in _ADDRESS.finditer(text):
        bare = _bare(found[0])
        if reference := of_address(bare):
            start = text.find(bare, found.start())
            yield text[done:start]
            yield Mark(bare, (draft.works.add(reference),))
            done = start + len(bare)
    yield text[done:]


TEXT_MANUSCRIPT = ManuscriptKind("plain text (.txt)", _read_text, TEXT.matches, suffixes=TEXT.suffixes)
