"""Read Markdown and plain text: front matter, headings as sections, inline markup removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from vericite.corpus.sources.entry import abstract_sections, entry_of, plain, without_controls
from vericite.corpus.sources.files import Numbered, SourceFile, SourceFormat
from vericite.errors import InputError
from vericite.records import Document, Section

_PRIVATE = 0xE000  # escaped characters are moved here during parsing
_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^\n]{1,2000}?)(?<!`)\1(?!`)")
_LABEL = r"((?:[^\[\]]|\[[^\[\]]{0,200}\]){0,500})"
_ADDRESS = r"(?:<[^<>]{0,2000}>|(?:[^\s()]|\([^\s()]{0,500}\)){0,2000})"
_TARGET = rf"""\(\s{{0,3}}{_ADDRESS}(?:\s{{1,3}}(?:"[^"]{{0,300}}"|'[^']{{0,300}}'))?\s{{0,3}}\)"""
_IMAGE = re.compile(rf"!\[{_LABEL}\](?:{_TARGET}|\[[^\[\]]{{0,200}}\])?")
_LINK = re.compile(rf"\[{_LABEL}\]{_TARGET}")
_REFERRED = re.compile(rf"\[{_LABEL}\]\[([^\[\]]{{0,200}})\]")
_NAMED = re.compile(r"\[([^\[\]^][^\[\]]{0,199})\]")
_FOOTNOTE = re.compile(r"\s?\[\^[^\[\]\s]{1,99}\]")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,2000})>")
_STRUCK = re.compile(r"~~(?=\S)[^~]{1,1000}(?<=\S)~~")
# Between letters, "*" is part of the word: HLA-B*27 and DRB1*15.
_STRONG = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]{1,2000}?)(?<=[^\s*])\1(?![\w*])")
_UNDERLINED = re.compile(r"(?<![\w_])(_{1,3})(?=[^\s_])((?:[^\n_]|(?<=\w)_(?=\w)){1,2000}?)(?<=[^\s_])\1(?![\w_])")


def spoken(text: str, definitions: Container[str] = ()) -> str:
    """Return the plain words of Markdown text.

    Links are replaced by their text. Images, struck-out text and footnote marks are removed.

    Args:
        text: The text, without block markup.
        definitions: Lower-case names of links that are defined elsewhere.
    """

    def referred(match: re.Match[str]) -> str:
        return match[1] if (match[2] or match[1]).lower() in definitions else match[0]

    def named(match: re.Match[str]) -> str:
        return match[1] if match[1].lower() in definitions else match[0]

    text = _ESCAPED.sub(lambda match: _hidden(match[1]), text)
    text = _CODE.sub(lambda match: _hidden(match[2].strip()), text)
    text = _IMAGE.sub("", text)
    text = _LINK.sub(r"\1", text)
    text = _NAMED.sub(named, _REFERRED.sub(referred, text))
    text = _STRUCK.sub("", _FOOTNOTE.sub("", _AUTOLINK.sub(r"\1", text)))
    for _ in range(2):
        text = _UNDERLINED.sub(r"\2", _STRONG.sub(r"\2", text))
    return _shown(" ".join(plain(text).split()))


def _hidden(text: str) -> str:
    return _SIGN.sub(lambda match: chr(_PRIVATE + ord(match[0])), text)


def _shown(text: str) -> str:
    return "".join(chr(ord(sign) - _PRIVATE) if _PRIVATE < ord(sign) < _PRIVATE + 128 else sign for sign in text)


_BLOCK = re.compile(
    r"\A---[ \t]*\n(?P<fields>(?:(?!(?:---|\.{3})[ \t]*$).*\n){0,200})(?:---|\.{3})[ \t]*$\n?", re.MULTILINE
)
_PAIR = re.compile(r"([A-Za-z][\w -]{0,60}?)[ \t]*:(?:[ \t]+(.*))?\Z")
_YAML_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)\Z")


