"""Fifteen documents of 2,200 characters, and the twenty of an oracle: all reach the model, or the table counts them."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

sys.path.extend(str(Path(__file__).resolve().parents[1] / home) for home in ("experiment", "papers"))

import rehearsal
from entrez_server import Article, EntrezServer
from printed import PAPERS, needs_papers
from rehearsal import Hosts
from test_gguf_header import header
from test_gguf_header import number as whole

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
LENGTH, GOLD, DEPTH, QUESTIONS = 2_200, 20, 15, 2
FILE = """
name: shown
extends: {file}
questions: {{sample: {questions}}}
plan: {{check: {{judge: lexical}}}}
axes:
  model: {{one: {{answer: {{llm: $mistral}}}}}}
  k:
    15: {{search: {{k: 15}}}}
    oracle: {{search: {{corpus: "oracle:pubmed", cleaning: stopwords}}}}
"""


def article(drug: str, pmid: int) -> Article:
    begins, ends = f"What is the effect of {drug} on chronic cough? ", f" This ends article {pmid}."
    filling = f"In {pmid} adults {drug} reduced coughs by a third. " * 60
    return Article(
        str(pmid), f"{drug} for cough", begins + filling[: LENGTH - len(begins) - len(ends) - 1] + "." + ends
    )


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hosts]:
    articles = [
        article(drug, 1000 + 100 * place + number)
        for place, drug in enumerate(rehearsal.DRUGS[:QUESTIONS])
        for number in range(GOLD + 5)
    ]
    assert {len(found.abstract) for found in articles} == {LENGTH}
    hosts, ncbi = Hosts(), EntrezServer(articles)
    with hosts, ncbi:
        for name, value in rehearsal.environment(tmp_path / "cache").items():
            monkeypatch.setenv(name, value)
        rehearsal.redirect(monkeypatch, hosts.port, rehearsal.port_of(ncbi))
        yield hosts


@pytest.fixture
def run(run_cli: Callable[..., Any], tmp_path: Path) -> Callable[..., tuple[Any, Any]]:
    """Runs both cells with a model, and prints their table."""
    pytest.importorskip("rouge_score", reason="the extra [eval] is not installed")
    file, bioasq = tmp_path / "shown.yaml", tmp_path / "bioasq.json"
    file.write_text(FILE.format(file=EXPERIMENTS / "vericite-table2.yaml", questions=QUESTIONS))
    rows = [
        {
            "id": str(place),
            "type": "summary",
            "body": f"What is the effect of {drug} on chronic cough?",
            "documents": [f"http://www.ncbi.nlm.nih.gov/pubmed/{1000 + 100 * place + n}" for n in range(GOLD)],
            "ideal_answer": ["It reduces coughs."],
        }
        for place, drug in enumerate(rehearsal.DRUGS[:QUESTIONS])
    ]
    bioasq.write_text(json.dumps({"questions": rows}))

    def made(model: str, *more: str) -> tuple[Any, Any]:
        folder, given = str(tmp_path / "runs"), ("--set", f"bioasq={bioasq}", "--set", f"mistral={model}")
        return run_cli("run", str(file), "--to", folder, *given, *more), run_cli("table", folder, "--set", "draws=100")

    return made


def shown(hosts: Hosts) -> list[int]:
    """The number of whole documents in each request."""
    texts = ["".join(message["content"] for message in arrival.body["messages"]) for arrival in hosts.arrivals]
    return sorted(len(set(re.findall(r"This ends article (\d+)", text))) for text in texts)


ALL = [DEPTH] * QUESTIONS + [GOLD] * QUESTIONS
SERVICE = "deepinfra:mistralai/Mistral-7B-Instruct-v0.3"


def model_file(folder: Path, context: int) -> str:
    (folder / "model.gguf").write_bytes(header(whole("llama.context_length", context)))
    return f"gguf:{folder / 'model.gguf'}"


@pytest.fixture
def printed(run_cli: Callable[..., Any], tmp_path: Path) -> tuple[str, str]:
    made = run_cli("prompts", "from", str(PAPERS / "vericite.txt"), "--to", str(tmp_path / "printed"))
    assert made.code == 0, made.err
    return "--set", f"prompts={tmp_path / 'printed'}"


@pytest.mark.parametrize("wording", ["ours", pytest.param("printed", marks=needs_papers)])
def test_all_documents_reach_a_service_and_a_model_with_room(
    services: Hosts, run: Callable[..., tuple[Any, Any]], tmp_path: Path, wording: str, request: pytest.FixtureRequest
):
    more = request.getfixturevalue("printed") if wording == "printed" else ()
    for model in (SERVICE, model_file(tmp_path, 32_768)):
        services.arrivals.clear()
        done, table = run(model, *more)
        assert done.code == 0, done.err
        assert shown(services) == ALL
        assert "truncated" not in table.out and "failed" not in table.out


@pytest.mark.parametrize("how", ["a file's limit", "a window in the plan"])
def test_the_table_counts_the_documents_that_were_shown(
    services: Hosts, run: Callable[..., tuple[Any, Any]], tmp_path: Path, how: str
):
    if how == "a window in the plan":
        file = tmp_path / "shown.yaml"
        file.write_text(file.read_text() + "  window: {w: {answer: {window: 8192}}}\n")
    done, table = run(SERVICE if "window" in how else model_file(tmp_path, 8192))
    assert done.code == 0, done.err
    whole_ones = shown(services)
    assert max(whole_ones) < DEPTH
    counts = re.findall(r"the model saw (\d+) of (\d+) documents found, (\d+) of them in part", table.out)
    assert [int(found) for _, found, _ in counts] == [DEPTH * QUESTIONS, GOLD * QUESTIONS]
    # The same ones fit in both cells, so that the second has the replies to the first.
    assert {int(saw) - int(part) for saw, _, part in counts} == {sum(whole_ones)}


@needs_papers
def test_a_printed_prompt_is_never_cut(
    services: Hosts, run: Callable[..., tuple[Any, Any]], printed: tuple[str, str], tmp_path: Path, run_cli: Any
):
    done, table = run(model_file(tmp_path, 8192), *printed)
    assert done.code == 3 and "of 8192 tokens" in done.out
    assert not services.arrivals
    rows = list(csv.DictReader(StringIO(run_cli("table", str(tmp_path / "runs"), "--as", "csv").out)))
    assert {row["value"] for row in rows if row["by"] == "ours"} == {"failed"}
    assert f"{QUESTIONS} of {QUESTIONS} questions failed" in table.out
