"""How many options the program shows, and that a new field of a plan is one place in one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vericite.cli.app import program
from vericite.cli.commands_with_settings import COMMANDS, settings_class, settings_fields

MOST_OF_ALL, MOST_OF_ONE = 234, 17
"""A user reads all of a command's options; the rest are settings, which `vericite settings COMMAND` lists.

Four are for build servers (`check --junit --sarif --github --baseline`): outputs of one run, which no plan keeps.
"""


def shown(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of each command and group with the options that its help shows."""
    options = [param for param in command.params if param.param_type_name == "option"]
    yield " ".join(path), [option.opts[0] for option in options if not option.hidden]
    for name, inner in getattr(command, "commands", {}).items():
        yield from shown(inner, (*path, name))


def test_the_program_has_few_options():
    counts = {name: len(options) for name, options in shown(program())}
    assert sum(counts.values()) <= MOST_OF_ALL, counts
    assert max(counts.values()) <= MOST_OF_ONE
    assert {"ask", "check", "search"} <= set(counts)


def test_no_option_but_quiet_is_hidden():
    def hidden(command: object) -> Iterator[str]:
        yield from (param.opts[0] for param in command.params if getattr(param, "hidden", False))
        for inner in getattr(command, "commands", {}).values():
            yield from hidden(inner)

    assert set(hidden(program())) == {"--quiet"}


def test_a_command_has_set_if_and_only_if_it_has_settings():
    with_set = {name for name, options in shown(program()) if "--set" in options}
    # An experiment's values are named by its own file.
    assert with_set - {"run", "settings"} == {name for name in COMMANDS if not name.endswith("--base")}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_setting_has_a_description_and_a_default(command: str):
    settings_class(command)()
    for field in settings_fields(command):
        assert field.help.endswith((".", "]")), field.path


@pytest.mark.parametrize("command", ["score", "train fit", "annotate sample", "bioace score"])
def test_settings_are_listed_and_written_for_any_command(run_cli, tmp_path: Path, command: str):
    file = tmp_path / "settings.toml"
    printed = run_cli("settings", *command.split(), "--set", "seed=7")
    assert printed.code == 0 and "seed = 7" in printed.out
    assert run_cli("settings", *command.split(), "--set", "seed=7", "--out", str(file)).code == 0
    kind = settings_class(command)
    assert kind.load(file) == kind().assigned(["seed=7"])
