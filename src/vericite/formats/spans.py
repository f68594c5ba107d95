"""Citations as providers return them: objects that point at characters of the answer and of the sources.

Two shapes are read. The Messages API of Anthropic returns ``content`` blocks of text, each with the citations that
stand on it; Cohere's Chat API a text and ``citations`` with ``start`` and ``end``, names of documents (version 1) or
``sources`` (version 2, where text and citations are in ``message``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import AliasChoices, Field, model_validator

from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord, passages, trimmed
from vericite.records import Answer, Citation, Claim, Document, Span, storable
from vericite.text.citations import parse_answer
from vericite.text.mentions import Cited, Sources
from vericite.text.references import Library, reference_key

_MOST = 10_000  # documents that a request is thought to have; an index beyond is no list's length
Index = Annotated[int, Field(ge=0, lt=10**9)]


_WORDS = ("text", "snippet", "content", "data", "document")  # where a document's words may be, there or a level below
_BELOW = ("data", "source", "document", "tool_output")
_NO_WORDS = {"base64": "a PDF or another file in base64", "url": "an address", "file": "the name of a file"}


def _words(given: object) -> tuple[str, ...] | None:
    """A text, or the texts of a list of blocks; None if it is neither."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list):
        return None
    blocks = cast("list[Any]", given)
    texts = [cast(Fields, block).get("text") if isinstance(block, dict) else block for block in blocks]
    return tuple(text for text in texts if isinstance(text, str))


