from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import pytest
import server as served
from server import FAST, Answering, Arrival, Behaviour, ScriptedServer, body_of, events_of

from vericite.errors import InputError, LLMAccessError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, FrozenSchema, Price, Reply, Usage

HELLO = ChatRequest.ask("hello world")
MakeLLM = Callable[..., LLM]


def complete(llm: LLM, request: ChatRequest = HELLO) -> Reply:
    return asyncio.run(llm.complete(request))


def refused_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_a_reply_comes_back_with_what_it_took(server: ScriptedServer, ask: MakeLLM):
    found = complete(ask())
    assert isinstance(found, Completion)
    assert (found.text, found.finish, found.usage) == ("hello world", "stop", Usage(7, 3, None))
    assert (found.cached, found.attempts) == (False, 1)
    assert server.arrivals[0].path == "/v1/chat/completions"


def test_whatever_openai_is_installed_or_none_a_service_is_asked(
    server: ScriptedServer, ask: MakeLLM, monkeypatch: pytest.MonkeyPatch
):
    # ragas and langchain-openai bring versions of it that are made for another HTTP client.
    monkeypatch.setitem(sys.modules, "openai", None)
    found = complete(ask())
    assert isinstance(found, Completion) and found.attempts == 1


def test_every_field_of_a_request_reaches_the_service(server: ScriptedServer, ask: MakeLLM):
    schema = FrozenSchema.of({"type": "object", "properties": {}, "required": [], "additionalProperties": False}, "x")
    request = replace(
        HELLO, max_tokens=9, temperature=0.5, top_p=0.9, seed=4, stop=("a", "b"), schema=schema, grammar="root ::= [a]"
    )
    complete(ask(), request)
    sent = server.arrivals[0].body
    assert sent.pop("messages") == [{"role": "user", "content": "hello world"}]
    assert sent.pop("response_format")["json_schema"] == {"name": "x", "schema": schema.value, "strict": True}
    assert sent == {
        "model": "small", "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "seed": 4, "stop": ["a", "b"],
        "grammar": "root ::= [a]",
    }  # fmt: skip


RETRIED: dict[str, Behaviour] = {
    **{str(code): served.status(code) for code in (408, 409, 429, 500, 502, 503, 529)},
    "seconds": served.status(429, **{"retry-after": "0"}),
    "date": served.retry_at(0),
    "cut body": served.cut_body,
    "hang up": served.hang_up,
    "malformed": served.body("{nope"),
    "no text": served.body(b"\xff\xfe\x00"),
    "a list": served.body("[1]"),
    "no choices": served.body('{"choices": []}'),
    "null content": served.body(json.dumps(body_of(None))),
    "odd choices": served.body('{"choices": [3], "usage": 7}'),
    "a page": served.page(),
    "a page of an error": served.page(502),
    "an error inside": served.body('{"error": {"code": 502, "message": "upstream"}}'),
}


@pytest.mark.parametrize("name", RETRIED)
def test_what_may_pass_is_tried_again(server: ScriptedServer, ask: MakeLLM, name: str):
    server.script([RETRIED[name]])
    found = complete(ask())
    assert isinstance(found, Completion), found
    assert (found.attempts, len(server.arrivals)) == (2, 2)


def test_what_does_not_pass_is_given_up_after_the_attempts_there_are(server: ScriptedServer, ask: MakeLLM):
    server.default = served.page()
    llm = ask(attempts=3)
    found = complete(llm)
    assert isinstance(found, CallFailure)
    assert (found.attempts, len(server.arrivals)) == (3, 3)
    assert "found a web page (after 3 attempts)" in found.reason
    assert found.raw is not None and "Sign in" in found.raw
    assert (llm.ledger.calls, llm.ledger.failures, llm.ledger.attempts) == (1, 1, 3)


NOT_RETRIED: dict[str, tuple[Behaviour, str]] = {
    "400": (served.status(400, "bad field"), "HTTP 400: bad field"),
    "403": (served.status(403, "not in your region"), "HTTP 403: not in your region"),
    "413": (served.status(413), "HTTP 413"),
    "422": (served.status(422), "HTTP 422"),
    "too long": (
        served.status(400, {"code": "context_length_exceeded", "message": "x"}),
        "longer than the model's context",
    ),
    "llama.cpp": (served.status(400, {"type": "exceed_context_size_error", "message": "x"}), "longer than the model's"),
    "filtered request": (served.status(400, {"code": "content_filter", "message": "x"}), "filter refused the request"),
    "filtered reply": (served.reply("bo", finish="content_filter"), "content filter stopped the reply"),
    "no room": (served.body(json.dumps(body_of(None, "length"))), "raise max_tokens"),
    "inside": (served.body('{"error": {"code": 403, "message": "moderated"}}'), "HTTP 403: moderated"),
    "refusal": (
        served.body('{"choices": [{"finish_reason": "stop", "message": {"content": null, "refusal": "I will not"}}]}'),
        "the model refused: I will not",
    ),
}


