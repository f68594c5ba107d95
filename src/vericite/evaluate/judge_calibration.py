"""Calibrate a judge to a user's own labels: read the labels, judge the pairs, fit, and store the result.

The result is stored under a name or in a file.
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
from vericite.errors import InputError, Problems
from vericite.evaluate.calibration import CalibrationResult, JudgedPairs, Target, calibrate
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judge, Pair, traits_of
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
"""Minimum number of pairs for a fit."""
ENOUGH = 200
"""Minimum number of pairs for reliable figures."""
AT_ONCE = 1024

COMMON = ("supported", "contradicted", "irrelevant")
"""The labels of verdicts, in the order of a judge's columns."""


class OwnLabel(Record):
    """A line of a file of labels; unknown fields are ignored.

    Attributes:
        label: The label of a verdict, or the name of a judge's column.
        group: The group of the pair, such as its document or question. Pairs of a group are not independent. Default:
            pairs with the same premise are a group.
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
        """The index of the label in a judge's probabilities."""
        return (COMMON if self.label in COMMON else COLUMNS).index(self.label)

    @property
    def group_name(self) -> str:
        """The name of the pair's group."""
        return f"premise {self.premise}" if self.group is None else f"group {self.group}"


def read_labels(path: Path, problems: Problems) -> list[OwnLabel]:
    """Read the labels of a file or a data set (``scifact:FILE``).

    Raises:
        InputError: The file cannot be read, or is empty.
    """
    labels: list[OwnLabel] = []
    if is_named(str(path)):
        for citation in source_named(str(path)).citations(problems):
            if citation.claim.strip() and citation.premise.strip():
                labels.append(
                    OwnLabel(premise=citation.premise, claim=citation.claim, label=citation.label, group=citation.group)
                )
        return labels
    labels += (label for _, label in problems.kept(number_jsonl(OwnLabel, path)))
    if not labels and not problems:
        raise InputError(f'expected labels in {path}, one per line: {{"premise", "claim", "label"}}; found none')
    return labels


def refuse_unusable(labels: Sequence[OwnLabel]) -> None:
    """Check that a fit to these labels is possible.

    Raises:
        InputError: There are too few labels, or all are the same.
    """
    if len(labels) < LEAST:
        raise InputError(
            f"expected at least {LEAST} labelled pairs ({ENOUGH} for reliable figures); found {len(labels)} that can "
            "be used. Label more pairs like those that you will check."
        )
    found = {COMMON[label.column] for label in labels}
    if len(found) == 1:
        raise InputError(
            f"expected pairs with at least two labels out of {', '.join(COMMON)}; found only {next(iter(found))}. "
            "Label pairs with other outcomes too."
        )


