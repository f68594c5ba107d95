"""Parse answers into claims, each with the citations in it, after it or before it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, takewhile

from vericite.errors import InputError, expect_many, expect_type
from vericite.records import Answer, Citation, Claim, Document, Span, storable
from vericite.text.references import (
    MARKER,
    REFERENCES,
    Library,
    body_end,
    bracketed_names,
    lines,
    names_itself,
    other_markers,
    parse_markers,
    parse_pmids,
    plain_markers,
    reference_key,
    unread_markers,
)
from vericite.text.sentences import split_sentences

Cited = tuple[int, str | None]
"""The displayed number of a citation, and the id of its document; None if it points at none."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that is not part of the sentence around it, and what it cites; nothing for punctuation."""

    span: Span
    cited: tuple[Cited, ...] = ()


class CitableDocuments:
    """What an answer can cite: its own documents by number or name, those of a library by name only."""

    def __init__(
        self,
        own: Sequence[Document],
        library: Library | None = None,
        numbered: Sequence[str] | None = None,
        taken: int = 0,
        wholes: Sequence[Document] = (),
    ) -> None:
        """Set the answer's documents.

        Args:
            own: Documents in the order of their numbers.
            library: Where else to look for names.
            numbered: Ids in the order of their numbers, if that differs from ``own``: several numbers may be one
                document, and an empty id is none.
            taken: Highest number that the answer itself uses, so that no other source is displayed with one of them.
            wholes: Documents that ``own`` has only in parts. A name means the whole document.

        Raises:
            InputError: A document is longer than ``LONGEST_DOCUMENT``.
        """
        for document in own:
            _expect_length(document)
        self.documents = list(own)
        self._numbered = [document.id for document in own] if numbered is None else list(numbered)
        self._wholes = Library(tuple(wholes))
        self._own = Library(tuple(own))
        self._library = library or Library()
        self._taken = max(taken, len(self._numbered))
        self._given: dict[str, int] = {}
        self._ids = {document.id for document in own}
        self._borrowed: dict[int, Document] = {}
        self._listed: dict[int, Document | None] = {}

    def refer(self, number: int, document: Document | None) -> None:
        """Let a number refer to the document of an entry of the answer's list of references; None if it has none."""
        self._listed[number] = document

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """First number of each document."""
        found: dict[str, int] = {}
        for number, id in enumerate(self._numbered, start=1):
            found.setdefault(id, number)
        return found

    def numbered(self, number: int) -> Cited:
        """Return the document of ``[number]``: of an answer without documents, the one with this id in the library."""
        if number in self._listed:
            listed = self._listed[number]
            return number, self._borrow(listed, str(number)).id if listed else None
        if 1 <= number <= len(self._numbered):
            return number, self._numbered[number - 1] or None
        found = None if self._numbered else self._library.find(str(number))
        if found is None or not names_itself(found, str(number)):
            return number, None
        document = self._find(str(number))
        return number, document.id if document else None

    @property
    def count(self) -> int:
        """Number of documents that numbers refer to."""
        return len(self._numbered)

    def bind(self, number: int, name: str) -> None:
        """Let a number refer to the document of this name, if there is one."""
        if document := self._find(name):
            self._numbered[number - 1] = document.id
            self.__dict__.pop("_numbers", None)

    def knows(self, name: str) -> bool:
        """Whether there is a document of this name."""
        return any(place.find(name) is not None for place in (self._wholes, self._own, self._library))

    def named(self, name: str) -> Cited:
        """Return the document of this name. A PubMed id is its own number; other names continue the answer's."""
        document = self._find(name)
        key = reference_key(name)
        if key.startswith("pmid:"):
            number = int(key[5:])
        elif document and document.id in self._numbers:
            number = self._numbers[document.id]
        else:
            number = self._given.setdefault(key, self._taken + len(self._given) + 1)
        return number, document.id if document else None

    def _find(self, name: str) -> Document | None:
        """Return the document of this name; a document of the library becomes one of the answer's own."""
        found = self._wholes.find(name)
        if found is None and (own := self._own.find(name)):
            return own
        found = found or self._library.find(name)
        return None if found is None else self._borrow(found, name)

    def _borrow(self, found: Document, name: str) -> Document:
        """Make a document of the library one of the answer's own, under another name if its id is in use."""
        if id(found) not in self._borrowed:
            _expect_length(found)
            own_id = found.id if found.id not in self._ids else reference_key(name)
            while own_id in self._ids:
                own_id += "'"
            self._ids.add(own_id)
            self._borrowed[id(found)] = found if own_id == found.id else found.model_copy(update={"id": own_id})
            self.documents.append(self._borrowed[id(found)])
        return self._borrowed[id(found)]

    def every(self) -> tuple[Cited, ...]:
        """Return all documents with a number, each once."""
        return tuple((number, id) for id, number in self._numbers.items() if id)


