from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import FAST, ScriptedServer

from vericite.llm import LLM


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def llm(server: ScriptedServer) -> LLM:
    return LLM(server.spec, FAST)
