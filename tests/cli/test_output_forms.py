"""How results come out: JSON, CSV, short signatures, source sentences, what each word means, progress, settings."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from vericite.cli import terminal
from vericite.cli.figures import write_records
from vericite.cli.io import count_lines
from vericite.cli.terminal import ProgressLine
from vericite.pipeline.plan import project_settings
from vericite.records import CheckedAnswer, read_jsonl

ROOT = Path(__file__).parents[2]
ANSWERS = str(ROOT / "examples" / "answers.jsonl")
SCORE = [str(ROOT / "examples" / "score" / name) for name in ("first", "second")]
GOLD = str(ROOT / "examples" / "score" / "gold.jsonl")
LEXICAL = ("--judge", "lexical")


def ratings(path: Path) -> str:
    rows = [
        {"item": f"{n}", "rater": rater, "label": f"{n % step}"}
        for n in range(9)
        for rater, step in (("a", 2), ("b", 3))
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def figures(path: Path) -> str:
    rows = [{"system": f"s{n}", "measure": measure, "value": n / 5} for n in range(5) for measure in ("x", "y")]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def labels(path: Path) -> str:
    rows = [
        {"premise": f"Aspirin helped {n} adults.", "claim": f"Aspirin helped {n if n % 3 else n + 1} adults.",
         "label": "supported" if n % 3 else "irrelevant", "group": str(n)} for n in range(40)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def with_figures(folder: Path) -> dict[str, list[str]]:
    """Every command that prints figures."""
    return {
        "check": ["check", ANSWERS, *LEXICAL],
        "score": ["score", *SCORE, "--gold", GOLD, "-m", "SupportRate,RougeL", "--set", "draws=100"],
        "compare": ["compare", *SCORE, "--gold", GOLD, "-m", "SupportRate", "--set", "draws=100"],
        "agree": ["agree", ratings(folder / "ratings.jsonl"), "--set", "draws=100"],
        "rankings": ["rankings", figures(folder / "figures.jsonl"), "--set", "draws=100"],
        "calibrate": ["calibrate", labels(folder / "labels.jsonl"), *LEXICAL],
    }


@pytest.mark.parametrize("name", ["check", "calibrate"])
def test_figures_come_as_json(run_cli, tmp_path: Path, name: str):
    assert json.loads(run_cli(*with_figures(tmp_path)[name], "--json").out)


@pytest.mark.parametrize("name", ["score", "compare", "agree", "rankings"])
def test_figures_are_printed_and_written_in_the_form_of_the_file(run_cli, tmp_path: Path, name: str):
    words = with_figures(tmp_path)[name]
    rows = json.loads(run_cli(*words, "--json").out)
    files = [tmp_path / f"written.{ending}" for ending in ("csv", "json", "jsonl")]
    for file in files:
        assert run_cli(*words, "--out", str(file)).code == 0
    table = list(csv.DictReader(io.StringIO(files[0].read_text(encoding="utf-8"))))
    assert len(table) == len(rows) > 0
    assert json.loads(files[1].read_text(encoding="utf-8")) == rows
    assert [json.loads(line) for line in files[2].read_text(encoding="utf-8").splitlines()] == rows
    first = rows[0]
    name, value = next((name, value) for name, value in first.items() if isinstance(value, str))
    assert table[0][name] == value


def test_the_gate_is_in_the_json(run_cli):
    printed = run_cli("check", ANSWERS, *LEXICAL, "--json", "--fail-under", "0.99")
    found = json.loads(printed.out)
    assert printed.code == 1
    assert found["gate"]["outcome"] == "failed"
    (gate,) = found["gate"]["gates"]
    names = ("supported", "contradicted", "irrelevant", "abstained", "dangling", "uncited")
    assert gate["of"] == sum(found["counts"][name] for name in names)


def test_no_cell_is_a_formula(tmp_path: Path):
    write_records([{"system": "=1+1", "a": {"b": "@x"}, "list": ["-1"], "number": -1.5}], tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines() == [
        "system,a.b,list,number",
        '\'=1+1,\'@x,"[""-1""]",-1.5',
    ]


def test_quiet_leaves_out_what_is_only_good_to_know(run_cli, tmp_path: Path):
    marked = tmp_path / "draft.md"
    marked.write_text(
        "Zinc shortens colds [1].\n\n# References\n\n1. Zinc shortened colds by two days in this trial.\n"
    )
    assert run_cli("check", str(marked), *LEXICAL, "--quiet").err == ""
    assert "read as markdown" in run_cli("check", str(marked), *LEXICAL).err
    assert run_cli("check", ANSWERS, *LEXICAL).err == ""
    (tmp_path / "bad.jsonl").write_text(Path(ANSWERS).read_text() + "no\n")
    assert "line 5" in run_cli("check", str(tmp_path / "bad.jsonl"), *LEXICAL, "-q").err


def test_verdicts_are_kept_with_the_sentences_of_their_sources(run_cli, tmp_path: Path):
    out = tmp_path / "verdicts.jsonl"
    assert run_cli("check", ANSWERS, "--out", str(out)).code == 0
    answers = map(json.loads, Path(ANSWERS).read_text(encoding="utf-8").splitlines())
    seen = 0
    for answer, checked in zip(answers, read_jsonl(CheckedAnswer, out), strict=True):
        texts = {document["id"]: document["text"] for document in answer["documents"]}
        for span in (span for verdict in checked.verdicts for span in verdict.evidence):
            seen += 1
            assert span.text == texts[span.document][span.start : span.end]
    assert seen


def test_signatures_are_short_but_whole_in_json(run_cli):
    words = ("score", *SCORE, "--gold", GOLD, "-m", "SupportRate", "--set", "draws=100")
    short, whole = run_cli(*words).out, run_cli(*words, "--json").out
    assert "(--json shows" in short and "vericite=" not in short
    assert "vericite=" in whole


def test_the_table_says_what_its_words_mean_and_no_others(run_cli):
    printed = run_cli("check", ANSWERS).out
    assert "p: the judge's probability" in printed
    assert "dangling: the marker does not point to a source" in printed
    assert "native:" not in printed
    biogen = [str(ROOT / "examples" / "formats" / name) for name in ("biogen.json", "documents.jsonl")]
    assert "quoted: taken word for word" in run_cli("check", biogen[0], "--documents", biogen[1]).out


def test_progress_has_a_total_and_the_time_left(monkeypatch: pytest.MonkeyPatch, capsys):
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr(terminal.time, "monotonic", lambda: float(next(clock)))
    with ProgressLine("checking", "answers", 1000).running() as progress:
        progress.update(10, "30 citations", ready=100)
        progress.update(1000)
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("vericite: checking: 10 of 1,000 answers, 30 citations, about ")
    assert first.endswith(" min left")
    assert last == "vericite: checking: 1,000 of 1,000 answers"


def test_records_are_counted_without_reading_them(tmp_path: Path):
    assert count_lines(Path(ANSWERS)) == 4
    pretty = tmp_path / "one.json"
    pretty.write_text(json.dumps([{"id": 1}], indent=2))
    assert count_lines(pretty) is None
    assert count_lines(tmp_path / "nowhere") is None


def test_a_projects_settings_are_used_named_and_overridden(run_cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vericite.toml").write_text('[check]\njudge = "lexical"\n\n[search]\nk = 2\n')
    printed = run_cli("settings", "check", "--out", "plan.json")
    assert "settings from vericite.toml: check.judge" in printed.err
    assert json.loads(Path("plan.json").read_text())["check"]["judge"] == "lexical"
    assert run_cli("check", ANSWERS, "--judge", "lexical", "--json").out == run_cli("check", ANSWERS, "--json").out
    assert run_cli("check", ANSWERS, "--judge", "bundled", "--json").out != run_cli("check", ANSWERS, "--json").out
    assert "settings: vericite.toml: check.judge = lexical, search.k = 2" in run_cli("doctor").out
    monkeypatch.setenv("VERICITE_CONFIG", "")
    assert "settings" not in run_cli("check", ANSWERS, *LEXICAL).err


def test_a_projects_settings_that_are_none_are_named(run_cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vericite.toml").write_text('[check]\njugde = "lexical"\n')
    printed = run_cli("check", ANSWERS)
    assert printed.code == 2
    assert "check.jugde in vericite.toml" in printed.err
    assert "BROKEN" in run_cli("doctor").out


def test_an_empty_project_sets_nothing(tmp_path: Path):
    (tmp_path / "vericite.toml").write_text("")
    assert project_settings(tmp_path / "vericite.toml") == {}


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("vericite che", ["check"]),
        ("vericite check --protocol ea", ["early"]),
        ("vericite check --judge bund", ["bundled"]),
    ],
)
def test_the_shell_completes_commands_and_names(
    run_cli, monkeypatch: pytest.MonkeyPatch, typed: str, completed: list[str]
):
    monkeypatch.setenv("_VERICITE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert run_cli().out.split() == completed
