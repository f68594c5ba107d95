# onnx and onnxruntime annotate their own functions only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false
"""An 8-bit ONNX graph of a BERT encoder with output that does not depend on the batch.

The dynamic quantisation of runtimes uses one activation scale for a whole batch, so a pair's scores change with its
neighbours. Here every token has a scale of its own. The products are then exact integers, and a token's result depends
only on its own sequence. Weights have 8 bits and one scale per output column. Activations have 7 bits: x86 processors
without VNNI add two products of unsigned and signed bytes in 16 bits, where 2 x 127 x 127 fits and 2 x 255 x 127 does
not. So the fast product is exact on every processor.

The graph is written by hand, not traced, so that each matrix product reads 8-bit input and writes the layout that the
next operator needs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from vericite.models.contracts import Pair
from vericite.models.engine import EncodedInput, Engine
from vericite.models.folder import ModelFolder

Weights = Mapping[str, NDArray[np.float32]]
Head = Literal["classifier", "mean-pool", "first-pool"]

ORT_DOMAIN = "com.microsoft"
GELU_FLOOR = 0.17
BITS = 7
"""Bits of an activation."""
LARGEST = 2**BITS - 1
"""Largest byte of an activation."""
MIDDLE = 2 ** (BITS - 1)
"""Byte of the activation 0, where activations have both signs."""
FILLS = (("zero_points", MIDDLE), ("zeros", 0))
"""Zero points of all tokens, by the name of their value in the graph."""
OPSET = 17
PLACES = 512
"""Maximum number of tokens that an encoder reads."""
DISTANCES = "encoder.relative_attention_bias.weight"
"""Attention bias by the distance of two tokens, [distance buckets, heads]; most encoders have none."""


@dataclass(frozen=True)
class Tokens:
    """Activations as bytes, with the scale of each token and the operations applied before."""

    values: str
    scale: str
    divisor: NDArray[np.float32]
    raised: bool


@dataclass
class _Graph:
    """Nodes and constants in the order they are added. Each method returns the name of its output."""

    epsilon: float
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict[str, onnx.TensorProto])

    def constant(self, name: str, value: object, dtype: type[np.generic]) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.asarray(value, dtype=dtype), name)
        return name

    def node(self, op: str, inputs: list[str], name: str, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def shaped(self, value: str, shape: list[int], name: str) -> str:
        return self.node("Reshape", [value, self.constant(f"{name}.shape", shape, np.int64)], name)

    def quantised(self, value: str, divisor: NDArray[np.float32]) -> Tokens:
        """Quantise ``value`` of [tokens, width] after dividing each channel by its ``divisor``."""
        even = value
        if not np.all(divisor == 1):
            inverse = self.constant(f"{value}.inverse", 1 / divisor, np.float32)
            even = self.node("Mul", [value, inverse], f"{value}.even")
        size = self.node("Abs", [even], f"{value}.abs")
        return self._rounded(even, size, MIDDLE - 1, "zero_points", divisor)

    def quantised_gelu(self, value: str, width: int) -> Tokens:
        """Quantise a GELU. It is never below -0.17, so it is raised by that to use all bits."""
        raised = self.node("Add", [value, self.constant("raise", GELU_FLOOR, np.float32)], f"{value}.raised")
        return self._rounded(raised, raised, LARGEST, "zeros", np.ones(width, dtype=np.float32))

    def _rounded(self, value: str, size: str, levels: int, zeros: str, divisor: NDArray[np.float32]) -> Tokens:
        largest = self.node("ReduceMax", [size], f"{value}.max", axes=[1], keepdims=0)
        step = self.constant(f"one_{levels}th", 1 / levels, np.float32)
        scale = self.node("Mul", [largest, step], f"{value}.scale")
        safe = self.node("Max", [scale, self.constant("tiny", 1e-12, np.float32)], f"{value}.safe")
        tokens = self.node("QuantizeLinear", [value, safe, zeros], f"{value}.int8", axis=0)
        column = self.node("Unsqueeze", [safe, self.constant("axis_1", [1], np.int64)], f"{value}.column")
        return Tokens(tokens, column, divisor, raised=levels == LARGEST)

    def product(self, tokens: Tokens, weight: NDArray[np.float32], bias: NDArray[np.float32], name: str) -> str:
        """Multiply tokens by a weight of [outputs, inputs] and add its bias."""
        even = weight * tokens.divisor
        scale = np.maximum(np.abs(even).max(axis=1), 1e-12) / 127
        rounded = np.rint(even / scale[:, None])
        zero_point = self.constant("zero", 0, np.uint8) if tokens.raised else self.constant("middle", MIDDLE, np.uint8)
        product = self.node(
            "MatMulIntegerToFloat",
            [
                tokens.values,
                self.constant(f"{name}.weight", np.ascontiguousarray(rounded.T), np.int8),
                self.constant("one", [1.0], np.float32),
                self.constant(f"{name}.scale", scale, np.float32),
                zero_point,
            ],
            f"{name}.product",
            domain=ORT_DOMAIN,
        )
        scaled = self.node("Mul", [product, tokens.scale], f"{name}.scaled")
        if tokens.raised:
            bias = bias - GELU_FLOOR * (rounded * scale[:, None]).sum(axis=1)
        # A bias of two dimensions keeps the runtime from fusing it with a GELU: its BiasGelu is slower.
        return self.node("Add", [scaled, self.constant(f"{name}.bias", bias[None, :], np.float32)], name)


def build(weights: Weights, heads: int, output: Head, peaks: Weights | None) -> onnx.ModelProto:
    """Build the graph of an encoder from weights with the names of Hugging Face's BertModel.

    Args:
        weights: ``embeddings...``, ``encoder.layer.N...`` and, for a classifier, ``pooler.dense`` and
            ``classifier``.
        heads: Number of attention heads.
        output: ``classifier`` gives ``logits``; ``mean-pool`` and ``first-pool`` give a unit-length ``embedding`` of
            all tokens or of the first.
        peaks: Largest activation of every channel on typical text, by the product it goes into
            (``encoder.layer.N.attention.self``, ``encoder.layer.N.intermediate``). A few channels are ten times larger
            than the others and would take all the precision. They are divided, and their weights multiplied
            (SmoothQuant). None leaves them as they are.
    """
    # The epsilon of MPNet's norms, or of BERT's.
    graph = _Graph(1e-5 if DISTANCES in weights else 1e-12)
    hidden = _embed(graph, weights)
    for layer in range(count_layers(weights)):
        hidden = _layer(graph, weights, peaks, f"encoder.layer.{layer}", hidden, heads)
    width = weights["embeddings.LayerNorm.weight"].shape[0]
    shape = graph.node("Concat", ["shape", graph.constant("width", [width], np.int64)], "states.shape", axis=0)
    states = graph.node("Reshape", [hidden, shape], "states")
    if output == "classifier":
        name, size = _classify(graph, weights, states), weights["classifier.bias"].shape[0]
    else:
        name, size = _pool(graph, states, output), width
    return _model(graph, name, size)


def probe() -> onnx.ModelProto:
    """Build a product with 64 bytes of 127 in each column, to test whether a processor overflows in it."""
    weight = numpy_helper.from_array(np.full((64, 32), 127, dtype=np.int8), "weight")
    one = numpy_helper.from_array(np.array([1.0], dtype=np.float32), "one")
    node = helper.make_node("MatMulIntegerToFloat", ["bytes", "weight", "one", "one"], ["product"], domain=ORT_DOMAIN)
    read = helper.make_tensor_value_info("bytes", TensorProto.UINT8, [16, 64])
    made = helper.make_tensor_value_info("product", TensorProto.FLOAT, [16, 32])
    body = helper.make_graph([node], "probe", [read], [made], [weight, one])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ORT_DOMAIN, 1)]
    return helper.make_model(body, opset_imports=opsets, producer_name="vericite", ir_version=8)


def count_layers(weights: Weights) -> int:
    """Return the number of encoder layers."""
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))


def _divisor(peaks: Weights | None, name: str, weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return SmoothQuant's divisors, half way between activations and weights."""
    if peaks is None:
        return np.ones(weight.shape[1], dtype=np.float32)
    return np.maximum(np.sqrt(peaks[name] / np.maximum(np.abs(weight).max(axis=0), 1e-8)), 1e-5).astype(np.float32)


