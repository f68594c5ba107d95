"""A verifier that exits early for clearly neutral pairs and gives unchanged output for all others."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("onnx")

import onnx
from test_int8_graph import HEADS, PLACES, VOCABULARY, WIDTH, random_weights, session

from release.exits import Exit, chosen, fitted, main, neutral_odds, seen, verdicts, with_exits
from vericite.lab.train.int8_graph import build
from vericite.lab.train.pack import unpacked
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL, Pair
from vericite.models.engine import MAY_EXIT, EncodedInput
from vericite.models.folder import VERIFIER, ModelCard, ModelFolder
from vericite.verify.judges.bundled import BundledJudge

MODEL = build(random_weights(3, layers=4), HEADS, "classifier", peaks=None)


def encoded(count: int, seed: int) -> list[EncodedInput]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(6, PLACES - 8, count)
    kinds = [[0] * (size - 4) + [1] * 4 for size in lengths]
    return [EncodedInput(generator.integers(0, VOCABULARY, len(row)).tolist(), row, False) for row in kinds]


def batch(rows: list[EncodedInput], may: bool | None) -> dict[str, Any]:
    length = max(len(row.ids) for row in rows)
    feed = {name: np.zeros((len(rows), length), np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for place, row in enumerate(rows):
        size = len(row.ids)
        feed["input_ids"][place, :size], feed["token_type_ids"][place, :size] = row.ids, row.type_ids
        feed["attention_mask"][place, :size] = 1
    return feed if may is None else feed | {MAY_EXIT: np.array([may])}


def exits(bars: tuple[float, ...]) -> list[Exit]:
    generator = np.random.default_rng(5)
    return [
        Exit(layers, generator.normal(size=(3, 3 * WIDTH)).astype(np.float32), np.zeros(3, np.float32), bar)
        for layers, bar in zip((1, 3), bars, strict=False)
    ]


@pytest.mark.parametrize("bars", [(2.0,), (2.0, 1.0), (-99.0, 0.0), (99.0, -99.0), (99.0, 99.0)])
def test_clearly_neutral_pairs_exit_and_the_others_do_not_change(bars: tuple[float, ...]) -> None:
    """Some, all or no rows exit, at either exit. With exits off, the output is the same to the bit."""
    rows, ways = encoded(40, 1), exits(bars)
    whole, model = session(MODEL), session(with_exits(MODEL, ways))
    before = whole.run(None, batch(rows, None))[0]
    np.testing.assert_array_equal(model.run(None, batch(rows, may=False))[0], before)
    looked = seen(MODEL, rows, [way.layers for way in ways])
    wanted, reading = before.copy(), np.ones(len(rows), bool)
    for way in ways:
        guess = looked.features[way.layers] @ way.weight.T + way.bias
        leaving = reading & (neutral_odds(guess) > way.sure)
        wanted[leaving], reading = guess[leaving], reading & ~leaving
    found = model.run(None, batch(rows, may=True))[0]
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    np.testing.assert_array_equal(found[reading], before[reading])
    if bars == (2.0, 1.0):
        assert 3 < reading.sum() < len(rows) - 3
    for place, row in enumerate(rows[:6]):
        (alone,) = model.run(None, batch([row], may=True))[0]
        np.testing.assert_allclose(alone, found[place], atol=1e-4)


def test_a_guess_is_the_nearest_linear_one() -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(4000, 6)).astype(np.float32)
    slope = generator.normal(size=(3, 6))
    slope -= slope.mean(0)
    weight, bias = fitted(features, (features @ slope.T + [1.0, 0.0, -1.0] + 7).astype(np.float32))
    np.testing.assert_allclose(weight, slope, atol=0.15)
    np.testing.assert_allclose(bias, [1.0, 0.0, -1.0], atol=0.05)


def test_a_document_has_the_verdict_of_its_strongest_sentence() -> None:
    logits = np.full((6, 3), -1.0)
    logits[[0, 1, 3, 5], NEUTRAL] = logits[2, ENTAILS] = logits[4, CONTRADICTS] = 1
    assert verdicts(logits, np.array([0, 0, 0, 1, 1, 2])).tolist() == [ENTAILS, CONTRADICTS, NEUTRAL]


def test_thresholds_are_as_low_as_the_verdicts_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first layers' guess is noisy. The chosen threshold keeps enough verdicts; a lower one would not."""
    generator = np.random.default_rng(2)
    logits = generator.normal(size=(3000, 3)) * [1, 1, 2] + [-2.0, -2.0, 1.5]
    noisy: NDArray[Any] = np.concatenate([logits + generator.normal(size=(3000, 3)), np.ones((3000, 1))], 1)
    from release.exits import STEPS, Seen

    whole = Seen({2: noisy.astype(np.float32)}, logits.astype(np.float32))
    document = np.arange(3000) // 10
    ((way, share, _),) = list(chosen(whole, whole, document, 0.98))
    guess = noisy @ way.weight.T + way.bias

    def kept(bar: float) -> float:
        exiting = neutral_odds(guess) > bar
        return (verdicts(np.where(exiting[:, None], guess, logits), document) == verdicts(logits, document)).mean()

    assert kept(way.sure) >= 0.98
    assert share > 0.1
    if way.sure > STEPS[0]:
        assert kept(way.sure - 0.1) < 0.98


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A packed verifier of four small layers, with the words of the shipped one."""
    shipped = ModelFolder.bundled(VERIFIER)
    words = len(json.loads((shipped.path / "tokenizer.json").read_text())["model"]["vocab"])
    weights = random_weights(3, layers=4)
    weights["classifier.bias"][NEUTRAL] += 4  # it calls most things neutral, as a verifier does
    for name, rows in (("word", words), ("position", 512)):
        table = np.random.default_rng(rows).normal(size=(rows, WIDTH)).astype(np.float32)
        weights[f"embeddings.{name}_embeddings.weight"] = table
    made = tmp_path / "packed"
    made.mkdir()
    onnx.save(build(weights, HEADS, "classifier", peaks=None), made / "model.onnx")
    shutil.copyfile(shipped.path / "tokenizer.json", made / "tokenizer.json")
    files = {name: hashlib.sha256((made / name).read_bytes()).hexdigest() for name in ("model.onnx", "tokenizer.json")}
    card: ModelCard = shipped.card.model_copy(update={"name": "small", "heads": HEADS, "exits": (), "files": files})
    (made / "card.json").write_text(card.model_dump_json())
    return made


def test_layers_after_exits_are_unpacked() -> None:
    whole, found = unpacked(MODEL.graph), unpacked(with_exits(MODEL, exits((2.0, 1.0))).graph)
    assert found.keys() == whole.keys()
    for name, value in whole.items():
        np.testing.assert_array_equal(found[name], value)


def test_exits_are_added_to_a_packed_verifier(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"premise": f"Drug {n} lowered mortality by {n} %.", "claim": f"Drug {n % 9} kills."} for n in range(120)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dev = tmp_path / "dev"
    dev.mkdir()
    document = {"sentences": [row["premise"] for row in rows[:5]], "label": "neutral", "source": "scifact"}
    lines = [json.dumps({**document, "claim": f"Drug {n} is safe."}) for n in range(4)]
    (dev / "scifact_dev_doc.jsonl").write_text("\n".join(lines))
    told = ["--model", str(folder), "--dev", str(dev), "--pairs", str(tmp_path / "pairs.jsonl"), "--layers", "2"]
    assert main([*told, "--count", "100", "--out", str(tmp_path / "out")]) == 0
    assert "after 2 layers, above" in capsys.readouterr().out
    made = ModelFolder.open(tmp_path / "out")
    assert made.card.exits == (2,)
    pairs = [Pair(row["premise"], row["claim"]) for row in rows]
    plain, whole, leaving = BundledJudge(ModelFolder.open(folder)), BundledJudge(made, exits=False), BundledJudge(made)
    outputs = [
        np.array([judgement.probabilities for judgement in judge.judge(pairs)]) for judge in (plain, whole, leaving)
    ]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert len({plain.signature, whole.signature, leaving.signature}) == 3
    assert "no exits" in whole.signature
    left = (outputs[1] != outputs[2]).any(1)
    assert left.sum() > 10
    assert (outputs[2][left].argmax(1) == NEUTRAL).all()
    assert main([*told, "--out", str(folder)]) == 2
    assert "another folder than --model" in capsys.readouterr().err
    assert main([*told, "--layers", "4", "--out", str(tmp_path / "late")]) == 2
    assert "expected exits after one to 3 layers; found 4" in capsys.readouterr().err
    assert main([*told, "--model", str(tmp_path / "out"), "--out", str(tmp_path / "again")]) == 2
    assert "expected a verifier without exits" in capsys.readouterr().err
