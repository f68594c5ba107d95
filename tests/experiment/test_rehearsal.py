"""Every ready experiment, four questions a cell, with the services that it names on loopback."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

sys.path.extend(str(Path(__file__).resolve().parents[1] / home) for home in ("experiment", "papers"))

import rehearsal
from entrez_server import EntrezServer, serve
from printed import PAPERS, needs_papers, printed
from rehearsal import ASKED, KEYS, NOT_SENT, Hosts, host_of

from vericite.generate.printed import ANSWER_PROMPTS
from vericite.lab.experiment.config import Experiment
from vericite.lab.experiment.grid import CELLS
from vericite.pipeline.runs import RUNS
from vericite.records import Run, read_jsonl

pytest.importorskip("yaml", reason="needs PyYAML")
pytest.importorskip("rouge_score", reason="the extra [eval] is not installed")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def needs_torch(file: Path) -> bool:
    plans = [cell.plan for cell in Experiment.load(file).expanded()]
    names = [name for plan in plans for name in (plan.check.judge or "", plan.search.rerank, plan.search.by or "")]
    return any(name.startswith("hf:") or name in ("bge", "medcpt", "rrf-2", "rrf-4") for name in names)


FAST = ("full-text",)
EVERY = [
    pytest.param(
        file,
        id=file.stem,
        marks=[pytest.mark.hf] if needs_torch(file) else [] if file.stem in FAST else [pytest.mark.slow],
    )
    for file in sorted(EXPERIMENTS.glob("*.yaml"))
    # These train models: test_trained.py and test_multiattr_tables.py.
    if "multiattr" not in file.stem
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return rehearsal.material(tmp_path_factory.mktemp("material"))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="the extra [hf] is not installed")
    return rehearsal.hub(tmp_path_factory.mktemp("hub"))


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Hosts, EntrezServer]]:
    hosts, ncbi = rehearsal.services()
    with hosts, ncbi:
        for name, value in rehearsal.environment(tmp_path / "cache").items():
            monkeypatch.setenv(name, value)
        rehearsal.redirect(monkeypatch, hosts.port, rehearsal.port_of(ncbi))
        yield hosts, ncbi
        refuse_strange_keys(hosts, ncbi)


@pytest.fixture
def checkpoints(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's cache, where the test needs one."""
    if request.node.get_closest_marker("hf"):
        constants = pytest.importorskip("huggingface_hub.constants")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(request.getfixturevalue("hub")))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def refuse_strange_keys(hosts: Hosts, ncbi: EntrezServer) -> None:
    """Each host got its own key and no other, in any part of a request."""
    for arrival in [*hosts.arrivals, *ncbi.arrivals]:
        sent = json.dumps([arrival.path, arrival.headers, getattr(arrival, "body", None) or arrival.fields])
        own = KEYS[host_of(arrival)][1]
        others = {key for _, key in KEYS.values()} | set(NOT_SENT.values())
        assert [key for key in others - {own} if key in sent] == []
        assert own in sent, host_of(arrival)


def runs_of(folder: Path) -> dict[str, list[Run]]:
    cells = json.loads((folder / "experiment.json").read_text())["cells"]
    return {name: list(read_jsonl(Run, folder / CELLS / cell["folder"] / RUNS)) for name, cell in cells.items()}


