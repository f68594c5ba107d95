"""Offline versions of bundled experiments over small files: full text and MedRAG's retrievers."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer, reply

from vericite.lab.experiment.config import Experiment
from vericite.lab.experiment.grid import Grid
from vericite.lab.experiment.tables import Layout
from vericite.pipeline.runs import RUNS
from vericite.records import Run, read_jsonl

pytest.importorskip("yaml", reason="needs PyYAML")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
DRUGS = ("velotrexine", "amorinol", "sitavalone", "percudine")

ARTICLE = """<article article-type="research-article"><front><article-meta>
<article-id pub-id-type="pmid">{pmid}</article-id><article-id pub-id-type="pmc">{pmid}9</article-id>
<title-group><article-title>{drug} for cough</article-title></title-group>
<abstract><p>We studied {drug} in adults with chronic cough. Taking {drug} reduced coughs by a third.</p></abstract>
</article-meta></front><body><sec><title>Results</title>
<p>Headache was the commonest adverse effect of {drug} and was reported by 12 adults.</p></sec></body></article>
"""


def bioasq(path: Path) -> Path:
    """Questions in BioASQ's format, half of which are answered only in the full text of articles."""
    rows = [
        {
            "id": f"{drug}-{number}",
            "body": question.format(drug=drug),
            "type": "summary",
            "documents": [f"http://www.ncbi.nlm.nih.gov/pubmed/{100 + place}"],
            "ideal_answer": [ideal.format(drug=drug)],
        }
        for place, drug in enumerate(DRUGS)
        for number, (question, ideal) in enumerate(
            (
                ("What is the effect of {drug} on chronic cough?", "{drug} reduces coughs by a third."),
                ("Which adverse effect of {drug} is the commonest?", "Headache is the commonest adverse effect."),
            )
        )
    ]
    path.write_text(json.dumps({"questions": rows}))
    return path


def mirage(path: Path) -> Path:
    asked = {
        f"q{place}": {
            "question": f"Does {drug} reduce chronic cough?",
            "options": {"A": "yes", "B": "no"},
            "answer": "A",
            "PMID": [100 + place],
        }
        for place, drug in enumerate([f"{drug}{number}" for drug in DRUGS for number in range(5)])
    }
    pubmedqa = {id: {**row, "options": {**row["options"], "C": "maybe"}, "PMID": 100} for id, row in asked.items()}
    path.write_text(json.dumps({"bioasq": asked, "pubmedqa": pubmedqa}))
    return path


def figures(run_cli, folder: Path) -> list[dict[str, str]]:
    printed = run_cli("table", str(folder), "--as", "csv", "--set", "draws=100")
    assert printed.code == 0, printed.err
    return list(csv.DictReader(StringIO(printed.out)))


def documents(folder: Path, at: str) -> Sequence[Run]:
    cells = json.loads((folder / "experiment.json").read_text())["cells"]
    (cell,) = [it for name, it in cells.items() if name.endswith(at)]
    return list(read_jsonl(Run, folder / "cells" / cell["folder"] / RUNS))


def test_full_text_against_abstracts(run_cli, tmp_path: Path):
    articles = "".join(ARTICLE.format(pmid=100 + place, drug=drug) for place, drug in enumerate(DRUGS))
    (tmp_path / "articles.xml").write_text(f"<articles>{articles}</articles>")
    folder = tmp_path / "runs"
    named = [f"bioasq={bioasq(tmp_path / 'bioasq.json')}", f"articles={tmp_path / 'articles.xml'}"]
    given = [word for value in named for word in ("--set", value)]
    printed = run_cli("run", str(EXPERIMENTS / "full-text-offline.yaml"), "--to", str(folder), *given)
    assert printed.code == 0, printed.err
    abstract, whole = (documents(folder, f"text {it}") for it in ("abstract", "full text"))
    assert len(abstract) == len(whole) == 8
    for few, all_of_it in zip(abstract, whole, strict=True):
        assert few.evidence and all("Headache" not in hit.document.text for hit in few.evidence)
        assert all("Headache" in hit.document.text for hit in all_of_it.evidence)
        assert {hit.document.id for hit in few.evidence} <= {f"PMC{100 + n}9" for n in range(4)}
    said = {run.question.id: run.answer.text for run in whole}
    assert all("Headache" in said[f"{drug}-1"] for drug in DRUGS)
    rows = figures(run_cli, folder)
    assert {row["text"] for row in rows} == {"abstract", "full text"}
    assert all(0 < float(row["value"]) < 1 for row in rows if row["column"] == "R-L")


