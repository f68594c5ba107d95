from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is in the extra [train]")
pytest.importorskip("onnx", reason="onnx is in the extra [train]")

import onnx
import torch
from safetensors.numpy import load_file

from vericite.errors import InputError
from vericite.lab.train import fit as fitting
from vericite.lab.train.configs import FitConfig
from vericite.lab.train.data import TOKENIZER, TrainingOrder, size
from vericite.lab.train.fit import (
    TrainingRun,
    label_losses,
    latest_checkpoint,
    margin_losses,
    prepare,
    save_checkpoint,
    support,
)
from vericite.lab.train.int8_graph import build
from vericite.lab.train.network import CrossEncoder, Shape, load_network, logits_of
from vericite.lab.train.pack import read_safetensors
from vericite.models import Encoder
from vericite.models.contracts import COLUMNS
from vericite.models.hf import torch_device

SMALL = Shape(30522, 16, 2, 2, 32, 64)
DRUGS = ("aspirin", "warfarin", "insulin", "metformin", "statins", "zinc")
ENDS = ("death", "stroke", "bleeding", "falls", "fever")

pytestmark = pytest.mark.hf


def write_pairs(path: Path) -> Path:
    """Write sixty claims about invented trials; every third has a broken twin, every fifth is binary."""
    lines: list[dict[str, object]] = []
    for number in range(60):
        drug, end = DRUGS[number % 6], ENDS[number % 5]
        line: dict[str, object] = {
            "premise": f"In {number + 20} patients {drug} reduced {end} over several weeks of follow-up."
            + " More." * number,
            "claim": f"{drug} reduces {end}",
            "label": COLUMNS[number % 3],
            "source": "even" if number % 2 else "odd",
            "kind": "gold",
            "group": str(number),
        }
        if number % 5 == 0:
            line["binary"] = True
        if number % 3 == 0:
            line["twin"] = f"t{number}"
            lines.append({**line, "claim": f"{drug} increases {end}", "label": "contradicts", "kind": "direction"})
        lines.append(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A BERT of random weights."""
    torch.manual_seed(7)
    CrossEncoder(SMALL).save(tmp_path / "base")
    return tmp_path / "base"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Pairs to train on."""
    return write_pairs(tmp_path / "train.jsonl")


def small_config(**choices: object) -> FitConfig:
    held: dict[str, object] = {"batch_examples": 8, "batch_tokens": 256, "max_tokens": 64, "threads": 1}
    return FitConfig.model_validate({**held, "margin_weight": 0.5, "learning_rate": 1e-3, **choices})


def trained(data: Path, base: Path, out: Path, config: FitConfig, examples: int = 160) -> dict[str, np.ndarray]:
    run = prepare(data, base, config)
    run.examples = examples
    fitting.fit(run, out, every_minutes=1000)
    return load_file(out / "model" / "model.safetensors")


def same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(first[name], second[name]) for name in first)


def half_a_run(data: Path, base: Path, out: Path, config: FitConfig, steps: int) -> TrainingRun:
    run = prepare(data, base, config)
    run.examples = 160
    for _, step in zip(range(steps), run.plan.steps(160), strict=False):
        run.take(step)
    save_checkpoint(out, run.place, run.network, run.optimizer, run.average)
    return run


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("steps", [3, 16])
def test_a_resumed_run_equals_an_uninterrupted_one(
    tmp_path: Path, data: Path, base: Path, precision: str, steps: int
) -> None:
    config = small_config(precision=precision, average_from=0.5)
    whole = trained(data, base, tmp_path / "whole", config)
    half_a_run(data, base, tmp_path / "parts", config, steps)
    assert same(whole, trained(data, base, tmp_path / "parts", config))


def test_a_seed_decides_everything(tmp_path: Path, data: Path, base: Path) -> None:
    first = trained(data, base, tmp_path / "first", small_config(seed=1))
    again = trained(data, base, tmp_path / "again", small_config(seed=1))
    other = trained(data, base, tmp_path / "other", small_config(seed=2))
    assert same(first, again)
    assert not same(first, other)


def test_an_interrupted_checkpoint_leaves_the_previous_one(tmp_path: Path, data: Path, base: Path) -> None:
    half_a_run(data, base, tmp_path / "out", small_config(), 2)
    (tmp_path / "out" / ".checkpoint-unfinished").mkdir()
    found = latest_checkpoint(tmp_path / "out")
    assert found is not None
    assert found.name == "checkpoint-0000002"
    assert {path.name for path in found.iterdir()} == {"state.safetensors", "place.json"}