@pytest.mark.parametrize("file", EVERY)
@pytest.mark.usefixtures("checkpoints")
def test_a_ready_experiment_ends_resumes_and_prints_its_table(
    file: Path,
    files: Mapping[str, str],
    services: tuple[Hosts, EntrezServer],
    run_cli: Callable[..., Any],
    tmp_path: Path,
):
    hosts, ncbi = services
    if "reason-verify" in file.name:
        make_pools(files, run_cli)
        hosts.arrivals.clear()
    words = ["run", str(file), "--to", str(tmp_path / "runs"), *rehearsal.given(file, files)]
    dry = run_cli(*words, "--dry-run", "--first", str(ASKED))
    assert dry.code == 0, dry.err
    assert not hosts.arrivals
    for first in (2, ASKED):
        done = run_cli(*words, "--first", str(first))
        assert done.code == 0, done.out + done.err
    called = len(hosts.arrivals), len(ncbi.arrivals)
    again = run_cli(*words, "--first", str(ASKED))
    assert again.code == 0 and (len(hosts.arrivals), len(ncbi.arrivals)) == called
    runs = runs_of(tmp_path / "runs")
    assert {len(found) for found in runs.values()} == {asked_of(file)}
    if file.stem == "vericite-table1":
        scored = run_cli("compute", "bertscore", str(tmp_path / "runs"), "--with", "hf:roberta-large")
        assert scored.code == 0, scored.err
        assert {row["n"] for row in ours(run_cli, tmp_path / "runs") if row["column"] == "BS"} == {"3"}
    printed = run_cli("table", str(tmp_path / "runs"), "--set", "draws=100")
    assert printed.code == 0 and "failed" not in printed.out, printed.err
    for row in ours(run_cli, tmp_path / "runs"):
        assert not row["value"] or 1 <= int(row["n"]) <= ASKED, row
        if row["measure"].startswith("CategoryAccuracy") and uses_model(row):
            assert float(row["value"]) == share_right(runs, row["column"].partition(",")[0]), row


def asked_of(file: Path) -> int:
    return min(ASKED, *(plan.sample or ASKED for plan in Experiment.load(file).questions.values()))


def share_right(runs: Mapping[str, list[Run]], data: str) -> float:
    """The share of MIRAGE's questions that the fake models answer as the gold does."""
    asked = next(found for name, found in runs.items() if f"data {data}," in name)
    gold = {rehearsal.mirage_row(number)["question"]: "AB"[number % 2] for number in range(80)}
    drugs = {text: text.split()[1] for text in gold}
    right = [rehearsal.decided(drugs[run.question.text])[0] == gold[run.question.text] for run in asked]
    return sum(right) / len(right)


def uses_model(row: Mapping[str, str]) -> bool:
    return row.get("model", "extractive") != "extractive"


def ours(run_cli: Callable[..., Any], folder: Path) -> list[dict[str, str]]:
    printed = run_cli("table", str(folder), "--as", "csv", "--set", "draws=100")
    assert printed.code == 0, printed.err
    return [row for row in csv.DictReader(StringIO(printed.out)) if row["by"] == "ours"]


WITHOUT_TORCH = """
name: mine
extends: {file}
plan: {{check: {{judge: lexical}}}}
axes: {{k: {{3: {{search: {{k: 3}}}}}}}}
"""


def test_refused_calls_are_marked_and_only_they_are_asked_again(
    files: Mapping[str, str], services: tuple[Hosts, EntrezServer], run_cli: Callable[..., Any], tmp_path: Path
):
    """Of four models, one is refused by its service, and one question is too long for the others."""
    hosts, _ = services
    file = tmp_path / "mine.yaml"
    file.write_text(WITHOUT_TORCH.format(file=EXPERIMENTS / "vericite-table1.yaml"))
    hosts.refused, hosts.too_long = "mistral", "sitavalone on chronic cough"
    words = ["run", str(file), "--to", str(tmp_path / "runs"), *rehearsal.given(file, files), "--first", str(ASKED)]
    done = run_cli(*words)
    assert done.code == 3 and "questions that failed: 6" in done.err, done.err
    found = {(row["model"], row["column"]): row for row in ours(run_cli, tmp_path / "runs")}
    models = {model for model, _ in found}
    assert len(models) == 4
    for (model, column), row in found.items():
        if model == "Mistral-7B":
            assert (row["value"], row["low"]) == ("failed", "") and row["n"] in ("", "0")
        elif column in ("Sup.", "R-L"):
            assert (row["n"], row["missing"]) == ("2", "0")
        elif column == "Rec.":
            assert row["n"] == "3"
    text = run_cli("table", str(tmp_path / "runs"), "--set", "draws=100").out
    assert "Mistral-7B, 3: 3 of 3 questions failed" in text
    assert "GPT-4o-mini, 3: 1 of 3 questions failed" in text
    assert {host_of(arrival) for arrival in hosts.arrivals} == {"api.deepinfra.com", "openrouter.ai"}
    hosts.refused = hosts.too_long = ""
    hosts.arrivals.clear()
    assert run_cli(*words).code == 0
    assert len(hosts.arrivals) == 6
    assert all(row["value"] != "failed" for row in ours(run_cli, tmp_path / "runs"))


