# torch comes with the extra [train] only, and its own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Fine-tune a BERT into a verifier (``vericite train fit``).

DATA is a file of labelled pairs, or a folder with ``train.jsonl``. BASE is a folder with a BERT's
``model.safetensors`` and ``config.json``; it may be the ``model`` of an earlier run. OUT gets ``model`` (the final
weights), ``at-33`` and ``at-66`` (the weights on the way), checkpoints, ``log.jsonl`` and ``manifest.json``.
An interrupted run continues when it is started again, with the same result as without the interruption.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW, Optimizer

from vericite.disk.files import only_one
from vericite.errors import InputError
from vericite.lab.train.configs import FitConfig
from vericite.lab.train.data import (
    TOKENIZER,
    Batch,
    EncodedPair,
    TrainingOrder,
    encode_pairs,
    read_pairs,
    setting,
    size,
    twin_units,
)
from vericite.lab.train.network import CrossEncoder, load_network, padded, tokenizer_of, write_tokenizer
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.models.engine import Encoder
from vericite.models.hf import torch_device
from vericite.version import __version__

PREFIX = "checkpoint-"
MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_checkpoint(
    folder: Path, place: dict[str, Any], network: nn.Module, optimizer: Optimizer, average: dict[str, Tensor]
) -> Path:
    """Write a checkpoint, then remove the older ones. They stay when the write is interrupted.

    Args:
        folder: The run's folder.
        place: The run's counts, among them ``step``.
        network: The network to save.
        optimizer: AdamW over all trained parameters of the network.
        average: Mean of the weights so far, by name; empty before averaging starts.
    """
    written = folder / f".{PREFIX}unfinished"
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir(parents=True)
    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    tensors |= {f"average.{name}": value for name, value in average.items()}
    for name, parameter in network.named_parameters():
        tensors |= {f"{key}.{name}": value for key, value in optimizer.state.get(parameter, {}).items()}
    tensors["random"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    # Cloned, since safetensors refuses tensors that share memory.
    save_file(
        {name: value.detach().clone().contiguous() for name, value in tensors.items()}, written / "state.safetensors"
    )
    (written / "place.json").write_text(json.dumps(place, indent=2) + "\n", encoding="utf-8")
    for path in written.iterdir():
        # Windows syncs only files that are open for writing.
        with path.open("rb+") as file:
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
    """Return the run's newest checkpoint, or None."""
    return max(folder.glob(f"{PREFIX}*"), default=None, key=lambda path: path.name)


def load_checkpoint(path: Path, network: nn.Module, optimizer: Optimizer) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Restore a checkpoint. Return the place and the average.

    Raises:
        InputError: The checkpoint belongs to another network.
    """
    tensors = load_file(path / "state.safetensors")
    try:
        network.load_state_dict({name: tensors[f"network.{name}"] for name in network.state_dict()})
    except (KeyError, RuntimeError) as error:
        raise InputError(f"expected a checkpoint of this network in {path}; found another: {error}") from None
    for name, parameter in network.named_parameters():
        if f"exp_avg.{name}" in tensors:
            optimizer.state[parameter] = {key: tensors[f"{key}.{name}"].to(parameter.device) for key in MOMENTS}
    torch.set_rng_state(tensors["random"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    device = next(network.parameters()).device
    named = {name.removeprefix("average."): name for name in tensors if name.startswith("average.")}
    average = {name: tensors[key].to(device) for name, key in named.items()}
    return json.loads((path / "place.json").read_text(encoding="utf-8")), average


NAME = "manifest.json"


@dataclass(frozen=True)
class RunOptions:
    """The base, the folder, the length and the device of a run.

    Attributes:
        base: Folder of a BERT: ``model.safetensors`` and ``config.json``.
        out: The run's folder.
        examples: Number of pairs to train on.
        epochs: Length in passes over the data. Default when no length is given: 1.
        minutes: Length in minutes, estimated from a short trial on this machine.
        checkpoint_minutes: Minutes between checkpoints.
        device: ``cpu``, ``cuda`` or ``auto``.
    """

    base: Path
    out: Path
    examples: int | None = None
    epochs: float | None = None
    minutes: float | None = None
    checkpoint_minutes: float = 5.0
    device: str = "cpu"


def begin_manifest(options: RunOptions, config: FitConfig, data: Path, run: TrainingRun) -> None:
    """Write the manifest of a new run."""
    held = {
        **_made_from(config, data, options.base),
        "examples": run.examples,
        "pairs": len(run.pairs),
        "device": run.network.device.type,
        "vericite": __version__,
        "git": _git(),
        "torch": version("torch"),
        "started": [_now()],
    }
    _write(options.out, held)


def read_manifest(out: Path, config: FitConfig, data: Path, base: Path) -> int:
    """Return the length of the run to resume.

    Raises:
        InputError: It is finished, or it has other data, another base or another config.
    """
    held: dict[str, Any] = json.loads((out / NAME).read_text(encoding="utf-8"))
    if "finished" in held:
        raise InputError(
            f"expected a new folder or an unfinished run; the one in {out} is finished: see {out / 'model'}. "
            "Name another --out."
        )
    for name, value in _made_from(config, data, base).items():
        if held[name] != value:
            raise InputError(
                f"expected the run's own {name}: {held[name]}; found {value}. Use the values it began with."
            )
    held["started"].append(_now())
    _write(out, held)
    return int(held["examples"])


def end_manifest(out: Path, place: dict[str, Any]) -> None:
    """Record that the run is finished, with the hash of its weights."""
    held = json.loads((out / NAME).read_text(encoding="utf-8"))
    model = _sha256(out / "model" / "model.safetensors")
    _write(out, {**held, "finished": _now(), **place, "model_sha256": model})


def _made_from(config: FitConfig, data: Path, base: Path) -> dict[str, Any]:
    return {
        "config": config.model_dump(mode="json"),
        "data": str(data),
        "data_sha256": _sha256(data),
        "base": str(base),
        "base_sha256": _sha256(base / "model.safetensors"),
    }


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"expected a readable file; found {path}: {error.strerror}") from None


def _git() -> str | None:
    """Return the checkout's commit, or None outside a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write(out: Path, held: dict[str, Any]) -> None:
    (out / NAME).write_text(json.dumps(held, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


class FitProgress:
    """Sums up the steps since the last log line."""

    def __init__(self, log: Path, examples: int, every: int = 50) -> None:
        self._log, self._examples, self._every = log, examples, every
        self._steps = 0
        self._clear()

    def _clear(self) -> None:
        self._started = time.monotonic()
        self._pairs = self._tokens = 0
        self._losses: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def loss(self, name: str, value: float, count: int = 1) -> None:
        """Add up losses of one source, or of the margins."""
        self._losses[name][0] += value
        self._losses[name][1] += count

    def step(self, place: dict[str, Any], pairs: int, tokens: int, rate: float) -> None:
        """Count a step, and write a log line after every ``every`` steps."""
        self._steps += 1
        self._pairs += pairs
        self._tokens += tokens
        if self._steps % self._every == 0 or place["seen"] >= self._examples:
            self._say(place, rate)
            self._clear()

    def _say(self, place: dict[str, Any], rate: float) -> None:
        took = max(time.monotonic() - self._started, 1e-9)
        speed = self._pairs / took
        means = {name: round(total / count, 4) for name, (total, count) in sorted(self._losses.items())}
        left = (self._examples - place["seen"]) / speed
        line = {
            **place, "of": self._examples, "learning_rate": rate, "loss": means, "pairs_per_second": round(speed, 1),
            "tokens_per_second": round(self._tokens / took), "seconds_left": round(left), "time": round(time.time()),
        }  # fmt: skip
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        losses = "  ".join(f"{name} {mean:.3f}" for name, mean in means.items())
        share = f"{place['seen']:,} of {self._examples:,}"
        sys.stderr.write(f"{share} pairs, {speed:.0f}/s, {left / 60:.0f} min left; loss: {losses}\n")
        sys.stderr.flush()


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameter numbers of glibc's mallopt."""


def set_up(threads: int) -> None:
    """Set the number of threads, and keep the allocator from returning memory.

    glibc returns every large tensor to the kernel and faults its pages in again at the next step. Batches of whole
    abstracts take 4 times as long that way.
    """
    torch.set_num_threads(threads)
    # Other C libraries have no such functions, and do not need them.
    with contextlib.suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, 2**30)
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def trim_memory() -> None:
    """Return fragmented memory to the system. Batches of different lengths leave gigabytes of gaps in an hour."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


TRIAL_STEPS = 30
TRIM_EVERY = 100
THIRDS = {1 / 3: "at-33", 2 / 3: "at-66"}


def support(logits: Tensor) -> Tensor:
    """Return the log odds of entailment against the two other labels together."""
    return logits[:, ENTAILS] - torch.logsumexp(logits[:, [CONTRADICTS, NEUTRAL]], dim=1)


def label_losses(logits: Tensor, columns: Tensor, binary: Tensor, smoothing: float) -> Tensor:
    """Return a loss for each pair: over three labels, or over two where the data do not separate contradiction."""
    three = F.cross_entropy(logits, columns, reduction="none", label_smoothing=smoothing)
    entailed = (columns == ENTAILS).to(logits.dtype) * (1 - smoothing) + smoothing / 2
    two = F.binary_cross_entropy_with_logits(support(logits), entailed, reduction="none")
    return torch.where(binary, two, three)


def taught_losses(
    logits: Tensor, own: Tensor, taught: list[tuple[float, float, float] | None], labelled: list[bool], share: float
) -> Tensor:
    """Mix the losses with the cross entropy to a teacher's probabilities, for rows that have them.

    Args:
        logits: Logits of one batch.
        own: Losses by the labels of the data.
        taught: The teacher's probabilities for each row.
        labelled: Whether a row has a label. A row without one learns from the teacher only.
        share: The teacher's share in rows with a label.
    """
    parts = torch.tensor(
        [0.0 if row is None else share if known else 1.0 for row, known in zip(taught, labelled, strict=True)]
    )
    targets = torch.tensor([row or (0.0, 0.0, 0.0) for row in taught])
    learned = -(targets * F.log_softmax(logits, dim=1)).sum(dim=1)
    return (1 - parts) * own + parts * learned


def margin_losses(logits: Tensor, columns: Tensor, units: list[list[int]], margin: float) -> Tensor:
    """Return how far each supported claim is from beating each broken twin by the margin, in log odds.

    Args:
        logits: Logits of one batch.
        columns: Labels of the batch.
        units: Rows that are twins of one another.
        margin: Required difference.
    """
    better: list[int] = []
    worse: list[int] = []
    gold = columns.tolist()
    for unit in units:
        true = [row for row in unit if gold[row] == ENTAILS]
        broken = [row for row in unit if gold[row] != ENTAILS]
        better += [row for row in true for _ in broken]
        worse += broken * len(true)
    odds = support(logits)
    return F.relu(margin - (odds[better] - odds[worse]))


@dataclass
class TrainingRun:
    """A network in training, its data, and how far it has come."""

    config: FitConfig
    pairs: list[EncodedPair]
    plan: TrainingOrder
    network: CrossEncoder
    optimizer: Optimizer
    examples: int
    progress: FitProgress | None
    step: int = 0
    seen: int = 0
    averaged: int = 0
    average: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    tokenizer: Path = TOKENIZER

    @property
    def place(self) -> dict[str, Any]:
        """Counts that say how far the run is."""
        return {"step": self.step, "seen": self.seen, "averaged": self.averaged}

    def take(self, step: list[Batch]) -> None:
        """Take one step of the optimiser."""
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

    def logits(self, rows: Sequence[EncodedPair]) -> Tensor:
        """Return the network's output on the CPU: the losses are small, and need no accelerator."""
        with torch.autocast(self.network.device.type, torch.bfloat16, enabled=self.config.precision == "bf16"):
            return self.network(*padded([row.encoded for row in rows])).cpu()

    def _learn(self, batch: Batch, count: int) -> int:
        """Add a batch's share of the step's gradient. Return its number of tokens."""
        rows = [self.pairs[index] for unit in batch for index in unit]
        logits = self.logits(rows)
        columns = torch.tensor([row.column for row in rows])
        binary = torch.tensor([row.binary for row in rows])
        weights = torch.tensor([row.weight * (self.config.binary_weight if row.binary else 1.0) for row in rows])
        losses = label_losses(logits, columns, binary, self.config.label_smoothing)
        taught, labelled = [row.taught for row in rows], [row.labelled for row in rows]
        losses = taught_losses(logits, losses, taught, labelled, self.config.taught_share)
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
        """Write the tokenizer and the weights, averaged if averaging has begun."""
        self.network.save(folder, self.average or None)
        if self.network.shape.by_distance:
            write_tokenizer(TOKENIZER, folder)
        else:
            shutil.copyfile(self.tokenizer, folder / "tokenizer.json")


def make_optimizer(network: CrossEncoder, config: FitConfig) -> Optimizer:
    """Return AdamW with smaller rates for deeper layers, and no decay of norms and biases."""
    layers = network.shape.num_hidden_layers
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in network.named_parameters():
        if name.startswith("embeddings."):
            parameter.requires_grad_(not config.freeze_embeddings)
            depth = layers
        else:
            # What all layers share counts as the first layer: its gradient passes through all of them.
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


def prepare(data: Path, base: Path, config: FitConfig, device: str = "cpu") -> TrainingRun:
    """Read and encode the data and load the base. The run's length is set later.

    Raises:
        InputError: The data, the base or the device cannot be used.
    """
    # Checked first, before minutes are spent on encoding.
    place = torch_device(device)
    set_up(config.threads)
    torch.manual_seed(config.seed)
    labelled = read_pairs(data, config.exclude)
    tokenizer = tokenizer_of(base)
    encoder = Encoder(tokenizer, config.max_tokens)
    pairs = encode_pairs(encoder, labelled, config.weights)
    units = twin_units(labelled)
    rates = np.array([max(setting(config.rates, labelled[index]) for index in unit) for unit in units])
    lengths = np.array([len(pair) for pair in pairs])
    long = np.array([lengths[unit].max() > config.long_tokens for unit in units])
    rates = np.where(long, rates * config.long_rate, rates)
    plan = TrainingOrder(units, lengths, rates, config.batch_examples, config.batch_tokens, config.seed)
    if not plan.epoch_examples():
        raise InputError(f"expected a source with a rate above 0; found none in {data}. Correct the config's rates.")
    network = load_network(base, config.dropout, config.seed).to(place)
    if config.max_tokens > network.shape.max_position_embeddings:
        reads = network.shape.max_position_embeddings
        raise InputError(f"expected max_tokens of at most {reads}, the limit of {base}; found {config.max_tokens}")
    optimizer = make_optimizer(network, config)
    return TrainingRun(config, pairs, plan, network, optimizer, 0, None, tokenizer=tokenizer)


def examples_in(minutes: float, data: Path, options: RunOptions, config: FitConfig) -> int:
    """Estimate by a short trial how many pairs a run of this many minutes can train on."""
    trial = prepare(data, options.base, config, options.device)
    trial.examples = 10**9
    steps = list(zip(range(TRIAL_STEPS), trial.plan.steps(trial.examples), strict=False))
    trial.take(steps[0][1])
    before, started = trial.seen, time.monotonic()
    for _, step in steps[1:]:
        trial.take(step)
    speed = (trial.seen - before) / (time.monotonic() - started)
    return max(1, round(speed * minutes * 60))


def fit(run: TrainingRun, out: Path, every_minutes: float) -> None:
    """Train to the end with checkpoints, starting from the newest one."""
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
            trim_memory()
        for mark, name in thirds.items():
            if before < mark <= run.seen:
                run.save_model(out / name)
        if time.monotonic() - last >= every_minutes * 60:
            save_checkpoint(out, run.place, run.network, run.optimizer, run.average)
            last = time.monotonic()
    run.save_model(out / "model")


def run_training(
    options: RunOptions, config: FitConfig, data: Path, prepared: Callable[[int | None], TrainingRun], every: int = 50
) -> None:
    """Train: start a new run, or continue the unfinished one in the folder.

    Args:
        options: Where to write.
        config: The run's settings.
        data: The file with the pairs.
        prepared: Makes the run; called with the length of the run to resume, or None.
        every: Steps between log lines.

    Raises:
        InputError: The folder holds a finished run, or one with other settings.
    """
    out = options.out
    with only_one(out, ".lock", doing="trains in", other="run"):
        is_begun = (out / NAME).exists()
        run = prepared(read_manifest(out, config, data, options.base) if is_begun else None)
        if not is_begun:
            begin_manifest(options, config, data, run)
        run.progress = FitProgress(out / "log.jsonl", run.examples, every)
        fit(run, out, options.checkpoint_minutes)
        end_manifest(out, run.place)


def train_verifier(data: Path, options: RunOptions, config: FitConfig) -> None:
    """Fine-tune a verifier on labelled pairs: a file, or a folder with ``train.jsonl``.

    Raises:
        InputError: An input cannot be used, or the folder holds another run.
    """
    lengths = {"examples": options.examples, "epochs": options.epochs, "minutes": options.minutes}
    given = [name for name, value in lengths.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"expected one length of the run; found {' and '.join(given)}. Give only one.")
    file = data / "train.jsonl" if data.is_dir() else data

    def prepared(resumed: int | None) -> TrainingRun:
        examples = resumed or options.examples
        if examples is None and options.minutes:
            examples = examples_in(options.minutes, file, options, config)
        run = prepare(file, options.base, config, options.device)
        run.examples = examples or round((options.epochs or 1) * run.plan.epoch_examples())
        return run

    run_training(options, config, file, prepared)
