"""The ``Format`` record, and helpers shared by the readers of several formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json, to_json

from vericite.datasets.rows import Row
from vericite.errors import InputError, RecordError, ValuesError
from vericite.records import Answer, Citation, Claim, Document, Record, Section, Span, first_problem, storable
from vericite.text.citations import CitableDocuments, Cited, expect_text, mentions_in, parse_answer
from vericite.text.references import Library

Model = TypeVar("Model", bound=BaseModel)
Fields = Mapping[str, Any]


def items_in(value: object) -> list[Any]:
    """Return the items of a list; empty for other values."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def dict_of(value: object) -> Fields:
    """Return the fields of an object; empty for other values."""
    return cast(Fields, value) if isinstance(value, dict) else cast(Fields, {})


def dicts_in(value: object) -> list[Fields]:
    """Return the objects in a list."""
    return [cast(Fields, item) for item in items_in(value) if isinstance(item, dict)]


def first_dict(value: object) -> Fields:
    """Return the first object in a list; an empty object if there is none."""
    return next(iter(dicts_in(value)), dict_of(None))


def fields_of(json: str) -> Fields | None:
    """Parse a record and return its fields; None if it is not an object."""
    try:
        value = from_json(json)
    except ValueError:
        return None
    return cast(Fields, value) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record of a file before parsing.

    ``number`` counts records from 1, ``line`` counts lines; ``within`` is the path in the line's JSON value, if the
    record is only a part of it.
    """

    path: str
    number: int
    line: int
    json: str
    within: str = ""

    def read(self, kind: type[Model]) -> Model:
        """Parse the record as this class.

        Raises:
            RecordError: It is not valid.
        """
        try:
            return kind.model_validate_json(self.json)
        except ValidationError as error:
            raise self.unfit(error) from None

    def unfit(self, error: ValidationError | ValuesError) -> RecordError:
        """Return a ``RecordError`` for the first problem in a validation error."""
        if isinstance(error, ValuesError):
            return self.refused(error.field, error.problem)
        _, problem = first_problem(error)
        # For a union, pydantic's path includes the type: "str", "tuple[_Block, ...]".
        parts = [str(part) for part in error.errors(include_url=False)[0]["loc"]]
        field = ".".join(part for part in parts if part != "str" and not re.search(r"\A[_<]|[\[\]]", part))
        return self.refused(field or None, problem)

    @property
    def fields(self) -> Fields | None:
        """The fields, if the record is an object."""
        return fields_of(self.json)

    @property
    def row(self) -> Row:
        """The record as a row for readers of data sets.

        Raises:
            RecordError: It is not an object.
        """
        fields = self.fields
        if fields is None:
            raise self.refused(None, "expected an object; found something else")
        return Row(Path(self.path), self.line, self.number, self.within, fields)

    def with_fields(self, fields: Fields) -> RawRecord:
        """Return this record with other fields."""
        return replace(self, json=to_json(fields, serialize_unknown=True).decode())

    def part(self, within: str, fields: Fields) -> RawRecord:
        """Return a part of this record as a record."""
        return replace(self.with_fields(fields), within=".".join(filter(None, (self.within, within))))

    def refused(self, field: str | None, problem: str) -> RecordError:
        """Return a ``RecordError`` for this record."""
        parts = [part for part in (self.within, field) if part]
        return RecordError(self.path, self.line, ".".join(parts) or None, problem)


@dataclass(frozen=True, slots=True)
class Format:
    """A format of answers.

    Attributes:
        summary: The fields of a record, for error messages.
        read: Converts a record to an answer. Raises ``RecordError``, ``ValuesError`` or ``ValidationError`` if it is
            not valid.
        matches: Whether a record's fields are those of this format.
        needs_documents: Whether records cite documents without including them.
        parts: Splits a record with several answers; None if each record is one answer.
        infers_citations: Whether each sentence of an answer without markers is assumed to cite every context.
    """

    summary: str
    read: Callable[[RawRecord, Library], Answer]
    matches: Callable[[Fields], bool]
    needs_documents: bool = False
    parts: Callable[[RawRecord], Iterator[RawRecord]] | None = None
    infers_citations: bool = False


class Foreign(Record):
    """A record of another program; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")


def _spelled(name: object) -> object:
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < 10**18:
        return str(name)
    return storable(name) if isinstance(name, str) else name


Name = Annotated[str, BeforeValidator(_spelled), Field(min_length=1)]
"""An id; numbers are converted to text."""

PerhapsName = Annotated[Name | None, BeforeValidator(lambda name: None if name == "" else name)]
"""An optional id; an empty text means that it is missing."""


MOST_CITATIONS = 100_000
"""Maximum citations of an answer without markers, in which each sentence cites every context."""


