"""Command-line options generated from the fields of a plan, and the settings that options and files result in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from vericite.cli.io import note
from vericite.cli.options import complete_judge, complete_protocol, complete_setting
from vericite.pipeline.plan import SECTIONS, Plan, changed_by, project_file, project_settings, usual_plan
from vericite.pipeline.setting import SettingField, SettingGroup, fields_of

_FILES = "Settings"

PlanOption = Annotated[
    str | None,
    typer.Option(
        "--plan",
        help='File of settings (JSON, TOML or YAML). For ask and search also a name: "reason-verify" or "vericite", '
        "the searches of these papers. Options override it.",
        metavar="FILE",
        rich_help_panel=_FILES,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A setting without an option of its own; can be repeated. `vericite settings COMMAND` lists them.",
        metavar="NAME=VALUE",
        autocompletion=complete_setting,
        rich_help_panel=_FILES,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="File of settings (JSON, TOML or YAML).", metavar="FILE", rich_help_panel=_FILES),
]


def takes_plan(
    command: str, files: bool = True, project: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add to a command the options of the plan's fields that name it, and pass it the plan as ``plan``.

    The options come after the command's arguments and before its own options.

    Args:
        command: Its name in ``SECTIONS`` and in the fields' settings.
        files: Whether ``--plan`` changes the plan, too.
        project: Whether the project's file does.
    """
    fields = {f"{field.section}_{field.name}": field for field in _shown_by(command)}

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def called(ctx: typer.Context, **arguments: Any) -> None:
            values = {name: arguments.pop(name) for name in fields}
            given = _by_section({fields[name]: values[name] for name in fields if _is_given(ctx, name)})
            file = arguments.pop("plan_file") if files else None
            plan = plan_of(command, file, arguments.pop("plan_set"), given, project)
            if "ctx" in own:
                arguments["ctx"] = ctx
            function(**arguments, plan=plan)

        hints = get_type_hints(function, include_extras=True)
        own = inspect.signature(function).parameters
        mine = [
            parameter.replace(annotation=hints[name]) for name, parameter in own.items() if name not in ("plan", "ctx")
        ]
        arguments = [parameter for parameter in mine if _is_argument(parameter.annotation)]
        options = [parameter for parameter in mine if parameter not in arguments]
        defaults = usual_plan(command)
        made = [_option(name, field, defaults) for name, field in fields.items()]
        of_files = [_parameter("plan_file", PlanOption, None)] if files else []
        of_files.append(_parameter("plan_set", SetOption, None))
        signature = inspect.Signature(
            [
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for parameter in (_parameter("ctx", typer.Context), *arguments, *made, *options, *of_files)
            ]
        )
        vars(called)["__signature__"] = signature
        called.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        return called

    return decorated


def plan_of(
    command: str,
    file: str | None = None,
    assigned: list[str] | None = None,
    given: Mapping[str, Mapping[str, Any]] | None = None,
    project: bool = True,
) -> Plan:
    """Return a command's settings: its defaults, changed by the project's file, ``--plan``, ``--set`` and its options.

    Raises:
        InputError: A file or a value in it cannot be used, or ``--set`` names no setting of this command.
    """
    sections = sections_of(command)
    plan = usual_plan(command).changed(_of_project(sections) if project else {})
    if file is not None:
        plan = changed_by(file, plan, searches="search" in sections)
    return plan.assigned(assigned or [], sections).changed(given or {}, "on the command line")


_Kind = TypeVar("_Kind", bound=SettingGroup)


def settings_from(
    kind: type[_Kind], assigned: list[str] | None, file: Path | None = None, project: bool = True
) -> _Kind:
    """Return a command's own settings: the defaults, changed by the project's file, ``--config`` and ``--set``.

    If the settings have sections of a plan, the project's file changes these, unless ``project`` is False.

    Raises:
        InputError: The file or a value in it cannot be used, or ``--set`` names no field.
    """
    sections = kind.model_fields.keys() & Plan.model_fields.keys() if project else ()
    made = kind().changed(_of_project(sections) if sections else {})
    return (made if file is None else kind.load(file, made)).assigned(assigned or [])


def path_of(text: str | None) -> Path | None:
    """Return the file that a setting names; None if it names none."""
    return None if text is None else Path(text)


def sections_of(command: str) -> tuple[str, ...]:
    """The sections of a plan that a command reads."""
    return SECTIONS[command]


def option_of(path: str) -> str:
    """Return the option, or ``--set`` name, that sets a plan's field, such as ``search.k``."""
    found = next((field.setting.option for field in fields_of(Plan) if field.path == path), "")
    return found.partition("/")[0] or f"--set {path}"


def _shown_by(command: str) -> list[SettingField]:
    return [field for field in fields_of(Plan) if command in field.setting.commands]


def _option(name: str, field: SettingField, defaults: Plan) -> inspect.Parameter:
    low, high = field.bounds
    info = typer.Option(
        *([field.setting.option] if field.setting.option else []),
        # Square brackets are markup for those who print help.
        help=(field.help + " Can be repeated." * field.is_list).replace("[", "\\["),
        metavar=field.setting.metavar,
        min=low,
        max=high,
        autocompletion=_COMPLETIONS.get(field.path),
    )
    default = getattr(getattr(defaults, field.section), field.name)
    info.show_default = default not in (None, False, ())
    kind: Any = field.info.annotation
    if field.is_list:
        kind, default = list[str] | None, None
    return _parameter(name, Annotated[kind, info], default)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _is_argument(annotation: Any) -> bool:
    return any(isinstance(part, ArgumentInfo) and not isinstance(part, OptionInfo) for part in get_args(annotation))


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _by_section(values: Mapping[SettingField, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for field, value in values.items():
        found.setdefault(field.section, {})[field.name] = value
    return found


def _of_project(sections: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the project file's settings in these sections; they are printed, because they affect the results."""
    path = project_file()
    if path is None:
        return {}
    found = {section: values for section, values in project_settings(path).items() if section in sections}
    if found:
        names = [f"{section}.{name}" for section, values in found.items() for name in values]
        note(f"settings from {path}: {', '.join(names)}")
    return found


_COMPLETIONS = {"check.protocol": complete_protocol, "check.judge": complete_judge}
