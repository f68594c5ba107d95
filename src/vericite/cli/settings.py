"""``vericite settings``: list all settings of a command with their values, or write them to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.io import say, say_json
from vericite.cli.options import JsonOption
from vericite.cli.plans import PlanOption, SetOption, plan_of, sections_of, settings_from
from vericite.cli.refusals import refuse_unwritable
from vericite.pipeline.plan import SECTIONS, Plan
from vericite.pipeline.setting import SettingField, Settings, fields_of, write_value

OWN = {
    "score": "vericite.evaluate.settings:ScoreSettings",
    "compare": "vericite.evaluate.settings:ScoreSettings",
    "agree": "vericite.evaluate.settings:AgreeSettings",
    "rankings": "vericite.evaluate.settings:Draws",
    "table": "vericite.evaluate.settings:Draws",
    "convert": "vericite.cli.datasets:ConvertSettings",
    "annotate sample": "vericite.cli.annotate:SampleSettings",
    "annotate agreement": "vericite.evaluate.settings:Draws",
    "bioace score": "vericite.lab.assess.bioace:AssessSettings",
    "bioace train-completeness": "vericite.lab.train.configs:CompletenessConfig",
    "bioace train-correctness": "vericite.lab.train.configs:LabelConfig",
    "train fit": "vericite.lab.train.configs:FitSettings",
    "train attribution": "vericite.lab.train.configs:HeadConfig",
    "train attribution --base": "vericite.lab.train.configs:LoraConfig",
    "train inline": "vericite.lab.train.configs:InlineConfig",
    "train attribution-data": "vericite.lab.train.configs:MadeDataSettings",
}
"""Commands whose settings are not a plan: where their class is. It is imported only when needed."""

COMMANDS = (*SECTIONS, *OWN)


def settings_class(command: str) -> type[Settings]:
    """Return the class of a command's settings.

    Raises:
        UnknownNameError: The command has no settings.
    """
    from vericite.errors import UnknownNameError

    if command not in COMMANDS:
        raise UnknownNameError("command with settings", command, COMMANDS)
    if command in SECTIONS:
        return Plan
    module, _, name = OWN[command].partition(":")
    return getattr(import_module(module), name)


def settings_fields(command: str) -> Iterator[SettingField]:
    """Yield the fields that ``--set`` of a command takes.

    Raises:
        UnknownNameError: The command has no settings.
    """
    return fields_of(settings_class(command), SECTIONS.get(command))


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
    refuse_unwritable(out)
    sections = sections_of(name) if kind is Plan else None
    file = None if plan is None else Path(plan)
    made = plan_of(name, plan, assigned) if kind is Plan else settings_from(kind, assigned, file)
    if out is not None:
        made.dump(out, sections)
    if as_json:
        say_json(json.dumps(made.as_json(sections), indent=2, ensure_ascii=False))
    elif out is None:
        _list(made, list(settings_fields(name)))


def _list(made: Settings, fields: list[SettingField]) -> None:
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
