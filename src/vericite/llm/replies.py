"""Reading what an OpenAI-compatible service sends: the reply in it, or what the attempt failed by.

Services differ in how they say no. All of it is decided here, from a status, headers and a body.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

from vericite.llm.backend import BackendError, RawReply
from vericite.llm.chat import Usage
from vericite.llm.concessions import refused_options
from vericite.llm.keys import Key
from vericite.llm.retry import seconds_asked
from vericite.llm.spec import ModelSpec
from vericite.records.base import storable

_SHOWN = 300
"""Characters of a service's own words in a message."""

_KEPT = 20_000
"""Characters of what a service sent that a failure keeps."""

MORE_ROOM = "raise max_tokens (of a judge: --reply-tokens, or Settings.reply_tokens)"
"""What to do about a reply that was cut off."""

_RETRIED = (408, 409, 425, 429)
_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error", "maximum context length", "context size")
_FILTERED = ("content_filter", "content_policy", "responsibleai")
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "insufficient_credits")

JsonObject = dict[str, Any]


class ReplyReader:
    """Reads the answers of one service; nothing that it returns or says holds the key."""

    def __init__(self, spec: ModelSpec, key: Key) -> None:
        self._spec = spec
        self._key = key

    def completion(self, body: str) -> RawReply | BackendError:
        """The reply in the body of a response with status 200."""
        data = _json_object(body)
        if data is None:
            return self._odd(f"expected JSON; found {'a web page' if _is_page(body) else 'something else'}", body)
        if isinstance(data.get("error"), dict | str):
            return self._error_inside(data, body)
        usage = usage_of(data.get("usage"))
        choice = first_choice(data)
        if choice is None:
            return self._odd("expected a choice; found none", body, usage)
        message = as_object(choice.get("message"))
        text, finish = _text(message.get("content")), choice.get("finish_reason")
        finish = self._key.scrub(finish) if isinstance(finish, str) else None
        if problem := self.unusable(text, finish, _text(message.get("refusal")), usage, body):
            return problem
        return RawReply(storable(self._key.scrub(text or "")), finish, usage)

    def unusable(
        self, text: str | None, finish: str | None, refusal: str | None, usage: Usage | None, raw: str
    ) -> BackendError | None:
        """Why a reply is none, or None where it is one."""
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
        """What a response with any other status comes to."""
        data = _json_object(body) or {}
        words, code = _said(data, body)
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
            reason = f"the request is longer than the model's context; shorten it ({reason})"
            return BackendError(reason, retry=False, raw=raw)
        if any(mark in hint for mark in _FILTERED):
            reason = f"the service's content filter refused the request ({reason})"
            return BackendError(reason, retry=False, raw=raw)
        return BackendError(reason, retry=False, raw=raw, status=status, refuses=refuses)

    def error_event(self, error: object) -> BackendError:
        """What an error in the middle of a stream comes to."""
        body = json.dumps({"error": error}, default=str)
        return self._error_inside({"error": error}, body)

    def shown(self, words: str) -> str:
        """A service's own words, in one line, short and without the key."""
        line = " ".join(self._key.scrub(words).split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."

    def kept(self, raw: str) -> str:
        """What a service sent, as a failure keeps it."""
        return self._key.scrub(raw)[:_KEPT]

    def _error_inside(self, data: JsonObject, body: str) -> BackendError:
        # OpenRouter reports what goes wrong upstream with status 200 and the real status in the body.
        code = as_object(data["error"]).get("code")
        if isinstance(code, int) and 400 <= code < 600:
            return self.status(code, {}, body)
        words, code = _said(data, body)
        if any(mark in code for mark in _NO_CREDIT):
            return BackendError(f"{self.shown(words)}. {self._credit()}", retry=False, fatal=True, raw=self.kept(body))
        return self._odd(f"an error inside the reply: {self.shown(words)}", body)

    def _fatal(self, status: int, headers: Mapping[str, str]) -> str | None:
        """The next step, where every call would be answered alike."""
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
            # The key is for the address it was set for, and for no other.
            target = self.shown(headers.get("location", "another address"))
            return f"It points to {target}, which is not followed: the key would go there too. Use that address."
        return None

    def _key_advice(self) -> str:
        variable = self._spec.key_variable
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
    """What a service says that a call took, or None where it does not say."""
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
    """What was found, if it is a JSON object; else an empty one."""
    return cast(JsonObject, found) if isinstance(found, dict) else {}


def first_choice(data: Mapping[str, Any]) -> JsonObject | None:
    """The choice with the reply, or None where there is none."""
    choices = data.get("choices")
    return as_object(cast(list[object], choices)[0]) if isinstance(choices, list) and choices else None


def _text(content: object) -> str | None:
    """The text of a message, which some services send in parts."""
    if isinstance(content, list):
        parts = [as_object(part).get("text") for part in cast(list[object], content)]
        return "".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None


def _said(data: JsonObject, body: str) -> tuple[str, str]:
    """What a service says went wrong, and its codes for it in lower case."""
    error = data.get("error", data)
    found = as_object(error)
    words = error if isinstance(error, str) else found.get("message") or found.get("detail") or data.get("message")
    codes = f"{found.get('code', '')} {found.get('type', '')} {as_object(found.get('metadata')).get('reason', '')}"
    if words is None:
        words = "a web page" if _is_page(body) else body
    return str(words), codes.lower()


def _parameter(data: JsonObject) -> str:
    """The parameter that a service names as the cause."""
    return str(as_object(data.get("error")).get("param") or "")


def _is_page(body: str) -> bool:
    return body.lstrip()[:15].lower().startswith(("<!doctype", "<html"))
