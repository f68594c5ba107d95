"""``vericite datasets``: the data sets that come in by name, and what is in a file of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vericite.cli.io import clean, remark_leakage, say_json
from vericite.cli.options import JsonOption
from vericite.cli.refusals import report

if TYPE_CHECKING:
    from vericite.datasets.entry import DataSet, Gives
    from vericite.datasets.registry import DatasetSource
    from vericite.errors import RecordError

datasets = typer.Typer(
    name="datasets",
    help="Data sets that come in by name, as in `ask --batch bioasq:FILE` or `score --gold mirage:FILE`.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

NameArgument = Annotated[str, typer.Argument(help="As `vericite datasets` lists it; with a part, mirage/bioasq.")]
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        help="Its file or folder; without one, its usual files in the folder VERICITE_DATA.", metavar="FILE"
    ),
]


@datasets.callback()
def listed(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the data sets: what each is, where to get it, its licence, and what of ours was trained on it."""
    if ctx.invoked_subcommand is not None:
        return
    from vericite.datasets.registry import SETS

    found = [_record(known) for known in SETS.values()]
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n\n".join(map(_shown, found)))


@datasets.command()
def stats(name: NameArgument, file: FileArgument = None, as_json: JsonOption = False) -> None:
    """Count what a data set's file holds: questions, gold, answers, citations and their labels."""
    problems: list[RecordError] = []
    source = _source(name, file)
    remark_leakage(Path(f"{source.name}:{source.paths[0]}"))
    counts = source.counts(problems).record
    if as_json:
        files = list(map(str, source.paths))
        say_json(json.dumps({"set": source.name, "files": files, "counts": counts}, indent=2, ensure_ascii=False))
    else:
        width = max(map(len, counts), default=0)
        lines = [f"{clean(what):{width}}  {count:,}" for what, count in counts.items()]
        typer.echo("\n".join([f"{source.set.title}: {', '.join(clean(str(it)) for it in source.paths)}", *lines]))
    report(problems)


@datasets.command()
def show(
    name: NameArgument,
    file: FileArgument = None,
    what: Annotated[
        str, typer.Option("--what", help="questions, gold, answers, labels, citations or documents.", metavar="KIND")
    ] = "questions",
) -> None:
    """Write what a data set has as JSON lines in our own form, for any command that reads such."""
    from vericite.errors import UnknownNameError
    from vericite.records import to_json

    problems: list[RecordError] = []
    source = _source(name, file)
    kind: Gives | None = next((it for it in source.set.gives if it == what), None)
    if kind is None:
        raise UnknownNameError(f"kind of record in {source.set.name}", what, source.set.gives)
    for record in source.records(kind, problems):
        say_json(to_json(record))
    report(problems)


def _source(name: str, file: Path | None) -> DatasetSource:
    from vericite.datasets.registry import source_named

    return source_named(name if file is None else f"{name}:{file}")


def _record(known: DataSet) -> dict[str, Any]:
    from vericite.datasets.registry import at_hand, missing

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
        "at_hand": list(map(str, at_hand(known))),
        "missing": missing(known),
    }


def _absent(record: dict[str, Any]) -> str:
    """What there is to do where a set is not at hand."""
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
        *(f"trained on: {it}" for it in record["trained_on"] or ["nothing of ours"]),
        *(f"here: {clean(it)}" for it in record["at_hand"]),
        *([] if record["at_hand"] else [_absent(record)]),
    ]
    shown = [fill(it, 98, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False) for it in lines]
    return "\n".join([record["name"], *shown])