LONGEST_ANSWER = 1_000_000
"""Maximum characters of an answer, about 150,000 words. Parsing takes linear time, seconds for this length."""

LONGEST_DOCUMENT = 500_000
"""Maximum characters of a document. Judging takes linear time: about 45 seconds per claim on two cores for this one."""


def _expect_length(document: Document) -> None:
    if (length := len(document.text)) > LONGEST_DOCUMENT:
        problem = f"expected a document of at most {LONGEST_DOCUMENT:,} characters; found {length:,} in"
        raise InputError(f"{problem} {document.id[:80]!r}. Split it into several")


def mentions_in(text: str, sources: CitableDocuments) -> list[Mention]:
    """Return the numbers in square brackets and the PubMed ids of a text."""
    groups = [*parse_markers(text), *other_markers(text, sources.count)]
    names = list(_names_in(text, sources))
    if not groups and not names:
        groups = list(plain_markers(text, sources.count))
    numbers = (Mention(group.span, tuple(map(sources.numbered, group.numbers))) for group in groups)
    return disjoint([*pmids_in(text, sources), *numbers, *names])


_LONG_NUMBER = re.compile(r"\d{5,8}")


def _names_in(text: str, sources: CitableDocuments) -> Iterator[Mention]:
    """Yield names of documents in brackets: ``[12345678]``, ``[PMC123]``; for long numbers if one of them is known."""
    found = list(bracketed_names(text))
    known = {name for _, names in found for name in names if sources.knows(name)}
    numbers = any(_LONG_NUMBER.fullmatch(name) for name in known)
    for span, names in found:
        if all(name in known or (numbers and _LONG_NUMBER.fullmatch(name)) for name in names):
            yield Mention(span, tuple(map(sources.named, names)))


def pmids_in(text: str, sources: CitableDocuments) -> list[Mention]:
    """Return the PubMed ids of a text after ``PMID``."""
    return [
        Mention(group.span, tuple(sources.named(f"pmid:{pmid}") for pmid in group.pmids)) for group in parse_pmids(text)
    ]


def disjoint(mentions: Iterable[Mention]) -> list[Mention]:
    """Return the mentions in order; of those that overlap, the first in the list."""
    kept: list[Mention] = []
    ranked = sorted(enumerate(mentions), key=lambda item: (item[1].span.start, item[0]))
    for _, mention in ranked:
        if not kept or mention.span.start >= kept[-1].span.end:
            kept.append(mention)
    return kept


CITATIONS = "citations.v10"
"""Signature of the rules, for provenance; changes whenever they would parse some answer differently."""

