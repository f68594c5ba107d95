"""Replies compared with the service's own description, ``/openapi.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema

ITEM = "x-item-schema"


class Description:
    """The document of a service."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._validator = cache(self._make_validator)

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        """Follow a reference."""
        while "$ref" in node:
            found: Any = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def operation(self, method: str, path: str) -> dict[str, Any] | None:
        """Return what is said of a path; None if the document does not name it."""
        bare = path.partition("?")[0]
        for template, operations in self.document["paths"].items():
            pattern = "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/"))
            if re.fullmatch(pattern, bare):
                return operations.get(method.lower())
        return None

    def expect(self, method: str, path: str, status: int, headers: Any, content: bytes) -> None:
        """Fail unless a reply has a form that the document states for its status."""
        operation = self.operation(method, path)
        if operation is None:
            return
        place = f"{method} {path} {status}"
        assert str(status) in operation["responses"], f"{place} is not in /openapi.json: {content[:200]!r}"
        stated = self.resolve(operation["responses"][str(status)])
        assert all(name in headers for name, header in stated.get("headers", {}).items() if header["required"]), place
        kinds = stated.get("content", {})
        if not kinds:
            assert content == b"", place
            return
        kind = headers["content-type"].partition(";")[0]
        assert kind in kinds, f"{place} has {kind}"
        # A file is any bytes.
        text = content.decode(errors="replace" if kind == "application/octet-stream" else "strict")
        for schema, value in _values(kind, kinds[kind], text):
            self._validator(json.dumps(schema)).validate(value)

    def _make_validator(self, schema: str) -> Any:
        components = {"components": self.document["components"]}
        return jsonschema.Draft202012Validator({**json.loads(schema), **components})


def _values(kind: str, stated: dict[str, Any], text: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the JSON values of a body, each with its schema."""
    if kind == "application/json":
        yield stated["schema"], json.loads(text)
    elif kind == "application/x-ndjson":
        yield from ((stated[ITEM], json.loads(line)) for line in text.splitlines())
    elif kind == "text/event-stream":
        forms = {form["properties"]["event"]["const"]: form for form in stated[ITEM]["oneOf"]}
        for event in events_in(text):
            assert event["event"] in forms, f"the event {event['event']} is not in /openapi.json"
            form = forms[event["event"]]
            yield form, event
            yield form["properties"]["data"]["contentSchema"], json.loads(event["data"])


def events_in(text: str) -> list[dict[str, str]]:
    """Return the fields of each server-sent event."""
    blocks = (block for block in text.split("\n\n") if block and not block.startswith(":"))
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
