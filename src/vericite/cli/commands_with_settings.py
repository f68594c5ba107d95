"""The settings that ``--set`` of each command takes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from vericite.pipeline.plan import SECTIONS, Plan
from vericite.pipeline.setting import SettingField, SettingGroup, fields_of

OWN = {
    "score": "vericite.evaluate.settings:ScoreSettings",
    "compare": "vericite.evaluate.settings:ScoreSettings",
    "agree": "vericite.evaluate.settings:AgreeSettings",
    "rankings": "vericite.evaluate.settings:Draws",
    "table": "vericite.evaluate.settings:Draws",
    "convert": "vericite.cli.datasets:ConvertSettings",
    "annotate sample": "vericite.cli.annotate:SampleSettings",
    "annotate agreement": "vericite.evaluate.settings:Draws",
    "bioace score": "vericite.lab.assess.choices:AssessSettings",
    "bioace train-completeness": "vericite.lab.train.configs:CompletenessConfig",
    "bioace train-correctness": "vericite.lab.train.configs:CorrectnessConfig",
    "train fit": "vericite.lab.train.configs:FitSettings",
    "train attribution": "vericite.lab.train.configs:HeadConfig",
    "train attribution --base": "vericite.lab.train.configs:LoraConfig",
    "train inline": "vericite.lab.train.configs:InlineConfig",
    "train attribution-data": "vericite.lab.train.configs:MadeDataSettings",
}
"""Commands whose settings are not a plan: where their class is. It is imported only when needed."""

COMMANDS = (*SECTIONS, *OWN)


def settings_class(command: str) -> type[SettingGroup]:
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
