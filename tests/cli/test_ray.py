"""``workers.ray``: settings refused before anything starts, and the output of a cluster on this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"
COMMANDS = ("check", "attribute")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "workers.ray=local"], "expected --out FILE with workers.ray"),
        (["--set", "workers.count=2"], "expected workers.ray with workers.count"),
        (
            ["--set", "workers.ray=local", "--out", "{}", "--set", "workers.price=1"],
            "expected workers.count with workers.price",
        ),
    ],
)
def test_options_without_their_counterpart_are_refused(run_cli, tmp_path, command, options, told):
    out = str(tmp_path / "out.jsonl")
    printed = run_cli(command, str(EXAMPLES), *(option.format(out) for option in options))
    assert printed.code == 2
    assert told in printed.err


@pytest.mark.parametrize("command", COMMANDS)
def test_without_ray_the_error_has_the_install_command(run_cli, tmp_path, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    out = tmp_path / "out.jsonl"
    printed = run_cli(command, str(EXAMPLES), "--set", "workers.ray=local", "--out", str(out))
    assert printed.code == 3
    assert "pip install 'vericite[ray]'" in printed.err
    assert not out.exists()


def test_a_ray_that_does_not_start_is_an_error(run_cli, tmp_path, monkeypatch):
    def init(**_: object) -> None:
        raise Exception("The current node timed out during startup.")

    for name in ("ray", "ray.exceptions"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(init=init))
    printed = run_cli("check", str(EXAMPLES), "--set", "workers.ray=local", "--out", str(tmp_path / "out.jsonl"))
    assert printed.code == 3
    assert "expected Ray to start on this machine; found: The current node timed out" in printed.err
    assert "Traceback" not in printed.err


def test_offline_no_other_cluster_is_contacted(run_cli, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="needs the extra [ray]")
    out = str(tmp_path / "out.jsonl")
    printed = run_cli("--offline", "check", str(EXAMPLES), "--set", "workers.ray=192.0.2.1:6379", "--out", out)
    assert printed.code == 2
    assert "expected workers.ray=local, since VeriCite is offline" in printed.err


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_output_has_the_same_bytes_as_from_one_process(tmp_path, command):
    pytest.importorskip("ray", reason="needs the extra [ray]")

    def run(out: str, *more: str) -> bytes:
        line = [
            sys.executable,
            "-m",
            "vericite",
            command,
            str(EXAMPLES),
            "--out",
            out,
            "--set",
            "llm.cache=false",
            *more,
        ]
        return subprocess.run(line, check=True, capture_output=True, cwd=tmp_path, timeout=600).stdout

    assert run("one.jsonl") == run("many.jsonl", "--set", "workers.ray=local", "--set", "workers.count=2")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "many.jsonl").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["many.jsonl", "one.jsonl"]
