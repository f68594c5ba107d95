"""`docs/figures.py` holds the figures of the pages to what their commands printed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark_modules import benchmark

ROOT = Path(__file__).parents[2]
TOML = """
[[run]]
name = "zinc"
command = "echo 'days 4.567 [4.1, 5.04] of 1200'; echo '{data}' >&2"

[[run.figure]]
page = "README.md"
text = "| days | {n:,} | {value:.2f} [{low:.2f}, {high:.2f}] |"
find = 'days (?P<value>[\\d.]+) \\[(?P<low>[\\d.]+), (?P<high>[\\d.]+)\\] of (?P<n>\\d+)'
"""


@pytest.fixture
def figures(tmp_path, monkeypatch):
    """The script, over a repository with one run and one page."""
    spec = importlib.util.spec_from_file_location("docs_figures", ROOT / "docs" / "figures.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    (tmp_path / "docs" / "figures").mkdir(parents=True)
    (tmp_path / "docs" / "figures.toml").write_text(TOML)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FOLDER", tmp_path / "docs" / "figures")
    monkeypatch.setattr(module, "source", lambda: "now")
    return module


def page(root: Path, row: str) -> Path:
    path = root / "README.md"
    path.write_text(f"# Page\n\n{row}\n")
    return path


def made(figures, tmp_path) -> None:
    (run,) = figures.runs()
    assert figures.make(run, tmp_path / "data", tmp_path / "work") == 0


def test_a_run_puts_its_figures_into_the_page(figures, tmp_path):
    path = page(tmp_path, "| days | 0 | 0 [0, 0] |")
    made(figures, tmp_path)
    assert "| days | 1,200 | 4.57 [4.10, 5.04] |" in path.read_text()
    assert list(figures.problems(figures.runs())) == []


def test_a_figure_that_differs_from_what_was_printed_is_named(figures, tmp_path):
    page(tmp_path, "| days | 0 | 0 [0, 0] |")
    made(figures, tmp_path)
    page(tmp_path, "| days | 1,200 | 4.58 [4.10, 5.04] |")
    (problem,) = figures.problems(figures.runs())
    assert "README.md: the page says '| days | 1,200 | 4.58" in problem
    assert "`zinc` printed '| days | 1,200 | 4.57" in problem


def test_a_figure_that_the_page_lacks_is_named(figures, tmp_path):
    page(tmp_path, "| days | 0 | 0 [0, 0] |")
    made(figures, tmp_path)
    page(tmp_path, "Nothing.")
    (problem,) = figures.problems(figures.runs())
    assert "found nothing like it on the page" in problem


def test_a_figure_without_a_record_is_named_if_a_page_states_it(figures, tmp_path):
    page(tmp_path, "Nothing.")
    assert list(figures.problems(figures.runs())) == []
    page(tmp_path, "| days | 1,200 | 4.57 [4.10, 5.04] |")
    assert any("not run yet" in problem for problem in figures.problems(figures.runs()))


def test_an_interval_that_no_figure_states_is_named_outside_blocks_of_code(figures, tmp_path):
    page(tmp_path, "Kappa is 0.4 [0.3, 0.5].\n\n```text\n0.4 [0.3, 0.5]\n```\n\nA citation [1, 2].")
    (problem,) = figures.problems(figures.runs())
    assert problem.startswith("README.md, line 3: [0.3, 0.5] belongs to no figure")


def test_a_record_of_another_command_does_not_count(figures, tmp_path):
    page(tmp_path, "| days | 0 | 0 [0, 0] |")
    made(figures, tmp_path)
    toml = tmp_path / "docs" / "figures.toml"
    toml.write_text(toml.read_text().replace("echo 'days", "echo 'in days"))
    assert any("the command has changed" in problem for problem in figures.problems(figures.runs()))


def test_a_command_is_stopped_at_its_bound_with_what_it_started(figures, tmp_path, capsys):
    slow = figures.Run("slow", "sleep 60; echo done", 0, ())
    assert figures.make(slow, tmp_path, tmp_path) == 1
    assert "stopped after 0 minutes" in capsys.readouterr().err


def test_a_command_that_fails_leaves_no_record(figures, tmp_path, capsys):
    assert figures.make(figures.Run("broken", "echo 4; false", 1, ()), tmp_path, tmp_path) == 1
    assert "ended with 1" in capsys.readouterr().err
    assert list(figures.FOLDER.iterdir()) == []


def test_all_benchmarks_are_kept_and_compared_with_the_pages(figures, tmp_path, monkeypatch, capsys):
    every = benchmark("all")
    monkeypatch.setattr(every, "figures", figures)
    monkeypatch.setattr(every, "ROOT", tmp_path)
    toml = tmp_path / "docs" / "figures.toml"
    toml.write_text(toml.read_text().replace('name = "zinc"', 'name = "zinc"\ndata = ["colds"]'))
    (tmp_path / "data" / "colds").mkdir(parents=True)
    path = page(tmp_path, "| days | 1,200 | 4.57 [4.10, 5.04] |")
    where = [f"--{name}={tmp_path / name}" for name in ("data", "work", "to")]
    assert every.main(where) == 0
    assert "| zinc | 0.0 | days: 1,200: 4.57 [4.10, 5.04] | README.md | same |" in capsys.readouterr().out
    assert list(figures.FOLDER.iterdir()) == []
    page(tmp_path, "| days | 1,200 | 4.58 [4.10, 5.04] |")
    assert every.main(where) == 1
    told = capsys.readouterr()
    assert "zinc: done before" in told.err and "| README.md | differs |" in told.out
    assert "4.58" in path.read_text()
    (tmp_path / "data" / "colds").rmdir()
    assert every.main([*where, "--only", "zinc"]) == 0
    assert f"skipped: {tmp_path / 'data'} lacks colds" in capsys.readouterr().out


def test_a_slow_run_is_made_only_by_its_name(figures, tmp_path, monkeypatch, capsys):
    toml = tmp_path / "docs" / "figures.toml"
    toml.write_text(toml.read_text().replace('name = "zinc"', 'name = "zinc"\nslow = true'))
    page(tmp_path, "Nothing.")
    monkeypatch.setattr(sys, "argv", ["figures.py", "--run", "all", "--work", str(tmp_path / "work")])
    assert figures.main() == 0
    assert list(figures.FOLDER.iterdir()) == []


@pytest.mark.slow  # as `make docs-check` does
def test_the_figures_of_the_pages_are_what_the_commands_printed():
    done = subprocess.run([sys.executable, "docs/figures.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
