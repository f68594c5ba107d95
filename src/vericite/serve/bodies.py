"""What requests say, as records; what they may change of the service's plan, and what not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model, model_validator
from pydantic_core import to_json

from vericite.errors import InputError
from vericite.pipeline.plan import Plan
from vericite.pipeline.setting import request_fields
from vericite.records import Answer, Change, CheckedAnswer, Document, Evidence, Record, first_problem

Source = Document
"""A document of a request: ``Document``, or an id, a text and perhaps a title."""

CHANGEABLE = request_fields(Plan)
"""Fields of ``Plan`` that a request may set. Not those that name files, addresses, models or checkpoints."""


MOST_ID, MOST_NAME, MOST_TITLE, MOST_QUESTION, MOST_ANSWER = 500, 200, 5_000, 4_000, 500_000
"""Characters of these texts; those of documents together have a limit of the service."""


class SourceBody(Record):
    """A document: an id, a text and perhaps a title; ``pmid`` says which article of PubMed it is."""

    id: str = Field(min_length=1, max_length=MOST_ID)
    text: str = ""
    title: str = Field(default="", max_length=MOST_TITLE)
    pmid: str | None = Field(default=None, max_length=MOST_NAME)
    pages: tuple[int, ...] = ()

    def document(self) -> Document:
        """It as a document."""
        made = Document.from_text(self.id, self.text, self.title)
        return made.model_copy(update={"pmid": self.pmid, "pages": self.pages})


def _schema(section: str) -> WithJsonSchema:
    """The JSON schema of a section's fields that a request may set."""
    fields: dict[str, Any] = {name: (field.info.annotation, field.info) for name, field in CHANGEABLE[section].items()}
    properties = create_model(section, **fields).model_json_schema()["properties"]
    for name, field in CHANGEABLE[section].items():
        if field.setting.request_values:
            properties[name]["enum"] = [*([None] if field.is_optional else []), *field.setting.request_values]
    return WithJsonSchema({"type": "object", "properties": properties, "additionalProperties": False})


class PlanBody(Record):
    """Settings of one request, by the sections and fields of a plan."""

    search: Annotated[dict[str, Any], _schema("search")] = Field(default_factory=dict[str, Any])
    answer: Annotated[dict[str, Any], _schema("answer")] = Field(default_factory=dict[str, Any])
    check: Annotated[dict[str, Any], _schema("check")] = Field(default_factory=dict[str, Any])
    repair: Annotated[dict[str, Any], _schema("repair")] = Field(default_factory=dict[str, Any])

    def over(self, base: Plan) -> Plan:
        """The service's plan with these settings.

        Raises:
            InputError: A setting is not allowed, or has another type.
        """
        wishes = {section: dict(getattr(self, section)) for section in CHANGEABLE}
        for section, fields in wishes.items():
            for name, value in fields.items():
                if name not in CHANGEABLE[section]:
                    allowed = ", ".join(sorted(CHANGEABLE[section]))
                    raise InputError(f"expected plan.{section} with fields out of {allowed}; found {name[:60]!r}")
                values = CHANGEABLE[section][name].setting.request_values
                if values and value is not None and value not in values:
                    raise InputError(f"expected plan.{section}.{name} out of {', '.join(values)}; found another")
        return base.changed({section: fields for section, fields in wishes.items() if fields}, "in plan")


class AskBody(Record):
    """A question; the corpus by the name that the service has for it, or documents of one's own."""

    question: str = Field(min_length=1, max_length=MOST_QUESTION)
    corpus: str | None = Field(default=None, max_length=MOST_NAME)
    documents: tuple[SourceBody, ...] = ()
    model: str | None = Field(default=None, max_length=MOST_NAME)
    plan: PlanBody = PlanBody()


class SearchBody(Record):
    """A query; the corpus, or documents of one's own."""

    query: str = Field(min_length=1, max_length=MOST_QUESTION)
    k: int = Field(default=5, ge=1, le=100)
    corpus: str | None = Field(default=None, max_length=MOST_NAME)
    documents: tuple[SourceBody, ...] = ()
    plan: PlanBody = PlanBody()


class AnswerBody(Record):
    """An answer as text with markers such as ``[1]``, and the documents in the order that these count."""

    id: str = Field(default="answer", min_length=1, max_length=MOST_ID)
    answer: str = Field(min_length=1, max_length=MOST_ANSWER)
    documents: tuple[SourceBody, ...] = ()
    pmids: tuple[Annotated[str, Field(max_length=MOST_NAME)], ...] = ()
    question: str | None = Field(default=None, max_length=MOST_QUESTION)
    plan: PlanBody = PlanBody()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if not self.answer.strip():
            raise ValueError("expected an answer; found no text")
        if self.documents and self.pmids:
            raise ValueError("expected documents or pmids; found both")
        return self


