# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Fine-tune a BERT into a verifier.

    python -m vericite.train.fit --data DIR --base DIR --out DIR [--config FILE] [--examples N]

DATA is a file of labelled pairs, or a folder with ``train.jsonl``; BASE a folder with a BERT's
``model.safetensors`` and ``config.json``, which may be the ``model`` of an earlier run. OUT gets ``model``
(the finished weights), ``at-33`` and ``at-66`` (those on the way), checkpoints, ``log.jsonl`` and
``manifest.json``. A run that was ended goes on with ``--resume`` as if it had not been.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW, Optimizer

from vericite.disk.lock import only_one
from vericite.errors import InputError, VeriCiteError
from vericite.models import Encoder
from vericite.train.batching import Batch, Plan, size
from vericite.train.checkpoint import latest_checkpoint, load_checkpoint, save_checkpoint
from vericite.train.config import FitConfig
from vericite.train.losses import label_losses, margin_losses, taught_losses
from vericite.train.manifest import begin_manifest, end_manifest, read_manifest
from vericite.train.mpnet import write_tokenizer
from vericite.train.network import TOKENIZER, CrossEncoder, load_network, padded
from vericite.train.pairs import EncodedPair, encode_pairs, read_pairs, setting, twin_units
from vericite.train.progress import Progress
from vericite.train.runtime import give_back, set_up

TRIAL_STEPS = 30
TRIM_EVERY = 100
THIRDS = {1 / 3: "at-33", 2 / 3: "at-66"}


@dataclass
class Run:
    """A network in training, its data, and how far it has come."""

    config: FitConfig
    pairs: list[EncodedPair]
    plan: Plan
    network: CrossEncoder
    optimizer: Optimizer
    examples: int
    progress: Progress | None
    step: int = 0
    seen: int = 0
    averaged: int = 0
    average: dict[str, Tensor] = field(default_factory=dict[str, Tensor])

    @property
    def place(self) -> dict[str, Any]:
        """Where it is."""
        return {"step": self.step, "seen": self.seen, "averaged": self.averaged}

    def take(self, step: list[Batch]) -> None:
        """One step of the optimiser."""
        self.network.train()
        factor = self._schedule()
        for group in self.optimizer.param_groups:
            group["lr"] = group["full_rate"] * factor
        self.optimizer.zero_grad(set_to_none=True)
        count, tokens = size(step), 0
        for batch in step:
            tokens += self._learn(batch, count)
        trained = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        clip_grad_norm_(trained, self.config.clip)
        self.optimizer.step()
        self.step += 1
        self.seen += count
        if self.seen >= self.config.average_from * self.examples:
            self._average()
        if self.progress:
            self.progress.step(self.place, count, tokens, self.config.learning_rate * factor)

    def _schedule(self) -> float:
        share = self.seen / self.examples
        rising = self.config.warmup
        return share / rising if share < rising else max(0.0, (1 - share) / max(1 - rising, 1e-9))

    def _learn(self, batch: Batch, count: int) -> int:
        """Add a batch's share of the step's gradient; gives its tokens."""
        rows = [self.pairs[index] for unit in batch for index in unit]
        with torch.autocast("cpu", torch.bfloat16, enabled=self.config.precision == "bf16"):
            logits = self.network(*padded([row.encoded for row in rows]))
        columns = torch.tensor([row.column for row in rows])
        binary = torch.tensor([row.binary for row in rows])
        weights = torch.tensor([row.weight * (self.config.binary_weight if row.binary else 1.0) for row in rows])
        losses = label_losses(logits, columns, binary, self.config.label_smoothing)
        taught, told = [row.taught for row in rows], [row.told for row in rows]
        losses = taught_losses(logits, losses, taught, told, self.config.taught_share)
        total = (losses * weights).sum()
        places = iter(range(len(rows)))
        margins = margin_losses(logits, columns, [[next(places) for _ in unit] for unit in batch], self.config.margin)
        if self.config.margin_weight and len(margins):
            total = total + self.config.margin_weight * margins.sum()
        (total / count).backward()
        if self.progress:
            for row, loss in zip(rows, losses.tolist(), strict=True):
                self.progress.loss(row.source, loss)
            if len(margins):
                self.progress.loss("(margin)", float(margins.detach().sum()), len(margins))
        return sum(len(row) for row in rows)

    def _average(self) -> None:
        self.averaged += 1
        for name, value in self.network.state_dict().items():
            held = self.average.setdefault(name, torch.zeros_like(value))
            held += (value - held) / self.averaged

    def save_model(self, folder: Path) -> None:
        """The weights, averaged where averaging has begun, and the tokenizer."""
        self.network.save(folder, self.average or None)
        if self.network.shape.by_distance:
            write_tokenizer(TOKENIZER, folder)
        else:
            shutil.copyfile(TOKENIZER, folder / "tokenizer.json")