def answer_of(
    id: str,
    text: str,
    sources: CitableDocuments,
    question: str | None = None,
    *,
    uncited_cite_all: bool = False,
) -> Answer:
    """Parse an answer with markers in its text, which are numbers or PubMed ids.

    Args:
        id: Id of the answer.
        text: Text of the answer.
        sources: Documents that it can cite.
        question: Its question.
        uncited_cite_all: Assume that each sentence cites every document, if no sentence of the answer has a marker.
    """
    expect_text(text)
    mentions = mentions_in(storable(text), sources)
    answer = parse_answer(id, text, sources.documents, question, mentions=mentions)
    if not uncited_cite_all or not sources.count or any(claim.citations for claim in answer.claims):
        return answer
    count = len(answer.claims) * sources.count
    if count > MOST_CITATIONS:
        problem = f"expected at most {MOST_CITATIONS:,} citations in an answer; found {count:,}"
        raise InputError(
            f"{problem}, because in an answer without markers each sentence cites every context. Give fewer contexts"
        )
    claims = tuple(_citing(claim, sources.every()) for claim in answer.claims)
    contexts = "the context" if sources.count == 1 else f"all {sources.count} contexts"
    assumed = (f"No sentence has a marker, so each was taken to cite {contexts}.",) if claims else ()
    return answer.model_copy(update={"claims": claims, "assumed": assumed})


def _citing(claim: Claim, cited: Sequence[Cited]) -> Claim:
    citations = (Citation(marker=number, span=claim.span, document=document) for number, document in cited)
    return claim.model_copy(update={"citations": tuple(citations)})


# Field names of a document's text.
_TEXTS = "text snippet content data document page_content contents abstract body passage chunk".split()
_BELOW = "data source document tool_output metadata meta node web retrieved_context".split()
_IDS = "id id_ _id doc_id docid document_id".split()
_ADDRESSES = "doi url uri link source file_name filename file_path file_id".split()
# Generated ids, such as UUIDs and digests, mean nothing to a reader.
_MACHINE_MADE = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}|[0-9a-fA-F]{40,64}")
_NO_TEXT = {"base64": "a PDF or another file in base64", "url": "an address", "file": "the name of a file"}


_PRINTED = re.compile(
    r"\s*\[?\s*(?:(?P<text>page_content=['\"]|content=['\"].{0,20000}\b(?:additional_kwargs|response_metadata)="
    r"|Node ID: \S{1,99}\s{1,3}Text: )"
    r"|(?P<kind>Document|NodeWithScore|TextNode|IndexNode|ImageNode|AIMessage|HumanMessage|ToolMessage|GeneratedAnswer"
    r"|Response|Context|Text)\((?:id|id_|metadata|meta|page_content|content|node|text|data|response|context|embedding)"
    r"[=:])",
    re.DOTALL,
)


def expect_words(text: str) -> None:
    """Refuse the printed form of another library's object in place of a text.

    Raises:
        ValueError: The text is a printed object, as ``json.dumps(result, default=str)`` writes it.
    """
    if found := _PRINTED.match(text):
        shown = f"{found['kind']}(...)" if found["kind"] else found["text"].split("=")[0].strip()[:24]
        raise ValueError(
            f"expected a text; found a printed Python object ({shown}), as written by "
            "json.dumps(result, default=str). Write its fields instead: "
            "json.dumps(result, default=lambda item: item.model_dump()), or check the result in Python: "
            "vericite.check(result)"
        )