_SPACE = r"[^\S\n]"
_BULLET = r"(?:[-*+•‣◦▪●·–—>]|\(?\d{1,2}[.)])"
_LEAD = re.compile(rf"^{_SPACE}*(?:{_BULLET}{_SPACE}+)*(\*\*)?", re.MULTILINE)
_ITEM_LEAD = re.compile(rf"(?:(?:{_BULLET}|[.,:;]{{1,3}})\s+)*")
_ONWARD = re.compile(rf"{_SPACE}*(?:([.,;:!?)]+)(?={_SPACE}*(\S?))|(\S?))")
_BOLD = re.compile(r"\*{2,3}")
_TARGET = re.compile(r"\(<?(?:https?://|www\.|#|doi:)[^\s()]*(?:\([^\s()]*\)[^\s()]*)*>?\)", re.IGNORECASE)
_BETWEEN = re.compile(rf"{_SPACE}{{0,2}}(?:,?{_SPACE}?and|[,;&/])?{_SPACE}{{0,2}}")
_PAIRS = {"(": ")", "[": "]", "**": "**", "*": "*", "^": "^", "<sup>": "</sup>"}
_PREFIX = re.compile(
    r"(\(|\[|\*\*|\*|\^|<sup>)\s?(?:(?:see|see also|cf\.|e\.g\.,?|refs?\.?|sources?:?|citations?:?)\s)?\Z",
    re.IGNORECASE,
)
_LONGEST_PREFIX = 16
_CITED_END = re.compile(r"[.!?][\"'’”)\]]{0,2}(?=\s+[\"'“‘(]{0,2}[A-Z])")
_HEADING = re.compile(rf"{_SPACE}{{0,3}}#{{1,6}}(?:\s|\Z)|\s*+(?:[-_=*~|:+]\s?+){{3,}}+(?:\[[^\]]*+\]\s*+)*+\Z")
_STOPPED = re.compile(r"[.!?…][\"'’”)\]]{0,2}\Z")
_LONGEST_LABEL = 60
# A sentence that only names what follows: "Answer. Aspirin ..."
_PART = re.compile(
    r"(?:(?:short|brief|direct|final) )?answer|(?:in )?summary|(?:overall )?conclusions?|bottom line|overview|notes?"
    r"|background|key (?:points?|findings?|messages?)|(?:main )?(?:findings|results)|evidence|explanation",
    re.IGNORECASE,
)


def parse_answer(
    id: str,
    text: str,
    documents: Sequence[Document],
    question: str | None = None,
    generator: str | None = None,
    *,
    mentions: Sequence[Mention] | None = None,
) -> Answer:
    """Split an answer into claims, each with the citations in it or after it.

    A marker after the full stop belongs to the sentence before; so does a marker alone on its line. A marker that opens
    the answer, a line or a list item belongs to the following sentence. If a marker opens the answer and none is in or
    after the last sentence, markers between sentences belong to the following one. Headings, short labels that end in a
    colon or are a sentence ("Answer."), rules (``---``) and a reference list at the end are not claims. The citations
    of a heading or rule go to the following claim, those of other pieces to the claim before. If there are
    citations but no claim, they become one claim with an empty text.

    Fenced code is no claim and cites nothing. A fence that names no language of code is prose if something in it reads
    as a citation, and so is all code of an answer that claims nothing outside of it.

    Claim texts have no markers and nothing that surrounds them: links, parentheses, list bullets and ``**``. Markers
    inside the sentence's grammar ("According to [1], ...") are removed too. Any text is accepted, in linear time; a
    lone surrogate, which files cannot hold, becomes U+FFFD. Markers are numbers in brackets, which refer to the
    documents in order, and PubMed ids (``PMID: 123``), which are found by name. ``mentions`` replace these citations.
    The documents must have different ids.

    Raises:
        InputError: The answer is not text, or longer than ``LONGEST_ANSWER``.
    """
    expect_text(text)
    expect_type(id, str, "the id of the answer as a text", "Give a str")
    expect_type(question, str | None, "the question as a text", "Give its words as a str, or None")
    expect_many(documents, "a list of documents")
    documents = tuple(documents)
    for document in documents:
        expect_type(document, Document, "documents", "Document.from_text(id, text) makes one of a text")
    text = storable(text)
    body = text[: body_end(text)]
    found = mentions_in(body, CitableDocuments(documents)) if mentions is None else mentions
    found = [mention for mention in found if mention.span.end <= len(body)]
    code = _code(body, found)
    prose, claims = _claims(body, found, code)
    if code and not any(claim.text for claim in claims):
        code = _code(body, found, is_prose=True)
        prose, claims = _claims(body, found, code)
    if not claims and prose.marks:
        span = Span(start=prose.marks[0].start, end=prose.marks[-1].end)
        claims = (Claim(text="", span=span, citations=_citations(prose.marks)),)
    unread = unread_markers(body, (mention.span for mention in found), len(documents))
    if code:
        unread = tuple(span for span in unread if not _is_within(span, code))
    return Answer(
        id=id,
        text=text,
        claims=claims,
        documents=tuple(documents),
        question=question,
        generator=generator,
        unread=unread,
    )


