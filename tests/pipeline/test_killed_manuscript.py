"""A check of a manuscript that is killed goes on: what was looked up and judged is not asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "corpus/references"))

from catalogue_server import CatalogueServer

pytestmark = pytest.mark.slow

COUNT = 40
IN_FLIGHT = 1
"""Look-ups are made one by one."""

COMMAND = """
import json, os, time
from vericite.cli import main
from vericite.corpus.manuscript import web
from vericite.verify.judges.bundled import BundledJudge

own = BundledJudge.judge

def judge(self, pairs):
    given = list(pairs)
    time.sleep(0.5)
    yield from own(self, given)
    with open(os.environ["JUDGED"], "a") as file:
        file.write(json.dumps([[pair.premise, pair.claim] for pair in given]) + "\\n")

BundledJudge.judge = judge
web.crossref_settings = lambda: web.CatalogueSettings(os.environ["CROSSREF"], requests_per_second=40)
main()
"""


def title(number: int) -> str:
    return f"Invented trial {number} of zelotrine and the sleep of sailors in harbour {number * 7}"


def record(number: int) -> dict[str, Any]:
    return {
        "DOI": f"10.1000/inv.{number}",
        "type": "journal-article",
        "title": [title(number)],
        "author": [{"given": "Ada", "family": "Okafor"}],
        "container-title": ["Journal of Invented Findings"],
        "issued": {"date-parts": [[2000 + number % 20]]},
    }


@pytest.fixture
def files(tmp_path: Path) -> Path:
    numbers = range(1, COUNT + 1)
    cited = [
        f"In harbour {n} zelotrine shortened the sleep of {n + 2} sailors [{n}, {n % COUNT + 1}]." for n in numbers
    ]
    listed = [f"{n}. Okafor A. {title(n)}. J Inv Find. {2000 + n % 20};1:{n}. doi:10.1000/inv.{n}" for n in numbers]
    text = "\n\n".join(["Introduction", *cited, "References", "\n".join(listed)])
    (tmp_path / "review.txt").write_text(text, "utf-8")
    # Half of the works are looked up in Crossref.
    texts = [f"Zelotrine did not change sleep. In harbour {n} the sleep of {n + 2} sailors was long." for n in numbers]
    documents = (
        {"id": f"d{n}", "title": title(n), "text": texts[n - 1], "doi": f"10.1000/inv.{n}", "year": 2000 + n % 20}
        for n in numbers
        if n % 2
    )
    (tmp_path / "sources.jsonl").write_text("".join(json.dumps(line) + "\n" for line in documents), "utf-8")
    return tmp_path


def started(files: Path, server: CatalogueServer, name: str, out: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "VERICITE_CACHE": str(files / name),
        "VERICITE_OFFLINE": "",
        "CROSSREF": server.url("crossref"),
        "JUDGED": str(files / f"{name}.judged"),
    }
    command = ["check", "review.txt", "--format", "manuscript", "--documents", "sources.jsonl,crossref", "--out", out]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *command],
        env=environment,
        cwd=files,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed_when(process: subprocess.Popen[bytes], is_time: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_time() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    assert process.poll() is None, "it ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_killed_check_goes_on_and_asks_nothing_twice(files: Path) -> None:
    judged = files / "killed.judged"

    def batches() -> list[list[str]]:
        return batches_in(judged)

    with CatalogueServer([record(number) for number in range(1, COUNT + 1)], [], {}) as server:
        assert started(files, server, "whole", "whole.json").wait() == 0
        asked = Counter(server.paths)
        server.asked.clear()
        assert len(asked) == COUNT // 2
        killed_when(started(files, server, "killed", "killed.json"), lambda: len(server.asked) > COUNT // 4)
        assert not judged.exists()
        # The next batch begins when the one before is stored.
        killed_when(started(files, server, "killed", "killed.json"), lambda: len(batches()) > 1)
        before = batches()
        assert not (files / "killed.json").exists()
        assert started(files, server, "killed", "killed.json").wait() == 0
    whole = Counter(pair for batch in batches_in(files / "whole.judged") for pair in batch)
    twice = Counter(pair for batch in batches() for pair in batch) - whole
    assert max(whole.values()) == 1 and before[0]
    # What was under way when the process died is asked again, nothing else.
    assert (Counter(server.paths) - asked).total() <= 2 * IN_FLIGHT and set(server.paths) == set(asked)
    assert set(twice) <= {pair for batch in before[1:] for pair in batch}
    assert {pair for batch in batches() for pair in batch} == set(whole)
    assert (files / "killed.json").read_text("utf-8") == (files / "whole.json").read_text("utf-8")


def batches_in(path: Path) -> list[list[str]]:
    """The whole lines of a log of judged pairs."""
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    return [list(map(str, json.loads(line))) for line in lines if line.endswith("\n")]
