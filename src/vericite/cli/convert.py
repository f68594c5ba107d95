"""``vericite convert``: answers and verdicts in the forms of other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vericite.cli.io import output, read_answers
from vericite.cli.options import ColumnsOption, DocumentsOption, FormatOption
from vericite.cli.refusals import refuse_same, refuse_unwritable, report

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.records import Answer


class Form(StrEnum):
    """What can be written."""

    VERICITE = "vericite"
    BIOGEN = "biogen"
    ALCE = "alce"
    CSV = "csv"


def convert(
    file: Annotated[Path, typer.Argument(help="Answers in any form of `check`; for csv, verdicts of `check --out`.")],
    to: Annotated[Form, typer.Option(help="The form to write.")],
    out: Annotated[Path | None, typer.Option(help="Write here; else on the terminal.", metavar="FILE")] = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    documents: DocumentsOption = None,
    run: Annotated[str, typer.Option(help="The name of a BioGen run.", metavar="NAME")] = "vericite",
    topics: Annotated[
        Path | None,
        typer.Option(help="The topics that a BioGen run is for, as in biogen2024:FILE.", metavar="FILE"),
    ] = None,
) -> None:
    """Write answers as our JSON lines, a BioGen run or ALCE's JSON, or verdicts as a table, a row a citation.

    An answer that BioGen's rules refuse (250 words, 3 PMIDs a sentence, topics) is reported and left out; the exit code
    is then 2.
    """
    refuse_same(out, file, documents, topics)
    refuse_unwritable(out)
    problems: list[RecordError] = []
    if to is Form.CSV:
        text = _table(file, problems)
    else:
        text = _converted(
            read_answers(file, format, documents, problems, columns=columns), to, _Run(file, run, topics), problems
        )
    with output(out) as written:
        if written is not None:
            written.write([text])
        else:
            typer.echo(text, nl=False)
    report(problems)


class _Run(NamedTuple):
    """The BioGen run that is asked for."""

    file: Path
    name: str
    topics: Path | None

    def lines(self, answers: Iterable[Answer], problems: list[RecordError]) -> Iterator[str]:
        """The answers that the track's rules take; the others are added to ``problems``."""
        from vericite.errors import RecordError
        from vericite.formats.convert import biogen_problems, to_biogen
        from vericite.formats.registry import read_questions

        topics = {question.id for question in read_questions(self.topics)[0]} if self.topics else set[str]()
        for answer in answers:
            made = to_biogen(answer, self.name)
            found = biogen_problems(made, topics)
            problems += [RecordError(self.file, 0, answer.id, problem) for problem in found]
            if not found:
                yield json.dumps(made, ensure_ascii=False) + "\n"


def _converted(answers: Iterable[Answer], to: Form, run: _Run, problems: list[RecordError]) -> str:
    from vericite.formats.convert import to_alce, to_vericite

    if to is Form.ALCE:
        return json.dumps({"args": {}, "data": [to_alce(it) for it in answers]}, ensure_ascii=False, indent=1) + "\n"
    if to is Form.BIOGEN:
        return "".join(run.lines(answers, problems))
    return "".join(f"{to_vericite(it)}\n" for it in answers)


def _table(file: Path, problems: list[RecordError]) -> str:
    from vericite.errors import InputError, RecordError
    from vericite.formats.convert import VERDICT_COLUMNS, to_table, verdict_rows
    from vericite.records import CheckedAnswer, number_jsonl

    rows: list[list[str]] = []
    for _, line in number_jsonl(CheckedAnswer, file):
        if isinstance(line, RecordError):
            problems.append(line)
        else:
            rows += verdict_rows(line)
    if not rows:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f"expected verdicts of `vericite check --out` in {file}; found none.{first}")
    return to_table([VERDICT_COLUMNS, *rows])
