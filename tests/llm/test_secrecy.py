from __future__ import annotations

import asyncio
import html
import json
import logging
import pickle
import socket
import traceback
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import server as served
from hypothesis import given
from hypothesis import strategies as st
from server import FAST, Behaviour, ScriptedServer

from vericite.errors import LLMAccessError
from vericite.llm import LLM, ChatRequest, ModelSpec
from vericite.llm.keys import Key, PieceScrubber

pytest.importorskip("openai", reason="the extra [llm] is not installed")

PLANTED = "sk-planted-0123456789abcdef"
ODD = "sk-planted/0123456789+abc/def=&x=="
HELLO = ChatRequest.ask("hello")
MakeLLM = Callable[..., LLM]


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERICITE_LLM_KEY", PLANTED)


def echo_in_pieces(answering: served.Answering, arrival: served.Arrival) -> None:
    said = f"You sent {arrival.headers['authorization']} to me."
    served.stream([said[at : at + 4] for at in range(0, len(said), 4)])(answering, arrival)


def echo_in_a_broken_head(answering: served.Answering, arrival: served.Arrival) -> None:
    answering.wfile.write(f"HTTP/1.1 {arrival.headers['authorization']}\r\n\r\n".encode())
    answering.cut()


def echo_in_an_event(answering: served.Answering, arrival: served.Arrival) -> None:
    content = 'data: {"error": {"message": "you sent ' + arrival.headers["authorization"] + '"}}\n\n'
    answering.send(200, content, "text/event-stream")


def echo_in_a_broken_event(answering: served.Answering, arrival: served.Arrival) -> None:
    answering.send(200, "data: {" + arrival.headers["authorization"] + "\n\n", "text/event-stream")


def redirect_with_the_key(answering: served.Answering, arrival: served.Arrival) -> None:
    served.status(302, location=f"http://127.0.0.1:9/?key={arrival.headers['authorization'][7:]}")(answering, arrival)


def echo_in_headers(answering: served.Answering, arrival: served.Arrival) -> None:
    key = sent_key(arrival)
    content = json.dumps(served.body_of("fine"))
    answering.send(200, content, **{"x-request-id": key, "x-echo": f"Bearer {key}", "openai-organization": key})


def echo_as_the_finish(answering: served.Answering, arrival: served.Arrival) -> None:
    served.reply("fine", finish=sent_key(arrival))(answering, arrival)


def sent_key(arrival: served.Arrival) -> str:
    return arrival.headers["authorization"].removeprefix("Bearer ")


def escaped_for_json(key: str) -> str:
    return json.dumps(key)[1:-1].replace("/", "\\/")


DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": escaped_for_json,
    "json twice": lambda key: escaped_for_json(escaped_for_json(key)),
    "json numbers": lambda key: "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in key),
    "json numbers for all": lambda key: "".join(f"\\u{ord(c):04X}" for c in key),
    "address": lambda key: quote(key, safe=""),
    "address with slashes": quote,
    "address twice": lambda key: quote(quote(key, safe=""), safe=""),
    "address in lower case": lambda key: "".join(c if c.isalnum() else f"%{ord(c):02x}" for c in key),
    "html": html.escape,
    "html numbers": lambda key: "".join(c if c.isalnum() else f"&#{ord(c)};" for c in key),
    "html hex": lambda key: "".join(c if c.isalnum() else f"&#x{ord(c):02X};" for c in key),
    "base64": lambda key: b64encode(key.encode()).decode(),
    "base64 of more": lambda key: b64encode(f"user:{key}:more".encode()).decode(),
    "base64 of a header": lambda key: urlsafe_b64encode(f"Bearer {key}".encode()).decode(),
}


def echo_raw(form: str, code: int) -> Behaviour:
    """The key in a body that is no chat completion, in whatever form."""

    def behave(answering: served.Answering, arrival: served.Arrival) -> None:
        answering.send(code, f'{{"choices": [], "echo": "{DISGUISES[form](sent_key(arrival))}"}}')

    return behave


def echo_said(form: str) -> Behaviour:
    """The key in the words of a reply, whole or in pieces of a few characters."""

    def behave(answering: served.Answering, arrival: served.Arrival) -> None:
        said = f"<<{DISGUISES[form](sent_key(arrival))}>>"
        if arrival.body.get("stream"):
            served.stream([said[at : at + 5] for at in range(0, len(said), 5)])(answering, arrival)
        else:
            served.reply(said)(answering, arrival)

    return behave


ECHOES: dict[str, Behaviour] = {
    "reply": served.echo_key(200),
    **{str(code): served.echo_key(code) for code in (400, 401, 402, 403, 404, 429, 500)},
    "cut": served.cut_body,
    "silent": served.silence,
    "malformed": lambda answering, arrival: answering.send(200, arrival.headers["authorization"]),
    "a broken head": echo_in_a_broken_head,
    "redirect": redirect_with_the_key,
    "pieces": echo_in_pieces,
    "an event": echo_in_an_event,
    "a broken event": echo_in_a_broken_event,
    "headers": echo_in_headers,
    "finish": echo_as_the_finish,
}
ECHOES |= {f"{form} said": echo_said(form) for form in DISGUISES}
ECHOES |= {f"{form} in {code}": echo_raw(form, code) for form in DISGUISES for code in (200, 400)}


async def both_ways(llm: LLM) -> list[str]:
    """All that is shown of a reply and of a stream, or of the errors instead."""
    shown: list[str] = []
    try:
        shown.append(repr(await llm.complete(HELLO)))
    except Exception as error:
        shown += told(error)
    try:
        async for piece in llm.stream(replace(HELLO, seed=1)):
            shown.append(piece)
    except Exception as error:
        shown += told(error)
    return shown


