"""What a format is, and what the readers of several formats share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """The items of a list; none of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def dict_of(value: object) -> Fields:
    """The fields of an object; none of anything else."""
    return cast(Fields, value) if isinstance(value, dict) else cast(Fields, {})


def dicts_in(value: object) -> list[Fields]:
    """The objects in a list."""
    return [cast(Fields, item) for item in items_in(value) if isinstance(item, dict)]


def first_dict(value: object) -> Fields:
    """The first object in a list; one without fields if there is none."""
    return next(iter(dicts_in(value)), dict_of(None))


def fields_of(json: str) -> Fields | None:
    """The fields of a record, if it is an object."""
    try:
        value = from_json(json)
    except ValueError:
        return None
    return cast(Fields, value) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record of a file, not yet read.

    ``number`` counts records from 1, ``line`` lines; ``within`` is where in the line's JSON it stands, if not alone.
    """

    path: str
    number: int
    line: int
    json: str
    within: str = ""

    def read(self, kind: type[Model]) -> Model:
        """The record as one of this kind.

        Raises:
            RecordError: It is none.
        """
        try:
            return kind.model_validate_json(self.json)
        except ValidationError as error:
            raise self.unfit(error) from None

    def unfit(self, error: ValidationError | ValuesError) -> RecordError:
        """The error that names this record and the field of it that pydantic complains of first."""
        if isinstance(error, ValuesError):
            return self.refused(error.field, error.problem)
        _, problem = first_problem(error)
        # In a field that may have several forms pydantic names the form too: "str", "tuple[_Block, ...]".
        parts = [str(part) for part in error.errors(include_url=False)[0]["loc"]]
        field = ".".join(part for part in parts if part != "str" and not re.search(r"\A[_<]|[\[\]]", part))
        return self.refused(field or None, problem)

    @property
    def fields(self) -> Fields | None:
        """The fields, if the record is an object."""
        return fields_of(self.json)

    @property
    def row(self) -> Row:
        """The record as readers of data sets take one.

        Raises:
            RecordError: It is no object.
        """
        fields = self.fields
        if fields is None:
            raise self.refused(None, "expected an object; found something else")
        return Row(Path(self.path), self.line, self.number, self.within, fields)

    def with_fields(self, fields: Fields) -> RawRecord:
        """The same record with other fields."""
        return replace(self, json=to_json(fields, serialize_unknown=True).decode())

    def part(self, within: str, fields: Fields) -> RawRecord:
        """A part of this record that is one by itself."""
        return replace(self.with_fields(fields), within=".".join(filter(None, (self.within, within))))

    def refused(self, field: str | None, problem: str) -> RecordError:
        """The error that names this record."""
        parts = [part for part in (self.within, field) if part]
        return RecordError(self.path, self.line, ".".join(parts) or None, problem)


@dataclass(frozen=True, slots=True)
class Format:
    """A form that answers come in.

    Attributes:
        summary: The fields of a record, as an error names them.
        read: A record as an answer; ``RecordError``, ``ValuesError`` or ``ValidationError`` if it is none.
        matches: Whether a record's fields are those of this form.
        needs_documents: Whether its records name documents that they do not bring.
        parts: The answers of a record that holds several, each as a record; None where it is one answer.
        infers_citations: Whether a sentence without a marker is taken to cite every context.
    """

    summary: str
    read: Callable[[RawRecord, Library], Answer]
    matches: Callable[[Fields], bool]
    needs_documents: bool = False
    parts: Callable[[RawRecord], Iterator[RawRecord]] | None = None
    infers_citations: bool = False


class Foreign(Record):
    """A record of another program's: fields that nothing is read from are let be."""

    model_config = ConfigDict(extra="ignore")


def _spelled(name: object) -> object:
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < 10**18:
        return str(name)
    return storable(name) if isinstance(name, str) else name


Name = Annotated[str, BeforeValidator(_spelled), Field(min_length=1)]
"""An id, which some write as a number."""

PerhapsName = Annotated[Name | None, BeforeValidator(lambda name: None if name == "" else name)]
"""An id that may be missing, which some write as an empty text."""


MOST_CITATIONS = 100_000
"""Citations of one answer at most, where each sentence without a marker cites every context."""


def answer_of(
    id: str,
    text: str,
    sources: CitableDocuments,
    question: str | None = None,
    *,
    uncited_cite_all: bool = False,
) -> Answer:
    """An answer with markers in its text, numbers or PubMed ids.

    Args:
        id: Its name.
        text: Its words.
        sources: What it can cite.
        question: What it answers.
        uncited_cite_all: Take a sentence without any marker for one that cites every document.
    """
    expect_text(text)
    mentions = mentions_in(storable(text), sources)
    answer = parse_answer(id, text, sources.documents, question, mentions=mentions)
    if not uncited_cite_all:
        return answer
    count = sum(not claim.citations for claim in answer.claims) * sources.count
    if count > MOST_CITATIONS:
        problem = f"expected at most {MOST_CITATIONS:,} citations of one answer; found {count:,}"
        raise InputError(f"{problem}, because each sentence without a marker cites every context. Give fewer contexts")
    return answer.model_copy(update={"claims": tuple(_citing(claim, sources.every()) for claim in answer.claims)})


