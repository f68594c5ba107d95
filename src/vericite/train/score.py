"""Score a verifier on development files.

    python -m vericite.train.score --model FOLDER --dev DIR [--json FILE]

FOLDER is a checkpoint of ``vericite.train.fit`` or a packed model with its card. DIR holds files of labelled
pairs; those with twins get a second table.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from vericite.errors import InputError, VeriCiteError
from vericite.evaluate import Rate
from vericite.train.documents import SUFFIX, document_probabilities, read_documents
from vericite.train.measures import FileScores, Score, TwinScores, score_file, score_twins
from vericite.train.pairs import read_pairs
from vericite.train.scoring import Scorer, open_scorer

CHOOSING = (
    "healthver_dev",
    "scifact_dev",
    "clinifact_dev",
    "nli4ct_dev",
    "attributionbench_dev",
    "wice_dev",
    "reworded",
)
"""Files whose mean decides between models, where a folder has any of them: labels by people, of different origins."""


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
        held = read_documents(path)
        files.append(
            score_file(path.stem, [document.labelled for document in held], document_probabilities(scorer, held))
        )
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
        f1 = _told(file.macro_f1) if file.macro_f1 else "(binary)"
        row = [str(file.n), str(file.groups), _told(file.accuracy), f1, _told(file.balanced_accuracy), _told(file.auc)]
        table.add_row(f"{file.name} *" if file.name in CHOOSING else file.name, *row)
    means = [f"{scores.headline:.3f} (headline)", f"{scores.balanced_accuracy:.3f}", f"{scores.auc:.3f}"]
    table.add_row("mean of those marked *", "", "", "", *means)
    console.print(table)
    for name, found in scores.twins.items():
        table = Table(f"{name}: twins broken by", "pairs", "ordered", "both right", box=None)
        for twin in found:
            table.add_row(twin.kind, str(twin.ordered.n), _told(twin.ordered), _told(twin.strict))
        console.print(table)
    console.print("95 % intervals over groups; the headline is macro-F1 of three labels, else balanced accuracy")


def _told(score: Score | Rate) -> str:
    if score.value is None or score.low is None or score.high is None or np.isnan(score.value):
        return "-"
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def as_json(scores: Scores, model: str) -> str:
    """The same, for a program."""
    held = {"model": model, "headline": scores.headline, "balanced_accuracy": scores.balanced_accuracy}
    files = [dataclasses.asdict(file) for file in scores.files]
    twins = {name: [dataclasses.asdict(twin) for twin in found] for name, found in scores.twins.items()}
    return json.dumps({**held, "auc": scores.auc, "files": files, "twins": twins}, indent=2) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.score", description="Score a verifier.")
    parser.add_argument("--model", type=Path, required=True, help="a checkpoint or a packed model")
    parser.add_argument("--dev", type=Path, required=True, help="a folder of labelled pairs")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of a checkpoint")
    parser.add_argument("--documents", action="store_true", help="also whole documents, sentence by sentence (slow)")
    parser.add_argument("--json", type=Path, help="also write the scores here")
    told = parser.parse_args(arguments)
    try:
        scores = score_folder(open_scorer(told.model, told.precision), told.dev, told.documents)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(scores, Console(width=None if sys.stdout.isatty() else 150))
    if told.json:
        told.json.write_text(as_json(scores, str(told.model)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
