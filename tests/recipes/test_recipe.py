"""The script that makes the verifier's weights, with a program in vericite's place that only leaves files behind."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import time
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest
import typer

from vericite.cli.train import train
from vericite.models import ModelCard
from vericite.models.folder import VERIFIER
from vericite.train.data import FitConfig

RECIPE = Path(__file__).parents[2] / "recipes" / "verifier" / "make.sh"
STUB = """#!/bin/sh
# What each step is told, and the file by which the script knows that it is done.
echo "$@" >> "$CALLS"
for word in "$@"; do
  case "${before:-}" in --out | --model) out=$word ;; --rest) rest=$word ;; esac
  before=$word
done
case "$2 $out" in
*"$BREAKS"*) exit 3 ;;
*"$SLEEPS"*) echo $$ > "$CALLS.pid"; exec sleep 60 ;;
esac
case $2 in
mix) mkdir -p "$out"; echo {} > "$out/manifest.json" ;;
fit) mkdir -p "$out/model"; echo {} > "$out/manifest.json"; echo {} > "$out/model/tokenizer.json" ;;
average) mkdir -p "$out"; echo x > "$out/model.safetensors" ;;
pack) for last in "$@"; do :; done; mkdir -p "$last"; echo {} > "$last/card.json" ;;
teach) echo taught > "$out"; echo excluded > "$rest" ;;
esac
"""

pytestmark = pytest.mark.skipif(not shutil.which("sh"), reason="the recipe is a shell script")


def made(folder: Path, *more: str, breaks: str = "nothing", sleeps: str = "nothing") -> tuple[int, list[str]]:
    """Run the recipe into ``folder/out``; its exit code, and the steps it took this time."""
    stub, calls = folder / "vericite", folder / "calls"
    stub.write_text(STUB)
    stub.chmod(0o755)
    calls.write_text("")
    told = {
        "VERICITE": str(stub),
        "VERICITE_MIX": f"{stub} train mix",
        "VERICITE_RELEASE": f"{stub} train",
        "CALLS": str(calls),
        "BREAKS": breaks,
        "SLEEPS": sleeps,
    }
    command = ["sh", str(RECIPE), str(folder / "data"), str(folder / "base"), str(folder / "out"), *more]
    done = subprocess.run(command, env={**os.environ, **told}, check=False, capture_output=True, timeout=50)
    return done.returncode, calls.read_text().splitlines()


def test_every_step_is_taken_once_and_none_again(tmp_path: Path) -> None:
    larger = str(tmp_path / "larger")
    code, calls = made(tmp_path, larger)
    assert code == 0
    steps = [call.split()[1] for call in calls]
    assert [step for step in steps if step != "fit"] == [
        *("mix", "average", "average", "pack", "calibrate"),
        *("mix", "pack", "calibrate", "teach", "average", "pack", "calibrate"),
    ]
    assert steps.count("fit") == 11
    assert (tmp_path / "out" / "5-taught-packed" / "card.json").is_file()
    assert (tmp_path / "out" / "all.jsonl").read_text() == "taught\nexcluded\n"
    assert made(tmp_path, larger) == (0, [])


def test_each_step_is_given_what_the_one_before_made(tmp_path: Path) -> None:
    """Data, start and seed of every run: what a copied line gets wrong."""
    _, calls = made(tmp_path)
    out = str(tmp_path / "out")
    told = [dict(itertools.pairwise(words)) for words in (call.split() for call in calls)]
    fits = {
        one["--out"].removeprefix(f"{out}/"): [one[key].removeprefix(f"{out}/") for key in ("--data", "--base")]
        for one in told
        if one["train"] == "fit"
    }
    assert fits["1-warmup"] == ["mix-3/warmup.jsonl", str(tmp_path / "base")]
    assert fits["2-natural"] == ["mix-3/train.jsonl", "1-warmup/model"]
    assert fits["3-mix"] == ["mix-3/train.jsonl", "2-natural/model"]
    for name, start in {"4-first": "3-mix", "4-second": "4-first"}.items():
        runs = {run: fit for run, fit in fits.items() if run.startswith(f"{name}-")}
        assert len(runs) == 2
        assert all(fit == ["mix-3/train.jsonl", f"{start}/model"] for fit in runs.values())
    seeds = [one["--seed"] for one in told if one["train"] == "fit" and "--seed" in one]
    assert len(seeds) == len(set(seeds)) == 4
    averages = [call.replace(f"{out}/", "").split()[2:4] for call in calls if " average " in call]
    assert averages == [
        [f"4-{name}-{n}/model" for n in seeds] for name, *seeds in (("first", 41, 42), ("second", 51, 52))
    ]
    assert any(f"pack {out}/4-second/model/model.safetensors" in call for call in calls)
    (mix,) = (call for call in calls if " mix " in call)
    assert {Path(word).name for word in mix.split() if word.endswith(".jsonl")} == {"reworded.jsonl", "written.jsonl"}


def test_what_ships_is_taught_by_a_larger_one_and_the_version_before(tmp_path: Path) -> None:
    _, calls = made(tmp_path, str(tmp_path / "larger"))
    out = str(tmp_path / "out")
    (teach,) = (call.replace(f"{out}/", "") for call in calls if " teach " in call)
    assert "--teacher teacher-packed --weight 0.6 --teacher 4-second-packed --weight 0.4" in teach
    assert "mix-5/unlabelled.jsonl mix-5/train.jsonl" in teach
    told = list(itertools.pairwise(teach.split()))
    assert {name for option, name in told if option == "--exclude"} == {"written"}
    assert {name for option, name in told if option == "--exclude-kind"} == {"abstract", "section", "two-section"}
    taught = [call.replace(f"{out}/", "") for call in calls if "/5-taught-" in call and " fit " in call]
    assert [call.split("--seed ")[1][:2] for call in sorted(taught)] == ["91", "92"]
    assert all("--data all.jsonl --base 4-second/model" in call for call in taught)
    assert "pack 5-taught/model/model.safetensors" in calls[-2].replace(f"{out}/", "")


def test_a_step_that_broke_is_taken_up_where_it_was(tmp_path: Path) -> None:
    code, calls = made(tmp_path, breaks="fit " + str(tmp_path / "out" / "3-mix"))
    assert code == 3
    assert calls[-1].split()[1] == "fit"
    code, calls = made(tmp_path)
    assert code == 0
    assert "3-mix" in calls[0]


@pytest.mark.parametrize("run", ["4-second", "teacher", "5-taught"])
def test_what_was_packed_and_not_calibrated_is_not_taken_for_done(tmp_path: Path, run: str) -> None:
    """A teacher is asked at its card's temperature, which is 1 before that."""
    larger, folder = str(tmp_path / "larger"), tmp_path / "out" / f"{run}-packed"
    code, calls = made(tmp_path, larger, breaks=f"calibrate {folder}")
    assert (code, calls[-1].split()[1]) == (3, "calibrate")
    assert not folder.exists()
    code, calls = made(tmp_path, larger)
    assert code == 0
    assert [call.split()[1] for call in calls[:2]] == ["pack", "calibrate"]
    assert all(str(folder) in call for call in calls[:2])
    assert (folder / "card.json").is_file()
    assert not list((tmp_path / "out").glob("*.part"))


