from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest
import server as served
from server import Behaviour, ScriptedServer

from vericite.errors import LLMAccessError, LLMStreamError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion

WORDS = ChatRequest.ask("one two three four")
PIECES = ["one ", "two ", "three ", "four"]
MakeLLM = Callable[..., LLM]


async def pieces(llm: LLM, request: ChatRequest = WORDS) -> list[str]:
    return [piece async for piece in llm.stream(request)]


def test_pieces_come_as_they_are_sent_and_the_whole_is_remembered(server: ScriptedServer, ask: MakeLLM, tmp_path: Path):
    llm = ask(cache=tmp_path)
    assert asyncio.run(pieces(llm)) == PIECES
    assert server.arrivals[0].body["stream_options"] == {"include_usage": True}
    assert asyncio.run(pieces(llm)) == ["one two three four"], "a cached reply is one piece"
    reply = asyncio.run(llm.complete(WORDS))
    assert isinstance(reply, Completion) and reply.cached
    assert len(server.arrivals) == 1
    assert (llm.ledger.calls, llm.ledger.cached, llm.ledger.prompt_tokens) == (3, 2, 7)


def test_pieces_come_before_the_reply_is_complete(server: ScriptedServer, ask: MakeLLM):
    server.default = served.stream(PIECES, pause=0.4)

    async def first() -> float:
        began = time.monotonic()
        async with aclosing(ask().stream(WORDS)) as stream:
            assert await anext(stream) == "one "
            return time.monotonic() - began

    assert asyncio.run(first()) < 1.5


BEFORE_THE_FIRST_PIECE: dict[str, Behaviour] = {
    "500": served.status(500),
    "cut": served.stream([], None),
    "a page": served.page(),
    "no stream": served.body("{}"),
    "silence": served.silence,
    "comments only": served.dribble_stream,
    "hang up": served.hang_up,
}


@pytest.mark.parametrize("name", BEFORE_THE_FIRST_PIECE)
def test_what_fails_before_the_first_piece_is_tried_again(server: ScriptedServer, ask: MakeLLM, name: str):
    server.script([BEFORE_THE_FIRST_PIECE[name]])
    assert asyncio.run(pieces(ask(timeout=0.4))) == PIECES
    assert len(server.arrivals) == 2


@pytest.mark.parametrize("cut", [served.stream(["one ", "two "], None)])
def test_what_breaks_off_later_is_not_begun_again(server: ScriptedServer, ask: MakeLLM, tmp_path: Path, cut: Behaviour):
    server.script([cut])
    llm = ask(cache=tmp_path)
    shown: list[str] = []

    async def read() -> None:
        async for piece in llm.stream(WORDS):
            shown.append(piece)

    with pytest.raises(LLMStreamError, match="broke off after 8 characters"):
        asyncio.run(read())
    assert (shown, len(server.arrivals), llm.ledger.failures) == (["one ", "two "], 1, 1)
    assert asyncio.run(pieces(llm)) == PIECES, "what broke off is not in the cache"


def test_a_service_that_does_not_stream_is_read_all_the_same(server: ScriptedServer, ask: MakeLLM):
    server.default = lambda answering, _: answering.send(200, json.dumps(served.body_of("hello world")))
    llm = ask()
    assert asyncio.run(pieces(llm)) == ["hello world"]
    assert (llm.ledger.failures, llm.ledger.attempts) == (0, 1)


def test_a_stalled_stream_is_left(server: ScriptedServer, ask: MakeLLM):
    server.script([served.stream(["one "] * 3, pause=30.0)])
    with pytest.raises(LLMStreamError, match=r"did not answer within 0\.3 s"):
        asyncio.run(pieces(ask(timeout=0.3)))


def test_a_stream_ends_by_its_deadline(server: ScriptedServer, ask: MakeLLM):
    server.script([served.stream(["one "] * 1000, pause=0.05)])
    with pytest.raises(LLMStreamError, match=r"deadline of 0\.5 s"):
        asyncio.run(pieces(ask(timeout=0.4, deadline=0.5)))


def test_what_cannot_be_had_is_raised(server: ScriptedServer, ask: MakeLLM):
    server.default = served.status(500)
    with pytest.raises(LLMStreamError, match="HTTP 500"):
        asyncio.run(pieces(ask(attempts=2)))
    server.default = served.status(401)
    with pytest.raises(LLMAccessError, match="HTTP 401"):
        asyncio.run(pieces(ask()))


def test_a_stream_that_is_left_early_leaves_nothing_behind(server: ScriptedServer, ask: MakeLLM):
    server.default = served.stream(PIECES * 50, pause=0.05)
    before = set(threading.enumerate())
    llm = ask()

    async def first() -> str:
        async with aclosing(llm.stream(WORDS)) as stream:
            return await anext(stream)

    assert asyncio.run(first()) == "one "
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "vericite-llm"]


def test_a_stream_that_is_cancelled_ends(server: ScriptedServer, ask: MakeLLM):
    server.default = served.silence

    async def go() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await pieces(ask())

    asyncio.run(go())


def test_streams_within_each(ask: MakeLLM):
    llm = ask()

    async def joined(text: str) -> str:
        return "".join(await pieces(llm, ChatRequest.ask(text)))

    assert list(llm.each(["a b", "c d"], joined)) == ["a b", "c d"]


def test_a_reply_is_followed_and_accounted_for_as_a_whole(server: ScriptedServer, ask: MakeLLM, tmp_path: Path):
    llm, seen = ask(cache=tmp_path), list[str]()
    reply = asyncio.run(llm.follow(WORDS, seen.append))
    assert seen == PIECES
    assert isinstance(reply, Completion) and reply.text == "one two three four" and not reply.cached
    again = asyncio.run(llm.follow(WORDS, seen.append))
    assert isinstance(again, Completion) and again.cached and seen[-1] == reply.text
    assert (llm.ledger.calls, llm.ledger.cached) == (2, 1)
    server.default = served.status(500)
    lost = asyncio.run(ask().follow(WORDS, seen.append))
    assert isinstance(lost, CallFailure) and "500" in lost.reason