class _Given(Foreign):
    """A document as it was sent along with the question, or as a citation returns it.

    Its words come as a text or as blocks of text, in the document or under ``data``, ``source`` or ``document``; or
    the document is nothing but a text. ``texts`` is None where there are no words.
    """

    type: str = "document"
    id: Name | None = None
    title: str | None = None
    texts: tuple[str, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _levelled(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"texts": (given,)}
        if not isinstance(given, dict):
            return given
        fields = cast(Fields, given)
        levels = [cast(Fields, fields[name]) for name in _BELOW if isinstance(fields.get(name), dict)]
        below: Fields = levels[0] if levels else dict[str, Any]()
        if isinstance(kind := below.get("type"), str) and kind in _NO_WORDS:
            raise ValueError(
                f"expected a document's words; found {_NO_WORDS[kind]} (source type {kind!r}). "
                'Give the text instead: {"type": "text", "data": "..."}'
            )
        found = (_words(level.get(name)) for level in (fields, below) for name in _WORDS)
        title = fields.get("title")
        return {
            "type": fields.get("type") or "document",
            "id": fields.get("id"),
            "title": title if title is not None else below.get("title"),
            "texts": next((texts for texts in found if texts is not None), None),
        }

    def document(self, id: str) -> Document:
        """The same as a document; without words where it has none."""
        return passages(self.id or id, self.texts or (), self.title or "")


class _Cited(Foreign):
    """A citation of either provider. Documents and search results are counted apart."""

    cited_text: str | None = None
    document_index: Index | None = None
    search_result_index: Index | None = None
    title: str | None = Field(None, validation_alias=AliasChoices("document_title", "title"))
    url: str | None = None
    start: Index | None = None
    end: Index | None = None
    content_index: Index | None = None
    document_ids: tuple[Name, ...] = ()
    sources: tuple[_Given, ...] = ()

    @property
    def place(self) -> tuple[str, int] | None:
        """The kind of source and its number among those of the kind, from 0."""
        if self.document_index is not None:
            return "document", self.document_index
        return None if self.search_result_index is None else ("search-result", self.search_result_index)

    @property
    def otherwise(self) -> list[str]:
        """What names its source where neither an id nor a number does; a source that nothing names is one too."""
        return [self.url or "source"] if self.url or self.sources else []


class _Block(Foreign):
    """A piece of the answer; one that is no text, a tool's call, has no words."""

    type: str = "text"
    text: str | None = None
    citations: tuple[_Cited, ...] | None = None

    @property
    def words(self) -> str:
        """Its part of the answer."""
        return (self.text or "") if self.type == "text" else ""


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
        """All pieces, with or without words."""
        said = self.content if self.content is not None else self.text
        return (_Block(text=said),) if isinstance(said, str) else said or ()


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
    text = storable("".join(block.words for block in message.blocks))
    places = list(_places(raw, message, text))
    given = response.documents if response.documents is not None else message.documents
    if given is not None:
        sources, cited = _from_request(raw, given, places, library)
    else:
        sources, cited = _from_citations(places, library)
    answer = parse_answer(
        response.id or message.id or str(raw.number),
        text,
        sources.documents,
        response.question or message.question,
        mentions=(),
    )
    claims = _with_citations(answer, [(place.span, targets) for place, targets in zip(places, cited, strict=True)])
    return answer.model_copy(update={"claims": claims, "documents": tuple(sources.documents)})


def _places(raw: RawRecord, message: _Message, text: str) -> Iterator[_Place]:
    """Each citation with the stretch of the answer that it stands on."""
    starts = [0]
    for number, block in enumerate(message.blocks):
        starts.append(starts[-1] + len(block.words))
        if span := trimmed(text, starts[number], starts[number + 1]):
            yield from (_Place(span, cited) for cited in block.citations or ())
    for number, cited in enumerate(message.citations or ()):
        field = f"citations.{number}"
        if cited.start is None or cited.end is None:
            raise raw.refused(field, "expected start and end, places in the answer's text; found one without them")
        if cited.content_index is not None and cited.content_index >= len(starts) - 1:
            problem = f"expected content_index to be that of one of {len(starts) - 1} blocks"
            raise raw.refused(field, f"{problem}; found {cited.content_index}")
        # Without the number of a block they are places in all of the text.
        index = cited.content_index
        shift, limit = (0, len(text)) if index is None else (starts[index], starts[index + 1])
        if not cited.start < cited.end <= limit - shift:
            of = "the answer's" if index is None else f"block {index}'s"
            found = f"{cited.start} to {cited.end}"
            raise raw.refused(field, f"expected a stretch of {of} {limit - shift} characters; found {found}")
        if span := trimmed(text, shift + cited.start, shift + cited.end):
            yield _Place(span, cited)


def _from_request(
    raw: RawRecord, given: Sequence[_Given], places: Sequence[_Place], library: Library
) -> tuple[Sources, list[tuple[Cited, ...]]]:
    """The documents that came with the question, and what each place cites of them."""
    for number, item in enumerate(given):
        if item.texts is None:
            problem = "expected its words under text, snippet, content or data; found none"
            raise raw.refused(f"documents.{number}", problem)
    documents = [item.document(f"document-{number}") for number, item in enumerate(given, start=1)]
    results = [number for number, item in enumerate(given) if item.type == "search_result"]
    others = [number for number, item in enumerate(given) if item.type != "search_result"]
    # Texts of no kind are those of the only kind that there is.
    order = {"document": others or results, "search-result": results or others}
    sources = Sources(documents, library)
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


def _named(names: Sequence[str], sources: Sources) -> tuple[Cited, ...]:
    return tuple(sources.named(name) for name in dict.fromkeys(names))


def _refuse_stranger(raw: RawRecord, cited: _Cited, index: int, document: Document) -> None:
    """A quotation that its document does not have: the documents are others, or in another order."""
    quoted = cited.cited_text
    if quoted is not None and "".join(storable(quoted).split()) not in "".join(document.text.split()):
        problem = f"expected it to have the cited text {quoted[:60]!r}; found it nowhere. Are they in their order?"
        raise raw.refused(f"documents.{index}", problem)


def _from_citations(places: Sequence[_Place], library: Library) -> tuple[Sources, list[tuple[Cited, ...]]]:
    """The documents as far as the citations quote them, for a response that was kept without its request."""
    quoted = _Quoted()
    names = [quoted.names(place.cited) for place in places]
    documents = quoted.documents()
    ids = {document.id for document in documents}
    counted = [place.cited.place for place in places if place.cited.place]
    kind = min((kind for kind, _ in counted), default="")  # "document" where both are counted
    count = max((index + 1 for name, index in counted if name == kind), default=0)
    numbered = (f"{kind}-{number}" for number in range(1, min(count, _MOST) + 1))
    sources = Sources(documents, library, [name if name in ids else "" for name in numbered])
    cited: list[tuple[Cited, ...]] = []
    for place, named in zip(places, names, strict=True):
        if place.cited.place and place.cited.place[0] == kind and not place.cited.document_ids:
            cited.append((sources.numbered(place.cited.place[1] + 1),))
        else:
            cited.append(_named(named, sources))
    return sources, cited


class _Quoted:
    """What citations quote of each source. One source is named by its id, its address, its number or its words."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str, list[str]]] = {}
        self._unnamed: dict[tuple[str, ...], str] = {}

    def names(self, cited: _Cited) -> list[str]:
        """The names of what a citation cites, whose words are kept."""
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
        """The name under which the words are kept: the first of all that are of one key."""
        name = storable(name)
        if any(texts):
            name, _, kept = self._found.setdefault(reference_key(name), (name, title or "", []))
            kept.extend(texts)
        return name

    def documents(self) -> list[Document]:
        """The sources that words are quoted of."""
        return [passages(name, texts, title) for name, title, texts in self._found.values()]


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
