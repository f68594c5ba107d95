"""The example notebook: its cells run, and each shows something that a notebook draws."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "check_answers.ipynb"


def test_the_cells_run_and_show_verdicts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    shown: list[str] = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        *lines, last = ast.parse("".join(cell["source"])).body
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)
        shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names)._repr_html_())
    for html, word in zip(shown, ("irrelevant", "contradicted", "quoted", "interval"), strict=True):
        style, end, body = html.partition("</style>")
        # The style sheet has the name of each kind of verdict.
        assert "<style>" in style and end and word in body, html


def test_jupyter_runs_it(tmp_path: Path):
    """With a real kernel (make test-peers)."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    htmls = ["".join(output.data.get("text/html", "")) for output in outputs if "data" in output]
    assert sum('<div class="vericite">' in html for html in htmls) == 4
    assert any("<progress" in html and "4 of 4" in html for html in htmls)
    assert not [output for output in outputs if output.output_type == "stream"]  # no warnings
