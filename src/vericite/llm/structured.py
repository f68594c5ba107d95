"""Replies as values: a reply is one JSON object of the kind asked for, or it is a failure.

A reply that does not parse is shown back once, with the problem named; nothing is guessed or cut out of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Never, TypeVar, cast

from pydantic import BaseModel, ValidationError

from vericite.llm.chat import CallFailure, ChatRequest, Completion, FrozenSchema, Message, Reply
from vericite.llm.replies import MORE_ROOM

Kind = TypeVar("Kind", bound=BaseModel)

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*```", re.DOTALL)
_THOUGHT = re.compile(r"\s*<(?P<name>think|thinking)>.*?</(?P=name)>", re.DOTALL)
"""What models that think first put before their answer, where the service does not take it out."""

_SHOWN = 5


@dataclass(frozen=True)
class Parsed(Generic[Kind]):
    """A reply that is a value.

    Attributes:
        value: The value.
        completion: The reply it was read from.
        repaired: Whether the model had to be asked to correct itself.
    """

    value: Kind
    completion: Completion
    repaired: bool


async def ask_for(
    complete: Callable[[ChatRequest], Awaitable[Reply]],
    request: ChatRequest,
    kind: type[Kind],
    check: Callable[[Kind], Kind] | None = None,
) -> Parsed[Kind] | CallFailure:
    """Ask for a value, and once more where the first reply is none; see ``LLM.parsed``."""
    request = replace(request, schema=schema_of(kind))
    reply = await complete(request)
    outcome = _read(reply, kind, check)
    if isinstance(outcome, Parsed | CallFailure):
        return outcome
    assert isinstance(reply, Completion)
    again = await complete(_repair(request, reply.text, outcome))
    attempts = reply.attempts + again.attempts
    seconds = reply.seconds + again.seconds
    second = _read(again, kind, check)
    if isinstance(second, Parsed):
        return replace(second, repaired=True)
    if isinstance(second, CallFailure):
        return replace(second, attempts=attempts, raw=second.raw or reply.text, seconds=seconds)
    assert isinstance(again, Completion)
    reason = f"expected a JSON object of kind {kind.__name__}; found, after one repair, {second}"
    return CallFailure(reason, attempts, again.text, seconds)


def schema_of(kind: type[BaseModel]) -> FrozenSchema:
    """The JSON schema of a kind of value, closed as strict services want it: all fields required, no others."""
    return FrozenSchema.of(cast(dict[str, Any], _closed(kind.model_json_schema())), _name(kind))


def parse(text: str, kind: type[Kind]) -> Kind:
    """Read a reply that is one JSON object, perhaps inside one fence or after one block of thoughts, and nothing else.

    Raises:
        ValueError: It is not; the message says what it is instead.
    """
    thought = _THOUGHT.match(text)
    inside = text[thought.end() if thought else 0 :].strip()
    if fenced := _FENCED.fullmatch(inside):
        inside = fenced["inside"].strip()
    try:
        found = json.loads(inside, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON object and nothing else: {error.msg} at character {error.pos}") from None
    if not isinstance(found, dict):
        raise ValueError(f"JSON that is no object but {type(found).__name__}")
    try:
        return kind.model_validate_json(inside)
    except ValidationError as error:
        raise ValueError(_problems(error)) from None


def _read(reply: Reply, kind: type[Kind], check: Callable[[Kind], Kind] | None) -> Parsed[Kind] | CallFailure | str:
    """The value, or a failure that asking again would not mend, or what is wrong with the reply."""
    if isinstance(reply, CallFailure):
        return reply
    if reply.cut_off:
        reason = f"the reply was cut off at max_tokens before the JSON object was complete; {MORE_ROOM}"
        return CallFailure(reason, reply.attempts, reply.text, reply.seconds)
    try:
        value = parse(reply.text, kind)
        return Parsed(value if check is None else check(value), reply, repaired=False)
    except ValueError as error:
        return str(error)


def _repair(request: ChatRequest, text: str, problem: str) -> ChatRequest:
    schema = "" if request.schema is None else request.schema.text
    wish = (
        f"That reply cannot be used: {problem}\n"
        f"Reply again with one JSON object that fits this schema, and nothing else:\n{schema}"
    )
    turns = (Message("assistant", text), Message("user", wish))
    return replace(request, messages=(*request.messages, *turns))


def _closed(schema: object) -> object:
    if isinstance(schema, list):
        return [_closed(part) for part in cast(list[object], schema)]
    if not isinstance(schema, dict):
        return schema
    parts = {name: _closed(part) for name, part in cast(dict[str, object], schema).items()}
    fields = parts.get("properties")
    if parts.get("type") == "object" and isinstance(fields, dict) and "additionalProperties" not in parts:
        parts["additionalProperties"] = False
    if parts.get("additionalProperties") is False and isinstance(fields, dict):
        parts["required"] = list(cast(dict[str, object], fields))
    return parts


def _name(kind: type[BaseModel]) -> str:
    # Services take letters, digits, _ and - only, and 64 of them.
    return re.sub(r"[^A-Za-z0-9_-]", "_", kind.__name__)[:64]


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a JSON object with the same field twice")
    return found


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant}, which JSON does not have")


def _problems(error: ValidationError) -> str:
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'object'}: {each['msg']}" for each in error.errors(include_url=False)
    ]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "an object with other fields or values: " + "; ".join(found[:_SHOWN]) + more
