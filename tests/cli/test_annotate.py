"""``vericite annotate`` as a user types it, from a run to corrected rates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SOURCE = {"id": "d1", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common."}
TEXT = "Zelotrine reduced pain in 40 of 80 adults [1]. Nobody knows the rest of it [1]."
LEXICAL = ("--judge", "lexical")
JUDGED = ("--set", "check.judge=lexical")


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.jsonl"
    lines = [{"id": f"q{n}", "question": "Why?", "answer": TEXT, "documents": [SOURCE]} for n in range(30)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def sample(run_cli, answers: str, tmp_path: Path) -> Path:
    out = tmp_path / "sample.jsonl"
    printed = run_cli("annotate", "sample", answers, "--n", "40", "--out", str(out), *JUDGED)
    assert printed.code == 0, printed.err
    assert "verdict supported, system tmp" in printed.out or "verdict supported" in printed.out
    assert "40 labels estimate a rate near one half within ±0.155" in printed.out
    return out


@pytest.fixture
def labels(sample: Path, tmp_path: Path) -> list[str]:
    units = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]
    paths = []
    for rater, odd in (("ann", 0), ("ben", 4)):
        path = tmp_path / f"{rater}.jsonl"
        given = [
            {
                "item": it["item"],
                "rater": rater,
                "group": it["group"],
                "label": "irrelevant" if n < odd else it["verdict"],
            }
            for n, it in enumerate(units)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in given), encoding="utf-8")
        paths.append(str(path))
    return paths


def test_a_sample_is_judged_as_the_commands_after_it_do(run_cli, answers: str, tmp_path: Path, monkeypatch):
    """`annotate correct` and `report` do not read the project's judge; the sample was drawn by its verdicts."""
    monkeypatch.chdir(tmp_path)
    Path("vericite.toml").write_text('[check]\njudge = "lexical"\n')
    printed = run_cli("annotate", "sample", answers, "--n", "4", "--out", "drawn.jsonl")
    assert printed.code == 0 and "lexical" not in printed.out + printed.err
    (protocol,) = {json.loads(line)["protocol"] for line in Path("drawn.jsonl").read_text().splitlines()}
    assert "lexical" not in protocol


def test_a_page_is_made_of_a_sample(run_cli, sample: Path, tmp_path: Path):
    out = tmp_path / "page.html"
    printed = run_cli("annotate", "page", str(sample), "--out", str(out))
    assert printed.code == 0, printed.err
    assert "40 to label" in printed.out
    assert "<h1>" in out.read_text(encoding="utf-8")


def test_the_scheme_of_a_sample_counts_for_what_is_made_of_it(run_cli, answers: str, tmp_path: Path):
    drawn, page = tmp_path / "drawn.jsonl", tmp_path / "page.html"
    asked = ("annotate", "sample", answers, "--n", "4", "--scheme", "bioace-completeness", "--out", str(drawn))
    assert run_cli(*asked, *JUDGED).code == 0
    assert run_cli("annotate", "page", str(drawn), "--out", str(page)).code == 0
    assert "borderline" in page.read_text(encoding="utf-8")
    units = [json.loads(line) for line in drawn.read_text(encoding="utf-8").splitlines()]
    drawn.write_text("".join(json.dumps({**unit, "scheme": "vericite"}) + "\n" for unit in units), encoding="utf-8")
    refused = run_cli("annotate", "page", str(drawn), "--out", str(page))
    assert refused.code == 2 and "expected citations to label" in refused.err


def test_agreement_is_told_and_what_most_say_is_written(run_cli, sample: Path, labels: list[str], tmp_path: Path):
    out = tmp_path / "most.jsonl"
    printed = run_cli(
        "annotate", "agreement", *labels, "--sample", str(sample), "--out", str(out), "--set", "draws=100"
    )
    assert printed.code == 0, printed.err
    assert "Annotators and judge" in printed.out and "Majority labels" in printed.out
    assert {json.loads(line)["rater"] for line in out.read_text(encoding="utf-8").splitlines()} == {"majority"}
    found = json.loads(run_cli("annotate", "agreement", *labels, "--json", "--set", "draws=100").out)
    assert {one["measure"] for one in found["labels"]} >= {"CohenKappa", "KrippendorffAlpha"}


def test_rates_are_corrected_and_shown_in_a_report(
    run_cli, answers: str, sample: Path, labels: list[str], tmp_path: Path
):
    given = [word for path in labels for word in ("--labels", path)]
    printed = run_cli("annotate", "correct", answers, "--sample", str(sample), *given, *JUDGED)
    assert printed.code == 0, printed.err
    for word in ("automatic", "prediction-powered", "sensitivity", "halve the interval"):
        assert word in printed.out
    found = json.loads(run_cli("annotate", "correct", answers, "--sample", str(sample), *given, *JUDGED, "--json").out)
    assert found[0]["method"] == "automatic" and found[0]["value"] == 0.5
    out = tmp_path / "report.html"
    printed = run_cli("report", answers, "--out", str(out), "--sample", str(sample), *given, *JUDGED)
    assert printed.code == 0, printed.err
    assert "By people" in out.read_text(encoding="utf-8")
    assert run_cli("report", answers, "--out", str(out), *given).code == 2


