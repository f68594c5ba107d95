"""The commands, gathered."""

from __future__ import annotations

import os
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from vericite.cli.annotate import annotate
from vericite.cli.ask import ask, search
from vericite.cli.attribute import attribute, repair
from vericite.cli.bioace import bioace
from vericite.cli.check import check
from vericite.cli.corpus import corpus
from vericite.cli.datasets import convert, datasets
from vericite.cli.demonstrations import demonstrations
from vericite.cli.experiments import compute, run, table
from vericite.cli.info import doctor, judge, judges, measures, protocols, split
from vericite.cli.io import set_quiet
from vericite.cli.report import report
from vericite.cli.score import agree, compare, rankings, score
from vericite.cli.serve import mcp, serve
from vericite.cli.train import calibrate, train
from vericite.environment import OFFLINE, THREADS, is_on, whole_number
from vericite.version import __version__

app = typer.Typer(
    name="vericite",
    help="Answer biomedical questions with a citation on every sentence, and check every citation.",
    no_args_is_help=True,
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
        # All parts read it there, also those in other packages and processes.
        os.environ[OFFLINE] = "1"
    # Every command refuses a bad value, not only those that load a model.
    whole_number(THREADS)
    if is_on(OFFLINE):
        from vericite.network.offline import hold_offline

        hold_offline()


for command in (
    ask,
    search,
    check,
    attribute,
    repair,
    score,
    compare,
    report,
    run,
    table,
    serve,
    mcp,
    agree,
    rankings,
    compute,
    judge,
    calibrate,
    convert,
    split,
    protocols,
    judges,
    measures,
    doctor,
):
    app.command()(command)
app.add_typer(annotate)
app.add_typer(bioace)
app.add_typer(corpus)
app.add_typer(datasets)
app.add_typer(demonstrations)
app.add_typer(train)


@cache
def _quiet_option() -> TyperOption:
    """``--quiet``, as typer makes it."""
    maker = typer.Typer(add_completion=False)

    @maker.command()
    def _any(  # pyright: ignore[reportUnusedFunction]
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Leave out progress and remarks; say only what is wrong.")
        ] = False,
    ) -> None:
        pass

    option = next(param for param in typer.main.get_command(maker).params if isinstance(param, TyperOption))
    option.expose_value = False
    option.callback = _take_quiet
    return option


def _take_quiet(_context: object, _option: object, value: object) -> None:
    set_quiet(bool(value))


class Command(TyperCommand):
    """A command with the options that all commands have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.append(_quiet_option())


for group in (app, *(info.typer_instance for info in app.registered_groups)):
    for info in group.registered_commands if group else ():
        info.cls = Command


@cache
def program() -> TyperGroup:
    """All commands, built once a process: the building takes longer than many of them run."""
    built = typer.main.get_command(app)
    assert isinstance(built, TyperGroup)
    return built
