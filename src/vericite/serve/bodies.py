"""Request and response bodies, and the settings of the service's plan that a request may change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import to_json

from vericite.errors import InputError
from vericite.pipeline.manuscript import ManuscriptCheck
from vericite.pipeline.plan import Plan
from vericite.pipeline.setting import SettingField, request_fields
from vericite.records import (
    Answer,
    Change,
    CheckedAnswer,
    Document,
    Evidence,
    FloatMap,
    Ledger,
    Record,
    Rewriting,
    Run,
    first_problem,
)
from vericite.records.base import FrozenDict
from vericite.reporting.manuscript import ManuscriptFindings
from vericite.serve.events import FoundDocument
from vericite.serve.facets import Facets
from vericite.serve.forms import FormPart, parse_form

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


class EvidenceBody(Record):
    """An answer or a sentence, with the name of a corpus or with documents to look in for and against it."""

    answer: str = Field(min_length=1, max_length=MAX_ANSWER)
    question: str | None = Field(default=None, max_length=MAX_QUESTION)
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


class PastedBody(Record):
    """A pasted answer with links, footnotes, DOIs or PubMed ids. ``sources`` names where they are looked up."""

    answer: str = Field(min_length=1, max_length=MAX_ANSWER)
    sources: tuple[Annotated[str, Field(max_length=MAX_NAME)], ...] = ()


class UploadedFile(Record):
    """A file: what the client calls it, and its bytes."""

    name: str
    content: bytes


_File = Annotated[UploadedFile, WithJsonSchema({"type": "string", "format": "binary"})]


class ManuscriptBody(Record):
    """A manuscript, as a form with files (``multipart/form-data``).

    ``parts`` are files that it includes (LaTeX), ``bibliography`` files of references that it cites by key,
    ``documents`` files of works that it cites.
    ``sources`` names where references are looked up; no other is asked. ``plan`` is JSON.
    """

    file: _File
    parts: tuple[_File, ...] = ()
    bibliography: tuple[_File, ...] = ()
    documents: tuple[_File, ...] = ()
    sources: tuple[Annotated[str, Field(max_length=MAX_NAME)], ...] = ()
    plan: PlanBody = PlanBody()


def parse_manuscript(content_type: str, raw: bytes) -> ManuscriptBody:
    """Parse the form of a manuscript.

    Raises:
        InputError: The form is invalid; the message names the field.
    """
    found: dict[str, list[FormPart]] = {}
    for part in parse_form(content_type, raw):
        if part.name not in ManuscriptBody.model_fields:
            allowed = ", ".join(ManuscriptBody.model_fields)
            raise InputError(f"expected the fields {allowed}; found {part.name[:60]!r}")
        found.setdefault(part.name, []).append(part)

    def files(name: str) -> tuple[UploadedFile, ...]:
        # A browser sends an empty part for a field of files in which none was chosen.
        given = [part for part in found.get(name, ()) if part.filename or part.content]
        if any(part.filename is None for part in given):
            raise InputError(f"expected {name} as a file with a name, as curl -F {name}=@FILE sends it; found a text")
        return tuple(UploadedFile(name=part.filename or "", content=part.content) for part in given)

    for name in ("file", "plan"):
        if len(found.get(name, ())) > 1:
            raise InputError(f"expected {name} once; found it {len(found[name])} times")
    if not (manuscripts := files("file")):
        raise InputError("expected a manuscript in the field file, as curl -F file=@FILE sends it; found none")
    plan = parse_body(PlanBody, found["plan"][0].content, "plan", "plan") if "plan" in found else PlanBody()
    sources = tuple(dict.fromkeys(part.text[:MAX_NAME] for part in found.get("sources", ()) if part.text))
    return ManuscriptBody(
        file=manuscripts[0],
        parts=files("parts"),
        bibliography=files("bibliography"),
        documents=files("documents"),
        sources=sources,
        plan=plan,
    )


class CheckedManuscript(Record):
    """A manuscript with its verdicts, and the id of the stored run.

    ``findings`` say what was found in words, ``check`` has everything. ``copy_suffix`` is that of the copy with
    comments (``/v1/runs/ID/copy``); None if there is none. ``calls`` are those of a judge that asks a language model.
    """

    run: str
    findings: ManuscriptFindings
    check: ManuscriptCheck
    copy_suffix: str | None = None
    calls: Ledger | None = None

    @property
    def answer(self) -> Answer:
        """The sentences with a source that is at hand."""
        return self.check.answer

    @property
    def checked(self) -> CheckedAnswer:
        """The verdicts on them."""
        return self.check.checked


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
    """An answer with its verdicts, the calls of a judge that asks a language model, and the id of the stored run."""

    run: str
    answer: Answer
    checked: CheckedAnswer
    calls: Ledger | None = None


class PastedSource(Record):
    """A source of a pasted answer: its name there, and its text with the name of where it was found, if it was."""

    name: str = ""
    title: str = ""
    text: str = ""
    pmid: str | None = None
    found_in: str | None = None


class Pasted(Record):
    """A pasted answer with markers such as ``[1]``, and its sources in the order of their numbers."""

    answer: str
    sources: tuple[PastedSource, ...]


class RepairedBody(Record):
    """An answer after repair, its verdicts and changes, and the original answer with its verdicts."""

    run: str
    answer: Answer
    checked: CheckedAnswer
    original: Answer
    before: CheckedAnswer
    changes: tuple[Change, ...]
    calls: Ledger | None = None


class SearchFound(Record):
    """Documents found by a search: whole, and in short with the design that each states; and how many of each kind.

    ``rewriting`` says whether the question was rewritten and searched for again, and ``remark`` the same in words.
    ``seconds`` has the time of each stage, and ``calls`` are those of a language model that rewrites.
    """

    evidence: tuple[Evidence, ...]
    documents: tuple[FoundDocument, ...]
    facets: Facets
    rewriting: Rewriting | None = None
    remark: str = ""
    seconds: FloatMap = FrozenDict()
    calls: Ledger | None = None


class StreamStarted(Record):
    """A request in progress; its events are at ``/v1/streams/{stream}``."""

    stream: str


class StreamState(Record):
    """State of a request after a cancellation."""

    stream: str
    cancelled: bool
    finished: bool


class JobAdded(Record):
    """Id of a job that was saved to disk."""

    id: str


class JobResult(Record):
    """A line of a job's results: the item, counted from 0, and its record or the problem."""

    item: int
    value: Run | CheckedAnswer | None
    problem: str | None


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
