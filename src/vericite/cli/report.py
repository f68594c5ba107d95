"""``vericite report``: a page with answers, verdicts and sources."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import note, output, remark, say
from vericite.cli.options import FormatOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import refuse_same, refuse_unwritable
from vericite.cli.score import DocumentsOption, GoldOption, SystemsArgument, checked_systems
from vericite.errors import InputError, Problems
from vericite.pipeline.plan import Language, Plan

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System

TITLE = "Cited answers"

_FILES = (".html", ".htm", ".csv", ".docx", ".md")


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
    from vericite.reporting.written import DOCUMENTS, write_systems
    from vericite.text.counted import counted

    if bool(labels) != (sample is not None):
        raise InputError(
            "expected --labels and --sample together; found only one of them. The sample says how to weight the labels."
        )
    if len(set(out)) < len(out):
        raise InputError(f"expected each --out once; found {', '.join(map(str, out))}")
    for path in out:
        if str(path) == "-":
            raise InputError(
                f"expected --out to be a file ({', '.join(_FILES)}) or a folder; found -, the standard output"
            )
        refuse_same(path, sample, *(labels or ()))
        if not _is_folder(path):
            refuse_unwritable(path, endings=_FILES)
    problems = Problems()
    with reported(problems):
        with _remark_if_stopped():
            checked = checked_systems(systems, problems, plan, gold, documents, out, format)
            people = by_people(checked, sample, labels, problems) if sample and labels else ()
        for path in out:
            ending = path.suffix.lower()
            if ending == ".csv":
                _write_table(checked, path)
            elif ending in DOCUMENTS:
                write_systems(checked, path)
                note(f"{path}: {counted(sum(len(system.items) for system in checked), 'answer')}")
            else:
                say(
                    write_report(
                        checked, path, external_data=_is_folder(path), people=people, language=plan.report.language
                    )
                )


def _is_folder(path: Path) -> bool:
    """Whether a path means a folder: there is one, or the name is new and has no ending.

    Raises:
        InputError: The name has an ending that says nothing here.
    """
    if path.suffix.lower() in _FILES or path.exists():
        return path.is_dir()
    if path.suffix:
        raise InputError(
            f"expected --out to end in {', '.join(_FILES)}, or to be the name of a folder; found {path}. "
            "Excel and LibreOffice open .csv. Create the folder first if its name has a dot"
        )
    return True


@contextmanager
def _remark_if_stopped() -> Generator[None]:
    """On interruption, say that verdicts are not stored before the page is written."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        remark("stopped; nothing was written. Store verdicts first with `vericite check --out`: `report` can read them")
        raise


def _write_table(systems: Sequence[System], path: Path) -> None:
    """Write a table with a row per citation."""
    from vericite.reporting.data import citation_table

    with output(path) as file:
        assert file is not None
        file.write([citation_table(systems)])
    note(f"{path}: a row per citation")


def write_report(
    systems: Sequence[System],
    out: Path,
    title: str = TITLE,
    external_data: bool = False,
    people: Sequence[SystemByPeople] = (),
    language: Language = "en",
) -> str:
    """Write the page of checked systems; return a line with its counts and size.

    Raises:
        InputError: The page cannot be written.
    """
    from vericite.reporting.data import make_report
    from vericite.reporting.page import LARGEST, make_page, write_page
    from vericite.text.counted import counted

    page = make_page(make_report(systems, people=people), title, external_data, language)
    write_page(page, out)
    if page.size > LARGEST and not external_data:
        remark("a page of this size opens slowly; `vericite report --out FOLDER` keeps the data in a separate file")
    count = sum(len(system.items) for system in systems)
    return f"{out}: {counted(count, 'answer')}, {page.size / 1e6:.1f} MB"
