"""Options that fill a plan: none may be left out in silence."""

from __future__ import annotations

import inspect

import pytest

from vericite.cli.app import app
from vericite.cli.plans import FIELDS
from vericite.pipeline.plan import Plan

COMMANDS = {command.callback.__name__: command.callback for command in app.registered_commands if command.callback}


@pytest.mark.parametrize("command", sorted(FIELDS))
def test_an_option_named_like_a_field_of_the_plan_fills_it(command: str):
    options = set(inspect.signature(COMMANDS[command]).parameters)
    for section in FIELDS[command]:
        fields = type(getattr(Plan(), section)).model_fields
        known = set(FIELDS[command][section]) | {option for names in FIELDS[command].values() for option in names}
        assert not (options & set(fields)) - known, f"{command}: add these to FIELDS in cli/plans.py"
