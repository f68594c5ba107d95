from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import server as served
from server import ScriptedServer

from vericite.errors import LLMAccessError, LLMError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Reply, Settings
from vericite.llm.client import cache_key

MakeLLM = Callable[..., LLM]


def numbers(count: int) -> Iterator[ChatRequest]:
    return (ChatRequest.ask(str(number)) for number in range(count))


def texts(replies: Iterator[Reply]) -> list[str]:
    return [reply.text for reply in replies if isinstance(reply, Completion)]


def own_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "vericite-llm"]


def answered_up_to(last: int) -> served.Behaviour:
    """Requests begun at the same time may arrive in any order, so they are told apart by what they ask."""

    def behave(answering: served.Answering, arrival: served.Arrival) -> None:
        (served.reply() if int(arrival.question) <= last else served.silence)(answering, arrival)

    return behave


def settled(server: ScriptedServer) -> int:
    """How many requests have come in, once no more do."""
    time.sleep(0.3)
    return len(server.arrivals)


def test_replies_come_in_the_order_of_the_requests(server: ScriptedServer, ask: MakeLLM):
    def slower_first(answering: served.Answering, arrival: served.Arrival) -> None:
        served.reply(after=0.3 / (1 + int(arrival.question)))(answering, arrival)

    server.default = slower_first
    assert texts(ask(concurrency=5).map(numbers(20))) == [str(number) for number in range(20)]
    assert 1 < server.most_at_once <= 5


