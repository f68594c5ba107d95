"""The commands, gathered."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from vericite.cli.agree import agree, rankings
from vericite.cli.ask import ask
from vericite.cli.attribute import attribute
from vericite.cli.calibrate import calibrate
from vericite.cli.catalogue import judges, measures, protocols
from vericite.cli.check import check
from vericite.cli.corpus import corpus
from vericite.cli.demonstrations import demonstrations
from vericite.cli.doctor import doctor
from vericite.cli.judge import judge
from vericite.cli.repair import repair
from vericite.cli.score import compare, score
from vericite.cli.search import search
from vericite.cli.split import split
from vericite.cli.train import train
from vericite.version import __version__

app = typer.Typer(
    name="vericite",
    help="Answer biomedical questions with a citation on every sentence, and check every citation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"vericite {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse whatever would leave this machine.")] = False,
) -> None:
    """Answer biomedical questions with a citation on every sentence, and check every citation.

    A research tool, not medical advice. Nothing leaves this machine unless you name a model elsewhere.
    """
    if offline:
        # The one place that all parts look at, also those in other packages.
        os.environ["VERICITE_OFFLINE"] = "1"


for command in (
    ask,
    search,
    check,
    attribute,
    repair,
    score,
    compare,
    agree,
    rankings,
    judge,
    calibrate,
    split,
    protocols,
    judges,
    measures,
    doctor,
):
    app.command()(command)
app.add_typer(corpus)
app.add_typer(demonstrations)
# Its steps have options of their own, and their own help.
app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)(train)
