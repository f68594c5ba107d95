"""How well labels are predicted: accuracy, F1, balanced accuracy, area under the curve, from gold and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, Integers, members
from vericite.models.contracts import COLUMNS, ENTAILS
from vericite.records import Rate, RateTally

PairMeasure = Callable[[Integers, Floats], float]
"""From gold columns and probabilities [pairs, columns]."""


def macro_f1(gold: Integers, probabilities: Floats) -> float:
    """F1, averaged over the labels that occur."""
    predicted = probabilities.argmax(1)
    scores: list[float] = []
    for column in range(len(COLUMNS)):
        true, called = gold == column, predicted == column
        if true.any():
            scores.append(2 * float((true & called).sum()) / float(true.sum() + called.sum()))
    return float(np.mean(scores)) if scores else float("nan")


def balanced_accuracy(gold: Integers, probabilities: Floats) -> float:
    """Mean of the shares of supported and of other pairs that are called so."""
    supported, called = gold == ENTAILS, probabilities.argmax(1) == ENTAILS
    if supported.all() or not supported.any():
        return float("nan")
    return float((called[supported].mean() + (~called[~supported]).mean()) / 2)


def auc(gold: Integers, probabilities: Floats) -> float:
    """How often a supported pair gets a higher probability of support than another one; ties count half."""
    supported, scores = gold == ENTAILS, probabilities[:, ENTAILS]
    others = len(gold) - int(supported.sum())
    if not others or others == len(gold):
        return float("nan")
    _, position, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[position]
    own = float(ranks[supported].sum())
    count = len(gold) - others
    return (own - count * (count + 1) / 2) / (count * others)


def estimate_pairs(
    measure: PairMeasure, gold: Integers, probabilities: Floats, groups: Sequence[Hashable], bootstrap: Bootstrap
) -> Estimate:
    """The measure with its interval; pairs of a group are drawn together."""
    return bootstrap.over_rows(lambda rows: measure(gold[rows], probabilities[rows]), groups)


def clustered_accuracy(right: NDArray[np.bool_], groups: Sequence[Hashable]) -> Rate:
    """A share of right answers with Wilson's interval over groups."""
    tally = RateTally()
    for rows in members(groups):
        tally.add(int(right[rows].sum()), len(rows))
    return tally.rate
