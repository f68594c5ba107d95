"""What a format is, and what the readers of several formats share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from vericite.errors import RecordError
from vericite.records import Answer, Citation, Claim, Document, Record, Section, Span, first_problem, storable
from vericite.text.citations import parse_answer
from vericite.text.mentions import Cited, Sources, mentions_in
from vericite.text.references import Library

Model = TypeVar("Model", bound=BaseModel)
Fields = Mapping[str, Any]


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

    def unfit(self, error: ValidationError) -> RecordError:
        """The error that names this record and the field of it that pydantic complains of first."""
        _, problem = first_problem(error)
        # In a field that may have several forms pydantic names the form too: "str", "tuple[_Block, ...]".
        parts = [str(part) for part in error.errors(include_url=False)[0]["loc"]]
        field = ".".join(part for part in parts if part != "str" and not re.search(r"\A[_<]|[\[\]]", part))
        return self.refused(field or None, problem)

    def refused(self, field: str | None, problem: str) -> RecordError:
        """The error that names this record."""
        parts = [part for part in (self.within, field) if part]
        return RecordError(self.path, self.line, ".".join(parts) or None, problem)


@dataclass(frozen=True, slots=True)
class Format:
    """A form that answers come in.

    Attributes:
        summary: The fields of a record, as an error names them.
        read: A record as an answer; ``RecordError`` or ``ValidationError`` if it is none.
        matches: Whether a record's fields are those of this form.
        needs_documents: Whether its records name documents that they do not bring.
    """

    summary: str
    read: Callable[[RawRecord, Library], Answer]
    matches: Callable[[Fields], bool]
    needs_documents: bool = False


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


def answer_of(
    id: str,
    text: str,
    sources: Sources,
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
    mentions = mentions_in(storable(text), sources)
    answer = parse_answer(id, text, sources.documents, question, mentions=mentions)
    if not uncited_cite_all:
        return answer
    return answer.model_copy(update={"claims": tuple(_citing(claim, sources.every()) for claim in answer.claims)})


def _citing(claim: Claim, cited: Sequence[Cited]) -> Claim:
    if claim.citations:
        return claim
    citations = (Citation(marker=number, span=claim.span, document=document) for number, document in cited)
    return claim.model_copy(update={"citations": tuple(citations)})


def passages(id: str, texts: Sequence[str], title: str = "") -> Document:
    """A document of which only passages are known, each a section."""
    sections = tuple(Section(text=storable(text)) for text in dict.fromkeys(texts) if text)
    pmid = re.fullmatch(r"(?:pmid\s?:?\s?)?([0-9]{1,8})", id, re.IGNORECASE)
    return Document(id=storable(id), title=storable(title), sections=sections, pmid=pmid[1] if pmid else None)


def sources_of(chunks: Sequence[tuple[str, str, str]], library: Library) -> Sources:
    """What an answer can cite that was written from chunks of documents: each has a name, its text, perhaps a title.

    Chunks of one name are one document, in the order in which they came; numbers count the chunks.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for name, text, title in chunks:
        found.setdefault(name, (title, []))[1].append(text)
    documents = [passages(name, texts, title) for name, (title, texts) in found.items()]
    return Sources(documents, library, [name for name, _, _ in chunks])


def trimmed(text: str, start: int, end: int) -> Span | None:
    """A stretch of a text without the white space at its ends; None if there is nothing else in it."""
    words = text[start:end].strip()
    if not words:
        return None
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return Span(start=start, end=start + len(words))
