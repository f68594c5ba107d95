"""Options and endings that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from vericite.errors import RecordError

ProtocolOption = Annotated[
    str,
    typer.Option(help="How citations are judged: vericite, statements, document, joint, windows(N), context(N)."),
]


def report(problems: Sequence[RecordError]) -> None:
    """Name the lines that could not be used, and exit with 2 if there are any."""
    from vericite.cli.show import clean

    for problem in problems[:20]:
        typer.echo(f"vericite: {clean(str(problem))}", err=True)
    if len(problems) > 20:
        typer.echo(f"vericite: and {len(problems) - 20} more lines that could not be used", err=True)
    if problems:
        raise typer.Exit(2)
