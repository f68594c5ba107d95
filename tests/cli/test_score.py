"""Scoring and comparing from the command line, on answers made up so that the truth is known."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from vericite.evaluate.measures.registry import ALL
from vericite.records import CheckedAnswer, Document, Provenance, Summary, Verdict
from vericite.text import parse_answer

EXAMPLES = Path(__file__).parents[2] / "examples" / "score"
SOURCE = Document.from_text("d", "Aspirin prevents strokes.")


def verdicts(path: Path, share: float, questions: int = 421, seed: int = 0) -> Path:
    """A run with four citations an answer, each supported with this chance; one seed draws the same chances."""
    chance = random.Random(seed)
    lines = []
    for number in range(questions):
        parsed = parse_answer(f"q{number}", "Aspirin works [1]. " * 4, [SOURCE])
        labels = ["supported" if chance.random() < share else "irrelevant" for _ in parsed.claims]
        told = tuple(
            Verdict(
                claim=claim.text,
                start=claim.span.start,
                end=claim.span.end,
                markers=(1,),
                documents=("d",),
                label=label,
                native=label,
                protocol="made up",
            )
            for claim, label in zip(parsed.claims, labels, strict=True)
        )
        summary = Summary.of(parsed, told, ())
        checked = CheckedAnswer(id=parsed.id, verdicts=told, summary=summary, provenance=Provenance(version="0"))
        lines.append(checked.model_dump_json())
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def runs(tmp_path):
    return verdicts(tmp_path / "better.jsonl", 0.75), verdicts(tmp_path / "worse.jsonl", 0.70)


def test_the_better_run_is_said_to_be_better_in_one_sentence(run_cli, runs):
    printed = run_cli("compare", *map(str, runs))
    assert printed.code == 0
    (sentence,) = printed.out.splitlines()
    assert sentence.startswith("better supports ")
    assert "points more citations than worse (95 % interval " in sentence
    assert "p < 0.001" in sentence
    assert "n = 421 questions" in sentence


def test_the_same_answers_twice_do_not_differ(run_cli, runs):
    printed = run_cli("compare", str(runs[0]), str(runs[0]))
    assert printed.out == (
        "There is no difference between better (1) and better (2) in supported citations: they score the same on "
        "every question (p = 1, n = 421 questions).\n"
    )


def test_several_measures_are_corrected_for(run_cli, runs):
    printed = run_cli("compare", *map(str, runs), "-m", "SupportRate,IrrelevantRate", "--json")
    found = json.loads(printed.out)
    assert [it["measure"] for it in found] == ["SupportRate", "IrrelevantRate"]
    assert found[0]["p_holm"] == pytest.approx(2 * found[0]["p"])
    assert found[0]["difference"] == pytest.approx(found[0]["values"][0] - found[0]["values"][1])


def test_every_figure_has_its_count_interval_and_signature(run_cli, runs, tmp_path):
    out = tmp_path / "figures.jsonl"
    printed = run_cli("score", *map(str, runs), "-m", "SupportRate", "--out", str(out))
    assert printed.code == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["low"] < first["value"] < first["high"]
    assert (first["system"], second["system"], first["n"], first["missing"]) == ("better", "worse", 421, 0)
    assert "draws=1000" in first["signature"]
    assert "vericite=" in printed.out


def test_a_share_that_is_certain_of_all_keeps_an_interval(run_cli, tmp_path):
    path, out = verdicts(tmp_path / "all.jsonl", 1.0, questions=10), tmp_path / "figures.jsonl"
    run_cli("score", str(path), "-m", "SupportRate", "--out", str(out))
    found = json.loads(out.read_text())
    # Wilson's interval of 10 out of 10: known from tables.
    assert (found["value"], round(found["low"], 4), round(found["high"], 9)) == (1.0, 0.7225, 1.0)


def test_the_examples_are_scored_by_all_that_lies_beside_them(run_cli):
    folders = [str(EXAMPLES / name) for name in ("first", "second")]
    printed = run_cli("score", *folders, "--gold", str(EXAMPLES / "gold.jsonl"), "--by", "specialty")
    assert printed.code == 0
    for expected in ("SupportRate", "CitationF1", "RougeL", "cardiology", "nothing to count here"):
        assert expected in printed.out


def test_a_question_without_an_answer_is_missing_and_no_zero(run_cli, tmp_path):
    out = tmp_path / "figures.jsonl"
    gold = str(EXAMPLES / "gold.jsonl")
    measures = "YesNoAccuracy,AnsweredRate"
    run_cli("score", str(EXAMPLES / "second"), "--gold", gold, "-m", measures, "--out", str(out))
    accuracy, answered = map(json.loads, out.read_text().splitlines())
    assert (accuracy["value"], accuracy["n"], accuracy["missing"]) == (0.5, 2, 1)
    assert (answered["value"], answered["n"], answered["missing"]) == (0.75, 4, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["-m", "Suport"], "expected a measure out of"),
        (["-m", "SupportRate@5"], "without a cutoff"),
        (["-m", "SupportRate(by='month')"], "month"),
        (["-m", "SupportRate(through=1)"], "expected parameters of SupportRate"),
        (["--gold", "nowhere.jsonl"], "expected a readable file"),
        (["--draws", "100", "--out", "nowhere/x.jsonl"], "its folder is not there"),
    ],
)
def test_what_cannot_be_used_says_so(run_cli, given, said):
    printed = run_cli("score", str(EXAMPLES / "first"), *given)
    assert printed.code == 2
    assert said in printed.err


def test_a_bad_line_costs_itself_alone(run_cli, runs):
    text = runs[0].read_text()
    runs[0].write_text("{broken\n" + text)
    printed = run_cli("score", str(runs[0]), "-m", "SupportRate")
    assert printed.code == 2
    assert "421" in printed.out
    assert "line 1" in printed.err


def test_raters_agree_is_told_with_the_word_for_it(run_cli, tmp_path):
    rows = [
        {"item": str(place), "rater": rater, "label": label}
        for rater, labels in {"human": "ssciisc", "judge": "sscicsc"}.items()
        for place, label in enumerate(labels)
    ]
    path = tmp_path / "ratings.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    printed = run_cli("agree", str(path), "--reference", "human")
    assert printed.code == 0
    assert "substantial" in printed.out
    assert "F1 of s" in printed.out


def test_measures_rank_systems_alike(run_cli, tmp_path):
    figures = tmp_path / "figures.jsonl"
    rows = [(system, measure, value) for measure in ("auto", "human") for value, system in enumerate("abcde")]
    figures.write_text(
        "\n".join(json.dumps(dict(zip(("system", "measure", "value"), row, strict=True))) for row in rows)
    )
    printed = run_cli("rankings", str(figures), "--reference", "human")
    assert printed.out.count("1.000") >= 2
    assert "Spearman's rho" in printed.out


def test_every_measure_is_listed_with_what_it_needs(run_cli):
    found = json.loads(run_cli("measures", "--json").out)
    assert len(found) == len(ALL)
    assert all(one["summary"] and one["reads"] for one in found)
    named = {one["name"].partition("(")[0].partition("@")[0] for one in found}
    assert named == set(ALL)