def inputs_to_smooth(layers: int) -> dict[str, str]:
    """Map each product with an input that can be smoothed to the name of that input in the graph."""
    found: dict[str, str] = {}
    for layer in range(layers):
        before = f"encoder.layer.{layer - 1}.output.normed" if layer else "tokens"
        found[f"encoder.layer.{layer}.attention.self"] = before
        found[f"encoder.layer.{layer}.intermediate"] = f"encoder.layer.{layer}.attention.output.normed"
    return found


def _embed(graph: _Graph, weights: Weights) -> str:
    table = weights["embeddings.word_embeddings.weight"]
    scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-12) / 127
    words = graph.constant("words", np.rint(table / scale), np.int8)
    rows = graph.node("Gather", [words, "input_ids"], "word.int8")
    sizes = graph.node("Gather", [graph.constant("words.scale", scale, np.float32), "input_ids"], "word.scale")
    word = graph.node("Mul", [graph.node("Cast", [rows], "word.float", to=TensorProto.FLOAT), sizes], "word")

    shape = graph.node("Shape", ["input_ids"], "shape")
    length = graph.node("Gather", [shape, graph.constant("index_1", 1, np.int64)], "length")
    zero, step = graph.constant("index_0", 0, np.int64), graph.constant("step_1", 1, np.int64)
    positions = graph.node("Range", [zero, length, step], "positions")
    place_table = graph.constant("places", weights["embeddings.position_embeddings.weight"], np.float32)
    place = graph.node("Gather", [place_table, positions], "place")
    kinds = weights.get("embeddings.token_type_embeddings.weight")
    if kinds is None:
        # A graph drops an input that no node reads, and a model folder must accept all three inputs.
        unread = graph.node("Cast", ["token_type_ids"], "kind.float", to=TensorProto.FLOAT)
        nothing = graph.node("Mul", [unread, graph.constant("nothing", 0.0, np.float32)], "kind.nothing")
        kind = graph.node("Unsqueeze", [nothing, graph.constant("axis_2", [2], np.int64)], "kind")
    else:
        kind = graph.node("Gather", [graph.constant("kinds", kinds, np.float32), "token_type_ids"], "kind")
    summed = graph.node("Add", [graph.node("Add", [word, kind], "word_kind"), place], "embedded")
    normed = graph.node(
        "LayerNormalization",
        [summed, *_norm(graph, weights, "embeddings.LayerNorm")],
        "embeddings",
        epsilon=graph.epsilon,
    )
    flat = graph.shaped(normed, [-1, table.shape[1]], "tokens")
    first = graph.constant("axis_0", [0], np.int64)
    count = graph.node(
        "Slice",
        [graph.node("Shape", [flat], "flat.shape"), first, graph.constant("axis_1", [1], np.int64)],
        "count",
    )
    for name, value in FILLS:
        fill = numpy_helper.from_array(np.array([value], dtype=np.uint8))
        graph.node("ConstantOfShape", [count], name, value=fill)
    _mask(graph, weights, positions)
    return flat


