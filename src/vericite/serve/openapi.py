"""Contents of ``/openapi.json``: request bodies, all replies, and the error format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from vericite.records import Record
from vericite.serve.bodies import Begun, QuietSchema

_SHARED = ("components", "schemas")
"""Path of the shared schemas in the document."""
_JSON, _EVENTS = "application/json", "text/event-stream"
_REPLIES = "x-replies"
"""Where ``operation`` leaves the replies for ``complete_openapi``: FastAPI would merge them with its own."""
_FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


class Problem(Record):
    """What was expected, what was found, and the next step."""

    status: int
    message: str


class Failed(Record):
    """Format of every error."""

    error: Problem


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


_DESCRIPTIONS = {200: "OK", 202: "Accepted", 204: "Deleted", 503: "Not ready"}


def schema_of(kind: Any, mode: Any = "serialization") -> dict[str, Any]:
    """Return the JSON schema of a record type or a union of record types."""
    template = f"#/{'/'.join(_SHARED)}/{{model}}"
    return TypeAdapter(kind).json_schema(ref_template=template, mode=mode, schema_generator=QuietSchema)


def operation(*replies: Reply, body: Any = None) -> dict[str, Any]:
    """Return the description of an operation, for ``openapi_extra`` of its route.

    Args:
        replies: The successful replies; every operation can also return an error.
        body: Type of the request body; bytes for a file, None for no body.
    """
    described: dict[str, Any] = {_REPLIES: {str(reply.status): _response(reply) for reply in replies}}
    if body is not None:
        schema = _FILE if body is bytes else {_JSON: {"schema": schema_of(body, "validation")}}
        described["requestBody"] = {"required": True, "content": schema}
    return described


def calculation(kind: Any, body: Any = None) -> dict[str, Any]:
    """Return the description of an operation that replies at once, as events, or with a stream to read later."""
    return operation(Reply(200, kind, (_EVENTS,)), Reply(202, Begun), body=body)


def complete_openapi(document: dict[str, Any]) -> dict[str, Any]:
    """Add the schemas of replies and errors to the document that FastAPI generates."""
    shared: dict[str, Any] = {}
    for operations in document["paths"].values():
        for entry in operations.values():
            entry["responses"] = entry.pop(_REPLIES, {})
            entry["responses"]["default"] = {
                "description": "An error",
                "content": {_JSON: {"schema": schema_of(Failed)}},
            }
            bodies = [entry.get("requestBody", {}), *entry["responses"].values()]
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
