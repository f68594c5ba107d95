"""``vericite report``: a page with answers, verdicts and sources."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import note, output, remark, say
from vericite.cli.options import ColumnsOption, JudgeOption, MaybeProtocolOption
from vericite.cli.refusals import refuse_same, refuse_unwritable, refuse_verdicts_aside
from vericite.cli.score import DocumentsOption, GoldOption, NameOption, SystemsArgument

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System

TITLE = "Cited answers"


def report(
    systems: SystemsArgument,
    out: Annotated[
        Path | None, typer.Option(help="Write the page here; with --external-data, a folder.", metavar="FILE")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--csv", help="Write a table here, with a row per citation; - prints it.", metavar="FILE"),
    ] = None,
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    columns: ColumnsOption = None,
    name: NameOption = None,
    title: Annotated[str, typer.Option(help="The page's heading.")] = TITLE,
    external_data: Annotated[
        bool, typer.Option("--external-data", help="Write a folder, with the data in a separate file.")
    ] = False,
    protocol: MaybeProtocolOption = None,
    judge: JudgeOption = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(help="Human labels; their rates are shown too. May be repeated.", metavar="FILE"),
    ] = None,
    sample: Annotated[
        Path | None, typer.Option(help="The labelled sample, from `annotate sample`.", metavar="FILE")
    ] = None,
    scheme: Annotated[
        str, typer.Option(help="The scheme of the labels, as for `annotate`.", metavar="NAME|FILE")
    ] = "vericite",
) -> None:
    """Show answers of one or more systems in one self-contained page, each sentence with its verdict and source.

    Answers without verdicts are checked first. The page opens from disk, loads nothing, and treats every text as text.
    """
    from vericite.cli.annotate import by_people
    from vericite.cli.answers import read_library
    from vericite.cli.figures import reported
    from vericite.errors import InputError, Problems
    from vericite.evaluate.systems import read_systems
    from vericite.reporting.data import with_verdicts

    if bool(labels) != (sample is not None):
        raise InputError(
            "expected --labels and --sample together; found only one of them. The sample says how to weight the labels."
        )
    if out is None and table is None:
        raise InputError("expected --out for the page, or --csv for the table; found neither")
    if out is not None and out == table:
        raise InputError(f"expected --out and --csv to be two files; found {out} for both")
    printed = table is not None and str(table) == "-"
    refuse_unwritable(None if printed else table, "--csv")
    problems = Problems()
    with reported(problems):
        with _remark_if_stopped():
            library = read_library(documents, problems)
            read = read_systems(systems, problems, gold, {}, library, name or (), columns)
            refuse_same(out, *read.paths, documents, sample, *(labels or ()))
            refuse_same(table, *read.paths, documents, sample, *(labels or ()), what="--csv")
            if protocol is None and judge is None:
                refuse_verdicts_aside(places=systems, read=read)
            checked = [with_verdicts(system, protocol, judge) for system in read.systems]
            people = by_people(checked, sample, labels, scheme, problems) if sample and labels else ()
        if table is not None:
            _write_table(checked, None if printed else table)
        if out is not None:
            say(write_report(checked, out, title, external_data, people), err=printed)


@contextmanager
def _remark_if_stopped() -> Generator[None]:
    """Tell the user on interruption that verdicts are not stored before the page is written."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        remark("stopped; nothing was written. Store verdicts first with `vericite check --out`: `report` can read them")
        raise


def _write_table(systems: Sequence[System], path: Path | None) -> None:
    """Write or print a table with a row per citation."""
    from vericite.reporting.data import citation_table

    text = citation_table(systems)
    if path is None:
        say(text.rstrip("\n"))
        return
    with output(path, what="--csv") as file:
        assert file is not None
        file.write([text])
    note(f"{path}: a row per citation")


def write_report(
    systems: Sequence[System],
    out: Path,
    title: str = TITLE,
    external_data: bool = False,
    people: Sequence[SystemByPeople] = (),
) -> str:
    """Write the page of checked systems; return a line with its counts and size.

    Raises:
        InputError: The page cannot be written.
    """
    from vericite.reporting.data import make_report
    from vericite.reporting.page import LARGEST, make_page, write_page

    page = make_page(make_report(systems, people=people), title, external_data)
    write_page(page, out)
    if page.size > LARGEST and not external_data:
        remark("a page of this size opens slowly; `vericite report --external-data` writes a folder instead")
    return f"{out}: {sum(len(system.items) for system in systems)} answers, {page.size / 1e6:.1f} MB"