@pytest.mark.parametrize("name", NOT_RETRIED)
def test_what_will_not_pass_is_recorded_at_once(server: ScriptedServer, ask: MakeLLM, name: str):
    behaviour, wanted = NOT_RETRIED[name]
    server.script([behaviour])
    found = complete(ask())
    assert isinstance(found, CallFailure)
    assert wanted in found.reason
    assert (found.attempts, len(server.arrivals)) == (1, 1)
    assert found.raw


FATAL: dict[str, tuple[Behaviour, str]] = {
    "401": (served.status(401), "VERICITE_KEY_127_0_0_1, which is not set. Set it"),
    "402": (served.status(402), "no credit left"),
    "404": (served.status(404, "no such model"), "no such model. Check that there is a model 'small'"),
    "quota": (served.status(429, {"code": "insufficient_quota", "message": "pay"}), "no credit left"),
    "inside": (served.body('{"error": {"code": 401, "message": "who?"}}'), "VERICITE_KEY_127_0_0_1"),
    "redirect": (served.status(307, location="http://127.0.0.1:9/v1"), "is not followed"),
}


@pytest.mark.parametrize("name", FATAL)
def test_what_would_meet_every_call_is_raised_with_the_next_step(server: ScriptedServer, ask: MakeLLM, name: str):
    behaviour, wanted = FATAL[name]
    server.default = behaviour
    with pytest.raises(LLMAccessError) as caught:
        complete(ask())
    assert wanted in str(caught.value)
    assert len(server.arrivals) == 1
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_service_that_needs_a_key_is_not_asked_without_one():
    with pytest.raises(LLMAccessError, match="OPENAI_API_KEY; found none"):
        LLM("openai:gpt-4o-mini", FAST)


@pytest.mark.parametrize("behaviour", [served.silence, served.dribble], ids=["silent", "dribbling"])
def test_a_service_that_does_not_come_to_an_end_is_left(server: ScriptedServer, ask: MakeLLM, behaviour: Behaviour):
    server.script([behaviour])
    found = complete(ask(timeout=0.3))
    assert isinstance(found, Completion) and found.attempts == 2


@pytest.mark.parametrize("behaviour", [served.silence, served.dribble], ids=["silent", "dribbling"])
def test_a_call_ends_by_its_deadline(server: ScriptedServer, ask: MakeLLM, behaviour: Behaviour):
    server.default = behaviour
    began = time.monotonic()
    found = complete(ask(timeout=0.3, deadline=0.7, attempts=50))
    assert isinstance(found, CallFailure)
    assert "did not answer within 0.3 s" in found.reason or "deadline of 0.7 s" in found.reason
    assert time.monotonic() - began < 20


def test_retry_after_pauses_every_worker(server: ScriptedServer, ask: MakeLLM):
    server.script([served.status(429, **{"retry-after": "0.6"})])
    server.default = served.reply(after=0.2)
    replies = list(ask(concurrency=4).map(ChatRequest.ask(str(number)) for number in range(12)))
    assert [reply.text for reply in replies if isinstance(reply, Completion)] == [str(number) for number in range(12)]
    times = [arrival.at - server.arrivals[0].at for arrival in server.arrivals]
    assert max(times[:4]) < 0.6 <= min(times[4:])


def test_a_pause_beyond_the_deadline_fails_at_once_and_for_all(server: ScriptedServer, ask: MakeLLM):
    server.default = served.status(429, **{"retry-after": "3000"})
    llm = ask()
    for asked in (1, 1):
        found = complete(llm)
        assert isinstance(found, CallFailure)
        assert "asks to wait" in found.reason and "deadline of 20 s" in found.reason
        assert len(server.arrivals) == asked


def test_a_service_that_is_not_there_is_not_asked_for_ever():
    llm = LLM(f"http://127.0.0.1:{refused_port()}/v1#m", replace(FAST, attempts=1, concurrency=4))
    replies = list(llm.map(ChatRequest.ask(str(number)) for number in range(40)))
    assert all(isinstance(reply, CallFailure) for reply in replies)
    address = llm.spec.base_url
    assert f"expected an answer from {address}#m; found no connection: " in replies[0].reason
    assert f"Is the server running at {address}? Start it, or correct the address" in replies[0].reason
    assert replies[-1].reason.startswith("not asked: the last 2")
    assert 20 <= llm.ledger.attempts < 30
    assert llm.ledger.failures == 40


