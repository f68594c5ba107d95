# onnx and onnxruntime annotate their own functions only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportMissingImports=false
"""Pack an encoder into the folder that VeriCite ships: 8-bit graph, tokenizer, card.

    python -m vericite.train.pack SOURCE TOKENIZER.json CARD.json CALIBRATION.jsonl DESTINATION/

SOURCE is a safetensors checkpoint with Hugging Face's names, as ``vericite.train.fit`` writes it; or the ONNX
graph of an encoder whose products are MatMulNBits nodes, as the first weights came.
CALIBRATION holds documents; their sentences, paired at random, show which channels are large.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from tokenizers import Tokenizer

from vericite.records import Document, read_jsonl
from vericite.text.sentences import document_sentences
from vericite.train.int8_graph import Head, Weights, build, count_layers, inputs_to_smooth

Array = NDArray[np.float32]
LAYER_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


def read_safetensors(path: Path) -> Weights:
    """The weights of a BERT in a safetensors file, without the prefix that a model with a head gives them.

    Those of an MPNet under a BERT's names (``vericite.train.mpnet``).
    """
    from safetensors.numpy import load_file

    held = load_file(path)
    if any(name.startswith("mpnet.") for name in held):
        # It brings torch, which packing a BERT does without.
        from vericite.train.mpnet import from_mpnet

        held = from_mpnet(held)
    held = {name.removeprefix("bert."): value for name, value in held.items()}
    return {name: value.astype(np.float32) for name, value in held.items() if name != "embeddings.position_ids"}


def read_nbits(path: Path) -> Weights:
    """The weights of a traced BERT whose products are MatMulNBits nodes, under Hugging Face's names."""
    graph = onnx.load(path).graph
    held: dict[str, NDArray[Any]] = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    weights: dict[str, Array] = {}
    for name, value in held.items():
        short = name.removeprefix("m.").removeprefix("bert.")
        if short.endswith(".weight_q"):
            weights[short[:-2]] = value.astype(np.float32) * held[name[:-2] + "_s"]
        elif name.startswith(("m.", "bert.", "embeddings.", "encoder.")) and not name.endswith("_s"):
            weights[short] = value
    # The products come in the order of the layers, and a traced graph keeps no other name for them.
    products = [node for node in graph.node if node.op_type == "MatMulNBits"]
    for index, node in enumerate(products):
        layer, part = divmod(index, len(LAYER_PARTS))
        weights[f"encoder.layer.{layer}.{LAYER_PARTS[part]}.weight"] = _dequantised(node, held)
    return weights


def _dequantised(node: onnx.NodeProto, held: dict[str, NDArray[Any]]) -> Array:
    size = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    blocks = held[node.input[1]].astype(np.float32) - 128
    scales = held[node.input[2]].reshape(size["N"], -1, 1)
    return (blocks * scales).reshape(size["N"], -1)[:, : size["K"]]


def channel_peaks(weights: Weights, heads: int, output: Head, batches: list[dict[str, Any]]) -> Weights:
    """The largest activation of every channel that can be smoothed, over these batches."""
    model = build(weights, heads, output, peaks=None)
    inputs = inputs_to_smooth(count_layers(weights))
    for value in inputs.values():
        model.graph.output.append(helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    peaks = {name: np.zeros(1, dtype=np.float32) for name in inputs}
    for batch in batches:
        values = session.run(list(inputs.values()), batch)
        for name, value in zip(inputs, values, strict=True):
            peaks[name] = np.maximum(peaks[name], np.abs(np.asarray(value)).max(axis=0))
    return peaks


def calibration_batches(tokenizer: Tokenizer, documents: list[Document], count: int) -> list[dict[str, Any]]:
    """Pairs as they are met, one a batch so that no padding is seen.

    A run of sentences before a sentence of the same document, of which one time in three it holds a copy; and, one
    time in four, before one of another: channels that are large where the two agree are quiet in strangers.
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
    """Write the folder."""
    weights = read_safetensors(source) if source.suffix == ".safetensors" else read_nbits(source)
    described = json.loads(card.read_text(encoding="utf-8"))
    output: Head = "classifier" if "classifier.weight" in weights else "mean-pool"
    batches = calibration_batches(
        Tokenizer.from_file(str(tokenizer)), list(read_jsonl(Document, calibration)), count=768
    )
    heads = int(described["heads"])
    model = build(weights, heads, output, channel_peaks(weights, heads, output, batches))
    destination.mkdir(parents=True, exist_ok=True)
    onnx.save(model, destination / "model.onnx")
    shutil.copyfile(tokenizer, destination / "tokenizer.json")
    described["files"] = {
        name: hashlib.sha256((destination / name).read_bytes()).hexdigest() for name in ("model.onnx", "tokenizer.json")
    }
    text = json.dumps(described, indent=2, ensure_ascii=False)
    (destination / "card.json").write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and pack."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.pack", description="Pack an encoder.")
    for name, told in (
        ("source", "model.safetensors, or a graph of MatMulNBits nodes (.onnx)"),
        ("tokenizer", "its tokenizer.json"),
        ("card", "the card, without hashes"),
        ("calibration", "documents, JSON Lines: their sentences show which channels are large"),
        ("destination", "the folder to write"),
    ):
        parser.add_argument(name, type=Path, help=told)
    told = parser.parse_args(arguments)
    pack(told.source, told.tokenizer, told.card, told.calibration, told.destination)
    return 0


if __name__ == "__main__":
    sys.exit(main())
