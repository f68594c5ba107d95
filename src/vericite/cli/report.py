"""``vericite report``: a page with answers, verdicts and sources."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import remark, say
from vericite.cli.options import FormatOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import prepare_output, refuse_same
from vericite.cli.score import DocumentsOption, GoldOption, SystemsArgument, checked_systems
from vericite.errors import InputError, Problems
from vericite.pipeline.plan import Language, Plan

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System


@takes_plan("report", files=False, project=False)
def report(
    plan: Plan,
    systems: SystemsArgument,
    out: Annotated[
        list[Path],
        typer.Option(
            help="What to write; may be repeated: a page for .html, a document for .docx (Word) or .md, a table with a "
            "row per citation for .csv, a folder with a page and separate data for a name without an ending.",
            metavar="FILE|FOLDER",
        ),
    ],
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    format: FormatOption = "auto",
    labels: Annotated[
        list[Path] | None,
        typer.Option(help="Human labels; their rates are shown too. May be repeated.", metavar="FILE"),
    ] = None,
    sample: Annotated[
        Path | None, typer.Option(help="The labelled sample, from `annotate sample`.", metavar="FILE")
    ] = None,
) -> None:
    """Show answers of one or more systems, each sentence with its verdict and source, as a page, in Word or as a table.

    Answers without verdicts are checked first. The page opens from disk, loads nothing, and treats every text as text.
    """
    from vericite.cli.annotate import by_people
    from vericite.cli.figures import reported
    from vericite.reporting.written import REPORTS, is_report_folder

    if bool(labels) != (sample is not None):
        raise InputError(
            "expected --labels and --sample together; found only one of them. The sample says how to weight the labels."
        )
    if len(set(out)) < len(out):
        raise InputError(f"expected each --out once; found {', '.join(map(str, out))}")
    for path in out:
        if str(path) == "-":
            raise InputError(
                f"expected --out to be a file ({', '.join(REPORTS)}) or a folder; found -, the standard output"
            )
        refuse_same(path, sample, *(labels or ()))
        if not is_report_folder(path):
            prepare_output(path, endings=REPORTS)
    problems = Problems()
    with reported(problems):
        with _remark_if_stopped():
            checked = checked_systems(systems, problems, plan, gold, documents, out, format)
            people = by_people(checked, sample, labels, problems) if sample and labels else ()
        for path in out:
            say(write_report(checked, path, people=people, language=plan.report.language))


@contextmanager
def _remark_if_stopped() -> Generator[None]:
    """On interruption, say that verdicts are not stored before the page is written."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        remark("stopped; nothing was written. Store verdicts first with `vericite check --out`: `report` can read them")
        raise


def write_report(
    systems: Sequence[System],
    out: Path,
    title: str = "",
    people: Sequence[SystemByPeople] = (),
    language: Language = "en",
) -> str:
    """Write the report of checked systems, and return a line about it.

    Raises:
        InputError: The file cannot be written.
    """
    from vericite.reporting.page import LARGEST
    from vericite.reporting.written import TITLE
    from vericite.reporting.written import write_report as write
    from vericite.text.counted import counted

    page = write(systems, out, title or TITLE, people, language)
    count = counted(sum(len(system.items) for system in systems), "answer")
    if page is None:
        return f"{out}: a row per citation" if out.suffix.lower() == ".csv" else f"{out}: {count}"
    if page.remark:
        remark(page.remark)
    if page.size > LARGEST and page.data is None:
        remark("a page of this size opens slowly; `vericite report --out FOLDER` keeps the data in a separate file")
    return f"{out}: {count}, {page.size / 1e6:.1f} MB"
