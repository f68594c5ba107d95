"""What ``/openapi.json`` says: the bodies of requests, the forms of all replies, and the one form of errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from vericite.attribution.attributor import Attribution
from vericite.records import Document, Record, Run
from vericite.serve.bodies import Checked, RepairedBody, SearchFound
from vericite.serve.jobs import JobState
from vericite.serve.kept import RunEntry

_SHARED = ("components", "schemas")
"""Where the document has what several bodies are made of."""
_JSON, _EVENTS = "application/json", "text/event-stream"


class Problem(Record):
    """What was expected and what was found."""

    status: int
    message: str


class Failed(Record):
    """Every error."""

    error: Problem


class Begun(Record):
    """A request that is worked on; its events are at ``/v1/streams/{id}``."""

    stream: str


class Left(Record):
    """What became of a request that was cancelled."""

    stream: str
    cancelled: bool
    finished: bool


class Taken(Record):
    """A job that is on disk."""

    id: str


class RunsFound(Record):
    """The latest runs."""

    runs: tuple[RunEntry, ...]


class DocumentsFound(Record):
    """The documents of a file, and what is wrong with the rest of it."""

    documents: tuple[Document, ...]
    problems: tuple[str, ...]


class Health(Record):
    """A process that answers."""

    status: str
    version: str


class Ready(Record):
    """Whether the models are loaded."""

    ready: bool


@dataclass(frozen=True)
class Reply:
    """A reply that is no error.

    Attributes:
        status: Its status.
        kind: What it is in JSON; None where it is text alone.
        others: Media types in which it is text.
    """

    status: int = 200
    kind: Any = None
    others: tuple[str, ...] = ()


def _asked(kind: Any) -> tuple[Reply, ...]:
    return Reply(200, kind, (_EVENTS,)), Reply(202, Begun)


REPLIES: dict[tuple[str, str], tuple[Reply, ...]] = {
    ("post", "/v1/ask"): _asked(Run),
    ("post", "/v1/check"): _asked(Checked),
    ("post", "/v1/attribute"): _asked(Attribution),
    ("post", "/v1/repair"): _asked(RepairedBody),
    ("post", "/v1/search"): _asked(SearchFound),
    ("post", "/v1/documents"): (Reply(200, DocumentsFound),),
    ("get", "/v1/streams/{id}"): (Reply(200, None, (_EVENTS,)),),
    ("delete", "/v1/streams/{id}"): (Reply(202, Left),),
    ("get", "/v1/runs"): (Reply(200, RunsFound),),
    ("get", "/v1/runs/{id}"): (Reply(200, Run | Checked | RepairedBody),),
    ("delete", "/v1/runs/{id}"): (Reply(204),),
    ("post", "/v1/runs/{id}/repair"): _asked(RepairedBody),
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
"""The replies of each operation; errors have one form, and stand with all of them."""

_SAID = {200: "As it was asked for", 202: "Taken", 204: "Done", 503: "Not yet"}


def schema_of(kind: Any, mode: Any = "serialization") -> dict[str, Any]:
    """The schema of a kind of record, or of one of several."""
    return TypeAdapter(kind).json_schema(ref_template=f"#/{'/'.join(_SHARED)}/{{model}}", mode=mode)


def body_of(kind: Any) -> dict[str, Any]:
    """What is said of an operation whose body is of a kind."""
    content = {_JSON: {"schema": schema_of(kind, "validation")}}
    return {"requestBody": {"required": True, "content": content}}


def described(document: dict[str, Any]) -> dict[str, Any]:
    """The document that FastAPI makes, with what it does not know: the forms of replies and of errors."""
    shared: dict[str, Any] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            replies = REPLIES[method, path]
            operation["responses"] = {str(reply.status): _response(reply) for reply in replies}
            operation["responses"]["default"] = {
                "description": "An error",
                "content": {_JSON: {"schema": schema_of(Failed)}},
            }
            spoken = [operation.get("requestBody", {}), *operation["responses"].values()]
            for content in (one for said in spoken for one in said.get("content", {}).values()):
                shared.update(content["schema"].pop("$defs", {}))
    document[_SHARED[0]] = {_SHARED[1]: shared}
    return document


def _response(reply: Reply) -> dict[str, Any]:
    content: dict[str, Any] = {name: {"schema": {"type": "string"}} for name in reply.others}
    if reply.kind is not None:
        content[_JSON] = {"schema": schema_of(reply.kind)}
    made: dict[str, Any] = {"description": _SAID[reply.status]}
    return made | {"content": content} if content else made
