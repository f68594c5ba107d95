from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from server import FAST, ScriptedServer

from vericite.llm import LLM

VARIABLES = [
    "VERICITE_KEY_127_0_0_1",
    "VERICITE_LLM_KEY",
    "OPENAI_API_KEY",
    "VERICITE_OFFLINE",
    "VERICITE_CACHE",
    "HTTP_PROXY",
    "http_proxy",
]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def ask(server: ScriptedServer) -> Callable[..., LLM]:
    """A client of the scripted service; settings by name."""

    def make(**settings: object) -> LLM:
        return LLM(server.spec, replace(FAST, **settings))

    return make