@pytest.mark.slow
def test_a_killed_run_resumes(tmp_path: Path, data: Path, base: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(small_config().model_dump_json(), encoding="utf-8")

    def command(out: Path) -> list[str]:
        places = ["--data", str(data), "--base", str(base), "--out", str(out), "--config", str(config)]
        return [
            sys.executable,
            "-m",
            "vericite",
            "train",
            "fit",
            *places,
            "--set",
            "checkpoint_minutes=0",
            "--set",
            "examples=4000",
        ]

    out, environment = tmp_path / "killed", {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    process = subprocess.Popen(command(out), env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while latest_checkpoint(out) is None and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (out / "model").exists(), "the run finished before it was killed: make it longer"
    assert subprocess.run(command(out), env=environment, capture_output=True).returncode == 0
    whole = tmp_path / "whole"
    assert subprocess.run(command(whole), env=environment, capture_output=True).returncode == 0
    weights = [load_file(folder / "model" / "model.safetensors") for folder in (out, whole)]
    assert same(weights[0], weights[1])
    started = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["started"]
    assert len(started) == 2


def test_resuming_with_another_config_is_refused(tmp_path: Path, data: Path, base: Path, run_cli) -> None:
    places = ["train", "fit", "--data", str(data), "--base", str(base), "--out", str(tmp_path / "out")]
    config = tmp_path / "config.yaml"
    config.write_text("batch_examples: 8\nmax_tokens: 64\n", encoding="utf-8")
    assert run_cli(*places, "--config", str(config), "--set", "examples=16").code == 0
    printed = run_cli(*places, "--config", str(config), "--set", "examples=16")
    assert (printed.code, "finished" in printed.err) == (2, True)
    manifest = tmp_path / "out" / "manifest.json"
    held = json.loads(manifest.read_text(encoding="utf-8"))
    del held["finished"]
    manifest.write_text(json.dumps(held), encoding="utf-8")
    printed = run_cli(*places, "--set", "examples=16")
    assert (printed.code, "expected the run's own config" in printed.err) == (2, True)


def test_a_run_has_one_length(tmp_path: Path, data: Path, base: Path, run_cli) -> None:
    places = ["--data", str(data), "--base", str(base), "--out", str(tmp_path / "out")]
    printed = run_cli("train", "fit", *places, "--set", "examples=16", "--set", "epochs=2")
    assert printed.code == 2
    assert "expected one length of the run; found examples and epochs" in printed.err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_device_is_refused_before_any_work(tmp_path: Path, data: Path, base: Path, run_cli) -> None:
    places = ["--data", str(data), "--base", str(base), "--out", str(tmp_path / "out")]
    printed = run_cli("train", "fit", *places, "--set", "device=cuda")
    assert printed.code == 2
    assert "expected a device of torch such as cpu, cuda" in printed.err


def test_auto_uses_the_best_device(tmp_path: Path, data: Path, base: Path, run_cli) -> None:
    (tmp_path / "config.json").write_text(small_config().model_dump_json())
    places = ["--data", str(data), "--base", str(base), "--out", str(tmp_path / "out")]
    words = [*places, "--config", str(tmp_path / "config.json"), "--set", "examples=16", "--set", "device=auto"]
    printed = run_cli("train", "fit", *words)
    assert printed.code == 0, printed.err
    found = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["device"]
    assert found == torch_device("auto").type


@pytest.mark.parametrize("buckets", [0, 32])
def test_no_tensor_stays_on_the_cpu_when_another_device_is_used(monkeypatch: pytest.MonkeyPatch, buckets: int) -> None:
    """torch refuses a tensor on the wrong device, even on its meta device."""
    # The meta device has no autocast.
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    network = CrossEncoder(Shape(200, 16, 2, 2, 32, 64, 0 if buckets else 2, 1e-12, buckets), dropout=0.1).to("meta")
    ids = torch.zeros(2, 5, dtype=torch.int64)
    found = network.train()(ids, ids, torch.tensor([5, 3]))
    assert (found.device.type, tuple(found.shape)) == ("meta", (2, 3))


def test_a_config_with_an_unknown_setting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"learnig_rate": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="learnig_rate"):
        FitConfig.load(path)


def test_a_binary_pair_does_not_distinguish_the_other_labels() -> None:
    logits = torch.tensor([[0.3, 2.0, -1.0]] * 2, requires_grad=True)
    other = torch.tensor([[0.3, -1.0, 2.0]] * 2)
    columns, binary = torch.tensor([0, 2]), torch.tensor([True, True])
    losses = label_losses(logits, columns, binary, 0.0)
    assert torch.allclose(losses, label_losses(other, columns, binary, 0.0))
    entails = torch.softmax(logits, 1)[0, 0]
    assert torch.allclose(losses, torch.stack([-entails.log(), -(1 - entails).log()]))
    three = label_losses(logits, columns, torch.tensor([False, False]), 0.0)
    assert torch.allclose(three, torch.nn.functional.cross_entropy(logits, columns, reduction="none"))


def test_the_margin_is_between_a_claim_and_each_broken_twin() -> None:
    logits = torch.tensor([[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-3.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    losses = margin_losses(logits, torch.tensor([0, 1, 2, 0]), [[0, 1, 2], [3]], margin=2.0)
    odds = support(logits)
    assert torch.allclose(losses, torch.stack([2 - (odds[0] - odds[1]), torch.zeros(())]))


def test_a_plan_keeps_twins_together_and_sees_everything_once() -> None:
    chosen = np.random.default_rng(0)
    units = [[0, 1], [2], [3, 4, 5], *([index] for index in range(6, 300))]
    lengths = chosen.integers(5, 120, 300)
    plan = TrainingOrder(units, lengths, np.ones(len(units)), batch_examples=16, batch_tokens=512, seed=3)
    steps = list(plan.steps(300))
    held = [index for step in steps for batch in step for unit in batch for index in unit]
    assert sorted(held) == list(range(300))
    for step in steps:
        for batch in step:
            rows = [index for unit in batch for index in unit]
            assert all(unit in units for unit in batch)
            assert len(batch) == 1 or len(rows) * max(lengths[rows]) <= 512
    assert all(size(step) >= 16 for step in steps[:-1])
    assert steps == list(plan.steps(300))


def test_a_rate_of_zero_leaves_a_source_out() -> None:
    plan = TrainingOrder([[0], [1], [2]], np.full(3, 9), np.array([0.0, 2.0, 0.5]), 4, 64, seed=0)
    held = [index for step in plan.steps(1000) for batch in step for unit in batch for index in unit]
    counts = np.bincount(held, minlength=3) / len(held)
    assert counts[0] == 0
    assert counts[1] == pytest.approx(0.8, abs=0.04)
    assert plan.epoch_examples() == 2


def test_long_pairs_come_less_often(data: Path, base: Path) -> None:
    run = prepare(data, base, small_config(long_tokens=40, long_rate=0.0))
    seen = {index for step in run.plan.steps(300) for batch in step for unit in batch for index in unit}
    assert seen
    assert max(len(run.pairs[index]) for index in seen) <= 40
    assert max(len(pair) for pair in run.pairs) > 40
    halved = prepare(data, base, small_config(long_tokens=40, long_rate=0.5))
    short = sum(len(unit) for unit in run.plan.units if max(len(run.pairs[i]) for i in unit) <= 40)
    assert halved.plan.epoch_examples() == round(short + (len(run.pairs) - short) / 2)


def test_the_command_line_overrides_the_seed(tmp_path: Path, data: Path, base: Path, run_cli) -> None:
    (tmp_path / "config.json").write_text(small_config(seed=1).model_dump_json())
    words = ["train", "fit", "--data", str(data), "--base", str(base), "--config", str(tmp_path / "config.json")]
    assert run_cli(*words, "--set", "examples=16", "--out", str(tmp_path / "own")).code == 0
    assert run_cli(*words, "--set", "examples=16", "--out", str(tmp_path / "other"), "--set", "seed=2").code == 0
    files = [load_file(tmp_path / name / "model" / "model.safetensors") for name in ("own", "other")]
    assert not same(*files)
    assert json.loads((tmp_path / "other" / "manifest.json").read_text())["config"]["seed"] == 2


def test_packed_weights_give_the_output_of_torch(tmp_path: Path, data: Path) -> None:
    import onnxruntime

    # With layers of width 16, eight bits lose so much that the result depends on the processor.
    wider = Shape(30522, 128, 2, 2, 256, 64)
    torch.manual_seed(7)
    CrossEncoder(wider).save(tmp_path / "base")
    trained(data, tmp_path / "base", tmp_path / "out", small_config(), examples=320)
    model = tmp_path / "out" / "model"
    graph = build(read_safetensors(model / "model.safetensors"), wider.num_attention_heads, "classifier", None)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    pairs = [labelled.pair for labelled in fitting.read_pairs(data)]
    encoded = Encoder(TOKENIZER, 64).encode(pairs)
    network = load_network(model).eval()
    for row in encoded:
        feed = {
            "input_ids": np.array([row.ids], dtype=np.int64),
            "attention_mask": np.ones((1, len(row.ids)), dtype=np.int64),
            "token_type_ids": np.array([row.type_ids], dtype=np.int64),
        }
        (packed,) = session.run(None, feed)
        assert np.asarray(packed)[0] == pytest.approx(logits_of(network, [row])[0], abs=0.06)
    assert onnx.checker.check_model(graph) is None


def test_padding_changes_nothing(base: Path) -> None:
    network = load_network(base).eval()
    encoded = Encoder(TOKENIZER, 64).encode([labelled for labelled in _two_lengths()])
    together = logits_of(network, encoded)
    for row, logits in zip(encoded, together, strict=True):
        assert logits_of(network, [row])[0] == pytest.approx(logits, abs=1e-5)


def test_the_network_computes_the_same_as_hugging_face(base: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is in the extra [train]")
    theirs = transformers.BertForSequenceClassification.from_pretrained(base, attn_implementation="eager").eval()
    ours = load_network(base).eval()
    for row in Encoder(TOKENIZER, 64).encode(_two_lengths()):
        with torch.inference_mode():
            found = theirs(torch.tensor([row.ids]), token_type_ids=torch.tensor([row.type_ids])).logits.numpy()
        assert logits_of(ours, [row]) == pytest.approx(found, abs=1e-5)


def _two_lengths() -> list[object]:
    from vericite.models import Pair

    return [Pair("Zinc did not shorten colds in this trial of two hundred adults.", "Zinc helps."), Pair("No.", "Yes.")]
