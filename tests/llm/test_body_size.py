from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable

import pytest
import server as served
from server import Answering, Arrival, Behaviour, ScriptedServer, body_of

import vericite.llm.service as carrier
from vericite.errors import LLMStreamError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Reply

MakeLLM = Callable[..., LLM]
SMALL = 20_000
HELLO = ChatRequest.ask("hello")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "MOST_READ", SMALL)


def complete(llm: LLM) -> Reply:
    return asyncio.run(llm.complete(HELLO))


def packed(content: bytes, encoding: str, code: int = 200) -> Behaviour:
    return lambda answering, _: answering.send(code, content, content_encoding=encoding)


def endless(answering: Answering, _: Arrival) -> None:
    answering.send_response(200)
    answering.send_header("content-type", "application/json")
    answering.send_header("content-length", str(10**12))
    answering.end_headers()
    while not answering.server.owner.closing.is_set():
        answering.wfile.write(b" " * 65536)


def endless_stream(answering: Answering, _: Arrival) -> None:
    answering.send_response(200)
    answering.send_header("content-type", "text/event-stream")
    answering.send_header("content-length", str(10**12))
    answering.end_headers()
    while not answering.server.owner.closing.is_set():
        answering.wfile.write(b": no end of a line " * 1000)


BOMB = b" " * 5_000_000
TOO_LONG: dict[str, Behaviour] = {
    "long": served.body("[" + "1, " * SMALL + "1]"),
    "a long error": lambda answering, _: answering.send(500, "x" * (SMALL + 1)),
    "endless": endless,
    "gzip": packed(gzip.compress(BOMB), "gzip"),
    "deflate": packed(zlib.compress(BOMB), "deflate"),
    "an error in gzip": packed(gzip.compress(BOMB), "gzip", 400),
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_response_without_end_is_left(server: ScriptedServer, ask: MakeLLM, name: str):
    server.default = TOO_LONG[name]
    found = complete(ask(timeout=5.0))
    assert isinstance(found, CallFailure)
    assert "expected a response of at most" in found.reason and "found a longer one" in found.reason
    assert len(server.arrivals) == 1
    server.default = served.reply()
    assert isinstance(complete(ask()), Completion)


def test_a_reply_that_does_not_keep_to_its_limit_is_left(server: ScriptedServer, ask: MakeLLM, monkeypatch):
    monkeypatch.setattr(carrier, "MOST_READ", 8 * 2**20)
    reason = "expected a reply of at most 400,000 characters"
    server.default = served.reply("x" * 400_001)
    found = complete(ask())
    assert isinstance(found, CallFailure) and reason in found.reason
    assert found.attempts == 1

    async def read() -> None:
        async for _ in ask().stream(HELLO):
            pass

    server.default = served.stream(["x" * 100_000] * 5)
    with pytest.raises(LLMStreamError, match=reason):
        asyncio.run(read())


def test_a_stream_without_end_is_left(server: ScriptedServer, ask: MakeLLM):
    server.default = endless_stream

    async def read() -> None:
        async for _ in ask(timeout=5.0).stream(HELLO):
            pass

    with pytest.raises(Exception, match="found a longer one"):
        asyncio.run(read())


def test_compression_is_not_asked_for_and_is_read_all_the_same(server: ScriptedServer, ask: MakeLLM):
    content = json.dumps(body_of("hello")).encode()
    for unasked in (packed(gzip.compress(content), "gzip"), packed(zlib.compress(content), "Deflate")):
        server.default = unasked
        found = complete(ask())
        assert isinstance(found, Completion) and found.text == "hello"
    assert server.arrivals[0].headers["accept-encoding"] == "identity"


def test_what_cannot_be_unpacked_within_bounds_is_not_read(server: ScriptedServer, ask: MakeLLM):
    server.default = packed(b"x", "gzip, gzip")
    found = complete(ask())
    assert isinstance(found, CallFailure)
    assert "expected a response without compression, as asked for; found 'gzip, gzip'" in found.reason


def test_what_is_no_compression_at_all_is_tried_again(server: ScriptedServer, ask: MakeLLM):
    server.script([packed(b"no gzip", "gzip")])
    found = complete(ask())
    assert isinstance(found, Completion) and found.attempts == 2
