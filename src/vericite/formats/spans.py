"""Citations of providers: objects that point to characters of the answer and of the sources.

Two shapes are read. Anthropic's Messages API returns ``content`` blocks of text, each with its citations; inspect_ai
has such blocks for all providers. Cohere's Chat API returns a text and ``citations`` with ``start`` and ``end``, and
names of documents (version 1) or ``sources`` (version 2, with text and citations in ``message``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import AliasChoices, Field

from vericite.formats.chains import unwrapped
from vericite.formats.form import (
    Fields,
    Foreign,
    Format,
    Given,
    Name,
    PerhapsName,
    RawRecord,
    answer_of,
    dicts_in,
    passages,
    sources_of,
    trimmed,
)
from vericite.records import Answer, Citation, Claim, Document, Span, storable
from vericite.text.citations import CitableDocuments, Cited, Mention, disjoint, parse_answer
from vericite.text.references import Library, reference_key

# A span that is only a link or a marker, which is removed from the sentence.
_LINK = re.compile(
    r"\s*+\(?\s*+(?:\[[^\[\]]{0,300}+\]\((?:[^\s()]|\([^\s()]{0,200}\)){1,2000}+\)[\s,;]*+)++\)?\s*+"
    r"|\s*+(?:【[^【】]{0,99}】|\[[^\[\]\s]{1,40}\]|https?://\S{1,2000}+)\s*+"
)
_MOST = 10_000  # assumed maximum documents of a request; a larger index does not extend the list
Index = Annotated[int, Field(ge=0, lt=10**9)]


class _Cited(Foreign):
    """A citation of any provider. Documents and search results are numbered separately."""

    cited_text: str | None = None
    document_index: Index | None = None
    search_result_index: Index | None = None
    title: str | None = Field(None, validation_alias=AliasChoices("document_title", "title"))
    url: str | None = None
    start: Index | None = Field(None, validation_alias=AliasChoices("start", "start_index"))
    end: Index | None = Field(None, validation_alias=AliasChoices("end", "end_index"))
    content_index: Index | None = None
    document_ids: tuple[Name, ...] = ()
    sources: tuple[Given, ...] = ()

    @property
    def place(self) -> tuple[str, int] | None:
        """The kind of source, and its index among sources of that kind."""
        if self.document_index is not None:
            return "document", self.document_index
        return None if self.search_result_index is None else ("search-result", self.search_result_index)

    @property
    def otherwise(self) -> list[str]:
        """Fallback names of its source, if it has neither an id nor a number."""
        return [self.url or "source"] if self.url or self.sources else []


class _Block(Foreign):
    """A block of the answer; blocks other than text, such as tool calls, have no words."""

    type: str = "text"
    text: str | None = None
    citations: tuple[_Cited, ...] | None = Field(None, validation_alias=AliasChoices("citations", "annotations"))

    @property
    def words(self) -> str:
        """The block's part of the answer."""
        return (self.text or "") if self.type in ("text", "output_text") else ""


class _Message(Foreign):
    """The text of the answer and its citations, in any of the supported fields."""

    id: PerhapsName = None
    question: str | None = None
    text: str | None = None
    content: str | tuple[_Block, ...] | None = None
    citations: tuple[_Cited, ...] | None = None
    documents: tuple[Given, ...] | None = None

    @property
    def blocks(self) -> tuple[_Block, ...]:
        """All blocks, with or without words."""
        content = self.content if self.content is not None else self.text
        return (_Block(text=content, citations=None),) if isinstance(content, str) else content or ()