def front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """Split a text into the fields of its front matter and the rest.

    Only simple YAML is read: ``key: value``, lists in brackets, or one list item per line. Everything else is
    skipped; nothing is executed or looked up.
    """
    block = _BLOCK.match(text)
    if not block:
        return {}, text
    fields: dict[str, object] = {}
    items: list[object] = []
    for line in block["fields"].split("\n"):
        if pair := _PAIR.match(line):
            items = []
            fields[pair[1].strip().lower()] = _value(pair[2] or "") or items
        elif item := _YAML_ITEM.match(line):
            items.append(_unquoted(item[1]))
    return fields, text[block.end() :]


def _value(written: str) -> object:
    bare = written.strip()
    if bare.startswith("[") and bare.endswith("]"):
        return [_unquoted(part) for part in bare[1:-1].split(",")]
    return _unquoted(bare)


def _unquoted(written: str) -> str:
    bare = written.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" else bare


REFERENCES = re.compile(
    r"[\W\d]*(?:references?|bibliography|reference list|list of references|literature(?: cited)?|works cited)\W*",
    re.IGNORECASE,
)
"""Headings of reference lists."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the highest."""

    level: int
    title: str


Block = Heading | str


def sections_of(blocks: Iterable[Block]) -> tuple[Section, ...]:
    r"""Build sections from headings and paragraphs, with paragraphs joined by ``\n``.

    A section's label has all headings above it: ``Treatment > Adults``. Reference lists are left out, because the
    titles in them are not statements of this source. Labels within a section, as in a printed abstract
    ("Results: ... Conclusions: ..."), begin sections of their own: ``Abstract > Results``.
    """
    path: list[Heading] = []
    found: list[tuple[str | None, list[str]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
            found.append((" > ".join(part.title for part in path if part.title) or None, []))
        elif block and not any(REFERENCES.fullmatch(part.title) for part in path):
            if not found:
                found.append((None, []))
            found[-1][1].append(block)
    return tuple(part for label, texts in found if texts for part in _by_labels("\n".join(texts), label))


def _by_labels(text: str, label: str | None) -> Iterator[Section]:
    """Split a section at the labels within it. "Methods:" in the section Background is no part of it."""
    parts = abstract_sections(text)
    if sum(part.label is not None for part in parts) < 2:
        yield Section(text=text, label=label)
        return
    above = label if label and _HOLDS_OTHERS.fullmatch(label.rpartition(" > ")[2]) else None
    for part in parts:
        yield Section(text=part.text, label=f"{above} > {part.label}" if above and part.label else part.label or label)


_HOLDS_OTHERS = re.compile(r"abstract|summary", re.IGNORECASE)

TEXT_SUFFIXES = frozenset((".txt", ".text", ""))
_LONGEST_HEADING = 120
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,5})\.?\)?\s+(?P<title>[^\W\d_].*)")
_APPENDIX = re.compile(r"(?:chapter|section|part|appendix|annex)\s+(?:\d{1,3}|[A-Z]|[IVX]{1,6})\b.*", re.IGNORECASE)
_UNDERLINE = re.compile(r"\s*(={3,}|-{3,}|~{3,})\s*")
_PAGE = re.compile(
    r"\s*(?:-\s*)?(?:page\s+\d{1,4}(?:\s+of\s+\d{1,4})?|\d{1,4}\s+of\s+\d{1,4})(?:\s*-)?\s*", re.IGNORECASE
)
_LIST_ITEM = re.compile(r"\s*(?:[-*•◦▪–]\s+|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+)")
_BULLET = re.compile(r"\A\s*[-*•◦▪–]\s+")
_ENDS = (".", ",", ";", ":", "?", "!")
_BROKEN = re.compile(r"(?<![^\W\d_])([^\W\d_]++)-\Z")
_GOES_ON = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def _read_text(file: SourceFile) -> Iterator[Numbered]:
    text = without_controls(file.text().replace("\f", "\n\n").replace("\u00ad\n", ""))
    paragraphs = list(text_paragraphs(text))
    title = ""
    if len(paragraphs) > 1 and is_first_title(paragraphs[0]):
        title = " ".join(line.strip() for line in paragraphs.pop(0))
    words = words_in(text)
    sections = sections_of(text_blocks(paragraphs, words))
    if not sections:
        raise InputError(f"expected text; found a document without words: {file.path}")
    yield 1, Document(id=file.name, title=title, sections=sections)


