"""``-`` is the standard input wherever a file is read, packed or not, and --format names the columns of each table."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DOCUMENTS = [
    {"id": "d1", "title": "Trial", "text": "Aspirin lowers the risk of stroke in adults."},
    {"id": "d2", "pmid": "20301", "doi": "10.1000/Iron.1", "pmcid": "PMC77", "text": "Iron raises haemoglobin."},
]
ANSWER = {"id": "a1", "answer": "Aspirin lowers the risk of stroke [1].", "documents": [DOCUMENTS[0]]}
QUESTION = {"id": "q1", "question": "Does aspirin lower the risk of stroke?"}
GOLD = {"id": "a1", "ideal": ["Aspirin lowers the risk of stroke."]}
LEXICAL = ("--judge", "lexical")
PLAIN = ("--by", "bm25", "--set", "search.rerank=none")


def jsonl(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.fixture
def piped(run_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def run(content: bytes, *words: str) -> Any:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False))
        return run_cli(*words)

    return run


COMMANDS = {
    "check": (jsonl(ANSWER), ("check", "-", *LEXICAL)),
    "repair": (jsonl(ANSWER), ("repair", "-", *LEXICAL)),
    "attribute": (jsonl(ANSWER), ("attribute", "-", *LEXICAL)),
    "convert": (jsonl(ANSWER), ("convert", "-", "--to", "vericite")),
    "score": (jsonl(ANSWER), ("score", "-", "--gold", "GOLD", "-m", "RougeL", "--set", "draws=100")),
    "gold": (jsonl(GOLD), ("score", "ANSWERS", "--gold", "-", "-m", "RougeL", "--set", "draws=100")),
    "questions": (jsonl(QUESTION), ("search", "--batch", "-", "--corpus", "DOCUMENTS", *PLAIN)),
    "corpus": (jsonl(*DOCUMENTS), ("search", "stroke", "--corpus", "-", *PLAIN)),
    "asked": (jsonl(*DOCUMENTS), ("ask", "Does aspirin lower stroke risk?", "--corpus", "-", *LEXICAL, *PLAIN)),
    "documents": (jsonl(*DOCUMENTS), ("check", "CITING", "--documents", "-", *LEXICAL)),
    "ratings": (
        jsonl(
            *({"item": item, "rater": rater, "label": f"{item < 'j'}"} for item in "ij" for rater in "ab"),
        ),
        ("agree", "-", "--set", "draws=100"),
    ),
    "data set": (
        json.dumps([{"question": "Why?", "docs": [{"text": "Iron helps."}], "output": "Iron helps [1]."}]),
        ("check", "alce:-", *LEXICAL),
    ),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_dash_reads_the_standard_input_and_a_packed_file_is_unpacked(
    piped: Callable[..., Any], tmp_path: Path, name: str, packed: bool
):
    content, words = COMMANDS[name]
    content = content if isinstance(content, bytes) else content.encode()
    beside = {
        "GOLD": jsonl(GOLD),
        "ANSWERS": jsonl(ANSWER),
        "DOCUMENTS": jsonl(*DOCUMENTS),
        "CITING": jsonl({"id": "a", "answer": "Iron raises haemoglobin (PMID: 20301)."}),
    }
    for file, text in beside.items():
        (tmp_path / f"{file}.jsonl.gz").write_bytes(gzip.compress(text) if packed else text)
    named = [str(tmp_path / f"{word}.jsonl.gz") if word in beside else word for word in words]
    printed = piped(gzip.compress(content) if packed else content, *named)
    assert printed.code == 0, printed
    (file := tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(content))
    of_file = [word.replace("-", str(file)) if word in ("-", "alce:-") else word for word in named]
    again = piped(b"", *of_file)
    assert again.code == 0, again
    if name not in ("score", "ratings"):  # These show the name of the file.
        assert again.out == printed.out.replace("stdin", "in")


def test_the_standard_input_is_taken_once(piped: Callable[..., Any]):
    for words in (
        ("check", "-", "--documents", "-"),
        ("ask", "--batch", "-", "--corpus", "-"),
        ("search", "--batch", "-", "--corpus", "-"),
    ):
        printed = piped(jsonl(ANSWER), *words)
        assert printed.code == 2 and "expected - for one file" in printed.err, printed


CSV = "key,reply,sources\na1,Aspirin lowers the risk of stroke.,Aspirin lowers the risk of stroke in adults.\n"
COLUMNS = ("--format", "id=key,answer=reply,contexts=sources")


def _placed(word: str, folder: Path, places: dict[str, str]) -> str:
    name, sign, place = word.rpartition("=")
    return f"{name}{sign}{folder / places[place]}" if place in places else word


@pytest.mark.parametrize(
    "words",
    [
        ("check", "TABLE", *LEXICAL),
        ("repair", "TABLE", *LEXICAL),
        ("attribute", "TABLE", *LEXICAL),
        ("convert", "TABLE", "--to", "vericite"),
        ("score", "TABLE", "--gold", "GOLD", "-m", "RougeL", "--set", "draws=100"),
        (
            "compare",
            "x=TABLE",
            "y=TABLE",
            "--gold",
            "GOLD",
            "-m",
            "RougeL",
            "--set",
            "draws=100",
        ),
        ("report", "TABLE", "--out", "PAGE", "--set", "check.judge=lexical"),
    ],
    ids=lambda words: words[0],
)
def test_columns_are_named_for_every_command_that_reads_answers(
    run_cli: Callable[..., Any], tmp_path: Path, words: tuple[str, ...]
):
    (tmp_path / "TABLE").with_suffix(".csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "GOLD").write_bytes(jsonl(GOLD))
    places = {"TABLE": "TABLE.csv", "GOLD": "GOLD", "PAGE": "page.html"}
    named = [_placed(word, tmp_path, places) for word in words]
    printed = run_cli(*named, *COLUMNS)
    assert printed.code == 0, printed
    wrong = run_cli(*named, "--format", "answer=nowhere")
    assert wrong.code == 2 and "expected a column 'nowhere'" in wrong.err


def test_a_store_is_built_from_the_standard_input_and_has_what_is_cited_by_doi_and_pmc_id(
    piped: Callable[..., Any], tmp_path: Path
):
    pytest.importorskip("lancedb", reason="needs vericite[store]")
    store = str(tmp_path / "store")
    assert "2 added" in piped(gzip.compress(jsonl(*DOCUMENTS), mtime=0), "corpus", "build", "-", "--to", store).out
    assert (
        "1 sources unchanged"
        in piped(gzip.compress(jsonl(*DOCUMENTS), mtime=0), "corpus", "build", "-", "--to", store).out
    )
    citing = jsonl({"id": "a", "markdown": "Iron raises it [x](https://doi.org/10.1000/iron.1). It does (PMC77)."})
    more = jsonl({"id": "b", "markdown": "It [raises](https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77) it."})
    printed = piped(citing + more, "check", "-", "--documents", store, *LEXICAL)
    assert printed.code == 0 and "2 of 2 cited articles are in" in printed.err, printed


def test_progress_of_vectors_is_left_out_where_nothing_is_to_be_said(piped: Callable[..., Any], tmp_path: Path):
    words = ("search", "iron", "--corpus", "-", "--set", "search.rerank=none")
    assert "vectors of" in piped(jsonl(*DOCUMENTS), *words).err
    assert "vectors of" not in piped(jsonl({**DOCUMENTS[0], "text": "Zinc helps."}), *words, "--quiet").err
