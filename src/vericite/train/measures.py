"""How well a verifier's probabilities fit the labels, with 95 % intervals that know which pairs belong together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vericite.evaluate import Rate, Tally
from vericite.evaluate.resampling import Bootstrap
from vericite.train.pairs import LabelledPair
from vericite.verify.judging import COLUMNS, ENTAILS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Measure = Callable[[Integers, Floats], float]
"""From gold columns and probabilities [pairs, columns]."""

DRAWN = Bootstrap(method="percentile", widened=False)
"""What the tables of every release so far were made with; another would make them differ by more than the models."""


def accuracy(gold: Integers, probabilities: Floats) -> float:
    """Share of pairs whose likeliest label is theirs."""
    return float((probabilities.argmax(1) == gold).mean())


def macro_f1(gold: Integers, probabilities: Floats) -> float:
    """F1, averaged over the labels that occur."""
    found = probabilities.argmax(1)
    scores: list[float] = []
    for column in range(len(COLUMNS)):
        true, called = gold == column, found == column
        if true.any():
            scores.append(2 * float((true & called).sum()) / float(true.sum() + called.sum()))
    return float(np.mean(scores)) if scores else float("nan")


def balanced_accuracy(gold: Integers, probabilities: Floats) -> float:
    """Mean of the shares of supported and of other pairs that are told as such."""
    supported, called = gold == ENTAILS, probabilities.argmax(1) == ENTAILS
    if supported.all() or not supported.any():
        return float("nan")
    return float((called[supported].mean() + (~called[~supported]).mean()) / 2)


def auc(gold: Integers, probabilities: Floats) -> float:
    """How often a supported pair is held likelier to be so than another one; ties count half."""
    supported, odds = gold == ENTAILS, probabilities[:, ENTAILS]
    others = len(gold) - int(supported.sum())
    if not others or others == len(gold):
        return float("nan")
    _, place, counts = np.unique(odds, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    own = float(ranks[supported].sum())
    count = len(gold) - others
    return (own - count * (count + 1) / 2) / (count * others)


@dataclass(frozen=True)
class Score:
    """A measure with its interval."""

    value: float
    low: float
    high: float


def bootstrapped(measure: Measure, gold: Integers, probabilities: Floats, groups: Sequence[str]) -> Score:
    """The measure, and where it lies when groups are drawn again, seeded."""
    found = DRAWN.over_rows(lambda rows: measure(gold[rows], probabilities[rows]), groups)
    return Score(*(np.nan if value is None else value for value in (found.value, found.low, found.high)))


def clustered_accuracy(right: NDArray[np.bool_], groups: Sequence[str]) -> Rate:
    """A share of right answers with Wilson's interval over groups."""
    tally = Tally()
    for rows in _members(groups):
        tally.add(int(right[rows].sum()), len(rows))
    return tally.rate


def _members(groups: Sequence[str]) -> list[Integers]:
    """The rows of each group; a row without one is its own."""
    found: dict[object, list[int]] = {}
    for row, group in enumerate(groups):
        found.setdefault(group or row, []).append(row)
    return [np.array(rows, dtype=np.int64) for rows in found.values()]


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
        len(_members(groups)),
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
    tallies: dict[str, tuple[Tally, Tally]] = {}
    called = probabilities.argmax(1) == ENTAILS
    for rows in twins.values():
        for true in (row for row in rows if pairs[row].supported):
            for broken in (row for row in rows if not pairs[row].supported):
                ordered = bool(probabilities[true, ENTAILS] > probabilities[broken, ENTAILS])
                strict = bool(called[true] and not called[broken])
                for kind in (pairs[broken].kind, "all"):
                    first, second = tallies.setdefault(kind, (Tally(), Tally()))
                    first.add(int(ordered), 1)
                    second.add(int(strict), 1)
    last = sorted(tallies, key=lambda kind: (kind == "all", kind))
    return [TwinScores(kind, tallies[kind][0].rate, tallies[kind][1].rate) for kind in last]


def plain(value: Any) -> Any:
    """The same with null for a score that one label leaves undefined: JSON has no other word for it."""
    if isinstance(value, dict):
        return {key: plain(held) for key, held in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [plain(held) for held in cast("list[Any]", value)]
    return None if isinstance(value, float) and math.isnan(value) else value
