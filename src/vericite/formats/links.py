"""Answers that cite web pages: in Markdown, and in replies of OpenAI, Gemini and Perplexity.

Markdown cites by inline links, reference links and footnotes. Saved replies of the services are converted to the format
of ``spans`` or of a chain.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from pydantic import AliasChoices, Field

from vericite.formats.chains import read_cited
from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord, dict_of, dicts_in, first_dict, items_in
from vericite.formats.spans import read_message
from vericite.records import Answer, Document, Span, storable
from vericite.text.citations import CitableDocuments, Cited, Mention, disjoint, parse_answer
from vericite.text.printed import listed_reference, split_answer
from vericite.text.references import Library, MarkerGroup, other_markers, parse_markers, parse_pmids, plain_markers

_ADDRESS = r"(?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000}"
_LABEL = r"(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,99}\]){0,300})"
_TITLE = r"""(?:\s{1,3}(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'))?"""
INLINE = re.compile(
    rf"\[{_LABEL}\]\(\s{{0,3}}<?(?P<url>(?:https?://|www\.|doi:){_ADDRESS})>?{_TITLE}\s{{0,3}}\)", re.IGNORECASE
)
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
"""The number of a footnote that may stand for a place in a list."""
_REFERRED = re.compile(rf"\[{_LABEL}\]\[(?P<name>[^\[\]\n]{{0,99}})\]")
NAMED = re.compile(r"\[(?P<name>\^?[^\[\]\n]{1,99})\]")
BARE = re.compile(rf"<(?P<framed>https?://{_ADDRESS})>|(?P<bare>https?://{_ADDRESS})", re.IGNORECASE)
DEFINITION = re.compile(
    r"^ {0,3}\[(?P<name>\^?[^\[\]\n]{1,99})\]:[^\S\n]*(?P<target>[^\n]+(?:\n(?: {2,}|\t)\S[^\n]*)*)", re.MULTILINE
)
# Images and comments, which would otherwise be read as prose.
_UNSPOKEN = re.compile(
    r"[^\S\n]{0,3}(?:!\[[^\[\]\n]{0,300}\]\([^()\n]{0,2000}\)|<!--(?:[^-<]|-(?!->)|<(?!!--)){0,2000}+-->)"
)
DOI = re.compile(r"\b10\.[0-9]{4,9}/(?:[^\s()<>\[\]\"]|\([^\s()<>]{0,50}\)){1,200}")
TRAILING = ".,;:!?*_"
OWN_NUMBER = re.compile(r"[\W_]*([0-9]{1,3})[\W_]*")
_PERSON = r"[A-Z][\w'’-]{1,40}"
# A link text that only names the source: "[1]", "[PMID 123]", "[Smith et al., 2020]", "[source]".
NAMING = re.compile(
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
    """A Markdown text and its documents."""

    id: Name | None = None
    question: str | None = None
    markdown: str = Field(validation_alias=AliasChoices("markdown", "answer", "text"))
    documents: tuple[_Given, ...] = ()


def _read_markdown(raw: RawRecord, library: Library) -> Answer:
    record = raw.read(_Text)
    text = storable(record.markdown)
    taken = max((number for group in parse_markers(text) for number in group.numbers), default=0)
    definitions: dict[str, str] = {}
    for match in DEFINITION.finditer(text):
        definitions.setdefault(folded(match["name"]), match["target"])
    prose = DEFINITION.sub(blank, text)
    begin, end, listed = split_answer(prose)
    prose = prose[:begin] + blank_text(prose[begin:end]) + prose[end:]
    own = [Document.from_text(document.id, document.text, document.title or "") for document in record.documents]
    entries = dict(definitions)
    for number, target in listed:
        entries.setdefault(number, target)
    passages = {} if own else _passages(entries)
    last = max((int(name) for name in passages if _NUMBER.fullmatch(name)), default=0)
    numbers = [str(number) for number in range(1, last + 1)]
    numbered = [number if number in passages else "" for number in numbers]
    sources = CitableDocuments(
        own or list(passages.values()), library, None if own else numbered, taken=max(taken, len(numbered))
    )
    most = max((int(number) for number in entries if number.isdecimal()), default=0)
    cited = {str(number) for group in _groups(prose, most) for number in group.numbers}
    for name, target in entries.items():
        number = name.removeprefix("^")
        if any(sources.knows(known) for known in names_of(target)):
            definitions.setdefault(name, target)
        elif library and not own and number in cited and number not in passages:
            sources.refer(int(number), library.referenced(listed_reference(target, number)))
            definitions[name] = ""
    mentions = disjoint(mentions_in(prose, definitions, sources))
    id = record.id or str(raw.number)
    answer = parse_answer(id, prose, sources.documents, record.question, mentions=mentions)
    return answer.model_copy(update={"text": text})


def blank(match: re.Match[str]) -> str:
    """Replace a match with spaces, so that later offsets stay the same."""
    return blank_text(match[0])


def blank_text(text: str) -> str:
    """Return as many spaces as the text has characters, with its line breaks."""
    return re.sub(r"[^\n]", " ", text)


def _passages(definitions: Mapping[str, str]) -> dict[str, Document]:
    """Return the documents that footnotes and the list at the end hold as text, by number or name."""
    found = {
        name.removeprefix("^") if _NUMBER.fullmatch(name[1:]) else name: listed_reference(target, name)
        for name, target in definitions.items()
    }
    return {
        name: Document.from_text(name, reference.passage, reference.title)
        for name, reference in found.items()
        if reference.passage
    }


def folded(name: str) -> str:
    """Return one spelling for the names of a definition."""
    return " ".join(name.split()).casefold()


def mentions_in(text: str, definitions: Mapping[str, str], sources: CitableDocuments) -> Iterator[Mention]:
    """Yield non-prose and citations, most certain first: links, names, numbers and ids, bare URLs."""
    for match in _UNSPOKEN.finditer(text):
        yield Mention(Span(start=match.start(), end=match.end()))
    for match in INLINE.finditer(text):
        number = OWN_NUMBER.fullmatch(match["label"])
        cited = sources.named(match["url"])
        yield from _link(text, match, (int(number[1]), cited[1]) if number else cited)
    for match in _REFERRED.finditer(text):
        name = folded(match["name"] or match["label"])
        # "[1][2]" means two citations, although in Markdown it is one link.
        if name in definitions and not match["label"].removeprefix("^").isdigit():
            yield from _link(text, match, _defined(name, definitions, sources))
    for match in NAMED.finditer(text):
        name = folded(match["name"])
        if name in definitions:
            yield Mention(Span(start=match.start(), end=match.end()), (_defined(name, definitions, sources),))
    yield from _numbered(text, definitions, sources)
    for group in parse_pmids(text):
        yield Mention(group.span, tuple(sources.named(f"pmid:{pmid}") for pmid in group.pmids))
    for match in BARE.finditer(text):
        url = match["framed"] or match["bare"].rstrip(TRAILING)
        end = match.end() if match["framed"] else match.start() + len(url)
        yield Mention(Span(start=match.start(), end=end), (sources.named(url),))


def _numbered(text: str, definitions: Mapping[str, str], sources: CitableDocuments) -> Iterator[Mention]:
    """Yield the numbers; a superscript that points nowhere is a footnote of another text."""
    most = max((int(name) for name in definitions if name.isdecimal()), default=0)
    for group in _groups(text, max(most, sources.count)):
        cited = tuple(_defined(str(number), definitions, sources) for number in group.numbers)
        if group.text[0] in _BRACKETS or sources.count or any(document for _, document in cited):
            yield Mention(group.span, cited)


_BRACKETS = "[(【［"


def _groups(text: str, most: int) -> list[MarkerGroup]:
    """Return the markers of a text in all forms that name a number: ``[1]``, ``[Doc 1]``, superscripts.

    ``(1)`` is one in a text without other markers and links, if it is at most ``most``.
    """
    groups = [*parse_markers(text), *other_markers(text, 1)]
    if groups or INLINE.search(text) or parse_pmids(text):
        return groups
    return list(plain_markers(text, most))


def _link(text: str, match: re.Match[str], cited: Cited) -> Iterator[Mention]:
    """Yield the mentions of a link: all of it if its text names the source, otherwise only its brackets and URL."""
    if NAMING.fullmatch(match["label"]) or not match["label"].strip():
        yield Mention(Span(start=match.start(), end=match.end()), (cited,))
        return
    yield Mention(Span(start=match.start(), end=match.start() + 1))
    yield Mention(Span(start=match.end("label"), end=match.end()), (cited,))


def _defined(name: str, definitions: Mapping[str, str], sources: CitableDocuments) -> Cited:
    """Resolve a name: the first known source in its definition; a number without a definition is a position."""
    target = definitions.get(name) or definitions.get(f"^{name}") or ""
    names = [*names_of(target)]
    known = next((found for found in names if sources.knows(found)), names[0] if names else None)
    number = name.removeprefix("^")
    if number.isdecimal() and len(number) <= 3:
        return int(number), sources.named(known)[1] if known else sources.numbered(int(number))[1]
    return sources.named(known or name)


def names_of(target: str) -> Iterator[str]:
    """Yield the sources that a definition names."""
    for match in BARE.finditer(target):
        yield (match["framed"] or match["bare"]).rstrip(TRAILING)
    yield from (f"pmid:{pmid}" for group in parse_pmids(target) for pmid in group.pmids)
    yield from (match[0].rstrip(TRAILING) for match in DOI.finditer(target))


def _is_markdown(fields: Fields) -> bool:
    return isinstance(fields.get("markdown"), str)


MARKDOWN = Format(
    'a file .md, or {"id"?, "question"?, "markdown": "text with [links](https://...)", '
    '"documents"?: [{"id", "title"?, "text"}]}',
    _read_markdown,
    _is_markdown,
)


_ENVELOPES = ("response", "message", "completion", "answer", "output")
_OWN = ("id", "question", "documents")


def _either(fields: Fields, name: str) -> Any:
    """Return a field of Gemini: its service writes ``groundingChunks``, its library ``grounding_chunks``."""
    first, *rest = name.split("_")
    return fields.get(name, fields.get(first + "".join(map(str.capitalize, rest))))


def _opened(fields: Fields) -> tuple[Fields, str, Fields] | None:
    """Find the reply, the name of its service, and the fields around it; None if there is no reply."""
    for inner in (fields, *(dict_of(fields.get(name)) for name in _ENVELOPES)):
        for name, is_reply in _REPLIES.items():
            if is_reply(inner):
                return inner, name, {key: fields[key] for key in _OWN if fields.get(key) is not None}
    return None


_REPLIES: dict[str, Callable[[Fields], bool]] = {
    "perplexity": lambda fields: bool(dicts_in(fields.get("choices"))) and bool(_cited_pages(fields)),
    "openai": lambda fields: (
        bool(dicts_in(fields.get("choices")))
        or any(item.get("type") == "message" for item in dicts_in(fields.get("output")))
    ),
    "gemini": lambda fields: any("content" in item for item in dicts_in(fields.get("candidates"))),
}


def _is(name: str) -> Callable[[Fields], bool]:
    def matches(fields: Fields) -> bool:
        found = _opened(fields)
        return found is not None and found[1] == name

    return matches


def _unpacked(raw: RawRecord) -> tuple[Fields, Fields]:
    """Return the reply and the fields around it."""
    found = _opened(dict_of(raw.fields))
    if found is None:
        raise raw.refused(None, "expected a reply with output, choices or candidates; found none")
    return found[0], found[2]


def _message(fields: Fields) -> Fields:
    return dict_of(first_dict(fields.get("choices")).get("message"))


# OpenAI


def _read_openai(raw: RawRecord, library: Library) -> Answer:
    reply, own = _unpacked(raw)
    if "choices" in reply:
        message = _message(reply)
        blocks: list[dict[str, Any]] = [{**message, "text": str(message.get("content") or "")}]
        results: list[Fields] = []
    else:
        blocks, results = _output(reply)
    texts: dict[str, list[str]] = {}
    titles: dict[str, Any] = {}
    for result in results:
        id = str(result.get("file_id") or result.get("filename"))
        texts.setdefault(id, []).append(str(result.get("text") or ""))
        titles.setdefault(id, result.get("filename"))
    found = [{"id": id, "title": titles[id], "content": _texts(parts)} for id, parts in texts.items()]
    given = own.get("documents")
    documents = [*found, *items_in(given)]
    content = [{"type": "text", "text": block["text"]} for block in blocks]
    citations = [
        citation
        for index, block in enumerate(blocks)
        for annotation in dicts_in(block.get("annotations"))
        if (citation := _annotated(annotation, index, len(block["text"])))
    ]
    fields: dict[str, Any] = {"id": reply.get("id"), **own, "content": content, "citations": citations}
    if documents or "documents" in own:
        fields["documents"] = documents
    return read_message(raw.with_fields(fields), library)


def _texts(texts: Sequence[str]) -> list[Fields]:
    return [{"type": "text", "text": text} for text in texts]


def _output(reply: Fields) -> tuple[list[dict[str, Any]], list[Fields]]:
    """Return the text blocks of a response, and the results of its file searches."""
    blocks: list[dict[str, Any]] = []
    results: list[Fields] = []
    for item in dicts_in(reply.get("output")):
        results += dicts_in(item.get("results"))
        if item.get("type") != "message":
            continue
        if blocks:
            blocks.append({"type": "text", "text": "\n\n", "annotations": None})
        for part in dicts_in(item.get("content")):
            text = part.get("text") if part.get("type") == "output_text" else None
            text = text if isinstance(text, str) else ""
            blocks.append({"type": "text", "text": text, "annotations": part.get("annotations")})
    return blocks, results


def _annotated(annotation: Fields, index: int, length: int) -> Fields | None:
    """Convert an annotation to a citation with a place; None if it cites nothing."""
    cited = {**dict_of(annotation.get("url_citation")), **dict_of(annotation.get("file_citation")), **annotation}
    if not str(annotation.get("type", "")).endswith("citation"):
        return None
    start, end = cited.get("start_index"), cited.get("end_index")
    if start is None or end is None:
        # A file citation has a single position, after the sentence.
        end = min(max(int(cited.get("index") or length), 1), length)
        start = end - 1
    place: dict[str, Any] = {"content_index": index, "start": start, "end": end, "title": cited.get("title")}
    if cited.get("file_id"):
        return {**place, "document_ids": [cited["file_id"]]}
    return {**place, "url": cited.get("url")}


OPENAI = Format(
    '{"output": [{"type": "message", "content": [{"type": "output_text", "text", "annotations"}]}], "documents"?} or '
    '{"choices": [{"message": {"content", "annotations"?}}], "documents"?}',
    _read_openai,
    _is("openai"),
)


# Gemini


def _read_gemini(raw: RawRecord, library: Library) -> Answer:
    reply, own = _unpacked(raw)
    candidate = first_dict(reply.get("candidates"))
    parts = dicts_in(dict_of(candidate.get("content")).get("parts"))
    content = [
        {"type": "text" if isinstance(part.get("text"), str) and not part.get("thought") else "other", **part}
        for part in parts
    ]
    grounding = dict_of(_either(candidate, "grounding_metadata"))
    sources = list(_chunks(dicts_in(_either(grounding, "grounding_chunks"))))
    offsets = [_Characters(str(part.get("text") or "")) for part in parts]
    citations: list[Fields] = []
    for support in dicts_in(_either(grounding, "grounding_supports")):
        segment = dict_of(support.get("segment"))
        index = int(_either(segment, "part_index") or 0)
        numbers = items_in(_either(support, "grounding_chunk_indices"))
        cited = [sources[n] for n in numbers if isinstance(n, int) and 0 <= n < len(sources)]
        if index < len(offsets) and cited:
            place = offsets[index]
            start, end = (place.of(_either(segment, name) or 0) for name in ("start_index", "end_index"))
            citations.append({"content_index": index, "start": start, "end": end, "sources": cited})
    fields: dict[str, Any] = {"id": _either(reply, "response_id"), **own, "content": content, "citations": citations}
    return read_message(raw.with_fields(fields), library)


class _Characters:
    """Converts byte offsets, which Gemini uses, to character offsets."""

    def __init__(self, text: str) -> None:
        self._ends = list(accumulate((len(char.encode("utf-8", "replace")) for char in text), initial=0))

    def of(self, byte: int) -> int:
        """Return the first character that begins at or after a byte."""
        return min(bisect_left(self._ends, byte), len(self._ends) - 1)


def _chunks(chunks: Sequence[Fields]) -> Iterator[Fields]:
    """Yield the sources with unique names: chunks of a file are separate sources."""
    names: dict[str, int] = {}
    for number, chunk in enumerate(chunks, start=1):
        retrieved = dict_of(_either(chunk, "retrieved_context"))
        page = retrieved or dict_of(chunk.get("web")) or dict_of(chunk.get("maps"))
        name = str(page.get("uri") or page.get("title") or f"source-{number}")
        if retrieved:
            names[name] = names.get(name, 0) + 1
            name = name if names[name] == 1 else f"{name}#{names[name]}"
        yield {"id": name, "title": page.get("title"), **({"text": page["text"]} if page.get("text") else {})}


GEMINI = Format(
    '{"candidates": [{"content": {"parts": [{"text"}]}, "grounding_metadata": {"grounding_chunks", '
    '"grounding_supports"}}]}',
    _read_gemini,
    _is("gemini"),
)


# Perplexity


def _cited_pages(fields: Fields) -> list[Fields]:
    """Return the pages that numbers in the text refer to."""
    pages = [
        {"id": page.get("url"), "title": page.get("title"), "text": page.get("snippet")}
        for page in dicts_in(fields.get("search_results"))
    ]
    if not pages:
        pages = [{"url": url} for url in items_in(fields.get("citations")) if isinstance(url, str)]
    return [{name: value for name, value in page.items() if value} for page in pages]


def _read_perplexity(raw: RawRecord, library: Library) -> Answer:
    reply, own = _unpacked(raw)
    given = own.get("documents")
    return read_cited(
        raw.with_fields(
            {
                "id": own.get("id", reply.get("id")),
                "question": own.get("question"),
                "answer": _message(reply).get("content"),
                "contexts": given if given is not None else _cited_pages(reply),
            }
        ),
        library,
    )


PERPLEXITY = Format(
    '{"choices": [{"message": {"content": "text with [1]"}}], "search_results": [{"url", "title"}]}',
    _read_perplexity,
    _is("perplexity"),
)
