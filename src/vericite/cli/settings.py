"""``vericite settings``: all settings of a command, their values, and a file of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.io import say, say_json
from vericite.cli.options import JsonOption
from vericite.cli.plans import PlanOption, SetOption, option_of, plan_of, sections_of
from vericite.cli.refusals import refuse_unwritable
from vericite.pipeline.plan import SECTIONS, Plan
from vericite.pipeline.setting import SettingField, fields_of, write_value

_COMMANDS = tuple(name for name in SECTIONS if name != "export")


def _complete(incomplete: str) -> list[str]:
    return [name for name in _COMMANDS if name.startswith(incomplete)]


def settings(
    command: Annotated[
        str,
        typer.Argument(
            help=f"{', '.join(_COMMANDS[:-1])} or {_COMMANDS[-1]}.",
            autocompletion=_complete,
        ),
    ] = "ask",
    plan: PlanOption = None,
    assigned: SetOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the settings to this file, to be read with --plan.", metavar="FILE")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the settings of a command, with their values and what they mean.

    Every setting can be given with --set NAME=VALUE, in a file for --plan, or for a whole project in vericite.toml.
    The common ones also have an option.
    """
    from vericite.errors import UnknownNameError

    if command not in _COMMANDS:
        raise UnknownNameError("command with settings", command, _COMMANDS)
    refuse_unwritable(out)
    made, sections = plan_of(command, plan, assigned), sections_of(command)
    if out is not None:
        made.dump(out, sections)
    if as_json:
        say_json(json.dumps(made.as_json(sections), indent=2, ensure_ascii=False))
    elif out is None:
        _list(made, sections)


def _list(plan: Plan, sections: tuple[str, ...]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from vericite.cli.terminal import Terminal

    console = Terminal()
    for field in fields_of(Plan, sections):
        value = write_value(getattr(getattr(plan, field.section), field.name)) or "(none)"
        console.print(Text.assemble((field.path, "bold"), " = ", value, (_also(field), "dim")))
        console.print(Padding(Text(field.help), (0, 0, 0, 4)))
    say(f"{sum(1 for _ in fields_of(Plan, sections))} settings; change one with --set NAME=VALUE")


def _also(field: SettingField) -> str:
    option = option_of(field.path)
    return "" if option.startswith("--set") else f"  ({option} of {', '.join(field.setting.commands)})"
