"""A run over many questions, kept in a folder: killed at any moment, it goes on where it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vericite.disk.lock import only_one
from vericite.errors import InputError, RecordError
from vericite.records import Question, Run, number_jsonl, to_json
from vericite.version import __version__

RUNS, MANIFEST, LOCK = "runs.jsonl", "manifest.json", ".lock"
_OURS = frozenset({RUNS, MANIFEST, LOCK, RUNS + ".partial", MANIFEST + ".partial"})


class RunFolder:
    """The runs of some questions under the same settings, a line each, and a manifest of what made and what it took.

    Args:
        folder: Where they are, or will be.
        settings: What makes them, as names and signatures; a folder takes runs of one kind only.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.settings = json.loads(json.dumps(settings))
        self._totals = Totals()

    @contextmanager
    def open(self, questions: Sequence[Question]) -> Generator[list[Question]]:
        """Hold the folder and give the questions that have no answer yet. One that failed is asked again.

        Raises:
            InputError: The folder is of something else, of other settings, or another process is at work in it.
        """
        strangers = [] if not self.folder.is_dir() else sorted({it.name for it in self.folder.iterdir()} - _OURS)
        if strangers:
            raise InputError(
                f"expected a folder of runs, or an empty one; found {self.folder} with {', '.join(strangers[:3])} in it"
            )
        with only_one(self.folder, LOCK, "asks into"):
            self._expect_same()
            done = {run.question.id for run in self._kept()}
            self._write_manifest()
            yield [question for question in questions if question.id not in done]
            self._write_manifest(finished=True)

    def add(self, run: Run) -> None:
        """Keep a run; it is on disk when this returns."""
        with (self.folder / RUNS).open("a", encoding="utf-8", newline="\n") as file:
            file.write(to_json(run) + "\n")
            file.flush()
        self._totals.add(run)

    def runs(self) -> Iterator[Run]:
        """The runs that are there, in the order in which they were made."""
        path = self.folder / RUNS
        if path.exists():
            yield from (run for _, run in number_jsonl(Run, path) if isinstance(run, Run))

    def _expect_same(self) -> None:
        path = self.folder / MANIFEST
        if not path.exists():
            return
        try:
            before = json.loads(path.read_text(encoding="utf-8"))["settings"]
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(
                f"expected the manifest of a run in {path}; found {error!r}. Name another folder."
            ) from None
        other = sorted(
            name for name in before.keys() | self.settings.keys() if before.get(name) != self.settings.get(name)
        )
        if other:
            name = other[0]
            raise InputError(
                f"expected {self.folder} to be of a run with the same settings; found another {', '.join(other)}: "
                f"{before.get(name)!r} there, {self.settings.get(name)!r} now. Name another folder."
            )

    def _kept(self) -> list[Run]:
        """The whole runs of before; a line torn by a kill, and those that failed, are dropped from the file."""
        path = self.folder / RUNS
        if not path.exists():
            return []
        whole = path.read_bytes()
        found = list(number_jsonl(Run, path))
        kept = [run for _, run in found if not isinstance(run, RecordError) and run.answer.failed is None]
        if len(kept) < len(found) or not whole.endswith(b"\n"):
            _replace(path, "".join(to_json(run) + "\n" for run in kept))
        for run in kept:
            self._totals.add(run)
        return kept

    def _write_manifest(self, finished: bool = False) -> None:
        manifest = {
            "version": __version__,
            "settings": self.settings,
            "finished": finished,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            **self._totals.record,
        }
        _replace(self.folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


class Totals:
    """What answers took, in all and each."""

    def __init__(self) -> None:
        self._answers = self._failed = 0
        self._seconds: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()
        self._cost: float | None = 0.0

    def add(self, run: Run) -> None:
        """Count a run."""
        self._answers += 1
        self._failed += run.answer.failed is not None
        self._seconds.update(run.seconds)
        if (spent := run.answer.spent) is not None:
            self._spent.update(spent.model_dump(exclude={"cost", "seconds"}))
            unknown = self._cost is None or (spent.cost is None and spent.calls > 0)
            self._cost = None if unknown else (self._cost or 0.0) + (spent.cost or 0.0)

    @property
    def record(self) -> dict[str, Any]:
        """As the manifest has it; a cost that is not known is null, never 0."""
        each = max(1, self._answers)
        return {
            "answers": self._answers,
            "failed": self._failed,
            "seconds": dict(self._seconds),
            "seconds_an_answer": {stage: seconds / each for stage, seconds in self._seconds.items()},
            "spent": dict(self._spent) if self._spent else None,
            "dollars": self._cost if self._spent else 0.0,
            "dollars_an_answer": None if self._cost is None else self._cost / each,
        }


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise InputError(f"expected {path} to be a file that can be written; found: {error.strerror}") from None
