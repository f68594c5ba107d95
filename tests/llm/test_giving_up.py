from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
import server as served
from server import Answering, Arrival, Behaviour, ScriptedServer

from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Reply

MakeLLM = Callable[..., LLM]


def ask_all(llm: LLM, count: int) -> list[Reply]:
    return list(llm.map(ChatRequest.ask(str(number)) for number in range(count)))


@pytest.mark.parametrize("code", [400, 403])
def test_a_service_that_refuses_everything_is_not_asked_for_ever(server: ScriptedServer, ask: MakeLLM, code: int):
    server.default = served.status(code, "not in your region")
    llm = ask(concurrency=4)
    replies = ask_all(llm, 60)
    assert all(isinstance(reply, CallFailure) for reply in replies)
    assert 20 <= len(server.arrivals) < 30
    assert replies[-1].reason.startswith("not asked: the last 2")
    assert "not in your region" in replies[-1].reason
    assert llm.ledger.failures == 60


FILTERED: dict[str, Behaviour] = {
    "with a code": served.status(400, {"code": "content_filter", "message": "x"}),
    "in other words": served.status(400, "against our policy"),
}


@pytest.mark.parametrize("name", FILTERED)
def test_refusals_between_which_others_succeed_do_not_count(server: ScriptedServer, ask: MakeLLM, name: str):
    def filtered(answering: Answering, arrival: Arrival) -> None:
        (served.reply() if int(arrival.question) % 10 == 0 else FILTERED[name])(answering, arrival)

    server.default = filtered
    replies = ask_all(ask(concurrency=1), 60)
    assert len(server.arrivals) == 60
    assert sum(isinstance(reply, Completion) for reply in replies) == 6


def test_what_lies_in_the_requests_themselves_does_not_count(server: ScriptedServer, ask: MakeLLM):
    server.default = served.status(400, {"code": "context_length_exceeded", "message": "x"})
    ask_all(ask(), 40)
    assert len(server.arrivals) == 40


def test_a_server_that_hangs_is_left_after_two_waits_of_two_calls(server: ScriptedServer, ask: MakeLLM):
    server.default = served.silence
    llm = ask(timeout=0.2, concurrency=1)
    replies = list(llm.map(ChatRequest.ask(str(number)) for number in range(30)))
    assert all(isinstance(reply, CallFailure) for reply in replies)
    assert "did not answer within 0.2 s; if the model needs longer, raise the timeout" in replies[0].reason
    assert "(after 2 attempts)" in replies[0].reason
    assert re.match(r"not asked: the last [23] calls failed: ", replies[-1].reason)
    # A call that was begun meanwhile is waited for as well.
    assert len(server.arrivals) <= 6


def test_a_stream_is_not_asked_for_ever_either(server: ScriptedServer, ask: MakeLLM):
    server.default = served.status(403, "not in your region")
    llm = ask()
    ask_all(llm, 40)
    asked = len(server.arrivals)

    async def read() -> None:
        async for _ in llm.stream(ChatRequest.ask("x")):
            pass

    with pytest.raises(Exception, match="not asked: the last"):
        asyncio.run(read())
    assert len(server.arrivals) == asked
