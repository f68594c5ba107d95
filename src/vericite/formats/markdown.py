"""Answers in Markdown, which cite by links, by links with their address elsewhere, and by footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import AliasChoices, Field

from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord
from vericite.records import Answer, Document, Span, storable
from vericite.text.citations import CitableDocuments, Cited, Mention, disjoint, parse_answer
from vericite.text.references import Library, body_end, parse_markers, parse_pmids

_ADDRESS = r"(?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000}"
_LABEL = r"(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,99}\]){0,300})"
_TITLE = r"""(?:\s{1,3}(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'))?"""
_INLINE = re.compile(
    rf"\[{_LABEL}\]\(\s{{0,3}}<?(?P<url>(?:https?://|www\.|doi:){_ADDRESS})>?{_TITLE}\s{{0,3}}\)", re.IGNORECASE
)
_REFERRED = re.compile(rf"\[{_LABEL}\]\[(?P<name>[^\[\]\n]{{0,99}})\]")
_NAMED = re.compile(r"\[(?P<name>\^?[^\[\]\n]{1,99})\]")
_BARE = re.compile(rf"<(?P<framed>https?://{_ADDRESS})>|(?P<bare>https?://{_ADDRESS})", re.IGNORECASE)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?P<name>\^?[^\[\]\n]{1,99})\]:[^\S\n]*(?P<target>[^\n]+(?:\n(?: {2,}|\t)\S[^\n]*)*)", re.MULTILINE
)
_ENTRY = re.compile(
    r"^[^\S\n]{0,3}(?:[-*•][^\S\n]{1,3})?(?:\[\^?(?P<name>\d{1,3})\]:?|(?P<plain>\d{1,3})[.)])[^\S\n]+"
    r"(?P<target>\S[^\n]*(?:\n(?: {2,}|\t)[^\S\n]{0,8}(?![-*•\[\d\s])[^\n]*)*)",
    re.MULTILINE,
)
# What is no prose and would be read as such: images, comments.
_UNSPOKEN = re.compile(r"[^\S\n]{0,3}(?:!\[[^\[\]\n]{0,300}\]\([^()\n]{0,2000}\)|<!--(?:[^-]|-(?!->)){0,2000}-->)")
_DOI = re.compile(r"\b10\.[0-9]{4,9}/[^\s()<>\[\]\"]{1,200}")
_TRAILING = ".,;:!?*_"
_OWN_NUMBER = re.compile(r"[\W_]*([0-9]{1,3})[\W_]*")
_PERSON = r"[A-Z][\w'’-]{1,40}"
# A link whose words only name the source: "[1]", "[PMID 123]", "[Smith et al., 2020]", "[source]".
_NAMING = re.compile(
    r"\W*(?:\^?[0-9]{1,3}|(?i:(?:pmid|doi|pmc)\b.*|(?:https?://|www\.).*|10\.[0-9]{4,9}/.*|sources?|links?|refs?"
    r"|references?|pubmed|study|trial|review|paper|article)"
    rf"|{_PERSON}(?:,? (?:et al\.?|and|&|{_PERSON})){{0,4}},? ?\(?(?:19|20)[0-9]{{2}}[a-z]?|{_PERSON} et al)\W*"
)


class _Given(Foreign):
    """A document."""

    id: Name
    text: str
    title: str | None = None


class _Text(Foreign):
    """A Markdown text, and what documents come with it."""

    id: Name | None = None
    question: str | None = None
    markdown: str = Field(validation_alias=AliasChoices("markdown", "answer", "text"))
    documents: tuple[_Given, ...] = ()


def _read(raw: RawRecord, library: Library) -> Answer:
    record = raw.read(_Text)
    text = storable(record.markdown)
    taken = max((number for group in parse_markers(text) for number in group.numbers), default=0)
    given = [Document.from_text(document.id, document.text, document.title or "") for document in record.documents]
    sources = CitableDocuments(given, library, taken=taken)
    definitions: dict[str, str] = {}
    for match in _DEFINITION.finditer(text):
        definitions.setdefault(_folded(match["name"]), match["target"])
    prose = _DEFINITION.sub(_blank, text)
    for number, target in _entries(prose, sources):
        definitions.setdefault(number, target)
    mentions = disjoint(_mentions(prose, definitions, sources))
    id = record.id or str(raw.number)
    answer = parse_answer(id, prose, sources.documents, record.question, mentions=mentions)
    return answer.model_copy(update={"text": text})


