"""Contents of ``/openapi.json``: request bodies, all replies, and the error format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from vericite.attribution.attributor import Attribution
from vericite.records import Document, Record, Run
from vericite.serve.bodies import Checked, RepairedBody, SearchFound
from vericite.serve.jobs import JobState
from vericite.serve.run_store import RunEntry

_SHARED = ("components", "schemas")
"""Path of the shared schemas in the document."""
_JSON, _EVENTS = "application/json", "text/event-stream"


class Problem(Record):
    """What was expected, what was found, and the next step."""

    status: int
    message: str


class Failed(Record):
    """Format of every error."""

    error: Problem


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


class RunsFound(Record):
    """The latest runs."""

    runs: tuple[RunEntry, ...]


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


@dataclass(frozen=True)
class Reply:
    """A successful reply.

    Attributes:
        status: HTTP status.
        kind: Type of the JSON body; None if there is no JSON body.
        others: Other media types, whose body is text.
    """

    status: int = 200
    kind: Any = None
    others: tuple[str, ...] = ()


def _answers(kind: Any) -> tuple[Reply, ...]:
    return Reply(200, kind, (_EVENTS,)), Reply(202, Begun)


REPLIES: dict[tuple[str, str], tuple[Reply, ...]] = {
    ("post", "/v1/ask"): _answers(Run),
    ("post", "/v1/check"): _answers(Checked),
    ("post", "/v1/attribute"): _answers(Attribution),
    ("post", "/v1/repair"): _answers(RepairedBody),
    ("post", "/v1/search"): _answers(SearchFound),
    ("post", "/v1/documents"): (Reply(200, DocumentsFound),),
    ("get", "/v1/streams/{id}"): (Reply(200, None, (_EVENTS,)),),
    ("delete", "/v1/streams/{id}"): (Reply(202, Left),),
    ("get", "/v1/runs"): (Reply(200, RunsFound),),
    ("get", "/v1/runs/{id}"): (Reply(200, Run | Checked | RepairedBody),),
    ("delete", "/v1/runs/{id}"): (Reply(204),),
    ("post", "/v1/runs/{id}/repair"): _answers(RepairedBody),
    ("get", "/v1/runs/{id}/report"): (Reply(200, None, ("text/html",)),),
    ("get", "/v1/runs/{id}/view"): (Reply(200, dict[str, Any]),),
    ("post", "/v1/jobs"): (Reply(202, Taken),),
    ("get", "/v1/jobs/{id}"): (Reply(200, JobState),),
    ("delete", "/v1/jobs/{id}"): (Reply(202, JobState),),
    ("get", "/v1/jobs/{id}/results"): (Reply(200, None, ("application/x-ndjson",)),),
    ("get", "/healthz"): (Reply(200, Health),),
    ("get", "/readyz"): (Reply(200, Ready), Reply(503, Ready)),
    ("get", "/metrics"): (Reply(200, None, ("text/plain",)),),
}
"""The successful replies of each operation; every operation can also return an error."""

_DESCRIPTIONS = {200: "OK", 202: "Accepted", 204: "Deleted", 503: "Not ready"}


def schema_of(kind: Any, mode: Any = "serialization") -> dict[str, Any]:
    """Return the JSON schema of a record type or a union of record types."""
    return TypeAdapter(kind).json_schema(ref_template=f"#/{'/'.join(_SHARED)}/{{model}}", mode=mode)


def body_of(kind: Any) -> dict[str, Any]:
    """Return the OpenAPI description of a request body."""
    content = {_JSON: {"schema": schema_of(kind, "validation")}}
    return {"requestBody": {"required": True, "content": content}}


def complete_openapi(document: dict[str, Any]) -> dict[str, Any]:
    """Add the schemas of replies and errors to the document that FastAPI generates."""
    shared: dict[str, Any] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            replies = REPLIES[method, path]
            operation["responses"] = {str(reply.status): _response(reply) for reply in replies}
            operation["responses"]["default"] = {
                "description": "An error",
                "content": {_JSON: {"schema": schema_of(Failed)}},
            }
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for content in (content for body in bodies for content in body.get("content", {}).values()):
                shared.update(content["schema"].pop("$defs", {}))
    document[_SHARED[0]] = {_SHARED[1]: shared}
    return document


def _response(reply: Reply) -> dict[str, Any]:
    content: dict[str, Any] = {name: {"schema": {"type": "string"}} for name in reply.others}
    if reply.kind is not None:
        content[_JSON] = {"schema": schema_of(reply.kind)}
    response: dict[str, Any] = {"description": _DESCRIPTIONS[reply.status]}
    return response | {"content": content} if content else response
