from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("onnx")

import onnx

from vericite.errors import ModelCardError
from vericite.lab.train.int8_graph import Head, Weights, build, count_layers, inputs_to_smooth, probe
from vericite.lab.train.pack import unpack, unpacked
from vericite.models import Engine, Pair
from vericite.models.folder import VERIFIER, ModelFolder
from vericite.models.session import open_session

Array = NDArray[np.float32]
WIDTH, INNER, HEADS, VOCABULARY, PLACES, LABELS = 32, 64, 4, 100, 48, 3
# Seven bits per activation, eight per weight.
CLOSE = {"classifier": 0.06, "mean-pool": 0.02, "first-pool": 0.02}
SEEDS = range(4)
EVERY_HEAD = pytest.mark.parametrize("output", ["classifier", "mean-pool", "first-pool"])
GELU = np.vectorize(lambda value: 0.5 * value * (1 + erf(value / 2**0.5)), otypes=[np.float32])


def random_weights(seed: int, layers: int = 2, loud: int = 0) -> dict[str, Array]:
    """A BERT as Hugging Face names it; ``loud`` channels are ten times as big where smoothing can reach them."""
    chosen = np.random.default_rng(seed)

    def normal(*shape: int, scale: float = 0.15) -> Array:
        return (chosen.standard_normal(shape) * scale).astype(np.float32)

    weights: dict[str, Array] = {}

    def norm(name: str, louder: int = 0) -> None:
        gain = 1 + normal(WIDTH)
        gain[:louder] *= 10
        weights[f"{name}.LayerNorm.weight"] = gain
        weights[f"{name}.LayerNorm.bias"] = normal(WIDTH)

    def dense(name: str, outputs: int, inputs: int) -> None:
        weights[f"{name}.weight"] = normal(outputs, inputs)
        if inputs == WIDTH:
            weights[f"{name}.weight"][:, :loud] *= 0.1
        weights[f"{name}.bias"] = normal(outputs)

    for name, rows in (("word", VOCABULARY), ("position", PLACES), ("token_type", 2)):
        weights[f"embeddings.{name}_embeddings.weight"] = normal(rows, WIDTH, scale=1)
    norm("embeddings")
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            dense(f"{prefix}.attention.self.{part}", WIDTH, WIDTH)
        dense(f"{prefix}.attention.output.dense", WIDTH, WIDTH)
        norm(f"{prefix}.attention.output", loud)
        dense(f"{prefix}.intermediate.dense", INNER, WIDTH)
        dense(f"{prefix}.output.dense", WIDTH, INNER)
        norm(f"{prefix}.output")
    dense("pooler.dense", WIDTH, WIDTH)
    dense("classifier", LABELS, WIDTH)
    return weights


