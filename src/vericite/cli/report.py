"""``vericite report``: answers, verdicts and sources in one page for people to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import remark
from vericite.cli.options import JudgeOption, ProtocolOption, refuse_same
from vericite.cli.score import DocumentsOption, GoldOption, NameOption, SystemsArgument

if TYPE_CHECKING:
    from vericite.errors import RecordError


def report(
    systems: SystemsArgument,
    out: Annotated[Path, typer.Option(help="The page; with --external-data a folder.", metavar="FILE")],
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    title: Annotated[str, typer.Option(help="The page's heading.")] = "Cited answers",
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
    from vericite.report.data import make_report, with_verdicts
    from vericite.report.page import LARGEST, make_page, write_page

    problems: list[RecordError] = []
    with reported(problems):
        library = read_library(documents, problems)
        read = read_systems(systems, problems, gold, {}, library, name or ())
        refuse_same(out, *read.paths, documents)
        checked = [with_verdicts(system, protocol, judge) for system in read.systems]
        page = make_page(make_report(checked), title, external_data)
        write_page(page, out)
        typer.echo(f"{out}: {sum(len(one.items) for one in checked)} answers, {page.size / 1e6:.1f} MB")
        if page.size > LARGEST and not external_data:
            remark("a page of this size opens slowly; --external-data writes a folder instead")
