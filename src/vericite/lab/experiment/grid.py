"""Run an experiment cell by cell in a folder; a stopped experiment can be resumed.

FOLDER/experiment.json   the experiment, hashes of its questions, packages, machine and cost
FOLDER/shared/           judgements that the cells share
FOLDER/cells/NAME/       the runs of a cell, as written by ``vericite ask --save``
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vericite.datasets.registry import describe_data
from vericite.disk.files import only_one, write_whole
from vericite.disk.jobs import LOCK, MANIFEST
from vericite.errors import InputError, Problems
from vericite.lab.experiment.config import Cell, Experiment, digest_of, read_chosen
from vericite.lab.experiment.sharing import Counts, Sharing
from vericite.pipeline.build import build, fingerprint, open_search, settings_of
from vericite.pipeline.plan import SECTIONS
from vericite.pipeline.runs import RunFolder
from vericite.verify.judges.registry import expect_judge
from vericite.version import __version__

if TYPE_CHECKING:
    from vericite.llm import LLM, Ledger
    from vericite.pipeline.ask import Pipeline
    from vericite.pipeline.plan import Plan
    from vericite.pipeline.search import Search
    from vericite.records import Question
    from vericite.retrieve.vectors import OnEmbedding

EXPERIMENT, CELLS, SHARED = "experiment.json", "cells", "shared"
JUDGEMENTS = "judgements.sqlite"


@dataclass
class GridProgress:
    """The progress of an experiment.

    Attributes:
        cells: Number of cells.
        cell: Number of the current cell, from 1.
        name: Name of the current cell.
        done: Number of questions answered, in all cells.
        total: Number of questions, in all cells.
        made: Number of questions answered by this process.
        failed: Number of questions that failed in this process.
        cost: Dollars charged to this process; None if unknown.
    """

    cells: int
    total: int
    cell: int = 0
    name: str = ""
    done: int = 0
    made: int = 0
    failed: int = 0
    cost: float | None = 0.0
    began: float = field(default_factory=time.monotonic)

    @property
    def rate(self) -> float | None:
        """Questions per minute in this process."""
        passed = time.monotonic() - self.began
        return self.made / passed * 60 if self.made and passed else None

    @property
    def left(self) -> float | None:
        """Estimated seconds for the rest."""
        return None if not self.rate else (self.total - self.done) / self.rate * 60


@dataclass
class Changes:
    """Differences between an experiment and the previous state of its folder.

    Attributes:
        kept: Cells that have not changed.
        new: New cells.
        touched: Cells with a changed plan, with the changed fields. Their old runs stay in the folder.
        dropped: Cells that are no longer part of the experiment. They stay in the folder.
        questions: Whether the questions have changed.
    """

    kept: list[str] = field(default_factory=list[str])
    new: list[str] = field(default_factory=list[str])
    touched: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    dropped: list[str] = field(default_factory=list[str])
    questions: bool = False

    @property
    def any(self) -> bool:
        """Whether anything has changed."""
        return bool(self.new or self.touched or self.dropped or self.questions)


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of running a cell; ``reason`` is the reason of the first failure."""

    cell: Cell
    folder: Path
    questions: int
    before: int
    failed: int
    seconds: float
    counts: Counts
    reason: str | None = None


OnProgress = Callable[[GridProgress], None]


