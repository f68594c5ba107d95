# onnx and safetensors annotate their own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""Turn a packed BERT back into a checkpoint, for ``vericite.train.fit`` to go on from.

    python -m vericite.train.unpack --model FOLDER --out DIR

FOLDER is a packed model, such as the one that ships; DIR gets ``model.safetensors``, ``config.json`` and the tokenizer.
The weights are those that the packed model computes with: what packing rounded away is gone, and packing them again
changes next to nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from vericite.errors import ModelCardError, VeriCiteError
from vericite.models import ModelFolder
from vericite.train.int8_graph import GELU_FLOOR, count_layers, inputs_to_smooth

Array = NDArray[np.float32]
WORDS, PLACES, KINDS = (f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type"))


def unpacked(graph: onnx.GraphProto) -> dict[str, Array]:
    """The weights in a graph that ``int8_graph.build`` made, under Hugging Face's names.

    Raises:
        ModelCardError: It is of another making, or no BERT.
    """
    held = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    if "words" not in held or "kinds" not in held:
        raise ModelCardError("expected a packed BERT; found a graph of another kind. Unpack what `train pack` wrote.")
    weights = {WORDS: held["words"] * held["words.scale"], PLACES: held["places"], KINDS: held["kinds"]}
    weights |= {name: value for name, value in held.items() if ".LayerNorm." in name}
    layers = sum(name.endswith(".intermediate.weight") for name in held)
    for name, source in inputs_to_smooth(layers).items():
        weight, bias = _product(held, name)
        # Channels that were divided down had their weights multiplied up.
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
    """Write the checkpoint; its weights come last, whole."""
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
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder.path / "tokenizer.json", out / "tokenizer.json")
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    part = out / "model.safetensors.part"
    named = {name if name.startswith("classifier") else f"bert.{name}": value for name, value in weights.items()}
    part.write_bytes(save(named, metadata={"format": "pt"}))
    os.replace(part, out / "model.safetensors")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and unpack."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.unpack", description="Unpack a packed model.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model's folder")
    parser.add_argument("--out", type=Path, required=True, help="where the checkpoint goes")
    told = parser.parse_args(arguments)
    try:
        unpack(ModelFolder.open(told.model), told.out)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
