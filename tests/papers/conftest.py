from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The chat service on loopback is at home with the tests of its client.
sys.path += [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1] / "llm")]

from server import ScriptedServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ("VERICITE_KEY_127_0_0_1", "OPENAI_API_KEY", "VERICITE_OFFLINE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer() as running:
        yield running
