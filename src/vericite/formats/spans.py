"""Citations as providers return them: objects that point at characters of the answer and of the sources.

Two shapes are read. The Messages API of Anthropic returns ``content`` blocks of text, each with the citations that
stand on it; Cohere's Chat API a text and ``citations`` with ``start`` and ``end``, names of documents (version 1) or
``sources`` (version 2, where text and citations are in ``message``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import AliasChoices, Field

from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord, passages, trimmed
from vericite.records import Answer, Citation, Claim, Document, Span, storable
from vericite.text.citations import parse_answer
from vericite.text.mentions import Cited, Sources
from vericite.text.references import Library

_MOST = 10_000  # documents that a request is thought to have; an index beyond is no list's length
Index = Annotated[int, Field(ge=0, lt=10**9)]


class _Body(Foreign):
    """Where a document's words may be: under ``data`` here or there, as ``text`` or ``snippet``."""

    text: str | None = Field(None, validation_alias=AliasChoices("text", "snippet", "data", "content"))
    title: str | None = None


_NO_BODY = _Body.model_validate({})


class _Given(Foreign):
    """A document as it was sent along with the question, or as a citation returns it."""

    id: Name | None = None
    title: str | None = None
    text: str | None = Field(None, validation_alias=AliasChoices("text", "snippet", "content"))
    body: _Body | str | None = Field(None, validation_alias=AliasChoices("data", "source", "document"))

    def document(self, id: str) -> Document:
        """The same as a document; without words where it has none."""
        body = self.body if isinstance(self.body, _Body) else _NO_BODY
        text = self.text if self.text is not None else body.text or ""
        return passages(self.id or id, [text], self.title or body.title or "")


class _Cited(Foreign):
    """A citation of either provider."""

    cited_text: str | None = None
    index: Index | None = Field(None, validation_alias=AliasChoices("document_index", "search_result_index"))
    document_title: str | None = Field(None, validation_alias=AliasChoices("document_title", "title"))
    url: str | None = None
    start: Index | None = None
    end: Index | None = None
    content_index: Index = 0
    document_ids: tuple[Name, ...] = ()
    sources: tuple[_Given, ...] = ()


class _Block(Foreign):
    """A piece of the answer; blocks that are no text (a tool's call) are left out."""

    type: str = "text"
    text: str | None = None
    citations: tuple[_Cited, ...] | None = None


class _Message(Foreign):
    """The answer's text and its citations, wherever the two are."""

    id: Name | None = None
    question: str | None = None
    text: str | None = None
    content: str | tuple[_Block, ...] | None = None
    citations: tuple[_Cited, ...] | None = None
    documents: tuple[_Given, ...] | None = None

    @property
    def blocks(self) -> tuple[_Block, ...]:
        """The pieces that have words."""
        said = self.content if self.content is not None else self.text
        if isinstance(said, str):
            return (_Block(text=said),)
        return tuple(block for block in said or () if block.type == "text" and block.text is not None)


