"""A real cluster on this machine reads the files of a store; a worker and then the driver are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_documents import answers, content, document

from vericite.corpus.ingest import collect_sources
from vericite.corpus.store import build_store
from vericite.records import to_json

pytest.importorskip("ray", reason="needs the extra [ray]")
pytestmark = pytest.mark.slow

FILES, EACH = 8, 3_000


def workers_reading() -> list[int]:
    """The processes that Ray has at a file now."""
    found = subprocess.run(["pgrep", "-f", "ray::_read"], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in found.split()]


def test_the_store_is_what_one_process_makes_though_a_worker_and_the_driver_were_killed(tmp_path: Path):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(FILES):
        lines = (to_json(document(number * EACH + at)) for at in range(EACH))
        (folder / f"{number}.jsonl").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "vericite", "corpus", "build", str(folder), "--to", str(tmp_path / "store")]
    command += ["--ray", "local", "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        end = time.monotonic() + 120
        while not (reading := workers_reading()):
            assert time.monotonic() < end and driver.poll() is None, "no worker reads"
            time.sleep(0.02)
        os.kill(reading[0], signal.SIGKILL)
        while not (tmp_path / "store").exists():
            assert time.monotonic() < end, "nothing is written"
            time.sleep(0.02)
        driver.kill()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    build_store(tmp_path / "alone", collect_sources([folder]).sources)
    assert content(tmp_path / "store") == content(tmp_path / "alone")
    assert len(content(tmp_path / "store")) == FILES * EACH
    assert answers(tmp_path / "store") == answers(tmp_path / "alone")
