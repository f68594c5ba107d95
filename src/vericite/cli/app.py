"""The ``vericite`` program with all its commands."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
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
from vericite.cli.evidence import evidence
from vericite.cli.experiments import compute, run, table
from vericite.cli.info import doctor, judge, judges, measures, protocols, split
from vericite.cli.io import set_quiet, set_writes_files
from vericite.cli.prompts import prompts
from vericite.cli.report import report
from vericite.cli.score import agree, compare, rankings, score
from vericite.cli.serve import mcp, serve
from vericite.cli.settings import settings
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


def _version(is_given: bool) -> None:
    if is_given:
        typer.echo(f"vericite {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse all network access beyond this machine.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no progress and no remarks. Also works after any command.")
    ] = False,
) -> None:
    """Answer biomedical questions with a citation on every sentence, and check every citation.

    A research tool, not medical advice. Nothing leaves this machine unless you name a remote model or corpus.
    """
    set_quiet(quiet)
    set_writes_files(False)
    if offline:
        # Through the environment it also reaches other packages and processes.
        os.environ[OFFLINE] = "1"
    # Check the value here, so that every command refuses a bad one.
    whole_number(THREADS)
    if is_on(OFFLINE):
        from vericite.network.offline import hold_offline

        hold_offline()


PANELS: dict[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "Answer and check": (ask, search, check, evidence, repair, attribute, split),
    "Measure and compare": (score, compare, report, agree, rankings, measures, annotate, bioace),
    "Experiments and papers": (run, table, compute, demonstrations, prompts),
    "Data and models": (corpus, datasets, convert, judges, protocols, judge, calibrate, train),
    "Service and setup": (serve, mcp, settings, doctor),
}
"""The commands, grouped as help shows them."""

for panel, commands in PANELS.items():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=panel)
        else:
            app.command(rich_help_panel=panel)(command)


@cache
def _quiet_option() -> TyperOption:
    """Build the ``--quiet`` option of commands."""
    maker = typer.Typer(add_completion=False)

    @maker.command()
    def _any(  # pyright: ignore[reportUnusedFunction]
        # Hidden, because the program's help lists it once for all commands.
        quiet: Annotated[bool, typer.Option("--quiet", "-q", hidden=True)] = False,
    ) -> None:
        pass

    option = next(param for param in typer.main.get_command(maker).params if isinstance(param, TyperOption))
    option.expose_value = False
    option.callback = _take_quiet
    return option


def _take_quiet(_context: object, _option: object, value: object) -> None:
    if value:
        set_quiet(True)


class Command(TyperCommand):
    """A command with the options that all commands have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # Join the lines of each paragraph, so that the terminal wraps them.
        paragraphs = inspect.cleandoc(options.get("help") or "").split("\n\n")
        options["help"] = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        super().__init__(*args, **options)
        self.params.append(_quiet_option())


for group in (app, *(info.typer_instance for info in app.registered_groups)):
    for info in group.registered_commands if group else ():
        info.cls = Command


@cache
def program() -> TyperGroup:
    """Build all commands, once per process: building takes longer than running many of them."""
    built = typer.main.get_command(app)
    assert isinstance(built, TyperGroup)
    return built
