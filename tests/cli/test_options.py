"""How many options the program shows, and that a new field of a plan is one place in one file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vericite
from vericite.cli.app import program
from vericite.cli.commands_with_settings import COMMANDS, settings_class, settings_fields

MOST_OF_ALL, MOST_OF_ONE = 230, 16
"""A user reads all of a command's options; the rest are settings, which `vericite settings COMMAND` lists."""


def shown(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of each command and group with the options that its help shows."""
    options = [param for param in command.params if param.param_type_name == "option"]  # type: ignore[attr-defined]
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
        yield from (param.opts[0] for param in command.params if getattr(param, "hidden", False))  # type: ignore[attr-defined]
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


def test_a_new_field_of_a_plan_touches_one_file(tmp_path: Path):
    """The package again, with another ``plan.py``: an option, a setting, a request's field and a row of the docs."""
    package, copy = Path(vericite.__file__).parent, tmp_path / "vericite"
    (copy / "pipeline").mkdir(parents=True)
    for folder in (package, package / "pipeline"):
        for path in folder.iterdir():
            if path.name not in ("pipeline", "plan.py", "__pycache__"):
                (copy / path.relative_to(package)).symlink_to(path)
    field = (
        '    novelty: Annotated[float, Setting("--novelty", ("ask",), by_request=True)] = Field(\n'
        '        default=0.25, ge=0, le=1, description="How new a document must be."\n    )\n'
    )
    written = (package / "pipeline" / "plan.py").read_text(encoding="utf-8")
    start = '    """How to search."""\n\n'
    assert start in written
    (copy / "pipeline" / "plan.py").write_text(written.replace(start, start + field), encoding="utf-8")
    asked = (
        "import json, sys\n"
        "from vericite.cli.app import program\n"
        "from vericite.serve.bodies import PlanBody\n"
        "option = next(param for param in program().commands['ask'].params if param.opts == ['--novelty'])\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from api import settings_page\n"
        "print(json.dumps([option.default, option.help, PlanBody.model_json_schema()['properties']['search']"
        "['properties']['novelty']['maximum'], 'search.novelty' in settings_page()]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    docs = package.parents[1] / "docs"
    run = [sys.executable, "-c", asked, str(docs)]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [0.25, "How new a document must be.", 1, True]
    command = [sys.executable, "-m", "vericite", "settings", "ask", "--set", "novelty=0.5", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["search"]["novelty"] == 0.5
