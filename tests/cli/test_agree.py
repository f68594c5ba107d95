"""How far raters agree, and measures rank systems alike, from the command line."""

from __future__ import annotations

import json
import random

import pytest


def lines(path, *records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return str(path)


def rated(path, **raters):
    rows = [
        {"item": str(place), "rater": rater, "label": label}
        for rater, labels in raters.items()
        for place, label in enumerate(labels)
    ]
    return lines(path, *rows)


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


@pytest.mark.parametrize(("systems", "is_told"), [("abc", True), ("abcde", False)])
def test_rankings_of_few_systems_say_why_they_have_no_interval(run_cli, tmp_path, systems, is_told):
    scores = [{"system": it, "measure": name, "value": place} for name in "xy" for place, it in enumerate(systems)]
    path = lines(tmp_path / "s.jsonl", *scores)
    assert ("too few systems for an interval" in run_cli("rankings", path).out) == is_told
    found = json.loads(run_cli("rankings", path, "--json").out)
    assert all((one["low"] is None) == is_told and one["value"] == 1 for one in found)


def test_agreement_and_rankings_are_signed(run_cli, tmp_path):
    path, out = rated(tmp_path / "r.jsonl", human="ssc", judge="sci"), tmp_path / "out.jsonl"
    printed = run_cli("agree", path, "-m", "CohenKappa", "--set", "seed=3", "--out", str(out), "--json")
    (found,) = map(json.loads, out.read_text().splitlines())
    assert found["signature"].endswith("draws=1000,seed=3|raters=human+judge")
    assert json.loads(printed.out) == [found]
    scores = [{"system": name, "measure": measure, "value": 1} for name in "abc" for measure in "xy"]
    ranked = run_cli("rankings", lines(tmp_path / "s.jsonl", *scores), "--json", "--out", str(out))
    assert json.loads(out.read_text().splitlines()[0])["signature"] == json.loads(ranked.out)[0]["signature"]


def test_raters_of_files_of_one_name_stay_apart(run_cli, tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / name).mkdir()
        label = {"sentence": 0, "document": "d", "label": "supports"}
        lines(tmp_path / name / "labels.jsonl", {"id": "q", "citations": [label]})
    printed = run_cli("agree", *(str(tmp_path / name / "labels.jsonl") for name in ("anna", "ben")), "-m", "CohenKappa")
    assert "anna/labels, ben/labels" in printed.out


def test_a_second_label_in_another_file_is_told(run_cli, tmp_path):
    one, two = rated(tmp_path / "1.jsonl", a="ssc", b="ssc"), rated(tmp_path / "2.jsonl", a="c", c="ccc")
    printed = run_cli("agree", one, two, "-m", "CohenKappa", "--reference", "a")
    assert printed.code == 2
    assert "'a' has already labelled '0'" in printed.err
    assert "a, c" in printed.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("KrippendorffAlpha(level='banana')", "expected level of KrippendorffAlpha to be one of 'nominal', 'ordinal'"),
        ("CohenKappa(weights='foo')", "one of 'linear', 'quadratic', None; found 'foo'"),
        ("CohenKappa(weights='linear')", "--set categories=c,s"),
        ("KrippendorffAlpha(level='ordinal')", "--set categories=c,s"),
    ],
)
def test_what_a_coefficient_lacks_is_said(run_cli, tmp_path, given, said):
    printed = run_cli("agree", rated(tmp_path / "r.jsonl", a="ssc", b="scc"), "-m", given)
    assert printed.code == 2
    assert said in printed.err


def test_free_text_is_no_set_of_categories(run_cli, tmp_path):
    texts = [f"because {number}" for number in range(700)]
    printed = run_cli("agree", rated(tmp_path / "r.jsonl", a=texts, b=texts[::-1]))
    assert printed.code == 2
    assert "at most 100 different labels; found 700" in printed.err


def test_statements_of_a_rationale_are_rated_by_their_categories(run_cli, tmp_path):
    kinds = ["CORRECT-EXPLICIT", "INCORRECT-FALSE", "CORRECT-EXPLICIT"]
    human = lines(tmp_path / "human.jsonl", {"id": "q0"}, {"id": "q", "rationale": kinds})
    judge = lines(tmp_path / "judge.jsonl", {"id": "q", "rationale": [kinds[0], kinds[0], kinds[2]]})
    out = tmp_path / "out.jsonl"
    given = ("agree", human, judge, "--reference", "human", "-m", "CategoryF1", "--out", str(out))
    printed = run_cli(*given, "--set", "of=rationale")
    found = {one["name"]: one["value"] for one in map(json.loads, out.read_text().splitlines())}
    assert printed.code == 0
    assert found == {"F1 of CORRECT-EXPLICIT": pytest.approx(0.8), "F1 of INCORRECT-FALSE": 0.0}
    assert "--set of=rationale" in run_cli(*given).err


@pytest.mark.parametrize("terminal", [False, True])
def test_tables_are_whole_in_80_columns(run_cli, monkeypatch, tmp_path, terminal):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("rich.console.Console.is_terminal", terminal)
    path = rated(tmp_path / "r.jsonl", **{f"a-rater-of-long-name-{n}": "sscic" for n in range(4)})
    printed = run_cli("agree", path, "-m", "KrippendorffAlpha").out
    for whole in ("Krippendorff's alpha, nominal", "95% interval", "missing", "[1.000, 1.000]", "almost perfect"):
        assert whole in printed
    names = "CitationCoverage(by='sentence', source='verdicts')", "CitationF1(level='article', average='micro')"
    rows = [{"system": name, "measure": measure, "value": ord(name)} for name in "abcde" for measure in names]
    shown = run_cli("rankings", lines(tmp_path / "s.jsonl", *rows)).out
    assert all(whole in shown for whole in (*names, "systems", "missing", "[1.000, 1.000]"))


def test_rankings_of_many_measures_take_seconds(run_cli, tmp_path):
    chance = random.Random(0)
    rows = [
        {"system": f"s{system}", "measure": f"m{measure}", "value": chance.random()}
        for system in range(30)
        for measure in range(53)
    ]
    printed = run_cli("rankings", lines(tmp_path / "s.jsonl", *rows), "--reference", "m0", "--set", "draws=200")
    assert printed.out.count("Kendall's tau-b") == 52
