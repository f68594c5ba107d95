"""Interrupted runs: partial results are kept and reported, and a later failed run does not lose them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vericite.attribution import Attributor
from vericite.pipeline.repair import Repairer
from vericite.pipeline.search import Search

DOCUMENTS = [{"id": "a", "text": "Statins lower LDL."}, {"id": "b", "text": "Zinc shortens colds."}]


def stopped_after(method: Callable[..., Iterator[Any]], count: int) -> Callable[..., Iterator[Any]]:
    def some(*arguments: Any, **named: Any) -> Iterator[Any]:
        for number, found in enumerate(method(*arguments, **named)):
            if number == count:
                raise KeyboardInterrupt
            yield found

    return some


def answers(folder: Path) -> str:
    file = folder / "answers.jsonl"
    record = {"answer": "Statins lower LDL [1].", "documents": DOCUMENTS}
    file.write_text("".join(json.dumps({"id": f"a{number}", **record}) + "\n" for number in range(4)))
    return str(file)


def make_folder(folder: Path) -> Path:
    (folder / "other").mkdir()
    return folder / "other"


def questions(folder: Path) -> str:
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps({"id": f"q{n}", "question": "Do statins lower LDL?"}) + "\n" for n in range(3)))
    return str(file)


@pytest.mark.parametrize(
    ("command", "stage", "method", "told"),
    [
        ("attribute", Attributor, "attributions", "stopped; 3 cited answers are in"),
        ("repair", Repairer, "repair_many", "stopped; 3 repaired answers are in"),
    ],
)
def test_what_was_found_is_told_and_kept_until_there_is_more(
    run_cli, tmp_path, monkeypatch, command: str, stage: type, method: str, told: str
):
    out, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    arguments = (command, answers(tmp_path), "--out", str(out))
    real = getattr(stage, method)
    monkeypatch.setattr(stage, method, stopped_after(real, 3))
    printed = run_cli(*arguments)
    assert printed.code == 130
    assert f"vericite: {told} {partial}" in printed.err
    assert [json.loads(line)["id"] for line in partial.read_text().splitlines()] == ["a0", "a1", "a2"]
    assert not out.exists()

    monkeypatch.setattr(stage, method, stopped_after(real, 0))
    printed = run_cli(*arguments)
    assert (printed.code, "stopped" in printed.err) == (130, False)
    assert len(partial.read_text().splitlines()) == 3

    monkeypatch.setattr(stage, method, real)
    assert run_cli(*arguments).code == 0
    assert len(out.read_text().splitlines()) == 4
    assert not partial.exists()


def test_what_a_search_found_is_told_and_kept(run_cli, tmp_path, monkeypatch):
    batch, out = questions(tmp_path), tmp_path / "out.trec"
    find, asked = Search.find, []

    def until_the_second(self: Search, question: Any, k: int) -> Any:
        asked.append(question)
        if len(asked) > 1:
            raise KeyboardInterrupt
        return find(self, question, k)

    monkeypatch.setattr(Search, "find", until_the_second)
    arguments = ("search", "--batch", batch, "--out", str(out), "--by", "bm25", "--set", "search.rerank=none")
    for turn in range(2):
        printed = run_cli(*arguments)
        assert printed.code == 130
        told = f"vericite: what was found before is in {out}.partial"
        # The second time nothing was found before it was stopped.
        assert (told in printed.err) == (turn == 0)
        lines = Path(f"{out}.partial").read_text().splitlines()
        assert {line.split()[0] for line in lines} == {"q0"}
    assert not out.exists()


@pytest.mark.parametrize("command", ["check", "attribute", "repair"])
def test_a_file_that_turns_out_not_to_be_writable_is_told(run_cli, tmp_path, command: str):
    out = tmp_path / "out.jsonl"
    (tmp_path / "out.jsonl.partial").mkdir()
    printed = run_cli(command, answers(tmp_path), "--out", str(out))
    assert printed.code == 2
    told = " ".join(printed.err.split())
    assert f"expected --out to be a file that can be written; found {out}: Is a directory" in told


def test_a_run_that_turns_out_not_to_be_writable_ends_the_search(run_cli, tmp_path):
    batch, out = questions(tmp_path), tmp_path / "out.trec"
    (tmp_path / "out.trec.partial").mkdir()
    printed = run_cli("search", "--batch", batch, "--out", str(out), "--by", "bm25", "--set", "search.rerank=none")
    assert printed.code == 2
    assert " ".join(printed.err.split()).count("expected --out to be a file that can be written") == 1


@pytest.mark.parametrize(("end", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_terminated_run_reports_where_its_results_are(run_cli, tmp_path, end: signal.Signals, code: int):
    out, pipe = tmp_path / "out.jsonl", tmp_path / "answers.jsonl"
    os.mkfifo(pipe)
    arguments = [str(pipe), "--format", "vericite", "--judge", "lexical", "--set", "llm.cache=false", "--out", str(out)]
    running = subprocess.Popen(
        [sys.executable, "-m", "vericite", "check", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    record = {"id": "a", "answer": "Statins lower LDL [1].", "documents": DOCUMENTS}
    with pipe.open("w") as answers_left_open:
        for number in range(400):
            answers_left_open.write(json.dumps({**record, "id": f"a{number}"}) + "\n")
        answers_left_open.flush()
        until = time.monotonic() + 60
        while not (Path(f"{out}.partial").exists() and Path(f"{out}.partial").stat().st_size):
            assert running.poll() is None and time.monotonic() < until
            time.sleep(0.05)
        other = run_cli("check", answers(make_folder(tmp_path)), *arguments[1:])
        running.send_signal(end)
        _, told = running.communicate(timeout=60)
    assert other.code == 2 and "another run is writing it" in " ".join(other.err.split())
    assert running.returncode == code
    assert f"{out}.partial" in told