def _mask(graph: _Graph, weights: Weights, positions: str) -> None:
    """Add the mask for attention scores: 0 for words, far below 0 for padding; [batch, 1, 1, length].

    With attention by distance, its bias is added: [batch, heads, length, length].
    """
    wide = graph.node("Cast", ["attention_mask"], "mask.float", to=TensorProto.FLOAT)
    padding = graph.node("Sub", [wide, graph.constant("one_scalar", 1.0, np.float32)], "mask.padding")
    axes = graph.constant("axes_1_2", [1, 2], np.int64)
    scaled = graph.node("Mul", [padding, graph.constant("far", 1e9, np.float32)], "mask.scaled")
    if DISTANCES not in weights:
        graph.node("Unsqueeze", [scaled, axes], "mask")
        return
    padded = graph.node("Unsqueeze", [scaled, axes], "mask.wide")
    graph.node("Add", [padded, _distances(graph, weights[DISTANCES], positions)], "mask")


def _distances(graph: _Graph, table: NDArray[np.float32], positions: str) -> str:
    """Add the attention bias of each token to each other token: [heads, length, length]."""
    apart = np.arange(PLACES - 1, -PLACES, -1)
    by_step = graph.constant("distances", table[distance_buckets(apart, len(table))], np.float32)
    rows = graph.node("Unsqueeze", [positions, graph.constant("axis_1", [1], np.int64)], "rows")
    columns = graph.node("Unsqueeze", [positions, graph.constant("axis_0", [0], np.int64)], "columns")
    steps = graph.node("Sub", [columns, rows], "steps")
    index = graph.node("Add", [steps, graph.constant("farthest", PLACES - 1, np.int64)], "steps.index")
    return graph.node("Transpose", [graph.node("Gather", [by_step, index], "steps.bias")], "apart", perm=[2, 0, 1])


