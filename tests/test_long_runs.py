"""The long runs in small: nothing is lost, and outputs are those of runs that were not killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "long_runs"


@pytest.mark.slow
@pytest.mark.parametrize("what", ["serve", "answers", "store", "cells"])
def test_a_small_long_run_loses_nothing(what: str, tmp_path: Path):
    if sys.platform != "linux":
        pytest.skip("memory is read from /proc")
    if what == "store":
        pytest.importorskip("lancedb")
    command = [sys.executable, str(SCRIPT), what, "--small", "--work", str(tmp_path / "work")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "MISSED" not in done.stdout, done.stdout + done.stderr
