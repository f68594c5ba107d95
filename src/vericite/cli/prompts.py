"""``vericite prompts``: files of the prompts that a paper prints, from the reader's own copy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.exits import ExitCode, end
from vericite.cli.io import note, remark, say

prompts = typer.Typer(
    name="prompts",
    help="Prompts as papers print them, from your own copy of the paper.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@prompts.callback()
def root() -> None:
    """Write the prompts that papers print into files that are sent word for word."""


@prompts.command("from")
def from_paper(
    paper: Annotated[
        Path,
        typer.Argument(help="VeriCite, Reason and Verify, BioACE or MultiAttr, as PDF or as text.", metavar="PAPER"),
    ],
    to: Annotated[Path, typer.Option("--to", help="The folder to write to.", metavar="FOLDER")],
) -> None:
    r"""Find the prompts printed in a paper, and write each into a file that is sent word for word.

    The papers' prompts are not part of VeriCite. A PDF needs the extra \[documents].
    """
    from vericite.api import extract_prompts

    found = extract_prompts(paper, to)
    for name, file in found.files.items():
        say(f"{file}: {found.uses[name]}")
    for name in found.missing:
        remark(f"expected {name} in this copy of the paper; found no place where it begins and ends")
    note(f"next: vericite run EXPERIMENT --set prompts={to}, or name a file where a prompt is asked for")
    end(ExitCode.BAD_INPUT if found.missing else ExitCode.OK)
