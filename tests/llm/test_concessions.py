from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import server as served
from pydantic import BaseModel
from server import Answering, Arrival, Behaviour, ScriptedServer

from vericite.errors import LLMAccessError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, FrozenSchema, ModelSpec, Parsed, Reply
from vericite.llm.retry import refused_options

MakeLLM = Callable[..., LLM]
SCHEMA = FrozenSchema.of({"type": "object"})
HELLO = replace(ChatRequest.ask("hello"), schema=SCHEMA)


def refusing(field: str, code: int, error: dict[str, Any] | str) -> Behaviour:
    """Refuses requests that have a field; answers all others."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        (served.status(code, error) if field in arrival.body else served.reply())(answering, arrival)

    return behave


def inside(field: str, code: int, words: str) -> Behaviour:
    """The same as OpenRouter does it: with status 200, and the real one in the body."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        content = f'{{"error": {{"code": {code}, "message": "{words}"}}}}'
        (served.body(content) if field in arrival.body else served.reply())(answering, arrival)

    return behave


def complete(llm: LLM, request: ChatRequest = HELLO) -> Reply:
    return asyncio.run(llm.complete(request))


OPENROUTER = "No endpoints found that can handle the requested parameters."
REFUSALS: dict[str, tuple[str, Behaviour, tuple[str, ...]]] = {
    "schema": (
        "response_format",
        refusing(
            "response_format",
            400,
            {
                "message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
                "model.",
                "param": "response_format",
            },
        ),
        ("schema",),
    ),
    "schema 422": ("response_format", refusing("response_format", 422, "json_schema: extra field"), ("schema",)),
    "schema words": ("response_format", refusing("response_format", 400, "Structured output is not on"), ("schema",)),
    "openrouter": ("response_format", refusing("response_format", 404, OPENROUTER), ("schema",)),
    "openrouter inside": ("response_format", inside("response_format", 404, OPENROUTER), ("schema",)),
    "openrouter temperature": ("temperature", refusing("temperature", 404, OPENROUTER), ("schema", "temperature")),
    "temperature": (
        "temperature",
        refusing(
            "temperature",
            400,
            {"message": "Unsupported value: 'temperature' does not support 0.0", "code": "unsupported_value"},
        ),
        ("temperature",),
    ),
    "temperature named": (
        "temperature",
        refusing("temperature", 400, {"message": "Unsupported parameter", "param": "temperature"}),
        ("temperature",),
    ),
    "limit": (
        "max_tokens",
        refusing("max_tokens", 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        (),
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_is_left_out_at_once_and_from_then_on(
    server: ScriptedServer, ask: MakeLLM, tmp_path: Path, name: str
):
    field, server.default, without = REFUSALS[name]
    llm = ask(attempts=1, backoff=100.0, cache=tmp_path)
    first = complete(llm)
    assert isinstance(first, Completion), first
    assert (set(first.without), first.text) == (set(without), "hello")
    asked = len(server.arrivals)
    assert first.attempts == asked == len(without) + 1 or (not without and asked == 2)
    second = complete(llm, replace(HELLO, seed=1))
    assert isinstance(second, Completion) and set(second.without) == set(without)
    assert len(server.arrivals) == asked + 1, "remembered"
    assert (llm.ledger.failures, llm.ledger.attempts) == (0, asked + 1)
    again = complete(ask(cache=tmp_path))
    assert isinstance(again, Completion) and again.cached and again.without == first.without
    assert len(server.arrivals) == asked + 1, "a rerun finds the reply by what was meant"
    assert field not in server.arrivals[-1].body


def test_openais_newer_name_of_the_limit_gives_way_too(
    server: ScriptedServer, ask: MakeLLM, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "some-long-key")
    server.default = refusing("max_completion_tokens", 422, "max_completion_tokens: Extra inputs are not permitted")
    spec = replace(ModelSpec.parse("openai:gpt"), base_url=f"http://127.0.0.1:{server.port}/v1")
    found = complete(LLM(spec, ask().settings), ChatRequest.ask("hello"))
    assert isinstance(found, Completion) and found.without == ()
    assert server.arrivals[-1].body["max_tokens"] == 512


def test_several_in_flight_are_each_asked_again_once(server: ScriptedServer, ask: MakeLLM):
    for _, server.default, without in (REFUSALS["schema"], REFUSALS["limit"]):
        server.arrivals.clear()
        requests = [replace(HELLO, seed=number) for number in range(20)]
        replies = list(ask(concurrency=8, attempts=1).map(requests))
        assert all(isinstance(reply, Completion) and reply.without == without for reply in replies)
        assert len(server.arrivals) <= 20 + 2 * 8, "nobody knows before the first one has succeeded without"


def test_a_stream_gives_way_too(server: ScriptedServer, ask: MakeLLM):
    def both(answering: Answering, arrival: Arrival) -> None:
        refused = next((name for name in ("response_format", "temperature") if name in arrival.body), None)
        (served.status(400, f"no {refused}") if refused else served.reply())(answering, arrival)

    server.default = both

    async def read() -> str:
        return "".join([piece async for piece in ask(attempts=1).stream(HELLO)])

    assert asyncio.run(read()) == "hello"
    assert len(server.arrivals) == 3


def test_a_value_can_be_had_from_a_service_without_schemas(server: ScriptedServer, ask: MakeLLM):
    class Answer(BaseModel):
        label: str

    server.script([served.status(400, "response_format?"), served.reply('{"label": "yes"}')])
    found = asyncio.run(ask().parsed(ChatRequest.ask("x"), Answer))
    assert isinstance(found, Parsed)
    assert (found.value.label, found.completion.without, found.repaired) == ("yes", ("schema",), False)


@pytest.mark.parametrize(("code", "error"), [(404, "no such model"), (404, OPENROUTER)])
def test_what_is_refused_all_the_same_is_an_error_as_before(
    server: ScriptedServer, ask: MakeLLM, code: int, error: str
):
    server.default = served.status(code, error)
    with pytest.raises(LLMAccessError, match=error):
        complete(ask())


def test_what_does_not_help_is_not_remembered(server: ScriptedServer, ask: MakeLLM):
    # A service that repeats the whole request names everything in it.
    server.default = served.status(422, "bad messages; found {'temperature': 0.0, 'response_format': {}}")
    llm = ask()
    found = complete(llm)
    assert isinstance(found, CallFailure) and found.attempts == 3
    server.default = served.reply()
    found = complete(llm)
    assert isinstance(found, Completion) and found.without == ()
    assert {"temperature", "response_format"} <= set(server.arrivals[-1].body)


def test_a_service_that_refuses_either_name_of_the_limit_is_not_asked_for_ever(server: ScriptedServer, ask: MakeLLM):
    server.default = served.status(400, "max_tokens and max_completion_tokens are unsupported")
    found = complete(ask())
    assert isinstance(found, CallFailure) and len(server.arrivals) == 2


@pytest.mark.parametrize(
    ("status", "said", "options"),
    [
        (400, "max_tokens is too large: 9000", ()),
        (400, "bad field", ()),
        (500, "response_format", ()),
        (403, "temperature", ()),
        (400, "no temperature, and no response_format", ("temperature", "schema")),
    ],
)
def test_words_are_read_with_care(status: int, said: str, options: tuple[str, ...]):
    assert refused_options(status, said, "") == options
