"""``vericite calibrate``: a judge fitted to labels of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import clean, remark, remark_leakage
from vericite.cli.options import CsvOption, JsonOption
from vericite.cli.refusals import (
    lines_before_errors,
    refuse_both,
    refuse_same,
    refuse_unwritable,
    report,
)

if TYPE_CHECKING:
    from vericite.cli.terminal import Terminal
    from vericite.evaluate.crossfit import CalibrationResult, OwnLabel, Target
    from vericite.evaluate.judge_calibration import JudgeCalibration
    from vericite.evaluate.rates import Rate

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
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Fit a judge's temperature, and the probability below which to abstain, to labels of your own.

    The figures before and after are of pairs held out from the fit that they are of. Without --name or --out
    nothing is kept. A line that cannot be used is reported and costs that line alone; the exit code is then 2.
    """
    from vericite.cli.figures import print_records
    from vericite.cli.terminal import Terminal
    from vericite.evaluate.crossfit import read_labels
    from vericite.evaluate.judge_calibration import base_of, keep, target_of

    refuse_both(as_json, as_csv)
    target = target_of(coverage, risk)
    refuse_same(out, labels)
    path = _destination(name, out)
    base = base_of(judge)
    pairs, problems = read_labels(labels)
    remark_leakage(labels)
    with lines_before_errors(problems):
        found = _calibrated(base, pairs, target)
    if as_json or as_csv:
        print_records([found.record], as_csv)
    else:
        _show(Terminal(), found)
    for line in found.warnings:
        remark(line)
    if path is not None:
        kept = f"kept in {clean(str(path))}; use it with --judge {clean(keep(found, path, name))}"
        typer.echo(kept, err=as_json or as_csv)
    report(problems)


def _destination(name: str | None, out: Path | None) -> Path | None:
    """Where to keep it; refused before the judge is asked anything."""
    from vericite.errors import InputError
    from vericite.evaluate.judge_calibration import place_of

    if name is not None and out is not None:
        raise InputError("expected --name or --out, where to keep the judge; found both. Leave one out.")
    path = out if name is None else place_of(name)
    refuse_unwritable(path, "--out" if name is None else f"the file of --name {name}")
    return path


def _calibrated(base: str, pairs: Sequence[OwnLabel], target: Target) -> JudgeCalibration:

    from vericite.cli.terminal import ProgressLine
    from vericite.evaluate.judge_calibration import calibrate_judge

    with ProgressLine(f"asking {base} about {len(pairs)} pairs", "pairs").running():
        return calibrate_judge(base, pairs, target)


def _show(console: Terminal, calibration: JudgeCalibration) -> None:
    from rich.table import Table
    from rich.text import Text

    from vericite.evaluate.crossfit import COMMON

    judged, found = calibration.judged, calibration.result
    counts = Counter(COMMON[label.column] for label in judged.labels)
    labels = ", ".join(f"{counts[name]} {name}" for name in COMMON)
    groups = int(found.groups.max()) + 1
    console.print(Text(f"{clean(calibration.base)} on {len(judged.labels)} pairs in {groups} groups\n{labels}"))
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


def _show_curve(console: Terminal, found: CalibrationResult) -> None:
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
        table.add_row(f"{mark} {point.threshold:.2f}", f"{point.coverage:.3f}", *_rate(found.risk_at(point.threshold)))
    console.print(table)
    share, interval, _ = _rate(found.risk)
    bar = f"{chosen:.2f}" if chosen else "0.00, that is never"
    measured = "Measured on pairs that it was not chosen on, such a threshold leaves"
    if not chosen and found.coverage.count < found.coverage.n:
        # What is not worth it on all pairs may be on a part of them.
        measured = "Chosen anew without the pairs that it is measured on, it was above that at times, and leaves"
    left = f"{found.coverage.count} of {found.coverage.n} verdicts"
    console.print(Text(f"\n* abstain below {bar}. {measured} {left}; {share} {interval} of these are wrong."))


def _rate(rate: Rate) -> tuple[str, str, str]:
    if rate.value is None:
        return "-", "", f"0/{rate.n}"
    return f"{rate.value:.3f}", f"[{rate.low:.3f}, {rate.high:.3f}]", f"{rate.count}/{rate.n}"