@dataclass(frozen=True)
class JudgedLabels:
    """A judge's probabilities for labelled pairs; failed pairs are only counted.

    Attributes:
        labels: The pairs that were judged, in input order.
        judged: Labels and probabilities as arrays. If the judge never predicts a contradiction, contradicted pairs
            count as irrelevant.
        failures: Number of failed pairs by reason.
        notes: Number of judged pairs by note, such as that a premise was truncated.
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
    """Judge each pair.

    Raises:
        InputError: The judge gives no probabilities or fails on too many pairs, or the judged pairs have one label.
        PluginError: The judge raised an error.
    """
    refuse_ungraded(judge)
    step = traits_of(judge).pairs_at_once or AT_ONCE
    pairs = [Pair(label.premise, label.claim) for label in labels]
    judgements = [
        judgement for start in range(0, len(pairs), step) for judgement in ask(judge, pairs[start : start + step])
    ]
    succeeded = [judgement for judgement in judgements if judgement.failure is None]
    if not all(judgement.graded for judgement in succeeded):
        raise _ungraded(judge)
    usable = [label for label, judgement in zip(labels, judgements, strict=True) if judgement.failure is None]
    failures = Counter(judgement.failure for judgement in judgements if judgement.failure is not None)
    if failures and len(usable) < LEAST:
        reason, count = failures.most_common(1)[0]
        raise InputError(
            f"expected at least {LEAST} pairs that {judge.signature} can judge; found {len(usable)}: {reason} "
            f"({count} pairs). Fix these pairs, or use another judge."
        )
    refuse_unusable(usable)
    probabilities = np.array([judgement.probabilities for judgement in succeeded], dtype=np.float64)
    gold = np.array([label.column for label in usable], dtype=np.int64)
    without_contradiction = not probabilities[:, CONTRADICTS].any()
    if without_contradiction:
        gold[gold == CONTRADICTS] = NEUTRAL
        if (gold == NEUTRAL).all():
            raise InputError(
                f"expected pairs with at least two labels; {judge.signature} never predicts a contradiction, so "
                f"contradicted pairs count as {COMMON[NEUTRAL]}, and only {COMMON[NEUTRAL]} is left. Label "
                f"{COMMON[ENTAILS]} pairs too, or use another judge."
            )
    notes = Counter(judgement.note for judgement in succeeded if judgement.note)
    judged = JudgedPairs(
        gold, probabilities / probabilities.sum(axis=1, keepdims=True), np.zeros(len(gold), dtype=np.bool_)
    )
    return JudgedLabels(tuple(usable), judged, failures, notes, without_contradiction)


def refuse_ungraded(judge: Judge) -> None:
    """Check that a judge gives probabilities, before it is asked anything, which may cost money.

    Raises:
        InputError: The judge only gives labels.
    """
    if not traits_of(judge).graded:
        raise _ungraded(judge)


def _ungraded(judge: Judge) -> InputError:
    return InputError(
        f"expected a judge with probabilities to calibrate; {judge.signature} only gives labels. Use another judge, "
        "such as bundled or hf:CHECKPOINT."
    )


@dataclass(frozen=True)
class JudgeCalibration:
    """A calibration fitted to a judge's probabilities for a user's labels.

    Attributes:
        base: The name of the judge, valid from any folder.
        judge: The judge.
        judged: The judge's probabilities for the labelled pairs.
        result: The fit.
    """

    base: str
    judge: Judge
    judged: JudgedLabels
    result: CalibrationResult

    @property
    def stored(self) -> StoredCalibration:
        """The record to store."""
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
                **{
                    name: Shift(before=round(shift.before, 6), after=round(shift.after, 6))
                    for name, shift in shifts.items()
                },
            ),
        )

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict of the fit and its figures."""
        found = self.result
        return {
            **self.stored.model_dump(mode="json", by_alias=True),
            "coverage": asdict(found.coverage),
            "risk": asdict(found.risk),
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """Warnings about how far the figures can be trusted."""
        judged, found = self.judged, self.result
        lines: list[str] = []
        if len(judged.labels) < ENOUGH:
            lines.append(
                f"expected at least {ENOUGH} pairs for reliable figures; found {len(judged.labels)}. Label more pairs"
            )
        if repeated := len(judged.labels) - len({(label.premise, label.claim) for label in judged.labels}):
            lines.append(
                f"expected each pair of premise and claim once; found {repeated} duplicates, which make the intervals "
                "too narrow. Remove them"
            )
        if found.log_loss.after >= found.log_loss.before:
            lines.append(
                "calibration does not help on held-out pairs: the judge is better as it is, or there are too few labels"
            )
        if found.fitted.scaling.at_limit:
            lines.append(
                f"the temperature is at the limit of the search range, {found.fitted.scaling.temperature:g}: the "
                "judge's confidence does not predict whether it is right; label more pairs, or use another judge"
            )
        if judged.without_contradiction:
            lines.append("the judge never predicts a contradiction: contradicted pairs count as irrelevant")
        lines += [f"{count} pairs left out: {reason}" for reason, count in judged.failures.most_common(3)]
        lines += [f"{count} pairs: {note}" for note, count in judged.notes.most_common(3)]
        return lines


def base_of(judge: str) -> str:
    """Return a name of the judge that is valid from any folder.

    Raises:
        InputError: The judge is already calibrated.
    """
    if calibrated_file(judge) is not None:
        raise InputError(f"expected a judge that is not calibrated yet; found {judge!r}. Name its underlying judge.")
    kind, colon, rest = judge.partition(":")
    folder, mark, labels = rest.partition("#")
    if kind in JUDGES and JUDGES[kind].takes == "CHECKPOINT" and folder and Path(folder).is_dir():
        return f"{kind}{colon}{Path(folder).resolve()}{mark}{labels}"
    return judge


def calibrate_judge(base: str, labels: Sequence[OwnLabel], target: Target) -> JudgeCalibration:
    """Judge labelled pairs, and fit a temperature, biases and a threshold to the result.

    Raises:
        InputError: The labels cannot be used, or the judge gives no probabilities.
    """
    # Check the labels first: loading weights and asking the judge are expensive.
    refuse_unusable(labels)
    judge = load_judge(base)
    refuse_ungraded(judge)
    judged = judge_labels(judge, labels)
    return JudgeCalibration(base, judge, judged, calibrate(judged.judged, judged.groups, target))


def place_of(name: str) -> Path:
    """Return the file for a user's own judge, and create its folder.

    Raises:
        InputError: Another judge has this name.
    """
    path = stored_path(name)
    if name in judge_names() and name not in own_names():
        raise InputError(f"expected a name that no judge has yet; found {name!r}. Choose another name.")
    make_folder(path.parent)
    return path


def destination(out: str) -> tuple[str | None, Path]:
    """Return the judge's name and its file. A text with an ending or a folder is a file, which has no name.

    Raises:
        InputError: Another judge has this name.
    """
    if Path(out).suffix or len(Path(out).parts) > 1:
        return None, Path(out)
    return out, place_of(out)


def keep(found: JudgeCalibration, path: Path, name: str | None) -> str:
    """Store the calibration; return the value for ``--judge``."""
    write_fitted(found.stored, path)
    return name or f"calibrated:{path}"
