"""``vericite demonstrations``: build and inspect a pool on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

# The chat service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer, reply

from vericite.cli.demonstrations import demonstrations
from vericite.corpus import demo_questions
from vericite.errors import InputError
from vericite.records import write_jsonl


@pytest.fixture
def run() -> Callable[..., Result]:
    def invoke(*arguments: str | Path) -> Result:
        return CliRunner().invoke(demonstrations, [str(part) for part in arguments])

    return invoke


@pytest.fixture
def questions(tmp_path) -> Path:
    path = tmp_path / "questions.jsonl"
    with path.open("w") as file:
        write_jsonl(demo_questions(), file)
    return path


@pytest.fixture
def pool(questions, tmp_path, run) -> Path:
    path = tmp_path / "pool.jsonl"
    done = run("build", questions, "--to", path, "--corpus", "demo")
    assert done.exit_code == 0, done.output
    return path


def test_a_pool_is_built_without_a_model_and_continued(pool, questions, run):
    found = json.loads(run("info", pool, "--json").stdout)
    assert found["demonstrations"] > 10
    assert (found["with answer"], found["with rationale"]) == (found["demonstrations"], 0)
    before = pool.read_bytes()
    again = run("build", questions, "--to", pool, "--corpus", "demo")
    assert "0 demonstrations made, 60 already done" in again.stdout
    assert pool.read_bytes() == before


def test_reference_answers_serve_as_rationales(questions, tmp_path, run):
    pool = tmp_path / "pool.jsonl"
    assert run("build", questions, "--to", pool, "--corpus", "demo", "--reference").exit_code == 0
    found = [json.loads(line) for line in pool.read_text().splitlines()]
    assert found and all(item["rationale"] == item["answer"] and item["final"] for item in found)
    assert {item["made_by"]["rationale"] for item in found} == {"the reference answer"}
    otherwise = run("build", questions, "--to", pool, "--corpus", "demo")
    assert isinstance(otherwise.exception, InputError) and "Write to another file" in str(otherwise.exception)


def test_demonstrations_that_give_away_questions_are_counted(pool, questions, run):
    found = json.loads(run("info", pool, "--against", questions, "--json").stdout)
    assert found["removed"]["id"] == found["demonstrations"]
    assert found["left"] == 0
    assert pool.with_name("pool.jsonl.vectors.npz").exists()
    told = run("info", pool, "--against", questions)
    assert "demonstrations" in told.stdout and "left " in told.stdout


def test_documents_come_from_a_file_and_missing_ones_are_reported(tmp_path, run):
    documents, questions = tmp_path / "documents.jsonl", tmp_path / "questions.jsonl"
    documents.write_text(json.dumps({"id": "5", "text": "Zinc shortened colds by 2 days in adults."}))
    asked = {
        "question": "Does zinc help?",
        "type": "yesno",
        "exact": [["yes"]],
        "ideal": ["Zinc shortened colds by 2 days."],
    }
    lines = [
        asked | {"id": "a", "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/5"]},
        asked | {"id": "b", "documents": ["6"]},
    ]
    questions.write_text("\n".join(map(json.dumps, lines)))
    done = run("build", questions, "--to", tmp_path / "pool.jsonl", "--corpus", documents)
    assert done.exit_code == 3
    assert "1 demonstrations made" in done.stdout and "1 failed" in done.stdout
    assert "vericite: b: expected gold documents" in done.stderr
    assert json.loads((tmp_path / "pool.jsonl").read_text())["answer"] == "Zinc shortened colds by 2 days [1]."


def test_gold_documents_need_a_corpus(questions, tmp_path, run):
    done = run("build", questions, "--to", tmp_path / "pool.jsonl")
    assert isinstance(done.exception, InputError)
    assert "expected --corpus with the gold documents" in str(done.exception)
    assert not (tmp_path / "pool.jsonl").exists()


def test_a_missing_pool_is_an_error(tmp_path, run):
    assert isinstance(run("info", tmp_path / "none.jsonl").exception, InputError)


def test_a_model_writes_rationales_and_its_cost_is_reported(tmp_path, run):
    questions = tmp_path / "questions.jsonl"
    documents = tmp_path / "documents.jsonl"
    documents.write_text(json.dumps({"id": "5", "text": "Zinc shortened colds by 2 days in adults."}))
    asked = {"id": "a", "question": "Does zinc help?", "type": "yesno", "documents": ["5"], "exact": [["yes"]]}
    questions.write_text(json.dumps(asked))
    said = {"statements": [{"statement": "Zinc shortened colds.", "documents": [1]}]}
    given = ("build", questions, "--to", tmp_path / "pool.jsonl", "--corpus", documents, "--set", "llm.cache=false")
    with ScriptedServer() as server:
        server.script([reply(json.dumps(said)), reply('{"answer": "yes"}')])
        done = run(*given, "--llm", server.spec)
    assert done.exit_code == 0, done.output
    assert "1 demonstrations made" in done.stdout and "2 calls (0 cached, 0 failed)" in done.stdout
    found = json.loads((tmp_path / "pool.jsonl").read_text())
    assert (found["rationale"], found["answer"], found["final"]) == ("Zinc shortened colds [1].", None, "yes")


def test_a_pool_is_made_as_in_evaluation_from_search_results(questions, tmp_path, run):
    pool = tmp_path / "pool.jsonl"
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[:3]))
    with ScriptedServer() as server:
        server.default = reply("They say so [1].\nFINAL ANSWER: A. yes")
        asked = ("build", questions, "--to", pool, "--corpus", "demo", "--llm", server.spec, "--set", "llm.cache=false")
        cheap = ("--set", "search.rerank=none")
        done = run(*asked, *cheap, "--retrieved", "--prompt", "reason-verify-bioasq")
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in pool.read_text().splitlines()]
    assert f"{len(found)} demonstrations made" in done.stdout and found
    assert {item["label"] for item in found} == {"yes"}
    assert all(len(item["documents"]) == 5 for item in found)
    assert all(item["made_by"]["evidence"].startswith("the first 5 of retriever=") for item in found)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--prompt", "reason-verify"], "--llm with --prompt"),
        (["--retrieved"], "--corpus with --retrieved"),
        (["--reference", "--corpus", "demo", "--llm", "openai:gpt-4o-mini"], "--reference without --llm"),
    ],
)
def test_conflicting_options_of_a_build_are_refused(questions, tmp_path, run, options, told):
    done = run("build", questions, "--to", tmp_path / "pool.jsonl", *options)
    assert isinstance(done.exception, InputError) and told in str(done.exception)
