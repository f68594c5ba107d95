"""``vericite datasets`` and ``vericite convert``: public data sets in our format, and answers in other formats."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from pydantic import Field

from vericite.cli.answers import read_answers
from vericite.cli.exits import ExitCode
from vericite.cli.io import clean, output, remark, remark_leakage, say, say_json
from vericite.cli.options import DocumentsOption, FormatOption, JsonOption
from vericite.cli.plans import SetOption, path_of, settings_from
from vericite.cli.refusals import code_of_count, prepare_output, refuse_same, report
from vericite.errors import Problems
from vericite.pipeline.setting import SettingGroup

if TYPE_CHECKING:
    from vericite.datasets.entry import DataSet
    from vericite.datasets.registry import DatasetSource


datasets = typer.Typer(
    name="datasets",
    help="Data sets that can be read by name, as in `ask --batch bioasq:FILE` or `score --gold mirage:FILE`.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

NameArgument = Annotated[
    str, typer.Argument(help="A name from `vericite datasets`, optionally with a part, as in mirage/bioasq.")
]
FileArgument = Annotated[
    Path | None,
    typer.Argument(help="Its file or folder. Default: its usual files in the folder VERICITE_DATA.", metavar="FILE"),
]


@datasets.callback()
def listed(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the data sets: description, where to get them, licence, and shipped models trained on them."""
    if ctx.invoked_subcommand is not None:
        return
    from vericite.datasets.registry import SETS

    found = [_record(known) for _, known in SETS.usable()]
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n\n".join(map(_shown, found)))


@datasets.command()
def stats(name: NameArgument, file: FileArgument = None, as_json: JsonOption = False) -> None:
    """Count what a data set's file holds: questions, gold, answers, citations and their labels."""
    problems = Problems()
    source = _source(name, file)
    remark_leakage(Path(f"{source.name}:{source.paths[0]}"))
    counts = source.counts(problems).record
    if as_json:
        files = list(map(str, source.paths))
        say_json(json.dumps({"set": source.name, "files": files, "counts": counts}, indent=2, ensure_ascii=False))
    else:
        width = max(map(len, counts), default=0)
        lines = [f"{clean(what):{width}}  {count:,}" for what, count in counts.items()]
        typer.echo("\n".join([f"{source.set.title}: {', '.join(clean(str(path)) for path in source.paths)}", *lines]))
    report(problems)


@datasets.command()
def show(
    name: NameArgument,
    file: FileArgument = None,
    what: Annotated[
        str, typer.Option("--what", help="questions, gold, answers, labels, citations or documents.", metavar="KIND")
    ] = "questions",
) -> None:
    """Write a data set's records as JSON lines in our format, for any command that reads it."""
    from vericite.records import to_json

    problems = Problems()
    source = _source(name, file)
    kind = source.kind_named(what)
    found = False
    for record in source.records(kind, problems):
        found = True
        say_json(to_json(record))
    if not found and not problems:
        remark(f"it has no {kind}; `vericite datasets stats {source.set.name}` lists what it has")
    report(problems)


def _source(name: str, file: Path | None) -> DatasetSource:
    from vericite.datasets.registry import source_named

    return source_named(name if file is None else f"{name}:{file}")


def _record(known: DataSet) -> dict[str, Any]:
    from vericite.datasets.registry import found_files, missing_files

    return {
        "name": known.name,
        "title": known.title,
        "about": known.about,
        "gives": list(known.gives),
        "parts": list(known.parts),
        "shape": known.shape,
        "where": known.where,
        "licence": known.licence,
        "cite": known.cite,
        "trained_on": list(known.trained_on),
        "at_hand": list(map(str, found_files(known))),
        "missing": missing_files(known),
    }


def _absent(record: dict[str, Any]) -> str:
    """Return the next step for a set whose files are missing."""
    named = f"{record['name']}:FILE"
    if record["missing"]:
        return f"not here: get it, and name it ({named}) or put it in VERICITE_DATA as {', '.join(record['missing'])}"
    return f"not here: get it, and name it: {named}"


def _shown(record: dict[str, Any]) -> str:
    from textwrap import fill

    parts = f"; parts {', '.join(record['parts'])}" if record["parts"] else ""
    lines = [
        f"{record['title']} ({record['cite']}): {record['about']}",
        f"gives {', '.join(record['gives'])}{parts}",
        f"from {record['where']}",
        f"licence: {record['licence']}",
        *(f"trained on: {trained}" for trained in record["trained_on"] or ["nothing of ours"]),
        *(f"here: {clean(path)}" for path in record["at_hand"]),
        *([] if record["at_hand"] else [_absent(record)]),
    ]
    shown = [fill(line, 98, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False) for line in lines]
    return "\n".join([record["name"], *shown])


