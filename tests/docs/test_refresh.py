"""`docs/refresh.py` runs the commands and the programs that the pages show."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def refresh():
    spec = importlib.util.spec_from_file_location("docs_refresh", ROOT / "docs" / "refresh.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def check(refresh, monkeypatch, capsys, tmp_path):
    """Checks or refreshes a page with this text; returns the exit code, what was printed, and the page after it."""

    def run(text: str, *options: str) -> tuple[int, str, str]:
        page = tmp_path / "page.md"
        page.write_text(text, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["refresh.py", str(page), *options])
        code = refresh.main()
        return code, capsys.readouterr().out, page.read_text(encoding="utf-8")

    return run


def test_a_program_with_its_output_passes(check):
    page = "```python\nx = 2\n```\n\nWords.\n\n```python\nprint(x + 1)\n```\n\n```text\n3\n```\n"
    assert check(page, "--check") == (0, "", page)


def test_a_program_that_fails_is_named(check):
    code, printed, _ = check("```python\nimport vericite\nvericite.no_such_name\n```\n", "--check")
    assert code == 1
    assert "a Python block failed" in printed
    assert "no_such_name" in printed


def test_a_stale_output_is_found_and_replaced(check):
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    code, printed, unchanged = check(page, "--check")
    assert (code, printed.startswith("stale: "), unchanged) == (1, True, page)
    assert check(page)[2] == page.replace("2", "1")


def test_an_output_that_varies_is_not_compared(check):
    page = "```python\nprint(1)\n```\n\n<!-- varies -->\n```text\n2\n```\n"
    assert check(page, "--check")[0] == 0
    assert "text\n1\n" in check(page)[2]


def test_a_signature_is_not_run(check):
    assert check("```py\ncheck(answer: Answer | str) -> CheckedAnswer\n```\n", "--check")[0] == 0


def test_programs_run_offline_in_a_folder_with_the_examples(check):
    body = "import os\nprint(os.environ['VERICITE_OFFLINE'], os.path.exists('examples/answers.jsonl'))"
    assert check(f"```python\n{body}\n```\n\n```text\n1 True\n```\n", "--check")[0] == 0


@pytest.mark.slow  # as `make docs-check` does
def test_the_program_of_the_tutorial_runs(refresh):
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    after, errors = refresh.with_new_programs(page, keep_varying=True)
    assert errors == []
    assert refresh.is_alike(page, after)
