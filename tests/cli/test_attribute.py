from __future__ import annotations

import json
from pathlib import Path

import pytest

from vericite.attribution import ATTRIBUTORS, Attribution
from vericite.corpus.retractions import RetractionReport, learn

DOCUMENTS = (
    {"id": "a", "text": "We measured lipids. Statins lower LDL."},
    {"id": "b", "title": "Colds", "text": "Zinc shortens colds."},
)
TEXT = "Statins lower LDL. Garlic cures gout.\n"
GOOD = {"id": "good", "question": "What lowers LDL?", "answer": TEXT.strip(), "documents": DOCUMENTS}


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def test_a_text_is_cited_from_a_file_of_documents(run_cli, tmp_path):
    text = write(tmp_path / "answer.txt", TEXT.strip())
    printed = run_cli("attribute", text, "--documents", write(tmp_path / "docs.jsonl", *DOCUMENTS))
    assert printed.code == 0
    assert "Statins lower LDL [1]. Garlic cures gout." in printed.out
    assert "2 sentences, 1 without a source, 0 failed" in printed.out
    assert "no source  Garlic cures gout." in printed.out
    listed = printed.out[printed.out.index("Sources\n") :].splitlines()
    assert listed[1].startswith("[1] (no title)") and "Colds" not in printed.out, "only what is cited is listed"


def test_corpus_is_another_name_for_documents_as_in_ask(run_cli, tmp_path):
    text, documents = write(tmp_path / "answer.txt", TEXT.strip()), write(tmp_path / "docs.jsonl", *DOCUMENTS)
    printed = [run_cli("attribute", text, option, documents).out for option in ("--documents", "--corpus")]
    assert printed[0] == printed[1] != ""


def test_answers_are_written_in_the_format_of_check(run_cli, tmp_path):
    out = tmp_path / "cited.jsonl"
    answers = write(tmp_path / "answers.jsonl", GOOD, GOOD | {"id": "other", "answer": "Zinc shortens colds [1]."})
    assert run_cli("attribute", answers, "--out", str(out)).code == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["answer"] for line in lines] == [
        "Statins lower LDL [1]. Garlic cures gout.",
        "Zinc shortens colds [2].",
    ]
    assert lines[0]["question"] == "What lowers LDL?"
    checked = run_cli("check", str(out), "--fail-under", "0.6")
    assert "gate passed: supported 2 of 3" in checked.out
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(("name", "listed"), [("cited.md", "## Sources\n\n- [1]"), ("cited.txt", "Sources\n[1]")])
def test_a_text_is_written_as_text_with_its_sources_and_its_code_as_it_was(run_cli, tmp_path, name: str, listed: str):
    code = "```python\nprint('Zinc shortens colds.', x[1])\n```"
    text = write(tmp_path / "answer.md", f"Statins lower LDL.\n\n{code}\n\nEnd:")
    documents = write(tmp_path / "docs.jsonl", *DOCUMENTS)
    printed = run_cli("attribute", text, "--documents", documents, "--out", str(tmp_path / name))
    assert printed.code == 0, printed.err
    assert "1 sentences" in printed.out
    made = (tmp_path / name).read_text()
    assert made.startswith(f"Statins lower LDL [1].\n\n{code}\n\nEnd:")
    assert listed in made and "{" not in made
    checked = run_cli("check", str(tmp_path / name), "--documents", documents, "--json")
    assert "Zinc shortens colds" not in checked.out.replace(json.dumps(DOCUMENTS[1]["text"]), "")


def test_records_are_not_written_as_text(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", GOOD)
    for command in ("attribute", "repair"):
        printed = run_cli(command, answers, "--out", str(tmp_path / "out.md"))
        assert printed.code == 2 and "out.jsonl" in printed.err
        assert not (tmp_path / "out.md").exists()


def test_json_has_the_scores_of_every_source(run_cli, tmp_path):
    printed = run_cli("attribute", write(tmp_path / "answers.jsonl", GOOD), "--by", "verifier", "--json")
    found = Attribution.model_validate_json(printed.out)
    assert [len(sentence.scores) for sentence in found.sentences] == [2, 2]
    assert found.by.startswith("verifier")
    assert found.answer.text == "Statins lower LDL [1]. Garlic cures gout."


def test_citations_are_kept_on_request(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", GOOD | {"answer": "Statins lower LDL [2]. Zinc shortens colds."})
    assert "LDL [1]. Zinc shortens colds [2]." in run_cli("attribute", answers).out
    assert "LDL [2]. Zinc shortens colds [2]." in run_cli("attribute", answers, "--keep").out


def test_bad_records_only_cost_themselves(run_cli, tmp_path):
    none = {"id": "none", "answer": "Statins lower LDL.", "documents": []}
    answers = write(tmp_path / "answers.jsonl", GOOD, "{broken", {"id": "x"}, none, GOOD | {"id": "last"})
    printed = run_cli("attribute", answers)
    assert printed.code == 2
    assert printed.out.count("Statins lower LDL [1].") == 2
    for line in (2, 3, 4):
        assert f"line {line}" in printed.err
    assert "Give them in the record or with --documents" in printed.err


def test_answers_without_documents_cite_those_of_the_file(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", {"id": "x", "answer": "Zinc shortens colds."}, GOOD)
    printed = run_cli("attribute", answers, "--documents", write(tmp_path / "docs.jsonl", *DOCUMENTS))
    assert printed.code == 0
    assert "Zinc shortens colds [2]." in printed.out


def test_retracted_sources_are_not_cited(run_cli, tmp_path):
    learn([RetractionReport("somebody", {"31452104": ()})])
    documents = ({"id": "31452104", "text": "Statins lower LDL."}, *DOCUMENTS)
    printed = run_cli("attribute", write(tmp_path / "answers.jsonl", GOOD | {"documents": documents}))
    assert "Statins lower LDL [2]. Garlic cures gout." in printed.out


def test_a_text_without_sources_is_refused(run_cli, tmp_path):
    printed = run_cli("attribute", write(tmp_path / "answer.txt", TEXT))
    assert printed.code == 2
    assert "--documents FILE" in printed.err


@pytest.mark.parametrize("by", ["nobody", "head", "llm"])
def test_an_unusable_attributor_is_refused(run_cli, tmp_path, by: str):
    printed = run_cli("attribute", write(tmp_path / "answers.jsonl", GOOD), "--by", by)
    assert printed.code == 2
    assert "expected" in printed.err


def test_missing_weights_are_named(run_cli, tmp_path):
    printed = run_cli("attribute", write(tmp_path / "answers.jsonl", GOOD), "--by", f"head:{tmp_path}")
    assert printed.code == 3
    assert "head.json" in printed.err


def test_the_input_is_not_overwritten(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", GOOD)
    printed = run_cli("attribute", answers, "--out", answers)
    assert printed.code == 2
    assert json.loads(Path(answers).read_text())["id"] == "good"


def test_the_help_names_every_attributor(run_cli):
    printed = run_cli("attribute", "--help").out
    assert all(name in printed for name in ATTRIBUTORS)
