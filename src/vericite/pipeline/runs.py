"""A run over many questions, kept in a folder: killed at any moment, it goes on where it was."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vericite.disk.lock import only_one
from vericite.disk.replacing import PARTIAL, Replacing, sync_folder
from vericite.errors import InputError, RecordError
from vericite.records import Question, Run, number_jsonl, to_json
from vericite.version import __version__

if TYPE_CHECKING:
    from vericite.llm import Ledger

RUNS, FAILED, MANIFEST, LOCK = "runs.jsonl", "failed.jsonl", "manifest.json", ".lock"
_OURS = frozenset({RUNS, FAILED, MANIFEST, LOCK, RUNS + PARTIAL, MANIFEST + PARTIAL})


class RunFolder:
    """The runs of some questions under the same settings, a line each, and a manifest of what made and what it took.

    Args:
        folder: Where they are, or will be.
        settings: What makes them, as names and signatures; a folder takes runs of one kind only.
        ledger: What all language models together were asked so far, where the manifest is to have it.
    """

    def __init__(
        self, folder: Path, settings: dict[str, Any], ledger: Callable[[], Ledger | None] = lambda: None
    ) -> None:
        self.folder = folder
        self.settings = json.loads(json.dumps(settings))
        self._ledger = ledger
        self._asked: dict[str, Any] | None = None
        self._totals = Totals()

    @contextmanager
    def open(self, questions: Sequence[Question]) -> Generator[list[Question]]:
        """Hold the folder and give the questions that have no answer yet. One that failed is asked again.

        Raises:
            InputError: The folder is of something else, of other settings or of other questions under the same ids, a
                line of it is no run, or another process is at work in it.
        """
        self._refuse_others()
        with only_one(self.folder, LOCK, "asks into"):
            self._expect_same()
            done = self._kept(questions)
            self._write_manifest()
            finished = False
            try:
                yield [question for question in questions if question.id not in done]
                finished = True
            finally:
                # Also of a run that was stopped: it was paid for.
                self._write_manifest(finished)

    def add(self, run: Run) -> None:
        """Keep a run; it is on disk when this returns."""
        self._append(RUNS, [run])
        self._totals.add(run)
        if self._ledger() is not None:
            # What a killed process was charged is nowhere else.
            self._write_manifest()

    def runs(self) -> Iterator[Run]:
        """The runs that are there, in the order in which they were made."""
        path = self.folder / RUNS
        if path.exists():
            yield from (run for _, run in number_jsonl(Run, path) if isinstance(run, Run))

    def _refuse_others(self) -> None:
        if not self.folder.is_dir() or (self.folder / MANIFEST).exists():
            return
        strangers = sorted({it.name for it in self.folder.iterdir()} - (_OURS - {RUNS, FAILED}))
        if strangers:
            raise InputError(
                f"expected a folder of runs with its {MANIFEST}, or an empty one; found {self.folder} with "
                f"{', '.join(strangers[:3])} in it. Name another folder."
            )

    def _append(self, name: str, runs: Iterable[Run]) -> None:
        path = self.folder / name
        is_new = not path.exists()
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(to_json(run) + "\n" for run in runs)
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync_folder(self.folder)

    def _expect_same(self) -> None:
        path = self.folder / MANIFEST
        if not path.exists():
            return
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            before, self._asked = dict(manifest["settings"]), manifest.get("language_models")
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(
                f"expected the manifest of a run in {path}; found {_no_manifest(error)}. Name another folder, or put "
                "the file back as it was."
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

    def _kept(self, questions: Sequence[Question]) -> set[str]:
        """The ids that have an answer. A line torn by a kill, and the runs that failed, leave the file."""
        path = self.folder / RUNS
        found = _whole(path)
        _refuse_other_texts(self.folder, found, questions)
        kept = [run for run in found if run.answer.failed is None]
        failed = [run for run in found if run.answer.failed is not None]
        if failed:
            # What they took stays known; they are asked again.
            self._append(FAILED, failed)
        if path.exists():
            _replace(path, "".join(to_json(run) + "\n" for run in kept))
        for run in kept:
            self._totals.add(run)
        # A process that was killed between the two files may have written some twice.
        for run in {to_json(run): run for run in _whole(self.folder / FAILED)}.values():
            self._totals.add_failed_before(run)
        return {run.question.id for run in kept}

    def _write_manifest(self, finished: bool = False) -> None:
        manifest = {
            "version": __version__,
            "settings": self.settings,
            "finished": finished,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            **self._totals.record,
        }
        if (asked := _sum(self._asked, self._ledger())) is not None:
            # That of answers is of those who wrote them alone; others are asked to rewrite, judge and mend.
            each = max(1, manifest["answers"])
            dollars = asked["cost"]
            manifest["language_models"] = asked
            manifest["dollars"] = dollars
            manifest["dollars_an_answer"] = None if dollars is None else dollars / each
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
        self.add_failed_before(run)

    def add_failed_before(self, run: Run) -> None:
        """Count what a run took, and not the run: its question was asked again."""
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


def _sum(before: dict[str, Any] | None, now: Ledger | None) -> dict[str, Any] | None:
    """What earlier processes asked, and this one."""
    if before is None or now is None:
        return before if now is None else asdict(now)
    both = {name: before.get(name, 0) + value for name, value in asdict(now).items() if name != "cost"}
    costs = (before.get("cost"), now.cost)
    return {**both, "cost": None if None in costs else sum(cost or 0.0 for cost in costs)}


def _whole(path: Path) -> list[Run]:
    """The runs of a file; a last line torn by a kill is passed over.

    Raises:
        InputError: Another line is no run.
    """
    if not path.exists():
        return []
    found = list(number_jsonl(Run, path))
    if found and isinstance(found[-1][1], RecordError) and _is_torn(path):
        found.pop()
    for _, run in found:
        if isinstance(run, RecordError):
            raise InputError(f"{run}. Mend or remove that line, or name another folder.")
    return [run for _, run in found if isinstance(run, Run)]


def _is_torn(path: Path) -> bool:
    whole = path.read_bytes()
    if not whole.endswith(b"\n"):
        return True
    try:
        json.loads(whole.rstrip().rpartition(b"\n")[2])
    except ValueError:
        return True
    return False


def _refuse_other_texts(folder: Path, runs: Iterable[Run], questions: Iterable[Question]) -> None:
    texts = {run.question.id: run.question.text for run in runs}
    for question in questions:
        there = texts.get(question.id, question.text)
        if there != question.text:
            raise InputError(
                f"expected the question {question.id} to be the one that was asked in {folder}; found {there!r} there, "
                f"{question.text!r} now. Give it another id, or name another folder."
            )


def _no_manifest(error: Exception) -> str:
    """What a file is instead, by what it did to whoever read it."""
    if isinstance(error, OSError):
        return error.strerror or "that it cannot be read"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON at line {error.lineno}, column {error.colno}"
    return "text that is no UTF-8" if isinstance(error, UnicodeDecodeError) else "JSON without the settings of a run"


def _replace(path: Path, text: str) -> None:
    file = Replacing(path)
    try:
        file.write([text])
        file.done()
    except OSError as error:
        file.leave()
        raise InputError(f"expected {path} to be a file that can be written; found: {error.strerror}") from None
