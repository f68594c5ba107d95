"""The script that makes the verifier's weights, with a program in vericite's place that only leaves files behind."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

RECIPE = Path(__file__).parents[2] / "recipes" / "verifier" / "make.sh"
STUB = """#!/bin/sh
# What each step is told, and the file by which the script knows that it is done.
echo "$@" >> "$CALLS"
for word in "$@"; do [ "${before:-}" = --out ] && out=$word; before=$word; done
case "$2 $out" in
*"$BREAKS"*) exit 3 ;;
*"$SLEEPS"*) echo $$ > "$CALLS.pid"; exec sleep 60 ;;
esac
case $2 in
mix) mkdir -p "$out"; echo {} > "$out/manifest.json"
  printf '%s\\n' '{"source": "written"}' '{"source": "wice", "kind": "x"}' > "$out/train.jsonl" ;;
fit) mkdir -p "$out/model"; echo {} > "$out/manifest.json"; echo {} > "$out/model/tokenizer.json" ;;
average) mkdir -p "$out"; echo x > "$out/model.safetensors" ;;
pack) for last in "$@"; do :; done; mkdir -p "$last"; echo {} > "$last/card.json" ;;
teach) echo a > "$out" ;;
esac
"""

pytestmark = pytest.mark.skipif(not shutil.which("sh"), reason="the recipe is a shell script")


def made(folder: Path, *more: str, breaks: str = "nothing", sleeps: str = "nothing") -> tuple[int, list[str]]:
    """Run the recipe into ``folder/out``; its exit code, and the steps it took this time."""
    stub, calls = folder / "vericite", folder / "calls"
    stub.write_text(STUB)
    stub.chmod(0o755)
    calls.write_text("")
    told = {"VERICITE": str(stub), "CALLS": str(calls), "BREAKS": breaks, "SLEEPS": sleeps}
    command = ["sh", str(RECIPE), str(folder / "data"), str(folder / "base"), str(folder / "out"), *more]
    done = subprocess.run(command, env={**os.environ, **told}, check=False, capture_output=True, timeout=50)
    return done.returncode, calls.read_text().splitlines()


def test_every_step_is_taken_once_and_none_again(tmp_path: Path) -> None:
    code, calls = made(tmp_path, str(tmp_path / "larger"))
    assert code == 0
    steps = [call.split()[1] for call in calls]
    assert [step for step in steps if step != "fit"] == [
        *("mix", "average", "average", "pack", "calibrate"),
        *("mix", "pack", "calibrate", "teach", "average", "pack", "calibrate"),
    ]
    assert steps.count("fit") == 11
    assert (tmp_path / "out" / "5-taught-packed" / "card.json").is_file()
    assert (tmp_path / "out" / "all.jsonl").read_text() == 'a\n{"source": "written"}\n'
    assert made(tmp_path) == (0, [])


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
    assert "mix-5/untold.jsonl mix-5/train.jsonl" in teach
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
