"""May weights be released? Their temperature is fitted on dev, and they must beat what ships."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from release.documents import SUFFIX, ScorerJudge, read_documents, verdicts
from release.score import CHOOSING, score_folder
from release.teach import CARD, Scorer, Tempered, open_scorer
from vericite.errors import InputError, ModelMissingError, UnknownNameError, VeriCiteError
from vericite.evaluate.calibration import (
    Answered,
    Booleans,
    CurvePoint,
    JudgedPairs,
    adaptive_ece,
    brier,
    choose_threshold,
    fit_temperature,
    negative_log_likelihood,
    risk_coverage,
)
from vericite.lab.train.data import Floats, LabelledPair, read_pairs
from vericite.models.contracts import Pair


@dataclass(frozen=True)
class Calibrated:
    """A temperature, what it does on each file, and the curve at it."""

    temperature: float
    files: dict[str, JudgedPairs]
    curve: list[CurvePoint]
    over: str

    @property
    def abstain_below(self) -> float:
        """The threshold chosen."""
        return choose_threshold(self.curve)


def judged(pairs: Sequence[LabelledPair], probabilities: Floats) -> JudgedPairs:
    """Pairs with what was said of them."""
    gold = np.array([pair.column for pair in pairs], dtype=np.int64)
    return JudgedPairs(gold, probabilities, np.array([pair.binary for pair in pairs], dtype=np.bool_))


def calibrate(scorer: Scorer, dev: Path, only: Sequence[str] = (), documents: bool = False) -> Calibrated:
    """Fit on the files named; else on those that models are chosen by; else on all pairs of the folder.

    Raises:
        InputError: There are no files of the kind asked for.
        UnknownNameError: One that is named is not there.
    """
    found = {path.stem: path for path in sorted(dev.glob("*.jsonl"))}
    files: dict[str, JudgedPairs] = {}
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


def write_card(model: Path, fields: Mapping[str, object]) -> None:
    """Put fields into the card, all of them or none.

    Raises:
        ModelMissingError: The folder has no card; only a packed model has.
    """
    path = model / CARD
    if not path.is_file():
        raise ModelMissingError(f"expected a packed model with a {CARD}; found none in {model}. Pack the checkpoint.")
    card = json.loads(path.read_text(encoding="utf-8"))
    part = path.with_name(path.name + ".part")
    text = json.dumps({**card, **fields}, indent=2, ensure_ascii=False)
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


def calibrate_main(arguments: list[str] | None = None) -> int:
    """Read the command line, fit, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release gate", description="Calibrate a verifier.")
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
            write_card(told.model, {"temperature": found.temperature})
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(calibrate_main())


LOSS_ALLOWED = 0.005
AGREEMENT_NEEDED = 0.98
"""Less is a packing gone wrong. How far above it is says more of how many pairs lie near a boundary than of packing."""


@dataclass(frozen=True)
class Verdict:
    """What the gate found, on the mean of the development files' headlines."""

    agreement: float
    checkpoint: float
    packed: float
    shipped: float

    @property
    def refusals(self) -> list[str]:
        """Why the weights must not ship; empty if they may."""
        found: list[str] = []
        if self.agreement < AGREEMENT_NEEDED:
            found.append(f"expected packed labels to agree on {AGREEMENT_NEEDED:.0%}; found {self.agreement:.2%}")
        if self.checkpoint - self.packed > LOSS_ALLOWED:
            found.append(f"expected packing to cost {LOSS_ALLOWED}; found {self.checkpoint - self.packed:.4f}")
        if self.packed <= self.shipped:
            found.append(f"expected better than what ships, {self.shipped:.4f}; found {self.packed:.4f}")
        return found


class _Kept:
    """A scorer that keeps what it said, to be compared."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.said: list[Floats] = []

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        found = self._scorer.probabilities(pairs)
        self.said.append(found)
        return found


def judge(checkpoint: Path, packed: Path, shipped: Path, dev: Path) -> Verdict:
    """Score all three on the development files."""
    exact, small = _Kept(open_scorer(checkpoint)), _Kept(open_scorer(packed))
    scores = [score_folder(scorer, dev).headline for scorer in (exact, small, open_scorer(shipped))]
    same = np.concatenate([a.argmax(1) == b.argmax(1) for a, b in zip(exact.said, small.said, strict=True)])
    return Verdict(float(same.mean()), *scores)


def gate_main(arguments: list[str] | None = None) -> int:
    """Read the command line; exit code 1 refuses."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release gate", description="May these weights ship?")
    for name in ("checkpoint", "packed", "shipped", "dev"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    told = parser.parse_args(arguments)
    try:
        verdict = judge(told.checkpoint, told.packed, told.shipped, told.dev)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    sys.stdout.write(f"{verdict}\n")
    for refusal in verdict.refusals:
        sys.stderr.write(f"refused: {refusal}\n")
    return 1 if verdict.refusals else 0


if __name__ == "__main__":
    sys.exit(gate_main())
