"""A real cluster on this machine reads the files of a store; a worker and then the driver are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from made_documents import answers, content, document
from test_scale_killed import PATIENCE, until, workers_of

from vericite.corpus.ingest import collect_sources
from vericite.corpus.store import build_store, open_store
from vericite.records import to_json

pytest.importorskip("ray", reason="needs the extra [ray]")
pytestmark = pytest.mark.slow

SMALL, LARGE, BATCH = 400, 6_000, 200
SIZES = (SMALL, SMALL, LARGE, LARGE, SMALL, SMALL, LARGE, SMALL)
"""The first files are written while the first large ones are read, so that a worker is killed in a large one."""

DRIVER = """
import sys
from pathlib import Path

from vericite.corpus.ingest import collect_sources
from vericite.corpus.store import build_store
from vericite.scale import Workers
from vericite.scale.cluster import readers

folder, store, batch = sys.argv[1:]
told = lambda it: print("items", it.items, flush=True)
with readers(Workers(count=2)) as two:
    report = build_store(store, collect_sources([Path(folder)]).sources, batch=int(batch), progress=told, readers=two)
print(len(report.skipped), len(report.resumed), report.added)
"""


def test_the_store_is_the_same_as_from_one_process_after_kills(tmp_path: Path):
    folder, store, mark = tmp_path / "files", tmp_path / "store", f"VERICITE_TEST={tmp_path}"
    folder.mkdir()
    for number, size in enumerate(SIZES):
        first = sum(SIZES[:number])
        lines = (to_json(document(at)) for at in range(first, first + size))
        (folder / f"{number}.jsonl").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-c", DRIVER, str(folder), str(store), str(BATCH)]
    environment = {**os.environ, "VERICITE_TEST": str(tmp_path)}
    driver = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None

    def committed(least: int) -> int:
        """Wait until this many items are committed."""
        for line in driver.stdout or ():
            # Ray tells here of the worker that died.
            word, _, count = line.partition(" ")
            if word == "items" and int(count) >= least:
                return int(count)
        raise AssertionError("the build ended")

    def reading() -> list[int]:
        return workers_of(mark, "ray::_read")

    try:
        committed(BATCH)
        until(lambda: bool(reading()))
        victim = reading()[0]
        os.kill(victim, signal.SIGKILL)
        # What it was reading was read by another, and the build went on.
        at_kill = committed(sum(SIZES[:4]) + BATCH)
    finally:
        driver.kill()
        driver.communicate()
    assert at_kill < sum(SIZES)
    until(lambda: not workers_of(mark, "ray::"))
    kept = len(content(store))
    assert at_kill <= kept < sum(SIZES)
    done = sum(source.done for source in open_store(store).info().sources)

    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert again.returncode == 0, again.stderr
    skipped, resumed, added = map(int, again.stdout.splitlines()[-1].split())
    assert skipped == done >= 4
    assert resumed <= 1
    assert added == sum(SIZES) - kept
    build_store(tmp_path / "alone", collect_sources([folder]).sources)
    assert content(store) == content(tmp_path / "alone")
    assert len(content(store)) == sum(SIZES)
    assert answers(store) == answers(tmp_path / "alone")