def test_it_says_how_many_calls_it_makes_at_a_time(ask: MakeLLM, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert ask(concurrency=5).concurrency == 5
    monkeypatch.setitem(sys.modules, "xllamacpp", ModuleType("xllamacpp"))
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    assert LLM(f"gguf:{tmp_path / 'm.gguf'}", Settings(concurrency=5)).concurrency == 1


def test_requests_are_taken_as_they_are_needed(server: ScriptedServer, ask: MakeLLM):
    taken = 0

    def counted() -> Iterator[ChatRequest]:
        nonlocal taken
        for request in numbers(1000):
            taken += 1
            yield request

    replies = ask(concurrency=4).map(counted())
    assert taken == 0
    for wanted in range(3):
        assert next(replies).text == str(wanted)
        assert taken <= wanted + 1 + 8
    replies.close()
    assert settled(server) <= taken


def test_leaving_early_cancels_what_is_under_way_and_leaves_no_thread(server: ScriptedServer, ask: MakeLLM):
    server.default = answered_up_to(0)
    replies = ask(concurrency=4).map(numbers(100))
    assert next(replies).text == "0"
    assert own_threads()
    began = time.monotonic()
    replies.close()
    assert time.monotonic() - began < 20
    assert not own_threads()
    assert settled(server) <= 9


def test_an_error_while_iterating_leaves_no_thread(ask: MakeLLM):
    def broken() -> Iterator[ChatRequest]:
        yield from numbers(2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(ask().map(broken()))
    assert not own_threads()


def test_what_would_meet_every_call_ends_the_iteration(server: ScriptedServer, ask: MakeLLM):
    server.default = served.status(401)
    with pytest.raises(LLMAccessError):
        list(ask(concurrency=3).map(numbers(50)))
    assert len(server.arrivals) <= 6
    assert not own_threads()


def test_one_failure_costs_one_reply(server: ScriptedServer, ask: MakeLLM):
    server.script([served.reply(), served.status(400)])
    replies = list(ask(concurrency=1).map(numbers(4)))
    assert [isinstance(reply, CallFailure) for reply in replies] == [False, True, False, False]


def test_many_can_be_asked_from_a_thread_that_runs_a_loop_as_a_notebook_does(ask: MakeLLM):
    async def cell() -> list[str]:
        return texts(ask().map(numbers(5)))

    assert asyncio.run(cell()) == [str(number) for number in range(5)]


def test_each_runs_what_it_is_given_on_the_loop_of_the_model(ask: MakeLLM):
    llm = ask(concurrency=3)

    async def twice(word: str) -> tuple[str, str]:
        one = await llm.complete(ChatRequest.ask(word))
        other = await llm.complete(ChatRequest.ask(f"{word} again"))
        return texts(iter([one]))[0], texts(iter([other]))[0]

    with llm:
        assert list(llm.each(["a", "b"], twice)) == [("a", "a again"), ("b", "b again")]
        assert own_threads(), "within the block connections are kept"
    assert not own_threads()


def test_map_within_each_is_refused_instead_of_waiting_for_itself(ask: MakeLLM):
    llm = ask()

    async def nested(_: int) -> list[Reply]:
        return list(llm.map(numbers(2)))

    with pytest.raises(LLMError, match="found one inside"):
        list(llm.each([1], nested))


def test_a_model_can_be_asked_from_several_loops_and_threads_at_once(ask: MakeLLM):
    llm = ask(concurrency=4)
    found: list[str] = []

    def work(name: int) -> None:
        async def several() -> list[Reply]:
            return list(await asyncio.gather(*(llm.complete(ChatRequest.ask(f"{name} {n}")) for n in range(3))))

        found.extend(texts(iter(asyncio.run(several()))))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [f"{name} {n}" for name in range(4) for n in range(3)]
    assert not own_threads()


def test_a_call_that_is_cancelled_ends(server: ScriptedServer, ask: MakeLLM):
    server.default = served.silence

    async def go() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask().complete(ChatRequest.ask("x")), 0.3)

    asyncio.run(go())
    assert not own_threads()


def test_an_async_block_keeps_and_ends_the_connections(ask: MakeLLM):
    async def go() -> str:
        async with ask() as llm:
            return texts(iter([await llm.complete(ChatRequest.ask("x"))]))[0]

    assert asyncio.run(go()) == "x"
    assert not own_threads()


def test_the_same_request_in_flight_is_asked_once(server: ScriptedServer, ask: MakeLLM, tmp_path: Path):
    server.default = served.reply(after=0.3)
    llm = ask(cache=tmp_path)
    replies = list(llm.map(ChatRequest.ask("same") for _ in range(8)))
    assert texts(iter(replies)) == ["same"] * 8
    assert len(server.arrivals) == 1
    assert sorted(reply.cached for reply in replies) == [False] + [True] * 7
    assert (llm.ledger.calls, llm.ledger.cached, llm.ledger.prompt_tokens) == (8, 7, 7)


def test_a_failure_of_the_request_in_flight_is_everybodys_and_is_not_kept(
    server: ScriptedServer, ask: MakeLLM, tmp_path: Path
):
    server.script([lambda answering, arrival: (answering.wait(0.2), served.status(400)(answering, arrival))[1]])
    llm = ask(cache=tmp_path)
    assert all(isinstance(reply, CallFailure) for reply in llm.map(ChatRequest.ask("same") for _ in range(4)))
    assert texts(llm.map([ChatRequest.ask("same")])) == ["same"]
    assert len(server.arrivals) == 2


def test_who_joins_a_request_does_not_lose_it_when_the_first_one_leaves(
    server: ScriptedServer, ask: MakeLLM, tmp_path: Path
):
    server.default = served.reply(after=0.4)
    llm = ask(cache=tmp_path)

    async def go() -> tuple[Reply, int]:
        request = ChatRequest.ask("same")
        async with llm:
            first = asyncio.create_task(llm.complete(request))
            await asyncio.sleep(0.15)
            second = asyncio.create_task(llm.complete(request))
            await asyncio.sleep(0.05)
            first.cancel()
            await asyncio.wait([first])
            return await second, len(server.arrivals)

    reply, arrivals = asyncio.run(go())
    assert isinstance(reply, Completion) and arrivals == 1


def test_a_request_that_everybody_left_can_be_asked_again(server: ScriptedServer, ask: MakeLLM, tmp_path: Path):
    server.script([served.silence])
    llm = ask(cache=tmp_path)

    async def go() -> Reply:
        request = ChatRequest.ask("same")
        async with llm:
            first = asyncio.create_task(llm.complete(request))
            await asyncio.sleep(0.15)
            first.cancel()
            await asyncio.sleep(0.15)
            return await llm.complete(request)

    assert isinstance(asyncio.run(go()), Completion)


SCRIPT = """
    import sys
    from pathlib import Path
    from vericite.llm import LLM, ChatRequest, Settings

    spec, folder = sys.argv[1:]
    llm = LLM(spec, Settings(cache=Path(folder), concurrency=4))
    for reply in llm.map(ChatRequest.ask(str(number)) for number in range(40)):
        print(reply.text, flush=True)
    print(llm.ledger, flush=True)
"""


def kept(spec: str, file: Path) -> set[str]:
    """The questions that the cache has replies to."""
    with sqlite3.connect(file) as connection:
        rows = {key for (key,) in connection.execute("SELECT key FROM reply")}
    connection.close()
    return {request.messages[0].text for request in numbers(40) if cache_key(spec, request) in rows}


def test_a_killed_run_is_taken_up_again_without_asking_twice(server: ScriptedServer, tmp_path: Path):
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT))
    server.default = served.reply(after=0.04)
    command = [sys.executable, str(script), server.spec, str(tmp_path / "replies")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    while len(server.arrivals) < 18:
        assert child.poll() is None
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    completed = kept(server.spec, tmp_path / "replies" / "llm.sqlite")
    got = child.stdout.read().split()
    child.stdout.close()
    before = settled(server)
    assert set(got) <= completed, "a reply is on disk before it is handed out"
    assert before - 4 <= len(completed) <= before < 40, "all is on disk but for what was in flight"
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout.split()[:40] == [str(number) for number in range(40)]
    asked = Counter(server.questions[before:])
    assert asked == Counter({str(number) for number in range(40)} - completed), "exactly the others are asked"


def test_ctrl_c_ends_a_run_soon_and_quietly(server: ScriptedServer, tmp_path: Path):
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT))
    server.default = answered_up_to(2)
    command = [sys.executable, str(script), server.spec, str(tmp_path / "replies")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert [child.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
    child.send_signal(signal.SIGINT)
    out, trace = child.communicate(timeout=10)
    assert out == ""
    assert trace.strip().endswith("KeyboardInterrupt")
    assert "never retrieved" not in trace and "was destroyed" not in trace
