"""Options that fill a plan: none may be left out in silence, and their usual values are the usual plan's."""

from __future__ import annotations

import inspect

import pytest

from vericite.cli.app import app
from vericite.cli.demonstrations import build
from vericite.pipeline.plan import SECTIONS, Plan, usual_plan
from vericite.pipeline.setting import fields_of

COMMANDS = {command.callback.__name__: command.callback for command in app.registered_commands if command.callback}
COMMANDS["demonstrations"] = build


@pytest.mark.parametrize("command", [name for name in SECTIONS if name in COMMANDS])
def test_help_shows_the_defaults_of_the_command(command: str):
    options = inspect.signature(COMMANDS[command]).parameters
    for field in fields_of(Plan, SECTIONS[command]):
        if command in field.setting.commands and not field.is_list:
            default = getattr(getattr(usual_plan(command), field.section), field.name)
            assert options[f"{field.section}_{field.name}"].default == default


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
