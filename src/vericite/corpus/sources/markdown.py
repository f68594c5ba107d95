"""A text in Markdown as one document: a guideline, a note, a page of a wiki."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from vericite.corpus.sources.fields import entry_of
from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.front_matter import front_matter
from vericite.corpus.sources.inline_markdown import spoken
from vericite.corpus.sources.markup import without_controls
from vericite.corpus.sources.opening import SourceFile
from vericite.corpus.sources.outline import Block, Heading, sections_of
from vericite.corpus.sources.plain_text import TEXT_SUFFIXES
from vericite.errors import InputError

_SUFFIXES = frozenset((".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd"))
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*\Z")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*\Z")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_BREAK = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"\A(?: {0,3}> ?)+")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]]{1,200})\]:[ \t]*(.*)\Z")
_COMMENT = re.compile(r"<!--(?:[^-]|-(?!->)){0,100000}-->")
_ANCHOR = re.compile(r"\s*\{#[^{}]{0,200}\}\s*\Z")
_CELL = re.compile(r"(?<!\\)\|")
_LOOKS_SO = re.compile(r"^ {0,3}#{1,6} \S.*\n|\A---\n(?:[\w-]{1,40}:.*\n)", re.MULTILINE)


def _read(file: SourceFile) -> Iterator[Numbered]:
    said, text = front_matter(without_controls(file.text()))
    parsed = _Parser(_COMMENT.sub("", text).expandtabs(4).split("\n"))
    blocks = list(parsed.blocks())
    entry = entry_of({name: value for name, value in said.items() if name not in ("text", "body", "abstract")})
    document = entry.document(file.name)
    title = document.title
    if not title and blocks and isinstance(blocks[0], Heading):
        title = _own_title(blocks)
    sections = sections_of(blocks)
    if not sections:
        raise InputError(f"expected a text; found {file.path} without any words")
    yield (
        1,
        document.model_copy(
            update={"id": document.id if entry.id else file.name, "title": title, "sections": sections}
        ),
    )


def _own_title(blocks: list[Block]) -> str:
    """The first heading where it stands over all others; it is taken out of them."""
    first, *others = (block for block in blocks if isinstance(block, Heading))
    if blocks[0] is not first or any(other.level <= first.level for other in others):
        return ""
    blocks.pop(0)
    return first.title


@dataclass(slots=True)
class _Parser:
    """The blocks of a text, line by line."""

    lines: list[str]
    at: int = 0
    held: list[str] = field(default_factory=lambda: list[str]())
    names: set[str] = field(default_factory=lambda: set[str]())
    notes: list[str] = field(default_factory=lambda: list[str]())

    def blocks(self) -> Iterator[Block]:
        """All blocks; the texts of footnotes last, under a heading of their own."""
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
        """What the line at hand makes a block of, if it does."""
        line = _QUOTE.sub("", raw, count=1)
        if fence := _FENCE.match(line):
            yield from self._flushed()
            yield from self._fenced(fence[1])
        elif (atx := _ATX.match(line)) and (atx[2] or not self.held):
            yield from self._flushed()
            yield Heading(len(atx[1]), spoken(_ANCHOR.sub("", atx[2] or ""), self.names))
            self.at += 1
        elif self.held and (row := _SETEXT.match(line)) and "|" not in self.held[-1]:
            title, self.held = " ".join(self.held), []
            yield Heading(1 if row[1][0] == "=" else 2, spoken(title, self.names))
            self.at += 1
        elif "|" in line and self.at + 1 < len(self.lines) and self._is_rule(self.lines[self.at + 1]):
            yield from self._flushed()
            yield from self._table(line)
        elif not self.held and (found := _DEFINITION.match(line)):
            self._define(found)
        else:
            yield from self._running(line)
            self.at += 1

    def _running(self, line: str) -> Iterator[Block]:
        """A line of a paragraph, or what ends one."""
        item = _ITEM.match(line)
        if not line.strip() or _BREAK.match(line):
            yield from self._flushed()
        elif item:
            yield from self._flushed()
            self.held.append(line[item.end() :].strip())
        else:
            self.held.append(line.strip().removesuffix("\\"))

    def _flushed(self) -> Iterator[Block]:
        if self.held:
            yield spoken(" ".join(self.held), self.names)
        self.held = []

    def _fenced(self, fence: str) -> Iterator[Block]:
        """What stands between fences, word for word: no headings, no signs."""
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
        """Each row as a line that says what its cells are (``Drug: aspirin; Dose: 75 mg.``)."""
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
        """What stands for a name elsewhere: an address, which is no text, or a footnote with all its lines."""
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


MARKDOWN = SourceForm("a text in Markdown (.md), one document", _read, _matches)
