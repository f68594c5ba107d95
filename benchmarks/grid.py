"""What `vericite run` takes beside its cells: twelve cells of extractive answers, which share searches and answers.

    python benchmarks/grid.py [--questions 60]

Three depths and four ways to judge, over the demonstration corpus, nothing from the cache. Printed is the processor
time of the whole process, its start included, over that of its cells. Cells that share work take less than they would
alone, so that the share is an upper bound.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from vericite.cli import main as vericite
from vericite.corpus import demo_questions
from vericite.lab.experiment.grid import Grid
from vericite.records import to_json


def experiment(folder: Path, questions: int) -> Path:
    """The file of the experiment, with the questions beside it."""
    asked = folder / "questions.jsonl"
    asked.write_text("".join(to_json(question) + "\n" for question in demo_questions()), encoding="utf-8")
    judged = {
        "vericite": {"protocol": "vericite"},
        "default": {"protocol": "default"},
        "early": {"protocol": "early"},
        "lexical": {"judge": "lexical"},
    }
    content = {
        "name": "grid",
        "questions": {"from": str(asked), "sample": questions},
        "plan": {"search": {"corpus": "demo", "by": "bm25", "rerank": "none"}},
        "axes": {
            "k": {str(k): {"search": {"k": k}} for k in (2, 4, 6)},
            "judge": {name: {"check": check} for name, check in judged.items()},
        },
    }
    path = folder / "experiment.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def main() -> None:
    """Run it and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=60)
    questions = parser.parse_args().questions
    cells: list[float] = []
    run_cell = Grid._run_cell  # pyright: ignore[reportPrivateUsage]

    def timed(grid: Grid, *given: Any) -> Any:
        before = time.process_time()
        outcome = run_cell(grid, *given)
        cells.append(time.process_time() - before)
        return outcome

    setattr(Grid, "_run_cell", timed)  # noqa: B010
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["VERICITE_CACHE"] = str(folder / "cache")
        sys.argv = ["vericite", "run", str(experiment(folder, questions)), "--to", str(folder / "runs")]
        # A command ends the process.
        with suppress(SystemExit):
            vericite()
    whole = time.process_time()
    beside = whole - sum(cells)
    print(f"{len(cells)} cells: {sum(cells):.1f} s of processor time; beside them {beside:.2f} s", end=" ")
    print(f"({beside / sum(cells):.1%})")


if __name__ == "__main__":
    main()
