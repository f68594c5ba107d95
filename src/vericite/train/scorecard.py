"""What a release is scored on: the files, the measures of each, and the bars they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.calibration import brier, ece_of_labels
from vericite.train.documents import SUFFIX, LabelledDocument, read_documents
from vericite.train.measures import (
    Integers,
    Measure,
    Score,
    balanced_accuracy,
    bootstrapped,
    macro_f1,
    score_twins,
)
from vericite.train.pairs import LabelledPair, read_pairs
from vericite.train.probes import claim_only, length_only
from vericite.train.scoring import Floats, Scorer
from vericite.train.verdicts import verdicts
from vericite.verify import Judge
from vericite.verify.judging import ENTAILS
from vericite.verify.tempering import tempered

HEALTHVER = "healthver_test"
ROBUSTNESS = "robustness"


def binary_accuracy(gold: Integers, probabilities: Floats) -> float:
    """Share of pairs that are rightly told as supported or not."""
    return float(((probabilities.argmax(1) == ENTAILS) == (gold == ENTAILS)).mean())


@dataclass(frozen=True)
class Asked:
    """A measure of a file, and what it should reach.

    Attributes:
        binary: It asks only for supported or not, so that a rival that knows no more can be compared.
        most: The bar is an upper one.
    """

    file: str
    name: str
    measure: Measure
    bar: float | None = None
    aim: float | None = None
    binary: bool = False
    most: bool = False


_FILES = (
    HEALTHVER,
    "healthver_test_doc",
    "scifact_test_doc",
    "nli4ct_test_single",
    "nli4ct_test_comparison",
    "clinifact_dev",
    "attributionbench_dev",
    "wice_dev",
    "kqa_triples",
)

ASKED = (
    Asked(HEALTHVER, "macro-F1", macro_f1, 0.68, 0.77),
    Asked("healthver_test_doc", "macro-F1", macro_f1, 0.68, 0.77),
    Asked("scifact_test_doc", "macro-F1", macro_f1, 0.68, 0.83),
    Asked("nli4ct_test_single", "binary accuracy", binary_accuracy, 0.60, 0.68, binary=True),
    Asked("nli4ct_test_comparison", "binary accuracy", binary_accuracy, 0.60, 0.68, binary=True),
    *(Asked(file, "balanced accuracy", balanced_accuracy, binary=True) for file in _FILES),
)
"""The measures of the model's own verdicts."""

ROBUST_BAR, ROBUST_AIM = 0.85, 0.95
ECE_BAR, ECE_AIM = 0.05, 0.03


@dataclass(frozen=True)
class JudgedSet:
    """A file with what was said of it; documents by the verifier's verdicts, pairs by probabilities."""

    name: str
    pairs: list[LabelledPair]
    probabilities: Floats
    undecided: int = 0

    @property
    def gold(self) -> Integers:
        """The labels, as columns."""
        return np.array([pair.column for pair in self.pairs], dtype=np.int64)

    @property
    def groups(self) -> list[str]:
        """What each belongs to."""
        return [pair.group for pair in self.pairs]

    def scored(self, measure: Measure, probabilities: Floats | None = None) -> Score:
        """A measure with its interval over groups, of these probabilities or of others."""
        told = self.probabilities if probabilities is None else probabilities
        return bootstrapped(measure, self.gold, told, self.groups)

    def difference(self, measure: Measure, other: Floats) -> Score:
        """How much better than another's probabilities, both measured on the same drawn groups."""
        width = self.probabilities.shape[1]

        def ahead(gold: Integers, both: Floats) -> float:
            return measure(gold, both[:, :width]) - measure(gold, both[:, width:])

        return self.scored(ahead, np.hstack([self.probabilities, other]))


@dataclass(frozen=True)
class Line:
    """One row of the release's table."""

    file: str
    name: str
    n: int
    groups: int
    score: Score
    bar: float | None = None
    aim: float | None = None
    most: bool = False
    rival: Score | None = None
    difference: Score | None = None

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached; None where there is none."""
        if self.bar is None:
            return None
        return self.score.value <= self.bar if self.most else self.score.value >= self.bar


def judge_set(path: Path, scorer: Scorer, judge: Judge) -> JudgedSet:
    """Score a file of pairs, or verify one of documents."""
    if not path.stem.endswith(SUFFIX):
        pairs = read_pairs(path)
        return JudgedSet(path.stem, pairs, scorer.probabilities([pair.pair for pair in pairs]))
    held: list[LabelledDocument] = read_documents(path)
    if not held:
        raise InputError(f"expected labelled documents in {path}; found none")
    said = verdicts(judge, held)
    return JudgedSet(path.stem, [document.labelled for document in held], said.one_hot, said.undecided)


def line(judged: JudgedSet, asked: Asked, rival: Floats | None = None) -> Line:
    """A measure of a set; where a rival's probabilities are given and can be compared, with the difference."""
    compared = rival if asked.binary else None
    return Line(
        judged.name,
        asked.name,
        len(judged.pairs),
        len(set(judged.groups)),
        judged.scored(asked.measure),
        asked.bar,
        asked.aim,
        asked.most,
        None if compared is None else judged.scored(asked.measure, compared),
        None if compared is None else judged.difference(asked.measure, compared),
    )


def robustness_lines(judged: JudgedSet) -> list[Line]:
    """Supported claims against their broken twins, by what was broken."""
    found: list[Line] = []
    for twin in score_twins(judged.pairs, judged.probabilities):
        told = (("pairwise", twin.ordered, ROBUST_BAR, ROBUST_AIM), ("strict", twin.strict, None, None))
        for name, rate, bar, aim in told:
            score = Score(*(float("nan") if part is None else part for part in (rate.value, rate.low, rate.high)))
            found.append(Line(judged.name, f"{name}, {twin.kind}", rate.n, rate.n, score, bar, aim))
    return found


def probe_lines(judged: JudgedSet, scorer: Scorer, train: Sequence[LabelledPair] | None) -> list[Line]:
    """What can be had without reading the premise, or anything."""
    probes = {"claim only": claim_only(scorer, judged.pairs)}
    if train is not None:
        probes["lengths only"] = length_only(train, judged.pairs)
    return [
        line(JudgedSet(judged.name, judged.pairs, said), Asked(judged.name, f"macro-F1, {name}", macro_f1))
        for name, said in probes.items()
    ]


def calibration_lines(judged: JudgedSet, temperature: float) -> list[Line]:
    """Before and after the temperature of the card."""
    after = JudgedSet(judged.name, judged.pairs, tempered(judged.probabilities, temperature))
    found: list[Line] = []
    for held, told in ((judged, "temperature 1"), (after, f"temperature {temperature:g}")):
        # The bar is for what ships.
        bar, aim = (ECE_BAR, ECE_AIM) if held is after else (None, None)
        found.append(line(held, Asked(judged.name, f"adaptive ECE, {told}", ece_of_labels, bar, aim, most=True)))
        found.append(line(held, Asked(judged.name, f"Brier, {told}", brier, most=True)))
    return found
