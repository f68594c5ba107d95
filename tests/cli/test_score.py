"""Scoring and comparing from the command line, on answers made up so that the truth is known."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from pathlib import Path

import pytest

from vericite.evaluate.measures.registry import AGREEMENT, MEASURES, RANKINGS, parse_measure
from vericite.records import CheckedAnswer, Document, Provenance, Summary, Verdict
from vericite.text import parse_answer

ALL = {**MEASURES, **AGREEMENT, **RANKINGS}

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
    sentence, _, signature = printed.out.splitlines()
    assert signature.startswith("signature: ")
    assert "permutations=10000" in json.loads(run_cli("compare", *map(str, runs), "--json").out)[0]["signature"]
    assert sentence.startswith("better supports ")
    assert "points more citations than worse (95 % interval " in sentence
    assert "p < 0.001" in sentence
    assert "n = 421 questions" in sentence


def test_the_same_answers_twice_do_not_differ(run_cli, runs):
    printed = run_cli("compare", str(runs[0]), str(runs[0]))
    assert printed.out.startswith(
        "There is no difference between better (1) and better (2) in supported citations: they score the same on "
        "every question (p = 1, n = 421 questions).\n"
    )


def test_several_measures_are_corrected_for(run_cli, runs):
    printed = run_cli("compare", *map(str, runs), "-m", "SupportRate,IrrelevantRate", "--json")
    found = json.loads(printed.out)
    assert [it["measure"] for it in found] == ["SupportRate", "IrrelevantRate"]
    assert all("draws=1000,seed=0" in it["signature"] for it in found)
    assert found[0]["p_holm"] == pytest.approx(2 * found[0]["p"])
    assert found[0]["difference"] == pytest.approx(found[0]["values"][0] - found[0]["values"][1])


def test_every_figure_has_its_count_interval_and_signature(run_cli, runs, tmp_path):
    out = tmp_path / "figures.jsonl"
    printed = run_cli("score", *map(str, runs), "-m", "SupportRate", "--out", str(out))
    assert printed.code == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["low"] < first["value"] < first["high"]
    assert (first["system"], second["system"], first["n"], first["missing"]) == ("better", "worse", 421, 0)
    assert any(drawn in first["signature"] for drawn in ("interval=", "draws=1000"))
    assert first["signature"].startswith("vericite=")


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
        (["-m", "CategoryMacroF1(classes=3)"], "expected classes of CategoryMacroF1 to be a string; found 3"),
        (["-m", "ModelScore(score=['a'])"], "expected score of ModelScore to be a string"),
        (["--gold", str(EXAMPLES / "gold.jsonl"), "--by", "nosuch"], "specialty"),
        (["--by", "type"], "expected gold with a type"),
        (["--gold", "nowhere.jsonl"], "expected a readable file"),
        (["--set", "draws=100", "--out", f"{__file__}/x.jsonl"], "is a file, not a folder"),
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


def test_figures_are_never_written_over_a_file_that_was_read(run_cli, tmp_path):
    shutil.copytree(EXAMPLES / "first", tmp_path / "ow")
    for name in ("answers.jsonl", "labels.jsonl"):
        before = (tmp_path / "ow" / name).read_text()
        printed = run_cli("score", str(tmp_path / "ow"), "--out", str(tmp_path / "ow" / name))
        assert (printed.code, (tmp_path / "ow" / name).read_text()) == (2, before)
        assert "the input to be different files" in printed.err


def test_verdicts_of_another_judge_are_said_to_be_no_fair_comparison(run_cli, runs, tmp_path):
    other = [json.loads(line) for line in runs[1].read_text().splitlines()]
    for line in other:
        line["provenance"]["protocol"] = "fast(judge=lexical)"
    runs[1].write_text("\n".join(map(json.dumps, other)))
    printed = run_cli("compare", *map(str, runs))
    assert "differ in protocol" in " ".join(printed.out.split())
    (found,) = json.loads(run_cli("compare", *map(str, runs), "--json").out)
    assert "differ in protocol" in found["warning"]
    assert "worse: checked-with=0, protocol=fast(judge=lexical)" in found["signature"]


@pytest.mark.parametrize("terminal", ["", "1"])
def test_nothing_of_a_figure_is_cut_in_80_columns(run_cli, monkeypatch, tmp_path, terminal):
    monkeypatch.setenv("FORCE_COLOR", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("rich.console.Console.is_terminal", bool(terminal))
    name = "a-system-of-a-very-long-name-that-no-narrow-terminal-can-show"
    shutil.copytree(EXAMPLES / "first", tmp_path / name)
    measure = "CitationCoverage(by='sentence', source='verdicts', among='required')"
    places = [str(tmp_path / name), str(EXAMPLES / "second")]
    gold = str(EXAMPLES / "gold.jsonl")
    printed = run_cli("score", *places, "-m", measure, "--gold", gold, "--by", "specialty").out
    assert "…" not in printed
    for whole in (measure, "95% interval", "signature", "cardiology"):
        assert whole in printed
    assert (name in printed) is not bool(terminal)
    rows = [line for line in printed.splitlines() if line.startswith(measure)]
    assert all(line.rstrip().endswith("]") for line in rows)


def test_failures_are_counted_with_their_reasons(run_cli, tmp_path):
    outputs = [{"id": "q1", "failed": "timeout"}, {"id": "q2", "failed": "timeout"}, {"id": "q3", "exact": [["yes"]]}]
    path = tmp_path / "outputs.jsonl"
    path.write_text("\n".join(map(json.dumps, outputs)))
    printed = run_cli("score", f"mine={tmp_path}", "-m", "AnsweredRate")
    assert "mine: 2 questions failed: timeout (2)" in printed.out


def test_a_folder_of_exact_answers_alone_is_scored_and_compared(run_cli, tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(json.dumps({"id": f"q{n}", "type": "yesno", "exact": [["yes"]]}) for n in range(3)))
    for name, answers in (("a-3.1-8b", ["yes", "yes", "no"]), ("a-3.1-70b", ["yes", "yes", "yes"])):
        (tmp_path / name).mkdir()
        lines = [json.dumps({"id": f"q{n}", "exact": [[one]]}) for n, one in enumerate(answers)]
        (tmp_path / name / "outputs.jsonl").write_text("\n".join(lines))
    both = [str(tmp_path / name) for name in ("a-3.1-8b", "a-3.1-70b")]
    scored = run_cli("score", *both, "--gold", str(gold))
    assert scored.code == 0
    for expected in ("YesNoAccuracy", "AnsweredRate", "a-3.1-8b", "a-3.1-70b"):
        assert expected in scored.out
    assert "YesNoAccuracy" in json.loads(run_cli("compare", *both, "--gold", str(gold), "--json").out)[0]["measure"]


def test_a_trec_run_is_scored_by_its_gold(run_cli, tmp_path):
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2.0 my own tag\nq1 Q0 b 2 1.0 my own tag\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0.5\nq1 0 c 101\nq1 0 a 2\n")
    printed = run_cli("score", str(tmp_path / "run.txt"), "--gold", str(tmp_path / "qrels.txt"))
    assert "nDCG" in printed.out
    assert "AnsweredRate" not in printed.out
    assert [f"line {line}" in printed.err for line in (1, 2, 3, 4)] == [False, True, True, True]


def test_lines_that_cannot_be_read_are_named_before_an_error(run_cli, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("{broken\n")
    printed = run_cli("score", str(path))
    assert printed.code == 2
    assert "line 1" in printed.err
    assert "vericite check" not in printed.err


def test_gold_of_other_questions_is_refused(run_cli, tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "elsewhere", "ideal": ["Yes."]}\n')
    printed = run_cli("score", str(EXAMPLES / "first"), "--gold", str(gold))
    assert printed.code == 2
    assert "no common id" in printed.err


def test_labels_of_questions_never_asked_are_told(run_cli, tmp_path):
    shutil.copytree(EXAMPLES / "first", tmp_path / "it")
    with (tmp_path / "it" / "labels.jsonl").open("a") as file:
        file.write('{"id": "misspelt", "correct": [true]}\n')
    printed = run_cli("score", str(tmp_path / "it"), "-m", "AnsweredRate", "--out", str(tmp_path / "out.jsonl"))
    assert printed.code == 2
    assert "misspelt" in printed.err
    assert json.loads((tmp_path / "out.jsonl").read_text())["value"] == 1.0


def test_the_systems_of_a_file_of_many_are_scored_each_on_its_own(run_cli, runs):
    given = ("score", f"medaesqa:{EXAMPLES.parent / 'bioace' / 'answers.json'}", "-m", "CitationSupportRate")
    found = {one["system"]: (one["value"], one["n"]) for one in json.loads(run_cli(*given, "--json").out)}
    assert found == {"M1": (0.75, 2), "M2": (pytest.approx(2 / 3), 2), "M3": (0, 2), "M4": (0.8, 2)}
    named = json.loads(run_cli("score", f"old={given[1]}", *given[2:], "--json").out)
    assert [one["system"] for one in named] == ["old/M1", "old/M2", "old/M3", "old/M4"]
    mixed = json.loads(run_cli(*given, str(runs[0]), "--json").out)
    assert [one["system"] for one in mixed] == [*(f"bioace/M{number}" for number in range(1, 5)), "better"]


def test_two_that_are_named_are_compared_whatever_their_questions_are_called(run_cli, tmp_path):
    ids = ("asthma-M1", "asthma-M2", "copd-M1", "copd-M2")
    for name, words in (("one", "Rest helps."), ("two", "Rest does not help.")):
        rows = [{"id": id, "answer": words, "documents": []} for id in ids]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(json.dumps({"id": id, "ideal": ["Rest helps."]}) for id in ids))
    files = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    (found,) = json.loads(run_cli("compare", *files, "--gold", str(gold), "-m", "RougeL", "--json").out)
    assert (found["first"], found["second"], found["n"]) == ("one", "two", 4)
    # Gold with the ids of the file is of the file as it is.
    (scored,) = json.loads(run_cli("score", files[0], "--gold", str(gold), "-m", "RougeL", "--json").out)
    assert (scored["system"], scored["value"], scored["n"]) == ("one", 1.0, 4)


def test_the_systems_of_a_file_of_many_are_compared_reported_and_drawn_from_each_on_its_own(run_cli, tmp_path):
    many = f"medaesqa:{EXAMPLES.parent / 'bioace' / 'answers.json'}"
    found = json.loads(run_cli("compare", many, "-m", "CitationSupportRate", "--json").out)
    assert [(one["first"], one["second"]) for one in found[:2]] == [("M1", "M2"), ("M1", "M3")]
    assert len(found) == 6 and all(one["n"] == 2 and one["p_holm"] >= one["p"] for one in found)
    shown = tmp_path / "citations.csv"
    assert run_cli("report", many, "--set", "check.judge=lexical", "--out", str(shown)).code == 0
    assert {row["system"] for row in csv.DictReader(shown.read_text(encoding="utf-8").splitlines())} == {
        "M1",
        "M2",
        "M3",
        "M4",
    }
    drawn, texts = tmp_path / "sample.jsonl", tmp_path / "texts.jsonl"
    cited = sorted(set(re.findall(r'"cited_pmid": "?(\d+)', (EXAMPLES.parent / "bioace" / "answers.json").read_text())))
    texts.write_text("".join(json.dumps({"id": id, "text": "Statins lower cholesterol."}) + "\n" for id in cited))
    given = ("--documents", str(texts), "--set", "check.judge=lexical", "--n", "4", "--out", str(drawn))
    assert run_cli("annotate", "sample", many, *given).code == 0
    units = [json.loads(line) for line in drawn.read_text().splitlines()]
    assert {(unit["system"], unit["answer"]) for unit in units} <= {
        (f"M{number}", question) for number in range(1, 5) for question in ("statins", "iron")
    }


def test_one_system_alone_is_compared_with_nothing(run_cli, runs):
    printed = run_cli("compare", str(runs[0]))
    assert printed.code == 2 and "expected two systems to compare; found one" in printed.err


def test_names_of_systems_may_be_given(run_cli, runs):
    printed = run_cli("compare", f"ours={runs[0]}", f"theirs={runs[1]}")
    assert printed.out.startswith("ours supports")
    # A system without a name keeps that of its file.
    assert run_cli("compare", f"ours={runs[0]}", str(runs[1])).out.startswith("ours supports")
    assert run_cli("compare", *(f"ours={run}" for run in runs)).code == 2


def test_a_file_whose_name_has_the_sign_of_names_is_read(run_cli, runs, tmp_path):
    place = tmp_path / "a=b.jsonl"
    shutil.copy(runs[0], place)
    (found,) = json.loads(run_cli("score", str(place), "-m", "SupportRate", "--json").out)
    assert found["system"] == "a=b"


def test_every_measure_is_listed_with_what_it_needs(run_cli):
    found = json.loads(run_cli("measures", "--json").out)
    assert len(found) == len(ALL)
    assert all(one["summary"] and one["reads"] for one in found)
    assert [str(parse_measure(one["name"], ALL)).partition("(")[0].partition("@")[0] for one in found] == list(ALL)
    assert {one["name"]: one["reads"] for one in found}["YesNoAccuracy(refused='missing')"] == [
        "answers or outputs",
        "gold",
    ]
    cuts = [one["cutoff"].removeprefix("with a cutoff: ") for one in found if "cutoff" in one]
    assert [str(parse_measure(text, ALL)) for text in cuts] == [
        *("nDCG@10", "MAP@10", "MRR@10"),
        *("Spearman@10", "Kendall@10", "TauAP@10"),
    ]
