"""A killed experiment is resumed without repeated calls and has the same result."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import Answering, Arrival, ScriptedServer, reply

from vericite.corpus import demo_questions
from vericite.lab.experiment.grid import CELLS, EXPERIMENT
from vericite.pipeline.runs import RUNS
from vericite.records import Run, read_jsonl, to_json

pytestmark = pytest.mark.slow

SAMPLE, DEPTHS, KILLS, CONCURRENCY = 30, (2, 4, 6), 10, 2
CALLS = SAMPLE * len(DEPTHS)
JUST_NOW = 0.05
"""Seconds before a kill in which a reply may have been sent but not stored."""


class Recording:
    """Answers slowly, and records when each reply was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, str]] = []

    def __call__(self, at: Answering, arrival: Arrival) -> None:
        at.wait(0.03)
        cases = sum(map(ord, arrival.question)) % 97
        reply(f"The sources speak of {cases} cases [1]. They speak of others as well [2].")(at, arrival)
        self.sent.append((time.monotonic(), arrival.question))


def experiment(folder: Path, spec: str) -> Path:
    questions = folder / "questions.jsonl"
    questions.write_text("".join(to_json(question) + "\n" for question in demo_questions()), encoding="utf-8")
    plan = {
        "search": {"corpus": "demo", "by": "bm25", "rerank": "none"},
        "answer": {"llm": spec},
        "llm": {"concurrency": CONCURRENCY},
    }
    axes = {
        "k": {str(k): {"search": {"k": k}} for k in DEPTHS},
        "judge": {name: {"check": {"protocol": name, "judge": "lexical"}} for name in ("vericite", "default")},
    }
    content = {"name": "killed", "questions": {"from": str(questions), "sample": SAMPLE}, "plan": plan, "axes": axes}
    path = folder / "experiment.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def command(path: Path, folder: Path) -> list[str]:
    return [sys.executable, "-m", "vericite", "run", str(path), "--to", str(folder)]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "VERICITE_CACHE": str(cache), "VERICITE_OFFLINE": ""}


def runs_in(folder: Path) -> dict[str, dict[str, Run]]:
    found: dict[str, dict[str, Run]] = {}
    for cell in sorted((folder / CELLS).iterdir()):
        runs = list(read_jsonl(Run, cell / RUNS))
        assert len({run.question.id for run in runs}) == len(runs)
        found[cell.name] = {run.question.id: untold(run) for run in runs}
    return found


def untold(run: Run) -> Run:
    """The run without times, and without the difference between new and cached replies."""
    return run.model_copy(update={"seconds": {}, "answer": run.answer.model_copy(update={"spent": None})})


def test_a_killed_experiment_is_resumed_without_repeated_calls(tmp_path: Path):
    with ScriptedServer() as server:
        recording = server.default = Recording()
        path = experiment(tmp_path, server.spec)
        whole = tmp_path / "whole"
        subprocess.run(command(path, whole), env=environment(tmp_path / "a"), check=True, capture_output=True)
        assert len(server.arrivals) == CALLS
        requests = Counter(arrival.question for arrival in server.arrivals)
        server.arrivals.clear()
        recording.sent.clear()

        folder, chance, killed, in_flight = tmp_path / "killed", random.Random(7), 0, 0
        for _ in range(KILLS):
            before = len(server.arrivals)
            with subprocess.Popen(
                command(path, folder),
                env=environment(tmp_path / "b"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as run:
                until = before + chance.randrange(0, CALLS // KILLS)
                while run.poll() is None and len(server.arrivals) < until:
                    time.sleep(0.005)
                # While it starts, or a few calls later: on a fast machine it would be done before it is killed.
                time.sleep(chance.random() * (1.0 if until == before else 0.05))
                killed += run.poll() is None
                died = time.monotonic()
                run.send_signal(signal.SIGKILL)
                run.wait()
            time.sleep(0.1)  # What it had asked for comes to its end.
            late = [when for when, _ in recording.sent if when > died - JUST_NOW]
            in_flight += min(CONCURRENCY, len(late))
        assert killed == KILLS
        subprocess.run(command(path, folder), env=environment(tmp_path / "b"), check=True, capture_output=True)

    again = Counter(arrival.question for arrival in server.arrivals)
    assert again.keys() == requests.keys()
    # A call in flight when the process died did not come to its end, and is asked again; no other is.
    assert len(server.arrivals) - CALLS <= in_flight <= KILLS * CONCURRENCY
    assert runs_in(folder) == runs_in(whole)
    assert json.loads((folder / EXPERIMENT).read_text())["finished"]