class Parsed(Exception):
    """A step's command line, as far as its own parser took it."""

    def __init__(self, told: argparse.Namespace) -> None:
        self.told = told


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step ends once its words are read; words that it does not know end it with SystemExit before."""
    real = argparse.ArgumentParser.parse_args

    def read(parser: argparse.ArgumentParser, words: list[str]) -> NoReturn:
        raise Parsed(real(parser, words))

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", read)


def read_by_its_step(call: str) -> argparse.Namespace:
    group, step, *words = call.split()
    assert group == "train"
    if step in (steps := typer.main.get_command(train).commands):
        return argparse.Namespace(**steps[step].make_context(step, words).params)
    with pytest.raises(Parsed) as caught:
        if step == "mix":
            import_module("mix.__main__").main(words)
        if step in (release := import_module("release.__main__").STEPS):
            release[step](words)
    return caught.value.told


@pytest.mark.usefixtures("parsed")
def test_the_steps_know_the_words_that_they_are_told(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is in the extra [train]")
    _, calls = made(tmp_path, str(tmp_path / "larger"))
    calls = [call for call in calls if call.split()[1] != "fit"]
    told = {call.split()[1]: read_by_its_step(call) for call in calls}
    assert told.keys() == {"mix", "average", "pack", "calibrate", "teach"}
    assert len(told["teach"].teacher) == len(told["teach"].weight) == 2
    assert (told["teach"].take, len(told["teach"].data)) == (25_000, 2)
    assert told["calibrate"].write
    for word in itertools.chain.from_iterable(map(str.split, calls)):
        assert Path(word).exists() or not word.startswith(str(RECIPE.parent)), word


def test_fit_knows_the_words_that_it_is_told(tmp_path: Path) -> None:
    larger = str(tmp_path / "larger")
    _, broken = made(tmp_path, larger, breaks="fit " + str(tmp_path / "out" / "3-mix"))
    (tmp_path / "out" / "3-mix").mkdir()
    (tmp_path / "out" / "3-mix" / "manifest.json").write_text("{}")
    _, calls = made(tmp_path, larger)
    told = [read_by_its_step(call) for call in (*broken, *calls) if call.split()[1] == "fit"]
    assert sum(one.resume for one in told) == 1
    assert all(one.examples for one in told)


def test_every_run_has_a_config_that_is_one(tmp_path: Path) -> None:
    _, calls = made(tmp_path, str(tmp_path / "larger"))
    configs = {word for call in calls for option, word in itertools.pairwise(call.split()) if option == "--config"}
    assert len(configs) == 8
    for config in configs:
        FitConfig.read(Path(config))


def cards(calls: list[str]) -> dict[str, ModelCard]:
    """Of what is packed, by the run."""
    packed = [call.split() for call in calls if call.split()[1] == "pack"]
    return {Path(words[2]).parts[-3]: ModelCard.model_validate_json(Path(words[4]).read_text()) for words in packed}


def test_what_is_packed_has_the_card_of_its_version(tmp_path: Path) -> None:
    _, calls = made(tmp_path, str(tmp_path / "larger"))
    found = cards(calls)
    assert {run: card.name for run, card in found.items()} == {
        "4-second": "verifier-v2",
        "teacher": "verifier-mpnet",
        "5-taught": VERIFIER,
    }
    # Version 2 has seen neither claims said anew nor what a larger model says.
    told = {run: {item.name for item in card.training} for run, card in found.items()}
    assert told["4-second"] < told["teacher"] < told["5-taught"]


def test_the_teachers_card_says_how_long_it_was_trained(tmp_path: Path) -> None:
    _, calls = made(tmp_path, str(tmp_path / "larger"))
    (fit,) = (call.split() for call in calls if "/teacher " in call and " fit " in call)
    examples = int(fit[fit.index("--examples") + 1])
    assert any(f" {examples:,} pairs" in limit for limit in cards(calls)["teacher"].limits)


def test_a_run_beside_one_that_breaks_is_ended(tmp_path: Path) -> None:
    code, _ = made(tmp_path, breaks="fit " + str(tmp_path / "out" / "4-first-42"), sleeps="4-first-41")
    assert code == 3
    deadline = time.monotonic() + 10
    while (pid := tmp_path / "calls.pid").is_file() and Path(f"/proc/{pid.read_text().strip()}").exists():
        assert time.monotonic() < deadline, "the run beside goes on"
        time.sleep(0.05)


@pytest.mark.parametrize("broken", ["4-first-41", "4-first-42"])
def test_no_mean_is_made_of_runs_of_which_one_broke(tmp_path: Path, broken: str) -> None:
    code, calls = made(tmp_path, breaks="fit " + str(tmp_path / "out" / broken))
    assert code == 3
    assert not any(call.split()[1] == "average" for call in calls)