@dataclass
class PlainBert:
    """BERT in numpy and 32 bits, one sequence at a time."""

    weights: Weights
    seen: dict[str, list[Array]] = field(default_factory=dict)

    def dense(self, name: str, value: Array) -> Array:
        return value @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name: str, value: Array) -> Array:
        mean, variance = value.mean(-1, keepdims=True), value.var(-1, keepdims=True)
        scaled = (value - mean) / np.sqrt(variance + 1e-12)
        return scaled * self.weights[f"{name}.LayerNorm.weight"] + self.weights[f"{name}.LayerNorm.bias"]

    def attend(self, name: str, value: Array) -> Array:
        def by_head(part: str) -> Array:
            return self.dense(f"{name}.{part}", value).reshape(-1, HEADS, WIDTH // HEADS).swapaxes(0, 1)

        query, key, carried = by_head("query"), by_head("key"), by_head("value")
        scores = query @ key.swapaxes(1, 2) / np.sqrt(WIDTH / HEADS)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        return (shares @ carried).swapaxes(0, 1).reshape(-1, WIDTH)

    def states(self, ids: list[int], kinds: list[int]) -> Array:
        tables = [self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
        hidden = self.norm("embeddings", tables[0][ids] + tables[1][: len(ids)] + tables[2][kinds])
        for layer in range(count_layers(self.weights)):
            prefix = f"encoder.layer.{layer}"
            self.seen.setdefault(f"{prefix}.attention.self", []).append(hidden)
            mixed = self.dense(f"{prefix}.attention.output.dense", self.attend(f"{prefix}.attention.self", hidden))
            hidden = self.norm(f"{prefix}.attention.output", mixed + hidden)
            self.seen.setdefault(f"{prefix}.intermediate", []).append(hidden)
            inner = GELU(self.dense(f"{prefix}.intermediate.dense", hidden))
            hidden = self.norm(f"{prefix}.output", self.dense(f"{prefix}.output.dense", inner) + hidden)
        return hidden

    def __call__(self, ids: list[int], kinds: list[int], output: Head) -> Array:
        states = self.states(ids, kinds)
        if output == "classifier":
            return self.dense("classifier", np.tanh(self.dense("pooler.dense", states[0])))
        pooled = states[0] if output == "first-pool" else states.mean(0)
        return pooled / np.linalg.norm(pooled)

    def peaks(self, inputs: list[tuple[list[int], list[int]]]) -> dict[str, Array]:
        self.seen.clear()
        for ids, kinds in inputs:
            self.states(ids, kinds)
        return {name: np.abs(np.concatenate(values)).max(0) for name, values in self.seen.items()}


Input = tuple[list[int], list[int]]


def random_inputs(seed: int, count: int = 12) -> list[Input]:
    chosen = np.random.default_rng(seed)
    lengths = chosen.integers(1, PLACES - 8, count)
    return [
        (chosen.integers(0, VOCABULARY, length).tolist(), sorted(chosen.integers(0, 2, length).tolist()))
        for length in lengths
    ]


def session(model: onnx.ModelProto) -> Any:
    return open_session(model.SerializeToString())


def run(model: Any, inputs: list[Input], padding: int = 0, filler: int = 0) -> Array:
    length = max(len(ids) for ids, _ in inputs) + padding
    feed = {name: np.zeros((len(inputs), length), dtype=np.int64) for name in ("attention_mask", "token_type_ids")}
    feed["input_ids"] = np.full((len(inputs), length), filler, dtype=np.int64)
    for row, (ids, kinds) in enumerate(inputs):
        feed["input_ids"][row, : len(ids)] = ids
        feed["attention_mask"][row, : len(ids)] = 1
        feed["token_type_ids"][row, : len(ids)] = kinds
    return model.run(None, feed)[0]


def plain(weights: Weights, inputs: list[Input], output: Head) -> Array:
    bert = PlainBert(weights)
    return np.array([bert(ids, kinds, output) for ids, kinds in inputs])


@EVERY_HEAD
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_graph_computes_what_bert_computes(seed: int, layers: int, output: Head):
    weights, inputs = random_weights(seed, layers), random_inputs(seed)
    expected = plain(weights, inputs, output)
    found = run(session(build(weights, HEADS, output, peaks=None)), inputs)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < CLOSE[output]
    assert expected.std(axis=0).min() > 2 * np.abs(found - expected).std()


@EVERY_HEAD
@pytest.mark.parametrize("seed", SEEDS)
def test_smoothing_by_peaks_does_not_change_the_function(seed: int, output: Head):
    weights, inputs = random_weights(seed), random_inputs(seed)
    peaks = PlainBert(weights).peaks(random_inputs(seed + 100))
    found = run(session(build(weights, HEADS, output, peaks)), inputs)
    assert np.abs(found - plain(weights, inputs, output)).max() < CLOSE[output]


@pytest.mark.parametrize("output", ["classifier", "mean-pool"])
def test_smoothing_brings_a_model_with_large_channels_closer_to_32_bits(output: Head):
    without, smoothed = [], []
    for seed in SEEDS:
        weights, inputs = random_weights(seed, loud=2), random_inputs(seed)
        expected = plain(weights, inputs, output)
        peaks = PlainBert(weights).peaks(random_inputs(seed + 100))
        without.append(run(session(build(weights, HEADS, output, None)), inputs) - expected)
        smoothed.append(run(session(build(weights, HEADS, output, peaks)), inputs) - expected)
    assert np.square(smoothed).mean() < 0.7 * np.square(without).mean()


@EVERY_HEAD
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_depends_on_neither_its_batch_nor_its_padding(seed: int, smooth: bool, output: Head):
    weights, inputs = random_weights(seed), random_inputs(seed)
    peaks = PlainBert(weights).peaks(inputs) if smooth else None
    model = session(build(weights, HEADS, output, peaks))
    alone = np.concatenate([run(model, [item]) for item in inputs])
    order = np.random.default_rng(seed).permutation(len(inputs))
    together = run(model, [inputs[index] for index in order])
    padded = np.concatenate([run(model, [item], padding=7, filler=99) for item in inputs])
    assert np.abs(together - alone[order]).max() <= 1e-6
    assert np.abs(padded - alone).max() <= 1e-6


@EVERY_HEAD
def test_a_loud_neighbour_changes_nothing(output: Head):
    weights = random_weights(0)
    weights["embeddings.word_embeddings.weight"][VOCABULARY - 1] *= 1000
    model = session(build(weights, HEADS, output, peaks=None))
    quiet: Input = ([5, 6, 7], [0, 0, 1])
    loud: Input = ([VOCABULARY - 1] * 20, [0] * 20)
    assert np.abs(run(model, [loud, quiet])[1] - run(model, [quiet])[0]).max() <= 1e-6


def test_an_embedding_has_length_one():
    weights = random_weights(1)
    found = run(session(build(weights, HEADS, "mean-pool", peaks=None)), random_inputs(1))
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("output", "name", "width"), [("classifier", "logits", LABELS), ("mean-pool", "embedding", WIDTH)]
)
def test_the_graph_declares_the_name_and_width_of_its_output(output: Head, name: str, width: int):
    (found,) = session(build(random_weights(0), HEADS, output, peaks=None)).get_outputs()
    assert (found.name, found.shape[1]) == (name, width)


def test_no_product_of_two_bytes_overflows_on_any_processor():
    """Processors without VNNI add two products of bytes in 16 bits with saturation: the largest sum must fit."""
    weights = random_weights(0, loud=3)
    for name in ("attention.output", "output"):
        weights[f"encoder.layer.0.{name}.LayerNorm.weight"] *= 1000
    graph = build(weights, HEADS, "classifier", peaks=None)
    bytes_of = [node.output[0] for node in graph.graph.node if node.op_type == "QuantizeLinear"]
    for value in bytes_of:
        graph.graph.output.append(onnx.helper.make_tensor_value_info(value, onnx.TensorProto.UINT8, None))
    ids = np.array([[VOCABULARY - 1, 5, 6, 7]])
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    found = session(graph).run(bytes_of, feed)
    assert len(found) == 4 * 2
    assert max(int(value.max()) for value in found) == 127, "a bit is not used"
    products = [node for node in graph.graph.node if node.op_type == "MatMulIntegerToFloat"]
    held = {item.name: onnx.numpy_helper.to_array(item) for item in graph.graph.initializer}
    for node, value in zip(products, found, strict=True):
        weight = np.abs(held[node.input[1]].astype(np.int64))
        two = int(value.max()) * int((weight[::2] + weight[1::2]).max())
        assert two <= np.iinfo(np.int16).max


def test_every_product_of_the_encoder_reads_and_holds_eight_bits():
    graph = build(random_weights(0), HEADS, "classifier", peaks=None).graph
    products = [node for node in graph.node if node.op_type == "MatMulIntegerToFloat"]
    kinds = {item.name: item.data_type for item in graph.initializer}
    assert len(products) == 4 * 2
    assert {kinds[node.input[1]] for node in products} == {onnx.TensorProto.INT8}


def test_a_word_of_zeros_and_a_channel_of_zeros_give_finite_numbers():
    weights = random_weights(2)
    weights["embeddings.word_embeddings.weight"][0] = 0
    weights["encoder.layer.0.intermediate.dense.weight"][:] = 0
    weights["encoder.layer.0.intermediate.dense.bias"][:] = 0
    inputs: list[Input] = [([0, 0, 3], [0, 0, 0]), ([0], [0])]
    found = run(session(build(weights, HEADS, "classifier", peaks=None)), inputs)
    assert np.abs(found - plain(weights, inputs, "classifier")).max() < CLOSE["classifier"]


def test_smoothing_leaves_a_channel_that_no_weight_reads_alone():
    weights, inputs = random_weights(0), random_inputs(0)
    weights["encoder.layer.0.intermediate.dense.weight"][:, 4] = 0
    peaks = PlainBert(weights).peaks(inputs)
    found = run(session(build(weights, HEADS, "classifier", peaks)), inputs)
    assert np.abs(found - plain(weights, inputs, "classifier")).max() < CLOSE["classifier"]


def test_a_channel_that_was_never_seen_active_can_be_smoothed():
    weights, inputs = random_weights(0), random_inputs(0)
    peaks = PlainBert(weights).peaks(inputs)
    gain, shift = "encoder.layer.0.attention.output.LayerNorm.weight", "encoder.layer.0.attention.output.LayerNorm.bias"
    weights[gain][4] = weights[shift][4] = 0
    peaks["encoder.layer.0.intermediate"][4] = 0
    found = run(session(build(weights, HEADS, "classifier", peaks)), inputs)
    assert np.abs(found - plain(weights, inputs, "classifier")).max() < CLOSE["classifier"]


@pytest.mark.parametrize("layers", [1, 2, 12])
def test_layers_are_counted_by_number_not_by_spelling(layers: int):
    names = [f"encoder.layer.{layer}.output.dense.bias" for layer in range(layers)]
    assert count_layers({name: np.zeros(1, dtype=np.float32) for name in names}) == layers


def test_the_values_to_smooth_are_in_the_graph_and_as_large_as_in_the_plain_model():
    weights, inputs = random_weights(3), random_inputs(3, count=1)
    model = build(weights, HEADS, "classifier", peaks=None)
    names = inputs_to_smooth(2)
    for value in names.values():
        model.graph.output.append(onnx.helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, None))
    ids, kinds = (np.array([part]) for part in inputs[0])
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds}
    values = session(model).run(list(names.values()), feed)
    peaks = PlainBert(weights).peaks(inputs)
    assert set(peaks) == set(names)
    for name, value in zip(names, values, strict=True):
        assert np.abs(value).max(axis=0) == pytest.approx(peaks[name], abs=0.15)


