"""Score a verifier on development files.

    python recipes/verifier/release score --model FOLDER --dev DIR [--json FILE]

FOLDER is a checkpoint of ``vericite.lab.train.fit`` or a packed model with its card. DIR holds files of labelled
pairs; those with twins get a second table.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.console import Console
from rich.table import Table

from gpu import CHOOSING
from release.classification import (
    PairMeasure,
    auc,
    balanced_accuracy,
    clustered_accuracy,
    estimate_pairs,
    macro_f1,
)
from release.documents import SUFFIX, document_probabilities, read_documents
from release.teach import Scorer, open_scorer
from vericite.errors import InputError, VeriCiteError
from vericite.evaluate.resampling import Bootstrap, members
from vericite.lab.train.data import Floats, Integers, LabelledPair, read_pairs
from vericite.models.contracts import ENTAILS
from vericite.records import Rate, RateTally

DRAWN = Bootstrap(method="percentile", widened=False)
"""What the tables of every release so far were made with; another would make them differ by more than the models."""


@dataclass(frozen=True)
class Score:
    """A measure with its interval."""

    value: float
    low: float
    high: float


def bootstrapped(measure: PairMeasure, gold: Integers, probabilities: Floats, groups: Sequence[str]) -> Score:
    """The measure, and where it lies when groups are drawn again, seeded."""
    estimate = estimate_pairs(measure, gold, probabilities, groups, DRAWN)
    return Score(*(np.nan if value is None else value for value in (estimate.value, estimate.low, estimate.high)))


@dataclass(frozen=True)
class FileScores:
    """How a verifier does on one file; of a binary one, only how well it tells entailed from not."""

    name: str
    n: int
    groups: int
    binary: bool
    accuracy: Rate
    macro_f1: Score | None
    balanced_accuracy: Score
    auc: Score

    @property
    def headline(self) -> float:
        """What models are chosen by: macro-F1 over three labels, else balanced accuracy."""
        return self.macro_f1.value if self.macro_f1 else self.balanced_accuracy.value


def score_file(name: str, pairs: Sequence[LabelledPair], probabilities: Floats) -> FileScores:
    """All measures over a file's pairs."""
    gold = np.array([pair.column for pair in pairs], dtype=np.int64)
    groups = [pair.group for pair in pairs]
    binary = any(pair.binary for pair in pairs)
    called = probabilities.argmax(1)
    right = (called == ENTAILS) == (gold == ENTAILS) if binary else called == gold
    return FileScores(
        name,
        len(pairs),
        len(members(groups)),
        binary,
        clustered_accuracy(right, groups),
        None if binary else bootstrapped(macro_f1, gold, probabilities, groups),
        bootstrapped(balanced_accuracy, gold, probabilities, groups),
        bootstrapped(auc, gold, probabilities, groups),
    )


@dataclass(frozen=True)
class TwinScores:
    """Supported claims against their broken twins, of one kind.

    Attributes:
        ordered: The supported one is held likelier to be entailed.
        strict: Both get the label that is theirs, told only as entailed or not.
    """

    kind: str
    ordered: Rate
    strict: Rate


def score_twins(pairs: Sequence[LabelledPair], probabilities: Floats) -> list[TwinScores]:
    """By how each broken twin was made, then all together."""
    twins: dict[tuple[str, str], list[int]] = {}
    for row, pair in enumerate(pairs):
        if pair.twin is not None:
            twins.setdefault((pair.source, pair.twin), []).append(row)
    tallies: dict[str, tuple[RateTally, RateTally]] = {}
    called = probabilities.argmax(1) == ENTAILS
    for rows in twins.values():
        for true in (row for row in rows if pairs[row].supported):
            for broken in (row for row in rows if not pairs[row].supported):
                ordered = bool(probabilities[true, ENTAILS] > probabilities[broken, ENTAILS])
                strict = bool(called[true] and not called[broken])
                for kind in (pairs[broken].kind, "all"):
                    first, second = tallies.setdefault(kind, (RateTally(), RateTally()))
                    first.add(int(ordered), 1)
                    second.add(int(strict), 1)
    last = sorted(tallies, key=lambda kind: (kind == "all", kind))
    return [TwinScores(kind, tallies[kind][0].rate, tallies[kind][1].rate) for kind in last]


