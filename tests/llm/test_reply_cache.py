from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import pytest
import server as served
from hypothesis import given, settings
from hypothesis import strategies as st
from server import ScriptedServer

from vericite.disk.store import RowStore
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, FrozenSchema, Message
from vericite.llm.chat import Alternative
from vericite.llm.client import Cache, Kept, cache_key

MakeLLM = Callable[..., LLM]
HELLO = ChatRequest.ask("hello")
KEPT = Kept("text", "stop", 3, 4)


def with_store(monkeypatch: pytest.MonkeyPatch, **changed: float) -> None:
    monkeypatch.setattr("vericite.llm.client.RowStore", partial(RowStore, **changed))


def complete(llm: LLM, request: ChatRequest = HELLO) -> Completion:
    reply = asyncio.run(llm.complete(request))
    assert isinstance(reply, Completion)
    return reply


def test_what_was_asked_once_is_not_asked_again(server: ScriptedServer, ask: MakeLLM, tmp_path: Path):
    first = complete(ask(cache=tmp_path))
    llm = ask(cache=tmp_path)
    again = complete(llm)
    assert (first.cached, again.cached, again.text, again.attempts) == (False, True, "hello", 0)
    assert again.usage == (7, 3, 0.0)
    assert len(server.arrivals) == 1
    assert (llm.ledger.attempts, llm.ledger.cost) == (0, 0.0)


def test_without_a_cache_everything_is_asked(server: ScriptedServer, ask: MakeLLM):
    llm = ask(cache=None)
    assert len(list(llm.map([HELLO] * 3))) == 3
    assert len(server.arrivals) == 3


def test_failures_are_not_kept(server: ScriptedServer, ask: MakeLLM, tmp_path: Path):
    server.script([served.status(400)])
    llm = ask(cache=tmp_path)
    assert isinstance(asyncio.run(llm.complete(HELLO)), CallFailure)
    assert not complete(llm).cached


def test_every_field_of_a_request_and_the_model_make_its_place():
    others = {
        "messages": (Message("system", "hello"),),
        "max_tokens": 1,
        "temperature": 0.1,
        "top_p": 0.1,
        "seed": 0,
        "stop": ("x",),
        "schema": FrozenSchema.of({}),
        "grammar": "root ::= [a]",
        "alternatives": 5,
    }
    assert set(others) == {field.name for field in fields(ChatRequest)}
    keys = [cache_key("m", replace(HELLO, **{name: value})) for name, value in others.items()]
    keys += [cache_key("m", HELLO), cache_key("other", HELLO)]
    assert len(set(keys)) == len(keys)
    assert cache_key("m", replace(HELLO, temperature=0)) == cache_key("m", replace(HELLO, temperature=0.0))


@settings(max_examples=25)
@given(text=st.text(), finish=st.one_of(st.none(), st.text()), tokens=st.integers(0, 2**40))
def test_what_is_kept_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str, finish: str | None, tokens: int):
    cache = Cache(tmp_path_factory.mktemp("kept") / "llm.sqlite")
    cache.put("a", Kept(text, finish, tokens, 1))
    listed = (Alternative(text, -0.5), Alternative("b", -2.0))
    cache.put("c", Kept(text, finish, tokens, 1, (), listed))
    cache.close()
    assert cache.get("a") == Kept(text, finish, tokens, 1)
    assert cache.get("c") == Kept(text, finish, tokens, 1, (), listed)
    assert cache.get("b") is None
    cache.close()


def test_only_its_owner_can_read_it(tmp_path: Path):
    cache = Cache(tmp_path / "new" / "llm.sqlite")
    cache.put("a", KEPT)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    for file in (tmp_path / "new").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    cache.close()


def test_two_processes_share_it(tmp_path: Path):
    one, other = Cache(tmp_path / "llm.sqlite"), Cache(tmp_path / "llm.sqlite")
    for number in range(20):
        one.put(f"one {number}", KEPT)
        other.put(f"other {number}", KEPT)
    assert other.get("one 19") == one.get("other 19") == KEPT
    one.close()
    other.close()


