"""``vericite bioace score``: every table that labels allow, and what the other rows need."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="the extra [eval] is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples" / "bioace"
COMMAND = ("bioace", "score", f"medaesqa:{EXAMPLES / 'answers.json'}", "--gold", str(EXAMPLES / "nuggets.json"))


def rows(printed) -> dict[tuple[str, str, str | None], dict]:
    return {(row["table"], row["row"], row["system"]): row for row in json.loads(printed.out)}


def test_medaesqa_and_nuggets_fill_every_table_but_the_judged_one(run_cli):
    printed = run_cli(*COMMAND, "--json")
    assert printed.code == 0, printed.err
    found = rows(printed)
    assert found["nuggets (table 1)", "recall", "M4"]["value"] > found["nuggets (table 1)", "recall", "M3"]["value"]
    assert found["sentences (completeness)", "completeness", "M3"]["value"] == 0
    assert found["sentences (completeness)", "harmfulness", "M3"]["value"] == pytest.approx(1 / 3)
    assert found["citations by labels", "support", "M1"]["value"] == 0.75
    assert found["citations by labels", "contradiction", "M3"]["value"] == pytest.approx(2 / 3)
    tau = found["rankings (A1)", "Kendall's tau-b, nugget recall with recall (R+B)", None]
    assert tau["value"] > 0
    assert "--documents" in found["citations by a judge (tables 4, A6)", "P, R, F1", None]["needs"]
    assert "fitted to the answers" in printed.err


def test_with_documents_a_judge_fills_the_rest(run_cli, tmp_path):
    documents = tmp_path / "documents.jsonl"
    texts = {"1100": "Iron supplements lower fatigue in women without anaemia.", "1200": "Statins lower heart attacks."}
    lines = [{"id": pmid, "pmid": pmid, "sections": [{"text": text}]} for pmid, text in texts.items()]
    documents.write_text("\n".join(map(json.dumps, lines)))
    printed = run_cli(*COMMAND, "--documents", str(documents), "--judge", "lexical", "--json")
    table = "citations by a judge (tables 4, A6)"
    found = rows(printed)
    assert (table, "P, R, F1", None) not in found
    assert 0 <= found[table, "R, supporting", None]["value"] <= 1


def test_a_mixture_is_kept_and_taken_again(run_cli, tmp_path):
    kept = tmp_path / "mixture.json"
    assert run_cli(*COMMAND, "--save-mixture", str(kept), "--threshold", "0.6").code == 0
    again = run_cli(*COMMAND, "--mixture", str(kept), "--align", "optimal", "--csv")
    assert again.code == 0
    assert "fitted to the answers" not in again.err
    assert "threshold=0.6" in again.err.replace("\n", "")


def test_gold_without_nuggets_is_refused(run_cli, tmp_path):
    empty = tmp_path / "gold.json"
    empty.write_text("{}")
    printed = run_cli(*COMMAND[:3], "--gold", str(empty))
    assert printed.code == 2
    assert "expected gold" in printed.err


def test_answers_without_labels_say_what_each_row_needs(run_cli, tmp_path):
    answers, gold = tmp_path / "answers.jsonl", tmp_path / "gold.json"
    answers.write_text(
        json.dumps({"id": "q", "answer": "Iron helps [1].", "documents": [{"id": "d", "text": "Iron."}]})
    )
    gold.write_text(json.dumps({"other": ["Iron helps."]}))
    found = rows(run_cli("bioace", "score", str(answers), "--gold", str(gold), "--json"))
    assert all(row["needs"] for row in found.values())


def test_a_classifier_is_trained_and_labels_sentences(run_cli, tmp_path):
    kept = tmp_path / "classifier.json"
    trained = run_cli("bioace", "train-completeness", COMMAND[2], "--out", str(kept))
    assert trained.code == 0 and "14 required" in trained.out
    printed = run_cli(*COMMAND, "--completeness", str(kept), "--json")
    found = rows(printed)
    assert found["sentences by a model against people (table 2)", "F1, weighted", None]["value"] > 0.9
    assert found["rankings by sentences (A2)", "Spearman's rho, completeness", None]["n"] == 4
    assert "trained on 30 of these 30 sentences" in printed.err.replace("\n", " ")


def test_without_a_model_nobody_is_asked_for_labels(run_cli):
    printed = run_cli(*COMMAND, "--completeness", "llm")
    assert printed.code == 2 and "--llm" in printed.err


def test_a_threshold_is_tuned_and_its_front_is_kept(run_cli, tmp_path):
    pytest.importorskip("optuna", reason="the extra [assess] is not installed")
    kept = tmp_path / "mixture.json"
    printed = run_cli(*COMMAND, "--tune", "12", "--save-mixture", str(kept), "--json")
    assert printed.code == 0, printed.err
    assert "tuned on the answers that it scores" in printed.err.replace("\n", " ")
    mixture = json.loads(kept.read_text())
    assert mixture["threshold"] in [point[0] for point in mixture["front"]]
    both = run_cli(*COMMAND, "--tune", "12", "--threshold", "0.4")
    assert both.code == 2 and "Leave one out" in both.err


def test_an_embedder_that_is_none_is_refused(run_cli):
    printed = run_cli(*COMMAND, "--embedder", "mine")
    assert printed.code == 2 and "hf:CHECKPOINT" in printed.err
