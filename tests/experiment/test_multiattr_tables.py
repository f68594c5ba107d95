"""Each table and figure of MultiAttr by its own command, on small data in the published forms.

With the head over the bundled models where a table allows it, and with tiny random decoders where it does not (torch).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_trained import EXPERIMENTS, quick, run, table
from trained_data import alce, examples, politicite, tiny_decoder, tiny_judge, tiny_writer, values

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer, reply

pytest.importorskip("yaml", reason="needs PyYAML")

TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not TORCH, reason="needs torch and peft (make test-hf)")
TINY = (
    "settings: {rank: 2, alpha: 4, batch: 4, epochs: 1, max_tokens: 200, learning_rate: 0.01, checkpoint_steps: 100, "
    "threads: 1, at_once: 4}\n"
)


def figures(rows: list[dict[str, str]]) -> dict[tuple[str, str], str]:
    return {(row["trained on"], row["column"]): row["value"] for row in rows if row["by"] == "ours" and row["value"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["multiattr-figure4a", "multiattr-figure4b"])
def test_a_figure_with_the_head(run_cli: Callable[..., Any], tmp_path: Path, name: str):
    folder = tmp_path / "runs"
    printed = run(run_cli, quick(tmp_path, name), folder, values(tmp_path))
    assert printed.code == 0, printed.err
    found = figures(table(run_cli, folder))
    shares = ["0%", "20%", "40%", "60%", "80%", "100%"]
    rows = [f"{'made' if name.endswith('a') else 'domain'} {share}" for share in shares]
    for row in rows + ([] if name.endswith("a") else ["baseline"]):
        for column in ("VJ, accuracy", "VJ, F1", "MSMARCO, accuracy", "MSMARCO, F1"):
            assert 0 <= float(found[row, column]) <= 1
    if name.endswith("a"):
        assert "stage 2" in printed.out and "; stage 1: 33; dev: 3" in printed.out.splitlines()[0]


def tiny(folder: Path, name: str, more: str = "") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\nextends: {EXPERIMENTS / name}.yaml\n{TINY}{more}", encoding="utf-8")
    return path


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    return values(tmp_path, 8) | {"base": str(tiny_decoder(tmp_path / "base"))}


@pytest.mark.hf
@pytest.mark.slow
@needs_torch
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["multiattr-table2", "multiattr-table3", "multiattr-figure4a", "multiattr-figure4b"])
def test_a_table_of_decoders_after_generation(
    run_cli: Callable[..., Any], tmp_path: Path, given: dict[str, str], name: str
):
    if name == "multiattr-table2":
        judges = {"nli": f"hf-seq2seq:{tiny_writer(tmp_path / 't5')}", "alpaca": f"hf:{tiny_judge(tmp_path / 'judge')}"}
        given |= judges
    if name == "multiattr-table3":
        given |= {"short": str(examples(tmp_path / "short.jsonl", "short", 6))}
    folder = tmp_path / "runs"
    printed = run(run_cli, tiny(tmp_path, name), folder, given)
    assert printed.code == 0, printed.err
    found = figures(table(run_cli, folder))
    rows = {
        "multiattr-table2": ["T5 NLI, fine-tuned", "Alpaca", "Alpaca, fine-tuned", "post-gen."],
        "multiattr-table3": ["random", "fine-tuned", "HotpotQA short", "HotpotQA long, fine-tuned"],
        "multiattr-figure4a": [f"made {share}%" for share in (0, 20, 40, 60, 80, 100)],
        "multiattr-figure4b": [f"domain {share}%" for share in (0, 20, 40, 60, 80, 100)],
    }[name]
    for row in rows:
        for column in ("VJ, accuracy", "VJ, F1"):
            assert 0 <= float(found[row, column]) <= 1
        assert ((row, "MSMARCO, F1") in found) == (name != "multiattr-table2" or "fine-tuned" not in row)
    again = run(run_cli, tiny(tmp_path, name), folder, given)
    assert again.code == 0 and again.out.count("of them earlier") == again.out.count(" asked")


@pytest.mark.hf
@pytest.mark.slow
@needs_torch
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_table_4_of_decoders_that_write_answers(run_cli: Callable[..., Any], tmp_path: Path, given: dict[str, str]):
    given |= {
        "judge": "lexical",
        "features": "bundled",
        "asqa": str(alce(tmp_path / "asqa.json", exact=True)),
        "eli5": str(alce(tmp_path / "eli5.json", exact=False)),
    }
    file, folder = tiny(tmp_path, "multiattr-table4", "new_tokens: 12\n"), tmp_path / "runs"
    printed = run(run_cli, file, folder, given)
    assert printed.code == 0, printed.err
    assert printed.out.count("in-line: 3 asked") == 6 and "stage 1" in printed.out
    rows = table(run_cli, folder)
    ours = {(row["data"], row["trained on"], row["column"]): row for row in rows if row["by"] == "ours"}
    for data in ("VJ", "MSMARCO", "ASQA", "ELI5"):
        for row in ("domain", "MultiAttr", "MultiAttr + domain"):
            assert ours[data, row, "C. Rec"]["value"] and ours[data, row, "C. Prec"]["value"]
            assert bool(ours[data, row, "short answers"]["value"]) == (data == "ASQA")
            assert bool(ours[data, row, "aligned F1"]["n"] not in ("", "0")) == (data in ("VJ", "MSMARCO"))
    assert len(list((folder / "cells").glob("*/features.npz"))) == 12  # for MAUVE
    # The models of VJ answer ASQA and ELI5 as well: five are trained, not twelve.
    assert len(list((tmp_path / "models").iterdir())) == 5


@pytest.mark.hf
@pytest.mark.slow
@needs_torch
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_table_6_of_both_kinds_of_models(
    run_cli: Callable[..., Any], tmp_path: Path, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))
    with ScriptedServer() as server:
        server.default = reply("The zinc agency was founded in 0 [1].")
        given |= {
            "nli": "lexical",
            "judge": "lexical",
            "features": "",
            "chatgpt": server.spec,
            "politicite": str(politicite(tmp_path / "politicite.json")),
        }
        file, folder = tiny(tmp_path, "multiattr-table6", "new_tokens: 12\n"), tmp_path / "runs"
        printed = run(run_cli, file, folder, given)
    assert printed.code == 0, printed.err
    found = figures(table(run_cli, folder))
    assert 0 < float(found["T5 NLI", "post-gen, F1"]) <= 1
    for row in ("VJ", "MultiAttr", "MultiAttr + VJ"):
        assert 0 <= float(found[row, "post-gen, F1"]) <= 1
        assert 0 <= float(found[row, "in-line, article F1"]) <= 1
    assert 0 < float(found["ChatGPT", "in-line, claim recall"]) < 1
    assert ("ChatGPT", "post-gen, F1") not in found and ("VJ", "in-line, F1") not in found
