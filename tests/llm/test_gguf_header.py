"""How many tokens a GGUF file says that it takes, read from its header without a model."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from server import ScriptedServer, reply

from vericite.llm import LLM, Settings
from vericite.llm.local import CONTEXT, MOST_CONTEXT, context_of


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def header(*fields: bytes, version: int = 3) -> bytes:
    counts = struct.pack("<QQ", 0, len(fields)) if version > 1 else struct.pack("<II", 0, len(fields))
    return b"GGUF" + struct.pack("<I", version) + counts + b"".join(fields)


def number(name: str, value: int) -> bytes:
    return text(name) + struct.pack("<II", 4, value)


def word(name: str, value: str) -> bytes:
    return text(name) + struct.pack("<I", 8) + text(value)


def array(name: str) -> bytes:
    return text(name) + struct.pack("<IIQ", 9, 4, 0)


LONG = word("general.description", "x" * 70_000)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (header(word("general.architecture", "llama"), number("llama.context_length", 2048)), 2048),
        (header(LONG, number("qwen2.context_length", 4096)), 4096),
        (header(number("llama.context_length", 10_000_000)), MOST_CONTEXT),
        (header(number("llama.context_length", 0)), CONTEXT),
        (header(word("general.architecture", "llama")), CONTEXT),
        (header(array("tokenizer.ggml.tokens"), number("llama.context_length", 2048)), CONTEXT),
        (header(number("llama.context_length", 2048))[:-2], CONTEXT),
        (b"no GGUF file at all", CONTEXT),
        (b"", CONTEXT),
    ],
)
def test_the_limit_is_that_of_the_header_or_the_usual_one(tmp_path: Path, content: bytes, expected: int):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    assert context_of(path) == expected


class Backend:
    """Is never asked."""

    signature = "backend"

    async def aclose(self) -> None:
        pass


def test_a_window_that_is_given_counts_before_the_header(tmp_path: Path):
    path = tmp_path / "model.gguf"
    path.write_bytes(header(number("llama.context_length", 2048)))
    assert LLM(f"gguf:{path}", Settings(cache=None), Backend()).context == 2048
    assert LLM(f"gguf:{path}", Settings(cache=None, context=1024), Backend()).context == 1024


def test_evidence_beyond_the_window_is_cut_and_reported(run_cli, tmp_path: Path):
    words = (
        "ask",
        "Does zinc shorten colds?",
        "--corpus",
        "demo",
        "--k",
        "8",
        "--set",
        "search.rerank=none",
        "--judge",
        "lexical",
    )
    with ScriptedServer() as server:
        server.default = reply("Zinc shortens colds [1].")
        whole = run_cli(*words, "--llm", server.spec)
        cut = run_cli(*words, "--llm", server.spec, "--set", "answer.window=2000")
        none = run_cli(*words, "--llm", server.spec, "--set", "answer.window=600")
        first, second = server.arrivals[:2]
    assert whole.code == cut.code == 0
    assert "Evidence was cut" not in whole.out
    assert "Evidence was cut for want of room: of 8 documents found the model saw" in " ".join(cut.out.split())
    assert len(str(second.body)) < len(str(first.body))
    assert "raise answer.window" in " ".join((none.out + none.err).split())