TWO_CELLS = """
name: mine
extends: {file}
plan: {{check: {{judge: lexical}}}}
axes:
  model: {{Mistral-7B: {{answer: {{llm: $mistral}}}}}}
  k:
    3: {{search: {{k: 3}}}}
    oracle: {{search: {{corpus: "oracle:pubmed", cleaning: stopwords}}}}
"""


def test_a_search_that_failed_is_neither_a_recall_of_0_nor_a_question_without_documents(
    files: Mapping[str, str],
    services: tuple[Hosts, EntrezServer],
    run_cli: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    _, ncbi = services
    monkeypatch.setattr("vericite.corpus.entrez.service.backoff", lambda *_: 0.0)

    def refuse_sitavalone(answering: Any, arrival: Any) -> None:
        if "sitavalone" in arrival.fields.get("term", "") or "1200" in arrival.fields.get("id", "").split(","):
            return answering.send(500, "no", "text/plain")
        return serve(answering, arrival)

    monkeypatch.setattr(ncbi, "_paced", lambda: refuse_sitavalone)
    file = tmp_path / "mine.yaml"
    file.write_text(TWO_CELLS.format(file=EXPERIMENTS / "vericite-table2.yaml"))
    words = ["run", str(file), "--to", str(tmp_path / "runs"), *rehearsal.given(file, files), "--first", str(ASKED)]
    assert run_cli(*words).code == 3
    found = {row["k"]: row for row in ours(run_cli, tmp_path / "runs") if row["column"] == "Rec."}
    assert (found["oracle"]["value"], found["oracle"]["n"], found["3"]["n"]) == ("1.0", "3", "2")
    text = run_cli("table", str(tmp_path / "runs"), "--set", "draws=100").out
    assert "Mistral-7B, 3: 1 of 3 questions failed" in text and "Mistral-7B, oracle: 1 of 4 questions failed" in text


@pytest.mark.slow
def test_tables_of_one_paper_share_replies(
    files: Mapping[str, str], services: tuple[Hosts, EntrezServer], run_cli: Callable[..., Any], tmp_path: Path
):
    """VeriCite's table 3 asks nothing that table 1 did not ask."""
    called: list[tuple[int, int]] = []
    for name in ("vericite-table1", "vericite-table3"):
        file = tmp_path / f"{name}.yaml"
        file.write_text(WITHOUT_TORCH.format(file=EXPERIMENTS / f"{name}.yaml"))
        words = rehearsal.given(file, files)
        done = run_cli("run", str(file), "--to", str(tmp_path / name), *words, "--first", str(ASKED))
        assert done.code == 0, done.err
        called.append(tuple(map(len, (services[0].arrivals, services[1].arrivals))))
    assert called[0] == called[1]


@pytest.fixture
def printed_prompts(run_cli: Callable[..., Any], tmp_path: Path) -> Path:
    """The prompts that the two papers print, from the copies of them."""
    for paper in ("vericite", "reason-and-verify"):
        made = run_cli("prompts", "from", str(PAPERS / f"{paper}.txt"), "--to", str(tmp_path / "printed"))
        assert made.code == 0, made.err
    return tmp_path / "printed"


@pytest.mark.slow
@needs_papers
@pytest.mark.parametrize("file", EVERY)
@pytest.mark.usefixtures("checkpoints")
def test_a_ready_experiment_sends_the_printed_prompts(
    file: Path,
    files: Mapping[str, str],
    services: tuple[Hosts, EntrezServer],
    run_cli: Callable[..., Any],
    tmp_path: Path,
    printed_prompts: Path,
):
    hosts, _ = services
    wanted = Experiment.load(file).our_wording
    if not wanted:
        pytest.skip("no prompt of it is printed")
    if "reason-verify" in file.name:
        make_pools(files, run_cli)
        hosts.arrivals.clear()
    words = ["run", str(file), "--to", str(tmp_path / "runs"), *rehearsal.given(file, files), "--first", "2"]
    done = run_cli(*words, "--set", f"prompts={printed_prompts}")
    if any(cell.plan.answer.evidence == "sentences" for cell in Experiment.load(file).expanded()):
        assert done.code == 2 and "answer.evidence" in done.err
        return
    assert done.code == 0 and "our wording" not in done.err, done.out + done.err
    sent = [arrival.body["messages"] for arrival in hosts.arrivals]
    rules = {name: printed(ANSWER_PROMPTS[name]).split("\n\n[Two few-shot")[0] for name in wanted}
    assert {name for name, text in rules.items() if any(turns[0]["content"] == text for turns in sent)} == set(wanted)
    table = run_cli("table", str(tmp_path / "runs"), "--set", "draws=100")
    assert table.code == 0 and "our wording" not in table.out and "failed" not in table.out
    for row in ours(run_cli, tmp_path / "runs"):
        if row["measure"].startswith("CategoryAccuracy") and uses_model(row):
            assert float(row["value"]) == share_right(runs_of(tmp_path / "runs"), row["column"].partition(",")[0]), row


LINES = re.compile(rb"\n")


@pytest.mark.slow
@pytest.mark.parametrize("file", EVERY)
@pytest.mark.usefixtures("checkpoints")
def test_a_ready_experiment_goes_on_after_kills(
    file: Path,
    files: Mapping[str, str],
    services: tuple[Hosts, EntrezServer],
    run_cli: Callable[..., Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
):
    hosts, ncbi = services
    if "reason-verify" in file.name:
        make_pools(files, run_cli)
        hosts.arrivals.clear()
    folder, cells = tmp_path / "runs", len(Experiment.load(file).expanded())
    words = ["run", str(file), "--to", str(folder), *rehearsal.given(file, files), "--first", str(ASKED)]
    cache = request.getfixturevalue("hub") if request.node.get_closest_marker("hf") else None
    ports = f"{hosts.port},{rehearsal.port_of(ncbi)}"
    known = {**os.environ, **rehearsal.environment(tmp_path / "cache", cache), rehearsal.PORTS: ports}
    hosts.pause = 0.02

    def done() -> int:
        return sum(len(LINES.findall(path.read_bytes())) for path in folder.glob(f"{CELLS}/*/{RUNS}"))

    kills = 0
    for share in (0.3, 0.7):
        with subprocess.Popen(
            [sys.executable, rehearsal.__file__, *words],
            env=known,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            while run.poll() is None and done() < share * cells * asked_of(file):
                time.sleep(0.01)
            kills += run.poll() is None
            run.kill()
    assert kills
    hosts.pause = 0.0
    at_end = run_cli(*words)
    assert at_end.code == 0, at_end.out + at_end.err
    for name, found in runs_of(folder).items():
        assert len({run.question.id for run in found}) == len(found) == asked_of(file), name
        assert not any(run.answer.failed for run in found)
    requests = Counter(json.dumps([host_of(arrival), arrival.body]) for arrival in hosts.arrivals)
    # What was in flight when the process died is asked again.
    assert sum(requests.values()) - len(requests) <= kills * CONCURRENCY


CONCURRENCY = 8


def make_pools(files: Mapping[str, str], run_cli: Callable[..., Any]) -> None:
    """The two pools, by the documented commands."""
    folder = Path(files["mirage"]).parent
    for name, training in (("bioasq", "bioasq:training.json"), ("pubmedqa", "pubmedqa/training:ori_pqal.json")):
        data, _, file = training.partition(":")
        built = run_cli(
            "demonstrations", "build", f"{data}:{folder / file}", "--corpus", files["corpus"], "--retrieved",
            "--llm", "http://localhost:8000/v1#meta-llama/Meta-Llama-3-8B-Instruct",
            "--prompt", f"reason-verify-{name}", "--to", files[f"{name}_pool"],
        )  # fmt: skip
        assert built.code == 0, built.err
