"""Score a verifier on the sets that a release reports: once a release, never to choose between models.

    python recipes/verifier/release evaluate --model FOLDER --tests DIR [--train FILE] [--anchorcite PATH] [--json FILE]

DIR is what ``python recipes/verifier/mix --released DIR`` writes. FILE is the training file, for the probe by
lengths. PATH is AnchorCite's unpacked wheel (``pip download anchorcite==0.1.0 --no-deps`` and ``unzip``).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from release.classification import PairMeasure, balanced_accuracy, macro_f1
from release.documents import SUFFIX, LabelledDocument, ScorerJudge, read_documents, verdicts
from release.score import Score, bootstrapped, plain, score_twins
from release.teach import Scorer, open_scorer
from vericite.errors import InputError, VeriCiteError
from vericite.evaluate.calibration import brier, ece_of_labels
from vericite.lab.train.data import Floats, Integers, LabelledPair, read_pairs
from vericite.lab.train.int8_graph import Invariance, invariance
from vericite.models.contracts import COLUMNS, ENTAILS, Judge, Pair
from vericite.models.folder import ModelFolder
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judging import softmax, temperature_scaled
from vericite.verify.protocol import DEFAULT

STEPS = 2000
RATE = 0.3


def claim_only(scorer: Scorer, pairs: Sequence[LabelledPair]) -> Floats:
    """The same model, shown no premise."""
    return scorer.probabilities([Pair("", pair.claim) for pair in pairs])


def length_only(train: Sequence[LabelledPair], tested: Sequence[LabelledPair]) -> Floats:
    """A logistic regression on the lengths of premise and claim.

    Labels weigh alike, and training pairs of the tested source are used alone where there are any: both make the
    probe as good as it can be at what it is to show.
    """
    sources = {pair.source for pair in tested}
    known = [pair for pair in train if not pair.binary]
    near = [pair for pair in known if pair.source in sources] or known
    held, asked = _features(near), _features(tested)
    mean, spread = held.mean(axis=0), np.maximum(held.std(axis=0), 1e-9)
    gold = np.array([pair.column for pair in near], dtype=np.int64)
    weights = _regressed((held - mean) / spread, gold)
    return softmax(_with_one((asked - mean) / spread) @ weights)


def _features(pairs: Sequence[LabelledPair]) -> Floats:
    lengths = np.array([[len(pair.premise.split()), len(pair.claim.split())] for pair in pairs], dtype=np.float64)
    logs = np.log1p(lengths)
    return np.hstack([logs, logs**2, logs[:, :1] * logs[:, 1:]])


def _with_one(features: Floats) -> Floats:
    return np.hstack([features, np.ones((len(features), 1))])


def _regressed(features: Floats, gold: Integers) -> Floats:
    rows = _with_one(features)
    truth = np.eye(len(COLUMNS))[gold]
    share = 1 / np.maximum(truth.sum(axis=0), 1)
    weight = (truth @ share)[:, None] / (truth @ share).sum()
    weights = np.zeros((rows.shape[1], len(COLUMNS)))
    for _ in range(STEPS):
        weights -= RATE * rows.T @ (weight * (softmax(rows @ weights) - truth))
    return weights


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
    measure: PairMeasure
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

    def scored(self, measure: PairMeasure, probabilities: Floats | None = None) -> Score:
        """A measure with its interval over groups, of these probabilities or of others."""
        told = self.probabilities if probabilities is None else probabilities
        return bootstrapped(measure, self.gold, told, self.groups)

    def difference(self, measure: PairMeasure, other: Floats) -> Score:
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
    after = JudgedSet(judged.name, judged.pairs, temperature_scaled(judged.probabilities, temperature))
    found: list[Line] = []
    for held, told in ((judged, "temperature 1"), (after, f"temperature {temperature:g}")):
        # The bar is for what ships.
        bar, aim = (ECE_BAR, ECE_AIM) if held is after else (None, None)
        found.append(line(held, Asked(judged.name, f"adaptive ECE, {told}", ece_of_labels, bar, aim, most=True)))
        found.append(line(held, Asked(judged.name, f"Brier, {told}", brier, most=True)))
    return found


class AnchorCite:
    """What it anchors it holds for supported; it says nothing of contradiction.

    The probabilities put the pairs in its own order: above one half where it anchors, by the score of the anchor,
    and below by the score of the best sentence, which did not reach its threshold.
    """

    def __init__(self, package: Path) -> None:
        if not (package / "anchorcite" / "__init__.py").is_file():
            raise InputError(f"expected the unpacked wheel of anchorcite in {package}; found no package in it")
        sys.path.insert(0, str(package))
        try:
            self._module = importlib.import_module("anchorcite")
        finally:
            sys.path.remove(str(package))
        # The core alone: with no scorer named it would look for installed neural models.
        self._lexical = self._module.LexicalScorer()
        self._anchorer = self._module.CitationAnchorer(scorer=self._lexical)

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """[pairs, columns]; nothing is ever contradicted."""
        supported = np.array([self._supported(pair) for pair in pairs], dtype=np.float64)
        return np.stack([supported, np.zeros_like(supported), 1 - supported], axis=1)

    def _supported(self, pair: Pair) -> float:
        anchor = self._anchorer.anchor(pair.claim, pair.premise)
        if anchor:
            return 0.5 + anchor.score / 2
        sentences = [part[0] for part in self._module.split_sentences_with_offsets(pair.premise)] or [pair.premise]
        return 0.4 * max(self._lexical.score(pair.claim, sentences))


MEGABYTES = 32.0
LOGITS = 1e-3
INVARIANT_PAIRS = 300


@dataclass(frozen=True)
class Candidate:
    """A model under test: as a scorer at temperature 1, and as the judge that the verifier asks."""

    name: str
    scorer: Scorer
    judge: Judge
    temperature: float = 1.0
    folder: ModelFolder | None = None

    @classmethod
    def open(cls, path: Path) -> Candidate:
        """A packed model, or a checkpoint, which has no temperature and cannot be tried for batches or size."""
        scorer = open_scorer(path)
        if not (path / "card.json").is_file():
            return cls(str(path), scorer, ScorerJudge(scorer))
        folder = ModelFolder.open(path)
        return cls(folder.signature, scorer, BundledJudge(folder), folder.card.temperature, folder)

    @property
    def megabytes(self) -> float | None:
        """Of the weights."""
        return None if self.folder is None else (self.folder.path / "model.onnx").stat().st_size / 1e6


@dataclass(frozen=True)
class Report:
    """All that a release says of its weights.

    Attributes:
        missing: Files that the folder of tests lacks.
        undecided: By file, how many documents the verifier abstained from; they count as neutral.
    """

    model: str
    lines: list[Line]
    missing: list[str]
    undecided: dict[str, int]
    invariance: Invariance | None
    megabytes: float | None


def score_release(
    model: Candidate,
    tests: Path,
    rival: Scorer | None = None,
    train: list[LabelledPair] | None = None,
    invariant_pairs: int = INVARIANT_PAIRS,
) -> Report:
    """Score every set that the folder holds.

    Raises:
        InputError: It holds none.
    """
    names = list(dict.fromkeys([*(asked.file for asked in ASKED), ROBUSTNESS]))
    held = {name: path for name in names if (path := tests / f"{name}.jsonl").is_file()}
    if not held:
        raise InputError(f"expected the files of python recipes/verifier/mix --released in {tests}; found none")
    sets: dict[str, JudgedSet] = {}
    lines: list[Line] = []
    for name, path in held.items():
        sys.stderr.write(f"{name}\n")
        sets[name] = judge_set(path, model.scorer, model.judge)
        theirs = None if rival is None else rival.probabilities([pair.pair for pair in sets[name].pairs])
        lines += [line(sets[name], asked, theirs) for asked in ASKED if asked.file == name]
    lines.sort(key=lambda row: [asked.name for asked in ASKED].index(row.name))
    if ROBUSTNESS in sets:
        lines += robustness_lines(sets[ROBUSTNESS])
    if HEALTHVER in sets:
        lines += probe_lines(sets[HEALTHVER], model.scorer, train)
        lines += calibration_lines(sets[HEALTHVER], model.temperature)
    undecided = {name: judged.undecided for name, judged in sets.items() if judged.undecided}
    moved = _invariance(model, list(sets.values()), invariant_pairs)
    return Report(model.name, lines, [name for name in names if name not in held], undecided, moved, model.megabytes)


def _invariance(model: Candidate, sets: list[JudgedSet], count: int) -> Invariance | None:
    if model.folder is None or not count:
        return None
    pairs: list[Pair] = [pair.pair for judged in sets for pair in judged.pairs]
    return invariance(model.folder, random.Random(0).sample(pairs, min(count, len(pairs))))


def show(report: Report, console: Console) -> None:
    """Print the table and what does not fit into it."""
    compared = any(row.rival for row in report.lines)
    table = Table("set", "measure", "n", "groups", "score", "bar", "", "aim", box=None)
    for name in ("AnchorCite", "difference") if compared else ():
        table.add_column(name)
    for row in report.lines:
        bar, aim = ["" if value is None else f"{value:.2f}" for value in (row.bar, row.aim)]
        met = {None: "", True: "met", False: "missed"}[row.met]
        theirs = [_told(row.rival), _told(row.difference)] if compared else []
        table.add_row(row.file, row.name, str(row.n), str(row.groups), _told(row.score), bar, met, aim, *theirs)
    console.print(report.model)
    console.print(table)
    console.print("\n".join(_remarks(report)))


def _remarks(report: Report) -> list[str]:
    found = ["95 % intervals over groups. Chance is 1/3 for macro-F1 and 1/2 for balanced accuracy; Brier is out of 2"]
    found.append(f"documents are decided by the protocol {DEFAULT}")
    found += [
        f"{name}: {count} the verifier abstained from, counted as neutral" for name, count in report.undecided.items()
    ]
    found += [f"{name}: not among the tests" for name in report.missing]
    if report.invariance:
        moved = report.invariance
        most = max(moved.mixed, moved.padded)
        verdict = "met" if most <= LOGITS and not moved.changed else "missed"
        found.append(
            f"batches: {moved.pairs} pairs, logits move by {moved.mixed:.1e} among others and {moved.padded:.1e} "
            f"padded, {moved.changed} labels change ({LOGITS:g} and 0: {verdict})"
        )
    if report.megabytes is not None:
        verdict = "met" if report.megabytes <= MEGABYTES else "missed"
        found.append(f"weights: {report.megabytes:.1f} MB (at most {MEGABYTES:g}: {verdict})")
    return found


def _told(score: Score | None) -> str:
    if score is None or np.isnan(score.value):
        return "-" if score else ""
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def as_json(report: Report) -> str:
    """The same, for a program."""
    return json.dumps(plain(dataclasses.asdict(report)), indent=2, allow_nan=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release evaluate", description="Score a release.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model or a checkpoint")
    parser.add_argument("--tests", type=Path, required=True, help="the folder of released test sets")
    parser.add_argument("--train", type=Path, help="the training file, for the probe by lengths")
    parser.add_argument("--anchorcite", type=Path, help="AnchorCite's unpacked wheel, to compare with")
    parser.add_argument("--invariance", type=int, default=INVARIANT_PAIRS, help="pairs to try in batches; 0 for none")
    parser.add_argument("--json", type=Path, help="also write the scores here")
    told = parser.parse_args(arguments)
    try:
        rival = AnchorCite(told.anchorcite) if told.anchorcite else None
        train = read_pairs(told.train) if told.train else None
        report = score_release(Candidate.open(told.model), told.tests, rival, train, told.invariance)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(report, Console(width=None if sys.stdout.isatty() else 190))
    if told.json:
        told.json.write_text(as_json(report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
