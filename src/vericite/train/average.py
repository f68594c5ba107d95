# safetensors annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""Average the weights of runs that began at the same ones.

    python -m vericite.train.average MODEL MODEL... --out DIR

Each MODEL is the ``model`` of a run of ``vericite.train.fit``. Only runs from one start have weights that mean the
same by place; whether the mean is better than each is for the development files to say.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, VeriCiteError

WEIGHTS_FILE = "model.safetensors"
BESIDE = ("config.json", "tokenizer.json")
Weights = dict[str, NDArray[np.float32]]


def average(models: list[Path]) -> Weights:
    """The mean of the models' weights.

    Raises:
        InputError: There are fewer than two, one lacks its weights, or they are not of one shape.
    """
    if len(models) < 2:
        raise InputError(f"expected two models or more to average; found {len(models)}. Name each run's model folder.")
    total: dict[str, NDArray[np.float64]] = {}
    for place, folder in enumerate(models):
        held = _read(folder)
        if place and {name: value.shape for name, value in held.items()} != {n: v.shape for n, v in total.items()}:
            raise InputError(
                f"expected weights of the shape of {models[0]}; found others in {folder}. Name runs of one base."
            )
        for name, value in held.items():
            total[name] = total.get(name, 0) + value.astype(np.float64) / len(models)
    return {name: value.astype(np.float32) for name, value in total.items()}


def _read(folder: Path) -> Weights:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise InputError(f"expected {WEIGHTS_FILE}; found none in {folder}. Name a run's model folder.")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise InputError(f"expected whole weights; found {path} broken: {error}. Train that run again.") from None


def write(weights: Weights, like: Path, out: Path) -> None:
    """Write averaged weights with what stands beside those of ``like``; the weights come last, whole."""
    from safetensors.numpy import save

    out.mkdir(parents=True, exist_ok=True)
    for name in BESIDE:
        if (like / name).is_file():
            shutil.copyfile(like / name, out / name)
    part = out / f"{WEIGHTS_FILE}.part"
    part.write_bytes(save(weights, metadata={"format": "pt"}))
    os.replace(part, out / WEIGHTS_FILE)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, average, write."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.average", description="Average runs' weights.")
    parser.add_argument("models", type=Path, nargs="+", help="the model folder of each run")
    parser.add_argument("--out", type=Path, required=True, help="where the averaged model goes")
    told = parser.parse_args(arguments)
    try:
        write(average(told.models), told.models[0], told.out)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"the mean of {len(told.models)} models is in {told.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
