"""Fit a verifier's temperature, and say how unsure a verdict may be.

    python -m vericite.train.calibrate --model FOLDER --dev DIR [--only NAME ...] [--documents] [--write]

DIR holds development files of labelled pairs. With ``--write`` the temperature goes into the card of a packed model;
the hashes in the card are those of its other files, which do not change.

The rule for ``abstain_below``: the highest hundredth at which nine verdicts in ten are still given, files weighed
alike; none, if the verdicts given then are not more often right than all. With ``--documents`` verdicts are those of
the default protocol over the whole documents in DIR, which is what users meet; else those over single pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from vericite.errors import InputError, ModelMissingError, UnknownNameError, VeriCiteError
from vericite.evaluate.calibration import (
    Answered,
    Booleans,
    CurvePoint,
    Judged,
    adaptive_ece,
    brier,
    choose_threshold,
    fit_temperature,
    negative_log_likelihood,
    risk_coverage,
)
from vericite.train.documents import SUFFIX, read_documents
from vericite.train.pairs import LabelledPair, read_pairs
from vericite.train.score import CHOOSING
from vericite.train.scoring import CARD, Floats, Scorer, Tempered, open_scorer
from vericite.train.verdicts import ScorerJudge, verdicts


@dataclass(frozen=True)
class Calibrated:
    """A temperature, what it does on each file, and the curve at it."""

    temperature: float
    files: dict[str, Judged]
    curve: list[CurvePoint]
    over: str

    @property
    def abstain_below(self) -> float:
        """The threshold chosen."""
        return choose_threshold(self.curve)


def judged(pairs: Sequence[LabelledPair], probabilities: Floats) -> Judged:
    """Pairs with what was said of them."""
    gold = np.array([pair.column for pair in pairs], dtype=np.int64)
    return Judged(gold, probabilities, np.array([pair.binary for pair in pairs], dtype=np.bool_))


def calibrate(scorer: Scorer, dev: Path, only: Sequence[str] = (), documents: bool = False) -> Calibrated:
    """Fit on the files named; else on those that models are chosen by; else on all pairs of the folder.

    Raises:
        InputError: There are no files of the kind asked for.
        UnknownNameError: One that is named is not there.
    """
    found = {path.stem: path for path in sorted(dev.glob("*.jsonl"))}
    files: dict[str, Judged] = {}
    for name in _chosen([name for name in found if not name.endswith(SUFFIX)], only, dev):
        pairs = read_pairs(found[name])
        files[name] = judged(pairs, scorer.probabilities([pair.pair for pair in pairs]))
    temperature = round(fit_temperature(list(files.values())), 4)
    if not documents:
        cooled = [held.at(temperature) for held in files.values()]
        # What the product holds against its bar is the probability of the label, also where data are binary.
        answered = Answered.of([(held.probabilities.max(1), held.right) for held in cooled])
        return Calibrated(temperature, files, risk_coverage(answered), "pairs")
    whole = [path for name, path in found.items() if name.endswith(SUFFIX)]
    if not whole:
        raise InputError(f"expected files of whole documents, *{SUFFIX}.jsonl, in {dev}; found none")
    answered = Answered.of([_answered(Tempered(scorer, temperature), path) for path in whole])
    return Calibrated(temperature, files, risk_coverage(answered), "documents")


def _chosen(names: Sequence[str], only: Sequence[str], dev: Path) -> Sequence[str]:
    if not names:
        raise InputError(f"expected files of labelled pairs, *.jsonl, in {dev}; found none")
    for name in only:
        if name not in names:
            raise UnknownNameError("file of labelled pairs", name, names)
    return only or [name for name in names if name in CHOOSING] or names


def _answered(scorer: Scorer, path: Path) -> tuple[Floats, Booleans]:
    held = read_documents(path)
    said = verdicts(ScorerJudge(scorer), held)
    return said.sureness, judged([document.labelled for document in held], said.one_hot).right


def write_temperature(model: Path, temperature: float) -> None:
    """Put it into the card, whole or not at all.

    Raises:
        ModelMissingError: The folder has no card; only a packed model has.
    """
    path = model / CARD
    if not path.is_file():
        raise ModelMissingError(f"expected a packed model with a {CARD}; found none in {model}. Pack the checkpoint.")
    card = json.loads(path.read_text(encoding="utf-8"))
    part = path.with_name(path.name + ".part")
    text = json.dumps({**card, "temperature": temperature}, indent=2, ensure_ascii=False)
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)


def show(found: Calibrated, console: Console) -> None:
    """Print the temperature, its effect and the curve."""
    table = Table("file", "pairs", "its own", "NLL", "after", "ECE", "after", "Brier", "after", box=None)
    for name, before in found.files.items():
        after = before.at(found.temperature)
        own = f"{fit_temperature([before]):.2f}"
        losses = [f"{negative_log_likelihood([held]):.3f}" for held in (before, after)]
        gaps = [f"{adaptive_ece(held.confidence, held.right):.3f}" for held in (before, after)]
        three = not before.binary.any()
        briers = [f"{brier(held.gold, held.probabilities):.3f}" if three else "-" for held in (before, after)]
        table.add_row(name, str(len(before.gold)), own, *losses, *gaps, *briers)
    console.print(f"temperature {found.temperature:g}, files weighed alike")
    console.print(table)
    table = Table("abstain_below", "coverage", "risk", box=None)
    for point in _told(found.curve):
        risk = "-" if point.risk is None else f"{point.risk:.3f}"
        table.add_row(f"{point.threshold:.2f}", f"{point.coverage:.3f}", risk)
    console.print(f"verdicts on {found.over}:")
    console.print(table)
    console.print(f"abstain_below {found.abstain_below:g}")


def _told(curve: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Every fifth point from a third on: three labels leave the likeliest no less."""
    return [point for index, point in enumerate(curve) if index == 0 or (index % 5 == 0 and point.threshold > 1 / 3)]


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, fit, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.calibrate", description="Calibrate a verifier.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model, or a checkpoint to only look at")
    parser.add_argument("--dev", type=Path, required=True, help="a folder of labelled pairs")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="fit on this file; may be repeated")
    parser.add_argument("--documents", action="store_true", help="choose abstain_below on whole documents (slow)")
    parser.add_argument("--write", action="store_true", help="put the temperature into the model's card")
    told = parser.parse_args(arguments)
    try:
        found = calibrate(open_scorer(told.model), told.dev, told.only, told.documents)
        show(found, Console(width=None if sys.stdout.isatty() else 150))
        if told.write:
            write_temperature(told.model, found.temperature)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