def test_many_may_make_it_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caches = [Cache(tmp_path / "llm.sqlite") for _ in range(12)]
    ready = threading.Barrier(len(caches))

    def write(number: int) -> None:
        ready.wait()
        for row in range(5):
            caches[number].put(f"{number} {row}", KEPT)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(caches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not caplog.records
    assert all(caches[0].get(f"{number} {row}") for number in range(len(caches)) for row in range(5))
    for cache in caches:
        cache.close()


def damaged(file: Path) -> None:
    file.write_bytes(b"this is no database at all, whatever its name says" * 50)


def torn(file: Path) -> None:
    cache = Cache(file)
    for number in range(2000):
        cache.put(str(number), KEPT)
    cache.close()
    content = bytearray(file.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    file.write_bytes(content)


def foreign(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def a_folder(file: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize("damage", [damaged, torn, foreign, a_folder])
def test_a_file_that_cannot_be_used_costs_a_warning_and_not_the_run(
    server: ScriptedServer,
    ask: MakeLLM,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
):
    file = tmp_path / "llm.sqlite"
    damage(file)
    content = file.read_bytes() if file.is_file() else None
    llm = ask(cache=tmp_path)
    assert len(list(llm.map(ChatRequest.ask(str(number)) for number in range(5)))) == 5
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert str(file) in caplog.text and "set VERICITE_CACHE to another folder" in caplog.text
    if damage in (damaged, foreign):
        assert file.read_bytes() == content, "what is not ours is left alone"


def test_a_folder_that_cannot_be_made_costs_a_warning(ask: MakeLLM, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "file").write_text("in the way")
    assert complete(ask(cache=tmp_path / "file" / "cache")).text == "hello"
    assert "Replies are not kept in this run" in caplog.text


def test_a_locked_file_costs_a_warning(
    ask: MakeLLM, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    with_store(monkeypatch, patience=0.1)
    complete(ask(cache=tmp_path))
    holder = sqlite3.connect(tmp_path / "llm.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert complete(ask(cache=tmp_path), ChatRequest.ask("other")).text == "other"
    finally:
        holder.close()
    assert "locked" in caplog.text


def hold(file: Path, how: str = "IMMEDIATE") -> sqlite3.Connection:
    """Keep everybody else from writing to the file, or from using it at all, until it is closed."""
    holder = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    holder.execute(f"BEGIN {how}")
    return holder


def rows_of(file: Path) -> int:
    with sqlite3.connect(file) as connection:
        (count,) = connection.execute("SELECT count(*) FROM reply").fetchone()
    connection.close()
    return count


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_file_that_is_held_for_a_while_costs_nothing_but_a_wait(
    server: ScriptedServer,
    ask: MakeLLM,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
):
    with_store(monkeypatch, patience=0.1)
    complete(ask(cache=tmp_path))
    server.default = served.reply(after=0.02)
    holder = hold(tmp_path / "llm.sqlite", how)
    release = threading.Timer(0.6, holder.close)
    release.start()
    assert len(list(ask(cache=tmp_path, concurrency=2).map(ChatRequest.ask(str(n)) for n in range(60)))) == 60
    release.join()
    assert rows_of(tmp_path / "llm.sqlite") == 61
    assert not caplog.records
    again = ask(cache=tmp_path)
    assert all(reply.cached for reply in again.map(ChatRequest.ask(str(n)) for n in range(60)))


def test_what_waits_to_be_written_is_found_all_the_same_and_is_bounded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    with_store(monkeypatch, patience=0.05, most_waiting=3)
    cache = Cache(tmp_path / "llm.sqlite")
    cache.put("before", KEPT)
    holder = hold(tmp_path / "llm.sqlite")
    for number in range(5):
        cache.put(str(number), KEPT)
    assert [cache.get(key) for key in ("before", "0", "2")] == [KEPT] * 3, "readers are not kept out"
    assert cache.get("4") is None
    cache.close()
    cache.close()
    assert len(caplog.records) == 1, "once"
    assert "found it locked by another process. 5 replies of this run are not kept" in caplog.text
    holder.close()
    cache.put("after", KEPT)
    cache.close()
    assert rows_of(tmp_path / "llm.sqlite") == 4


def test_a_file_that_is_held_does_not_hold_up_the_loop(
    ask: MakeLLM, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    with_store(monkeypatch, patience=1.0)
    complete(ask(cache=tmp_path))
    holder = hold(tmp_path / "llm.sqlite", "EXCLUSIVE")
    llm = ask(cache=tmp_path)

    async def longest_gap(request: ChatRequest) -> float:
        call = asyncio.create_task(llm.complete(request))
        gaps = []
        while not call.done():
            began = time.monotonic()
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - began)
        assert sum(gaps) > 0.9, "it has waited for the file"
        return max(gaps)

    try:
        assert next(llm.each([ChatRequest.ask("other")], longest_gap)) < 0.5
    finally:
        holder.close()
    assert rows_of(tmp_path / "llm.sqlite") in (1, 2)


def test_a_reply_is_on_disk_before_it_is_handed_out(ask: MakeLLM, tmp_path: Path):
    replies = ask(cache=tmp_path, concurrency=1).map(ChatRequest.ask(str(n)) for n in range(10))
    for number, _ in enumerate(replies):
        assert rows_of(tmp_path / "llm.sqlite") > number


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_a_value_that_was_cut_off_is_asked_again(server: ScriptedServer, ask: MakeLLM, tmp_path: Path, finish: str):
    server.default = served.reply("{", finish=finish)
    llm = ask(cache=tmp_path)
    value = replace(HELLO, schema=FrozenSchema.of({}))
    assert [complete(llm, value).cached for _ in range(2)] == [False, finish == "stop"]
    assert [complete(llm, HELLO).cached for _ in range(2)] == [False, True], "a text may be wanted as short as that"


@pytest.mark.parametrize(
    "value", ["", "{}", "[]", '["text", "stop", 1]', "[1, 2, 3, 4]", '["a", "b", "c", 1]', '["a", "b", 1, 2, 3]']
)
def test_an_invalid_row_is_asked_again(server: ScriptedServer, ask: MakeLLM, tmp_path: Path, value: str):
    llm = ask(cache=tmp_path)
    complete(llm)
    with sqlite3.connect(tmp_path / "llm.sqlite") as connection:
        connection.execute("UPDATE reply SET value = ?, checksum = NULL", (value,))
    connection.close()
    assert not complete(llm).cached
    assert complete(llm).cached


def test_what_is_kept_is_the_reply_and_not_the_request(ask: MakeLLM, server: ScriptedServer, tmp_path: Path):
    server.default = served.reply("a reply")
    complete(ask(cache=tmp_path), ChatRequest.ask("a private question"))
    with sqlite3.connect(tmp_path / "llm.sqlite") as connection:
        rows = connection.execute("SELECT value FROM reply").fetchall()
    connection.close()
    assert [json.loads(value) for (value,) in rows] == [["a reply", "stop", 7, 3]]
