"""``vericite report`` as a user types it."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_answers_without_verdicts_become_a_page_in_one_command(run_cli, tmp_path: Path):
    out = tmp_path / "report.html"
    printed = run_cli("report", str(EXAMPLES / "answers.jsonl"), "--out", str(out))
    assert printed.code == 0, printed.err
    assert "answers" in printed.out
    assert "<h1>Cited answers</h1>" in out.read_text(encoding="utf-8")


def test_the_page_never_takes_the_place_of_what_was_read(run_cli, tmp_path: Path):
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes((EXAMPLES / "answers.jsonl").read_bytes())
    printed = run_cli("report", str(answers), "--out", str(answers))
    assert printed.code == 2
    assert answers.read_bytes() == (EXAMPLES / "answers.jsonl").read_bytes()
