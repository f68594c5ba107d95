"""Calibration of a judge to a user's own labels.

A temperature, biases and a threshold are fitted, and measured on pairs they were not fitted to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ConfigDict, field_validator

from vericite.datasets.registry import is_named, source_named
from vericite.errors import InputError, RecordError
from vericite.evaluate.calibration import (
    BINS,
    COVERED,
    TEMPERATURES,
    Answered,
    Booleans,
    CurvePoint,
    Integers,
    JudgedPairs,
    adaptive_ece,
    brier,
    choose_threshold,
    fit_bias,
    fit_temperature,
    negative_log_likelihood,
    risk_coverage,
    threshold_for_risk,
)
from vericite.evaluate.rates import Rate, RateTally
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judge, Pair, Slow
from vericite.records import Record, number_jsonl
from vericite.verify.judging import Floats, ask

LEAST = 30
"""Pairs below which nothing is fitted."""
ENOUGH = 200
"""Pairs below which figures are too uncertain to rely on."""
AT_ONCE = 1024

COMMON = ("supported", "contradicted", "irrelevant")
"""What a verdict calls a judge's columns."""


class OwnLabel(Record):
    """A line of a file of labels; fields of other names are passed over.

    Attributes:
        label: As a verdict has it, or as a judge's columns are called.
        group: What the pair shares with others that are not independent of it, such as its document or question;
            pairs without one that have the same premise count as a group.
    """

    model_config = ConfigDict(extra="ignore")

    premise: str
    claim: str
    label: Literal["supported", "contradicted", "irrelevant", "entails", "contradicts", "neutral"]
    group: str | int | None = None

    @field_validator("premise", "claim")
    @classmethod
    def _has_text(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("expected some text; found none")
        return value

    @property
    def column(self) -> int:
        """The label's column in a judge's probabilities."""
        return (COMMON if self.label in COMMON else COLUMNS).index(self.label)

    @property
    def group_name(self) -> str:
        """The name of its group."""
        return f"premise {self.premise}" if self.group is None else f"group {self.group}"


def read_labels(path: Path) -> tuple[list[OwnLabel], list[RecordError]]:
    """The labels of a file or of a data set (``scifact:FILE``), and the lines that are none.

    Raises:
        InputError: The file cannot be read, or is empty.
    """
    labels: list[OwnLabel] = []
    problems: list[RecordError] = []
    if is_named(str(path)):
        for one in source_named(str(path)).citations(problems):
            if one.claim.strip() and one.premise.strip():
                labels.append(OwnLabel(premise=one.premise, claim=one.claim, label=one.label, group=one.group))
        return labels, problems
    for _, item in number_jsonl(OwnLabel, path):
        if isinstance(item, RecordError):
            problems.append(item)
        else:
            labels.append(item)
    if not labels and not problems:
        raise InputError(f'expected labels in {path}, one a line: {{"premise", "claim", "label"}}; found none')
    return labels, problems


def refuse_unusable(labels: Sequence[OwnLabel]) -> None:
    """Before anything is judged.

    Raises:
        InputError: There are too few, or all have the same label.
    """
    if len(labels) < LEAST:
        raise InputError(
            f"expected {LEAST} labelled pairs or more ({ENOUGH} for figures to rely on); found {len(labels)} that can "
            "be used. Label more, of the kind that you will check."
        )
    found = {COMMON[label.column] for label in labels}
    if len(found) == 1:
        raise InputError(
            f"expected pairs of at least two labels out of {', '.join(COMMON)}; found only {next(iter(found))}. "
            "Label pairs of other outcomes too."
        )


@dataclass(frozen=True)
class JudgedLabels:
    """What a judge said of labelled pairs; those it failed on are only counted.

    Attributes:
        labels: Those it judged, in their order.
        judged: The same as numbers. Of a judge that knows no contradiction, contradicted pairs count as irrelevant.
        failures: Why it could not judge the others, and how many of them.
        notes: What it noted about those it judged, such as that a premise was cut.
    """

    labels: tuple[OwnLabel, ...]
    judged: JudgedPairs
    failures: Counter[str]
    notes: Counter[str]
    without_contradiction: bool

    @property
    def groups(self) -> list[str]:
        """The group of each pair."""
        return [label.group_name for label in self.labels]


def judge_labels(judge: Judge, labels: Sequence[OwnLabel]) -> JudgedLabels:
    """Ask a judge about each pair.

    Raises:
        InputError: It gives no probabilities, could judge too few, or could not tell those there are apart.
        PluginError: It broke.
    """
    refuse_ungraded(judge)
    step = judge.pairs_at_once if isinstance(judge, Slow) else AT_ONCE
    pairs = [Pair(label.premise, label.claim) for label in labels]
    judgements = [one for start in range(0, len(pairs), step) for one in ask(judge, pairs[start : start + step])]
    if not all(judgement.graded for judgement in judgements if judgement.failure is None):
        raise _ungraded(judge)
    usable = [label for label, one in zip(labels, judgements, strict=True) if one.failure is None]
    failures = Counter(one.failure for one in judgements if one.failure is not None)
    if failures and len(usable) < LEAST:
        reason, count = failures.most_common(1)[0]
        raise InputError(
            f"expected {LEAST} pairs or more that {judge.signature} can judge; found {len(usable)}: {reason} "
            f"({count} pairs). Mend these, or use another judge."
        )
    refuse_unusable(usable)
    probabilities = np.array([one.probabilities for one in judgements if one.failure is None], dtype=np.float64)
    gold = np.array([label.column for label in usable], dtype=np.int64)
    knows_none = not probabilities[:, CONTRADICTS].any()
    if knows_none:
        gold[gold == CONTRADICTS] = NEUTRAL
        if (gold == NEUTRAL).all():
            raise InputError(
                f"expected pairs of at least two labels; {judge.signature} knows no contradiction, contradicted pairs "
                f"count as {COMMON[NEUTRAL]}, and only {COMMON[NEUTRAL]} is left. Label {COMMON[ENTAILS]} pairs too, "
                "or use another judge."
            )
    notes = Counter(one.note for one in judgements if one.failure is None and one.note)
    judged = JudgedPairs(
        gold, probabilities / probabilities.sum(axis=1, keepdims=True), np.zeros(len(gold), dtype=np.bool_)
    )
    return JudgedLabels(tuple(usable), judged, failures, notes, knows_none)


def refuse_ungraded(judge: Judge) -> None:
    """Before it is asked anything, which may cost money.

    Raises:
        InputError: It only says labels.
    """
    if not getattr(judge, "graded", True):
        raise _ungraded(judge)


def _ungraded(judge: Judge) -> InputError:
    return InputError(
        f"expected a judge with probabilities to calibrate; {judge.signature} only says a label. Use another, such as "
        "bundled or hf:CHECKPOINT."
    )


FOLDS = 5
RELIABLE = 20
"""Pairs that a bin of the calibration error holds, and a threshold leaves for its risk to count: of fewer, chance alone
makes any figure."""
OF_EACH = 10
"""Pairs that each label needs before biases are tried: a bias follows the share of its label."""
SEED = 0
_NONE = (0.0,) * len(COLUMNS)


@dataclass(frozen=True)
class Target:
    """What the threshold shall reach: a share of verdicts still given, or else a share of these that is wrong."""

    coverage: float = COVERED
    risk: float | None = None

    def threshold(self, held_out: JudgedPairs) -> float | None:
        """The highest that leaves the coverage, or the lowest that reaches the risk; None where none does."""
        if self.risk is None:
            return choose_threshold(_curve(held_out), self.coverage)
        return threshold_for_risk(_reliable(held_out), self.risk)


@dataclass(frozen=True)
class Scaling:
    """What is done to a judge's probabilities."""

    temperature: float = 1.0
    bias: tuple[float, ...] = _NONE

    def of(self, judged: JudgedPairs) -> JudgedPairs:
        """The pairs with it done."""
        return judged.at(self.temperature, self.bias)

    @property
    def biased(self) -> bool:
        """Whether it shifts from label to label."""
        return any(self.bias)

    @property
    def at_limit(self) -> bool:
        """Whether the temperature is the lowest or highest that was looked at, and so not the best there is."""
        low, high = TEMPERATURES
        return not 1.01 * low < self.temperature < 0.99 * high


@dataclass(frozen=True)
class FittedScaling:
    """What was fitted; ``held_out`` are the pairs, each with the probabilities of a fit without its fold."""

    scaling: Scaling
    threshold: float | None
    held_out: JudgedPairs

    @property
    def curve(self) -> list[CurvePoint]:
        """Abstaining below each hundredth, from held-out probabilities."""
        return _curve(self.held_out)


@dataclass(frozen=True)
class BeforeAfter:
    """A figure before and after calibrating."""

    before: float
    after: float


@dataclass(frozen=True)
class CalibrationResult:
    """A fit to labels, and what fitting is worth.

    Attributes:
        fitted: To all pairs; its threshold is one.
        pairs: As the judge said of them, and what groups they are in.
        after: The same, each as a fit to the other folds says it; whether there are biases is fitted, too.
        answered: Which pairs are given a verdict at the threshold of that fit.
        folds: How many there were.
    """

    fitted: FittedScaling
    pairs: JudgedPairs
    groups: Integers
    after: JudgedPairs
    answered: Booleans
    folds: int

    @property
    def log_loss(self) -> BeforeAfter:
        """Negative log likelihood."""
        return self._change(lambda judged: negative_log_likelihood([judged]))

    @property
    def ece(self) -> BeforeAfter:
        """Expected calibration error over bins that hold as many pairs each, 15 where there are enough."""
        bins = max(1, min(BINS, len(self.groups) // RELIABLE))
        return self._change(lambda judged: adaptive_ece(judged.confidence, judged.right, bins))

    @property
    def brier(self) -> BeforeAfter:
        """Squared distance to the truth, 0 to 2."""
        return self._change(lambda judged: brier(judged.gold, judged.probabilities))

    @property
    def coverage(self) -> Rate:
        """Pairs answered at thresholds that were chosen without them."""
        return self._rate(self.answered, np.ones(len(self.answered), dtype=np.bool_))

    @property
    def risk(self) -> Rate:
        """Wrong ones among these."""
        return self._rate(~self.after.right, self.answered)

    def risk_at(self, threshold: float) -> Rate:
        """Wrong ones among the pairs that a threshold leaves, from the probabilities that the curve is made of."""
        held_out = self.fitted.held_out
        return self._rate(~held_out.right, held_out.confidence >= threshold)

    def _change(self, measure: Callable[[JudgedPairs], float]) -> BeforeAfter:
        return BeforeAfter(measure(self.pairs), measure(self.after))

    def _rate(self, counted: Booleans, among: Booleans) -> Rate:
        tally = RateTally()
        counts = np.bincount(self.groups, weights=counted & among)
        for count, n in zip(counts, np.bincount(self.groups, weights=among), strict=True):
            tally.add(int(count), int(n))
        return tally.rate


def calibrate(pairs: JudgedPairs, groups: Sequence[str], target: Target | None = None) -> CalibrationResult:
    """Fit to all pairs, and judge the fitting by doing all of it again without each fold in turn.

    Args:
        pairs: Labelled pairs with what a judge said of them.
        groups: What each shares with the pairs that are not independent of it; these stay in one fold.
        target: What the threshold shall reach; nine verdicts in ten by default.

    Raises:
        InputError: There are fewer groups than folds, or no threshold reaches the risk asked for.
    """
    wanted = target or Target()
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    if numbers.max() + 1 < FOLDS:
        raise InputError(
            f"expected pairs of {FOLDS} groups or more, to fit on some and measure on others; found "
            f"{numbers.max() + 1}. Add pairs from other documents, or leave out `group` where pairs are independent."
        )
    fitted = fit(pairs, numbers, wanted)
    if fitted.threshold is None:
        raise _out_of_reach(fitted, wanted)
    after, answered = pairs.probabilities.copy(), np.zeros(len(numbers), dtype=np.bool_)
    folds = _folds(numbers)
    for fold in range(FOLDS):
        rest, inside = folds != fold, folds == fold
        other = fit(pairs.only(rest), numbers[rest], wanted)
        scaled = other.scaling.of(pairs.only(inside))
        after[inside] = scaled.probabilities
        # A risk out of reach without this fold: nothing is answered in it.
        answered[inside] = scaled.confidence >= (1.01 if other.threshold is None else other.threshold)
    return CalibrationResult(fitted, pairs, numbers, pairs._replace(probabilities=after), answered, FOLDS)


def _out_of_reach(fitted: FittedScaling, target: Target) -> InputError:
    least = min(_reliable(fitted.held_out), key=lambda point: point.risk or 0.0)
    return InputError(
        f"expected a threshold at which no more than {target.risk:g} of the verdicts are wrong, {RELIABLE} of them or "
        f"more still given; found none: the least is {least.risk or 0.0:.3f}, abstaining below {least.threshold:.2f}. "
        "Raise the risk, label more, or use a better judge."
    )


def fit(pairs: JudgedPairs, groups: Integers, target: Target) -> FittedScaling:
    """The scaling at which the labels are likeliest, and the threshold; biases only if they help on held-out pairs."""
    folds = _folds(groups)
    makers = [_by_temperature]
    if all(int((pairs.gold == column).sum()) >= OF_EACH for column in _known(pairs.probabilities)):
        makers.append(_with_bias)
    held_out = [_held_out(pairs, folds, make) for make in makers]
    losses = [negative_log_likelihood([each]) for each in held_out]
    best = int(np.argmin(losses))
    return FittedScaling(_rounded(makers[best](pairs)), target.threshold(held_out[best]), held_out[best])


def _by_temperature(pairs: JudgedPairs) -> Scaling:
    return Scaling(fit_temperature([pairs]))


def _with_bias(pairs: JudgedPairs) -> Scaling:
    return Scaling(*fit_bias(pairs))


def _rounded(scaling: Scaling) -> Scaling:
    """What is shown is what is used."""
    bias = tuple(round(value, 4) + 0.0 for value in scaling.bias)
    return replace(scaling, temperature=round(scaling.temperature, 4), bias=bias)


def _known(probabilities: Floats) -> Integers:
    """The labels that the judge ever gives any probability."""
    return np.flatnonzero(probabilities.any(axis=0))


def _held_out(pairs: JudgedPairs, folds: Integers, make: Callable[[JudgedPairs], Scaling]) -> JudgedPairs:
    found = pairs.probabilities.copy()
    for fold in np.unique(folds):
        inside = folds == fold
        found[inside] = make(pairs.only(~inside)).of(pairs.only(inside)).probabilities
    return pairs._replace(probabilities=found)


def _folds(groups: Integers) -> Integers:
    """The fold of each pair: groups in a drawn order, the large ones first, each into the fold that has least."""
    numbers, sizes = np.unique(groups, return_counts=True)
    drawn = np.random.default_rng(SEED).permutation(len(numbers))
    filled = np.zeros(FOLDS, dtype=np.int64)
    fold_of: dict[int, int] = {}
    for index in sorted(drawn.tolist(), key=lambda index: -int(sizes[index])):
        fold = int(filled.argmin())
        fold_of[int(numbers[index])] = fold
        filled[fold] += sizes[index]
    return np.array([fold_of[int(group)] for group in groups], dtype=np.int64)


def _reliable(judged: JudgedPairs) -> list[CurvePoint]:
    """The curve as far as enough pairs are left."""
    return [point for point in _curve(judged) if round(point.coverage * len(judged.gold)) >= RELIABLE]


def _curve(judged: JudgedPairs) -> list[CurvePoint]:
    return risk_coverage(Answered.of([(judged.confidence, judged.right)]))