class _Response(_Message):
    """A response, which may contain the message in a field."""

    message: _Message | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A span of the answer and its citation."""

    span: Span
    cited: _Cited


def read_message(raw: RawRecord, library: Library) -> Answer:
    """Read a message with citations on spans of its text as an answer."""
    response = _of_inspect(unwrapped(raw)).read(_Response)
    message = response.message or response
    if message.content is None and message.text is None:
        raise raw.refused("content", "expected blocks of text here or a text under text; found neither")
    text = storable("".join(block.words for block in message.blocks))
    places = list(_places(raw, message, text))
    given = response.documents if response.documents is not None else message.documents
    id, question = response.id or message.id or str(raw.number), response.question or message.question
    _refuse_wordless(raw, given or ())
    if not places:
        return answer_of(id, text, sources_of(given or (), library, "document"), question)
    if given is not None:
        sources, cited = _from_request(raw, given, places, library)
    else:
        sources, cited = _from_citations(places, library)
    targets = [(place.span, targets) for place, targets in zip(places, cited, strict=True)]
    links = [
        (span, cited) for span, cited in targets if _LINK.fullmatch(text, span.start, min(span.end, span.start + 4000))
    ]
    mentions = disjoint(Mention(span, cited) for span, cited in _joined(links))
    answer = parse_answer(id, text, sources.documents, question, mentions=mentions)
    claims = _with_citations(answer, [target for target in targets if target not in links])
    return answer.model_copy(update={"claims": claims, "documents": tuple(sources.documents)})


def _of_inspect(raw: RawRecord) -> RawRecord:
    """Convert inspect_ai's citations: a title names the source, and the cited text may be offsets in the answer."""
    fields = raw.fields if '"internal"' in raw.json else None
    if fields is None:
        return raw
    blocks = [
        {**block, "citations": [_converted(cited) for cited in dicts_in(block.get("citations"))]}
        for block in dicts_in(fields.get("content"))
    ]
    return raw.with_fields({**fields, "content": blocks}) if blocks else raw


def _converted(cited: Fields) -> Fields:
    if "internal" not in cited:
        return cited
    given = dict(cited)
    if isinstance(quoted := given.get("cited_text"), list):
        given["cited_text"], given["start"], given["end"] = None, *cast("list[Any]", quoted)[:2]
    if not given.get("document_ids"):
        source = {"id": given.get("url") or given.get("title"), "title": given.get("title")}
        given["sources"] = [{**source, "text": given.get("cited_text")}]
    return given


def _joined(links: Sequence[tuple[Span, tuple[Cited, ...]]]) -> Iterator[tuple[Span, tuple[Cited, ...]]]:
    """Merge the citations of the same link."""
    found: dict[Span, list[Cited]] = {}
    for span, cited in links:
        found.setdefault(span, []).extend(cited)
    return ((span, tuple(dict.fromkeys(cited))) for span, cited in found.items())


def _places(raw: RawRecord, message: _Message, text: str) -> Iterator[_Place]:
    """Yield each citation with its span of the answer."""
    starts = [0]
    for number, block in enumerate(message.blocks):
        starts.append(starts[-1] + len(block.words))
        for index, cited in enumerate(block.citations or ()):
            field = f"content.{number}.citations.{index}"
            if cited.start is None or cited.end is None:
                span = trimmed(text, starts[number], starts[number + 1])
            else:
                span = _stretch(raw, field, text, cited, (starts[number], starts[number + 1]), f"block {number}'s")
            if span:
                yield _Place(span, cited)
    for number, cited in enumerate(message.citations or ()):
        field = f"citations.{number}"
        if cited.content_index is not None and cited.content_index >= len(starts) - 1:
            problem = f"expected content_index to be the index of one of {len(starts) - 1} blocks"
            raise raw.refused(field, f"{problem}; found {cited.content_index}")
        # Without a block index, the offsets refer to the whole text.
        index = cited.content_index
        within, whose = (
            ((0, len(text)), "the answer's") if index is None else (starts[index : index + 2], f"block {index}'s")
        )
        if span := _stretch(raw, field, text, cited, within, whose):
            yield _Place(span, cited)


