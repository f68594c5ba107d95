"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def complete_protocol(incomplete: str) -> list[str]:
    """Names of protocols, for the shell."""
    from vericite.verify.protocol import protocol_names

    return [name for name in protocol_names() if name.startswith(incomplete)]


def complete_setting(incomplete: str) -> list[str]:
    """Names of settings with the sign that follows, for the shell."""
    from vericite.pipeline.plan import Plan
    from vericite.pipeline.setting import fields_of

    return [f"{field.path}=" for field in fields_of(Plan) if field.path.startswith(incomplete)]


def complete_judge(incomplete: str) -> list[str]:
    """Names of judges, for the shell."""
    from vericite.verify.judges.registry import judge_names

    return [name for name in judge_names() if name.startswith(incomplete)]


MaybeProtocolOption = Annotated[
    str | None,
    typer.Option(
        help="Protocol for citations without a verdict; `vericite protocols` lists the names. Default: default.",
        metavar="NAME",
        autocompletion=complete_protocol,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        help="Judge to use instead of the protocol's own; `vericite judges` lists them.",
        metavar="NAME",
        autocompletion=complete_judge,
    ),
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option(
        help='Documents that are cited by PMID, DOI or address: JSONL {"id", "title"?, "text"}; for '
        "check and repair also a store, or pubmed, which asks NCBI for the cited articles.",
        metavar="FILE",
    ),
]
FormatOption = Annotated[str, typer.Option(help="Format of the answers, as for check.", metavar="NAME")]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="Columns of a table, or fields of records, to read: answer=reply,contexts=sources. Also id, "
        "question, context_ids and documents; contexts may be given several times.",
        metavar="NAMES",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the figures as CSV.")]
SignaturesOption = Annotated[bool, typer.Option("--signatures", help="Print full signatures instead of short hashes.")]
OutOption = Annotated[Path | None, typer.Option(help="Write the figures here, as one JSON line each.")]
DrawsOption = Annotated[int, typer.Option(min=100, help="Number of bootstrap draws for the intervals.")]
DrawSeedOption = Annotated[int, typer.Option(min=0, help="Seed of the draws.")]
BATCH = "Many questions"
BatchOption = Annotated[
    Path | None,
    typer.Option(
        help='JSONL of questions, {"id", "question"}, or a data set by name, as in bioasq:FILE (`vericite datasets`).',
        metavar="FILE",
        rich_help_panel=BATCH,
    ),
]
