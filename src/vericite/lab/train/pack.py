# onnx, onnxruntime and safetensors annotate their own functions only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportMissingImports=false
"""Pack an encoder into the folder that VeriCite ships (8-bit graph, tokenizer, card), and unpack one.

SOURCE is a safetensors checkpoint with Hugging Face's names, as ``vericite.lab.train.fit`` writes it, or the 8-bit ONNX
graph of an encoder as Hugging Face's tools export it. Its own tokenizer.json is next to it. TOKENIZER may be a
reduced copy of that one (``recipes/search/vocabulary.py``); the rows of the missing words are then left out.
CALIBRATION holds documents. Their sentences, paired at random, show which channels have large activations.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from tokenizers import Tokenizer

from vericite.errors import InputError, ModelCardError
from vericite.lab.train.int8_graph import BITS, GELU_FLOOR, Head, Weights, build, count_layers, inputs_to_smooth
from vericite.models.contracts import COLUMNS
from vericite.models.folder import CARD_FORMAT, ModelFolder
from vericite.models.session import open_session
from vericite.records import Document, read_jsonl
from vericite.text.sentences import document_sentences

Array = NDArray[np.float32]
WORDS, PLACES, KINDS = (f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type"))


POOLS: dict[str, Head] = {"mean": "mean-pool", "first": "first-pool"}


def read_safetensors(path: Path) -> Weights:
    """Read the weights of a BERT from a safetensors file, without the prefix of a model with a head.

    The weights of an MPNet get a BERT's names (``vericite.lab.train.network``).
    """
    from safetensors.numpy import load_file

    held = load_file(path)
    if any(name.startswith("mpnet.") for name in held):
        # This imports torch, which is not needed to pack a BERT.
        from vericite.lab.train.network import from_mpnet

        held = from_mpnet(held)
    held = {name.removeprefix("bert."): value for name, value in held.items()}
    return {name: value.astype(np.float32) for name, value in held.items() if name != "embeddings.position_ids"}


def read_dynamic(path: Path) -> Weights:
    """Read the weights of a BERT that Hugging Face's tools exported and quantised, under its names.

    Each product is a MatMulInteger. A traced graph keeps only the name of the bias that is added after it.
    """
    graph = onnx.load(path).graph
    held: dict[str, NDArray[Any]] = {item.name: numpy_helper.to_array(item) for item in graph.initializer}

    def dequantised(name: str) -> Array:
        scale, zero = (held[name.replace("_quantized", f"_{part}")] for part in ("scale", "zero_point"))
        return ((held[name].astype(np.float32) - zero.astype(np.float32)) * scale).astype(np.float32)

    named = {
        name: value
        for name, value in held.items()
        if value.dtype == np.float32 and name.endswith((".bias", "Norm.weight"))
    }
    named |= {
        name.removesuffix("_quantized"): dequantised(name)
        for name in held
        if name.endswith("embeddings.weight_quantized")
    }
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for value in node.input:
            readers.setdefault(value, []).append(node)
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in held:
            bias = _bias_behind(node, readers, named)
            named[bias.removesuffix("bias") + "weight"] = dequantised(node.input[1]).T
    return {name.removeprefix("bert."): value for name, value in named.items()}


def _bias_behind(product: onnx.NodeProto, readers: dict[str, list[onnx.NodeProto]], named: Weights) -> str:
    """Return the name of the bias added to a product, after its cast and its scale."""
    value = product.output[0]
    while value in readers:
        (after,) = readers[value][:1]
        if bias := [name for name in after.input if name in named]:
            return bias[0]
        if after.op_type not in ("Cast", "Mul"):
            break
        value = after.output[0]
    raise ModelCardError(f"expected a bias after every product; found none after {product.name}. Export a BERT.")


def cut_to(weights: Weights, own: Tokenizer, wanted: Tokenizer) -> Weights:
    """Keep the rows of the wanted tokenizer's words, in its order.

    Raises:
        ModelCardError: The checkpoint lacks a wanted word.
    """
    rows, vocabulary = own.get_vocab(), wanted.get_vocab()
    missing = sorted(vocabulary.keys() - rows.keys())
    if missing:
        raise ModelCardError(
            f"expected a tokenizer with words that the checkpoint knows; found {len(missing)} unknown words, such as "
            f"{missing[0]!r}. Reduce the checkpoint's own tokenizer."
        )
    order = [rows[word] for word in sorted(vocabulary, key=vocabulary.__getitem__)]
    return {**weights, WORDS: weights[WORDS][order]}


def channel_peaks(weights: Weights, heads: int, output: Head, batches: list[dict[str, Any]]) -> Weights:
    """Return the largest activation of every channel that can be smoothed, over these batches."""
    model = build(weights, heads, output, peaks=None)
    inputs = inputs_to_smooth(count_layers(weights))
    for value in inputs.values():
        model.graph.output.append(helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, None))
    session = open_session(model.SerializeToString(), fits=True)
    peaks = {name: np.zeros(1, dtype=np.float32) for name in inputs}
    for batch in batches:
        values = session.run(list(inputs.values()), batch)
        for name, value in zip(inputs, values, strict=True):
            peaks[name] = np.maximum(peaks[name], np.abs(np.asarray(value)).max(axis=0))
    return peaks


def calibration_batches(tokenizer: Tokenizer, documents: list[Document], count: int) -> list[dict[str, Any]]:
    """Return pairs like those of real use, one to a batch so that there is no padding.

    The premise is a run of sentences. Three times in four the claim comes from the same document (one time in three it
    is a copy of a premise sentence), otherwise from any document. Channels that are large where the two agree are small
    for unrelated texts.
    """
    texts = [[sentence.text_in(document) for sentence in document_sentences(document)] for document in documents]
    chosen = random.Random(0)
    batches: list[dict[str, Any]] = []
    for _ in range(count):
        read = chosen.choice(texts)
        size = chosen.choice((1, 1, 1, 3, len(read)))
        start = chosen.randrange(max(1, len(read) - size + 1))
        premise = read[start : start + size]
        source = read if chosen.random() < 0.75 else chosen.choice(texts)
        claim = chosen.choice(premise if chosen.random() < 1 / 3 else source)
        encoded = tokenizer.encode(" ".join(premise), claim)
        ids = np.array([encoded.ids], dtype=np.int64)
        kinds = np.array([encoded.type_ids], dtype=np.int64)
        batches.append({"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds})
    return batches


def pack(source: Path, tokenizer: Path, card: Path, calibration: Path, destination: Path) -> None:
    """Write the model folder.

    Raises:
        InputError: A file is missing.
    """
    for file in (source, tokenizer, card, calibration):
        if not file.is_file():
            raise InputError(f"expected a file to pack; found none at {file}")
    weights = read_safetensors(source) if source.suffix == ".safetensors" else read_dynamic(source)
    own = source.parent / "tokenizer.json"
    if own.is_file():
        weights = cut_to(weights, Tokenizer.from_file(str(own)), Tokenizer.from_file(str(tokenizer)))
    described = json.loads(card.read_text(encoding="utf-8"))
    output: Head = "classifier" if "classifier.weight" in weights else POOLS[described.get("pooling", "mean")]
    batches = calibration_batches(
        Tokenizer.from_file(str(tokenizer)), list(read_jsonl(Document, calibration)), count=768
    )
    heads = int(described["heads"])
    model = build(weights, heads, output, channel_peaks(weights, heads, output, batches))
    destination.mkdir(parents=True, exist_ok=True)
    onnx.save(model, destination / "model.onnx")
    shutil.copyfile(tokenizer, destination / "tokenizer.json")
    described |= {"format": CARD_FORMAT, "activation_bits": BITS}
    described["files"] = {
        name: hashlib.sha256((destination / name).read_bytes()).hexdigest() for name in ("model.onnx", "tokenizer.json")
    }
    text = json.dumps(described, indent=2, ensure_ascii=False)
    (destination / "card.json").write_text(text + "\n", encoding="utf-8")


def constants_of(graph: onnx.GraphProto) -> dict[str, NDArray[Any]]:
    """Return a graph's constants by name, including those in branches (layers after an exit)."""
    held: dict[str, NDArray[Any]] = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                held |= constants_of(attribute.g)
    return held