class Given(Foreign):
    """A document, or a part of one, in the form of another program.

    Its text is a string or a list of blocks, in the document or one level below; or the document is only a string.
    ``texts`` is None if there is no text. ``place`` is the number that cites it, if that is not its position in the
    list.
    """

    type: str = "document"
    id: Name | None = None
    title: str | None = None
    pmid: Name | None = None
    retracted: bool = False
    place: Annotated[int, Field(ge=1, le=10_000)] | None = None
    texts: tuple[str, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _levelled(cls, given: Any) -> Any:
        if isinstance(given, str):
            expect_words(given)
            return {"texts": (given,)}
        if not isinstance(given, dict):
            return given
        fields = cast(Fields, given)
        fields = dict_of(fields.get("node")) or dict_of(fields.get("kwargs")) or fields
        levels = [fields, *(dict_of(fields.get(name)) for name in _BELOW)]
        kind = dict_of(fields.get("source")).get("type") or dict_of(fields.get("data")).get("type")
        if isinstance(kind, str) and kind in _NO_TEXT:
            raise ValueError(
                f"expected the text of a document; found {_NO_TEXT[kind]} (source type {kind!r}). "
                'Give the text instead: {"type": "text", "data": "..."}'
            )
        texts = [_words(level.get(name)) for level in levels for name in _TEXTS]
        for text in (text for found in texts for text in found or ()):
            expect_words(text)
        titles = chain(_values(levels, ("title", "Title", "document_title")), _values(levels[:1], ("heading", "name")))
        return {
            "type": fields.get("type") or "document",
            "id": next(_wrong(fields, _IDS, (str, int)), _identified(levels)),
            "title": next(
                _wrong(fields, ("title",), (str,)), next((title for title in titles if isinstance(title, str)), None)
            ),
            "pmid": _pmid(levels),
            "retracted": any(level.get("retracted") is True for level in levels),
            "place": next(
                _values(levels, ("source_index",)), None
            ),  # Haystack leaves out documents that are not cited.
            "texts": next((found for found in texts if found is not None), None),
        }


def _wrong(fields: Fields, names: Sequence[str], kinds: tuple[type, ...]) -> Iterator[Any]:
    """Yield invalid values of a document's own fields, to be reported; other levels may hold anything."""
    given = (fields.get(name) for name in names)
    return (value for value in given if value is not None and (not isinstance(value, kinds) or value is True))


def _values(levels: Sequence[Fields], names: Sequence[str]) -> Iterator[Any]:
    return (level[name] for level in levels for name in names if level.get(name) not in (None, "", {}, []))


def _pmid(levels: Sequence[Fields]) -> object:
    """Return the PubMed id; LangChain's PubMed retriever calls it ``uid``."""
    numbers = (value for value in _values(levels, ("uid",)) if str(value).isdigit())
    return next(_values(levels, ("pmid", "PMID", "pubmed_id")), next(numbers, None))


def _identified(levels: Sequence[Fields]) -> object:
    """Return the best id: the document's own unless it is generated, a PubMed id, a URL."""
    own = list(_values(levels[:1], _IDS))
    telling = [id for id in own if not (isinstance(id, str) and _MACHINE_MADE.fullmatch(id))]
    pmid = _pmid(levels)
    below = [*_values(levels[1:], _IDS), *_values(levels, _ADDRESSES)]
    names = [*telling, *([pmid] if pmid else ()), *(name for name in below if isinstance(name, str | int)), *own]
    return names[0] if names else None


def _words(given: object) -> tuple[str, ...] | None:
    """Return the texts of a string or a list of blocks; None for other values."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list):
        return None
    blocks = cast("list[Any]", given)
    texts = [cast(Fields, block).get("text") if isinstance(block, dict) else block for block in blocks]
    return tuple(text for text in texts if isinstance(text, str))


def passages(
    id: str, texts: Sequence[str], title: str = "", pmid: str | None = None, retracted: bool = False
) -> Document:
    """Build a document from passages; each passage becomes a section."""
    sections = tuple(Section(text=storable(text)) for text in dict.fromkeys(texts) if text)
    written = re.fullmatch(r"(?:pmid\s?:?\s?)?([0-9]{1,8})", pmid or id, re.IGNORECASE)
    own = written[1] if written else None
    return Document(id=storable(id), title=storable(title), sections=sections, pmid=own, retracted=retracted)


def sources_of(given: Sequence[Given], library: Library, kind: str = "context") -> CitableDocuments:
    """Return the citable documents of an answer that was written from these documents or chunks, numbered in order.

    Chunks of a document with different texts are separate sources, ``a.pdf#1`` and ``a.pdf#2``. A citation of the
    document by name cites all its chunks together. Missing texts are looked up in the library.
    """
    names = [storable(item.id or f"{kind}-{number}") for number, item in enumerate(given, start=1)]
    chunks: dict[str, dict[tuple[str, ...], Given]] = {}
    for name, item in zip(names, given, strict=True):
        if item.texts is not None:
            chunks.setdefault(name, {}).setdefault(item.texts, item)
    ids: dict[tuple[str, tuple[str, ...]], str] = {}
    documents: list[Document] = []
    wholes: list[Document] = []
    for name, parts in chunks.items():
        for number, (texts, item) in enumerate(parts.items(), start=1):
            id = ids[name, texts] = name if len(parts) == 1 else f"{name}#{number}"
            documents.append(passages(id, texts, item.title or "", item.pmid or name, item.retracted))
        if len(parts) > 1:
            first = next(iter(parts.values()))
            words = [text for texts in parts for text in texts]
            wholes.append(passages(name, words, first.title or "", first.pmid, first.retracted))
    places = [item.place or number for number, item in enumerate(given, start=1)]
    if len(set(places)) < len(places):
        places = list(range(1, len(given) + 1))
    numbered = [""] * max(places, default=0)
    for place, name, item in zip(places, names, given, strict=True):
        numbered[place - 1] = ids[name, item.texts] if item.texts is not None else ""
    sources = CitableDocuments(documents, library, numbered, wholes=wholes)
    for place, name, item in zip(places, names, given, strict=True):
        if item.texts is None:
            sources.bind(place, name)
    return sources


def trimmed(text: str, start: int, end: int) -> Span | None:
    """Return a span of a text without white space at its ends; None if it is only white space."""
    words = text[start:end].strip()
    if not words:
        return None
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return Span(start=start, end=start + len(words))
