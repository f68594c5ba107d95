"""Fits the weights of extractive answers, and says how good they are on development questions.

    python recipes/answers/fit.py OUT --labels LABELLED
    python recipes/answers/fit.py OUT --gate WITH AWAY SWAP
    python recipes/answers/fit.py OUT --closed CLOSED

LABELLED, WITH, AWAY, SWAP and CLOSED are what ``collect.py`` wrote. OUT is ``src/vericite/generate/selection.json``.
The forms fit what chooses sentences; with that in place what refuses; and what decides yes or no.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from vericite.generate.extractive import NAMES as STANCE
from vericite.generate.selection import ENOUGH, NAMES, enough_figures, odds_of

Floats = NDArray[np.float64]
SPLITS = ("train", "dev")
PENALTY = 0.5
ANSWERED = 0.93
"""Share of the development questions whose sources answer that are answered at 0.5."""


def read(path: Path) -> list[dict[str, Any]]:
    """A file of rows."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def say(*parts: object) -> None:
    """A line of the report."""
    sys.stdout.write(" ".join(map(str, parts)) + "\n")


class Logistic:
    """Weights over named figures, fitted to standardised ones and given for plain ones."""

    def __init__(self, names: Sequence[str], x: Floats, y: Floats, *, balanced: bool = False) -> None:
        mean, spread = x.mean(0), x.std(0) + 1e-6
        model = LogisticRegression(C=PENALTY, max_iter=2000, class_weight="balanced" if balanced else None)
        model.fit((x - mean) / spread, y)
        self.names, self.strengths = names, model.coef_[0]
        self.weights = model.coef_[0] / spread
        self.bias = float(model.intercept_[0] - (self.weights * mean).sum())

    def odds(self, x: Floats) -> Floats:
        """Log odds of rows."""
        return x @ self.weights + self.bias

    def table(self) -> dict[str, float]:
        """As the package reads it."""
        return {"bias": round(self.bias, 4)} | {
            name: round(float(value), 4) for name, value in zip(self.names, self.weights, strict=True)
        }

    def tell(self) -> None:
        """How strong each figure is, in standard deviations."""
        for name, strength in zip(self.names, self.strengths, strict=True):
            say(f"    {name:26}{strength:7.3f}")


def fit_labels(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Weights of sentences, by labels; of yes/no questions the score of the reranker alone, which orders best there."""
    found: dict[str, dict[str, float]] = {}
    for name, closed, used in (("answers", False, NAMES[:4]), ("decides", True, NAMES[:1])):
        every = [(one, digit == "2", number) for number, row in enumerate(rows) if (row["type"] == "yesno") is closed
                 for one, digit in zip(row["figures"], row["labels"], strict=True) if digit is not None]  # fmt: skip
        x = np.array([one[: len(used)] for one, *_ in every])
        y, of = np.array([right for _, right, _ in every]), np.array([number for *_, number in every])
        held_out = np.zeros(len(y))
        for part in range(10):
            out = of % 10 == part
            held_out[out] = Logistic(used, x[~out], y[~out]).odds(x[out])
        say(f"{name}: {len(set(of))} questions, {len(y)} sentences, {y.mean():.3f} answer")
        say(f"  AUC held out {roc_auc_score(y, held_out):.3f}, by the reranker alone {roc_auc_score(y, x[:, 0]):.3f}")
        model = Logistic(used, x, y)
        model.tell()
        found[name] = {**model.table(), **dict.fromkeys(NAMES[len(used) :], 0.0)}
    return found


def fit_gate(
    with_gold: list[dict[str, Any]], away: list[dict[str, Any]], swap: list[dict[str, Any]]
) -> dict[str, dict[str, float]]:
    """Weights of refusing, by the sentences' weights that ship."""
    found: dict[str, list[tuple[list[float], str]]] = {split: [] for split in SPLITS}
    kinds = {"with": [row for row in with_gold if any(row["gold"])], "away": away, "swap": swap}
    for kind, rows in kinds.items():
        for row in rows:
            odds = odds_of(np.array(row["figures"], dtype=np.float32), closed=False)
            figures = enough_figures(odds, np.array(row["documents"]), min(row["missing"]))
            found[row["split"]].append((figures, kind))
    a = {split: np.array([figures for figures, _ in pairs]) for split, pairs in found.items()}
    kind = {split: np.array([kind for _, kind in pairs]) for split, pairs in found.items()}
    # The two kinds that are not answered count as much as those that are.
    gate = Logistic(ENOUGH, a["train"], kind["train"] == "with", balanced=True)
    gate.bias -= float(np.quantile(gate.odds(a["dev"])[kind["dev"] == "with"], 1 - ANSWERED))
    for split in SPLITS:
        odds, answered = gate.odds(a[split]), kind[split] == "with"
        say(f"  {split}: {answered.sum()} answerable; at 0.5 {(odds[answered] >= 0).mean():.3f} are answered")
        for other in ("away", "swap"):
            of_kind = kind[split] == other
            auc = roc_auc_score(answered[answered | of_kind], odds[answered | of_kind])
            say(f"    {other}: {of_kind.sum()}, AUC {auc:.3f}, {(odds[of_kind] < 0).mean():.3f} refused")
    gate.tell()
    return {"enough": gate.table()}


def fit_closed(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Weights of yes or no. What is "maybe" is left out."""
    known = [row for row in rows if row["stance"]["gold"] in ("yes", "no")]
    parts = {split: [row["stance"] for row in known if row["split"] == split] for split in SPLITS}
    x = {split: np.array([one["figures"] for one in ones]) for split, ones in parts.items()}
    y = {split: np.array([one["gold"] == "yes" for one in ones]) for split, ones in parts.items()}
    stance = Logistic(STANCE, x["train"], y["train"])
    for split in SPLITS:
        odds = stance.odds(x[split])
        answers = odds >= 0
        macro, always = (f1_score(y[split], given, average="macro") for given in (answers, np.ones_like(answers)))
        say(f"  {split}: {len(odds)} questions, {y[split].mean():.3f} yes; AUC {roc_auc_score(y[split], odds):.3f}")
        say(f"    accuracy {(answers == y[split]).mean():.3f}, macro-F1 {macro:.3f}, always yes {always:.3f}")
    stance.tell()
    return {"stance": {**stance.table(), "usually yes": round(float(y["train"].mean()), 4)}}


def main() -> int:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--labels", type=Path, metavar="LABELLED")
    kind.add_argument("--gate", type=Path, nargs=3, metavar=("WITH", "AWAY", "SWAP"))
    kind.add_argument("--closed", type=Path)
    given = parser.parse_args()
    if given.labels:
        found = fit_labels(read(given.labels))
    elif given.gate:
        found = fit_gate(*map(read, given.gate))
    else:
        found = fit_closed(read(given.closed))
    held = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    given.out.write_text(json.dumps({**held, **found}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
