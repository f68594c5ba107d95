"""Request and response bodies, and the settings of the service's plan that a request may change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import to_json

from vericite.errors import InputError
from vericite.pipeline.plan import Plan
from vericite.pipeline.setting import SettingField, request_fields
from vericite.records import Answer, Change, CheckedAnswer, Document, Evidence, Record, first_problem

CHANGEABLE = request_fields(Plan)
"""Fields of ``Plan`` that a request may set: none that name files, addresses, models or checkpoints."""

MAX_ID, MAX_NAME, MAX_TITLE, MAX_QUESTION, MAX_ANSWER = 500, 200, 5_000, 4_000, 500_000
"""Maximum characters of each text. The total for all documents is a limit of the service."""


class QuietSchema(GenerateJsonSchema):
    """Does not warn about defaults that JSON cannot represent."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


class SourceBody(Record):
    """A document: an id, a text and optionally a title. ``pmid`` links it to a PubMed article."""

    id: str = Field(min_length=1, max_length=MAX_ID)
    text: str = ""
    title: str = Field(default="", max_length=MAX_TITLE)
    pmid: str | None = Field(default=None, max_length=MAX_NAME)
    pages: tuple[int, ...] = ()

    def to_document(self) -> Document:
        """Convert to a ``Document``."""
        made = Document.from_text(self.id, self.text, self.title)
        return made.model_copy(update={"pmid": self.pmid, "pages": self.pages})


def section_schema(section: str) -> WithJsonSchema:
    """Return the JSON schema of the fields that a request may set in a section."""
    fields: dict[str, Any] = {name: (field.info.annotation, field.info) for name, field in CHANGEABLE[section].items()}
    properties = create_model(section, **fields).model_json_schema()["properties"]
    for name, field in CHANGEABLE[section].items():
        if field.setting.request_values:
            properties[name]["enum"] = [*([None] if field.is_optional else []), *field.setting.request_values]
        if field.setting.request_most is not None:
            _bound(properties[name], field.setting.request_most)
    return WithJsonSchema({"type": "object", "properties": properties, "additionalProperties": False})


def _bound(schema: dict[str, Any], most: int) -> None:
    """Give the number in a field's schema a maximum."""
    for part in (schema, *schema.get("anyOf", ()), schema.get("items", {})):
        if part.get("type") == "integer":
            part["maximum"] = most


def _expect_allowed(field: SettingField, value: Any) -> None:
    """Refuse a value that a plan may have, but a request may not."""
    values, most = field.setting.request_values, field.setting.request_most
    if values and value is not None and value not in values:
        raise InputError(f"expected plan.{field.path} to be one of {', '.join(values)}; found another")
    numbers = cast("list[Any]", value) if isinstance(value, list) else [value]
    if most is not None and any(isinstance(number, int | float) and number > most for number in numbers):
        raise InputError(f"expected plan.{field.path} to be at most {most}; found more")


class _PlanBody(Record):
    """Settings of one request, by section and field of a plan."""

    def apply_to(self, base: Plan) -> Plan:
        """Return a plan with these settings changed.

        Raises:
            InputError: A setting is not allowed, or has the wrong type.
        """
        changes: dict[str, dict[str, Any]] = {section: dict(getattr(self, section)) for section in CHANGEABLE}
        for section, fields in changes.items():
            for name, value in fields.items():
                if name not in CHANGEABLE[section]:
                    allowed = ", ".join(sorted(CHANGEABLE[section]))
                    raise InputError(
                        f"expected the fields of plan.{section} to be among {allowed}; found {name[:60]!r}"
                    )
                _expect_allowed(CHANGEABLE[section][name], value)
        return base.changed({section: fields for section, fields in changes.items() if fields}, "in plan")


if TYPE_CHECKING:
    PlanBody = _PlanBody
else:
    # Its sections are those that have a field for requests.
    PlanBody = create_model(
        "PlanBody",
        __base__=_PlanBody,
        __doc__=_PlanBody.__doc__,
        **{
            section: (Annotated[dict[str, Any], section_schema(section)], Field(default_factory=dict))
            for section in CHANGEABLE
        },
    )


class AskBody(Record):
    """A question, with the name of a corpus of the service or with documents to answer from."""

    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    corpus: str | None = Field(default=None, max_length=MAX_NAME)
    documents: tuple[SourceBody, ...] = ()
    model: str | None = Field(default=None, max_length=MAX_NAME)
    plan: PlanBody = PlanBody()


class SearchBody(Record):
    """A query, with the name of a corpus or with documents to search."""

    query: str = Field(min_length=1, max_length=MAX_QUESTION)
    k: int = Field(default=5, ge=1, le=100)
    corpus: str | None = Field(default=None, max_length=MAX_NAME)
    documents: tuple[SourceBody, ...] = ()
    plan: PlanBody = PlanBody()


class AnswerBody(Record):
    """An answer as text with markers such as ``[1]``, and its documents in the order of the markers."""

    id: str = Field(default="answer", min_length=1, max_length=MAX_ID)
    answer: str = Field(min_length=1, max_length=MAX_ANSWER)
    documents: tuple[SourceBody, ...] = ()
    pmids: tuple[Annotated[str, Field(max_length=MAX_NAME)], ...] = ()
    question: str | None = Field(default=None, max_length=MAX_QUESTION)
    plan: PlanBody = PlanBody()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if not self.answer.strip():
            raise ValueError("expected an answer; found no text")
        if self.documents and self.pmids:
            raise ValueError("expected documents or pmids; found both")
        return self