class _Response(_Message):
    """A response, which may wrap the message."""

    message: _Message | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A stretch of the answer and the citation that stands on it."""

    span: Span
    cited: _Cited


def _read(raw: RawRecord, library: Library) -> Answer:
    response = raw.read(_Response)
    message = response.message or response
    if message.content is None and message.text is None:
        raise raw.refused("content", "expected blocks of text here or a text under text; found neither")
    text = storable("".join(block.text or "" for block in message.blocks))
    places = list(_places(raw, message, text))
    given = response.documents if response.documents is not None else message.documents
    if given is not None:
        documents = [item.document(f"document-{number}") for number, item in enumerate(given, start=1)]
        _refuse_strangers(raw, places, documents)
        sources = Sources(documents, library)
    else:
        documents = _from_citations([place.cited for place in places])
        sources = Sources(documents, library, _positions(documents, places))
    answer = parse_answer(
        response.id or message.id or str(raw.number),
        text,
        documents,
        response.question or message.question,
        mentions=(),
    )
    claims = _with_citations(answer, [(place.span, _targets(place.cited, sources)) for place in places])
    return answer.model_copy(update={"claims": claims, "documents": tuple(sources.documents)})


def _places(raw: RawRecord, message: _Message, text: str) -> Iterator[_Place]:
    """Each citation with the stretch of the answer that it stands on."""
    starts = [0]
    for number, block in enumerate(message.blocks):
        starts.append(starts[-1] + len(block.text or ""))
        if span := trimmed(text, starts[number], starts[number + 1]):
            yield from (_Place(span, cited) for cited in block.citations or ())
    for number, cited in enumerate(message.citations or ()):
        field = f"citations.{number}"
        if cited.start is None or cited.end is None:
            raise raw.refused(field, "expected start and end, places in the answer's text; found one without them")
        shift = starts[min(cited.content_index, len(starts) - 1)]
        if not cited.start < cited.end <= len(text) - shift:
            found = f"{cited.start} to {cited.end}"
            raise raw.refused(field, f"expected a stretch of the answer's {len(text)} characters; found {found}")
        if span := trimmed(text, shift + cited.start, shift + cited.end):
            yield _Place(span, cited)


def _from_citations(cited: Sequence[_Cited]) -> list[Document]:
    """The documents as far as the citations quote them, for a response that was kept without its request."""
    quoted: dict[str, tuple[str, list[str]]] = {}
    for citation in cited:
        for source in citation.sources:
            document = source.document("")
            quoted.setdefault(document.id, (document.title, []))[1].append(document.text)
        name = _name(citation)
        if name and citation.cited_text:
            quoted.setdefault(name, (citation.document_title or "", []))[1].append(citation.cited_text)
    return [passages(id, texts, title) for id, (title, texts) in quoted.items()]


def _name(cited: _Cited) -> str | None:
    return f"document-{cited.index + 1}" if cited.index is not None else cited.url


def _positions(documents: Sequence[Document], places: Sequence[_Place]) -> list[str]:
    """The ids of the documents by their number in the request, empty where nothing quotes one."""
    ids = {document.id for document in documents}
    count = max((place.cited.index + 1 for place in places if place.cited.index is not None), default=0)
    names = (f"document-{number}" for number in range(1, min(count, _MOST) + 1))
    return [name if name in ids else "" for name in names]


def _refuse_strangers(raw: RawRecord, places: Sequence[_Place], documents: Sequence[Document]) -> None:
    """A quotation that its document does not have: the documents are others, or in another order."""
    for place in places:
        index, quoted = place.cited.index, place.cited.cited_text
        if index is None or quoted is None or index >= len(documents):
            continue
        if " ".join(storable(quoted).split()) not in " ".join(documents[index].text.split()):
            problem = f"expected it to have the cited text {quoted[:60]!r}; found it nowhere. Are they in their order?"
            raise raw.refused(f"documents.{index}", problem)


def _targets(cited: _Cited, sources: Sources) -> tuple[Cited, ...]:
    if cited.index is not None and not cited.document_ids:
        return (sources.numbered(cited.index + 1),)
    names = [*cited.document_ids, *(source.id for source in cited.sources if source.id)]
    return tuple(sources.named(name) for name in dict.fromkeys(names or ([cited.url] if cited.url else [])))


def _with_citations(answer: Answer, places: Sequence[tuple[Span, tuple[Cited, ...]]]) -> tuple[Claim, ...]:
    """The claims, each with the citations on any part of it; those on no claim go to the next, or the last."""
    claims = answer.claims
    if not claims:
        whole = Span(start=0, end=len(answer.text))
        claims = (Claim(text="", span=whole),) if places else ()
    found: list[dict[str | int, Citation]] = [{} for _ in claims]
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


def _matches(fields: Fields) -> bool:
    message: Any = fields.get("message", fields)
    if not isinstance(message, dict):
        return False
    held = cast(Fields, message)
    return isinstance(held.get("content"), list) or ("citations" in held and bool({"text", "content"} & held.keys()))


SPANS = Format(
    '{"content": [{"type": "text", "text", "citations": [{"type": "char_location", "cited_text", "document_index"}]}], '
    '"documents"?} or {"text", "citations": [{"start", "end", "document_ids"}], "documents"?}',
    _read,
    _matches,
)
