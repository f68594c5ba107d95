"""``vericite settings``: list all settings of a command with their values, or write them to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.commands_with_settings import COMMANDS, settings_class, settings_fields
from vericite.cli.io import say, say_json
from vericite.cli.options import JsonOption
from vericite.cli.plans import PlanOption, SetOption, plan_of, sections_of, settings_from
from vericite.cli.refusals import prepare_output
from vericite.pipeline.plan import Plan
from vericite.pipeline.setting import SettingField, SettingGroup, write_value


def _complete(incomplete: str) -> list[str]:
    return [name for name in COMMANDS if name.startswith(incomplete)]


def settings(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="A command, such as check, score or train fit. Default: ask.",
            autocompletion=_complete,
            metavar="COMMAND",
        ),
    ] = None,
    plan: PlanOption = None,
    assigned: SetOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the settings here, for --plan or --config of that command.", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the settings of a command, with their values and what they mean.

    Every setting can be given with --set NAME=VALUE. Settings of answering, searching and checking can also be given in
    a file for --plan, or for a whole project in vericite.toml; those of training in a file for --config. The common
    ones also have an option.
    """
    name = " ".join(command or ["ask"])
    kind = settings_class(name)
    prepare_output(out)
    sections = sections_of(name) if kind is Plan else None
    file = None if plan is None else Path(plan)
    made = plan_of(name, plan, assigned) if kind is Plan else settings_from(kind, assigned, file)
    if out is not None:
        made.dump(out, sections)
    if as_json:
        say_json(json.dumps(made.as_json(sections), indent=2, ensure_ascii=False))
    elif out is None:
        _list(made, list(settings_fields(name)))


def _list(made: SettingGroup, fields: list[SettingField]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from vericite.cli.terminal import Terminal

    console = Terminal()
    for field in fields:
        held = getattr(made, field.section) if field.section else made
        value = write_value(getattr(held, field.name)) or "(none)"
        console.print(Text.assemble((field.path, "bold"), " = ", value, (_also(field), "dim")))
        console.print(Padding(Text(field.help), (0, 0, 0, 4)))
    say(f"{len(fields)} settings; change one with --set NAME=VALUE")


def _also(field: SettingField) -> str:
    return f"  ({field.setting.option} of {', '.join(field.setting.commands)})" if field.setting.option else ""