def test_medrags_retrievers_without_checkpoints(run_cli, tmp_path: Path):
    corpus = tmp_path / "corpus.jsonl"
    texts = [f"{drug}{number} reduced chronic cough in a trial of adults." for drug in DRUGS for number in range(5)]
    corpus.write_text("".join(json.dumps({"id": f"{100 + n}", "text": text}) + "\n" for n, text in enumerate(texts)))
    folder = tmp_path / "runs"
    given = ["--set", f"mirage={mirage(tmp_path / 'mirage.json')}", "--set", f"corpus={corpus}", "--first", "3"]
    printed = run_cli("run", str(EXPERIMENTS / "medrag-offline.yaml"), "--to", str(folder), *given)
    assert printed.code == 0, printed.err
    rows = figures(run_cli, folder)
    ours = [row for row in rows if row["by"] == "ours"]
    assert {row["retriever"] for row in ours} == {"BM25", "bundled vectors", "BM25 and bundled vectors, fused"}
    assert {row["n"] for row in ours if row["value"]} == {"3"}
    # What MedRAG printed for GPT-3.5 stands where it searched alike, and nowhere else.
    assert {row["retriever"] for row in rows if row["by"].startswith("paper")} == {"BM25"}
    found = documents(folder, "data PubMedQA*, model extractive, retriever BM25 and bundled vectors, fused")
    assert {name for run in found for hit in run.evidence for name in hit.scores} == {"bm25", "dense"}


def test_medrags_own_are_named_by_the_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import vericite.retrieve.hf as hf
    from vericite.models import Embedder

    loaded: list[str] = []
    monkeypatch.setattr(hf, "load_embedder", lambda name: loaded.append(name) or Embedder.shared())
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": drug, "text": f"{drug} reduced cough."}) + "\n" for drug in DRUGS))
    values = {"mirage": str(mirage(tmp_path / "mirage.json")), "corpus": str(corpus)}
    grid = Grid(Experiment.load(EXPERIMENTS / "medrag.yaml", values), tmp_path / "runs")
    expected = {
        "BM25": [],
        "MedCPT": ["medcpt"],
        "RRF-2": ["medcpt"],
        "RRF-4": ["contriever", "specter", "medcpt"],
        "none": [],
    }
    for cell in grid.cells:
        loaded.clear()
        grid._searches.clear()
        grid.search(cell)
        assert loaded == expected[cell.at["retriever"]]
    printed = {row.at["retriever"] for row in Layout.load("medrag").printed}
    assert printed == set(expected)


def test_medrags_own_rows_run_over_a_service(run_cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All rows, with the bundled embedder in place of the checkpoints and a scripted service in place of the model."""
    import vericite.retrieve.hf as hf
    from vericite.models import Embedder

    monkeypatch.setattr(hf, "load_embedder", lambda name: Embedder.shared())
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": drug, "text": f"{drug} reduced cough."}) + "\n" for drug in DRUGS))
    folder = tmp_path / "runs"
    with ScriptedServer() as server:
        server.default = reply(f"{DRUGS[0]} reduced cough [1].\n\nFINAL ANSWER: A")
        values = {"mirage": mirage(tmp_path / "mirage.json"), "corpus": corpus, "model": server.spec}
        given = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
        printed = run_cli("run", str(EXPERIMENTS / "medrag.yaml"), "--to", str(folder), *given, "--first", "2")
    assert printed.code == 0, printed.err
    ours = [row for row in figures(run_cli, folder) if row["by"] == "ours"]
    assert {(row["retriever"], row["n"]) for row in ours if row["value"]} == {
        (name, "2") for name in ("none", "BM25", "MedCPT", "RRF-2", "RRF-4")
    }
    fused = documents(folder, "data PubMedQA*, model GPT-3.5, retriever RRF-4")
    assert {hit.retriever for run in fused for hit in run.evidence} == {"rrf-4"}
