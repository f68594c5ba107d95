"""A judge calibrated to a user's own labels: asked about them, fitted, and kept under a name or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from vericite.disk.fitted import write_fitted
from vericite.errors import InputError
from vericite.evaluate.crossfit import (
    ENOUGH,
    CalibrationResult,
    JudgedLabels,
    OwnLabel,
    Target,
    calibrate,
    judge_labels,
    refuse_ungraded,
    refuse_unusable,
)
from vericite.models.contracts import Judge
from vericite.verify.judges.calibrated import (
    CalibrationFigures,
    Shift,
    StoredCalibration,
    make_folder,
    stored_path,
)
from vericite.verify.judges.registry import JUDGES, calibrated_file, judge_names, load_judge, own_names


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


def target_of(coverage: float | None, risk: float | None) -> Target:
    """What the threshold shall reach; a coverage unless a risk is given.

    Raises:
        InputError: Both are given.
    """
    if coverage is not None and risk is not None:
        raise InputError("expected --coverage or --risk, what the threshold shall reach; found both. Leave one out.")
    return Target(risk=risk) if coverage is None else Target(coverage)


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
