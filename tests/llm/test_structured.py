from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
import server as served
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, create_model
from server import ScriptedServer

from vericite.llm import LLM, CallFailure, ChatRequest, Parsed
from vericite.llm.replies import parse, schema_of
from vericite.llm.service import closed

MakeLLM = Callable[..., LLM]


class Part(BaseModel):
    score: float = 0.0


class Judgement(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    label: Literal["yes", "no"]
    parts: tuple[Part, ...] = ()


HELLO = ChatRequest.ask("judge this")
GOOD = '{"label": "yes", "parts": [{"score": 1.0}]}'


@pytest.fixture
def parsed(ask: MakeLLM) -> Callable[..., Any]:
    def go(check: Callable[[Judgement], Judgement] | None = None, **settings: object) -> Any:
        return asyncio.run(ask(**settings).parsed(HELLO, Judgement, check))

    return go


@pytest.mark.parametrize("text", [GOOD, f"  {GOOD}\n", f"```json\n{GOOD}\n```", f"```\n{GOOD}```\n"])
def test_one_object_is_read_perhaps_inside_one_fence(text: str):
    assert parse(text, Judgement) == Judgement(label="yes", parts=(Part(score=1.0),))


@pytest.mark.parametrize("name", ["think", "thinking"])
def test_what_a_model_thinks_first_is_no_part_of_its_answer(name: str):
    thought = f'\n<{name}>First {{"label": "no"}}?\nNo.</{name}>\n\n'
    assert parse(thought + GOOD, Judgement).label == "yes"
    assert parse(f"{thought}```json\n{GOOD}\n```", Judgement).label == "yes"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "not exactly one JSON object"),
        (f"Here it is: {GOOD}", "not exactly one JSON object"),
        (f"{GOOD} I hope this helps", "not exactly one JSON object"),
        (f"{GOOD}{GOOD}", "not exactly one JSON object"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "not exactly one JSON object"),
        (f"<think>one</think><think>two</think>{GOOD}", "not exactly one JSON object"),
        (f"<think>{GOOD}", "not exactly one JSON object"),
        (f"<think>hm</thinking>{GOOD}", "not exactly one JSON object"),
        (f"{GOOD}<think>hm</think>", "not exactly one JSON object"),
        (f"<think>hm</think>Here: {GOOD}", "not exactly one JSON object"),
        (f"[{GOOD}]", "JSON that is not an object but list"),
        ('"yes"', "JSON that is not an object but str"),
        ('{"label": "yes", "label": "no"}', "the same field twice"),
        ('{"label": "yes", "parts": [{"score": NaN}]}', "NaN, which JSON does not have"),
        ('{"label": "maybe"}', "label: Input should be 'yes' or 'no'"),
        ('{"label": "yes", "why": 1}', "why: Extra inputs"),
        ("{}", "label: Field required"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_anything_else_is_invalid(text: str, found: str):
    with pytest.raises(ValueError) as caught:
        parse(text, Judgement)
    assert found in str(caught.value)


@given(st.text())
def test_no_text_breaks_the_reading(text: str):
    with pytest.raises(ValueError):
        parse(text, Judgement)


def test_the_schema_is_closed_as_strict_services_want_it():
    schema = schema_of(Judgement)
    assert schema.name == "Judgement"
    assert closed(schema.value)
    assert schema.value["required"] == ["label", "parts"]
    assert not closed(Judgement.model_json_schema())


def test_a_value_comes_back(server: ScriptedServer, parsed: Callable[..., Any]):
    server.script([served.reply(GOOD)])
    found = parsed()
    assert isinstance(found, Parsed)
    assert (found.value.label, found.repaired, found.completion.text) == ("yes", False, GOOD)
    assert server.arrivals[0].body["response_format"]["json_schema"]["name"] == "Judgement"


def test_a_reply_that_is_no_value_is_shown_back_once(server: ScriptedServer, parsed: Callable[..., Any]):
    server.script([served.reply('{"label": "maybe"}'), served.reply(GOOD)])
    found = parsed()
    assert isinstance(found, Parsed) and found.repaired
    roles = [(turn["role"], turn["content"]) for turn in server.arrivals[1].body["messages"]]
    assert roles[:2] == [("user", "judge this"), ("assistant", '{"label": "maybe"}')]
    assert "label: Input should be 'yes' or 'no'" in roles[2][1]
    assert '"additionalProperties":false' in roles[2][1]


def test_a_second_one_is_a_failure_that_keeps_it(server: ScriptedServer, parsed: Callable[..., Any]):
    server.script([served.reply("sorry"), served.reply("still sorry")])
    found = parsed()
    assert isinstance(found, CallFailure)
    assert (found.raw, found.attempts, len(server.arrivals)) == ("still sorry", 2, 2)
    assert "kind Judgement; found, after one repair, not exactly one JSON object" in found.reason


def test_a_repair_that_fails_keeps_the_first_reply(server: ScriptedServer, parsed: Callable[..., Any]):
    server.script([served.reply("sorry"), served.hang_up])
    found = parsed(attempts=1)
    assert isinstance(found, CallFailure) and found.raw == "sorry" and found.attempts == 2


def test_a_cut_off_reply_says_that_max_tokens_is_too_small(server: ScriptedServer, parsed: Callable[..., Any]):
    server.script([served.reply('{"label": "y', finish="length")])
    found = parsed()
    assert isinstance(found, CallFailure)
    assert "raise max_tokens" in found.reason and found.raw == '{"label": "y'
    assert "llm.reply_tokens, or Settings.reply_tokens" in found.reason
    assert len(server.arrivals) == 1


def test_a_cut_off_value_is_not_remembered(server: ScriptedServer, parsed: Callable[..., Any], tmp_path: Path):
    server.script([served.reply('{"label": "y', finish="length"), served.reply(GOOD)])
    assert isinstance(parsed(cache=tmp_path), CallFailure)
    assert isinstance(parsed(cache=tmp_path), Parsed)
    assert len(server.arrivals) == 2


def test_a_failed_call_is_passed_on(server: ScriptedServer, parsed: Callable[..., Any]):
    server.script([served.status(400)])
    assert "HTTP 400" in parsed().reason


def test_a_check_can_put_in_order_and_can_refuse(server: ScriptedServer, parsed: Callable[..., Any]):
    def no_yes(value: Judgement) -> Judgement:
        if value.label == "yes":
            raise ValueError("a yes without a reason")
        return value.model_copy(update={"parts": ()})

    server.script([served.reply(GOOD), served.reply(GOOD.replace("yes", "no"))])
    found = parsed(no_yes)
    assert isinstance(found, Parsed) and found.repaired and found.value.parts == ()
    assert "a yes without a reason" in server.arrivals[1].question


def test_both_replies_are_remembered(server: ScriptedServer, parsed: Callable[..., Any], tmp_path: Path):
    server.script([served.reply("sorry"), served.reply(GOOD)])
    first, second = parsed(cache=tmp_path), parsed(cache=tmp_path)
    assert len(server.arrivals) == 2
    assert first.value == second.value and second.completion.cached


def test_of_many_problems_of_a_reply_the_rest_is_counted():
    kind = create_model("Many", **{f"field{number}": (int, ...) for number in range(9)})
    with pytest.raises(ValueError, match="; and 4 more"):
        parse("{}", kind)