def _blank(match: re.Match[str]) -> str:
    """As many spaces, so that whatever follows stays where it was."""
    return re.sub(r"[^\n]", " ", match[0])


def _entries(text: str, sources: CitableDocuments) -> Iterator[tuple[str, str]]:
    """The numbered entries of the reference list at the end that name a source there is a document of."""
    for match in _ENTRY.finditer(text, body_end(text)):
        if any(sources.knows(name) for name in _names(match["target"])):
            yield match["name"] or match["plain"], match["target"]


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _mentions(text: str, definitions: Mapping[str, str], sources: CitableDocuments) -> Iterator[Mention]:
    """What is no prose, and what cites, the surest first: links, names, numbers and ids, bare addresses."""
    for match in _UNSPOKEN.finditer(text):
        yield Mention(Span(start=match.start(), end=match.end()))
    for match in _INLINE.finditer(text):
        number = _OWN_NUMBER.fullmatch(match["label"])
        cited = sources.named(match["url"])
        yield from _link(text, match, (int(number[1]), cited[1]) if number else cited)
    for match in _REFERRED.finditer(text):
        name = _folded(match["name"] or match["label"])
        # "[1][2]" are two citations, though by the letter of Markdown it is one link.
        if name in definitions and not match["label"].isdigit():
            yield from _link(text, match, _defined(name, definitions, sources))
    for match in _NAMED.finditer(text):
        name = _folded(match["name"])
        if name in definitions:
            yield Mention(Span(start=match.start(), end=match.end()), (_defined(name, definitions, sources),))
    for group in parse_markers(text):
        yield Mention(group.span, tuple(_defined(str(number), definitions, sources) for number in group.numbers))
    for group in parse_pmids(text):
        yield Mention(group.span, tuple(sources.named(f"pmid:{pmid}") for pmid in group.pmids))
    for match in _BARE.finditer(text):
        url = match["framed"] or match["bare"].rstrip(_TRAILING)
        end = match.end() if match["framed"] else match.start() + len(url)
        yield Mention(Span(start=match.start(), end=end), (sources.named(url),))


def _link(text: str, match: re.Match[str], cited: Cited) -> Iterator[Mention]:
    """A link: all of it where its words name the source, its signs and address where they are the sentence's own."""
    if _NAMING.fullmatch(match["label"]) or not match["label"].strip():
        yield Mention(Span(start=match.start(), end=match.end()), (cited,))
        return
    yield Mention(Span(start=match.start(), end=match.start() + 1))
    yield Mention(Span(start=match.end("label"), end=match.end()), (cited,))


def _defined(name: str, definitions: Mapping[str, str], sources: CitableDocuments) -> Cited:
    """What a name stands for: the first source in its definition that there is; a number without one counts."""
    target = definitions.get(name) or definitions.get(f"^{name}") or ""
    names = [*_names(target)]
    known = next((found for found in names if sources.knows(found)), names[0] if names else None)
    number = name.removeprefix("^")
    if number.isdecimal() and len(number) <= 3:
        return int(number), sources.named(known)[1] if known else sources.numbered(int(number))[1]
    return sources.named(known or name)


def _names(target: str) -> Iterator[str]:
    """The sources that a definition names."""
    for match in _BARE.finditer(target):
        yield (match["framed"] or match["bare"]).rstrip(_TRAILING)
    yield from (f"pmid:{pmid}" for group in parse_pmids(target) for pmid in group.pmids)
    yield from (match[0].rstrip(_TRAILING) for match in _DOI.finditer(target))


def _matches(fields: Fields) -> bool:
    return isinstance(fields.get("markdown"), str)


MARKDOWN = Format(
    'a file .md, or {"id"?, "question"?, "markdown": "text with [links](https://...)", '
    '"documents"?: [{"id", "title"?, "text"}]}',
    _read,
    _matches,
)