@EVERY_HEAD
@pytest.mark.parametrize("smooth", [False, True])
def test_unpacking_restores_packed_weights(smooth: bool, output: Head):
    weights = random_weights(5, layers=2, loud=3)
    if output != "classifier":
        weights = {name: value for name, value in weights.items() if not name.startswith(("classifier", "pooler"))}
    peaks = PlainBert(weights).peaks(random_inputs(105)) if smooth else None
    found = unpacked(build(weights, HEADS, output, peaks).graph)
    assert found.keys() == weights.keys()
    for name, value in weights.items():
        # 8 bits a row; with smoothing, the largest channel sets the step.
        step = np.abs(value).max() / 127 * (4 if smooth else 1)
        assert np.abs(found[name] - value).max() <= step, name
    inputs = random_inputs(5)
    assert np.abs(plain(found, inputs, output) - plain(weights, inputs, output)).max() < CLOSE[output]


def test_a_graph_of_another_origin_is_not_unpacked():
    with pytest.raises(ModelCardError, match="expected a packed BERT"):
        unpacked(probe().graph)


@pytest.mark.hf
def test_the_shipped_verifier_becomes_a_checkpoint_with_the_same_output(tmp_path: Path):
    files = pytest.importorskip("safetensors.numpy", reason="needs the extra [train]")
    unpack(ModelFolder.bundled(VERIFIER), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["num_hidden_layers"], config["hidden_size"], config["num_attention_heads"]) == (9, 384, 12)
    weights = {n.removeprefix("bert."): value for n, value in files.load_file(tmp_path / "model.safetensors").items()}
    shipped = Engine(ModelFolder.bundled(VERIFIER))
    pair = Pair("Statins lower cholesterol in adults.", "Statins raise cholesterol.")
    (row,) = shipped.encoder.encode([pair])
    bert = build(weights, 12, "classifier", peaks=None)
    found = run(session(bert), [(list(row.ids), list(row.type_ids))])
    (expected,) = shipped.run([pair])
    assert np.abs(found - expected.values).max() < 0.3