def text_paragraphs(text: str) -> Iterator[list[str]]:
    """Yield groups of lines between blank lines; an underlined line is a group with its underline."""
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        if _UNDERLINE.fullmatch(line) and block:
            if block[:-1]:
                yield block[:-1]
            yield [block[-1], line]
            block = []
        elif not line.strip():
            if block:
                yield block
            block = []
        elif not _PAGE.fullmatch(line) and not _UNDERLINE.fullmatch(line):
            block.append(line)


def is_first_title(lines: list[str]) -> bool:
    """Whether the first paragraph is a title: one or two lines, short, and not a sentence."""
    if len(lines) == 2 and _UNDERLINE.fullmatch(lines[1]):
        lines.pop()
    whole = " ".join(line.strip() for line in lines)
    return len(lines) <= 2 and len(whole) <= 200 and not whole.endswith(_ENDS[:-2]) and not _LIST_ITEM.match(whole)


def text_blocks(paragraphs: list[list[str]], words: Counter[str]) -> Iterator[Block]:
    """Yield the headings and the joined paragraphs of a plain text."""
    numbered = [_numbered(lines) for lines in paragraphs]
    for index, lines in enumerate(paragraphs):
        heading = _heading(lines)
        behind = numbered[index + 1] if index + 1 < len(paragraphs) else None
        own = numbered[index]
        # A numbered line followed directly by another of its level, or by nothing, is a list item.
        if own and index + 1 < len(paragraphs) and not (behind and behind.level <= own.level):
            yield own
        elif heading:
            yield heading
        elif _is_shouted(lines[0]) and len(lines) > 1 and not _is_shouted(lines[1]):
            yield Heading(1, lines[0].strip())
            yield from joined_lines(lines[1:], words)
        else:
            yield from joined_lines(lines, words)


def _numbered(lines: list[str]) -> Heading | None:
    found = _NUMBERED.fullmatch(lines[0].strip()) if len(lines) == 1 else None
    if not found or len(lines[0]) > _LONGEST_HEADING or lines[0].rstrip().endswith(_ENDS):
        return None
    return Heading(found["number"].count(".") + 1, found["title"].strip())


def _heading(lines: list[str]) -> Heading | None:
    line = lines[0].strip()
    if len(lines) == 2 and (row := _UNDERLINE.fullmatch(lines[1])):
        return Heading(1 if row[1][0] == "=" else 2, line)
    if len(lines) > 1 or len(line) > _LONGEST_HEADING or line.endswith(_ENDS):
        return None
    return Heading(1, line) if _is_shouted(line) or _APPENDIX.fullmatch(line) else None


def _is_shouted(line: str) -> bool:
    """Whether a line is a heading in capitals."""
    letters = [sign for sign in line if sign.isalpha()]
    bare = line.strip()
    return len(letters) >= 4 and bare.isupper() and len(bare) <= _LONGEST_HEADING and not bare.endswith((".", ",", ";"))


def words_in(text: str) -> Counter[str]:
    """Count the words of a text, for ``joined_lines`` to distinguish split words from hyphenated words."""
    return Counter(word.lower() for word in _WORD.findall(text))


def joined_lines(lines: list[str], words: Counter[str]) -> Iterator[str]:
    """Join the lines of a paragraph; each list item is yielded separately."""
    # A list of parts, so that a long paragraph is not copied and searched again for every line.
    parts: list[str] = []
    for line in lines:
        item = _LIST_ITEM.match(line)
        if parts and item and (_BULLET.match(line) or parts[-1].endswith(_ENDS) or _begins_item(parts)):
            yield "".join(parts)
            parts = []
        bare = " ".join((_BULLET.sub("", line, count=1) if not parts else line).split())
        if parts and bare:
            _add(parts, bare, words)
        elif bare:
            parts.append(bare)
    if parts:
        yield "".join(parts)


