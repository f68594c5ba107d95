"""The script that makes the verifier's weights, with a program in the steps' place that only leaves files behind."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest
import typer

from vericite.cli.train import train
from vericite.models import ModelCard
from vericite.models.folder import VERIFIER

RECIPE = Path(__file__).parents[2] / "recipes" / "verifier" / "make.sh"
AGAIN = RECIPE.with_name("again.sh")
STUB = """#!/bin/sh
# What each step is told; and something under every name in OUT that it is told and that is not there.
echo "$@" >> "$CALLS"
case "$*" in *"$BREAKS"*) exit 3 ;; esac
for word in "$@"; do
  case "$word" in "$OUT"/*) [ -e "$word" ] || { mkdir -p "$(dirname "$word")"; echo x > "$word"; } ;; esac
done
"""
STEPS = ["mix", "pool", "arrays", "base", "kept", "fit", "checkpoint", "pack", "calibrate", "exits"]
WITH_A_TEACHER = [*STEPS[:4], "base", "fit", "mean", *STEPS[5:]]

pytestmark = pytest.mark.skipif(not shutil.which("sh"), reason="the recipe is a shell script")


def made(folder: Path, breaks: str = "nothing", larger: bool = False) -> tuple[int, list[str]]:
    """Run the recipe into ``folder/out``; its exit code, and the steps it took this time."""
    stub, calls = folder / "vericite", folder / "calls"
    stub.write_text(STUB)
    stub.chmod(0o755)
    calls.write_text("")
    names = {"VERICITE": f"{stub}", "VERICITE_MIX": f"{stub} train mix", "VERICITE_RELEASE": f"{stub} train"}
    told = {**names, "VERICITE_GPU": f"{stub} gpu", "CALLS": str(calls), "BREAKS": breaks, "OUT": str(folder / "out")}
    command = ["sh", str(RECIPE), *(str(folder / name) for name in ("data", "base", "out", "larger")[: 3 + larger])]
    done = subprocess.run(command, env={**os.environ, **told}, check=False, capture_output=True, timeout=50)
    return done.returncode, calls.read_text().splitlines()


def steps(calls: list[str]) -> list[str]:
    return [call.split()[1] for call in calls]


def test_every_step_is_taken_once_and_none_again(tmp_path: Path) -> None:
    code, calls = made(tmp_path)
    assert (code, steps(calls)) == (0, STEPS)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"checkpoint", "packed", "verifier", "taught.npy"}
    assert not list((tmp_path / "out").glob("part-*"))
    assert made(tmp_path) == (0, [])


@pytest.mark.parametrize("place", range(len(STEPS)))
def test_a_step_that_broke_is_taken_again_and_those_before_are_not(tmp_path: Path, place: int) -> None:
    """A packed model that was not calibrated is packed again: its card's temperature is 1 before that."""
    _, whole = made(tmp_path)
    shutil.rmtree(tmp_path / "out")
    code, calls = made(tmp_path, breaks=" ".join(whole[place].split()[:4]))
    assert (code, steps(calls)) == (3, STEPS[: place + 1])
    code, calls = made(tmp_path)
    assert code == 0
    assert steps(calls) == STEPS[place - (STEPS[place] == "calibrate") :]


def test_the_one_that_ships_learns_from_what_the_larger_one_said(tmp_path: Path) -> None:
    code, calls = made(tmp_path, larger=True)
    assert (code, steps(calls)) == (0, WITH_A_TEACHER)
    out = f"{tmp_path / 'out'}/"
    teacher, verifier = (call.replace(out, "").split() for call in calls if call.split()[1] == "fit")
    assert (teacher[2:4], verifier[2:4]) == (["data.npz", "larger.npz"], ["data.npz", "base.npz"])
    assert ("--label", "train,pool") in itertools.pairwise(teacher)
    assert ("--taught", "taught.npy") in itertools.pairwise(verifier)
    (mean,) = (call.replace(out, "").split() for call in calls if call.split()[1] == "mean")
    assert mean[2:] == ["data.npz", "teacher", "part-taught.npy", "teacher:1"]


def taken_further(folder: Path, breaks: str = "nothing", **more: str) -> tuple[int, list[str]]:
    """Run ``again.sh`` into ``folder/out``; its exit code, and the steps it took this time."""
    stub, calls, out = folder / "python", folder / "calls", folder / "out"
    # Names without an ending are folders here.
    folders = '*.*) [ -e "$word" ] || echo x > "$word" ;; "$OUT"/*) [ -d "$word" ] || mkdir -p "$word" ;;'
    stub.write_text(f'{STUB.split("for word")[0]}for word; do case "$word" in "$OUT"/{folders} esac; done\n')
    stub.chmod(0o755)
    calls.write_text("")
    told = {"PYTHON": str(stub), "CALLS": str(calls), "BREAKS": breaks, "OUT": str(out), **more}
    command = ["sh", str(AGAIN), str(folder / "data"), str(out), "30"]
    done = subprocess.run(command, env={**os.environ, **told}, check=False, capture_output=True, timeout=50)
    return done.returncode, calls.read_text().replace(str(AGAIN.parent), "").splitlines()


def test_the_further_run_keeps_the_state_of_one_that_was_ended(tmp_path: Path) -> None:
    """Every other step is begun anew where it broke; none is taken twice."""
    code, first = taken_further(tmp_path, "gpu fit")
    assert code == 3
    assert [call.split()[1] for call in first[1:9]] == [
        "pool", "transfer", "second", "shortcuts", "kinds", "invented", "judged", "vericite",
    ]  # fmt: skip
    (arrays,) = (call for call in first if " arrays " in call)
    assert arrays.count("--more") == 5
    assert arrays.count("--judged") >= 1
    (tmp_path / "out" / "part-run").mkdir()
    (tmp_path / "out" / "part-run" / "again.state").write_text("x")
    code, second = taken_further(tmp_path)
    assert (code, [call.split()[1] for call in second]) == (0, ["fit", "shares", "mixed", "checkpoint"])
    assert (tmp_path / "out" / "run" / "again.state").exists()


def test_further_training_may_begin_at_other_weights(tmp_path: Path) -> None:
    code, taken = taken_further(tmp_path, BEGIN="packed-before")
    assert code == 0
    assert any("train unpack packed-before" in call for call in taken)
    (fit,) = (call for call in taken if " fit " in call)
    assert fit.endswith(f"--start {tmp_path}/out/begin.npz")


class Parsed(Exception):
    """A step's command line, as far as its own parser took it."""

    def __init__(self, told: argparse.Namespace) -> None:
        self.told = told


def read_by_its_step(call: str) -> argparse.Namespace:
    group, step, *words = call.split()
    commands = {} if group == "gpu" else typer.main.get_command(train).commands
    if step in commands:
        return argparse.Namespace(**commands[step].make_context(step, words).params)
    with pytest.raises(Parsed) as caught:
        if step == "mix":
            import_module("mix.__main__").main(words)
        if step in (release := import_module("release.__main__").STEPS):
            release[step](words)
        import_module("gpu.__main__").main([step, *words])
    return caught.value.told


def test_the_steps_know_the_words_that_they_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx", reason="onnx is in the extra [train]")
    _, calls = made(tmp_path)
    real = argparse.ArgumentParser.parse_args

    def read(parser: argparse.ArgumentParser, words: list[str]) -> NoReturn:
        raise Parsed(real(parser, words))

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", read)
    told = [read_by_its_step(call) for call in calls]
    assert told[STEPS.index("calibrate")].write
    for word in itertools.chain.from_iterable(map(str.split, calls)):
        assert Path(word).exists() or not word.startswith(str(RECIPE.parent)), word


@pytest.mark.hf
def test_every_config_names_what_a_run_has() -> None:
    pytest.importorskip("torch", reason="torch is in the extra [train]")
    defaults = import_module("gpu.fit").DEFAULTS
    for name in ("teacher", "verifier", "language", "again"):
        assert json.loads((RECIPE.parent / f"{name}.json").read_text()).keys() <= defaults.keys()


def test_what_is_packed_has_the_card_of_what_ships() -> None:
    assert ModelCard.model_validate_json((RECIPE.parent / "card.json").read_text()).name == VERIFIER
