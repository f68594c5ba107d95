"""A real cluster on this machine: two workers and then the driver are killed, and nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vericite.formats import answers_in
from vericite.pipeline.check import check_many

pytest.importorskip("ray", reason="needs the extra [ray]")
pytestmark = pytest.mark.slow

PATIENCE = 300
ANSWERS = 120
EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"

DRIVER = """
import sys
from pathlib import Path

from vericite.formats import answers_in
from vericite.pipeline.plan import ModelPlan
from vericite.scale import CheckWork, Parts, Workers, in_parts

source, out = map(Path, sys.argv[1:])
work = CheckWork(llm=ModelPlan(cache=False))
parts = Parts(out.with_suffix(".parts"), work.settings())
with parts.open():
    made = list(in_parts(answers_in(source), work, parts, Workers(count=2), at_once=2))
out.write_bytes(b"".join(one.line + b"\\n" for one in made))
print(sum(one.is_new for one in made))
"""


def distinct_answers(path: Path) -> Path:
    """Return answers without common pairs."""
    given = [json.loads(line) for line in EXAMPLES.read_text().splitlines()]
    with path.open("w") as file:
        for number in range(ANSWERS):
            answer = json.loads(json.dumps(given[number % len(given)]))
            answer["id"] = f"a{number}"
            for document in answer["documents"]:
                document["text"] = document["text"].replace(". ", f" in trial {number}. ")
            file.write(json.dumps(answer) + "\n")
    return path


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


def workers_of(mark: str, title: str = "ray::_Worker") -> list[int]:
    """Return the processes of workers with this title, below a raylet with this mark in its environment."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # A worker's title is written over its own environment.
            if process.joinpath("cmdline").read_bytes().startswith(title.encode()):
                parent = process.joinpath("stat").read_text().rpartition(")")[2].split()[1]
                environment = Path("/proc", parent, "environ").read_bytes().split(b"\0")
                found += [int(process.name)] if mark.encode() in environment else []
        except OSError:
            continue
    return found


def test_workers_and_driver_are_killed_and_nothing_is_lost_or_doubled(tmp_path: Path):
    source, out = distinct_answers(tmp_path / "answers.jsonl"), tmp_path / "verdicts.jsonl"
    parts, mark = out.with_suffix(".parts"), f"VERICITE_TEST={tmp_path}"
    command = [sys.executable, "-c", DRIVER, str(source), str(out)]
    environment = {**os.environ, "VERICITE_TEST": str(tmp_path)}

    def done() -> int:
        return len(list(parts.glob("*-*.jsonl")))

    driver = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    killed: set[int] = set()
    try:
        for at in (3, 8):
            until(lambda at=at: done() >= at and bool(set(workers_of(mark)) - killed))
            victim = min(set(workers_of(mark)) - killed)
            os.kill(victim, signal.SIGKILL)
            killed.add(victim)
        until(lambda: done() >= 15)
    finally:
        driver.kill()
        driver.communicate()
    kept = done()
    assert 15 <= kept < ANSWERS // 2
    assert len(killed) == 2
    # What the driver started ends with it.
    until(lambda: not workers_of(mark))

    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=2 * PATIENCE)
    assert again.returncode == 0, again.stderr
    assert int(again.stdout) == ANSWERS - 2 * kept
    expected = [checked.model_dump_json() for checked in check_many(answers_in(source))]
    assert out.read_text().splitlines() == expected