def test_offline_nothing_beyond_this_machine_is_asked_nor_looked_up(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer, ask: MakeLLM
):
    looked_up: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: looked_up.append(args))
    monkeypatch.setenv("VERICITE_KEY_127_0_0_1", "some-long-key")
    for spec in ("https://models.example.org/v1#m", "openai:gpt-4o", "http://8.8.8.8/v1#m"):
        with pytest.raises(InputError, match="expected a model on this machine"):
            LLM(spec, replace(FAST, offline=True))
    assert not looked_up
    monkeypatch.undo()
    assert isinstance(complete(ask(offline=True)), Completion)


def test_what_goes_to_this_machine_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch, ask: MakeLLM):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{refused_port()}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert isinstance(complete(ask(attempts=1)), Completion)


def test_what_the_environment_has_for_another_service_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer, ask: MakeLLM
):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"foreign-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Token: foreign-token\nAuthorization: foreign-authorization")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    complete(ask())
    assert "foreign" not in json.dumps(server.arrivals[0].headers)
    assert "authorization" not in server.arrivals[0].headers


def test_a_grammar_is_refused_without_support(monkeypatch: pytest.MonkeyPatch):
    llm = LLM("ollama:llama3.2", FAST)
    with pytest.raises(InputError, match="reads GBNF"):
        complete(llm, replace(HELLO, grammar="root ::= [a]"))


def test_openai_gets_the_newer_name_of_the_limit(monkeypatch: pytest.MonkeyPatch):
    from vericite.llm.service import ModelService
    from vericite.llm.spec import ModelSpec

    monkeypatch.setenv("OPENAI_API_KEY", "some-long-key")
    body = ModelService(ModelSpec.parse("openai:gpt"), 1)._body(HELLO)
    assert body["max_completion_tokens"] == 512 and "max_tokens" not in body


def test_halves_of_characters_break_nothing(server: ScriptedServer, ask: MakeLLM):
    server.default = served.body('{"choices": [{"finish_reason": "stop", "message": {"content": "a\\ud800"}}]}')
    found = complete(ask(), ChatRequest.ask("b\udc00"))
    assert isinstance(found, Completion) and found.text == "a\ufffd"
    assert server.arrivals[0].question == "b\ufffd"


