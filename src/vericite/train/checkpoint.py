# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""What a run needs to go on exactly where it was: weights, optimiser, average, random state and place.

Tensors in safetensors, the rest in JSON: torch's own format is a pickle, which runs what it holds.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from vericite.errors import InputError

PREFIX = "checkpoint-"
MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_checkpoint(
    folder: Path, place: dict[str, Any], network: nn.Module, optimizer: Optimizer, average: dict[str, Tensor]
) -> Path:
    """Write one, then remove those before it; a write that is cut short leaves them as they were.

    Args:
        folder: The run's.
        place: Counts, among them ``step``.
        network: Its weights.
        optimizer: AdamW over all of the network's parameters that are trained.
        average: The weights' mean so far, by name; empty before averaging starts.
    """
    written = folder / f".{PREFIX}unfinished"
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir(parents=True)
    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    tensors |= {f"average.{name}": value for name, value in average.items()}
    for name, parameter in network.named_parameters():
        tensors |= {f"{key}.{name}": value for key, value in optimizer.state.get(parameter, {}).items()}
    tensors["random"] = torch.get_rng_state()
    # Copied, since safetensors refuses tensors that share their memory.
    save_file(
        {name: value.detach().clone().contiguous() for name, value in tensors.items()}, written / "state.safetensors"
    )
    (written / "place.json").write_text(json.dumps(place, indent=2) + "\n", encoding="utf-8")
    for path in written.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    older = list(folder.glob(f"{PREFIX}*"))
    made = folder / f"{PREFIX}{place['step']:07d}"
    shutil.rmtree(made, ignore_errors=True)
    written.rename(made)
    for path in older:
        if path != made:
            shutil.rmtree(path)
    return made


def latest_checkpoint(folder: Path) -> Path | None:
    """The run's newest, or None."""
    return max(folder.glob(f"{PREFIX}*"), default=None, key=lambda path: path.name)


def load_checkpoint(path: Path, network: nn.Module, optimizer: Optimizer) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Put everything back where it was; gives the place and the average.

    Raises:
        InputError: It is of another network.
    """
    tensors = load_file(path / "state.safetensors")
    try:
        network.load_state_dict({name: tensors[f"network.{name}"] for name in network.state_dict()})
    except (KeyError, RuntimeError) as error:
        raise InputError(f"expected a checkpoint of this network in {path}; found another: {error}") from None
    for name, parameter in network.named_parameters():
        if f"exp_avg.{name}" in tensors:
            optimizer.state[parameter] = {key: tensors[f"{key}.{name}"] for key in MOMENTS}
    torch.set_rng_state(tensors["random"])
    average = {name.removeprefix("average."): tensors[name] for name in tensors if name.startswith("average.")}
    return json.loads((path / "place.json").read_text(encoding="utf-8")), average
