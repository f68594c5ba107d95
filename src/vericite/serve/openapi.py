"""Contents of ``/openapi.json``: request bodies, the replies of every status, events and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from vericite.records import Record
from vericite.serve.bodies import QuietSchema, StreamStarted

_SCHEMAS, _RESPONSES = "#/components/schemas/", "#/components/responses/"
_JSON, _EVENTS, _HTML = "application/json", "text/event-stream", "text/html"
_REPLIES, _ERRORS = "x-replies", "x-errors"
"""Where ``operation`` leaves replies and errors for ``complete_openapi``: FastAPI would merge them with its own."""
ITEM = "x-item-schema"
"""Schema of an event or a line of a stream, in the form of OpenAPI 3.2's ``itemSchema``."""
_BYTES = "application/octet-stream"
_FILE = {_BYTES: {"schema": {"type": "string", "format": "binary"}}}
_OPEN_PATHS = ("/healthz", "/readyz")
_TAGS = ("streams", "runs", "jobs", "shelves")


class ErrorDetails(Record):
    """What was expected, what was found, and the next step."""

    status: int
    message: str


class ErrorBody(Record):
    """Body of every error."""

    error: ErrorDetails


@dataclass(frozen=True)
class Reply:
    """A reply other than an error.

    Attributes:
        status: HTTP status.
        kind: Type of the JSON body; None if there is no JSON body.
        others: Other media types, whose body is text or a file.
        events: Types of the data of server-sent events, by the events' names.
        lines: Type of each line of JSON Lines.
    """

    status: int = 200
    kind: Any = None
    others: tuple[str, ...] = ()
    events: Mapping[str, Any] | None = None
    lines: Any = None


@dataclass(frozen=True)
class _Error:
    """A status of errors: its name in the document, when it is sent, and headers that come with it."""

    name: str
    description: str
    header: str | None = None


_DESCRIPTIONS = {200: "OK", 201: "Made", 202: "Accepted", 204: "Deleted", 503: "Not ready"}
_KNOWN_ERRORS = {
    400: _Error("BadRequest", "The head of the request is ambiguous, or its body ended early"),
    401: _Error("Unauthorized", "The token is missing or wrong. HTML if a GET request accepts it", "WWW-Authenticate"),
    403: _Error("Forbidden", "The request comes from a page of another site"),
    404: _Error("NotFound", "Nothing has this id"),
    408: _Error("BodyTimeout", "The body took too long to arrive"),
    413: _Error("BodyTooLong", "The body is too long"),
    421: _Error("WrongHost", "The host header names another host"),
    422: _Error("InvalidRequest", "The request is invalid or exceeds a limit; the message names the field"),
    429: _Error("TooManyRequests", "Too many requests, or too many unfinished jobs", "Retry-After"),
    500: _Error("ServiceFailed", "The service failed; its log says why"),
    501: _Error("NotInstalled", "The service lacks a package that the request needs"),
    502: _Error("SourceFailed", "A language model or NCBI did not answer"),
    503: _Error("Overloaded", "Too many long bodies arrive at once", "Retry-After"),
    504: _Error("OutOfTime", "The request took longer than its time limit"),
    507: _Error("DiskFull", "The service cannot write to its disk"),
}
_CALCULATION_ERRORS = (422, 429, 501, 502, 504, 507)
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "description": "respond-async: reply 202 at once, with the id of a stream to read",
    "schema": {"type": "string", "enum": ["respond-async"]},
}
LAST_EVENT = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "Number of the last event that the client has",
    "schema": {"type": "integer", "minimum": 0},
}


def schema_of(kind: Any, mode: Any = "serialization") -> dict[str, Any]:
    """Return the JSON schema of a record type or a union of record types."""
    return TypeAdapter(kind).json_schema(ref_template=f"{_SCHEMAS}{{model}}", mode=mode, schema_generator=QuietSchema)


def operation(
    *replies: Reply,
    body: Any = None,
    media: str = _JSON,
    errors: tuple[int, ...] = (),
    headers: tuple[Any, ...] = (),
) -> dict[str, Any]:
    """Return the description of an operation, for ``openapi_extra`` of its route.

    Args:
        replies: The replies other than errors.
        body: Type of the request body; bytes for a file, None for no body.
        media: Media type of the body, if it is no file.
        errors: Statuses of the errors of this operation, without those that any request can get.
        headers: Descriptions of the headers that it reads.
    """
    described: dict[str, Any] = {_REPLIES: {str(reply.status): _response(reply) for reply in replies}, _ERRORS: errors}
    if body is not None:
        schema = _FILE if body is bytes else {media: {"schema": schema_of(body, "validation")}}
        described["requestBody"] = {"required": True, "content": schema}
    if headers:
        described["parameters"] = list(headers)
    return described


