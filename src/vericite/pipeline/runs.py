"""A run over many questions, kept in a folder. A run that was killed continues where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError, Problems
from vericite.records import Question, Run, number_jsonl, to_json

if TYPE_CHECKING:
    from vericite.llm import Ledger

RUNS, FAILED = "runs.jsonl", "failed.jsonl"


class RunFolder:
    """Runs with the same settings, one per line, and a manifest of their settings, cost and counts.

    Args:
        folder: Where the runs are, or will be.
        settings: What determines the runs, as names and signatures. A folder takes runs with the same settings only.
        ledger: Returns the calls made so far to all language models; the manifest records them.
        plan: The plan of the run, recorded in the manifest. It need not match; the settings must.
        data: The data set of the questions, recorded in the manifest: its name, its files, what was trained on it.
    """

    def __init__(
        self,
        folder: Path,
        settings: dict[str, Any],
        ledger: Callable[[], Ledger | None] = lambda: None,
        plan: dict[str, Any] | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self._job = Job.in_folder(folder, settings, "a run")
        self._runs, self._failed = (Lines(folder / name, Run, digests=True) for name in (RUNS, FAILED))
        self._ledger = ledger
        self._plan = plan
        self._data = data
        self._asked_before: dict[str, Any] | None = None
        self._totals = Totals()
        self._refused = 0

    @contextmanager
    def open(self, questions: Sequence[Question]) -> Generator[list[Question]]:
        """Lock the folder and yield the questions without an answer yet. Questions that failed are asked again.

        Raises:
            InputError: The folder holds something else, other settings or other questions with the same ids; a line is
                not a run; or another process is using the folder.
        """
        with self._job.open() as manifest:
            self._asked_before = manifest.get("language_models")
            done = self._answered(questions)
            self._write_manifest()
            finished = False
            try:
                yield [question for question in questions if question.id not in done]
                finished = True
            finally:
                # Calls of a stopped run count too: they were paid for.
                self._write_manifest(finished)

    def add(self, run: Run) -> None:
        """Append a run; it is on disk when this returns."""
        self._runs.append([run])
        self._totals.add(run)
        self._refused += run.answer.insufficient
        if self._ledger() is not None:
            # The calls of a process that is killed later are recorded nowhere else.
            self._write_manifest()

    def runs(self) -> Iterator[Run]:
        """Yield the stored runs, in the order in which they were made."""
        path = self.folder / RUNS
        if path.exists():
            yield from (run for _, run in Problems().kept(number_jsonl(Run, path)))

    @property
    def refused(self) -> int:
        """Number of questions that were refused because the sources do not answer them."""
        return self._refused

    @property
    def shown(self) -> EvidenceShown:
        """How much of the evidence the answers were made from."""
        return self._totals.shown

    @property
    def retrieval(self) -> dict[str, int]:
        """Numbers of questions with evidence and of gold documents, as in the manifest."""
        return self._totals.retrieval

    def _answered(self, questions: Sequence[Question]) -> set[str]:
        """Return the ids with an answer. Failed runs are removed from the file: they are asked again."""
        found = self._runs.read()
        _refuse_other_texts(self.folder, found, questions)
        kept = [run for run in found if run.answer.failed is None]
        if len(kept) < len(found):
            # Keep the cost of the failed runs.
            self._failed.append(run for run in found if run.answer.failed is not None)
            self._runs.replace(kept)
        asked = {question.id for question in questions}
        for run in kept:
            self._totals.add(run)
            self._refused += run.answer.insufficient and run.question.id in asked
        # A process that was killed between the two writes may have left runs in both files.
        for run in {to_json(run): run for run in self._failed.read()}.values():
            self._totals.add_failed_before(run)
        return {run.question.id for run in kept}

    def _write_manifest(self, finished: bool = False) -> None:
        facts: dict[str, Any] = {"plan": self._plan, "finished": finished, **self._totals.record}
        facts |= {"data": self._data} if self._data else {}
        if (asked := _sum(self._asked_before, self._ledger())) is not None:
            # The time of answers counts the generator alone; other models rewrite, judge and repair.
            each = max(1, facts["answers"])
            dollars = asked["cost"]
            facts["language_models"] = asked
            facts["dollars"] = dollars
            facts["dollars_an_answer"] = None if dollars is None else dollars / each
        self._job.note(facts)


@dataclass(frozen=True)
class EvidenceShown:
    """Numbers of documents that were found (without retracted ones) for answered questions, and that the model saw.

    Attributes:
        found: All documents found.
        in_part: Documents that were shown without some sentences.
        left_out: Documents that were not shown at all.
    """

    found: int = 0
    in_part: int = 0
    left_out: int = 0

    @classmethod
    def of(cls, run: Run) -> EvidenceShown:
        """Count one run; a failed one showed nothing."""
        if run.answer.failed is not None:
            return cls()
        found = sum(not hit.document.retracted for hit in run.evidence)
        left_out = sum(not document.shown for document in run.answer.trimmed)
        return cls(found, len(run.answer.trimmed) - left_out, left_out)

    def __add__(self, other: EvidenceShown) -> EvidenceShown:
        """Add the counts."""
        return EvidenceShown(self.found + other.found, self.in_part + other.in_part, self.left_out + other.left_out)

    @property
    def whole(self) -> int:
        """Number of documents that were shown whole."""
        return self.found - self.cut

    @property
    def cut(self) -> int:
        """Number of documents that were not shown whole."""
        return self.in_part + self.left_out


class Totals:
    """Sums over runs: tokens, cost, seconds and evidence."""

    def __init__(self) -> None:
        self.refused = 0
        self.shown = EvidenceShown()
        self._answers = self._failed = self._cut_off = 0
        self._seconds: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()
        self._cost: float | None = 0.0
        self._retrieval: Counter[str] = Counter()

    def add(self, run: Run) -> None:
        """Count a run."""
        self._answers += 1
        self._failed += run.answer.failed is not None
        self._cut_off += run.answer.cut_off
        self.refused += run.answer.insufficient
        self.shown += EvidenceShown.of(run)
        self._add_evidence(run)
        self.add_failed_before(run)

    def add_failed_before(self, run: Run) -> None:
        """Count the cost of a run whose question was asked again."""
        self._seconds.update(run.seconds)
        if (spent := run.answer.spent) is not None:
            self._spent.update(spent.model_dump(exclude={"cost", "seconds"}))
            unknown = self._cost is None or (spent.cost is None and spent.calls > 0)
            self._cost = None if unknown else (self._cost or 0.0) + (spent.cost or 0.0)

    def _add_evidence(self, run: Run) -> None:
        found = sum(not hit.document.retracted for hit in run.evidence)
        if not found and run.answer.failed is not None:
            # A failed search is not a search that found nothing.
            return
        self._retrieval.update(questions=1, with_evidence=int(found > 0), documents=found)
        if (cell := run.cell) is not None:
            self._retrieval.update({f"cell_{cell.kind}": 1}, gold=cell.gold, gold_missing=len(cell.missing))
            if cell.standard is not None:
                self._retrieval.update(padding=cell.retrieved, standard=cell.standard)

    @property
    def retrieval(self) -> dict[str, int]:
        """Counts of questions with evidence (the retrieval yield) and of documents found, gold and padding."""
        return dict(self._retrieval)

    @property
    def record(self) -> dict[str, Any]:
        """JSON-ready dict for the manifest; an unknown cost is null, never 0."""
        each = max(1, self._answers)
        return {
            "answers": self._answers,
            "failed": self._failed,
            "refused": self.refused,
            "evidence": {**asdict(self.shown), "whole": self.shown.whole},
            "cut_off": self._cut_off,
            "retrieval": self.retrieval,
            "seconds": dict(self._seconds),
            "seconds_an_answer": {stage: seconds / each for stage, seconds in self._seconds.items()},
            "spent": dict(self._spent) if self._spent else None,
            "dollars": self._cost if self._spent else 0.0,
            "dollars_an_answer": None if self._cost is None else self._cost / each,
        }


def _sum(before: dict[str, Any] | None, now: Ledger | None) -> dict[str, Any] | None:
    """Add the calls of earlier processes and of this one."""
    if before is None or now is None:
        return before if now is None else now.model_dump(mode="json")
    counts = now.model_dump(exclude={"cost", "answered_as"})
    costs = (before.get("cost"), now.cost)
    return {
        **{name: before.get(name, 0) + value for name, value in counts.items()},
        "cost": None if None in costs else sum(cost or 0.0 for cost in costs),
        "answered_as": list(dict.fromkeys([*before.get("answered_as", ()), *now.answered_as])),
    }


def _refuse_other_texts(folder: Path, runs: Iterable[Run], questions: Iterable[Question]) -> None:
    texts = {run.question.id: run.question.text for run in runs}
    for question in questions:
        there = texts.get(question.id, question.text)
        if there != question.text:
            raise InputError(
                f"expected the question {question.id} to be the one that was asked in {folder}; found {there!r} there, "
                f"{question.text!r} now. Give it another id, or name another folder."
            )