def _stretch(raw: RawRecord, field: str, text: str, cited: _Cited, within: Sequence[int], whose: str) -> Span | None:
    """Return the span of a citation, whose offsets are relative to its block."""
    if cited.start is None or cited.end is None:
        raise raw.refused(field, "expected start and end, offsets in the answer's text; found a citation without them")
    shift, limit = within
    if not cited.start < cited.end <= limit - shift:
        found = f"{cited.start} to {cited.end}"
        raise raw.refused(field, f"expected a span within {whose} {limit - shift} characters; found {found}")
    return trimmed(text, shift + cited.start, shift + cited.end)


def _from_request(
    raw: RawRecord, given: Sequence[Given], places: Sequence[_Place], library: Library
) -> tuple[CitableDocuments, list[tuple[Cited, ...]]]:
    """Return the documents of the request, and which of them each place cites."""
    documents = [
        passages(item.id or f"document-{number}", item.texts or (), item.title or "", item.pmid)
        for number, item in enumerate(given, start=1)
    ]
    results = [number for number, item in enumerate(given) if item.type == "search_result"]
    others = [number for number, item in enumerate(given) if item.type != "search_result"]
    # If there is only one kind of source, indexes of either kind refer to it.
    order = {"document": others or results, "search-result": results or others}
    sources = CitableDocuments(documents, library)
    cited: list[tuple[Cited, ...]] = []
    for place in places:
        numbers = order[place.cited.place[0]] if place.cited.place else []
        if place.cited.place is None or place.cited.document_ids:
            names = [*place.cited.document_ids, *(source.id for source in place.cited.sources if source.id)]
            cited.append(_named(names or place.cited.otherwise, sources))
        elif place.cited.place[1] < len(numbers):
            index = numbers[place.cited.place[1]]
            _refuse_stranger(raw, place.cited, index, documents[index])
            cited.append((sources.numbered(index + 1),))
        else:
            cited.append((sources.numbered(len(given) + 1 + place.cited.place[1] - len(numbers)),))
    return sources, cited


def _refuse_wordless(raw: RawRecord, given: Sequence[Given]) -> None:
    for number, item in enumerate(given):
        if item.texts is None:
            problem = "expected its text under text, snippet, content or data; found none"
            raise raw.refused(f"documents.{number}", problem)


def _named(names: Sequence[str], sources: CitableDocuments) -> tuple[Cited, ...]:
    return tuple(sources.named(name) for name in dict.fromkeys(names))


def _refuse_stranger(raw: RawRecord, cited: _Cited, index: int, document: Document) -> None:
    """Refuse a quotation that its document does not have: the documents or their order are wrong."""
    quoted = cited.cited_text
    if quoted is not None and "".join(storable(quoted).split()) not in "".join(document.text.split()):
        problem = f"expected the document to contain the cited text {quoted[:60]!r}; it does not. Check the order"
        raise raw.refused(f"documents.{index}", problem)


def _from_citations(places: Sequence[_Place], library: Library) -> tuple[CitableDocuments, list[tuple[Cited, ...]]]:
    """Build the documents from quotations, for a response saved without its request."""
    quoted = _Quoted()
    names = [quoted.names(place.cited) for place in places]
    documents = quoted.documents()
    ids = {document.id for document in documents}
    counted = [place.cited.place for place in places if place.cited.place]
    kind = min((kind for kind, _ in counted), default="")  # "document" if both kinds are numbered
    count = max((index + 1 for name, index in counted if name == kind), default=0)
    numbered = (f"{kind}-{number}" for number in range(1, min(count, _MOST) + 1))
    sources = CitableDocuments(documents, library, [name if name in ids else "" for name in numbered])
    cited: list[tuple[Cited, ...]] = []
    for place, named in zip(places, names, strict=True):
        if place.cited.place and place.cited.place[0] == kind and not place.cited.document_ids:
            cited.append((sources.numbered(place.cited.place[1] + 1),))
        else:
            cited.append(_named(named, sources))
    return sources, cited


