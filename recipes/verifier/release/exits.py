# onnx and onnxruntime annotate their own functions only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportMissingImports=false
"""Exits: a packed verifier stops reading a pair that is surely neutral.

Most sentences of a source have nothing to do with a claim, and half-way through the network that can be told. After
some of the layers a linear layer, fitted here to what the whole network says, guesses the three logits from what the
layers before made of the first token, of the source and of the claim. Where it is sure of neutral, its guess is the
answer; the other pairs of the batch are read to the end. A pair exits or does not by itself, so batches change nothing.

The graph gets one more input, ``may_exit``: false, and it computes what it did before, to the bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from release.documents import SUFFIX, LabelledDocument, read_documents
from release.documents import verdicts as decided
from release.teach import by_length
from vericite.errors import InputError, VeriCiteError
from vericite.lab.train.data import Floats
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Pair
from vericite.models.engine import MAY_EXIT, EncodedInput, Encoder, padded
from vericite.models.folder import ModelFolder
from vericite.models.session import open_session
from vericite.verify.judges.bundled import BundledJudge

Array = NDArray[np.float32]
PARTS = 3
"""What a guess is made from: the first token, the mean of the source and the mean of the claim."""
RIDGE = 300.0
TOKENS = 4096
LONGEST = 160
"""Tokens of a pair that guesses are fitted on."""
STEPS = np.arange(0.2, 4.0, 0.1)
RAISED = 0.2
SHORT = 30
"""Sentences of a document that the usual protocol is tried on."""


@dataclass(frozen=True)
class Exit:
    """After so many layers: a guess of the logits, and from which log odds of neutral on it is taken."""

    layers: int
    weight: Array
    bias: Array
    sure: float


def neutral_odds(logits: NDArray[Any]) -> NDArray[Any]:
    """Log odds of neutral against the other two."""
    others = logits[:, [ENTAILS, CONTRADICTS]]
    return logits[:, NEUTRAL] - np.logaddexp(others[:, 0], others[:, 1])


# The graph.


@dataclass
class _Values:
    """Names of what the rows that are still read have."""

    ids: str
    kinds: str
    words: str
    mask: str
    hidden: str


SHARED = ("shape", "mask", "zero_points", "zeros")
"""What every layer reads beside its own weights."""


class _Part:
    """Nodes of one stretch of layers; a stretch behind an exit is a branch of an If."""

    def __init__(self, suffix: str, width: int, fills: dict[str, onnx.TensorProto]) -> None:
        self.suffix, self._width, self._fills = suffix, width, fills
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, op: str, inputs: Sequence[str], name: str, **more: object) -> str:
        name = f"{name}{self.suffix}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **more))
        return name

    def constant(self, name: str, value: object, dtype: type[np.generic]) -> str:
        name = f"{name}{self.suffix}"
        if all(it.name != name for it in self.constants):
            self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def read(self, nodes: Sequence[onnx.NodeProto], named: dict[str, str]) -> None:
        """Nodes of the old graph, reading what the rows of this part have."""
        for node in nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(named.get(name, name) for name in node.input)
            self.nodes.append(copy)

    def states(self, values: _Values) -> str:
        """[rows, length, width]."""
        tail = self.constant("exit.width", [self._width], np.int64)
        shape = self.node("Concat", [self.node("Shape", [values.ids], "exit.shape"), tail], "exit.sizes", axis=0)
        return self.node("Reshape", [values.hidden, shape], "exit.states")

    def guess(self, values: _Values, states: str, one: Exit) -> tuple[str, str]:
        """The guess of the logits, and of which rows it is sure."""
        at_1 = self.constant("exit.axis_1", [1], np.int64)
        claim = self.node("Cast", [values.kinds], "exit.claim", to=TensorProto.FLOAT)
        source = self.node("Sub", [values.words, claim], "exit.source")
        both = [self.node("Unsqueeze", [it, at_1], f"exit.row_{n}") for n, it in enumerate((source, claim))]
        weights = self.node("Concat", both, "exit.rows", axis=1)
        counts = self.node("ReduceSum", [weights, self.constant("exit.axis_2", [2], np.int64)], "exit.counts")
        means = self.node("Div", [self.node("MatMul", [weights, states], "exit.sums"), counts], "exit.means")
        first = self.node("Slice", [states, self.constant("exit.0", [0], np.int64), at_1, at_1], "exit.first")
        three = self.node("Concat", [first, means], "exit.three", axis=1)
        flat = self.node(
            "Reshape", [three, self.constant("exit.flat", [-1, PARTS * self._width], np.int64)], "exit.features"
        )
        product = self.node("MatMul", [flat, self.constant("exit.weight", one.weight.T, np.float32)], "exit.product")
        logits = self.node("Add", [product, self.constant("exit.bias", one.bias, np.float32)], "exit.logits")
        others = self.node(
            "Gather", [logits, self.constant("exit.others", [ENTAILS, CONTRADICTS], np.int64)], "exit.rest", axis=1
        )
        against = self.node("ReduceLogSumExp", [others], "exit.against", axes=[1], keepdims=0)
        neutral = self.node("Gather", [logits, self.constant("exit.neutral", NEUTRAL, np.int64)], "exit.for", axis=1)
        odds = self.node("Sub", [neutral, against], "exit.odds")
        sure = self.node("Greater", [odds, self.constant("exit.bar", one.sure, np.float32)], "exit.sure")
        return logits, self.node("And", [sure, MAY_EXIT], "exit.leave")

    def rows(self, leave: str) -> tuple[str, str]:
        """Whether any row stays, and which."""
        stay = self.node("Not", [leave], "exit.stay")
        places = self.node("NonZero", [stay], "exit.places")
        index = self.node("Reshape", [places, self.constant("exit.list", [-1], np.int64)], "exit.index")
        count = self.node("Size", [index], "exit.count")
        return self.node("Greater", [count, self.constant("exit.none", 0, np.int64)], "exit.any"), index

    def gathered(self, values: _Values, states: str, index: str) -> tuple[_Values, dict[str, str]]:
        """What the rows that stay have, and under which names their layers find it."""
        taken = {name: self.node("Gather", [getattr(values, name), index], name, axis=0) for name in vars(values)
                 if name != "hidden"}  # fmt: skip
        flat = self.constant("tokens.shape", [-1, self._width], np.int64)
        kept = self.node("Gather", [states, index], "states.kept", axis=0)
        hidden = self.node("Reshape", [kept, flat], "hidden")
        shape = self.node("Shape", [taken["ids"]], "shape")
        count = self.node(
            "Reshape", [self.node("Size", [taken["ids"]], "size"), self.constant("one_of", [1], np.int64)], "count"
        )
        named = {"shape": shape, "mask": taken["mask"], values.hidden: hidden}
        for name, fill in self._fills.items():
            named[name] = self.node("ConstantOfShape", [count], name, value=fill)
        return _Values(**taken, hidden=hidden), named


def with_exits(model: onnx.ModelProto, exits: Sequence[Exit]) -> onnx.ModelProto:
    """The same network, from which rows may exit after some of its layers."""
    graph = model.graph
    ends = [f"encoder.layer.{one.layers - 1}.output.normed" for one in exits]
    at = [next(n for n, node in enumerate(graph.node) if end in node.output) + 1 for end in ends]
    stretches = [list(graph.node)[a:b] for a, b in zip([0, *at], [*at, len(graph.node)], strict=True)]
    (width,) = (it.dims[0] for it in graph.initializer if it.name == "embeddings.LayerNorm.weight")
    read = [{name for node in nodes for name in node.input} for nodes in stretches]
    constants = {it.name: it for it in graph.initializer}
    # Those of the graph itself: its activations may have 7 or 8 bits.
    fills = {node.output[0]: node.attribute[0].t for node in graph.node if node.op_type == "ConstantOfShape"}

    def part(number: int) -> _Part:
        made = _Part(f"/{number}" if number else "/first", width, fills)
        # A constant of one stretch alone lies in its branch.
        for name, value in constants.items():
            users = [place for place, names in enumerate(read) if name in names]
            if number == (users[0] if len(users) == 1 else 0):
                made.constants.append(value)
        return made

    def branch(number: int, values: _Values, states: str, index: str, guess: str) -> onnx.GraphProto:
        """The rows that stay read on; the others keep the guess."""
        own = part(number)
        held, named = own.gathered(values, states, index)
        own.read(stretches[number], named)
        logits = "logits"
        if number < len(exits):
            held.hidden = ends[number]
            logits = leave(own, number, held, f"logits/{number}")
        column = own.node("Unsqueeze", [index, own.constant("last", [1], np.int64)], "column")
        out = own.node("ScatterND", [guess, column, logits], "put")
        return _graph(own, f"read_on_{number}", out)

    def leave(own: _Part, number: int, values: _Values, output: str) -> str:
        states = own.states(values)
        guess, leaving = own.guess(values, states, exits[number])
        some, index = own.rows(leaving)
        nobody = _Part(f"/none{number}", width, fills)
        kept = nobody.node("Identity", [guess], "kept")
        own.nodes.append(
            helper.make_node(
                "If", [some], [output], name=output,
                then_branch=branch(number + 1, values, states, index, guess),
                else_branch=_graph(nobody, f"all_left_{number}", kept),
            )
        )  # fmt: skip
        return output

    whole = part(0)
    whole.read(stretches[0], {})
    leave(whole, 0, _Values("input_ids", "token_type_ids", "mask.float", "mask", ends[0]), "logits/read")
    whole.nodes.append(helper.make_node("Identity", ["logits/read"], ["logits"], name="logits/out"))
    may = helper.make_tensor_value_info(MAY_EXIT, TensorProto.BOOL, [1])
    body = helper.make_graph(whole.nodes, "encoder", [*graph.input, may], list(graph.output), whole.constants)
    made = helper.make_model(body, opset_imports=model.opset_import, producer_name="vericite", ir_version=8)
    onnx.checker.check_model(made)
    return made


def _graph(part: _Part, name: str, output: str) -> onnx.GraphProto:
    value = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(part.nodes, name, [], [value], part.constants)


# The guesses.


@dataclass(frozen=True)
class Seen:
    """Of some pairs: what each exit would guess from, and the logits of the whole network."""

    features: dict[int, Array]
    logits: Array


def seen(model: onnx.ModelProto, encoded: Sequence[EncodedInput], layers: Sequence[int]) -> Seen:
    """Run the whole network, looking in after some of its layers."""
    looking = onnx.ModelProto()
    looking.CopyFrom(model)
    ends = [f"encoder.layer.{number - 1}.output.normed" for number in layers]
    looking.graph.output.extend(helper.make_tensor_value_info(end, TensorProto.FLOAT, None) for end in ends)
    session = open_session(looking.SerializeToString())
    logits = np.zeros((len(encoded), 3), np.float32)
    features: dict[int, Array] = {}
    for rows in by_length(encoded, TOKENS):
        feed = padded([encoded[place] for place in rows])
        words, kinds = feed["attention_mask"], feed["token_type_ids"]
        logits[rows], *hidden = session.run(["logits", *ends], feed)
        both = np.stack([words - kinds, kinds], 1).astype(np.float32)
        for number, value in zip(layers, hidden, strict=True):
            states = value.reshape(*words.shape, -1)
            means = both @ states / both.sum(2, keepdims=True)
            held = features.setdefault(number, np.zeros((len(encoded), PARTS * states.shape[2]), np.float32))
            held[rows] = np.concatenate([states[:, :1], means], 1).reshape(len(rows), -1)
    return Seen(features, logits)


def fitted(features: Array, logits: Array) -> tuple[Array, Array]:
    """Weights and bias of the guess: ridge regression on the logits less their mean."""
    wanted = logits.astype(np.float64)
    wanted -= wanted.mean(1, keepdims=True)
    middle, scale = features.mean(0, dtype=np.float64), features.std(0, dtype=np.float64) + 1e-6
    even = (features - middle) / scale
    weight = np.linalg.solve(even.T @ even + RIDGE * np.eye(even.shape[1]), even.T @ (wanted - wanted.mean(0))).T
    weight = weight / scale
    return weight.astype(np.float32), (wanted.mean(0) - weight @ middle).astype(np.float32)


def verdicts(logits: NDArray[Any], document: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each document: entailed if a sentence entails, else contradicted if one contradicts, else neutral."""
    label = logits.argmax(1)
    found = np.full(document.max() + 1, NEUTRAL)
    found[document[label == CONTRADICTS]] = CONTRADICTS
    found[document[label == ENTAILS]] = ENTAILS
    return found


