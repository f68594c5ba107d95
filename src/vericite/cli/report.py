"""``vericite report``: answers, verdicts and sources in one page for people to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import remark
from vericite.cli.options import ColumnsOption, JudgeOption, ProtocolOption, refuse_same
from vericite.cli.score import DocumentsOption, GoldOption, NameOption, SystemsArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.errors import RecordError
    from vericite.evaluate.scoring import System

TITLE = "Cited answers"


def report(
    systems: SystemsArgument,
    out: Annotated[Path, typer.Option(help="The page; with --external-data a folder.", metavar="FILE")],
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    columns: ColumnsOption = None,
    name: NameOption = None,
    title: Annotated[str, typer.Option(help="The page's heading.")] = TITLE,
    external_data: Annotated[
        bool, typer.Option("--external-data", help="Write a folder, with the data in a file of their own.")
    ] = False,
    protocol: ProtocolOption = "default",
    judge: JudgeOption = None,
) -> None:
    """Show answers of one or more systems in one self-contained page, each sentence with its verdict and source.

    Answers without verdicts are checked first. The page opens from disk, loads nothing, and treats every text as text.
    """
    from vericite.cli.figures import reported
    from vericite.cli.io import read_library
    from vericite.evaluate.systems import read_systems
    from vericite.report.data import with_verdicts

    problems: list[RecordError] = []
    with reported(problems):
        library = read_library(documents, problems)
        read = read_systems(systems, problems, gold, {}, library, name or (), columns)
        refuse_same(out, *read.paths, documents)
        checked = [with_verdicts(system, protocol, judge) for system in read.systems]
        typer.echo(write_report(checked, out, title, external_data))


def write_report(systems: Sequence[System], out: Path, title: str = TITLE, external_data: bool = False) -> str:
    """Write the page of systems that were checked; a line that says what is in it.

    Raises:
        InputError: It cannot be written.
    """
    from vericite.report.data import make_report
    from vericite.report.page import LARGEST, make_page, write_page

    page = make_page(make_report(systems), title, external_data)
    write_page(page, out)
    if page.size > LARGEST and not external_data:
        remark("a page of this size opens slowly; `vericite report --external-data` writes a folder instead")
    return f"{out}: {sum(len(one.items) for one in systems)} answers, {page.size / 1e6:.1f} MB"
