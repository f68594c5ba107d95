"""``vericite calibrate``: a judge fitted to labels of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import refuse_same, refuse_unwritable, report
from vericite.cli.remarks import clean, remark

if TYPE_CHECKING:
    from rich.console import Console

    from vericite.errors import RecordError
    from vericite.evaluate import Rate
    from vericite.evaluate.crossfit import Calibrated, Target
    from vericite.evaluate.labels import JudgedLabels, OwnLabel
    from vericite.verify import Judge
    from vericite.verify.judges.stored import StoredCalibration

_SHOWN = 10
"""Every so many hundredths a threshold is shown, from where three labels can differ in it."""


def calibrate(
    labels: Annotated[
        Path,
        typer.Argument(
            help='JSONL: {"premise", "claim", "label": supported, contradicted or irrelevant, "group"?}. Pairs of a '
            "group, such as a document or question, are held out together."
        ),
    ],
    judge: Annotated[
        str, typer.Option(help="The judge to calibrate; `vericite judges` lists them.", metavar="BASE")
    ] = "bundled",
    name: Annotated[
        str | None, typer.Option(help="Keep it under this name, for `--judge NAME`.", metavar="NAME")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Or write it to this file, for `--judge calibrated:FILE`.", metavar="FILE")
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Abstain as long as this share of verdicts is still given; 0.9 by default."),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Or abstain until no more than this share of the verdicts given is wrong."),
    ] = None,
) -> None:
    """Fit a judge's temperature, and the probability below which to abstain, to labels of your own.

    The figures before and after are of pairs held out from the fit that they are of. Without --name or --out
    nothing is kept. A line that cannot be used is reported and costs that line alone; the exit code is then 2.
    """
    from rich.console import Console

    from vericite.evaluate.labels import read_labels

    target = _target(coverage, risk)
    refuse_same(out, labels)
    path = _destination(name, out)
    base = _base(judge)
    found, problems = read_labels(labels)
    try:
        loaded, judged, fitted = _fit(base, found, target)
    except Exception:
        _name_lines(problems)
        raise
    _show(Console(highlight=False), base, judged, fitted)
    _warn(judged, fitted)
    if path is not None:
        _keep(_stored(base, loaded, fitted), path, name)
    report(problems)


def _target(coverage: float | None, risk: float | None) -> Target:
    from vericite.errors import InputError
    from vericite.evaluate.crossfit import Target

    if coverage is not None and risk is not None:
        raise InputError("expected --coverage or --risk, what the threshold shall reach; found both. Leave one out.")
    return Target(risk=risk) if coverage is None else Target(coverage)


def _destination(name: str | None, out: Path | None) -> Path | None:
    """Where to keep it, in a folder that is there; refused before the judge is asked anything."""
    from vericite.errors import InputError
    from vericite.verify.judges import judge_names, own_names
    from vericite.verify.judges.stored import make_folder, stored_path

    if name is None:
        refuse_unwritable(out)
        return out
    if out is not None:
        raise InputError("expected --name or --out, where to keep the judge; found both. Leave one out.")
    path = stored_path(name)
    if name in judge_names() and name not in own_names():
        raise InputError(f"expected a name that no judge has yet; found {name!r}. Choose another.")
    make_folder(path.parent)
    refuse_unwritable(path, f"the file of --name {name}")
    return path


def _base(judge: str) -> str:
    """The name by which the judge is found again, from whatever folder."""
    from vericite.errors import InputError
    from vericite.verify.judges import JUDGES, calibrated_file

    if calibrated_file(judge) is not None:
        raise InputError(f"expected a judge that is not calibrated yet; found {judge!r}. Name the one under it.")
    kind, colon, rest = judge.partition(":")
    folder, mark, labels = rest.partition("#")
    if kind in JUDGES and JUDGES[kind].takes == "CHECKPOINT" and folder and Path(folder).is_dir():
        return f"{kind}{colon}{Path(folder).resolve()}{mark}{labels}"
    return judge


def _fit(base: str, labels: Sequence[OwnLabel], target: Target) -> tuple[Judge, JudgedLabels, Calibrated]:
    """The base judge, what it says of the labels, and what is fitted to that."""
    from rich.console import Console
    from rich.text import Text

    from vericite.evaluate import crossfit
    from vericite.evaluate.labels import judge_labels, refuse_ungraded, refuse_unusable
    from vericite.verify import load_judge

    # What can be refused is, before weights are loaded and anything is asked.
    refuse_unusable(labels)
    judge = load_judge(base)
    refuse_ungraded(judge)
    with Console(stderr=True).status(Text(f"asking {base} about {len(labels)} pairs")):
        judged = judge_labels(judge, labels)
        return judge, judged, crossfit.calibrate(judged.judged, judged.groups, target)


def _stored(base: str, loaded: Judge, found: Calibrated) -> StoredCalibration:
    from datetime import date

    from vericite.verify.judges.stored import Figures, Shift, StoredCalibration

    shifts = {name: getattr(found, name) for name in ("log_loss", "ece", "brier")}
    first, second, third = found.fitted.scaling.bias
    return StoredCalibration(
        judge=base,
        signature=loaded.signature,
        temperature=found.fitted.scaling.temperature,
        bias=(first, second, third),
        abstain_below=found.fitted.threshold or 0.0,
        n=len(found.groups),
        date=date.today(),
        figures=Figures(
            groups=int(found.groups.max()) + 1,
            folds=found.folds,
            coverage=found.coverage.value,
            risk=found.risk.value,
            risk_low=found.risk.low,
            risk_high=found.risk.high,
            **{name: Shift(before=round(one.before, 6), after=round(one.after, 6)) for name, one in shifts.items()},
        ),
    )


def _keep(stored: StoredCalibration, path: Path, name: str | None) -> None:
    from vericite.verify.judges.stored import write_stored

    # One with a name is the user's own, the other to pass on.
    write_stored(stored, path, private=name is not None)
    asked = name or f"calibrated:{path}"
    typer.echo(f"kept in {clean(str(path))}; use it with --judge {clean(asked)}")


def _show(console: Console, base: str, judged: JudgedLabels, found: Calibrated) -> None:
    from rich.table import Table
    from rich.text import Text

    from vericite.evaluate.labels import COMMON

    counts = Counter(COMMON[label.column] for label in judged.labels)
    told = ", ".join(f"{counts[name]} {name}" for name in COMMON)
    groups = int(found.groups.max()) + 1
    console.print(Text(f"{clean(base)} on {len(judged.labels)} pairs in {groups} groups\n{told}"))
    scaling = found.fitted.scaling
    bias = "{:+.2f} entails, {:+.2f} contradicts, {:+.2f} neutral".format(*scaling.bias) if scaling.biased else "none"
    console.print(Text(f"temperature {scaling.temperature:.2f}, bias {bias}\n"))
    table = Table(f"held out, {found.folds} folds", box=None, pad_edge=False, header_style="bold")
    for column in ("before", "after", "n"):
        table.add_column(column, justify="right")
    rows = {"log loss": found.log_loss, "calibration error (ECE)": found.ece, "Brier score (0 to 2)": found.brier}
    for row, change in rows.items():
        table.add_row(row, f"{change.before:.3f}", f"{change.after:.3f}", str(len(judged.labels)))
    console.print(table)
    console.print()
    _show_curve(console, found)


def _show_curve(console: Console, found: Calibrated) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("abstain below", "coverage", "risk", "95% interval", "wrong"):
        table.add_column(column, justify="left" if column == "95% interval" else "right")
    chosen = found.fitted.threshold or 0.0
    for index, point in enumerate(found.fitted.curve):
        if point.threshold != chosen and index and (index % _SHOWN or index < 40):
            continue
        mark = "*" if point.threshold == chosen else " "
        table.add_row(f"{mark} {point.threshold:.2f}", f"{point.coverage:.3f}", *_told(found.risk_at(point.threshold)))
    console.print(table)
    share, interval, _ = _told(found.risk)
    bar = f"{chosen:.2f}" if chosen else "0.00, that is never"
    measured = "Measured on pairs that it was not chosen on, such a threshold leaves"
    if not chosen and found.coverage.count < found.coverage.n:
        # What is not worth it on all pairs may be on a part of them.
        measured = "Chosen anew without the pairs that it is measured on, it was above that at times, and leaves"
    left = f"{found.coverage.count} of {found.coverage.n} verdicts"
    console.print(Text(f"\n* abstain below {bar}. {measured} {left}; {share} {interval} of these are wrong."))


def _told(rate: Rate) -> tuple[str, str, str]:
    if rate.value is None:
        return "-", "", f"0/{rate.n}"
    return f"{rate.value:.3f}", f"[{rate.low:.3f}, {rate.high:.3f}]", f"{rate.count}/{rate.n}"


def _warn(judged: JudgedLabels, found: Calibrated) -> None:
    """What a reader of the figures should know, on stderr."""
    from vericite.evaluate.labels import ENOUGH

    told: list[str] = []
    if len(judged.labels) < ENOUGH:
        told.append(f"expected {ENOUGH} pairs or more for figures to rely on; found {len(judged.labels)}. Label more")
    if again := len(judged.labels) - len({(label.premise, label.claim) for label in judged.labels}):
        told.append(
            f"expected each pair of premise and claim once; found {again} that came before, which make the figures "
            "look surer than they are. Leave them out"
        )
    if found.log_loss.after >= found.log_loss.before:
        told.append("calibrating does not help on pairs held out: the judge is better as it is, or the labels too few")
    if found.fitted.scaling.at_limit:
        told.append(
            f"the temperature is at the limit of what is looked at, {found.fitted.scaling.temperature:g}: the "
            "judge is right or wrong however sure it is; label more, or use another judge"
        )
    if judged.without_contradiction:
        told.append("the judge knows no contradiction: contradicted pairs count as irrelevant")
    told += [f"{count} pairs left out: {reason}" for reason, count in judged.failures.most_common(3)]
    told += [f"{count} pairs: {note}" for note, count in judged.notes.most_common(3)]
    for line in told:
        remark(line)


def _name_lines(problems: list[RecordError]) -> None:
    """The lines at fault, before the error that they may have led to."""
    try:
        report(problems)
    except typer.Exit:
        return
