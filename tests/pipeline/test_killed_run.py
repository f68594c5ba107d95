"""A run over many questions that dies at any moment goes on, pays for no reply twice, and ends as it would have."""

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
from vericite.disk.jobs import MANIFEST
from vericite.pipeline.runs import RUNS
from vericite.records import Run, read_jsonl

pytestmark = pytest.mark.slow

COUNT, CONCURRENCY, KILLS = 100, 4, 6
JUST_NOW = 0.05
"""Seconds before a kill in which a reply may have been sent and not yet been kept."""


def said_of(question: str) -> str:
    """An answer that hangs on the question alone."""
    return f"The sources speak of {sum(map(ord, question)) % 97} cases [1]. They speak of others as well [2]."


class Recording:
    """Answers slowly, and knows when it had sent which reply to its end."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, str]] = []

    def __call__(self, at: Answering, arrival: Arrival) -> None:
        at.wait(0.05)
        reply(said_of(arrival.question))(at, arrival)
        self.sent.append((time.monotonic(), arrival.question))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    own = [question.text for question in demo_questions()]
    texts = [*own, *(f"Say in short: {text}" for text in own)][:COUNT]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"id": f"q{n}", "question": text}) + "\n" for n, text in enumerate(texts)))
    return path


def command(questions: Path, folder: Path, server: ScriptedServer) -> list[str]:
    found = ["--set", "search.rerank=none", "--set", "search.rewrite=none", "--k", "2"]
    asked = ["--llm", server.spec, "--set", f"llm.concurrency={CONCURRENCY}", "--judge", "lexical"]
    return [sys.executable, "-m", "vericite", "ask", "--batch", str(questions), "--save", str(folder), *found, *asked]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "VERICITE_CACHE": str(cache), "VERICITE_OFFLINE": ""}


def runs_in(folder: Path) -> dict[str, Run]:
    runs = list(read_jsonl(Run, folder / RUNS))
    assert len({run.question.id for run in runs}) == len(runs)
    return {run.question.id: untold(run) for run in runs}


def untold(run: Run) -> Run:
    """Without its times, and without what tells a reply that was asked for from one that is remembered."""
    spent = run.answer.spent
    assert spent is not None
    assert spent.calls + spent.remembered == 1
    # Tokens are paid for once: the service counts 7 and 3 of them for each of its replies.
    assert (spent.prompt_tokens, spent.completion_tokens) == ((0, 0) if spent.remembered else (7, 3))
    return run.model_copy(update={"seconds": {}, "answer": run.answer.model_copy(update={"spent": None})})


def is_about(text: str, asked: str) -> bool:
    """Whether a prompt is about this question, and not about the longer one that is made of it."""
    return text in asked and f"Say in short: {text}" not in asked


def kept_in(folder: Path) -> set[str]:
    """The questions of the whole lines that a killed process left."""
    path = folder / RUNS
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return {json.loads(line)["question"]["text"] for line in lines if line.endswith(b"\n")}


def test_a_run_killed_at_random_continues_and_repeats_no_call(questions: Path, tmp_path: Path):
    with ScriptedServer() as server:
        recording = server.default = Recording()
        whole = tmp_path / "whole"
        subprocess.run(
            command(questions, whole, server), env=environment(tmp_path / "a"), check=True, capture_output=True
        )
        assert len(server.arrivals) == COUNT
        requests = Counter(arrival.question for arrival in server.arrivals)
        server.arrivals.clear()
        recording.sent.clear()

        folder, chance, killed, in_flight = tmp_path / "killed", random.Random(7), 0, 0
        kept: list[tuple[int, set[str]]] = []
        for _ in range(KILLS):
            before = len(server.arrivals)
            with subprocess.Popen(
                command(questions, folder, server),
                env=environment(tmp_path / "b"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as run:
                until = before + chance.randrange(1, COUNT // KILLS)
                while run.poll() is None and len(server.arrivals) < until:
                    time.sleep(0.005)
                time.sleep(chance.random() * 0.1)
                killed += run.poll() is None
                died = time.monotonic()
                run.send_signal(signal.SIGKILL)
                run.wait()
            time.sleep(0.1)  # What it had asked for comes to its end.
            late = [when for when, _ in recording.sent if when > died - JUST_NOW]
            in_flight += min(CONCURRENCY, len(late))
            kept.append((len(server.arrivals), kept_in(folder)))
        assert killed >= KILLS - 1
        subprocess.run(
            command(questions, folder, server), env=environment(tmp_path / "b"), check=True, capture_output=True
        )

    assert Counter(arrival.question for arrival in server.arrivals).keys() == requests.keys()
    for arrivals, questions_kept in kept:
        asked_later = {arrival.question for arrival in server.arrivals[arrivals:]}
        assert not [text for text in questions_kept if any(is_about(text, asked) for asked in asked_later)]
    assert kept[-1][1]
    # A call in flight when the process died did not come to its end, and is asked again.
    assert len(server.arrivals) - COUNT <= in_flight <= killed * CONCURRENCY
    assert runs_in(folder) == runs_in(whole)
    manifest = json.loads((folder / MANIFEST).read_text())
    assert (manifest["answers"], manifest["failed"], manifest["finished"]) == (COUNT, 0, True)
    assert manifest["seconds_an_answer"].keys() >= {"retrieve", "generate", "verify"}
