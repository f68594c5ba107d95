"""What score, compare and agree say where something that they need is not given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FIRST, SECOND = (str(EXAMPLES / "score" / name) for name in ("first", "second"))
GOLD = str(EXAMPLES / "score" / "gold.jsonl")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["score", str(EXAMPLES / "answers.jsonl"), "-m", "SupportRate"], "vericite check ANSWERS --out"),
        (["score", FIRST, "-m", "RougeL"], "give --gold FILE"),
        (["score", FIRST, "-m", "ModelScore(score='x')"], "scores.jsonl"),
        (["score", FIRST, "-m", "MAUVE"], "features.npz"),
        (["score", FIRST, "-m", "AlceF1"], "it has verdicts, but no question with all"),
        (["compare", FIRST, SECOND, "-m", "RougeL"], "RougeL is undefined for second: it has no gold"),
        (["compare", FIRST, SECOND, "-m", "RougeL", "--json"], "give --gold FILE"),
    ],
)
def test_what_an_undefined_measure_lacks_is_said(run_cli, given, said):
    printed = run_cli(*given)
    assert printed.code == 0
    assert said in printed.err


def test_one_line_tells_all_measures_that_lack_the_same(run_cli):
    printed = run_cli("score", str(EXAMPLES / "answers.jsonl"), "-m", "SupportRate,DanglingRate")
    assert printed.err.startswith("vericite: SupportRate, DanglingRate are undefined for examples: it has no verdicts")
    assert len(printed.err.splitlines()) == 1


def test_a_misspelt_stored_score_is_told_with_those_there_are(run_cli, tmp_path):
    scores = tmp_path / "scores.jsonl"
    scores.write_text(json.dumps({"id": "statins", "scores": {"faithfulness": 0.5}}))
    given = ["score", FIRST, "--with", f"scores={scores}", "-m"]
    assert "expected a stored score out of faithfulness; found 'faithfullness'" in (
        run_cli(*given, "ModelScore(score='faithfullness')").err
    )
    assert run_cli(*given, "ModelScore(score='faithfulness')").err == ""


def test_nothing_is_said_where_there_is_merely_nothing_to_count(run_cli, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"id": "q", "answer": "Yes.", "documents": []}))
    verdicts = tmp_path / "verdicts.jsonl"
    run_cli("check", str(path), "--out", str(verdicts))
    printed = run_cli("score", str(path), "--with", f"verdicts={verdicts}", "-m", "SupportRate")
    assert (printed.code, printed.err, "undefined" in printed.out) == (0, "", True)
    assert run_cli("score", FIRST, SECOND, "--gold", GOLD).err == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["compare", f"a={FIRST}", f"a={SECOND}"], "expected a distinct name for each of 2 systems; found 'a', 'a'"),
        (["score", FIRST, "--with", "verdicts"], "expected --with as in verdicts=verdicts.jsonl; found 'verdicts'"),
        (["score", FIRST, "--with", "verdict=x"], "Did you mean 'verdicts'?"),
        (["score", FIRST, SECOND, "--with", "labels=x"], "expected --with labels with a single system; found 2"),
        (["score", FIRST, *("--with", "labels=x", "--with", "labels=y")], "expected one file with labels"),
        (["score", FIRST, "--set", "drawz=200"], "Did you mean 'draws'?"),
        (["score", FIRST, "--set", "missing=some"], "expected a value that missing can have; found 'some'"),
        (["score", FIRST, "-m", ""], "expected a measure"),
        (["compare", FIRST, SECOND, "-m", " , "], "expected a measure"),
        (["agree", f"{FIRST}/verdicts.jsonl", f"{FIRST}/labels.jsonl", "-m", ""], "expected a measure"),
    ],
)
def test_names_and_measures_that_are_none_are_refused(run_cli, given, said):
    printed = run_cli(*given)
    assert (printed.code, printed.out) == (2, "")
    assert said in printed.err


def test_a_folder_of_ask_is_a_system(run_cli, tmp_path):
    questions = tmp_path / "q.jsonl"
    questions.write_text(json.dumps({"id": "q1", "text": "Do statins lower LDL?"}))
    documents = tmp_path / "documents.jsonl"
    documents.write_text(json.dumps({"id": "d1", "text": "Statins lower LDL cholesterol in adults."}))
    folders = [str(tmp_path / name) for name in ("one", "two")]
    for folder in folders:
        asked = ("ask", "--batch", str(questions), "--corpus", str(documents))
        assert run_cli(*asked, "--save", folder).code == 0
    printed = run_cli("score", folders[0], "-m", "AnsweredRate")
    assert (printed.code, "1.000" in printed.out) == (0, True)
    assert "between one and two" in run_cli("compare", *folders).out
    runs = tmp_path / "one" / "runs.jsonl"
    assert "the input to be different files" in run_cli("score", folders[0], "--out", str(runs)).err


def test_compare_says_of_its_measures_what_it_does(run_cli):
    told = " ".join(run_cli("compare", "--help").out.replace("│", " ").split())
    assert "Default: all measures" not in told
    assert "Default: one measure, the first whose inputs the files have." in told


def test_a_comparison_without_verdicts_says_by_what_it_compares(run_cli, tmp_path):
    answer = {
        "id": "1",
        "question": "Does it help?",
        "answer": "It does [1].",
        "documents": [{"id": "a", "text": "Yes."}],
    }
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(answer) + "\n")
    printed = run_cli("compare", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl"))
    assert printed.code == 0
    assert "not all systems have verdicts: compared by AnsweredRate" in printed.err
