from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vericite.llm import LLM, Settings

# The service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def llm(server: ScriptedServer) -> Callable[..., LLM]:
    """A client of the scripted service; settings by name."""

    def make(**settings: object) -> LLM:
        chosen = {"cache": None, "backoff": 0.01, "timeout": 5.0, "deadline": 20.0, **settings}
        return LLM(server.spec, Settings(**chosen))

    return make
