# torch, transformers and peft come with the extra [train] only, and their own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Low-rank adapters for decoders, trained on one machine; used by ``train attribution --base`` and ``train inline``.

Only the adapter (and a head, if there is one) is trained and kept; the decoder does not change. An interrupted run
continues from its last checkpoint with the same result as without the interruption.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from vericite.disk.jobs import Job
from vericite.errors import InputError
from vericite.lab.train.configs import LoraConfig
from vericite.models.hf import torch_device

CHECKPOINT = "checkpoint"


def seeded(seed: int, threads: int) -> None:
    """Seed torch, and set its number of threads."""
    torch.manual_seed(seed)
    torch.set_num_threads(threads)


def adapted(model: Any, config: LoraConfig, causal: bool, writes: bool = False) -> Any:
    """Return the model with a new adapter that has no effect yet; everything else is frozen.

    Args:
        model: A decoder, or an encoder-decoder.
        config: How the adapter is trained.
        causal: Whether a decoder writes text.
        writes: Whether an encoder-decoder does.
    """
    import peft

    targets = "all-linear" if config.targets == ("all-linear",) else list(config.targets)
    chosen = peft.LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=targets,
        bias="none",
        task_type="CAUSAL_LM" if causal else "SEQ_2_SEQ_LM" if writes else "FEATURE_EXTRACTION",
    )
    if config.precision == "bf16":
        model = model.to(torch.bfloat16)
    try:
        return peft.get_peft_model(model.to(torch_device(config.device)), chosen)
    except ValueError as error:
        raise InputError(
            f"expected the base to have layers named {config.targets}; found none: {str(error)[:200]}. Correct targets "
            "in the config, or set it to all-linear."
        ) from None


@dataclass(frozen=True)
class LoraTask:
    """What to learn.

    Attributes:
        module: The network. All parameters that require a gradient are trained.
        loss: Computes the summed loss of the examples at these places, and their summed weight.
        dev: Computes the loss on the development set.
        examples: Number of training examples.
    """

    module: nn.Module
    loss: Callable[[Sequence[int]], tuple[Tensor, float]]
    dev: Callable[[], float]
    examples: int


