"""The examples of streams, with the libraries they are for: ``make test-peers`` installs them."""

from __future__ import annotations

import asyncio
import json
import runpy
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import vericite as vc

EXAMPLES = Path(__file__).parents[2] / "examples/python"
SOURCES = ["Zinc lozenges shortened colds by two days.", "Nausea and a bad taste were frequent."]
TEXT = "Zinc lozenges shortened colds by two days [1]. Nausea was frequent [2]."
PIECES = [f"{word} " for word in TEXT.split(" ")]

pytestmark = pytest.mark.filterwarnings("ignore")  # other libraries' own


class Answering(BaseHTTPRequestHandler):
    """A model server that streams one answer."""

    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for piece in [*PIECES, None]:
            chunk = {
                "id": "c",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": "m",
                "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}] if piece else [],
            }
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def expect_checked(parts: list[Any]) -> None:
    assert [part for part in parts if isinstance(part, str) and part] == PIECES
    found = [(part.claim, part.label) for part in parts if not isinstance(part, str)]
    assert found == [(row["claim"], row["label"]) for row in vc.check(TEXT, SOURCES).rows]


def test_a_stream_of_the_openai_client_is_checked(address: str):
    openai = pytest.importorskip("openai")
    program = runpy.run_path(str(EXAMPLES / "streaming_openai.py"))
    with openai.OpenAI(base_url=address, api_key="none") as client:
        chunks = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}], stream=True)
        expect_checked(list(program["checked"](chunks, SOURCES)))


def test_a_stream_of_langchain_is_checked():
    models = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    program = runpy.run_path(str(EXAMPLES / "streaming_langchain.py"))

    async def collect() -> list[Any]:
        chunks = models.GenericFakeChatModel(messages=iter([TEXT])).astream("?")
        return [part async for part in program["checked"](chunks, SOURCES)]

    parts = asyncio.run(collect())
    assert "".join(part for part in parts if isinstance(part, str)) == TEXT
    found = [(part.claim, part.label) for part in parts if not isinstance(part, str)]
    assert found == [(row["claim"], row["label"]) for row in vc.check(TEXT, SOURCES).rows]