def _layer(graph: _Graph, weights: Weights, peaks: Weights | None, prefix: str, hidden: str, heads: int) -> str:
    attended = _attention(graph, weights, peaks, prefix, hidden, heads)
    output = f"{prefix}.attention.output"
    width = weights[f"{output}.dense.weight"].shape[1]
    plain = graph.quantised(attended, np.ones(width, dtype=np.float32))
    hidden = _add_and_norm(graph, weights, output, plain, hidden)
    name = f"{prefix}.intermediate"
    weight, bias = weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"]
    inner = graph.product(graph.quantised(hidden, _divisor(peaks, name, weight)), weight, bias, name)
    active = graph.quantised_gelu(graph.node("Gelu", [inner], f"{name}.gelu", domain=ORT_DOMAIN), len(bias))
    return _add_and_norm(graph, weights, f"{prefix}.output", active, hidden)


def _attention(graph: _Graph, weights: Weights, peaks: Weights | None, prefix: str, hidden: str, heads: int) -> str:
    own = f"{prefix}.attention.self"
    names = [f"{own}.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    bias = np.concatenate([weights[f"{name}.bias"] for name in names])
    width = weight.shape[1]
    product = graph.product(graph.quantised(hidden, _divisor(peaks, own, weight)), weight, bias, own)
    shape = graph.node(
        "Concat",
        ["shape", graph.constant("qkv.tail", [3, heads, width // heads], np.int64)],
        f"{prefix}.shape",
        axis=0,
    )
    by_head = graph.node("Reshape", [product, shape], f"{prefix}.by_head")
    parts = graph.node("Transpose", [by_head], f"{prefix}.heads", perm=[2, 0, 3, 1, 4])
    query, key, value = (
        graph.node("Gather", [parts, graph.constant(f"index_{i}", i, np.int64)], f"{prefix}.part{i}", axis=0)
        for i in range(3)
    )
    alpha = float((width // heads) ** -0.5)
    scores = graph.node("FusedMatMul", [query, key], f"{prefix}.scores", domain=ORT_DOMAIN, transB=1, alpha=alpha)
    masked = graph.node("Add", [scores, "mask"], f"{prefix}.masked")
    attention = graph.node("Softmax", [masked], f"{prefix}.attention", axis=-1)
    mixed = graph.node("MatMul", [attention, value], f"{prefix}.mixed")
    back = graph.node("Transpose", [mixed], f"{prefix}.back", perm=[0, 2, 1, 3])
    return graph.shaped(back, [-1, width], f"{prefix}.attended")


def _add_and_norm(graph: _Graph, weights: Weights, prefix: str, tokens: Tokens, residual: str) -> str:
    product = graph.product(tokens, weights[f"{prefix}.dense.weight"], weights[f"{prefix}.dense.bias"], prefix)
    # Two operators: the runtime's fused SkipLayerNormalization is 4 times slower on CPUs.
    summed = graph.node("Add", [product, residual], f"{prefix}.summed")
    norm = _norm(graph, weights, f"{prefix}.LayerNorm")
    return graph.node("LayerNormalization", [summed, *norm], f"{prefix}.normed", epsilon=graph.epsilon)


def _norm(graph: _Graph, weights: Weights, name: str) -> list[str]:
    return [graph.constant(f"{name}.{part}", weights[f"{name}.{part}"], np.float32) for part in ("weight", "bias")]


def _classify(graph: _Graph, weights: Weights, states: str) -> str:
    dense = _dense(graph, weights, "pooler.dense", _first(graph, states))
    return _dense(graph, weights, "classifier", graph.node("Tanh", [dense], "pooled"), "logits")


def _dense(graph: _Graph, weights: Weights, name: str, value: str, output: str | None = None) -> str:
    weight = graph.constant(f"{name}.weight", weights[f"{name}.weight"].T.copy(), np.float32)
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"], np.float32)
    return graph.node("Add", [graph.node("MatMul", [value, weight], f"{name}.matmul"), bias], output or name)


def _first(graph: _Graph, states: str) -> str:
    return graph.node("Gather", [states, graph.constant("index_0", 0, np.int64)], "first", axis=1)


def _pool(graph: _Graph, states: str, output: Head) -> str:
    if output == "first-pool":
        pooled = _first(graph, states)
    else:
        axis = graph.constant("axis_2", [2], np.int64)
        mask = graph.node("Unsqueeze", ["mask.float", axis], "mask.column")
        over = graph.constant("axis_1", [1], np.int64)
        # The mean is the sum divided by a count, and the count cancels out when the length becomes one.
        pooled = graph.node("ReduceSum", [graph.node("Mul", [states, mask], "masked"), over], "summed", keepdims=0)
    return graph.node("Div", [pooled, graph.node("ReduceL2", [pooled], "norm", axes=[1], keepdims=1)], "embedding")


def _model(graph: _Graph, output: str, size: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", size])
    body = helper.make_graph(graph.nodes, "encoder", inputs, [result], list(graph.constants.values()))
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ORT_DOMAIN, 1)]
    model = helper.make_model(body, opset_imports=opsets, producer_name="vericite", ir_version=8)
    onnx.checker.check_model(model)
    return model


MIXED = 16
PADDED = 8
SEED = 0


@dataclass(frozen=True)
class Invariance:
    """How far outputs move between batches: largest difference of a logit, and number of changed labels."""

    pairs: int
    mixed: float
    padded: float
    changed: int


class _Batched(Engine):
    """The shipped engine with control over what is in a batch."""

    def together(self, batches: Sequence[Sequence[EncodedInput]]) -> NDArray[np.float64]:
        """Return the outputs of all inputs in order."""
        return np.concatenate([np.asarray(self._score(list(batch)), dtype=np.float64) for batch in batches])


def invariance(folder: ModelFolder, pairs: Sequence[Pair]) -> Invariance:
    """Compare each pair alone, among pairs of any length, and next to one of maximum length."""
    engine = _Batched(folder)
    encoded = engine.encoder.encode(pairs)
    alone = engine.together([[item] for item in encoded])
    order = list(range(len(pairs)))
    random.Random(SEED).shuffle(order)
    mixed = np.empty_like(alone)
    mixed[order] = engine.together([[encoded[index] for index in order[at : at + MIXED]] for at in _starts(order)])
    everything = Pair(" ".join(pair.premise for pair in pairs) + " word" * folder.card.max_tokens, pairs[0].claim)
    (longest,) = engine.encoder.encode([everything])
    padded = [engine.together([[*encoded[at : at + PADDED], longest]])[:-1] for at in range(0, len(encoded), PADDED)]
    others = (mixed, np.concatenate(padded))
    changed = np.any([other.argmax(1) != alone.argmax(1) for other in others], axis=0)
    among, next_to_longest = (float(np.abs(other - alone).max()) for other in others)
    return Invariance(len(pairs), among, next_to_longest, int(changed.sum()))


def _starts(order: Sequence[int]) -> range:
    return range(0, len(order), MIXED)


def distance_buckets(apart: NDArray[np.int64], kinds: int) -> NDArray[np.int64]:
    """Return the bucket of each distance between two positions: exact when small, logarithmic when large.

    Args:
        apart: Distance from the other token to the attending one; negative if the other comes later.
        kinds: Number of buckets; half of them are for tokens that come later.
    """
    side = kinds // 2
    exact = side // 2
    size = np.abs(apart)
    share = np.log(np.maximum(size, 1) / exact) / math.log(FARTHEST / exact)
    steps = np.minimum(exact + (share * (side - exact)).astype(np.int64), side - 1)
    return np.where(size < exact, size, steps) + (apart < 0) * side


FARTHEST = 128
"""Tokens farther apart than this share the last bucket."""