def trained(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return the trained parameters by name."""
    return {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}


@dataclass
class LoraPlace:
    """How far a run is."""

    epoch: int = 0
    step: int = 0
    best: float = math.inf
    worse: int = 0
    finished: bool = False


class LoraRun:
    """Runs a training task in a folder; resumes an interrupted run."""

    def __init__(self, task: LoraTask, config: LoraConfig, job: Job, report: Callable[[int, float], None]) -> None:
        self._task = task
        self._config = config
        self._job = job
        self._report = report
        self._folder = job.place
        self._weights = trained(task.module)
        self._optimiser = AdamW(self._weights.values(), lr=config.learning_rate, weight_decay=0.0)
        self._per_epoch = max(1, math.ceil(task.examples / config.batch))
        self._total = min(config.steps or 10**9, self._per_epoch * config.epochs)

    def run(self) -> dict[str, Any]:
        """Train to the end, and load the weights that were best on the development set.

        Raises:
            InputError: There are no examples to learn from.
        """
        if not self._task.examples:
            raise InputError("expected examples to learn from; found none. Give more.")
        place = self._resumed()
        began = place.step
        while not place.finished:
            self._epoch(place)
        self._load(self._folder / "best.safetensors")
        return {"steps": place.step, "resumed_at": began, "dev_loss": round(place.best, 6), "epochs": place.epoch}

    def _epoch(self, place: LoraPlace) -> None:
        order: list[int] = (
            np.random.default_rng([self._config.seed, place.epoch]).permutation(self._task.examples).tolist()
        )
        first = place.step - place.epoch * self._per_epoch
        for number in range(first, self._per_epoch):
            if place.step >= self._total:
                break
            some = order[number * self._config.batch : (number + 1) * self._config.batch]
            loss = self._step(place.step, some)
            place.step += 1
            self._report(place.step, loss)
            if place.step % self._config.checkpoint_steps == 0:
                self._save(place)
        self._judge(place)
        self._save(place)

    def _judge(self, place: LoraPlace) -> None:
        """At the end of an epoch, keep the best weights, and finish when they no longer improve."""
        self._task.module.eval()
        with torch.no_grad():
            loss = self._task.dev()
        self._task.module.train()
        place.epoch += 1
        place.worse = 0 if loss < place.best else place.worse + 1
        if loss < place.best or not (self._folder / "best.safetensors").exists():
            place.best = min(loss, place.best)
            self._write(
                self._folder / "best.safetensors", {name: weight.detach() for name, weight in self._weights.items()}
            )
        done = place.epoch >= self._config.epochs or place.step >= self._total
        place.finished = done or place.worse >= self._config.patience

    def _step(self, step: int, some: Sequence[int]) -> float:
        # The seed of dropout depends on the step alone, so that a resumed run draws the same.
        torch.manual_seed(self._config.seed * 1_000_003 + step)
        rate = self._config.learning_rate * self._share(step)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        parts = [some[start : start + self._config.at_once] for start in range(0, len(some), self._config.at_once)]
        whole = 0.0
        weight = 0.0
        self._optimiser.zero_grad(set_to_none=True)
        for part in parts:
            loss, counted = self._task.loss(part)
            loss.backward()
            whole += float(loss.detach())
            weight += counted
        for parameter in self._weights.values():
            if parameter.grad is not None:
                parameter.grad /= max(weight, 1e-9)
        clip_grad_norm_(self._weights.values(), 1.0)
        self._optimiser.step()
        return whole / max(weight, 1e-9)

    def _share(self, step: int) -> float:
        rising = max(1, round(self._total * self._config.warmup))
        if step < rising:
            return (step + 1) / rising
        return max(0.0, (self._total - step) / max(1, self._total - rising))

    def _write(self, path: Path, tensors: dict[str, Tensor]) -> None:
        part = path.with_name(path.name + ".part")
        save_file({name: tensor.cpu().contiguous().clone() for name, tensor in tensors.items()}, part)
        # Windows syncs only files that are open for writing.
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)

    def _save(self, place: LoraPlace) -> None:
        """Write a checkpoint. An interrupted write leaves the previous one."""
        tensors = {f"weight.{name}": weight.detach() for name, weight in self._weights.items()}
        for name, parameter in self._weights.items():
            tensors |= {f"{key}.{name}": value for key, value in self._optimiser.state.get(parameter, {}).items()}
        written, made = self._folder / f".{CHECKPOINT}", self._folder / f"{CHECKPOINT}-{place.step:06d}-{place.epoch}"
        shutil.rmtree(written, ignore_errors=True)
        written.mkdir()
        self._write(written / "state.safetensors", tensors)
        (written / "place.json").write_text(json.dumps(vars(place)), encoding="utf-8")
        older = list(self._folder.glob(f"{CHECKPOINT}-*"))
        shutil.rmtree(made, ignore_errors=True)
        written.rename(made)
        for path in older:
            if path != made:
                shutil.rmtree(path)

    def _resumed(self) -> LoraPlace:
        newest = max(self._folder.glob(f"{CHECKPOINT}-*"), default=None)
        if newest is None:
            return LoraPlace()
        tensors = load_file(newest / "state.safetensors")
        with torch.no_grad():
            for name, parameter in self._weights.items():
                parameter.copy_(tensors[f"weight.{name}"])
        for name, parameter in self._weights.items():
            kept = {
                key: tensors[f"{key}.{name}"].to("cpu" if key == "step" else parameter.device)
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{key}.{name}" in tensors
            }
            if kept:
                self._optimiser.state[parameter] = kept
        return LoraPlace(**json.loads((newest / "place.json").read_text(encoding="utf-8")))

    def _load(self, path: Path) -> None:
        tensors = load_file(path)
        with torch.no_grad():
            for name, parameter in self._weights.items():
                parameter.copy_(tensors[name])
