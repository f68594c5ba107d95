"""What requests say, as records; what they may change of the service's plan, and what not."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from vericite.errors import InputError
from vericite.pipeline.plan import Plan
from vericite.records import Answer, Change, CheckedAnswer, Document, Evidence, Record, first_problem

Source = Document
"""A document of a request: ``Document``, or an id, a text and perhaps a title."""

CHANGEABLE: dict[str, frozenset[str]] = {
    "search": frozenset("k by rerank candidates year_from year_to journals mesh publication_types languages".split()),
    "answer": frozenset("rationale context contexts shots seed answer_at evidence".split()),
    "check": frozenset("protocol abstain_below checks aids".split()),
    "repair": frozenset("enabled rounds drop_uncited".split()),
}
"""Fields of ``Plan`` that a request may set. Not those that name files, addresses, models or checkpoints."""

_RERANKERS = ("bundled", "none")
_WAYS = (None, "bm25", "dense", "hybrid", "late")


class SourceBody(Record):
    """A document: an id, a text and perhaps a title; ``pmid`` says which article of PubMed it is."""

    id: str = Field(min_length=1)
    text: str = ""
    title: str = ""
    pmid: str | None = None
    pages: tuple[int, ...] = ()

    def document(self) -> Document:
        """It as a document."""
        made = Document.from_text(self.id, self.text, self.title)
        return made.model_copy(update={"pmid": self.pmid, "pages": self.pages})


class PlanBody(Record):
    """A request's own wishes, by the sections and fields of a plan."""

    search: dict[str, Any] = Field(default_factory=dict[str, Any])
    answer: dict[str, Any] = Field(default_factory=dict[str, Any])
    check: dict[str, Any] = Field(default_factory=dict[str, Any])
    repair: dict[str, Any] = Field(default_factory=dict[str, Any])

    def over(self, base: Plan) -> Plan:
        """The service's plan with these wishes.

        Raises:
            InputError: One is not allowed, or has another type.
        """
        wishes = {section: dict(getattr(self, section)) for section in CHANGEABLE}
        for section, fields in wishes.items():
            for name in fields:
                if name not in CHANGEABLE[section]:
                    allowed = ", ".join(sorted(CHANGEABLE[section]))
                    raise InputError(f"expected plan.{section} with fields out of {allowed}; found {name[:60]!r}")
        if (wishes["search"].get("rerank") or "bundled") not in _RERANKERS:
            raise InputError(f"expected plan.search.rerank out of {', '.join(_RERANKERS)}; found another")
        if wishes["search"].get("by") not in _WAYS:
            raise InputError(f"expected plan.search.by out of {', '.join(filter(None, _WAYS))}; found another")
        return base.changed({section: fields for section, fields in wishes.items() if fields}, "in plan")


class AskBody(Record):
    """A question; the corpus by the name that the service has for it, or documents of one's own."""

    question: str = Field(min_length=1, max_length=4_000)
    corpus: str | None = None
    documents: tuple[SourceBody, ...] = ()
    model: str | None = None
    plan: PlanBody = PlanBody()


class SearchBody(Record):
    """A query; the corpus, or documents of one's own."""

    query: str = Field(min_length=1, max_length=4_000)
    k: int = Field(default=5, ge=1, le=100)
    corpus: str | None = None
    documents: tuple[SourceBody, ...] = ()
    plan: PlanBody = PlanBody()


class AnswerBody(Record):
    """An answer as text with markers such as ``[1]``, and the documents in the order that these count."""

    id: str = Field(default="answer", min_length=1, max_length=200)
    answer: str = Field(min_length=1)
    documents: tuple[SourceBody, ...] = ()
    pmids: tuple[str, ...] = ()
    question: str | None = None
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


class _JobKind(BaseModel):
    """Which of the two a job is."""

    model_config = ConfigDict(extra="ignore", strict=True)

    kind: Literal["check", "ask"] = "check"


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


def parsed_job(raw: bytes | str) -> JobBody:
    """The body of a job.

    Raises:
        InputError: It is none; the field is named, as its kind of job has it.
    """
    if parsed(_JobKind, raw).kind == "ask":
        return parsed(AskJobBody, raw, "a body of a job of kind 'ask'")
    return parsed(CheckJobBody, raw, "a body of a job of kind 'check'")


def parsed(kind: type[_Body], raw: bytes | str, what: str = "a body") -> _Body:
    """A body; ``what`` is what errors call it.

    Raises:
        InputError: It is none; the field is named.
    """
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        if (broken := error.errors()[0])["type"] == "json_invalid":
            raise InputError(f"expected a body in JSON; found none ({broken['msg'][:100]})") from None
        field, problem = first_problem(error, kind)
        where = f"field {field}: " if field else ""
        raise InputError(f"expected {what} as /openapi.json has it; {where}{problem}") from None