def told(error: BaseException) -> list[str]:
    assert error.__cause__ is None and error.__context__ is None
    lines = traceback.TracebackException.from_exception(error, capture_locals=True).format()
    return [str(error), repr(error), *lines]


def forms_of(key: str) -> set[str]:
    """All that must not be seen: the key and its parts, however they are written."""
    parts = [form(key) for form in DISGUISES.values()]
    # What base64 makes of the ends depends on what stands around the key.
    return {part[4:-4] for part in parts} | {key[3:]}


@pytest.mark.parametrize("key", [PLANTED, ODD], ids=["plain", "odd"])
@pytest.mark.parametrize("name", ECHOES)
def test_the_key_is_sent_and_is_seen_nowhere(
    server: ScriptedServer,
    ask: MakeLLM,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    key: str,
):
    monkeypatch.setenv("VERICITE_LLM_KEY", key)
    caplog.set_level(logging.DEBUG)
    server.default = ECHOES[name]
    llm = ask(cache=tmp_path, attempts=2, timeout=0.2 if name == "silent" else 5.0)
    shown = asyncio.run(both_ways(llm))
    assert server.arrivals[0].headers["authorization"] == f"Bearer {key}"
    logged = [f"{record.getMessage()} {record.args!r} {record.exc_text} {record.exc_info}" for record in caplog.records]
    assert {record.name.split(".")[0] for record in caplog.records} >= {"openai", "httpcore2"}
    kept = [file.read_bytes().decode("latin-1") for file in tmp_path.iterdir() if file.is_file()]
    objects = [repr(llm), repr(vars(llm)), llm.signature, repr(vars(llm._backend)), str(llm.ledger)]
    for text in [*shown, "".join(shown), *logged, *kept, *objects]:
        assert not [form for form in forms_of(key) if form in text]


@pytest.mark.parametrize("form", DISGUISES)
@pytest.mark.parametrize("key", [PLANTED, ODD], ids=["plain", "odd"])
def test_a_disguised_key_is_struck_out_of_the_middle_of_what_stays(form: str, key: str):
    text = f"50% of \\n this & that <<{DISGUISES[form](key)}>> and \\\\ more"
    scrubbed = Key("KEY", key).scrub(text)
    assert scrubbed.startswith("50% of \\n this & that <<") and scrubbed.endswith(">> and \\\\ more")
    assert "[KEY]" in scrubbed and not [part for part in forms_of(key) if part in scrubbed]


@pytest.mark.parametrize("form", DISGUISES)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_disguised_key_is_struck_out_of_pieces_too(form: str, size: int):
    text = f"50% of \\n this & that <<{DISGUISES[form](ODD)}>> and \\\\ more &"
    scrubber = PieceScrubber(Key("KEY", ODD))
    pieces = [scrubber.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*pieces, scrubber.finish()]) == Key("KEY", ODD).scrub(text)


def test_what_only_looks_like_an_escape_is_not_held_back_for_long():
    scrubber = PieceScrubber(Key("KEY", PLANTED))
    assert [scrubber.feed(piece) for piece in ("50%", " of", " R&D", " and", " C:\\", "temp")] == [
        "50", "% of", " R", "&D and", " C:", "\\temp",
    ]  # fmt: skip


def test_a_refused_connection_does_not_tell_it_either():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    llm = LLM(f"http://127.0.0.1:{port}/v1#m", replace(FAST, attempts=1))
    assert PLANTED not in "".join(asyncio.run(both_ways(llm)))


def test_a_redirect_does_not_take_the_key_elsewhere(server: ScriptedServer, ask: MakeLLM):
    with ScriptedServer() as other:
        server.default = served.status(308, location=f"http://127.0.0.1:{other.port}/v1/chat/completions")
        with pytest.raises(LLMAccessError, match="not followed"):
            asyncio.run(ask().complete(HELLO))
        assert not other.arrivals


@pytest.mark.parametrize("value", ["sk-planted\nX-Evil: 1", "sk-planted-kéy", "sk planted"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer, ask: MakeLLM, value: str
):
    monkeypatch.setenv("VERICITE_LLM_KEY", value)
    with pytest.raises(LLMAccessError, match="VERICITE_LLM_KEY; found others") as caught:
        ask()
    assert "planted" not in str(caught.value)


def test_a_key_has_no_readable_form():
    key = Key.of(ModelSpec.parse("http://127.0.0.1:1/v1#m"))
    assert repr(key) == str(key) == "Key(VERICITE_LLM_KEY, hidden)"
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(TypeError):
        vars(key)


def test_a_word_that_stands_for_no_key_is_not_struck_out():
    assert Key("VERICITE_LLM_KEY", "EMPTY").scrub("the set is EMPTY") == "the set is EMPTY"


@given(st.lists(st.text("sk-planted012ab "), max_size=8), st.integers(0, 8), st.lists(st.integers(1, 9), max_size=12))
def test_pieces_are_scrubbed_wherever_they_are_cut(around: list[str], where: int, sizes: list[int]):
    text = "".join([*around[:where], PLANTED, *around[where:]])
    scrubber = PieceScrubber(Key("KEY", PLANTED))
    pieces, rest = [], text
    for size in sizes:
        pieces.append(scrubber.feed(rest[:size]))
        rest = rest[size:]
    whole = "".join([*pieces, scrubber.feed(rest), scrubber.finish()])
    assert whole == text.replace(PLANTED, "[KEY]")