def plain(value: Any) -> Any:
    """The same with null for a score that one label leaves undefined: JSON has no other word for it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[Any]", value)]
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True)
class Scores:
    """How a verifier does on all files of a folder."""

    files: list[FileScores]
    twins: dict[str, list[TwinScores]]

    @property
    def headline(self) -> float:
        """What models are chosen by: the mean of the headlines of ``CHOOSING``."""
        return float(np.mean([scores.headline for scores in self._choosing]))

    @property
    def balanced_accuracy(self) -> float:
        """The mean over the same files."""
        return float(np.nanmean([scores.balanced_accuracy.value for scores in self._choosing]))

    @property
    def auc(self) -> float:
        """The mean over the same files."""
        return float(np.nanmean([scores.auc.value for scores in self._choosing]))

    @property
    def _choosing(self) -> list[FileScores]:
        return [scores for scores in self.files if scores.name in CHOOSING] or self.files


def score_folder(scorer: Scorer, dev: Path, documents: bool = False) -> Scores:
    """Score every ``*.jsonl`` of a folder, those of whole documents (``*_doc.jsonl``) only if asked to.

    Raises:
        InputError: There is none, or one holds no labelled pairs.
    """
    paths = sorted(path for path in dev.glob("*.jsonl") if not path.stem.endswith(SUFFIX))
    if not paths:
        raise InputError(f"expected files of labelled pairs, *.jsonl, in {dev}; found none")
    files: list[FileScores] = []
    twins: dict[str, list[TwinScores]] = {}
    for path in sorted(dev.glob(f"*{SUFFIX}.jsonl")) if documents else []:
        whole = read_documents(path)
        files.append(score_file(path.stem, [it.labelled for it in whole], document_probabilities(scorer, whole)))
    for path in paths:
        pairs = read_pairs(path)
        probabilities = scorer.probabilities([pair.pair for pair in pairs])
        files.append(score_file(path.stem, pairs, probabilities))
        if found := score_twins(pairs, probabilities):
            twins[path.stem] = found
    return Scores(files, twins)


def show(scores: Scores, console: Console) -> None:
    """Print the tables."""
    table = Table("file", "pairs", "groups", "accuracy", "macro-F1", "balanced accuracy", "AUC", box=None)
    for file in scores.files:
        f1 = _format(file.macro_f1) if file.macro_f1 else "(binary)"
        row = [
            str(file.n),
            str(file.groups),
            *(_format(file.accuracy), f1, _format(file.balanced_accuracy), _format(file.auc)),
        ]
        table.add_row(f"{file.name} *" if file.name in CHOOSING else file.name, *row)
    means = [f"{scores.headline:.3f} (headline)", f"{scores.balanced_accuracy:.3f}", f"{scores.auc:.3f}"]
    table.add_row("mean of those marked *", "", "", "", *means)
    console.print(table)
    for name, found in scores.twins.items():
        table = Table(f"{name}: twins broken by", "pairs", "ordered", "both right", box=None)
        for twin in found:
            table.add_row(twin.kind, str(twin.ordered.n), _format(twin.ordered), _format(twin.strict))
        console.print(table)
    console.print("95 % intervals over groups; the headline is macro-F1 of three labels, else balanced accuracy")


def _format(score: Score | Rate) -> str:
    if score.value is None or score.low is None or score.high is None or np.isnan(score.value):
        return "-"
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def as_json(scores: Scores, model: str) -> str:
    """The same, for a program."""
    summary = {"model": model, "headline": scores.headline, "balanced_accuracy": scores.balanced_accuracy}
    files = [dataclasses.asdict(file) for file in scores.files]
    twins = {name: [dataclasses.asdict(twin) for twin in found] for name, found in scores.twins.items()}
    return json.dumps({**summary, "auc": scores.auc, "files": files, "twins": twins}, indent=2) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release score", description="Score a verifier.")
    parser.add_argument("--model", type=Path, required=True, help="a checkpoint or a packed model")
    parser.add_argument("--dev", type=Path, required=True, help="a folder of labelled pairs")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of a checkpoint")
    parser.add_argument("--documents", action="store_true", help="also whole documents, sentence by sentence (slow)")
    parser.add_argument("--json", type=Path, help="also write the scores here")
    options = parser.parse_args(arguments)
    try:
        scores = score_folder(open_scorer(options.model, options.precision), options.dev, options.documents)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(scores, Console(width=None if sys.stdout.isatty() else 150))
    if options.json:
        options.json.write_text(as_json(scores, str(options.model)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
