"""A plain text as one document: its title, its headings, its lines put together again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.markup import without_controls
from vericite.corpus.sources.opening import SourceFile
from vericite.corpus.sources.outline import Block, Heading, sections_of
from vericite.errors import InputError
from vericite.records import Document

TEXT_SUFFIXES = frozenset((".txt", ".text", ""))
_LONGEST_HEADING = 120
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,5})\.?\)?\s+(?P<title>[^\W\d_].*)")
_APPENDIX = re.compile(r"(?:chapter|section|part|appendix|annex)\s+(?:\d{1,3}|[A-Z]|[IVX]{1,6})\b.*", re.IGNORECASE)
_UNDERLINE = re.compile(r"\s*(={3,}|-{3,}|~{3,})\s*")
_PAGE = re.compile(
    r"\s*(?:-\s*)?(?:page\s+\d{1,4}(?:\s+of\s+\d{1,4})?|\d{1,4}\s+of\s+\d{1,4})(?:\s*-)?\s*", re.IGNORECASE
)
_ITEM = re.compile(r"\s*(?:[-*•◦▪–]\s+|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+)")
_BULLET = re.compile(r"\A\s*[-*•◦▪–]\s+")
_ENDS = (".", ",", ";", ":", "?", "!")
_BROKEN = re.compile(r"([^\W\d_]+)-\Z")
_GOES_ON = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def _read(file: SourceFile) -> Iterator[Numbered]:
    text = without_controls(file.text().replace("\f", "\n\n").replace("\u00ad\n", ""))
    paragraphs = list(_paragraphs(text))
    title = ""
    if len(paragraphs) > 1 and _is_title(paragraphs[0]):
        title = " ".join(line.strip() for line in paragraphs.pop(0))
    words = Counter(word.lower() for word in _WORD.findall(text))
    sections = sections_of(_blocks(paragraphs, words))
    if not sections:
        raise InputError(f"expected a text; found {file.path} without any words")
    yield 1, Document(id=file.name, title=title, sections=sections)


def _paragraphs(text: str) -> Iterator[list[str]]:
    """The lines between blank lines; a line over a row of signs is one of its own, with the row."""
    held: list[str] = []
    for line in [*text.split("\n"), ""]:
        if _UNDERLINE.fullmatch(line) and held:
            if held[:-1]:
                yield held[:-1]
            yield [held[-1], line]
            held = []
        elif not line.strip():
            if held:
                yield held
            held = []
        elif not _PAGE.fullmatch(line) and not _UNDERLINE.fullmatch(line):
            held.append(line)


def _is_title(lines: list[str]) -> bool:
    """Whether the first paragraph is a title: one line or two, short, and no sentence."""
    if len(lines) == 2 and _UNDERLINE.fullmatch(lines[1]):
        lines.pop()
    whole = " ".join(line.strip() for line in lines)
    return len(lines) <= 2 and len(whole) <= 200 and not whole.endswith(_ENDS[:-2]) and not _ITEM.match(whole)


def _blocks(paragraphs: list[list[str]], words: Counter[str]) -> Iterator[Block]:
    numbered = [_numbered(lines) for lines in paragraphs]
    for index, lines in enumerate(paragraphs):
        heading = _heading(lines)
        behind = numbered[index + 1] if index + 1 < len(paragraphs) else None
        own = numbered[index]
        # What another of its rank follows at once, or nothing at all, is an item of a list.
        if own and index + 1 < len(paragraphs) and not (behind and behind.level <= own.level):
            yield own
        elif heading:
            yield heading
        elif _is_shouted(lines[0]) and len(lines) > 1 and not _is_shouted(lines[1]):
            yield Heading(1, lines[0].strip())
            yield from _joined(lines[1:], words)
        else:
            yield from _joined(lines, words)


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


def _joined(lines: list[str], words: Counter[str]) -> Iterator[str]:
    """The lines of a paragraph as one; the items of a list each on its own."""
    text = ""
    for line in lines:
        item = _ITEM.match(line)
        if text and item and (_BULLET.match(line) or text.rstrip().endswith(_ENDS) or _ITEM.match(text)):
            yield text
            text = ""
        bare = " ".join((_BULLET.sub("", line, count=1) if not text else line).split())
        text = _wrapped(text, bare, words) if text else bare
    if text:
        yield text


def _wrapped(text: str, line: str, words: Counter[str]) -> str:
    broken, behind = _BROKEN.search(text), _GOES_ON.match(line)
    if not broken or not behind or not behind[0][0].islower():
        return f"{text}{line}" if broken and behind else f"{text} {line}"
    whole = (broken[1] + behind[0]).lower()
    hyphened = f"{broken[1]}-{behind[0]}".lower()
    # The text itself tells a word that was cut ("treat-ment") from one that has a hyphen ("double-blind").
    apart = words[broken[1].lower()] > 0 and words[behind[0].lower()] > 1
    if words[hyphened] or (not words[whole] and apart):
        return f"{text}{line}"
    return f"{text[:-1]}{line}"


def _matches(file: SourceFile) -> bool:
    return file.suffix in TEXT_SUFFIXES and "\x00" not in file.opening and not file.opening.lstrip().startswith("<")


TEXT = SourceForm("a plain text (.txt), one document", _read, _matches)
