"""``vericite ask``: what is printed, kept and refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer, reply

from vericite.cli.show import show_run
from vericite.disk.jobs import MANIFEST
from vericite.pipeline.runs import RUNS

QUESTION = "Does levodopa improve the symptoms of Parkinson's disease?"
OTHER = "Does dexamethasone reduce mortality in patients hospitalised with COVID-19?"
FAST = ("--set", "search.rerank=none", "--set", "search.rewrite=none", "--judge", "lexical")
FEW = str(Path(__file__).parents[2] / "examples" / "formats" / "documents.jsonl")
"""A corpus of three documents, where which are found does not matter."""


def test_two_questions_in_one_folder_have_each_its_own_answer(run_cli, tmp_path: Path):
    folder = tmp_path / "run"
    for question in (QUESTION, OTHER, QUESTION):
        assert run_cli("ask", question, "--corpus", FEW, "--save", str(folder), *FAST).code == 0
    runs = [json.loads(line) for line in (folder / RUNS).read_text().splitlines()]
    assert [run["question"]["text"] for run in runs] == [QUESTION, OTHER]
    assert len({run["question"]["id"] for run in runs}) == 2


def test_a_corpus_file_that_has_changed_is_another_corpus(run_cli, tmp_path: Path):
    corpus, folder = tmp_path / "docs.jsonl", str(tmp_path / "run")
    corpus.write_text(json.dumps({"id": "a", "text": "Levodopa improves the symptoms of Parkinson's disease."}) + "\n")
    asked = ("ask", QUESTION, "--corpus", str(corpus), "--save", folder, *FAST)
    assert run_cli(*asked).code == 0
    with corpus.open("a") as file:
        file.write(json.dumps({"id": "b", "text": "Levodopa does not."}) + "\n")
    printed = run_cli(*asked)
    assert printed.code == 2
    assert "found another corpus_sha256" in printed.err


def test_a_failed_question_is_reported_and_sets_the_exit_code(run_cli, tmp_path: Path):
    batch = tmp_path / "questions.jsonl"
    texts = {"good": QUESTION, "bad": "?"}
    batch.write_text("".join(json.dumps({"id": id, "question": text}) + "\n" for id, text in texts.items()))
    asked = ("ask", "--batch", str(batch), "--llm", "http://127.0.0.1:9/v1#none", "--save", str(tmp_path / "run"))
    printed = run_cli(*asked, *FAST)
    assert printed.code == 3
    assert "2 of 2 questions failed: " in " ".join(printed.err.split())
    assert "0 of 2 questions answered" in printed.out
    assert json.loads((tmp_path / "run" / MANIFEST).read_text())["failed"] == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "answer.seed=1"], "expected --llm with --set answer.seed"),
        (["--set", "answer.select=static"], "expected --llm with --set answer.select"),
        (["--prompt", "biogen"], "expected --llm with --prompt"),
        (["--set", "answer.grammar=on"], "expected --llm with --set answer.grammar"),
        (
            ["--llm", "http://127.0.0.1:9/v1#m", "--rationale", "--set", "answer.grammar=on"],
            "which has a form of its own",
        ),
        (["--set", "answer.contexts=2"], "expected --rationale with --set answer.contexts"),
        (["--llm", "http://127.0.0.1:9/v1#m", "--rationale", "--prompt", "biogen"], "without --prompt"),
        (
            ["--llm", "http://127.0.0.1:9/v1#m", "--set", "answer.select=static"],
            "expected --set answer.pool with --set answer.select",
        ),
    ],
)
def test_options_that_would_change_nothing_are_refused(run_cli, options: list[str], told: str):
    printed = run_cli("ask", QUESTION, *options, *FAST)
    assert printed.code == 2
    assert told in printed.err


def test_cut_off_answers_are_counted_and_shown(run_cli, tmp_path: Path):
    batch = tmp_path / "questions.jsonl"
    batch.write_text("".join(f'{{"id": "q{n}", "question": "Does aspirin prevent stroke {n}?"}}\n' for n in range(2)))
    with ScriptedServer() as server:
        server.default = reply("Aspirin lowers the risk of stroke [1]. And it also low", finish="length")
        asked = ("ask", "--batch", str(batch), "--llm", server.spec, *FAST)
        printed = run_cli(*asked)
        assert "The reply reached max_tokens; its unfinished last sentence is left out." in " ".join(
            printed.out.split()
        )
        assert "2 of 2 answers reached max_tokens, and their unfinished last sentence was removed" in printed.err
        run_cli(*asked, "--save", str(tmp_path / "run"))
    assert json.loads((tmp_path / "run" / MANIFEST).read_text())["cut_off"] == 2


def test_no_documents_are_none_to_answer_from(run_cli):
    assert run_cli("ask", QUESTION, "--k", "0").code == 2


def test_a_failed_run_shows_why(capsys: pytest.CaptureFixture[str]):
    from rich.console import Console

    from vericite.api import ask

    run = ask(QUESTION, ["Levodopa improves the motor symptoms of Parkinson's disease."], judge="lexical")
    answer = run.answer.model_copy(update={"failed": "the reply was empty", "exact": None})
    show_run(Console(width=120), run.model_copy(update={"answer": answer}))
    assert "failed  the reply was empty" in capsys.readouterr().out


def test_json_output_includes_runs_from_before_an_interruption(run_cli, tmp_path: Path):
    batch = tmp_path / "q.jsonl"
    lines = [json.dumps({"id": name, "question": QUESTION}) for name in ("q1", "q2")]
    batch.write_text(lines[0] + "\n")
    kept = ("--corpus", FEW, "--save", str(tmp_path / "kept"), "--json", *FAST)
    for count in (1, 2):
        batch.write_text("\n".join(lines[:count]) + "\n")
        printed = run_cli("ask", "--batch", str(batch), *kept)
        assert printed.code == 0, printed.err
        assert [json.loads(line)["question"]["id"] for line in printed.out.splitlines()] == ["q1", "q2"][:count]
        assert f"0 of {count} questions answered, {count} refused because the sources do not answer" in printed.err


def test_a_closed_book_is_asked_without_documents(run_cli, tmp_path: Path):
    folder = tmp_path / "run"
    with ScriptedServer() as server:
        server.default = reply("Levodopa is the mainstay of treatment. It helps.\nFINAL ANSWER: A. yes")
        asked = ("ask", QUESTION, "--corpus", "none", "--llm", server.spec, "--prompt", "closed-book-bioasq")
        printed = run_cli(*asked, "--save", str(folder), "--set", "llm.cache=false", "--judge", "lexical")
        assert printed.code == 0
        assert "<document>" not in server.questions[0] and "A. yes" in server.questions[0]
    (run,) = [json.loads(line) for line in (folder / RUNS).read_text().splitlines()]
    assert (run["evidence"], run["answer"]["exact"]) == ([], [["yes"]])
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["settings"]["corpus"] == "none" and manifest["settings"]["parts"]["retriever"] == "closed-book"
    assert "retrieval yield" not in printed.err


@pytest.mark.parametrize(("given", "numbers"), [("1-3", [1, 2, 3]), ("1,3", [1, 3]), ("2", None)])
def test_a_rationale_is_judged_against_several_numbers_of_documents(run_cli, tmp_path: Path, given, numbers):
    step = {"question": "Does it?", "quotes": [], "statement": "Levodopa improves the symptoms."}
    said = {"claims": [step], "conclusion": "It does.", "final_answer": "A. yes"}
    with ScriptedServer() as server:
        server.default = reply(json.dumps(said))
        asked = (
            "ask",
            QUESTION,
            "--llm",
            server.spec,
            "--rationale",
            "--set",
            f"answer.contexts={given}",
            "--set",
            "llm.cache=false",
            "--json",
        )
        run = json.loads(run_cli(*asked, *FAST).out)
    assert run["rationale"]["context"] == (numbers or [2])[-1]
    assert [found["context"] for found in run["contexts"]] == (numbers or [])


@pytest.mark.parametrize("given", ["0-3", "3-1", "1,1", "a", "1-", "1-5000"])
def test_invalid_contexts_are_refused(run_cli, given):
    printed = run_cli("ask", QUESTION, "--llm", "ollama:x", "--rationale", "--set", f"answer.contexts={given}")
    assert printed.code == 2 and "answer.contexts" in printed.err


def test_what_is_asked_is_written_in_every_form_that_is_named(run_cli, tmp_path: Path):
    files = [tmp_path / f"answer.{ending}" for ending in ("md", "docx", "html", "ris", "jsonl")]
    named = [part for file in files for part in ("--out", str(file))]
    printed = run_cli("ask", QUESTION, *named, "--save", str(tmp_path / "run"), *FAST)
    assert printed.code == 0, printed.err
    assert all(file.stat().st_size > 100 for file in files)
    assert (tmp_path / "run" / RUNS).read_text() == files[-1].read_text()
    assert f"{files[0]}: 1 answer" in printed.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["answer.pdf"], "expected a file that ends in .md (Markdown)"),
        (["one", "two"], "at most one folder; found"),
        (["a.md", "a.md"], "expected each --out once"),
        (["q.jsonl/a.md"], "is a file, not a folder"),
        (["q.txt.md", "q.jsonl"], "expected --out and the input to be different files"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_anything_is_asked(run_cli, tmp_path, given, told: str):
    batch = tmp_path / "q.jsonl"
    batch.write_text(json.dumps({"question": QUESTION}))
    named = [part for name in given for part in ("--out", str(tmp_path / name))]
    printed = run_cli("ask", "--batch", str(batch), *named, *FAST)
    assert printed.code == 2
    assert told in " ".join(printed.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["q.jsonl"]


def test_a_folder_may_have_a_point_in_its_name(run_cli, tmp_path: Path):
    assert run_cli("ask", QUESTION, "--save", str(tmp_path / "v1.2"), *FAST).code == 0
    assert (tmp_path / "v1.2" / RUNS).exists()


def test_a_batch_is_a_digest_in_which_refusals_are_counted_apart(run_cli, tmp_path: Path):
    batch, out = tmp_path / "q.txt", tmp_path / "digest.md"
    batch.write_text(f"1. {QUESTION}\n\n2. Does colchicine prevent recurrent pericarditis?\n")
    printed = run_cli("ask", "--batch", str(batch), "--out", str(out), "--judge", "lexical")
    assert printed.code == 0, printed.err
    assert f"1. {QUESTION}" in printed.out and "2. Does colchicine" in printed.out
    assert "Quoted word for word" not in printed.out and "--set" not in printed.out
    assert printed.out.rstrip().endswith("1 of 2 questions answered, 1 refused because the sources do not answer")
    assert out.read_text().count("\n# ") == 1 and out.read_text().startswith(f"# {QUESTION}")


def test_refusals_of_a_model_are_no_answers(run_cli, tmp_path: Path):
    batch = tmp_path / "q.txt"
    batch.write_text(f"{QUESTION}\n{OTHER}\n")
    with ScriptedServer() as server:
        server.default = reply("The sources found do not answer this question.")
        printed = run_cli("ask", "--batch", str(batch), "--llm", server.spec, *FAST)
    assert "0 of 2 questions answered, 2 refused" in printed.out
