"""Parse what an OpenAI-compatible service sends into a reply or a failure.

Services differ in how they refuse. All of that is decided here, from status, headers and body.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Never, TypeVar, cast

from pydantic import BaseModel, ValidationError

from vericite.llm.chat import Alternative, CallFailure, ChatRequest, Completion, FrozenSchema, Message, Reply, Usage
from vericite.llm.retry import BackendError, RawReply, refused_options
from vericite.llm.spec import ModelSpec
from vericite.network.access import Key
from vericite.network.pacing import seconds_asked
from vericite.records.base import storable

_SHOWN = 300
"""Maximum characters of a service's own words in a message."""

_KEPT = 20_000
"""Maximum characters of a service's response that a failure keeps."""

MORE_ROOM = "raise max_tokens (of a judge: llm.reply_tokens, or Settings.reply_tokens)"
"""Advice for a reply that was cut off."""

_RETRIED = (408, 409, 425, 429)
TOO_LONG = "the request is longer than the model's context"
_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error", "maximum context length", "context size")
_CONTEXT = re.compile(
    r"(?:context (?:length|size|window)(?: is| of|:)?\s*\(?|> |at most )(\d{3,8})(?: ?(?:tokens|maximum)|\))?",
    re.IGNORECASE,
)
_FILTERED = ("content_filter", "content_policy", "responsibleai")
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "insufficient_credits")

JsonObject = dict[str, Any]

_LOG = logging.getLogger(__name__)


def _is_same_model(asked: str, said: str) -> bool:
    """Whether two names may be the same model: one contains the other, apart from folders, providers and extensions."""
    names = [name.lower().strip().removesuffix(".gguf").removesuffix(":latest") for name in (asked, said)]
    first, second = (name.replace("\\", "/").rsplit("/", 1)[-1] for name in names)
    return first in second or second in first