def calculation(
    kind: Any,
    body: Any = None,
    events: Mapping[str, Any] | None = None,
    errors: tuple[int, ...] = (),
    media: str = _JSON,
) -> dict[str, Any]:
    """Return the description of an operation that replies at once, as events, or with a stream to read later.

    Args:
        kind: Type of the reply, and of the data of the last event.
        body: Type of the request body.
        events: Types of the data of other events, by the events' names.
        errors: Statuses of errors that other calculations do not have.
        media: Media type of the request body.
    """
    ends = {"done": kind, "error": ErrorDetails}
    direct = Reply(200, kind, events={**(events or {}), **ends})
    return operation(
        direct,
        Reply(202, StreamStarted),
        body=body,
        media=media,
        errors=(*_CALCULATION_ERRORS, *errors),
        headers=(_PREFER,),
    )


def complete_openapi(document: dict[str, Any], needs_token: bool) -> dict[str, Any]:
    """Add the schemas of replies and errors to the document that FastAPI generates.

    Args:
        document: The document.
        needs_token: Whether requests must send a token.
    """
    shared: dict[str, Any] = {}
    for path, operations in document["paths"].items():
        for method, entry in operations.items():
            statuses = {*entry.pop(_ERRORS, ()), *_common_errors(path, method, needs_token)}
            entry["tags"] = [_tag(path)]
            entry["responses"] = entry.pop(_REPLIES, {}) | {
                str(status): {"$ref": f"{_RESPONSES}{_KNOWN_ERRORS[status].name}"} for status in sorted(statuses)
            }
            if needs_token and path in _OPEN_PATHS:
                entry["security"] = []
            bodies = [entry.get("requestBody", {}), *entry["responses"].values()]
            for content in (content for body in bodies for content in body.get("content", {}).values()):
                for name in content.keys() & {"schema", ITEM}:
                    content[name] = _shared(content[name], shared)
    error = _shared(schema_of(ErrorBody), shared)
    responses = {known.name: _error_response(status, known, error) for status, known in _KNOWN_ERRORS.items()}
    document["components"] = {"schemas": dict(sorted(shared.items())), "responses": responses}
    if needs_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _common_errors(path: str, method: str, needs_token: bool) -> set[int]:
    """Return the statuses of errors that the gate can answer to a request, and that of an unexpected failure."""
    found = {400, 421, 500}
    if path not in _OPEN_PATHS:
        found |= {429, 401} if needs_token else {429}
    if method != "get":
        found.add(403)
    if method in ("post", "put"):
        found |= {408, 413, 503}
    return found


def _tag(path: str) -> str:
    version, _, rest = path.removeprefix("/").partition("/")
    if version != "v1":
        return "service"
    first = rest.partition("/")[0]
    return first if first in _TAGS else "answers"


def _shared(schema: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Move the named schemas of a schema to the shared ones, and return a schema that refers to them."""
    for name, definition in schema.pop("$defs", {}).items():
        _share(name, definition, shared)
    if schema.get("type") == "object" and "title" in schema:
        _share(schema["title"], schema, shared)
        return {"$ref": f"{_SCHEMAS}{schema['title']}"}
    return schema


def _share(name: str, schema: dict[str, Any], shared: dict[str, Any]) -> None:
    if shared.setdefault(name, schema) != schema:
        raise ValueError(f"expected one schema of the name {name}; found two that differ. Rename one of the types")


def _error_response(status: int, known: _Error, schema: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {_JSON: {"schema": schema}}
    if status == 401:
        content[_HTML] = {"schema": {"type": "string"}}
    response: dict[str, Any] = {"description": known.description, "content": content}
    if known.header:
        response["headers"] = {known.header: {"required": True, "schema": {"type": "string"}}}
    return response


def _response(reply: Reply) -> dict[str, Any]:
    content: dict[str, Any] = {}
    # First, since generators of clients take the first media type that they know.
    if reply.kind is not None:
        content[_JSON] = {"schema": schema_of(reply.kind)}
    content |= {name: _FILE.get(name, {"schema": {"type": "string"}}) for name in reply.others}
    if reply.events is not None:
        content[_EVENTS] = {"schema": {"type": "string"}, ITEM: _event_schema(reply.events)}
    if reply.lines is not None:
        content["application/x-ndjson"] = {"schema": {"type": "string"}, ITEM: schema_of(reply.lines)}
    response: dict[str, Any] = {"description": _DESCRIPTIONS[reply.status]}
    return response | {"content": content} if content else response


def _event_schema(events: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of server-sent events whose data is JSON."""
    shared: dict[str, Any] = {}
    kinds = [
        {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "event": {"type": "string", "const": name},
                "data": {
                    "type": "string",
                    "contentMediaType": _JSON,
                    "contentSchema": _shared(schema_of(kind), shared),
                },
            },
            "required": ["id", "event", "data"],
        }
        for name, kind in events.items()
    ]
    return {"oneOf": kinds, "$defs": shared}
