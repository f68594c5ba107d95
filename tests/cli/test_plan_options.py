"""Options that fill a plan: none may be left out in silence, and their usual values are the usual plan's."""

from __future__ import annotations

import inspect

import pytest

from vericite.cli.app import app
from vericite.cli.demonstrations import build
from vericite.cli.plans import FIELDS
from vericite.pipeline.plan import Plan, usual_plan

COMMANDS = {command.callback.__name__: command.callback for command in app.registered_commands if command.callback}
COMMANDS["demonstrations"] = build


@pytest.mark.parametrize("command", sorted(FIELDS))
def test_an_option_named_like_a_field_of_the_plan_fills_it(command: str):
    options = set(inspect.signature(COMMANDS[command]).parameters)
    for section in FIELDS[command]:
        fields = type(getattr(Plan(), section)).model_fields
        known = set(FIELDS[command][section]) | {option for names in FIELDS[command].values() for option in names}
        assert not (options & set(fields)) - known, f"{command}: add these to FIELDS in cli/plans.py"


@pytest.mark.parametrize("command", sorted(FIELDS))
def test_what_help_says_is_usual_is_what_the_plan_has(command: str):
    options = inspect.signature(COMMANDS[command]).parameters
    for section, fields in FIELDS[command].items():
        usual = getattr(usual_plan(command), section)
        for option, field in fields.items():
            if option in options and options[option].default is not None:
                assert options[option].default == getattr(usual, field), f"{command} {option}"


def test_a_plan_without_a_command_is_what_ask_runs():
    assert usual_plan("ask") == Plan() == usual_plan("serve")


WORDS = {
    "check": ["check", "examples/answers.jsonl"],
    "attribute": ["attribute", "examples/answers.jsonl", "--json"],
    "serve": ["serve"],
    "demonstrations": ["demonstrations", "build", "src/vericite/corpus/demo/questions.jsonl", "--to", "/tmp/no.jsonl"],
}


@pytest.mark.parametrize("command", sorted(WORDS))
def test_the_file_of_a_project_holds_for_every_command_with_a_plan(run_cli, tmp_path, monkeypatch, command: str):
    (tmp_path / "vericite.toml").write_text("[llm]\nprice = 3\n")
    monkeypatch.setenv("VERICITE_CONFIG", str(tmp_path / "vericite.toml"))
    printed = run_cli(*WORDS[command])
    assert printed.code == 2 and "llm.price" in printed.err, printed


def test_where_a_file_is_due_a_name_is_told_apart(run_cli):
    printed = run_cli("check", "examples/answers.jsonl", "--plan", "reason-verify")
    assert printed.code == 2 and "file of settings" in printed.err and "--protocol" in printed.err