def _begins_item(parts: list[str]) -> bool:
    return bool(_LIST_ITEM.match("".join(part[:20] for part in parts[:2])))


_LONGEST_WORD = 200


def _add(parts: list[str], line: str, words: Counter[str]) -> None:
    """Append a line, joining a word that is split between two lines."""
    last = parts[-1]
    broken = _BROKEN.search(last, max(0, len(last) - _LONGEST_WORD)) if last.endswith("-") else None
    behind = _GOES_ON.match(line)
    if not broken or not behind:
        parts.append(f" {line}")
        return
    if behind[0][0].islower():
        whole = (broken[1] + behind[0]).lower()
        hyphened = f"{broken[1]}-{behind[0]}".lower()
        # Other occurrences in the text tell a split word ("treat-ment") from a hyphenated word ("double-blind").
        apart = words[broken[1].lower()] > 0 and words[behind[0].lower()] > 1
        if not words[hyphened] and (words[whole] or not apart):
            last = last[:-1]
    before, space, word = last.rpartition(" ")
    if " " in line or len(word) > _LONGEST_WORD:
        parts[-1:] = [last, line]
    else:
        # The next line may continue the same word.
        parts[-1:] = [part for part in (f"{before}{space}", f"{word}{line}") if part]


def matches_text(file: SourceFile) -> bool:
    """Whether a file is a plain text by its suffix."""
    return file.suffix in TEXT_SUFFIXES and "\x00" not in file.opening and not file.opening.lstrip().startswith("<")


TEXT = SourceFormat("a plain text (.txt), one document", _read_text, matches_text, suffixes=(".txt", ".text"))


_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*\Z")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*\Z")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_BREAK = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"\A(?: {0,3}> ?)+")
_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\Z")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]]{1,200})\]:[ \t]*(.*)\Z")
_ANCHOR = re.compile(r"\s*\{#[^{}]{0,200}\}\s*\Z")
_CELL = re.compile(r"(?<!\\)\|")
_LOOKS_SO = re.compile(r"^ {0,3}#{1,6} \S.*\n|\A---\n(?:[\w-]{1,40}:.*\n)", re.MULTILINE)


def without_comments(text: str) -> str:
    """Remove HTML comments; an unclosed comment is text."""
    # Without a regular expression, which would take quadratic time.
    parts: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[done:start])
        done = end + 3
    return "".join([*parts, text[done:]])


def _read(file: SourceFile) -> Iterator[Numbered]:
    fields, text = front_matter(without_controls(file.text()))
    parsed = MarkdownParser(without_comments(text).expandtabs(4).split("\n"))
    blocks = list(parsed.blocks())
    entry = entry_of({name: value for name, value in fields.items() if name not in ("text", "body", "abstract")})
    document = entry.document(file.name)
    title = document.title
    if not title and blocks and isinstance(blocks[0], Heading):
        title = _own_title(blocks)
    sections = sections_of(blocks)
    if not sections:
        raise InputError(f"expected text; found a document without words: {file.path}")
    yield (
        1,
        document.model_copy(
            update={"id": document.id if entry.id else file.name, "title": title, "sections": sections}
        ),
    )


def _own_title(blocks: list[Block]) -> str:
    """Remove and return the first heading if it is above all others."""
    first, *others = (block for block in blocks if isinstance(block, Heading))
    if blocks[0] is not first or any(other.level <= first.level for other in others):
        return ""
    blocks.pop(0)
    return first.title