class CheckJobBody(Record):
    """A job of many answers to check; it survives a restart."""

    kind: Literal["check"] = "check"
    items: tuple[AnswerBody, ...] = Field(min_length=1)


class AskJobBody(Record):
    """A job of many questions to answer; it survives a restart."""

    kind: Literal["ask"]
    items: tuple[AskBody, ...] = Field(min_length=1)


JobBody = CheckJobBody | AskJobBody


class _AnyJob(BaseModel):
    """A job of either kind, with items not yet parsed."""

    model_config = ConfigDict(extra="allow", strict=True)

    kind: Literal["check", "ask"] = "check"
    items: tuple[Any, ...] = Field(min_length=1)


class Checked(Record):
    """An answer with its verdicts, and the id of the stored run."""

    run: str
    answer: Answer
    checked: CheckedAnswer


class RepairedBody(Record):
    """An answer after repair, its verdicts and changes, and the original answer with its verdicts."""

    run: str
    answer: Answer
    checked: CheckedAnswer
    original: Answer
    before: CheckedAnswer
    changes: tuple[Change, ...]


class SearchFound(Record):
    """Documents found by a search."""

    evidence: tuple[Evidence, ...]


class Begun(Record):
    """A request in progress; its events are at ``/v1/streams/{id}``."""

    stream: str


class Left(Record):
    """State of a request after a cancellation."""

    stream: str
    cancelled: bool
    finished: bool


class Taken(Record):
    """A job that was saved to disk."""

    id: str


class DocumentsFound(Record):
    """Documents of a file, and problems with the rest of the file."""

    documents: tuple[Document, ...]
    problems: tuple[str, ...]


class Health(Record):
    """State of the process."""

    status: str
    version: str


class Ready(Record):
    """Whether the models are loaded."""

    ready: bool


_Body = TypeVar("_Body", bound=BaseModel)

MAX_VALUES, MAX_JOB_VALUES = 40_000, 300_000
"""Maximum number of JSON values in a body: strings, numbers, lists and objects."""
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[,\[{]', re.DOTALL)
"""A whole JSON string, or a character that starts another value. Runs in linear time, even on an unclosed string."""


def parse_job(raw: bytes, max_items: int = 10_000, max_documents: int = 50_000) -> JobBody:
    """Parse the body of a job, item by item so that other threads can run.

    Args:
        raw: The body.
        max_items: Maximum number of items.
        max_documents: Maximum number of documents in all items together.

    Raises:
        InputError: The body is invalid; the message names the field.
    """
    check_value_count(raw, MAX_JOB_VALUES)
    job = _read(_AnyJob, raw, "a body", "")
    form = AskJobBody if job.kind == "ask" else CheckJobBody
    what = f"a body of a job of kind {job.kind!r}"
    for name in (job.model_extra or {}).keys() - form.model_fields:
        raise InputError(f"expected {what} as defined in /openapi.json; found a field {name[:60]!r}")
    if len(job.items) > max_items:
        raise InputError(f"expected at most {max_items:,} items in a job; found {len(job.items):,}")
    documents = sum(_documents_in(item) for item in job.items)
    if documents > max_documents:
        raise InputError(f"expected at most {max_documents:,} documents in a job; found {documents:,}")
    if job.kind == "ask":
        return AskJobBody.model_construct(kind="ask", items=_items(AskBody, job.items, what))
    return CheckJobBody.model_construct(kind="check", items=_items(AnswerBody, job.items, what))


def _items(kind: type[_Body], items: Sequence[Any], what: str) -> tuple[_Body, ...]:
    return tuple(parse_body(kind, to_json(item), what, f"items.{number}") for number, item in enumerate(items))


def _documents_in(item: Any) -> int:
    found = cast("dict[str, Any]", item).get("documents") if isinstance(item, dict) else None
    return len(cast("list[Any]", found)) if isinstance(found, list) else 0


def check_value_count(raw: bytes, most: int) -> None:
    """Refuse a body with too many values before parsing it: pydantic keeps an error for each invalid value.

    Raises:
        InputError: The body holds too many values.
    """
    for count, _ in enumerate(_TOKENS.finditer(raw)):
        # A string and the comma after it are two matches.
        if count > 2 * most:
            raise InputError(f"expected a body of at most {most:,} values; found more")


def parse_body(kind: type[_Body], raw: bytes, what: str = "a body", place: str = "") -> _Body:
    """Parse a request body.

    Args:
        kind: Type of the body.
        raw: The bytes that were sent.
        what: Name of the body in error messages.
        place: Path of the body if it is a field of a larger one.

    Raises:
        InputError: The body is invalid; the message names the field.
    """
    check_value_count(raw, MAX_VALUES)
    return _read(kind, raw, what, place)


def _read(kind: type[_Body], raw: bytes, what: str, place: str) -> _Body:
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        if error.error_count() == 1 and (broken := error.errors()[0])["type"] == "json_invalid":
            raise InputError(f"expected a body in JSON; found invalid JSON ({broken['msg'][:100]})") from None
        field, problem = first_problem(error, kind)
        field = ".".join(filter(None, (place, field)))
        where = f"field {field}: " if field else ""
        raise InputError(f"expected {what} as defined in /openapi.json; {where}{problem}") from None