def make_optimizer(network: CrossEncoder, config: FitConfig) -> Optimizer:
    """AdamW; a layer learns more slowly the deeper it lies, and norms and biases do not decay."""
    layers = network.shape.num_hidden_layers
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in network.named_parameters():
        if name.startswith("embeddings."):
            parameter.requires_grad_(not config.freeze_embeddings)
            depth = layers
        else:
            # What all layers share counts as the first's: its gradient would go back through all of them.
            shared = name.startswith("encoder.") and not name.startswith("encoder.layer.")
            head = not name.startswith("encoder.")
            layer = 0 if shared else layers - 1 if head else int(name.split(".")[2])
            parameter.requires_grad_(head or layer >= config.freeze_layers)
            depth = layers - 1 - layer
        rate = config.learning_rate * config.layer_decay**depth
        if name.startswith(("pooler.", "classifier.")):
            rate *= config.head_rate
        plain = name.endswith(".bias") or "LayerNorm" in name
        if parameter.requires_grad:
            groups.setdefault((rate, 0.0 if plain else config.weight_decay), []).append(parameter)
    named = [
        {"params": parameters, "lr": rate, "full_rate": rate, "weight_decay": decay}
        for (rate, decay), parameters in groups.items()
    ]
    return AdamW(named, betas=(0.9, 0.98), fused=True)


def prepare(data: Path, base: Path, config: FitConfig) -> Run:
    """Read and encode the data, load the base; the run's length is still open."""
    set_up(config.threads)
    torch.manual_seed(config.seed)
    labelled = read_pairs(data, config.exclude)
    encoder = Encoder(TOKENIZER, config.max_tokens)
    pairs = encode_pairs(encoder, labelled, config.weights)
    units = twin_units(labelled)
    rates = np.array([max(setting(config.rates, labelled[index]) for index in unit) for unit in units])
    lengths = np.array([len(pair) for pair in pairs])
    long = np.array([lengths[unit].max() > config.long_tokens for unit in units])
    rates = np.where(long, rates * config.long_rate, rates)
    plan = Plan(units, lengths, rates, config.batch_examples, config.batch_tokens, config.seed)
    if not plan.epoch_examples():
        raise InputError(f"expected a source with a rate above 0; found none in {data}. Correct the config's rates.")
    network = load_network(base, config.dropout, config.seed)
    if config.max_tokens > network.shape.max_position_embeddings:
        reads = network.shape.max_position_embeddings
        raise InputError(f"expected max_tokens of at most {reads}, which {base} reads; found {config.max_tokens}")
    return Run(config, pairs, plan, network, make_optimizer(network, config), 0, None)


def examples_in(minutes: float, data: Path, base: Path, config: FitConfig) -> int:
    """How many pairs a run of so many minutes can see on this machine, by a short trial."""
    trial = prepare(data, base, config)
    trial.examples = 10**9
    steps = list(zip(range(TRIAL_STEPS), trial.plan.steps(trial.examples), strict=False))
    trial.take(steps[0][1])
    before, started = trial.seen, time.monotonic()
    for _, step in steps[1:]:
        trial.take(step)
    speed = (trial.seen - before) / (time.monotonic() - started)
    return max(1, round(speed * minutes * 60))