def unpacked(graph: onnx.GraphProto) -> dict[str, Array]:
    """Return the weights of a graph made by ``int8_graph.build``, under Hugging Face's names.

    Raises:
        ModelCardError: The graph was not made by ``int8_graph.build``, or is not a BERT.
    """
    held = constants_of(graph)
    if "words" not in held or "kinds" not in held:
        raise ModelCardError("expected a packed BERT; found a graph of another kind. Unpack what `train pack` wrote.")
    weights = {WORDS: held["words"] * held["words.scale"], PLACES: held["places"], KINDS: held["kinds"]}
    weights |= {name: value for name, value in held.items() if ".LayerNorm." in name}
    layers = sum(name.endswith(".intermediate.weight") for name in held)
    for name, source in inputs_to_smooth(layers).items():
        weight, bias = _product(held, name)
        # Smoothing divided these channels and multiplied their weights.
        weight = weight * held.get(f"{source}.inverse", np.float32(1))
        if name.endswith(".self"):
            for part, rows, row in zip(("query", "key", "value"), np.split(weight, 3), np.split(bias, 3), strict=True):
                weights |= {f"{name}.{part}.weight": rows, f"{name}.{part}.bias": row}
        else:
            weights |= {f"{name}.dense.weight": weight, f"{name}.dense.bias": bias}
    for layer in range(layers):
        for part in ("attention.output", "output"):
            name = f"encoder.layer.{layer}.{part}"
            weight, bias = _product(held, name)
            raised = GELU_FLOOR * weight.sum(axis=1) if part == "output" else 0.0
            weights |= {f"{name}.dense.weight": weight, f"{name}.dense.bias": bias + raised}
    for name in ("pooler.dense", "classifier"):
        if f"{name}.weight" in held:
            weights |= {f"{name}.weight": held[f"{name}.weight"].T, f"{name}.bias": held[f"{name}.bias"]}
    return {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in weights.items()}