class ConvertSettings(SettingGroup):
    """Settings of ``convert``."""

    run: str = Field(default="vericite", description="Name of a BioGen or AutoJudge run.")
    team: str = Field(default="vericite", description="Team of an AutoJudge run.")
    topics: str | None = Field(default=None, description="Topics of a BioGen run, such as biogen2024:FILE.")
    validate_only: bool = Field(
        default=False, description="With --to biogen: the input is a run; only list its violations of the rules."
    )


class OutputFormat(StrEnum):
    """Formats that can be written."""

    VERICITE = "vericite"
    BIOGEN = "biogen"
    ALCE = "alce"
    AUTOJUDGE = "autojudge"
    AUTOJUDGE_NUGGETS = "autojudge-nuggets"
    GOLD = "gold"
    CSV = "csv"


def convert(
    file: Annotated[
        Path,
        typer.Argument(
            help="Answers in any format of `check`; for csv, verdicts of `check --out`; for nuggets and gold, input of "
            "`score --gold`."
        ),
    ],
    to: Annotated[OutputFormat, typer.Option(help="The format to write.")],
    out: Annotated[Path | None, typer.Option(help="The file to write. Default: the terminal.", metavar="FILE")] = None,
    format: FormatOption = "auto",
    documents: DocumentsOption = None,
    assigned: SetOption = None,
) -> None:
    """Write answers as our JSON lines, a BioGen run, an AutoJudge report or ALCE's JSON, and verdicts as a table.

    autojudge-nuggets writes gold nuggets as AutoJudge's banks; gold reads such banks back into our format. An answer
    that violates BioGen's rules (250 words, 3 PMIDs per sentence, topics) is reported and left out; the exit code is
    then 2.
    """
    from vericite.formats.convert import answers_as

    settings = settings_from(ConvertSettings, assigned)
    topics = path_of(settings.topics)
    refuse_same(out, file, documents, topics)
    prepare_output(out)
    problems = Problems()
    code = ExitCode.OK
    asked = _Run(file, topics)
    if settings.validate_only:
        asked.validate(to)
        return
    if to is OutputFormat.CSV:
        text = _table(file, problems)
    elif to in (OutputFormat.AUTOJUDGE_NUGGETS, OutputFormat.GOLD):
        text = _gold(file, to, problems)
    else:
        answers = list(read_answers(file, format, documents, problems))
        code = code_of_count(len(answers))
        text = answers_as(to.value, answers, settings.run, settings.team, problems, asked.topic_ids(problems), file)
    with output(out) as written:
        if written is not None:
            written.write([text])
        else:
            (say if to is OutputFormat.CSV else say_json)(text.rstrip("\n"))
    report(problems, code)


class _Run(NamedTuple):
    """The requested run."""

    file: Path
    topics: Path | None

    def topic_ids(self, problems: Problems) -> set[str]:
        """Return the ids of the topics; empty if none are given. Bad lines are added to ``problems``."""
        from vericite.formats.registry import read_questions

        return {question.id for question in read_questions(self.topics, problems)} if self.topics else set[str]()

    def validate(self, to: OutputFormat) -> None:
        """List the run's violations of BioGen's rules; exit with 2 if there are any."""
        from vericite.errors import InputError
        from vericite.formats.convert import run_problems

        if to is not OutputFormat.BIOGEN:
            raise InputError(f"expected --to biogen with validate_only; found {to.value}. Only its rules are known.")
        problems = Problems()
        ids = self.topic_ids(problems)
        report([*problems, *run_problems(self.file, ids)])
        say(f"{self.file}: no violations of the track's rules")


def _gold(file: Path, to: OutputFormat, problems: Problems) -> str:
    from vericite.errors import InputError, RecordError
    from vericite.evaluate.systems import read_gold
    from vericite.formats.tracks import to_bank
    from vericite.records import to_json

    gold = read_gold(file, problems)
    if to is OutputFormat.GOLD:
        return "".join(f"{to_json(record)}\n" for record in gold.values())
    lines: list[str] = []
    for record in gold.values():
        try:
            lines.append(json.dumps(to_bank(record), ensure_ascii=False) + "\n")
        except InputError as error:
            problems.append(RecordError(file, 0, record.id, str(error)))
    return "".join(lines)


def _table(file: Path, problems: Problems) -> str:
    from vericite.errors import InputError
    from vericite.formats.convert import VERDICT_COLUMNS, to_table, verdict_rows
    from vericite.records import CheckedAnswer, number_jsonl

    rows: list[list[str]] = []
    for _, line in problems.kept(number_jsonl(CheckedAnswer, file)):
        rows += verdict_rows(line)
    if not rows:
        raise InputError(f"expected verdicts of `vericite check --out` in {file}; found none.{problems.first_of(file)}")
    return to_table([VERDICT_COLUMNS, *rows])
