"""Score a verifier on the sets that a release reports: once a release, never to choose between models.

    python -m vericite.train.evaluate --model FOLDER --tests DIR [--train FILE] [--anchorcite PATH] [--json FILE]

DIR is what ``python -m vericite.train.mix --released DIR`` writes. FILE is the training file, for the probe by
lengths. PATH is AnchorCite's unpacked wheel (``pip download anchorcite==0.1.0 --no-deps`` and ``unzip``).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from vericite.errors import InputError, VeriCiteError
from vericite.models import ModelFolder, Pair
from vericite.train.invariance import Invariance, invariance
from vericite.train.measures import Score, plain
from vericite.train.pairs import LabelledPair, read_pairs
from vericite.train.rival import AnchorCite
from vericite.train.scorecard import (
    ASKED,
    HEALTHVER,
    ROBUSTNESS,
    JudgedSet,
    Line,
    calibration_lines,
    judge_set,
    line,
    probe_lines,
    robustness_lines,
)
from vericite.train.scoring import Scorer, open_scorer
from vericite.train.verdicts import ScorerJudge
from vericite.verify import DEFAULT, BundledJudge, Judge

MEGABYTES = 25.0
LOGITS = 1e-3
INVARIANT_PAIRS = 300


@dataclass(frozen=True)
class Candidate:
    """A model under test: as a scorer at temperature 1, and as the judge that the verifier asks."""

    name: str
    scorer: Scorer
    judge: Judge
    temperature: float = 1.0
    folder: ModelFolder | None = None

    @classmethod
    def open(cls, path: Path) -> Candidate:
        """A packed model, or a checkpoint, which has no temperature and cannot be tried for batches or size."""
        scorer = open_scorer(path)
        if not (path / "card.json").is_file():
            return cls(str(path), scorer, ScorerJudge(scorer))
        folder = ModelFolder.open(path)
        return cls(folder.signature, scorer, BundledJudge(folder), folder.card.temperature, folder)

    @property
    def megabytes(self) -> float | None:
        """Of the weights."""
        return None if self.folder is None else (self.folder.path / "model.onnx").stat().st_size / 1e6


@dataclass(frozen=True)
class Report:
    """All that a release says of its weights.

    Attributes:
        missing: Files that the folder of tests lacks.
        undecided: By file, how many documents the verifier abstained from; they count as neutral.
    """

    model: str
    lines: list[Line]
    missing: list[str]
    undecided: dict[str, int]
    invariance: Invariance | None
    megabytes: float | None


def score_release(
    model: Candidate,
    tests: Path,
    rival: Scorer | None = None,
    train: list[LabelledPair] | None = None,
    invariant_pairs: int = INVARIANT_PAIRS,
) -> Report:
    """Score every set that the folder holds.

    Raises:
        InputError: It holds none.
    """
    names = list(dict.fromkeys([*(asked.file for asked in ASKED), ROBUSTNESS]))
    held = {name: path for name in names if (path := tests / f"{name}.jsonl").is_file()}
    if not held:
        raise InputError(f"expected the files of python -m vericite.train.mix --released in {tests}; found none")
    sets: dict[str, JudgedSet] = {}
    lines: list[Line] = []
    for name, path in held.items():
        sys.stderr.write(f"{name}\n")
        sets[name] = judge_set(path, model.scorer, model.judge)
        theirs = None if rival is None else rival.probabilities([pair.pair for pair in sets[name].pairs])
        lines += [line(sets[name], asked, theirs) for asked in ASKED if asked.file == name]
    lines.sort(key=lambda row: [asked.name for asked in ASKED].index(row.name))
    if ROBUSTNESS in sets:
        lines += robustness_lines(sets[ROBUSTNESS])
    if HEALTHVER in sets:
        lines += probe_lines(sets[HEALTHVER], model.scorer, train)
        lines += calibration_lines(sets[HEALTHVER], model.temperature)
    undecided = {name: judged.undecided for name, judged in sets.items() if judged.undecided}
    moved = _invariance(model, list(sets.values()), invariant_pairs)
    return Report(model.name, lines, [name for name in names if name not in held], undecided, moved, model.megabytes)


def _invariance(model: Candidate, sets: list[JudgedSet], count: int) -> Invariance | None:
    if model.folder is None or not count:
        return None
    pairs: list[Pair] = [pair.pair for judged in sets for pair in judged.pairs]
    return invariance(model.folder, random.Random(0).sample(pairs, min(count, len(pairs))))


def show(report: Report, console: Console) -> None:
    """Print the table and what does not fit into it."""
    compared = any(row.rival for row in report.lines)
    table = Table("set", "measure", "n", "groups", "score", "bar", "", "aim", box=None)
    for name in ("AnchorCite", "difference") if compared else ():
        table.add_column(name)
    for row in report.lines:
        bar, aim = ["" if value is None else f"{value:.2f}" for value in (row.bar, row.aim)]
        met = {None: "", True: "met", False: "missed"}[row.met]
        theirs = [_told(row.rival), _told(row.difference)] if compared else []
        table.add_row(row.file, row.name, str(row.n), str(row.groups), _told(row.score), bar, met, aim, *theirs)
    console.print(report.model)
    console.print(table)
    console.print("\n".join(_remarks(report)))


def _remarks(report: Report) -> list[str]:
    found = ["95 % intervals over groups. Chance is 1/3 for macro-F1 and 1/2 for balanced accuracy; Brier is out of 2"]
    found.append(f"documents are decided by the protocol {DEFAULT}")
    found += [
        f"{name}: {count} the verifier abstained from, counted as neutral" for name, count in report.undecided.items()
    ]
    found += [f"{name}: not among the tests" for name in report.missing]
    if report.invariance:
        moved = report.invariance
        most = max(moved.mixed, moved.padded)
        verdict = "met" if most <= LOGITS and not moved.changed else "missed"
        found.append(
            f"batches: {moved.pairs} pairs, logits move by {moved.mixed:.1e} among others and {moved.padded:.1e} "
            f"padded, {moved.changed} labels change ({LOGITS:g} and 0: {verdict})"
        )
    if report.megabytes is not None:
        verdict = "met" if report.megabytes <= MEGABYTES else "missed"
        found.append(f"weights: {report.megabytes:.1f} MB (at most {MEGABYTES:g}: {verdict})")
    return found


def _told(score: Score | None) -> str:
    if score is None or np.isnan(score.value):
        return "-" if score else ""
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def as_json(report: Report) -> str:
    """The same, for a program."""
    return json.dumps(plain(dataclasses.asdict(report)), indent=2, allow_nan=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.evaluate", description="Score a release.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model or a checkpoint")
    parser.add_argument("--tests", type=Path, required=True, help="the folder of released test sets")
    parser.add_argument("--train", type=Path, help="the training file, for the probe by lengths")
    parser.add_argument("--anchorcite", type=Path, help="AnchorCite's unpacked wheel, to compare with")
    parser.add_argument("--invariance", type=int, default=INVARIANT_PAIRS, help="pairs to try in batches; 0 for none")
    parser.add_argument("--json", type=Path, help="also write the scores here")
    told = parser.parse_args(arguments)
    try:
        rival = AnchorCite(told.anchorcite) if told.anchorcite else None
        train = read_pairs(told.train) if told.train else None
        report = score_release(Candidate.open(told.model), told.tests, rival, train, told.invariance)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(report, Console(width=None if sys.stdout.isatty() else 190))
    if told.json:
        told.json.write_text(as_json(report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