def _product(held: dict[str, NDArray[Any]], name: str) -> tuple[Array, Array]:
    weight = held[f"{name}.weight"].astype(np.float32) * held[f"{name}.scale"]
    return weight.T, held[f"{name}.bias"][0]


def unpack(folder: ModelFolder, out: Path) -> None:
    """Write the checkpoint. The weights are written last and appear whole."""
    from safetensors.numpy import save

    weights = unpacked(onnx.load(folder.path / "model.onnx").graph)
    words, width = weights[WORDS].shape
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "vocab_size": words,
        "hidden_size": width,
        "num_hidden_layers": count_layers(weights),
        "num_attention_heads": folder.card.heads,
        "intermediate_size": len(weights["encoder.layer.0.intermediate.dense.bias"]),
        "max_position_embeddings": len(weights[PLACES]),
        "type_vocab_size": len(weights[KINDS]),
        "layer_norm_eps": 1e-12,
    }
    if len(weights.get("classifier.bias", ())) == len(COLUMNS):
        config |= {"id2label": dict(enumerate(COLUMNS)), "label2id": {label: at for at, label in enumerate(COLUMNS)}}
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder.path / "tokenizer.json", out / "tokenizer.json")
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    part = out / "model.safetensors.part"
    named = {name if name.startswith("classifier") else f"bert.{name}": value for name, value in weights.items()}
    part.write_bytes(save(named, metadata={"format": "pt"}))
    os.replace(part, out / "model.safetensors")