def _claims(body: str, mentions: Sequence[Mention], code: Sequence[Span]) -> tuple[_Prose, tuple[Claim, ...]]:
    """Return an answer without its markers, and its claims."""
    if code:
        mentions = [mention for mention in mentions if not _is_within(mention.span, code)]
    tables = list(_tables(body))
    pipes = [Mention(span) for table in tables for span in table.pipes]
    prose = _prose(body, disjoint([*mentions, *pipes]) if pipes else mentions)
    pieces = _pieces(body, prose, tables, code)
    owned = _owned(_with_direction(prose, pieces), pieces)
    stated = enumerate(piece for piece in pieces if piece.claim)
    return prose, tuple(_claim(prose, piece, owned.get(index, [])) for index, piece in stated)


_FENCE = re.compile(rf"{_SPACE}*+(`{{3,}}+|~{{3,}}+){_SPACE}*+([^`\s]*+)[^`]*+\Z")
_PROSE_FENCES = ("", "markdown", "md", "text", "txt", "plaintext")


def _code(body: str, mentions: Sequence[Mention], is_prose: bool = False) -> list[Span]:
    """Return the blocks of fenced code, with their fences; an open fence reaches to the end.

    Of a block of prose, only the lines of its fences are returned. ``is_prose``: all blocks are.
    """
    blocks: list[Span] = []
    cited = [mention.span.start for mention in mentions if mention.cited]

    def add(opening: Span, language: str, closing: Span) -> None:
        cites = bisect_left(cited, opening.start) < bisect_left(cited, closing.end)
        if is_prose or (cites and language.lower() in _PROSE_FENCES):
            blocks.extend((opening, closing))
        else:
            blocks.append(Span(start=opening.start, end=closing.end))

    opened: tuple[Span, str, str] | None = None
    for start, line in lines(body) if "```" in body or "~~~" in body else ():
        span, bare = Span(start=start, end=start + len(line)), line.strip()
        if opened is None:
            if match := _FENCE.match(line):
                opened = span, match[2], match[1]
        elif bare.startswith(opened[2]) and not bare.strip(bare[0]):
            add(opened[0], opened[1], span)
            opened = None
    if opened is not None:
        add(opened[0], opened[1], Span(start=len(body), end=len(body)))
    return blocks


def _is_within(span: Span, blocks: Sequence[Span]) -> bool:
    place = bisect_right(blocks, span.start, key=lambda block: block.start) - 1
    return place >= 0 and span.start < blocks[place].end


_DELIMITER = re.compile(rf"{_SPACE}{{0,3}}\|?(?:{_SPACE}*:?-{{2,}}:?{_SPACE}*\|)+(?:{_SPACE}*:?-{{2,}}:?{_SPACE}*)?\Z")
# An escaped pipe is part of its cell; only its backslash is removed.
_PIPE = re.compile(rf"\\(?=\|)|(?<!\\)\|{_SPACE}*")


@dataclass(slots=True)
class _Table:
    """A Markdown table: its head, which claims nothing, and its rows, each a claim."""

    head: tuple[int, int]
    rows: list[int] = field(default_factory=list[int])
    pipes: list[Span] = field(default_factory=list[Span])


def _tables(body: str) -> Iterator[_Table]:
    """Yield the tables of a text: a line of heads, a line of dashes and lines with pipes."""
    table: _Table | None = None
    previous = (0, "")
    for start, line in lines(body):
        if table is None and "|" in previous[1] and _DELIMITER.match(line):
            table = _Table((previous[0], start))
            table.pipes += _pipes(body, *table.head)
        elif table is not None:
            table.rows.append(start)
            if "|" not in line:
                yield table
                table = None
            else:
                table.pipes += _pipes(body, start, start + len(line))
        previous = (start, line)
    if table is not None:
        yield table


