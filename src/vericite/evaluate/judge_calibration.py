"""A judge calibrated to a user's own labels: these are read, it is asked about them, fitted, and kept.

It is kept under a name or in a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ConfigDict, field_validator

from vericite.datasets.registry import is_named, source_named
from vericite.disk.fitted import write_fitted
from vericite.errors import InputError, RecordError
from vericite.evaluate.calibration import CalibrationResult, JudgedPairs, Target, calibrate
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judge, Pair, Slow
from vericite.records import Record, number_jsonl
from vericite.verify.judges.registry import JUDGES, calibrated_file, judge_names, load_judge, own_names
from vericite.verify.judges.wrapped import (
    CalibrationFigures,
    Shift,
    StoredCalibration,
    make_folder,
    stored_path,
)
from vericite.verify.judging import ask

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


@dataclass(frozen=True)
class JudgeCalibration:
    """What was fitted to a judge's answers about a user's labels.

    Attributes:
        base: The name by which the judge is found again, from whatever folder.
        judge: The judge.
        judged: What it says of the labels.
        result: What is fitted to that.
    """

    base: str
    judge: Judge
    judged: JudgedLabels
    result: CalibrationResult

    @property
    def stored(self) -> StoredCalibration:
        """The form in which it is kept."""
        found = self.result
        shifts = {name: getattr(found, name) for name in ("log_loss", "ece", "brier")}
        first, second, third = found.fitted.scaling.bias
        return StoredCalibration(
            judge=self.base,
            signature=self.judge.signature,
            temperature=found.fitted.scaling.temperature,
            bias=(first, second, third),
            abstain_below=found.fitted.threshold or 0.0,
            n=len(found.groups),
            date=date.today(),
            figures=CalibrationFigures(
                groups=int(found.groups.max()) + 1,
                folds=found.folds,
                coverage=found.coverage.value,
                risk=found.risk.value,
                risk_low=found.risk.low,
                risk_high=found.risk.high,
                **{name: Shift(before=round(one.before, 6), after=round(one.after, 6)) for name, one in shifts.items()},
            ),
        )

    @property
    def record(self) -> dict[str, object]:
        """The figures and what was fitted, as JSON has them."""
        found = self.result
        return {
            **self.stored.model_dump(mode="json", by_alias=True),
            "coverage": asdict(found.coverage),
            "risk": asdict(found.risk),
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """What a reader of the figures should know."""
        judged, found = self.judged, self.result
        lines: list[str] = []
        if len(judged.labels) < ENOUGH:
            lines.append(
                f"expected {ENOUGH} pairs or more for figures to rely on; found {len(judged.labels)}. Label more"
            )
        if again := len(judged.labels) - len({(label.premise, label.claim) for label in judged.labels}):
            lines.append(
                f"expected each pair of premise and claim once; found {again} that came before, which make the figures "
                "look surer than they are. Leave them out"
            )
        if found.log_loss.after >= found.log_loss.before:
            lines.append(
                "calibrating does not help on pairs held out: the judge is better as it is, or the labels too few"
            )
        if found.fitted.scaling.at_limit:
            lines.append(
                f"the temperature is at the limit of what is looked at, {found.fitted.scaling.temperature:g}: the "
                "judge is right or wrong however sure it is; label more, or use another judge"
            )
        if judged.without_contradiction:
            lines.append("the judge knows no contradiction: contradicted pairs count as irrelevant")
        lines += [f"{count} pairs left out: {reason}" for reason, count in judged.failures.most_common(3)]
        lines += [f"{count} pairs: {note}" for note, count in judged.notes.most_common(3)]
        return lines


def base_of(judge: str) -> str:
    """The name by which a judge is found again, from whatever folder.

    Raises:
        InputError: It is calibrated already.
    """
    if calibrated_file(judge) is not None:
        raise InputError(f"expected a judge that is not calibrated yet; found {judge!r}. Name the one under it.")
    kind, colon, rest = judge.partition(":")
    folder, mark, labels = rest.partition("#")
    if kind in JUDGES and JUDGES[kind].takes == "CHECKPOINT" and folder and Path(folder).is_dir():
        return f"{kind}{colon}{Path(folder).resolve()}{mark}{labels}"
    return judge


def calibrate_judge(base: str, labels: Sequence[OwnLabel], target: Target) -> JudgeCalibration:
    """Ask a judge about labelled pairs, and fit its temperature, biases and threshold to what it says.

    Raises:
        InputError: The labels cannot be used, or the judge has no probabilities.
    """
    # What can be refused is, before weights are loaded and anything is asked.
    refuse_unusable(labels)
    judge = load_judge(base)
    refuse_ungraded(judge)
    judged = judge_labels(judge, labels)
    return JudgeCalibration(base, judge, judged, calibrate(judged.judged, judged.groups, target))


def place_of(name: str) -> Path:
    """The file of a user's own judge, in a folder that is there.

    Raises:
        InputError: Another judge has the name.
    """
    path = stored_path(name)
    if name in judge_names() and name not in own_names():
        raise InputError(f"expected a name that no judge has yet; found {name!r}. Choose another.")
    make_folder(path.parent)
    return path


def keep(found: JudgeCalibration, path: Path, name: str | None) -> str:
    """Write it; gives what ``--judge`` takes."""
    write_fitted(found.stored, path)
    return name or f"calibrated:{path}"