def fit(run: Run, out: Path, every_minutes: float) -> None:
    """Train to the end, with checkpoints on the way; goes on from the newest there is."""
    found = latest_checkpoint(out)
    if found:
        place, run.average = load_checkpoint(found, run.network, run.optimizer)
        run.step, run.seen, run.averaged = place["step"], place["seen"], place["averaged"]
    thirds = {round(share * run.examples): name for share, name in THIRDS.items()}
    last = time.monotonic()
    for number, step in enumerate(run.plan.steps(run.examples)):
        if number < run.step:
            continue
        before = run.seen
        run.take(step)
        if run.step % TRIM_EVERY == 0:
            give_back()
        for mark, name in thirds.items():
            if before < mark <= run.seen:
                run.save_model(out / name)
        if time.monotonic() - last >= every_minutes * 60:
            save_checkpoint(out, run.place, run.network, run.optimizer, run.average)
            last = time.monotonic()
    run.save_model(out / "model")


def carry_out(
    told: argparse.Namespace, config: FitConfig, data: Path, prepared: Callable[[int | None], Run], every: int = 50
) -> None:
    """Train as the command line says: a new run, or one that was ended.

    Args:
        told: The command line, with ``base``, ``out``, ``checkpoint_minutes`` and ``resume``.
        config: The run's choices.
        data: The file it is made from.
        prepared: Makes the run; it is given the length of one that is resumed.
        every: Steps from one line of the log to the next.

    Raises:
        InputError: The folder holds a run already, or not the one that is to be resumed.
    """
    with only_one(told.out, ".lock", doing="trains in", other="run"):
        if not told.resume and (told.out / "manifest.json").exists():
            raise InputError(f"expected a new folder; {told.out} holds a run. Add --resume, or name another --out.")
        run = prepared(read_manifest(told.out, config, data, told.base) if told.resume else None)
        if not told.resume:
            begin_manifest(told.out, config, data, told.base, run.examples, len(run.pairs))
        run.progress = Progress(told.out / "log.jsonl", run.examples, every)
        fit(run, told.out, told.checkpoint_minutes)
        end_manifest(told.out, run.place)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and train."""
    told = _parser().parse_args(arguments)
    try:
        config = FitConfig.read(told.config)
        if told.seed is not None:
            config = config.model_copy(update={"seed": told.seed})
        data = told.data / "train.jsonl" if told.data.is_dir() else told.data

        def prepared(held: int | None) -> Run:
            examples = told.examples if held is None else held
            if held is None and told.minutes:
                examples = examples_in(told.minutes, data, told.base, config)
            run = prepare(data, told.base, config)
            run.examples = examples or round((told.epochs or 1) * run.plan.epoch_examples())
            return run

        carry_out(told, config, data, prepared)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vericite.train.fit", description="Fine-tune a verifier.")
    parser.add_argument("--data", type=Path, required=True, help="labelled pairs: a file, or a folder with train.jsonl")
    parser.add_argument("--base", type=Path, required=True, help="a BERT: model.safetensors and config.json")
    parser.add_argument("--out", type=Path, required=True, help="the run's folder")
    parser.add_argument("--config", type=Path, help="choices, JSON or YAML")
    parser.add_argument("--seed", type=int, help="in place of the config's, for runs to be averaged")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--examples", type=int, help="pairs to see")
    length.add_argument("--epochs", type=float, help="the same, in multiples of the data")
    length.add_argument("--minutes", type=float, help="the same, by this machine's speed in a short trial")
    parser.add_argument("--checkpoint-minutes", type=float, default=5.0, help="minutes between checkpoints")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was ended")
    return parser


if __name__ == "__main__":
    sys.exit(main())