def _pipes(body: str, start: int, end: int) -> Iterator[Span]:
    """Yield the pipes between cells, and the backslashes of escaped pipes."""
    return (Span(start=match.start(), end=match.end()) for match in _PIPE.finditer(body, start, end))


def expect_text(text: object) -> None:
    """Refuse an answer that is not text, or too long."""
    if not isinstance(text, str):
        step = "Decode it" if isinstance(text, bytes | bytearray) else "Give its words as a str"
        raise InputError(f"expected the answer to be a text; found {text!r:.80}. {step}")
    if len(text) > LONGEST_ANSWER:
        problem = f"expected an answer of at most {LONGEST_ANSWER:,} characters; found one of {len(text):,}"
        raise InputError(f"{problem}. Split it into several")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A run of markers with surrounding signs, cut out of the prose at ``position``."""

    mentions: tuple[Mention, ...]
    start: int
    end: int
    position: int = 0
    leads: bool = False


@dataclass(slots=True)
class _Prose:
    """An answer without its markers, and the mapping back to the original positions."""

    text: str = ""
    starts: list[int] = field(default_factory=list[int])
    origins: list[int] = field(default_factory=list[int])
    marks: list[_Mark] = field(default_factory=list[_Mark])

    def origin(self, position: int) -> int:
        """Return the original position of the character at ``position``."""
        chunk = bisect_right(self.starts, position) - 1
        return self.origins[chunk] + position - self.starts[chunk]

    def position(self, origin: int) -> int:
        """Return the position in the prose of the original character at ``origin``."""
        chunk = bisect_right(self.origins, origin) - 1
        if chunk < 0:
            return 0
        limit = self.starts[chunk + 1] if chunk + 1 < len(self.starts) else len(self.text)
        return min(limit, self.starts[chunk] + origin - self.origins[chunk])


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    claim: bool
    heading: bool = False


def _prose(body: str, mentions: Sequence[Mention]) -> _Prose:
    """Cut out markers and bold signs, with the white space that would be left over."""
    prose = _Prose()
    chunks: list[str] = []
    position = length = 0
    leads = {end for match in _LEAD.finditer(body) for end in (match.end(), match.start(1))}

    def keep(chunk: str, origin: int) -> None:
        nonlocal length
        if chunk:
            prose.starts.append(length)
            prose.origins.append(origin)
            chunks.append(chunk)
            length += len(chunk)

    for cut in _cuts(body, mentions):
        if not isinstance(cut, _Mark):
            keep(body[position : cut.start], position)
            position = cut.end
            if (
                body[cut.start] == "|"
                and chunks
                and chunks[-1][-1].isalnum()
                and body[position : position + 1].isalnum()
            ):
                keep(" ", position - 1)
            continue
        before, leading = body[position : cut.start], cut.start in leads and _leads(body, cut)
        keep(before if leading else before.rstrip(), position)
        prose.marks.append(_Mark(cut.mentions, cut.start, cut.end, position=length, leads=leading))
        last = chunks[-1][-1] if chunks else " "
        position = _after_cut(body, cut.end, last, leading)
        if not leading and not last.isspace() and last not in "([" and body[position : position + 1].isalnum():
            keep(" ", position - 1)  # "LDL.[1]Statins"
    keep(body[position:], position)
    prose.text = "".join(chunks)
    return prose


def _after_cut(body: str, end: int, last: str, leading: bool) -> int:
    """Return where the prose continues after a marker."""
    if leading:
        onward = _ONWARD.match(body, end)
        if onward and onward[3]:
            return onward.start(3)
    elif last in ".!?" and body[end : end + 1] == "." and body[end + 1 : end + 2] != ".":
        return end + 1  # "LDL. [1]." has one stop too many
    return end


def _leads(body: str, mark: _Mark) -> bool:
    """Whether a marker at the start of a line belongs to the following text of the line."""
    onward = _ONWARD.match(body, mark.end)
    if onward is None or onward[3] is not None:
        return bool(onward and onward[3])
    if not onward[2] or onward[1] == ":":
        return bool(onward[2])
    # "[1]. Statins": an item of a list after a finished line, else the wrapped end of the sentence
    before = mark.start - 1
    while before >= 0 and body[before].isspace():
        before -= 1
    return before < 0 or not (body[before].isalnum() or body[before] in ",;%)]}\"'’”")


def _cuts(body: str, mentions: Sequence[Mention]) -> Iterator[_Mark | Span]:
    """Yield the runs of markers and the other signs between them, in order."""
    signs = [mention.span for mention in mentions if not mention.cited]
    end = 0
    for mark in _runs(body, [mention for mention in mentions if mention.cited]):
        yield from _signs(body, signs, end, mark.start)
        yield mark
        end = mark.end
    yield from _signs(body, signs, end, len(body))


def _signs(body: str, signs: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """Yield bold signs and the given signs between two places."""
    first = bisect_left(signs, start, key=lambda span: span.start)
    given = takewhile(lambda span: span.end <= end, islice(signs, first, None))
    bold = (Span(start=match.start(), end=match.end()) for match in _BOLD.finditer(body, start, end))
    position = start
    for span in sorted((*given, *bold), key=lambda span: span.start):
        if span.start >= position:
            yield span
            position = span.end


def _runs(body: str, mentions: Iterable[Mention]) -> Iterator[_Mark]:
    """Yield markers with only commas between them, together with their links and parentheses."""
    run: list[Mention] = []
    end = floor = 0
    for mention in mentions:
        if run and not _BETWEEN.fullmatch(body, end, mention.span.start):
            yield (mark := _dressed(body, run, end, floor))
            run, floor = [], mark.end
        run.append(mention)
        target = _TARGET.match(body, mention.span.end)
        end = target.end() if target else mention.span.end
    if run:
        yield _dressed(body, run, end, floor)


def _dressed(body: str, run: list[Mention], end: int, floor: int) -> _Mark:
    """Extend a run by the pairs of signs around it: ``(see [1])``, ``**[1]**``, ``<sup>[1]</sup>``."""
    start = run[0].span.start
    while prefix := _PREFIX.search(body[max(floor, start - _LONGEST_PREFIX) : start]):
        closing = _PAIRS[prefix[1].lower()]
        gap = 1 if body[end : end + 1] == " " and closing in ")]" else 0
        if not body.startswith(closing, end + gap):
            break
        start -= len(prefix[0])
        end += gap + len(closing)
    return _Mark(tuple(run), start, end)


def _pieces(body: str, prose: _Prose, tables: Sequence[_Table], code: Sequence[Span]) -> list[_Piece]:
    """Return headings, claims and other pieces in order, in positions of the prose."""
    pieces: list[_Piece] = []
    position = code_end = 0
    blocks = {(prose.position(block.start), prose.position(block.end)) for block in code}
    rows = ((prose.position(row),) * 2 for table in tables for row in table.rows)
    heads = (tuple(map(prose.position, table.head)) for table in tables)
    for begin, end in sorted(
        {*_headings(body, prose), *_line_starts(prose), *_cited_ends(prose), *rows, *heads, *blocks}
    ):
        if begin < code_end:
            continue
        code_end = end if (begin, end) in blocks else code_end
        pieces += _sentences(prose.text, position, begin)
        if prose.text[begin:end].strip():
            pieces.append(_Piece(begin, end, claim=False, heading=True))
        position = max(position, end)
    pieces += _sentences(prose.text, position, len(prose.text))
    return pieces


def _headings(body: str, prose: _Prose) -> Iterator[tuple[int, int]]:
    for start, line in lines(body):
        if _is_heading(line):
            yield prose.position(start), prose.position(start + len(line))


def _line_starts(prose: _Prose) -> Iterator[tuple[int, int]]:
    """Yield lines that open with a marker: each begins a sentence, even if the one before has no full stop."""
    for mark in prose.marks:
        if mark.leads and not prose.text[mark.position : mark.position + 1].islower():
            start = prose.text.rfind("\n", 0, mark.position) + 1
            yield start, start


def _cited_ends(prose: _Prose) -> Iterator[tuple[int, int]]:
    """Yield stops after a marker: no one cites inside an abbreviation, so "factor X [5]. Bleeding" is two sentences."""
    for mark in prose.marks:
        if stop := _CITED_END.match(prose.text, mark.position):
            yield stop.end(), stop.end()


def _is_heading(line: str) -> bool:
    if _HEADING.match(line):
        return True
    bare = line.strip()
    if len(bare) > _LONGEST_LABEL:
        return False
    plain = bare.strip("*_ ")
    if bare.startswith("**") and bare.rstrip(":").endswith("**") and "**" not in plain:
        return plain[-1:] not in tuple(".!?") and not MARKER.search(bare)
    # "Side effects:" announces claims but is none
    return plain.endswith(":") and len(plain.split()) <= 4


def _sentences(text: str, start: int, end: int) -> Iterator[_Piece]:
    for span in split_sentences(text[start:end]):
        span = span.shifted(start)
        lead = _ITEM_LEAD.match(text, span.start, span.end)
        begin = lead.end() if lead else span.start
        bare = text[begin : span.end]
        named = bare.strip("*_:. ")
        is_label = _PART.fullmatch(named) is not None
        is_claim = any(map(str.isalnum, bare)) and not is_label and not REFERENCES.fullmatch(named)
        yield _Piece(begin if is_claim else span.start, span.end, claim=is_claim, heading=is_label)


def _with_direction(prose: _Prose, pieces: Sequence[_Piece]) -> list[_Mark]:
    """Return the marks; those between sentences belong to the next one if the answer puts its markers first."""
    claims = [piece for piece in pieces if piece.claim]
    marks = prose.marks
    if not claims or not marks or not marks[0].leads or marks[0].position > claims[0].start:
        return marks
    if marks[-1].position > claims[-1].start:
        return marks
    ends = [piece.end for piece in claims]

    def between(mark: _Mark) -> bool:
        index = bisect_right(ends, mark.position - 1)
        if (
            index + 1 >= len(claims)
            or ends[index] != mark.position
            or "\n" in prose.text[mark.position : claims[index + 1].start]
        ):
            return False
        return _STOPPED.search(prose.text, max(0, mark.position - 3), mark.position) is not None

    return [replace(mark, leads=True) if between(mark) else mark for mark in marks]


def _owned(marks: Iterable[_Mark], pieces: Sequence[_Piece]) -> dict[int, list[_Mark]]:
    """Return the marks of each claim, by its number."""
    starts, ends = [piece.start for piece in pieces], [piece.end for piece in pieces]
    numbers: list[int] = []  # of the claim at or before each piece
    count = 0
    for piece in pieces:
        count += piece.claim
        numbers.append(count - 1)
    owned: dict[int, list[_Mark]] = {}
    owner = 0
    for mark in marks:
        if not count:
            break
        if mark.leads:
            index = bisect_right(ends, mark.position)
        else:
            index = bisect_right(starts, mark.position - 1) - 1
        index = min(max(index, 0), len(pieces) - 1)
        chosen = numbers[index] + pieces[index].heading
        # never before the owner of an earlier mark, so that claims do not overlap
        owner = max(owner, min(max(chosen, 0), count - 1))
        owned.setdefault(owner, []).append(mark)
    return owned


def _claim(prose: _Prose, piece: _Piece, marks: list[_Mark]) -> Claim:
    start, end = prose.origin(piece.start), prose.origin(piece.end - 1) + 1
    start, end = min([start, *(mark.start for mark in marks)]), max([end, *(mark.end for mark in marks)])
    text = prose.text[piece.start : piece.end]
    return Claim(text=text, span=Span(start=start, end=end), citations=_citations(marks))


def _citations(marks: Iterable[_Mark]) -> tuple[Citation, ...]:
    """Return one citation for each document or dangling number, at its first place."""
    found: dict[str | int, Citation] = {}
    for mark in marks:
        for mention in mark.mentions:
            for number, document in mention.cited:
                found.setdefault(document or number, Citation(marker=number, span=mention.span, document=document))
    return tuple(found.values())
