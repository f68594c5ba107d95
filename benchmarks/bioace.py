"""BioACE's parts on K-QA: agreement of the bundled judge with annotators, and nugget recall of cut gold answers.

Usage: python benchmarks/bioace.py [--kqa FOLDER] [--questions 40]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from vericite.assess.mixture import fit_mixture
from vericite.assess.nuggets import score_nuggets, similarities, split_nuggets
from vericite.datasets.registry import source_named
from vericite.models import Embedder
from vericite.models.contracts import Pair
from vericite.text.sentences import split_sentences
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judging import ask

COLUMNS = ["Entailment", "Contradiction", "Neutral"]
SHARES = (1.0, 0.75, 0.5, 0.25)


def agreement(path: Path) -> None:
    """Kappa of the judge with the majority, over sentences of the answer, beside each annotator's with the others'."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    judge = BundledJudge()
    said: list[str] = []
    for row in rows:
        text = row["answer"]
        premises = [text[span.slice] for span in split_sentences(text)] or [text]
        found = np.array([one.probabilities for one in ask(judge, [Pair(it, row["claim"]) for it in premises])])
        entails, contradicts = found[:, 0].max(), found[:, 1].max()
        said.append(COLUMNS[int(np.argmax([entails, contradicts, min(1 - entails, 1 - contradicts)]))])
    majority = [row["majority_label"] for row in rows]
    print(f"judge with majority: kappa {cohen_kappa_score(said, majority):.3f} (n {len(rows)})", flush=True)
    names = [name for name in rows[0] if name.startswith("label_")]
    for name in names:
        others = [[row[other] for other in names if other != name] for row in rows]
        agreed = [(row[name], two[0]) for row, two in zip(rows, others, strict=True) if two[0] == two[1]]
        value = cohen_kappa_score(*zip(*agreed, strict=True))
        print(f"{name} with the other two where they agree: kappa {value:.3f} (n {len(agreed)})")


def recall(path: Path, count: int) -> None:
    """Kendall's tau a question between nugget recall and how much of the gold answer is left."""
    problems: list = []
    gold = source_named(f"kqa:{path}").gold(problems)
    kept = [it for it in gold.values() if it.nuggets and it.ideal and len(split_sentences(it.ideal[0])) >= 4][:count]
    embedder = Embedder.shared()
    matrices, unrelated = [], []
    for place, one in enumerate(kept):
        text = one.ideal[0]
        spans = split_sentences(text)
        nuggets = [it.text for it in one.nuggets or ()]
        cuts = [text[: spans[max(round(len(spans) * share), 1) - 1].end] for share in SHARES]
        matrices.append([similarities(embedder, split_nuggets(cut), nuggets) for cut in cuts])
        unrelated.append(similarities(embedder, split_nuggets(kept[place - 1].ideal[0]), nuggets))
    train = [found[0].ravel() for found in matrices] + [found.ravel() for found in unrelated]
    mixture = fit_mixture(np.concatenate(train), embedder.signature)
    print(f"{mixture.signature}, means {mixture.means}, turns at {mixture.turns_at}")
    for way in ("greedy", "optimal"):
        recalls = np.array([[score_nuggets(it, mixture, way).recall or 0 for it in found] for found in matrices])
        # All alike is no order at all: it counts as 0.
        taus = np.nan_to_num([kendalltau(row, SHARES).statistic for row in recalls])
        other = np.mean([score_nuggets(it, mixture, way).recall or 0 for it in unrelated])
        means = ", ".join(f"{share:.0%} {value:.3f}" for share, value in zip(SHARES, recalls.mean(axis=0), strict=True))
        print(f"{way}: tau {taus.mean():.3f} (n {len(taus)}); recall at {means}; unrelated {other:.3f}", flush=True)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description="BioACE's parts on K-QA.")
    parser.add_argument("--kqa", type=Path, default=Path("../shared/data/kqa/dataset"))
    parser.add_argument("--questions", type=int, default=40)
    given = parser.parse_args()
    recall(given.kqa / "questions_w_answers.jsonl", given.questions)
    agreement(given.kqa / "NLI_medical_annotator.csv")


if __name__ == "__main__":
    main()