class ReplyReader:
    """Reads the responses of one service; no result or message contains the key."""

    def __init__(self, spec: ModelSpec, key: Key) -> None:
        self._spec = spec
        self._key = key
        self._warned = False

    def completion(self, body: str) -> RawReply:
        """Parse the body of a response with status 200.

        Raises:
            BackendError: It has no usable reply.
        """
        data = _json_object(body)
        if data is None:
            raise self._odd(f"expected JSON; found {'a web page' if _is_page(body) else 'something else'}", body)
        if isinstance(data.get("error"), dict | str):
            raise self._error_inside(data, body)
        usage = usage_of(data.get("usage"))
        choice = first_choice(data)
        if choice is None:
            raise self._odd("expected a choice; found none", body, usage)
        message = as_object(choice.get("message"))
        text, finish = _text(message.get("content")), choice.get("finish_reason")
        finish = self._key.scrub(finish) if isinstance(finish, str) else None
        if problem := self.unusable(text, finish, _text(message.get("refusal")), usage, body):
            raise problem
        other = self.other_model(data.get("model"))
        return RawReply(storable(self._key.scrub(text or "")), finish, usage, first_alternatives(choice), other)

    def other_model(self, said: object) -> str | None:
        """Return the name of the model that answered, if it differs from the requested one; warn about the first.

        A service may add a date or a version to a name, or omit the provider.
        """
        if not isinstance(said, str) or not said.strip() or _is_same_model(self._spec.model, said):
            return None
        name = self.shown(storable(said))
        if not self._warned:
            self._warned = True
            _LOG.warning(
                "expected %s to answer; found that the service says %r did. What it writes is used, and the manifest "
                "names it. Check the name of the model and the address.",
                self._spec.signature,
                name,
            )
        return name

    def unusable(
        self, text: str | None, finish: str | None, refusal: str | None, usage: Usage | None, raw: str
    ) -> BackendError | None:
        """Return the failure of an unusable reply, or None."""
        if finish == "error":
            return self._odd("the reply ended in an error", raw, usage)
        if finish == "content_filter":
            return self._final("the service's content filter stopped the reply", raw, usage)
        if refusal and not text:
            return self._final(f"the model refused: {self.shown(refusal)}", raw, usage)
        if text is not None:
            return None
        if finish == "length":
            return self._final(f"the reply reached max_tokens before its first word; {MORE_ROOM}", raw, usage)
        return self._odd("expected a text; found none", raw, usage)

    def status(self, status: int, headers: Mapping[str, str], body: str) -> BackendError:
        """Convert a response with another status to an error."""
        data = _json_object(body) or {}
        words, code = _message(data, body)
        where = f"{self._spec.signature} answered HTTP {status}"
        reason = f"{where}: {self.shown(words)}" if words else where
        raw = self.kept(body)
        after = seconds_asked(headers)
        if status == 429 and any(mark in code for mark in _NO_CREDIT):
            return BackendError(f"{reason}. {self._credit()}", retry=False, fatal=True, raw=raw)
        hint = f"{code} {words}".lower()
        refuses = refused_options(status, hint, _parameter(data))
        if fatal := self._fatal(status, headers):
            return BackendError(f"{reason}. {fatal}", retry=False, fatal=True, raw=raw, refuses=refuses)
        if status in _RETRIED or status >= 500:
            return BackendError(reason, retry=True, after=after, raw=raw)
        if any(mark in hint for mark in _TOO_LONG):
            reason = f"{TOO_LONG}; shorten it ({reason})"
            return BackendError(reason, retry=False, raw=raw, context=_context_told(data, words))
        if any(mark in hint for mark in _FILTERED):
            reason = f"the service's content filter refused the request ({reason})"
            return BackendError(reason, retry=False, raw=raw)
        return BackendError(reason, retry=False, raw=raw, status=status, refuses=refuses)

    def error_event(self, error: object) -> BackendError:
        """Convert an error in the middle of a stream."""
        body = json.dumps({"error": error}, default=str)
        return self._error_inside({"error": error}, body)

    def shown(self, words: str) -> str:
        """Shorten a service's own words to one line, without the key."""
        line = " ".join(self._key.scrub(words).split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."

    def kept(self, raw: str) -> str:
        """Shorten a service's response for a failure, without the key."""
        return self._key.scrub(raw)[:_KEPT]

    def _error_inside(self, data: JsonObject, body: str) -> BackendError:
        # OpenRouter reports upstream errors with status 200 and the real status in the body.
        code = as_object(data["error"]).get("code")
        if isinstance(code, int) and 400 <= code < 600:
            return self.status(code, {}, body)
        words, code = _message(data, body)
        if any(mark in code for mark in _NO_CREDIT):
            return BackendError(f"{self.shown(words)}. {self._credit()}", retry=False, fatal=True, raw=self.kept(body))
        return self._odd(f"an error inside the reply: {self.shown(words)}", body)

    def _fatal(self, status: int, headers: Mapping[str, str]) -> str | None:
        """Return the next step if every call would fail in the same way."""
        if status == 401:
            return self._key_advice()
        if status == 402:
            return self._credit()
        if status == 404:
            return (
                f"Check that there is a model {self._spec.model!r} and that {self._spec.base_url} is the base address "
                "of an OpenAI-compatible service (it mostly ends in /v1)."
            )
        if 300 <= status < 400:
            # The key is meant only for the address for which it was set.
            target = self.shown(headers.get("location", "another address"))
            return f"It points to {target}, which is not followed: the key would go there too. Use that address."
        return None

    def _key_advice(self) -> str:
        variable = self._spec.key_variable
        if variable is None and self._spec.provider == "url":
            return f"No key is sent to {self._spec.base_url}: its host's name has characters that no variable can have."
        if variable is None:
            return f"No key is ever sent to {self._spec.signature}. Give its address instead: http://host:port/v1#model"
        found = "was refused" if self._key else "is not set"
        return f"The key is read from the environment variable {variable}, which {found}. Set it to a valid key."

    def _credit(self) -> str:
        return (
            "The account has no credit left. "
            f"Add some, or set the environment variable {self._spec.key_variable} to another key."
        )

    def _odd(self, problem: str, raw: str, usage: Usage | None = None) -> BackendError:
        return BackendError(f"{self._spec.signature}: {problem}", retry=True, raw=self.kept(raw), usage=usage)

    def _final(self, problem: str, raw: str, usage: Usage | None) -> BackendError:
        return BackendError(problem, retry=False, raw=self.kept(raw), usage=usage)


def usage_of(found: object) -> Usage | None:
    """Return the usage that a service reports, or None."""
    usage = as_object(found)
    prompt, completion, cost = usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("cost")
    if not isinstance(prompt, int) or not isinstance(completion, int) or prompt < 0 or completion < 0:
        return None
    known = isinstance(cost, int | float) and math.isfinite(cost)
    return Usage(prompt, completion, float(cast(float, cost)) if known else None)


def _json_object(body: str) -> JsonObject | None:
    try:
        return as_object(json.loads(body)) or None
    except (ValueError, RecursionError):
        return None


def as_object(found: object) -> JsonObject:
    """Return the object, or an empty one if it is not a JSON object."""
    return cast(JsonObject, found) if isinstance(found, dict) else {}


def first_choice(data: Mapping[str, Any]) -> JsonObject | None:
    """Return the choice with the reply, or None."""
    choices = data.get("choices")
    return as_object(cast(list[object], choices)[0]) if isinstance(choices, list) and choices else None


def first_alternatives(choice: Mapping[str, Any]) -> tuple[Alternative, ...]:
    """Return the likeliest first tokens of a choice; none if the service does not return usable ones."""
    tokens = as_object(choice.get("logprobs")).get("content")
    if not isinstance(tokens, list) or not tokens:
        return ()
    listed = as_object(cast(list[object], tokens)[0]).get("top_logprobs")
    rows = map(as_object, cast(list[object], listed) if isinstance(listed, list) else [])
    found = [(row.get("token"), row.get("logprob")) for row in rows]
    return tuple(
        Alternative(storable(token), float(logprob))
        for token, logprob in found
        if isinstance(token, str) and isinstance(logprob, int | float) and math.isfinite(logprob)
    )


def _text(content: object) -> str | None:
    """Return the text of a message, which some services send in parts."""
    if isinstance(content, list):
        parts = [as_object(part).get("text") for part in cast(list[object], content)]
        return "".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None


def _message(data: JsonObject, body: str) -> tuple[str, str]:
    """Return a service's error message, and its codes in lower case."""
    error = data.get("error", data)
    found = as_object(error)
    words = error if isinstance(error, str) else found.get("message") or found.get("detail") or data.get("message")
    codes = f"{found.get('code', '')} {found.get('type', '')} {as_object(found.get('metadata')).get('reason', '')}"
    if words is None:
        words = "a web page" if _is_page(body) else body
    return str(words), codes.lower()


def _context_told(data: JsonObject, words: str) -> int | None:
    """Return the service's limit of tokens, if its refusal names it: llama.cpp in a field, others in a sentence."""
    told = as_object(data.get("error")).get("n_ctx")
    if isinstance(told, int) and told > 0:
        return told
    found = _CONTEXT.search(words)
    return int(found[1]) if found else None


def _parameter(data: JsonObject) -> str:
    """Return the parameter that a service names as the cause."""
    return str(as_object(data.get("error")).get("param") or "")


def _is_page(body: str) -> bool:
    return body.lstrip()[:15].lower().startswith(("<!doctype", "<html"))


Kind = TypeVar("Kind", bound=BaseModel)

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*```", re.DOTALL)
_THOUGHT = re.compile(r"\s*<(?P<name>think|thinking)>.*?</(?P=name)>", re.DOTALL)
"""Text of models that think first, if the service does not remove it."""

_PROBLEMS_SHOWN = 5


@dataclass(frozen=True)
class Parsed(Generic[Kind]):
    """A reply that was parsed as a value.

    Attributes:
        value: The value.
        completion: The reply.
        repaired: Whether the model had to correct its first reply.
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
    """Ask for a value, and again if the first reply is invalid; see ``LLM.parsed``."""
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
    """Return the JSON schema of a class, in the form that strict services require: all fields required, no others."""
    return FrozenSchema.of(cast(dict[str, Any], _closed(kind.model_json_schema())), _name(kind))


def parse(text: str, kind: type[Kind]) -> Kind:
    """Parse a reply that is only one JSON object, optionally in one fence or after one block of thoughts.

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
        raise ValueError(f"not exactly one JSON object: {error.msg} at character {error.pos}") from None
    if not isinstance(found, dict):
        raise ValueError(f"JSON that is not an object but {type(found).__name__}")
    try:
        return kind.model_validate_json(inside)
    except ValidationError as error:
        raise ValueError(_problems(error)) from None


def _read(reply: Reply, kind: type[Kind], check: Callable[[Kind], Kind] | None) -> Parsed[Kind] | CallFailure | str:
    """Return the value, or a failure that asking again would not fix, or the problem with the reply."""
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
    # Services accept only letters, digits, _ and -, at most 64 of them.
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
    more = f"; and {len(found) - _PROBLEMS_SHOWN} more" if len(found) > _PROBLEMS_SHOWN else ""
    return "an object with other fields or values: " + "; ".join(found[:_PROBLEMS_SHOWN]) + more