USAGES: list[tuple[Any, Price | None, float | None, str]] = [
    (
        {"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.25},
        None,
        0.25,
        "100 tokens read and 10 written, $0.25",
    ),
    ({"prompt_tokens": 100, "completion_tokens": 10}, Price(1.0, 10.0), 0.0002, "$0.0002"),
    ({"prompt_tokens": 100, "completion_tokens": 10}, None, None, "cost not known"),
    (None, None, None, "about 3 tokens read and 3 written"),
    ({"prompt_tokens": "many"}, None, None, "about 3 tokens read"),
]


@pytest.mark.parametrize(("usage", "price", "cost", "said"), USAGES)
def test_the_ledger_says_what_was_counted_and_what_was_estimated(
    server: ScriptedServer, ask: MakeLLM, usage: Any, price: Price | None, cost: float | None, said: str
):
    server.default = served.reply(usage=usage)
    llm = ask(price=price)
    complete(llm)
    assert llm.ledger.cost == (None if cost is None else pytest.approx(cost))
    assert said in str(llm.ledger)


def test_tokens_of_attempts_that_came_to_nothing_are_counted_too(server: ScriptedServer, ask: MakeLLM):
    server.script([served.body(json.dumps(body_of(None)))])
    llm = ask()
    complete(llm)
    assert (llm.ledger.attempts, llm.ledger.prompt_tokens, llm.ledger.completion_tokens) == (2, 14, 6)
    assert str(llm.ledger).startswith("1 call (0 cached, 0 failed), 2 attempts, 14 tokens read and 6 written")


def test_a_connection_that_breaks_off_is_not_taken_for_a_server_that_does_not_run(server: ScriptedServer, ask: MakeLLM):
    server.default = served.hang_up
    found = complete(ask(attempts=1))
    assert isinstance(found, CallFailure)
    assert "found a connection that broke off: " in found.reason and "running" not in found.reason


def test_a_shortened_minute_holds_no_more_arrivals_than_allowed(server: ScriptedServer, ask: MakeLLM):
    minute, limit = 1.2, 12
    server.script([served.status(500)] * 3)
    llm = ask(requests_per_minute=limit, minute=minute, concurrency=20, attempts=6, timeout=0.5, deadline=0.6)
    replies = list(llm.map(ChatRequest.ask(str(number)) for number in range(27)))
    assert all(isinstance(reply, Completion) for reply in replies), "waiting for a turn uses up no deadline"
    times = sorted(arrival.at for arrival in server.arrivals)
    assert len(times) == 30
    # What arrives on a busy machine is up to a tenth of a second late; the exact law is held in test_limits.py.
    assert max(sum(start <= at < start + minute - 0.2 for at in times) for start in times) <= limit
    # Half of the spans are hardly late at either end: a pace that is a tenth too fast makes them 0.12 s too short.
    spans = [after - before for before, after in zip(times, times[limit:], strict=False)]
    assert median(spans) > minute - 0.04


@pytest.mark.llm
def test_a_true_minute_holds_no_more_arrivals_than_allowed(server: ScriptedServer, ask: MakeLLM):
    llm = ask(requests_per_minute=60, concurrency=20)
    assert len(list(llm.map(ChatRequest.ask(str(number)) for number in range(75)))) == 75
    times = sorted(arrival.at for arrival in server.arrivals)
    assert len(times) == 75
    assert max(sum(start <= at < start + 60.0 for at in times) for start in times) <= 60


def test_a_request_beyond_the_tokens_of_a_minute_goes_alone_and_does_not_hang(ask: MakeLLM):
    llm = ask(tokens_per_minute=10, minute=0.4)
    assert isinstance(complete(llm), Completion)
    assert isinstance(complete(llm, ChatRequest.ask("again")), Completion)


def test_the_likeliest_first_tokens_are_asked_for_and_read(server: ScriptedServer, ask: Callable[..., LLM]):
    told = [{"token": "A", "logprob": -0.25}, {"token": "B", "logprob": -2}, {"token": 3, "logprob": 1}, None]
    content = json.loads(json.dumps(body_of("A")))
    content["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": -0.25, "top_logprobs": told}]}
    server.default = served.body(json.dumps(content))
    (found,) = ask().map([replace(ChatRequest.ask("?"), alternatives=5)])
    assert isinstance(found, Completion)
    assert found.alternatives == (("A", -0.25), ("B", -2.0))
    assert [server.arrivals[0].body[name] for name in ("logprobs", "top_logprobs")] == [True, 5]


def test_a_service_that_tells_no_tokens_is_asked_without(server: ScriptedServer, ask: Callable[..., LLM]):
    server.script([served.status(400, "logprobs is not supported with this model"), served.reply("A")])
    (found,) = ask().map([replace(ChatRequest.ask("?"), alternatives=5)])
    assert isinstance(found, Completion)
    assert (found.text, found.without, found.alternatives) == ("A", ("alternatives",), ())
    assert "top_logprobs" not in server.arrivals[1].body


def renamed(model: object) -> Behaviour:
    """A reply, streamed if that is asked for, from a service that says it is of this model."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        if arrival.body.get("stream"):
            events = "".join(events_of(["hi"])).replace('"model": "small"', f'"model": {json.dumps(model)}')
            answering.send(200, events, "text/event-stream")
        else:
            answering.send(200, json.dumps(body_of("hi") | {"model": model}))

    return behave


async def streamed(llm: LLM) -> None:
    async for _ in llm.stream(HELLO):
        pass


@pytest.mark.parametrize("call", [complete, lambda llm: asyncio.run(streamed(llm))])
def test_a_service_that_answers_as_another_model_is_warned_of_once_and_kept_in_the_ledger(
    server: ScriptedServer, ask: MakeLLM, caplog: pytest.LogCaptureFixture, call: Callable[[LLM], object]
):
    server.default = renamed("huge-2")
    llm = ask()
    for _ in range(3):
        call(llm)
    assert llm.ledger.answered_as == ("huge-2",)
    assert llm.ledger.calls == 3
    (said,) = caplog.messages
    assert "found that the service says 'huge-2' did" in said
    assert f"expected {llm.signature} to answer" in said


@pytest.mark.parametrize(
    "model",
    [
        "small",
        "small-2026-01-31",
        "someone/Small",
        "/models/small.gguf",
        "C:\\models\\small.gguf",
        "small:latest",
        "",
        None,
        3,
    ],
)
def test_a_longer_name_of_the_same_model_is_no_other_model(
    server: ScriptedServer, ask: MakeLLM, caplog: pytest.LogCaptureFixture, model: object
):
    server.default = renamed(model)
    llm = ask()
    complete(llm)
    assert llm.ledger.answered_as == ()
    assert not caplog.records