def chosen(fit: Seen, dev: Seen, document: NDArray[np.int64], same: float) -> Iterator[tuple[Exit, float, float]]:
    """Exits, each as early as so many documents keep their verdicts; with the share that exits there, and has by then.

    Later exits are chosen beside the earlier ones; what may differ is shared out evenly.
    """
    whole, answered = verdicts(dev.logits, document), dev.logits.copy()
    reading = np.ones(len(answered), bool)
    for place, layers in enumerate(sorted(fit.features), 1):
        weight, bias = fitted(fit.features[layers], fit.logits)
        guess = dev.features[layers] @ weight.T + bias
        odds = neutral_odds(guess)
        needed = 1 - (1 - same) * place / len(fit.features)
        for sure in (*STEPS, np.inf):
            leaving = reading & (odds > sure)
            tried = np.where(leaving[:, None], guess, answered)
            if (verdicts(tried, document) == whole).mean() >= needed:
                break
        answered, reading = tried, reading & ~leaving
        yield Exit(layers, weight, bias, float(round(sure, 2))), float(leaving.mean()), 1 - float(reading.mean())


def _pairs(files: Sequence[Path], count: int, encoder: Encoder, seed: int) -> list[EncodedInput]:
    """So many pairs of the files, as many of each."""
    dice = random.Random(seed)
    found: list[EncodedInput] = []
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = map(json.loads, dice.sample(lines, min(len(lines), 2 * count // len(files))))
        encoded = encoder.encode([Pair(row["premise"], row["claim"]) for row in rows])
        found += [it for it in encoded if len(it.ids) <= LONGEST][: count // len(files)]
    return found


def alike(folder: ModelFolder, documents: Sequence[LabelledDocument], closed: Floats) -> float:
    """The share of documents that the usual protocol decides as it does with exits closed."""
    return float((closed == decided(BundledJudge(folder), documents).one_hot).all(1).mean())


def write(folder: ModelFolder, model: onnx.ModelProto, exits: Sequence[Exit], out: Path) -> ModelFolder:
    """The folder with these exits."""
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(with_exits(model, exits), out / "model.onnx")
    shutil.copyfile(folder.path / "tokenizer.json", out / "tokenizer.json")
    card = json.loads((folder.path / "card.json").read_text(encoding="utf-8"))
    card["exits"] = [one.layers for one in exits]
    card["files"]["model.onnx"] = hashlib.sha256((out / "model.onnx").read_bytes()).hexdigest()
    (out / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return ModelFolder.open(out)


def add(folder: ModelFolder, out: Path, pairs: Sequence[Path], dev: Path, layers: Sequence[int], given: Any) -> None:
    """Fit, choose, say what was chosen, and write the folder.

    Bars are chosen by the quick rule of ``verdicts``, and raised until the usual protocol, which also weighs what is
    not decisive, decides as many documents alike.
    """
    model, encoder = onnx.load(folder.path / "model.onnx"), Encoder(folder.path / "tokenizer.json", 512)
    if folder.card.exits or folder.card.labels != COLUMNS:
        raise InputError(
            f"expected a verifier without exits, its labels {', '.join(COLUMNS)}; {folder.path} has others"
        )
    last = sum(it.name.endswith(".intermediate.weight") for it in model.graph.initializer)
    if not all(0 < layer < last for layer in layers):
        raise InputError(f"expected exits after one to {last - 1} layers; found {', '.join(map(str, layers))}")
    if out.resolve() == folder.path.resolve():
        raise InputError(f"expected --out to be another folder than --model; found {out} twice")
    documents = [it for path in sorted(dev.glob(f"*{SUFFIX}.jsonl")) for it in read_documents(path)]
    short = [it for it in documents if len(it.sentences) <= SHORT]
    if not short:
        raise InputError(
            f"expected whole documents of at most {SHORT} sentences in *{SUFFIX}.jsonl in {dev}; found none"
        )
    asked = [Pair(sentence, it.claim) for it in documents for sentence in it.sentences]
    place = np.array([number for number, it in enumerate(documents) for _ in it.sentences])
    fit = seen(model, _pairs(pairs, given.count, encoder, given.seed), layers)
    exits: list[Exit] = []
    for one, here, by_then in chosen(fit, seen(model, encoder.encode(asked), layers), place, given.same):
        exits.append(one)
        share = f"{here:.1%} of {len(asked)} sentences exit, {by_then:.1%} by then"
        sys.stdout.write(f"after {one.layers} layers, above {one.sure:.2f}: {share}\n")
    some = random.Random(given.seed).sample(short, min(given.documents, len(short)))
    closed = decided(BundledJudge(folder), some).one_hot
    while (same := alike(write(folder, model, exits, out), some, closed)) < given.same:
        sys.stdout.write(f"the usual protocol decides {same:.2%} of {len(some)} documents alike: bars are raised\n")
        exits = [replace(one, sure=one.sure + RAISED) for one in exits]
    bars = ", ".join(f"{one.sure:.2f}" for one in exits)
    sys.stdout.write(f"bars {bars}: the usual protocol decides {same:.2%} of {len(some)} documents alike\n")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and add exits."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release exits", description="Let sure pairs exit.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model without exits")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--dev", type=Path, required=True, help="a folder with whole documents, to choose the bars on")
    parser.add_argument("--pairs", type=Path, action="append", required=True, help="pairs to fit on; repeatable")
    parser.add_argument("--layers", type=int, nargs="+", default=[4, 7], help="after how many layers")
    parser.add_argument("--count", type=int, default=24_000, help="of pairs to fit on")
    parser.add_argument("--same", type=float, default=0.99, help="share of documents whose verdicts stay")
    parser.add_argument("--documents", type=int, default=600, help="that the usual protocol is tried on")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    try:
        add(ModelFolder.open(given.model), given.out, given.pairs, given.dev, sorted(given.layers), given)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0
