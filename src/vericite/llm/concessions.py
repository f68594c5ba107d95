"""What a service refuses to take is left out of a request, which is then asked again.

Services behind one interface differ in what they know: some refuse a JSON schema, and models that think first refuse
a temperature. Which word of a refusal means what is decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vericite.llm.chat import ChatRequest

SCHEMA, TEMPERATURE, LIMIT = "schema", "temperature", "limit"

_STATUSES = (400, 404, 422)
_SCHEMA_WORDS = ("response_format", "json_schema", "structured output", "structured_output")
_LIMIT_WORDS = ("max_tokens", "max_completion_tokens")
_UNKNOWN_WORDS = (
    "unsupported",
    "not support",
    "instead",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra",
    "permitted",
)
"""Of the limit's name: its value may be refused too, and then another name does not help."""

_ANY_WORDS = ("requested parameters",)
"""OpenRouter's, where none of those who run a model take all that a request has."""

_LEAVES_OUT: dict[str, Callable[[ChatRequest], ChatRequest]] = {
    SCHEMA: lambda request: replace(request, schema=None),
    TEMPERATURE: lambda request: replace(request, temperature=None),
}


def refused_options(status: int, said: str, parameter: str) -> tuple[str, ...]:
    """What a refusal may be about, the likeliest first.

    Args:
        status: Of the response.
        said: The service's words and codes, in lower case.
        parameter: The one that it names as the cause, where it does.
    """
    if status not in _STATUSES:
        return ()
    if any(words in said for words in _ANY_WORDS):
        return (SCHEMA, TEMPERATURE)
    named = f"{parameter} {said}".lower()
    places = {SCHEMA: _place(named, _SCHEMA_WORDS), TEMPERATURE: _place(named, ("temperature",))}
    if any(words in named for words in _UNKNOWN_WORDS):
        places[LIMIT] = _place(named, _LIMIT_WORDS)
    # Some repeat the whole request after what is wrong with it.
    return tuple(sorted((option for option in places if places[option] >= 0), key=lambda option: places[option]))


def left_out(request: ChatRequest, refused: frozenset[str]) -> tuple[str, ...]:
    """What a request has of what is refused."""
    return tuple(name for name in sorted(_LEAVES_OUT) if name in refused and _LEAVES_OUT[name](request) != request)


def without(request: ChatRequest, refused: frozenset[str]) -> ChatRequest:
    """The request as the service takes it."""
    for name in left_out(request, refused):
        request = _LEAVES_OUT[name](request)
    return request


def _place(text: str, words: tuple[str, ...]) -> int:
    return min((place for word in words if (place := text.find(word)) >= 0), default=-1)