def _citing(claim: Claim, cited: Sequence[Cited]) -> Claim:
    if claim.citations:
        return claim
    citations = (Citation(marker=number, span=claim.span, document=document) for number, document in cited)
    return claim.model_copy(update={"citations": tuple(citations)})


_TEXTS = (
    "text snippet content data document page_content contents abstract body passage chunk"  # a document's words
).split()
_BELOW = "data source document tool_output metadata meta node web retrieved_context".split()
_IDS = "id id_ _id doc_id docid document_id".split()
_ADDRESSES = "doi url uri link source file_name filename file_path file_id".split()
# An id that a program made up says nothing to a reader: a UUID, a digest.
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
    """Refuse what Python prints of another library's object where its words are due.

    Raises:
        ValueError: The text is such a printed form, as ``json.dumps(result, default=str)`` writes it.
    """
    if found := _PRINTED.match(text):
        shown = f"{found['kind']}(...)" if found["kind"] else found["text"].split("=")[0].strip()[:24]
        raise ValueError(
            f"expected the words of a text; found an object as Python prints it ({shown}), as "
            "json.dumps(result, default=str) writes it. Write its fields: "
            "json.dumps(result, default=lambda item: item.model_dump()), or check the result in Python: "
            "vericite.check(result)"
        )


class Given(Foreign):
    """A document as another program writes it, or a part of one.

    Its words come as a text or as blocks of text, in the document or a level below; or the document is nothing but a
    text. ``texts`` is None where there are no words. ``place`` is the number that cites it, where that is not its place
    in the list.
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
                f"expected a document's words; found {_NO_TEXT[kind]} (source type {kind!r}). "
                'Give the text instead: {"type": "text", "data": "..."}'
            )
        texts = [_words(level.get(name)) for level in levels for name in _TEXTS]
        for text in (text for found in texts for text in found or ()):
            expect_words(text)
        titles = _values(levels, ("title", "Title", "document_title"))
        return {
            "type": fields.get("type") or "document",
            "id": next(_wrong(fields, _IDS, (str, int)), _identified(levels)),
            "title": next(_wrong(fields, ("title",), (str,)), next((it for it in titles if isinstance(it, str)), None)),
            "pmid": _pmid(levels),
            "retracted": any(level.get("retracted") is True for level in levels),
            "place": next(_values(levels, ("source_index",)), None),  # Haystack leaves out what is not cited.
            "texts": next((found for found in texts if found is not None), None),
        }


def _wrong(fields: Fields, names: Sequence[str], kinds: tuple[type, ...]) -> Iterator[Any]:
    """A document's own names that are none; what other levels hold is the program's own."""
    given = (fields.get(name) for name in names)
    return (value for value in given if value is not None and (not isinstance(value, kinds) or value is True))


def _values(levels: Sequence[Fields], names: Sequence[str]) -> Iterator[Any]:
    return (level[name] for level in levels for name in names if level.get(name) not in (None, "", {}, []))


def _pmid(levels: Sequence[Fields]) -> object:
    """The PubMed id; LangChain's retriever of PubMed calls it ``uid``."""
    numbers = (value for value in _values(levels, ("uid",)) if str(value).isdigit())
    return next(_values(levels, ("pmid", "PMID", "pubmed_id")), next(numbers, None))


def _identified(levels: Sequence[Fields]) -> object:
    """What names the document best: its own id, unless a program made it up, a PubMed id, an address."""
    own = list(_values(levels[:1], _IDS))
    telling = [id for id in own if not (isinstance(id, str) and _MACHINE_MADE.fullmatch(id))]
    pmid = _pmid(levels)
    below = [*_values(levels[1:], _IDS), *_values(levels, _ADDRESSES)]
    names = [*telling, *([pmid] if pmid else ()), *(name for name in below if isinstance(name, str | int)), *own]
    return names[0] if names else None


def _words(given: object) -> tuple[str, ...] | None:
    """A text, or the texts of a list of blocks; None if it is neither."""
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
    """A document of which only passages are known, each a section."""
    sections = tuple(Section(text=storable(text)) for text in dict.fromkeys(texts) if text)
    written = re.fullmatch(r"(?:pmid\s?:?\s?)?([0-9]{1,8})", pmid or id, re.IGNORECASE)
    own = written[1] if written else None
    return Document(id=storable(id), title=storable(title), sections=sections, pmid=own, retracted=retracted)


def sources_of(given: Sequence[Given], library: Library, kind: str = "context") -> CitableDocuments:
    """What an answer can cite that was written from these documents, or chunks of documents; numbers count them.

    Chunks of one document are sources of their own, ``a.pdf#1`` and ``a.pdf#2``, unless they are one text. Who cites
    the document by its name cites all its chunks together. Where there are no words the library is asked for them.
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
    """A stretch of a text without the white space at its ends; None if there is nothing else in it."""
    words = text[start:end].strip()
    if not words:
        return None
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return Span(start=start, end=start + len(words))
