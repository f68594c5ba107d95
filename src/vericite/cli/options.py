"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def complete_protocol(incomplete: str) -> list[str]:
    """Names of protocols, for the shell."""
    from vericite.verify.protocol import protocol_names

    return [name for name in protocol_names() if name.startswith(incomplete)]


def complete_setting(context: typer.Context, incomplete: str) -> list[str]:
    """Names of the command's settings with the sign that follows, for the shell."""
    from vericite.cli.commands_with_settings import settings_fields

    command = " ".join(context.command_path.split()[1:])
    if command == "settings":
        command = " ".join(context.params.get("command") or ["ask"])
    return [f"{field.path}=" for field in settings_fields(command) if field.path.startswith(incomplete)]


def complete_judge(incomplete: str) -> list[str]:
    """Names of judges, for the shell."""
    from vericite.verify.judges.registry import judge_names

    return [name for name in judge_names() if name.startswith(incomplete)]


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
        help='Documents that are cited by PMID, DOI, address or id: JSONL {"id", "title"?, "text"}, another file or a '
        "folder of files (PDF, Word ...); for check and repair also a store, or pubmed, which asks NCBI for the cited "
        "articles; for a manuscript also crossref or pmc, or several with commas between them.",
        metavar="FILE",
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        help="vericite, markdown, spans, openai, gemini, perplexity, paper-qa, ragas, langchain, llamaindex, haystack, "
        "alce, biogen, trec-rag, autojudge or medaesqa (docs/formats.md), or a data set with answers "
        "(docs/datasets.md); auto detects it. manuscript reads a text with a list of references (docs/manuscripts.md). "
        "For tables and other fields, what these hold: "
        "answer=reply,contexts=sources; also id, question, context_ids and documents; contexts may be repeated.",
        metavar="NAME|FIELDS",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Write the figures to this file: a CSV table for .csv, a JSON list for .json, else JSON Lines."),
]
BATCH = "Many questions"
BatchOption = Annotated[
    Path | None,
    typer.Option(
        help="Questions: JSON, a table with a column question, one per line (.txt), or a data set by name, as in "
        "bioasq:FILE (`vericite datasets`).",
        metavar="FILE",
        rich_help_panel=BATCH,
    ),
]