class CheckJobBody(Record):
    """Many answers to check, in one job that survives a restart."""

    kind: Literal["check"] = "check"
    items: tuple[AnswerBody, ...] = Field(min_length=1)


class AskJobBody(Record):
    """Many questions to ask, in one job that survives a restart."""

    kind: Literal["ask"]
    items: tuple[AskBody, ...] = Field(min_length=1)


JobBody = CheckJobBody | AskJobBody


class _AnyJob(BaseModel):
    """A job of either kind, its items not read yet."""

    model_config = ConfigDict(extra="allow", strict=True)

    kind: Literal["check", "ask"] = "check"
    items: tuple[Any, ...] = Field(min_length=1)


class Checked(Record):
    """An answer with its verdicts, and the id under which both are kept."""

    run: str
    answer: Answer
    checked: CheckedAnswer


class RepairedBody(Record):
    """An answer after repair, its verdicts, what was changed; the answer and its verdicts before."""

    run: str
    answer: Answer
    checked: CheckedAnswer
    original: Answer
    before: CheckedAnswer
    changes: tuple[Change, ...]


class SearchFound(Record):
    """What a search found."""

    evidence: tuple[Evidence, ...]


_Body = TypeVar("_Body", bound=BaseModel)

MOST_VALUES, MOST_JOB_VALUES = 40_000, 300_000
"""Values that a body may hold: texts, numbers, lists and objects, whatever they are for."""
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[,\[{]', re.DOTALL)
"""A text of JSON as a whole, or a sign that a further value follows. Linear: a text without an end is one as well."""


def parsed_job(raw: bytes, most_items: int = 10_000, most_documents: int = 50_000) -> JobBody:
    """The body of a job. Item by item, so that other threads get their turn.

    Args:
        raw: The body.
        most_items: Items that it may have.
        most_documents: Documents that all items together may have.

    Raises:
        InputError: It is none; the field is named, as its kind of job has it.
    """
    refuse_many_values(raw, MOST_JOB_VALUES)
    job = _read(_AnyJob, raw, "a body", "")
    form = AskJobBody if job.kind == "ask" else CheckJobBody
    what = f"a body of a job of kind {job.kind!r}"
    for name in (job.model_extra or {}).keys() - form.model_fields:
        raise InputError(f"expected {what} as /openapi.json has it; found a field {name[:60]!r}")
    if len(job.items) > most_items:
        raise InputError(f"expected at most {most_items:,} items in a job; found {len(job.items):,}")
    documents = sum(_documents_in(item) for item in job.items)
    if documents > most_documents:
        raise InputError(f"expected at most {most_documents:,} documents in a job; found {documents:,}")
    if job.kind == "ask":
        return AskJobBody.model_construct(kind="ask", items=_items(AskBody, job.items, what))
    return CheckJobBody.model_construct(kind="check", items=_items(AnswerBody, job.items, what))


def _items(kind: type[_Body], items: Sequence[Any], what: str) -> tuple[_Body, ...]:
    return tuple(parsed(kind, to_json(item), what, f"items.{number}") for number, item in enumerate(items))


def _documents_in(item: Any) -> int:
    found = cast("dict[str, Any]", item).get("documents") if isinstance(item, dict) else None
    return len(cast("list[Any]", found)) if isinstance(found, list) else 0


def refuse_many_values(raw: bytes, most: int) -> None:
    """Refuse a body of too many values before any is read: pydantic keeps an error for each that is wrong.

    Raises:
        InputError: It holds more.
    """
    for count, _ in enumerate(_TOKENS.finditer(raw)):
        # A text and the comma after it are two.
        if count > 2 * most:
            raise InputError(f"expected a body of at most {most:,} values; found more")


def parsed(kind: type[_Body], raw: bytes, what: str = "a body", place: str = "") -> _Body:
    """A body.

    Args:
        kind: What it is.
        raw: The bytes that were sent.
        what: What errors call it.
        place: The field that it is of something larger.

    Raises:
        InputError: It is none; the field is named.
    """
    refuse_many_values(raw, MOST_VALUES)
    return _read(kind, raw, what, place)


def _read(kind: type[_Body], raw: bytes, what: str, place: str) -> _Body:
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        if error.error_count() == 1 and (broken := error.errors()[0])["type"] == "json_invalid":
            raise InputError(f"expected a body in JSON; found none ({broken['msg'][:100]})") from None
        field, problem = first_problem(error, kind)
        field = ".".join(filter(None, (place, field)))
        where = f"field {field}: " if field else ""
        raise InputError(f"expected {what} as /openapi.json has it; {where}{problem}") from None