class Grid:
    """The cells of an experiment, with the folder of their runs.

    Args:
        experiment: The experiment.
        folder: The folder to write to.
        problems: Bad lines of files are added here.
        on_embedding: Called while documents of a file are embedded.
        first: Ask only this number of questions in each cell; the others can be asked later.

    Raises:
        InputError: The questions cannot be read, or a plan cannot be run.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        problems: Problems | None = None,
        on_embedding: OnEmbedding | None = None,
        first: int | None = None,
    ) -> None:
        self.experiment = experiment
        self.folder = folder
        self.cells = experiment.expanded()
        self._problems = Problems() if problems is None else problems
        self._on_embedding = on_embedding
        self._first = first
        self._read: dict[str, list[Question]] = {}
        self._digests: dict[str, str] = {}
        self._searches: dict[str, Search] = {}
        self._models: dict[str, LLM] = {}
        self._counts: dict[str, Counts] = {}
        self._seconds: dict[str, float] = {}
        for cell in self.cells:
            cell.plan.answer.expect_coherent()
            if cell.plan.check.judge is not None:
                expect_judge(cell.plan.check.judge)
            self.questions(cell)

    def questions(self, cell: Cell) -> list[Question]:
        """Return the questions of a cell."""
        plan = self.experiment.questions_of(cell)
        key = plan.model_dump_json()
        if key not in self._read:
            self._read[key] = read_chosen(plan, self._problems)
        return self._read[key]

    def _digest(self, cell: Cell) -> str:
        """Return a hash of a cell's questions, computed once for all cells with the same questions."""
        key = self.experiment.questions_of(cell).model_dump_json()
        if key not in self._digests:
            self._digests[key] = digest_of(self.questions(cell))
        return self._digests[key]

    def asked(self, cell: Cell) -> list[Question]:
        """Return the questions of a cell that are asked this time."""
        return self.questions(cell)[: self._first]

    def cell_folder(self, cell: Cell) -> Path:
        """Return the folder of a cell's runs."""
        return self.folder / CELLS / cell.folder

    @property
    def changes(self) -> Changes:
        """The changes since the folder was last written."""
        before = self._recorded.get("cells", {})
        found = Changes()
        for cell in self.cells:
            previous = before.get(cell.name)
            now = cell.plan.as_json(SECTIONS["ask"])
            if previous is None:
                found.new.append(cell.name)
                continue
            if previous["folder"] == cell.folder:
                found.kept.append(cell.name)
            else:
                found.touched[cell.name] = _changed_fields(previous["plan"], now)
            found.questions = found.questions or previous["questions_sha256"] != self._digest(cell)
        names = {cell.name for cell in self.cells}
        found.dropped = [name for name in before if name not in names]
        return found if before else Changes()

    def run(self, on_progress: OnProgress | None = None) -> Iterator[CellOutcome]:
        """Run the open questions of each cell, one cell after the other.

        Raises:
            InputError: The folder belongs to something else, or another process is using it.
            LLMAccessError: Every call to a language model would fail for the same reason.
        """
        self._refuse_foreign_folder()
        (self.folder / SHARED).mkdir(parents=True, exist_ok=True)
        with only_one(self.folder, LOCK, "works in"):
            self._write_record()
            sharing = Sharing(self.folder / SHARED / JUDGEMENTS)
            progress = GridProgress(len(self.cells), sum(len(self.asked(cell)) for cell in self.cells))
            try:
                for number, cell in enumerate(self.cells, start=1):
                    progress.cell, progress.name = number, cell.name
                    yield self._run_cell(cell, sharing, progress, on_progress)
                    self._write_record()
            finally:
                sharing.close()
            self._write_record(finished=self._first is None)

    def pipeline(self, cell: Cell) -> Pipeline:
        """Return the pipeline of a cell; cells share corpora and models."""
        plan = cell.plan
        model = self._model(plan.answer.llm, plan)
        return build(
            plan, self.questions(cell), self._problems, self._on_embedding, search=self.search(cell), model=model
        )

    def deepest(self, cell: Cell) -> int:
        """Return the largest number of documents used by any cell with the same search."""
        key = _search_key(cell.plan)
        return max(other.plan.search.depth() for other in self.cells if _search_key(other.plan) == key)

    def _run_cell(
        self, cell: Cell, sharing: Sharing, progress: GridProgress, on_progress: OnProgress | None
    ) -> CellOutcome:
        began = time.monotonic()
        questions, folder = self.asked(cell), self.cell_folder(cell)
        own = self.pipeline(cell)
        counts = self._counts[cell.name] = Counts()
        pipeline = sharing.pipeline(own, self.deepest(cell), counts, _search_key(cell.plan))
        data = describe_data(Path(self.experiment.questions_of(cell).source))
        settings = fingerprint(cell.plan, pipeline)
        # Cells share models, so the ledger also has the calls of earlier cells.
        start = own.ledger

        def own_calls() -> Ledger | None:
            now = own.ledger
            return now if now is None or start is None else now.since(start)

        kept = RunFolder(folder, settings, own_calls, cell.plan.as_json(SECTIONS["ask"]), data)
        failed, charged, reason = 0, progress.cost, None
        with kept.open(questions) as left:
            before = len(questions) - len(left)
            progress.done += before
            sharing.take(kept.runs(), pipeline, cell.plan.search.depth())
            for run in pipeline.run_many(left, cell.plan.search.depth()):
                kept.add(run)
                failed += run.answer.failed is not None
                reason = reason or run.answer.failed
                progress.failed += run.answer.failed is not None
                progress.done += 1
                progress.made += 1
                ledger = own_calls()
                progress.cost = charged if ledger is None else _add(charged, ledger.cost)
                if on_progress is not None:
                    on_progress(progress)
        self._seconds[cell.name] = time.monotonic() - began
        return CellOutcome(cell, folder, len(questions), before, failed, self._seconds[cell.name], counts, reason)

    def search(self, cell: Cell) -> Search:
        """Return the search of a cell, opened once for all cells with the same search."""
        plan = cell.plan
        key = _search_key(plan)
        if key not in self._searches:
            self._searches[key] = open_search(
                plan.search, settings_of(plan.llm), self._on_embedding, problems=self._problems
            )
        return self._searches[key]

    def _model(self, name: str | None, plan: Plan) -> LLM | None:
        if name is None:
            return None
        from vericite.llm import LLM

        key = json.dumps([name, plan.answer.window, plan.llm.model_dump(mode="json")], sort_keys=True)
        if key not in self._models:
            self._models[key] = LLM(name, replace(settings_of(plan.llm), context=plan.answer.window))
        return self._models[key]

    @property
    def _recorded(self) -> dict[str, Any]:
        """The record of the experiment in the folder."""
        path = self.folder / EXPERIMENT
        if not path.exists():
            return {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return dict(found) if isinstance(found["cells"], dict) else {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"expected the record of an experiment in {path}; found {error}. Name another folder, or restore the "
                "file."
            ) from None

    def _refuse_foreign_folder(self) -> None:
        if not self.folder.is_dir() or (self.folder / EXPERIMENT).exists():
            return
        if others := sorted({file.name for file in self.folder.iterdir()} - {LOCK, SHARED, CELLS}):
            raise InputError(
                f"expected {self.folder} to be new, or the folder of an experiment with {EXPERIMENT}; found "
                f"{', '.join(others[:3])} in it. Name another folder."
            )

    def _write_record(self, finished: bool = False) -> None:
        """Write the record of the experiment, with its cost so far."""
        before = self._recorded
        known = before.get("cells", {})
        cells = {cell.name: self._cell_record(cell, known.get(cell.name, {})) for cell in self.cells}
        record = {
            "version": __version__,
            "name": self.experiment.name,
            "about": self.experiment.about,
            "layout": self.experiment.layout,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "finished": finished,
            "cells": cells,
            "experiment": self.experiment.model_dump(mode="json", by_alias=True),
            "machine": _machine(),
            "packages": _packages(),
        }
        write_whole(self.folder / EXPERIMENT, [json.dumps(record, indent=1, ensure_ascii=False) + "\n"])

    def _cell_record(self, cell: Cell, before: Mapping[str, Any]) -> dict[str, Any]:
        same: Mapping[str, Any] = before if before.get("folder") == cell.folder else {}
        counts = self._counts.get(cell.name)
        asked = self.questions(cell)
        made = counts.record if counts else {}
        earlier = same.get("made", {})
        found: dict[str, Any] = {
            "at": dict(cell.at),
            "folder": cell.folder,
            "plan": cell.plan.as_json(SECTIONS["ask"]),
            "questions": len(asked),
            "questions_sha256": self._digest(cell),
            "ids": [question.id for question in asked],
        }
        # The counts of a killed process are lost; those of finished cells are kept.
        found["made"] = made if made and any(made.values()) else earlier
        found["seconds"] = self._seconds.get(cell.name) if found["made"] is made else same.get("seconds")
        manifest = self.cell_folder(cell) / MANIFEST
        if manifest.is_file():
            run = json.loads(manifest.read_text(encoding="utf-8"))
            names = ("answers", "failed", "dollars", "language_models", "finished")
            found |= {name: run.get(name) for name in names} | {"parts": run["settings"].get("parts")}
        return found


def _search_key(plan: Plan) -> str:
    """Return a key that is equal for cells with the same search, whatever their number of documents."""
    return json.dumps([plan.search.model_dump(mode="json", exclude={"k"}), plan.llm.model_dump(mode="json")])


def _add(charged: float | None, cost: float | None) -> float | None:
    return None if charged is None or cost is None else charged + cost


def _changed_fields(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the fields of a plan that have changed."""
    return [
        f"{section}.{name}"
        for section, values in now.items()
        for name, value in values.items()
        if before.get(section, {}).get(name, value) != value or name not in before.get(section, {})
    ]


def _machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


@cache
def _packages() -> dict[str, str]:
    """Return all installed packages with their versions."""
    names = ((package.metadata["Name"], package.version) for package in distributions())
    return dict(sorted((name, installed) for name, installed in names if name))


def folders_of(folder: Path) -> Sequence[tuple[dict[str, str], Path, frozenset[str], dict[str, Any]]]:
    """Return the cells of an experiment that was run: axes, folder, ids of questions, plan.

    Raises:
        InputError: The folder does not belong to an experiment.
    """
    path = folder / EXPERIMENT
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [
            (dict(cell["at"]), folder / CELLS / cell["folder"], frozenset(cell["ids"]), cell["plan"])
            for cell in cells.values()
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"expected the folder of an experiment, with {EXPERIMENT}; found {folder}: {error}") from None
