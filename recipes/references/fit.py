"""Fit the weights of src/vericite/corpus/manuscript/matching.json: python recipes/references/fit.py.

A pair is a reference and one of the ten works most like it. Half of the references are wrong, as a sound one teaches
little. Works lack fields, as those of stores do. Weights are those of a logistic regression. The threshold is the
highest at which about as many references of a second corpus are right as at any other: found and the right work, or
not found.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from invented import as_record, made_references, made_works
from vericite.corpus.manuscript.matching import FEATURES, features
from vericite.corpus.manuscript.sources import WorkIndex
from vericite.corpus.manuscript.works import PublishedWork

WEIGHTS = Path(__file__).parents[2] / "src/vericite/corpus/manuscript/matching.json"
PENALTY = 0.3
COUNT = 1500
NEAR = 0.003


def pairs(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels and the number of the reference of each pair."""
    draw = random.Random(seed)
    works = made_works(draw, 3 * count)
    index = WorkIndex(work.work for work in works)
    rows: list[list[float]] = []
    labels: list[bool] = []
    numbers: list[int] = []
    for number, made in enumerate(made_references(draw, works, count, wrong=0.5)):
        reference = as_record(draw, str(number), made.cited)
        named = index.of_name(reference.doi) if reference.doi else None
        candidates = {work.document.id: work for work in [*index.like(reference), *([named] if named else [])]}
        for work in map(partial(_cut, draw), candidates.values()):
            rows.append(features(reference, work))
            labels.append(made.work is not None and work.document.id == works[made.work].work.document.id)
            numbers.append(number)
    return np.array(rows), np.array(labels, float), np.array(numbers)


def _cut(draw: random.Random, work: PublishedWork) -> PublishedWork:
    """Return a work as a store or a file describes it: usually without volume and pages, sometimes without authors."""
    document = work.document
    if draw.random() < 0.5:
        work = replace(work, volume=None, pages=None)
    if draw.random() < 0.2:
        document = document.model_copy(update={"authors": ()})
    if draw.random() < 0.2:
        work = replace(work, journals=())
    if draw.random() < 0.2:
        work = replace(work, years=())
    if draw.random() < 0.3:
        document = document.model_copy(update={"doi": None})
    return replace(work, document=document)


def fitted(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the bias and the weights, by Newton's method."""
    given = np.hstack([np.ones((len(rows), 1)), rows])
    weights = np.zeros(given.shape[1])
    penalty = PENALTY * np.eye(given.shape[1])
    penalty[0, 0] = 1e-6
    for _ in range(60):
        likely = 1 / (1 + np.exp(-given @ weights))
        slope = given.T @ (labels - likely) - penalty @ weights
        bend = given.T @ (given * (likely * (1 - likely))[:, None]) + penalty
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def main() -> None:
    """Fit, choose the threshold on a second corpus, write the file."""
    rows, labels, _ = pairs(1, COUNT)
    weights = fitted(rows, labels)
    rows, labels, numbers = pairs(2, COUNT)
    likely = 1 / (1 + np.exp(-(weights[0] + rows @ weights[1:])))
    best: list[tuple[float, bool]] = []
    for number in range(COUNT):
        own = numbers == number
        at = int(np.argmax(likely[own])) if own.any() else -1
        best.append((float(likely[own][at]), bool(labels[own][at])) if at >= 0 else (0.0, False))
    exists = [bool(labels[numbers == number].any()) for number in range(COUNT)]
    rates = {
        step / 20: np.mean([(value >= step / 20 and right) or (value < step / 20 and not there)
                            for (value, right), there in zip(best, exists, strict=True)])
        for step in range(1, 20)
    }  # fmt: skip
    for threshold, rate in rates.items():
        print(f"threshold {threshold:.2f}: {rate:.4f} of {COUNT:,} right")
    top = max(rates.values())
    threshold = max(threshold for threshold, rate in rates.items() if rate >= top - NEAR)
    record = {
        "made_by": "recipes/references/fit.py",
        "threshold": threshold,
        "bias": round(float(weights[0]), 3),
        "weights": {name: round(float(value), 3) for name, value in zip(FEATURES, weights[1:], strict=True)},
    }
    WEIGHTS.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
