"""A language model as a judge: by its label, by its label's probability, and in a mean with the bundled verifier.

Usage: python benchmarks/language_judges.py gguf:MODEL [--healthver FILE] [--n 120]

The pairs are rows of HealthVer's dev table, the same number of each label, chosen by the hash of their place. Each row
has the area under the curve of supported against the rest, and macro-F1 of three labels, with 95 % intervals of a
bootstrap over claims' pairs, and the seconds a pair that were waited for (none where a reply was cached).
"""

from __future__ import annotations

import argparse
import csv
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

from vericite.llm import LLM, Settings
from vericite.models.contracts import Judge, Pair
from vericite.verify.judges.bundled import BundledJudge, LexicalJudge, MeanJudge
from vericite.verify.judges.llm import PROMPTS, LlmJudge
from vericite.verify.judging import ask

GOLD = {"Supports": 0, "Refutes": 1, "Neutral": 2}
ROUNDS = 1000


def main() -> None:
    """Print a row a judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model")
    parser.add_argument("--healthver", type=Path, default=Path("../shared/data/healthver/healthver_dev.csv"))
    parser.add_argument("--n", type=int, default=120)
    given = parser.parse_args()
    pairs, gold = chosen(given.healthver, given.n)
    llm = LLM(given.model, Settings(timeout=600, deadline=1200))
    prompt = PROMPTS["ternary"]
    rows: list[tuple[str, Judge]] = [
        ("lexical", LexicalJudge()),
        ("bundled", BundledJudge()),
        ("letters, probabilities", LlmJudge(llm, prompt)),
        ("mean of bundled and letters", MeanJudge([BundledJudge(), LlmJudge(llm, prompt)])),
        ("labels in JSON", LlmJudge(llm, prompt, probabilities=False)),
    ]
    print(f"{given.model}, {len(pairs)} pairs of {given.healthver.name}")
    for name, judge in rows:
        began = time.monotonic()
        found = ask(judge, pairs)
        seconds = (time.monotonic() - began) / len(pairs)
        judged = np.array([one.failure is None for one in found])
        probabilities = np.array([one.probabilities for one in found])[judged]
        print(f"{name:28} n {judged.sum():4} {figures(probabilities, gold[judged])}  {seconds:.2f} s", flush=True)


def chosen(path: Path, n: int) -> tuple[list[Pair], np.ndarray]:
    """As many pairs of each label."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] in GOLD]
    place = sorted(range(len(rows)), key=lambda number: sha256(str(number).encode()).hexdigest())
    kept = [number for label in GOLD for number in [at for at in place if rows[at]["label"] == label][: n // 3]]
    pairs = [Pair(rows[at]["evidence"], rows[at]["claim"]) for at in kept]
    return pairs, np.array([GOLD[rows[at]["label"]] for at in kept])


def figures(probabilities: np.ndarray, gold: np.ndarray) -> str:
    """The area and macro-F1, with intervals."""

    def of(at: np.ndarray) -> tuple[float, float]:
        own, labels = probabilities[at], gold[at]
        both = len(set(labels == 0)) == 2
        area = roc_auc_score(labels == 0, own[:, 0]) if both else float("nan")
        macro = f1_score(labels, own.argmax(axis=1), average="macro", labels=[0, 1, 2], zero_division=0)
        return float(area), float(macro)

    random = np.random.default_rng(0)
    drawn = np.array([of(random.integers(0, len(gold), len(gold))) for _ in range(ROUNDS)])
    low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
    area, macro = of(np.arange(len(gold)))
    return f"AUC {area:.3f} [{low[0]:.3f}, {high[0]:.3f}]  macro-F1 {macro:.3f} [{low[1]:.3f}, {high[1]:.3f}]"


if __name__ == "__main__":
    main()