class _Quoted:
    """The quotations of each source. A source is identified by its id, URL, number or text."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str, list[str]]] = {}
        self._unnamed: dict[tuple[str, ...], str] = {}

    def names(self, cited: _Cited) -> list[str]:
        """Return the names of the sources that a citation cites, and record their quotations."""
        names = list(cited.document_ids)
        for source in cited.sources:
            texts = tuple(map(storable, source.texts or ()))
            name = source.id or self._unnamed.setdefault(
                (source.title or "", *texts), f"source-{len(self._unnamed) + 1}"
            )
            names.append(self._keep(name, source.title, texts))
        quoted = (cited.cited_text or "",)
        if not names and cited.place:
            names.append(self._keep(f"{cited.place[0]}-{cited.place[1] + 1}", cited.title, quoted))
        elif not names:
            names += [self._keep(name, cited.title, quoted) for name in cited.otherwise]
        return names

    def _keep(self, name: str, title: str | None, texts: Sequence[str]) -> str:
        """Record the texts of a source and return its name: the first name with the same key."""
        name = storable(name)
        if any(texts):
            name, _, kept = self._found.setdefault(reference_key(name), (name, title or "", []))
            kept.extend(texts)
        return name

    def documents(self) -> list[Document]:
        """Return the quoted sources."""
        return [passages(name, texts, title) for name, title, texts in self._found.values()]


def _with_citations(answer: Answer, places: Sequence[tuple[Span, tuple[Cited, ...]]]) -> tuple[Claim, ...]:
    """Add citations to the claims they overlap; a citation outside of claims goes to the next, or the last, claim."""
    claims = answer.claims
    if not claims:
        whole = Span(start=0, end=len(answer.text))
        claims = (Claim(text="", span=whole),) if places else ()
    found: list[dict[str | int, Citation]] = [
        {citation.document or citation.marker: citation for citation in claim.citations} for claim in claims
    ]
    for span, cited in places:
        on = [n for n, claim in enumerate(claims) if claim.span.start < span.end and span.start < claim.span.end]
        later = next((n for n, claim in enumerate(claims) if claim.span.start >= span.end), len(claims) - 1)
        for index in on or [later]:
            part = Span(start=max(span.start, claims[index].span.start), end=min(span.end, claims[index].span.end))
            for number, document in cited:
                citation = Citation(marker=number, span=part if on else span, document=document)
                found[index].setdefault(document or number, citation)
    return tuple(
        claim.model_copy(update={"citations": tuple(citations.values())})
        for claim, citations in zip(claims, found, strict=True)
    )


def message_citing(blocks: Sequence[Fields], documents: Sequence[Document]) -> dict[str, Any]:
    """Return inspect_ai's blocks as a message with its documents, which citations name.

    A citation names a document by its title, its id or its address, or has a text that the document contains.
    """
    named = [
        {**block, "citations": [_naming(cited, documents) for cited in block.get("citations") or ()]}
        for block in blocks
    ]
    texts = [{"id": document.id, "title": document.title, "text": document.text} for document in documents]
    return {"content": named, "documents": texts}


def _naming(cited: Fields, documents: Sequence[Document]) -> dict[str, Any]:
    name, quoted = cited.get("url") or cited.get("title"), cited.get("cited_text")
    id = next((document.id for document in documents if name and name == document.title), name)
    if id is None and isinstance(quoted, str):
        id = next((document.id for document in documents if quoted in document.text), None)
    return {**cited, "document_ids": [id] if id else []}


def _matches(fields: Fields) -> bool:
    message: Any = fields.get("message", fields.get("kwargs", fields))
    if not isinstance(message, dict):
        return False
    inner = cast(Fields, message)
    return isinstance(inner.get("content"), list) or ("citations" in inner and bool({"text", "content"} & inner.keys()))


SPANS = Format(
    '{"content": [{"type": "text", "text", "citations": [{"type": "char_location", "cited_text", "document_index"}]}], '
    '"documents"?} or {"text", "citations": [{"start", "end", "document_ids"}], "documents"?}',
    read_message,
    _matches,
)
