"""The GitHub action and the pre-commit hook, run as a runner and pre-commit run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from vericite.cli import pre_commit

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
GOOD = '{"id": "good", "answer": "Statins lower LDL [1].", "documents": [{"id": "a", "text": "Statins lower LDL."}]}\n'
BAD = GOOD.replace("good", "bad").replace("Statins lower LDL [1]", "Statins raise LDL [1]")


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in, with the program where the action's first step installs it."""
    program = tmp_path / "temp" / "vericite" / "bin" / "vericite"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m vericite "$@"\n')
    program.chmod(0o755)
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def run_step(runner: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the step that checks, with these inputs, as a runner on Linux runs bash."""
    step: dict[str, Any] = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "check")
    given = {name: str(spec.get("default", "")) for name, spec in ACTION["inputs"].items()} | inputs
    values = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
    env = {name: values.get(value, value) for name, value in step["env"].items()}
    (runner / "step.sh").write_text(step["run"])
    outputs = runner / "output"
    outputs.write_text("")
    env |= {"RUNNER_TEMP": str(runner / "temp"), "GITHUB_OUTPUT": str(outputs)}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(runner / "step.sh")]
    done = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=120)
    return done, dict(line.split("=", 1) for line in outputs.read_text().splitlines())


@pytest.mark.slow
def test_the_action_writes_all_files_and_annotations_and_fails_by_the_gate(runner: Path):
    Path("answers.jsonl").write_text(GOOD + BAD)
    done, outputs = run_step(runner, answers="answers.jsonl", **{"fail-over": "contradicted=0", "options": "--rows 1"})
    assert done.returncode == 1, done.stdout
    assert "::error file=answers.jsonl,line=2,title=contradicted::" in done.stdout
    assert done.stderr == ""
    assert set(outputs) == set(ACTION["outputs"])
    assert all(Path(path).stat().st_size for path in outputs.values()), outputs
    under, _ = run_step(runner, answers="answers.jsonl", folder="under", **{"fail-under": "supported=0.9"})
    assert under.returncode == 1 and "gate failed: supported 1 of 2" in under.stdout
    # Of a later run it is the baseline.
    done, _ = run_step(
        runner, answers="answers.jsonl", baseline=outputs["verdicts"], folder="now", **{"fail-over": "contradicted=0"}
    )
    assert done.returncode == 0 and "::error" not in done.stdout, done.stdout


@pytest.mark.slow
def test_no_input_of_the_action_is_a_command(runner: Path):
    name = "$(touch stolen); `touch stolen`.jsonl"
    Path(name).write_text(GOOD)
    done, _ = run_step(runner, answers=name, options="$(touch stolen)")
    assert done.returncode == 2 and not Path("stolen").exists()
    done, _ = run_step(runner, answers=name)
    assert done.returncode == 0, done.stdout
    scripts = "".join(step["run"] for step in ACTION["runs"]["steps"])
    assert "${{" not in scripts


def test_the_hook_checks_each_changed_file_with_its_options(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    files = [tmp_path / "answers-1.jsonl", tmp_path / "answers-2.jsonl"]
    for file, text in zip(files, (GOOD, BAD), strict=True):
        file.write_text(text)
    assert HOOK["entry"] == "python -m vericite.cli.pre_commit"
    assert pre_commit.run([*HOOK["args"], *map(str, files)]) == 1
    printed = capsys.readouterr().out
    assert printed.count("gate passed: dangling") == 2 and printed.count("gate failed: contradicted") == 1
    assert pre_commit.run([*HOOK["args"], str(files[0])]) == 0


def test_the_hook_fails_if_nothing_was_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "answers.jsonl").write_text(GOOD.replace("Statins lower LDL [1]", "Statins lower LDL"))
    assert pre_commit.run([*HOOK["args"], str(tmp_path / "answers.jsonl")]) == 1
    assert "expected at least one judged citation; found none: 1 uncited" in capsys.readouterr().out


def test_values_of_options_are_no_files():
    options, files = pre_commit.options_and_files(["--fail-over", "a=0", "--github", "--rows=3", "x.jsonl", "y.jsonl"])
    assert (options, files) == (["--fail-over", "a=0", "--github", "--rows=3"], ["x.jsonl", "y.jsonl"])


@pytest.mark.slow
def test_quotation_marks_in_the_options_of_the_action_keep_blanks(runner: Path):
    Path("answers.csv").write_text("Bot reply,Sources\nStatins lower LDL [1].,Statins lower LDL.\n")
    options = '--rows 1\n--format "answer=Bot reply,contexts=Sources"'
    done, outputs = run_step(runner, answers="answers.csv", options=options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"supported":1' in Path(outputs["verdicts"]).read_text().replace(" ", "")
    done, _ = run_step(runner, answers="answers.csv", options="  \n ")
    assert done.returncode == 2, "blanks are no options, and no column is known"
    done, _ = run_step(runner, answers="answers.csv", options='--format "answer=Bot reply')
    assert done.returncode != 0 and "quote" in done.stderr


def test_the_action_installs_the_extras_that_are_named():
    (step,) = (step for step in ACTION["runs"]["steps"] if step["name"] == "Install VeriCite")
    script = (
        step["run"].replace('"$PYTHON" -m venv', "true").replace('"$RUNNER_TEMP/vericite/bin/python" -m pip', "echo")
    )
    for extras, shown in (("", "here"), ("tables,documents", "here[tables,documents]")):
        env = os.environ | {"EXTRAS": extras, "GITHUB_ACTION_PATH": "here", "RUNNER_TEMP": "", "PYTHON": ""}
        done = subprocess.run(["bash", "-ec", script], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.split()[-1] == shown


def test_the_page_lists_every_input_of_the_action():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    table = page.partition("| input | value |")[2].partition("\n\n")[0]
    firsts = [line.split("|")[1] for line in table.splitlines() if line]
    names = {name for first in firsts for name in re.findall("`([a-z-]+)`", first)}
    assert names == set(ACTION["inputs"])
