from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import server as served
from server import Behaviour, ScriptedServer

from vericite.llm import LLM, ChatRequest
from vericite.network.access import Key, PieceScrubber

PLANTED = "sk-planted-0123456789abcdef"
ODD = "sk-planted/0123456789+abc/def=&x=="
HELLO = ChatRequest.ask("hello")
MakeLLM = Callable[..., LLM]


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERICITE_KEY_127_0_0_1", PLANTED)


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


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda key: json.dumps(key)[1:-1],
    "json with slashes": escaped_for_json,
    "address": lambda key: quote(key, safe=""),
    "address with slashes": quote,
}


def echo_raw(form: str, code: int) -> Behaviour:
    """The key in a body that is no chat completion, in whatever form."""

    def behave(answering: served.Answering, arrival: served.Arrival) -> None:
        answering.send(code, f'{{"choices": [], "echo": "{FORMS[form](sent_key(arrival))}"}}')

    return behave


def echo_said(form: str) -> Behaviour:
    """The key in the words of a reply, whole or in pieces of a few characters."""

    def behave(answering: served.Answering, arrival: served.Arrival) -> None:
        said = f"<<{FORMS[form](sent_key(arrival))}>>"
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
ECHOES |= {f"{form} said": echo_said(form) for form in FORMS}
ECHOES |= {f"{form} in {code}": echo_raw(form, code) for form in FORMS for code in (200, 400)}


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
    parts = [form(key) for form in FORMS.values()]
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
    monkeypatch.setenv("VERICITE_KEY_127_0_0_1", key)
    caplog.set_level(logging.DEBUG)
    server.default = ECHOES[name]
    llm = ask(cache=tmp_path, attempts=2, timeout=0.2 if name == "silent" else 5.0)
    shown = asyncio.run(both_ways(llm))
    assert server.arrivals[0].headers["authorization"] == f"Bearer {key}"
    logged = [f"{record.getMessage()} {record.args!r} {record.exc_text} {record.exc_info}" for record in caplog.records]
    assert "httpcore2" in {record.name.split(".")[0] for record in caplog.records}
    kept = [file.read_bytes().decode("latin-1") for file in tmp_path.iterdir() if file.is_file()]
    objects = [repr(llm), repr(vars(llm)), llm.signature, repr(vars(llm._backend)), str(llm.ledger)]
    for text in [*shown, "".join(shown), *logged, *kept, *objects]:
        assert not [form for form in forms_of(key) if form in text]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", [PLANTED, ODD], ids=["plain", "odd"])
def test_an_escaped_key_is_struck_out_of_the_middle_of_what_stays(form: str, key: str):
    text = f"50% of \\n this & that <<{FORMS[form](key)}>> and \\\\ more"
    scrubbed = Key("KEY", key).scrub(text)
    assert scrubbed.startswith("50% of \\n this & that <<") and scrubbed.endswith(">> and \\\\ more")
    assert "[KEY]" in scrubbed and not [part for part in forms_of(key) if part in scrubbed]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_an_escaped_key_is_struck_out_of_pieces_too(form: str, size: int):
    text = f"50% of \\n this & that <<{FORMS[form](ODD)}>> and \\\\ more &"
    scrubber = PieceScrubber(Key("KEY", ODD))
    pieces = [scrubber.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*pieces, scrubber.finish()]) == Key("KEY", ODD).scrub(text)


OTHERS = {
    "VERICITE_KEY_LOCALHOST": "sk-of-localhost-0123456789",
    "VERICITE_LLM_KEY": "sk-of-any-host-0123456789",
    "OPENAI_API_KEY": "sk-of-openai-0123456789",
    "OPENROUTER_API_KEY": "sk-of-openrouter-0123456789",
}


def test_a_host_gets_its_own_key_and_no_other(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch):
    for variable, value in OTHERS.items():
        monkeypatch.setenv(variable, value)
    asyncio.run(both_ways(LLM(server.spec, replace(served.FAST))))
    asyncio.run(both_ways(LLM(server.spec.replace("127.0.0.1", "localhost"), replace(served.FAST))))
    sent = [arrival.headers.get("authorization") for arrival in server.arrivals]
    assert sent == [f"Bearer {PLANTED}"] * 2 + [f"Bearer {OTHERS['VERICITE_KEY_LOCALHOST']}"] * 2
    monkeypatch.delenv("VERICITE_KEY_127_0_0_1")
    server.arrivals.clear()
    asyncio.run(both_ways(LLM(server.spec, replace(served.FAST))))
    assert [arrival.headers.get("authorization") for arrival in server.arrivals] == [None] * 2


def test_no_file_of_a_check_holds_the_key(server: ScriptedServer, run_cli, tmp_path: Path, monkeypatch):
    """Verdicts, the report, the cache, the plan and what is printed, where the server repeats the key in its reply."""
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))
    server.default = echo_said("plain")
    documents = [{"id": "a", "text": "Statins lower LDL."}]
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"id": "a", "answer": "Statins lower blood LDL [1].", "documents": documents}) + "\n")
    files = (
        "--out",
        str(tmp_path / "v.jsonl"),
        "--report",
        str(tmp_path / "r.html"),
    )
    printed = run_cli("check", str(answers), "--judge", f"llm:{server.spec}", *files)
    assert server.arrivals[0].headers["authorization"] == f"Bearer {PLANTED}"
    assert "[VERICITE_KEY_127_0_0_1]" in (tmp_path / "v.jsonl").read_text()
    kept = [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    assert len(kept) >= 4
    for text in [*kept, printed.out, printed.err]:
        assert not [form for form in forms_of(PLANTED) if form in text]
