from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from server import FAST

import vericite.models.hf as loading
import vericite.verify.judges.hf as classifier
import vericite.verify.judges.hf as seq2seq
from vericite.errors import InputError
from vericite.llm import LLM, ChatRequest, Completion, RawReply, offline_by_environment

HELLO = ChatRequest.ask("hello")


class Elsewhere:
    signature = "a model elsewhere"

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        self.asked += 1
        return RawReply("hi", "stop", None)

    async def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        self.asked += 1
        yield RawReply("hi", "stop", None)

    async def aclose(self) -> None:
        pass


def complete(llm: LLM, request: ChatRequest = HELLO) -> object:
    return asyncio.run(llm.complete(request))


@pytest.mark.parametrize("remembered", [True, False])
def test_offline_set_later_is_respected_by_a_model_that_was_made_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, remembered: bool
):
    backend = Elsewhere()
    settings = replace(FAST, cache=tmp_path if remembered else None)
    llm = LLM("https://models.example.org/v1#m", settings, backend)
    assert isinstance(complete(llm), Completion)
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    other = ChatRequest.ask("other")
    with pytest.raises(InputError, match="expected a model on this machine"):
        complete(llm, other)
    with pytest.raises(InputError, match="expected a model on this machine"):
        asyncio.run(anext(llm.stream(other)))
    if remembered:
        assert isinstance(complete(llm), Completion), "what is on this machine can be had"
    assert backend.asked == 1
    monkeypatch.setenv("VERICITE_OFFLINE", "0")
    assert isinstance(complete(llm, other), Completion)


def test_a_model_on_this_machine_is_asked_all_the_same(monkeypatch: pytest.MonkeyPatch):
    llm = LLM("http://127.0.0.1:1/v1#m", FAST, Elsewhere())
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    assert isinstance(complete(llm), Completion)


def test_the_variable_has_one_reader():
    for module in (classifier, seq2seq):
        assert module.offline_by_environment is offline_by_environment
    source = Path(loading.__file__).read_text(encoding="utf-8")
    assert "os.environ" not in source
