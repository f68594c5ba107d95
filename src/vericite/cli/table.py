"""``vericite table``: the figures of experiments, laid out as the papers' tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import DrawSeedOption, DrawsOption, refuse_unwritable, report

if TYPE_CHECKING:
    from vericite.errors import RecordError


class TableForm(StrEnum):
    """How a table is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"


def table(
    runs: Annotated[list[Path], typer.Argument(help="Folders of experiments, or of `ask --save`.", metavar="RUN...")],
    layout: Annotated[
        str | None,
        typer.Option(
            help="vericite-1, vericite-2, vericite-3, reason-verify-2, reason-verify-3, reason-verify-4, or a file; "
            "else that of the experiment.",
            metavar="NAME|FILE",
        ),
    ] = None,
    as_: Annotated[TableForm, typer.Option("--as", help="text, markdown, latex (booktabs) or csv.")] = TableForm.TEXT,
    out: Annotated[Path | None, typer.Option(help="Write the table here.", metavar="FILE")] = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
) -> None:
    """Make the table of an experiment: figures with intervals, the paper's beside them, and what differs.

    Comparisons are paired by question, and p is corrected by Holm's method for all that are printed. Questions that
    are not answered yet are left out, and n says how many there are.
    """
    from vericite.cli.io import clean
    from vericite.disk.files import write_whole
    from vericite.evaluate.resampling import Bootstrap
    from vericite.experiment.render import FORMS
    from vericite.experiment.tables import Layout, make_table, read_made

    refuse_unwritable(out)
    problems: list[RecordError] = []
    chosen = Layout.load(layout or _own(runs))
    text = FORMS[as_.value](make_table(read_made(runs, problems), chosen, Bootstrap(draws, seed)))
    if out is None:
        typer.echo("\n".join(map(clean, text.split("\n"))))
    else:
        write_whole(out, [text + "\n"])
    report(problems)


def _own(runs: list[Path]) -> str:
    """The layout that an experiment is made for."""
    import json

    from vericite.errors import InputError
    from vericite.experiment.grid import EXPERIMENT

    for folder in runs:
        path = folder / EXPERIMENT
        if path.is_file() and (named := json.loads(path.read_text(encoding="utf-8")).get("layout")):
            return str(named)
    raise InputError("expected --layout, as these folders name none; found none. Take vericite-1, or a file.")
