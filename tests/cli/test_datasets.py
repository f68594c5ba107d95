from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vericite.cli.app import app
from vericite.datasets.registry import SETS

QUESTION = {
    "id": "q1",
    "body": "Does zinc shorten colds?",
    "type": "yesno",
    "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/101"],
    "exact_answer": "yes",
    "ideal_answer": ["Yes."],
}


@pytest.fixture
def bioasq(tmp_path: Path) -> Path:
    path = tmp_path / "13B1_golden.json"
    path.write_text(json.dumps({"questions": [QUESTION]}), encoding="utf-8")
    return path


def test_the_list_has_the_source_of_every_set_and_models_trained_on_it():
    listed = json.loads(CliRunner().invoke(app, ["datasets", "--json"]).stdout)
    assert [record["name"] for record in listed] == list(SETS)
    assert all(record["where"] and record["licence"] and record["shape"] for record in listed)
    assert "trained on: nothing of ours" in CliRunner().invoke(app, ["datasets"]).stdout


def test_stats_count_and_warn_about_models_trained_on_the_set(bioasq: Path):
    done = CliRunner().invoke(app, ["datasets", "stats", "bioasq", str(bioasq), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["counts"]["questions: yesno"] == 1
    assert "verifier-v6" in done.stderr


def test_show_writes_records_for_other_commands(bioasq: Path):
    done = CliRunner().invoke(app, ["datasets", "show", "bioasq", str(bioasq), "--what", "gold"])
    assert json.loads(done.stdout)["documents"] == {"101": 1.0}
    refused = CliRunner().invoke(app, ["datasets", "show", "bioasq", str(bioasq), "--what", "answers"])
    assert refused.exit_code != 0


def test_a_runs_manifest_names_models_trained_on_its_data_set(bioasq: Path, tmp_path: Path):
    folder = tmp_path / "runs"
    done = CliRunner().invoke(
        app, ["ask", "--batch", f"bioasq:{bioasq}", "--set", "search.rerank=none", "--save", str(folder)]
    )
    assert done.exit_code == 0 and "shipped models were trained on parts of bioasq" in done.stderr
    kept = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["data"]
    assert kept["set"] == "bioasq" and kept["files"] == [str(bioasq)]
    assert any(line.startswith("verifier-v6") for line in kept["leakage"])
    scored = CliRunner().invoke(app, ["score", str(folder), "--gold", f"bioasq:{bioasq}", "-m", "AnsweredRate"])
    assert scored.exit_code == 0 and "AnsweredRate" in scored.stdout