def test_labels_go_to_a_table_and_back(run_cli, sample: Path, labels: list[str], tmp_path: Path):
    table = tmp_path / "labels.csv"
    assert (
        run_cli("annotate", "convert", *labels, "--sample", str(sample), "--to", "csv", "--out", str(table)).code == 0
    )
    printed = run_cli("annotate", "convert", str(table), "--sample", str(sample))
    assert printed.code == 0, printed.err
    assert len(printed.out.splitlines()) == 80


@pytest.mark.parametrize("bad", ["not json", "{}", '{"item": 3}', "[1]"])
def test_what_is_wrong_is_named(run_cli, sample: Path, tmp_path: Path, bad: str):
    path = tmp_path / "bad.jsonl"
    path.write_text(bad + "\n", encoding="utf-8")
    for command in (("agreement", str(path)), ("page", str(path), "--out", str(tmp_path / "x.html"))):
        printed = run_cli("annotate", *command)
        assert printed.code == 2
        assert "expected" in printed.err and "Traceback" not in printed.err


def test_labels_of_another_sample_are_one_complaint_with_a_count(
    run_cli, answers: str, sample: Path, labels: list[str], tmp_path: Path
):
    other = tmp_path / "other.jsonl"
    lines = [json.loads(line) for line in Path(labels[0]).read_text(encoding="utf-8").splitlines()]
    other.write_text("".join(json.dumps({**line, "item": f"x{line['item']}"}) + "\n" for line in lines), "utf-8")
    given = ["--labels", labels[0], "--labels", str(other)]
    printed = run_cli("annotate", "correct", answers, "--sample", str(sample), *given, *JUDGED)
    assert printed.code == 2
    assert printed.err.count("expected an item of the sample") == 1
    assert "the first of 40 such labels" in printed.err


def test_answers_whose_verdicts_lie_next_to_them_are_not_judged_again_unseen(run_cli, answers: str, tmp_path: Path):
    """Else the labels would correct the rate of the default protocol, and not of the verdicts that were published."""
    verdicts, out = tmp_path / "verdicts.jsonl", tmp_path / "sample.jsonl"
    assert run_cli("check", answers, "--protocol", "vericite", *LEXICAL, "--out", str(verdicts)).code == 0
    page = str(tmp_path / "report.html")
    for command in (
        ("annotate", "sample", answers, "--n", "40", "--out", str(out)),
        ("report", answers, "--out", page),
    ):
        printed = run_cli(*command)
        assert printed.code == 2 and f"give the folder {tmp_path} in place of answers.jsonl" in printed.err
    printed = run_cli("annotate", "sample", str(tmp_path), "--n", "40", "--out", str(out))
    assert printed.code == 0, printed.err
    assert "verdicts by vericite(" in printed.err
    drawn = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {unit["protocol"].partition("(")[0] for unit in drawn} == {"vericite"}


def test_labels_do_not_correct_the_rate_of_another_protocol(
    run_cli, answers: str, sample: Path, labels: list[str], tmp_path: Path
):
    given = [word for path in labels for word in ("--labels", path)]
    other = ("--set", "check.protocol=alce", *JUDGED)
    printed = run_cli("annotate", "correct", answers, "--sample", str(sample), *given, *other)
    assert printed.code == 2
    assert "expected verdicts by the protocol of the sample, default(" in printed.err and "found alce(" in printed.err


def test_answers_without_verdicts_are_not_judged_by_another_protocol_than_the_rest(
    run_cli, answers: str, tmp_path: Path
):
    folder = tmp_path / "system"
    folder.mkdir()
    lines = Path(answers).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "answers.jsonl").write_text("".join(lines[:10]), encoding="utf-8")
    made = ("--protocol", "vericite", *LEXICAL)
    run_cli("check", str(folder / "answers.jsonl"), *made, "--out", str(folder / "verdicts.jsonl"))
    (folder / "answers.jsonl").write_text("".join(lines), encoding="utf-8")
    wanted = ("annotate", "sample", str(folder), "--n", "40", "--out", str(tmp_path / "sample.jsonl"))
    printed = run_cli(*wanted)
    assert printed.code == 2 and "20 answers without verdicts" in printed.err
    assert run_cli(*wanted, "--set", "check.protocol=vericite", *JUDGED).code == 0
