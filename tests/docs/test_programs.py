"""The programs in examples/python: each runs as it stands, and is as short as docs/api.md says."""

from __future__ import annotations

import ast
import json
import re
import runpy
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples/python").glob("*.py"))
PRINTED = {
    "many_answers": "",
    "notebook": r"Hydroxychloroquine did not reduce mortality",
    "own_judge": r"1 of 1 citations supported",
    "own_retriever": r"Zinc lozenges shortened colds by two days \[1\]",
    "score_runs": r"first SupportRate [\d.]+ \d+\n(?s:.*)left out: 1",
    "search": r"1 demo:0068",
    "streaming": r"\nsupported Zinc shortens colds\.\n(?s:.*)\nuncited It is cheap\.\n.*2 of 2 citations",
}
"""What the programs print. The others define something, and are called below."""


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stands in for pandas where it is not installed: keeps the rows, and can be shown."""
    made: list[Any] = []

    class DataFrame(list[Any]):
        def __init__(self, rows: list[dict[str, Any]], columns: list[str]) -> None:
            super().__init__(rows)
            self.columns = columns
            made.append(self)

        def __getitem__(self, names: Any) -> Any:
            return [[row[name] for name in names] for row in self]

    pandas = ModuleType("pandas")
    pandas.DataFrame = DataFrame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    return made


@pytest.mark.parametrize("name", PRINTED)
def test_the_program_prints_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples/python" / f"{name}.py"))
    assert re.search(PRINTED[name], capsys.readouterr().out)
    if name == "many_answers":
        assert len(Path("verdicts.jsonl").read_text().splitlines()) > 1


def test_the_table_has_a_row_for_each_verdict(frames: list[Any], capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(ROOT / "examples/python/table.py"))
    assert [row["label"] for row in frames[0]] == ["supported", "contradicted"]
    assert "supported" in capsys.readouterr().out


def test_a_chain_result_in_memory_is_checked():
    program = runpy.run_path(str(ROOT / "examples/python/langchain_result.py"))
    chunk = SimpleNamespace(page_content="Zinc shortened colds by two days.", metadata={"source": "z.pdf"}, id=None)
    checked = program["checked"]({"input": "?", "answer": "Zinc shortens colds [1].", "context": [chunk]})
    assert checked.supported
    assert checked.verdicts[0].documents == ("z.pdf",)


def test_the_metric_counts_sentences_that_the_contexts_support():
    program = runpy.run_path(str(ROOT / "examples/python/metric.py"))
    contexts = ["Zinc shortened colds by two days."]
    assert program["support"]("Zinc shortened colds by two days. Statins lower cholesterol.", contexts) == 0.5


def test_the_guard_refuses_what_is_not_supported():
    pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    client = TestClient(runpy.run_path(str(ROOT / "examples/python/fastapi_guard.py"))["app"])
    sources = ["Zinc shortened colds by two days."]
    sound = client.post("/answer", params={"text": "Zinc shortened colds [1]."}, json=sources)
    assert (sound.status_code, sound.json()) == (200, "Zinc shortened colds [1].")
    broken = client.post("/answer", params={"text": "Statins cure cancer [1]."}, json=sources)
    assert broken.status_code == 422
    assert "0 of 1 citations supported" in broken.json()["detail"]


def test_a_fastapi_stream_sends_pieces_and_verdicts():
    pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    app = runpy.run_path(str(ROOT / "examples/python/streaming_fastapi.py"))["app"]

    async def model(question: str) -> AsyncIterator[str]:
        for piece in (question, " Zinc shortened", " colds [1].", " Rain fell."):
            yield piece

    app.state.model = model
    sources = ["Zinc shortened colds by two days."]
    reply = TestClient(app).post("/answer", params={"question": "Well."}, json=sources)
    events = [dict(line.split(": ", 1) for line in event.splitlines()) for event in reply.text.strip().split("\n\n")]
    assert "".join(json.loads(event["data"]) for event in events if event["event"] == "piece").endswith("Rain fell.")
    verdicts = [(event["event"], json.loads(event["data"])["claim"]) for event in events if event["event"] != "piece"]
    assert ("supported", "Zinc shortened colds.") in verdicts and ("uncited", "Rain fell.") in verdicts


def test_the_pytest_assertion_passes():
    runpy.run_path(str(ROOT / "examples/python/test_answers.py"))["test_the_answer_holds"]()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_has_at_most_eight_lines_and_no_deep_import(path: Path):
    """Docstrings, blank lines and the import of vericite itself are not counted."""
    text = path.read_text()
    tree = ast.parse(text)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    assert not [node.module for node in imports if node.module and node.module.startswith("vericite")]
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    told = {line for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    code = [line for number, line in enumerate(text.splitlines(), start=1) if line.strip() and number not in told]
    assert len([line for line in code if line != "import vericite as vc"]) <= 8, code