@dataclass(slots=True)
class MarkdownParser:
    """Parses the blocks of a text line by line."""

    lines: list[str]
    at: int = 0
    paragraph: list[str] = field(default_factory=lambda: list[str]())
    names: set[str] = field(default_factory=lambda: set[str]())
    notes: list[str] = field(default_factory=lambda: list[str]())

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks; footnotes come last, under their own heading."""
        self.names = {
            found[1].lower()
            for line in self.lines
            if (found := _DEFINITION.match(line)) and not found[1].startswith("^")
        }
        while self.at < len(self.lines):
            yield from self._next(self.lines[self.at])
        yield from self._flushed()
        if self.notes:
            yield Heading(1, "Footnotes")
            yield from (spoken(note, self.names) for note in self.notes)

    def _next(self, raw: str) -> Iterator[Block]:
        """Parse the current line and yield the blocks that it completes."""
        line = _QUOTE.sub("", raw, count=1)
        if fence := _FENCE.match(line):
            yield from self._flushed()
            yield from self._fenced(fence[1])
        elif (atx := _ATX.match(line)) and (atx[2] or not self.paragraph):
            yield from self._flushed()
            yield Heading(len(atx[1]), spoken(_ANCHOR.sub("", atx[2] or ""), self.names))
            self.at += 1
        elif self.paragraph and (row := _SETEXT.match(line)) and "|" not in self.paragraph[-1]:
            title, self.paragraph = " ".join(self.paragraph), []
            yield Heading(1 if row[1][0] == "=" else 2, spoken(title, self.names))
            self.at += 1
        elif "|" in line and self.at + 1 < len(self.lines) and self._is_rule(self.lines[self.at + 1]):
            yield from self._flushed()
            yield from self._table(line)
        elif not self.paragraph and (found := _DEFINITION.match(line)):
            self._define(found)
        else:
            yield from self._running(line)
            self.at += 1

    def _running(self, line: str) -> Iterator[Block]:
        """Parse a line of a paragraph or a line that ends one."""
        item = _ITEM.match(line)
        if not line.strip() or _BREAK.match(line):
            yield from self._flushed()
        elif item:
            yield from self._flushed()
            self.paragraph.append(line[item.end() :].strip())
        else:
            self.paragraph.append(line.strip().removesuffix("\\"))

    def _flushed(self) -> Iterator[Block]:
        if self.paragraph:
            yield spoken(" ".join(self.paragraph), self.names)
        self.paragraph = []

    def _fenced(self, fence: str) -> Iterator[Block]:
        """Yield fenced text unchanged, without parsing markup."""
        self.at += 1
        while self.at < len(self.lines):
            line = _QUOTE.sub("", self.lines[self.at], count=1)
            self.at += 1
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                return
            if line.strip():
                yield " ".join(line.split())

    @staticmethod
    def _is_rule(line: str) -> bool:
        bare = _QUOTE.sub("", line, count=1)
        return "-" in bare and bool(_RULE.match(bare))

    def _table(self, header: str) -> Iterator[Block]:
        """Yield each row as a line with the column names (``Drug: aspirin; Dose: 75 mg.``)."""
        names = _cells(header, self.names)
        self.at += 2
        while self.at < len(self.lines) and "|" in (line := _QUOTE.sub("", self.lines[self.at], count=1)):
            self.at += 1
            cells = _cells(line, self.names)
            named = zip(names + [""] * len(cells), cells, strict=False)
            row = "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
            if row:
                yield row if row.endswith((".", "!", "?")) else f"{row}."

    def _define(self, found: re.Match[str]) -> None:
        """Parse a definition: a link's URL, which is dropped, or a footnote with all its lines."""
        self.at += 1
        note = [found[2].strip()]
        while found[1].startswith("^") and self.at < len(self.lines) and self.lines[self.at].startswith("    "):
            note.append(self.lines[self.at].strip())
            self.at += 1
        if found[1].startswith("^") and any(note):
            self.notes.append(" ".join(note))


def _cells(line: str, names: Container[str]) -> list[str]:
    bare = line.strip().removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    return [spoken(cell, names) for cell in _CELL.split(bare)]


def _matches(file: SourceFile) -> bool:
    if "\x00" in file.opening:
        return False
    if file.suffix in _SUFFIXES:
        return True
    return file.suffix in TEXT_SUFFIXES and bool(_LOOKS_SO.search(file.opening))


MARKDOWN = SourceFormat("a text in Markdown (.md), one document", _read, _matches, suffixes=_SUFFIXES)
