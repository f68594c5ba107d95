"""Labels of a user's own: pairs of premise and claim, and what a judge says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ConfigDict, field_validator

from vericite.errors import InputError, RecordError
from vericite.evaluate.calibration import Judged
from vericite.models import Pair
from vericite.records import Record, number_jsonl
from vericite.verify.asking import ask
from vericite.verify.judging import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judge, Slow

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
    def held_with(self) -> str:
        """The name of its group."""
        return f"premise {self.premise}" if self.group is None else f"group {self.group}"


def read_labels(path: Path) -> tuple[list[OwnLabel], list[RecordError]]:
    """The labels of a file, and the lines that are none.

    Raises:
        InputError: The file cannot be read.
    """
    labels: list[OwnLabel] = []
    problems: list[RecordError] = []
    for _, item in number_jsonl(OwnLabel, path):
        if isinstance(item, RecordError):
            problems.append(item)
        else:
            labels.append(item)
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
    judged: Judged
    failures: Counter[str]
    notes: Counter[str]
    without_contradiction: bool

    @property
    def groups(self) -> list[str]:
        """The group of each pair."""
        return [label.held_with for label in self.labels]


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
    told = np.array([one.probabilities for one in judgements if one.failure is None], dtype=np.float64)
    gold = np.array([label.column for label in usable], dtype=np.int64)
    knows_none = not told[:, CONTRADICTS].any()
    if knows_none:
        gold[gold == CONTRADICTS] = NEUTRAL
        if (gold == NEUTRAL).all():
            raise InputError(
                f"expected pairs of at least two labels; {judge.signature} knows no contradiction, contradicted pairs "
                f"count as {COMMON[NEUTRAL]}, and only {COMMON[NEUTRAL]} is left. Label {COMMON[ENTAILS]} pairs too, "
                "or use another judge."
            )
    notes = Counter(one.note for one in judgements if one.failure is None and one.note)
    judged = Judged(gold, told / told.sum(axis=1, keepdims=True), np.zeros(len(gold), dtype=np.bool_))
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
