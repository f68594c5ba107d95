"""The mean of several runs' weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from release.teach import average_main as main

numpy_files = pytest.importorskip("safetensors.numpy", reason="needs the extra [train]")
pytestmark = pytest.mark.hf


def model(folder: Path, value: float, **more: float) -> Path:
    """A folder as a run leaves it, every weight the same."""
    folder.mkdir()
    weights = {"bert.a.weight": value, "classifier.bias": -value, **more}
    numpy_files.save_file({n: np.full((2, 3), v, np.float32) for n, v in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 3}))
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_each_weight_is_the_mean_of_the_runs(tmp_path: Path):
    runs = [model(tmp_path / f"run{value}", value) for value in (1.0, 2.0, 6.0)]
    assert main([*map(str, runs), "--out", str(tmp_path / "mean")]) == 0
    found = numpy_files.load_file(tmp_path / "mean" / "model.safetensors")
    assert {name: float(value[0, 0]) for name, value in found.items()} == {
        "bert.a.weight": 3.0,
        "classifier.bias": -3.0,
    }
    assert json.loads((tmp_path / "mean" / "config.json").read_text()) == {"hidden_size": 3}
    assert sorted(path.name for path in (tmp_path / "mean").iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_weighted_means_run_from_one_model_to_the_other(tmp_path: Path):
    ends = [str(model(tmp_path / name, value)) for name, value in (("before", 1.0), ("after", 5.0))]
    for share in (0.0, 0.25, 1.0):
        out = tmp_path / f"mixed-{share}"
        told = ["--weight", str(3 * (1 - share)), "--weight", str(3 * share)]
        assert main([*ends, "--out", str(out), *told]) == 0
        found = numpy_files.load_file(out / "model.safetensors")["bert.a.weight"]
        assert found == pytest.approx(1.0 + 4.0 * share)


@pytest.mark.parametrize("weights", [("0.5",), ("1", "-0.1"), ("0", "0"), ("nan", "1"), ("inf", "1")])
def test_weights_that_give_no_mean_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], weights: list[str]):
    runs = [str(model(tmp_path / name, 1.0)) for name in ("one", "two")]
    told = [part for weight in weights for part in ("--weight", weight)]
    assert main([*runs, "--out", str(tmp_path / "mean"), *told]) == 2
    assert "expected --weight once for each of 2 models" in capsys.readouterr().err
    assert not (tmp_path / "mean").exists()


def test_one_model_has_no_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(model(tmp_path / "run", 1.0)), "--out", str(tmp_path / "mean")]) == 2
    assert "expected two models or more" in capsys.readouterr().err


def test_weights_of_other_shapes_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    runs = [model(tmp_path / "one", 1.0), model(tmp_path / "other", 1.0, more=2.0)]
    assert main([*map(str, runs), "--out", str(tmp_path / "mean")]) == 2
    assert "found others in" in capsys.readouterr().err
    assert not (tmp_path / "mean").exists()


def test_a_folder_without_weights_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(model(tmp_path / "run", 1.0)), str(tmp_path), "--out", str(tmp_path / "mean")]) == 2
    assert "found none in" in capsys.readouterr().err
