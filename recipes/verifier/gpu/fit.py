# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""One run on a GPU: train, say what the dev files say, judge the rows that others are to learn from.

The losses are those of ``vericite.lab.train.fit``; batches are larger, and nothing waits for the processor. Where a
teacher's probabilities are given, ``share`` of a labelled row's loss is the teacher's, and all of another's. An
encoder's run without a GPU takes hours, so its state is kept as it goes (``State``); begun again, it goes on there.
With ``minutes`` a run ends after that time instead of after ``visits`` rows, and its rate falls by the clock: a shared
processor trains as many rows as it can, and the rate still ends at 0.

To train a verifier further, use ``as_before``: that share of the loss of each earlier row is the distance to the
verifier's own logits before the run. If it is 1, only further rows (``arrays --more``) teach labels.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from gpu import CHOOSING
from gpu.arrays import Arrays
from gpu.networks import EncoderNet, LanguageJudge, load_base

NEUTRAL = 2
KEPT_EVERY = 180.0
"""Seconds between two writings of a run's state."""
JUDGED_TOKENS, JUDGED_ROWS = 65_536, 2048
BEFORE_TEMPERATURE = 2.0
"""Temperature of the logits from before the run, so that the order of unlikely labels counts too."""
LONGEST_JUDGED = 240
"""Tokens of a row that a language model judges: it is slow, and longer ones are few."""
DEFAULTS: dict[str, Any] = {
    "visits": 300_000, "learning_rate": 4e-4, "rows": 256, "tokens": 24_576, "seed": 1, "dropout": 0.0, "decay": 0.01,
    "warmup": 0.03, "average_from": 0.7, "margin_weight": 0.2, "smoothing": 0.05, "long": 128, "long_rate": 0.7,
    "share": 0.6, "longest": 512, "looks": [], "look_weight": 0.3, "offset": 0.0, "minutes": 0.0,
    "rates": {}, "frozen": 0, "as_before": 0.0,
}  # fmt: skip


def support(logits: Tensor) -> Tensor:
    """Log odds of entailment against the two other labels together."""
    return logits[:, 0] - torch.logsumexp(logits[:, 1:], 1)


def losses(arrays: Arrays, rows: Tensor, logits: Tensor, taught: Tensor | None, config: dict[str, Any]) -> Tensor:
    """One loss a row, by its label, by a teacher or by both."""
    label, smoothing = arrays.label[rows], config["smoothing"]
    three = F.cross_entropy(logits, label, reduction="none", label_smoothing=smoothing)
    entailed = (label == 0).float() * (1 - smoothing) + smoothing / 2
    two = F.binary_cross_entropy_with_logits(support(logits), entailed, reduction="none")
    own = torch.where(arrays.binary[rows], two, three)
    if taught is None:
        return own
    target = taught[rows]
    told = (target.sum(1) > 0.5).float()
    part = told * torch.where(arrays.labelled[rows], config["share"], 1.0)
    return (1 - part) * own - part * (target * F.log_softmax(logits, 1)).sum(1)


def margins(arrays: Arrays, rows: Tensor, logits: Tensor) -> Tensor:
    """How far supported claims fall short of standing 1 above their broken twins, added up."""
    twin, label, odds = arrays.twin[rows], arrays.label[rows], support(logits)
    pair = (twin[:, None] == twin[None]) & (twin[:, None] >= 0) & (label[:, None] == 0) & (label[None] != 0)
    return (F.relu(1.0 - (odds[:, None] - odds[None])) * pair).sum()


@torch.no_grad()
def predict(network: torch.nn.Module, arrays: Arrays, rows: NDArray[Any], half: bool = False) -> NDArray[np.float32]:
    """Logits of these rows, in their order; with ``half`` in 16 bits wherever the device computes in them."""
    network.eval()
    found = np.zeros((len(rows), 3), np.float32)
    order = np.argsort(arrays.lengths[rows], kind="stable")
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and stop - start < JUDGED_ROWS:
            if (stop + 1 - start) * arrays.lengths[rows[order[stop]]] > JUDGED_TOKENS:
                break
            stop += 1
        with halved(arrays.device) if half else torch.autocast(arrays.device, enabled=False):
            found[order[start:stop]] = network(*arrays.batch(rows[order[start:stop]])).float().cpu().numpy()
        start = stop
    return found


def softmax(logits: NDArray[Any]) -> NDArray[Any]:
    """Rows of probabilities."""
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def auc(scores: NDArray[Any], positive: NDArray[Any]) -> float:
    """The area under the curve, ties shared."""
    values, place = np.unique(scores, return_inverse=True)
    counts = np.bincount(place, minlength=len(values))
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    yes, no = int(positive.sum()), int((~positive).sum())
    return float("nan") if not yes or not no else (ranks[positive].sum() - yes * (yes + 1) / 2) / (yes * no)


def report(arrays: Arrays, probabilities: NDArray[Any], name: str) -> tuple[float, float]:
    """Print headline and AUC by dev file; gives the means of those that models are chosen by."""
    rows = arrays.dev
    label, binary, part = (values[rows] for values in (arrays.held["label"], arrays.held["binary"], arrays.part))
    chosen: list[tuple[float, float]] = []
    told: list[str] = []
    for file in sorted(set(part)):
        gold, said = label[part == file], probabilities[part == file]
        called = said.argmax(1)
        if len(set(gold)) == 1:
            headline = np.mean(called == gold)
        elif binary[part == file].any():
            headline = np.mean([((called == 0) == side)[(gold == 0) == side].mean() for side in (True, False)])
        else:
            shared = [
                2 * ((called == i) & (gold == i)).sum() / ((called == i).sum() + (gold == i).sum()) for i in set(gold)
            ]
            headline = np.mean(shared)
        area = auc(said[:, 0], gold == 0)
        told.append(f"{file[4:].removesuffix('_dev')} {headline:.3f}/{area:.3f}")
        if file[4:] in CHOOSING:
            chosen.append((float(headline), area))
    means = [float(np.mean(column)) for column in zip(*chosen, strict=True)] if chosen else [float("nan")] * 2
    sys.stdout.write(f"{name}: headline {means[0]:.4f}, AUC {means[1]:.4f}; {', '.join(told)}\n")
    return means[0], means[1]


def opened(base: Path, arrays: Arrays, config: dict[str, Any]) -> EncoderNet | LanguageJudge:
    """The network that starts from a packed base or from a language model's GGUF file."""
    if base.suffix == ".gguf":
        return LanguageJudge(base, arrays.held["language_words"], arrays.device)
    return load_base(base, config["dropout"], config["seed"], config["looks"], config["frozen"]).to(arrays.device)


class State:
    """Where a run was ended: weights, the optimiser's numbers, the mean so far, in one file of tensors.

    Args:
        path: The file.
        settings: What a run is of, and how it is made; one with others begins anew.
    """

    def __init__(self, path: Path, settings: str) -> None:
        self._path, self._settings = path, settings
        self._written = time.monotonic()

    def keep(
        self, trained: list[Tensor], optimizer: torch.optim.Optimizer, mean: Means, step: int, seconds: float
    ) -> None:
        """Write it, where the last time is long enough ago. ``seconds`` were trained so far, all starts together."""
        if time.monotonic() - self._written < KEPT_EVERY:
            return
        held: dict[str, Tensor] = {}
        for place, parameter in enumerate(trained):
            of_it = {"weight": parameter.detach(), **optimizer.state[parameter]}
            if mean.values is not None:
                of_it["mean"] = mean.values[place]
            held |= {f"{place}/{name}": value.contiguous() for name, value in of_it.items()}
        held |= {f"random/{name}": value for name, value in random_state().items()}
        part = self._path.with_suffix(".part")
        told = {"settings": self._settings, "step": step, "count": mean.count, "seconds": seconds}
        save_file(held, part, {name: str(value) for name, value in told.items()})
        os.replace(part, self._path)
        self._written = time.monotonic()

    def restore(self, trained: list[Tensor], optimizer: torch.optim.Optimizer, mean: Means) -> tuple[int, float]:
        """The steps that were done and the seconds that they took; 0 where there is nothing to go on with."""
        if not self._path.is_file():
            return 0, 0.0
        with safe_open(self._path, framework="pt") as file:
            told = file.metadata()
        if told["settings"] != self._settings:
            return 0, 0.0
        held = load_file(self._path)
        means: list[Tensor] = []
        for place, parameter in enumerate(trained):
            start = f"{place}/"
            own = {name.removeprefix(start): value for name, value in held.items() if name.startswith(start)}
            parameter.data.copy_(own.pop("weight"))
            means += [own.pop("mean").to(parameter.device)] if "mean" in own else []
            optimizer.state[parameter] = {name: value.to(parameter.device) for name, value in own.items()}
        torch.set_rng_state(held["random/cpu"])
        if "random/cuda" in held:
            torch.cuda.set_rng_state(held["random/cuda"])
        mean.values, mean.count = means or None, int(told["count"])
        return int(told["step"]), float(told["seconds"])


def weights_of_state(base: Path, path: Path, to: Path) -> None:
    """Weights of a run that has not ended: the mean so far, or the last ones before ``average_from``."""
    with safe_open(path, framework="pt") as file:
        config = json.loads(file.metadata()["settings"])[0]
    network = load_base(base, looks=config["looks"], frozen=config["frozen"])
    held = load_file(path)
    groups = network.groups(1.0, 0.0)
    trained = [parameter for group in groups for parameter in group["params"]]
    for place, parameter in enumerate(trained):
        parameter.data.copy_(held.get(f"{place}/mean", held[f"{place}/weight"]))
    save_weights(network, to)


def save_weights(network: EncoderNet, to: Path) -> None:
    """What was trained, in 16 bits."""
    trained = {key: value for key, value in network.state_dict().items() if not key.startswith(("word", "look"))}
    save_file({key: value.half().cpu().contiguous() for key, value in trained.items()}, to)


def random_state() -> dict[str, Tensor]:
    """Of the generators that dropout draws from."""
    own = {"cpu": torch.get_rng_state()}
    return own | {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else own


class Means:
    """The mean of weights as they were at some steps."""

    def __init__(self) -> None:
        self.values: list[Tensor] | None = None
        self.count = 0

    def add(self, trained: list[Tensor]) -> None:
        """One more."""
        self.count += 1
        if self.values is None:
            self.values = [parameter.detach().clone() for parameter in trained]
        else:
            torch._foreach_lerp_(self.values, [parameter.detach() for parameter in trained], 1.0 / self.count)


def digest(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def halved(device: str) -> torch.autocast:
    """Layers in 16 bits, where the device computes in them."""
    # Without the instructions 16 bits are slower than 32; older versions of torch do not tell.
    can = device == "cuda" or getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return torch.autocast(device, torch.bfloat16, enabled=can)


def as_it_was(network: EncoderNet | LanguageJudge, config: dict[str, Any]) -> EncoderNet | None:
    """Return a copy of the network before the run, if its logits are to be kept."""
    if not config["as_before"]:
        return None
    if not isinstance(network, EncoderNet):
        raise SystemExit("expected as_before 0 for a language model; leave it out of the config")
    return copy.deepcopy(network).eval().requires_grad_(False)


def begin_at(network: EncoderNet | LanguageJudge, start: Path | None, device: str) -> None:
    """Put the weights of another base into the network, if one is named."""
    if start is None:
        return
    weights = load_base(start).to(device).state_dict()
    if {name: value.shape for name, value in weights.items()} != {
        name: value.shape for name, value in network.state_dict().items()
    }:
        raise SystemExit(f"expected --start to have the layers and words of the base; found others in {start}")
    network.load_state_dict(weights)


def kept_loss(before: EncoderNet, network: EncoderNet, logits: Tensor, earlier: Tensor) -> Tensor:
    """Sum over rows of the distance to the logits from before the run."""
    assert network.below is not None
    hidden, mask = network.below
    with torch.no_grad(), halved(logits.device.type):
        said = before.above(hidden[earlier], mask[earlier]).float()
    target, found = (F.log_softmax(values / BEFORE_TEMPERATURE, 1) for values in (said, logits[earlier]))
    # The square keeps the gradients as large as those of labels.
    return BEFORE_TEMPERATURE**2 * F.kl_div(found, target, reduction="sum", log_target=True)


def total_loss(
    network: EncoderNet | LanguageJudge,
    arrays: Arrays,
    batch: NDArray[Any],
    taught: Tensor | None,
    config: dict[str, Any],
    before: EncoderNet | None = None,
) -> Tensor:
    """All losses of a batch, added up."""
    rows = torch.from_numpy(batch).to(arrays.device)
    with halved(arrays.device):
        logits = network(*arrays.batch(batch)).float()
    if before is not None and isinstance(network, EncoderNet):
        earlier, share = ~arrays.further[rows], config["as_before"]
        own = losses(arrays, rows, logits, taught, config) * (1 - share * earlier.float())
        new = rows[~earlier]
        kept = kept_loss(before, network, logits, earlier) if bool(earlier.any()) else 0.0
        return own.sum() + share * kept + config["margin_weight"] * margins(arrays, new, logits[~earlier])
    guesses = network.guesses if isinstance(network, EncoderNet) else []
    total = losses(arrays, rows, logits, taught, config).sum()
    total = total + config["margin_weight"] * margins(arrays, rows, logits)
    looked = [losses(arrays, rows, guess, taught, config).sum() for guess in guesses]
    return total + config["look_weight"] * sum(looked)


def done_share(config: dict[str, Any], seen: int, seconds: float) -> float:
    """How much of a run is done, by its rows or, where it has so many minutes, by the clock."""
    by_clock = seconds / (60 * config["minutes"]) if config["minutes"] else 0.0
    return max(seen / config["visits"], by_clock)


def set_rate(optimizer: torch.optim.Optimizer, share: float, rising: float) -> None:
    """Rates of learning rise to their full height and then fall to 0, in a straight line each."""
    factor = share / rising if share < rising else (1 - share) / (1 - rising)
    for group in optimizer.param_groups:
        group["lr"] = group["full"] * factor


def train(
    network: EncoderNet | LanguageJudge,
    arrays: Arrays,
    config: dict[str, Any],
    taught: Tensor | None,
    say: Callable[[str], None],
    state: State | None = None,
    start: Path | None = None,
) -> None:
    """Train to the end, from where ``state`` was ended; encoders end with the mean of their last weights.

    With ``start`` the run begins at other weights than those whose logits it keeps (``as_before``).
    """
    rates = arrays.rates(config["rates"], config["long"], config["long_rate"])
    before = as_it_was(network, config)
    begin_at(network, start, arrays.device)
    if taught is None and config["as_before"] < 1:
        rates = np.where(arrays.part == "pool", 0.0, rates)
    steps = arrays.order(rates, config["visits"], config["seed"], config["rows"], config["tokens"])
    groups = network.groups(config["learning_rate"], config["decay"])
    trained = [parameter for group in groups for parameter in group["params"]]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=arrays.device == "cuda")
    mean = Means()
    done, before_seconds = state.restore(trained, optimizer, mean) if state else (0, 0.0)
    first = seen = sum(map(len, steps[:done]))
    if done:
        say(f"going on after {seen:,} rows")
    started = time.monotonic()
    network.train()
    for number, batch in enumerate(steps[done:], done):
        seconds = before_seconds + time.monotonic() - started
        share = done_share(config, seen, seconds)
        if share >= 1:
            break
        set_rate(optimizer, share, config["warmup"])
        total = total_loss(network, arrays, batch, taught, config, before)
        optimizer.zero_grad(set_to_none=True)
        (total / len(batch)).backward()
        clip_grad_norm_(trained, 1.0, foreach=True)
        optimizer.step()
        seen += len(batch)
        # A language model's mean would take as much memory again.
        if share >= config["average_from"] and number % 5 == 0 and isinstance(network, EncoderNet):
            mean.add(trained)
        if state:
            state.keep(trained, optimizer, mean, number + 1, seconds)
        if number % 200 == 0:
            speed = (seen - first) / (time.monotonic() - started)
            say(f"{seen:,} of {config['visits']:,} rows, {speed:.0f}/s, loss {float(total.detach()) / len(batch):.3f}")
    if mean.values is not None:
        for parameter, value in zip(trained, mean.values, strict=True):
            parameter.data.copy_(value)
    say(f"{seen:,} rows in {time.monotonic() - started:.0f} s")


def carry_out(
    data: Path,
    base: Path,
    config_file: Path | None,
    name: str,
    out: Path,
    taught: Path | None,
    label: str,
    start: Path | None = None,
) -> None:
    """One run: OUT gets an encoder's weights and what it says of dev; and, where asked, what it says of other rows."""
    given = json.loads(config_file.read_text(encoding="utf-8")) if config_file else {}
    if unknown := given.keys() - DEFAULTS.keys():
        raise SystemExit(f"expected a config with any of {', '.join(DEFAULTS)}; found {', '.join(sorted(unknown))}")
    config = DEFAULTS | given
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(config["seed"])
    arrays = Arrays(data, "language" if base.suffix == ".gguf" else "encoder", config["longest"], device)
    network = opened(base, arrays, config)
    if config["offset"] and isinstance(network, LanguageJudge):
        raise SystemExit("expected offset 0 for a language model: its layer is not changed; leave it out of the config")
    out.mkdir(parents=True, exist_ok=True)
    read = [digest(path) for path in (base, taught, start) if path]
    settings = json.dumps([config, bytes(arrays.held["pairs_sha256"]).hex(), *read])
    state = State(out / f"{name}.state", settings) if isinstance(network, EncoderNet) else None
    targets = torch.from_numpy(np.load(taught)).to(device).float() if taught else None
    train(network, arrays, config, targets, lambda text: sys.stderr.write(f"{name}: {text}\n"), state, start)
    if isinstance(network, LanguageJudge) and device == "cuda":
        network.halve()
    if isinstance(network, EncoderNet):
        save_weights(network, out / f"{name}.safetensors")
    logits = predict(network, arrays, arrays.dev, half=True)
    report(arrays, softmax(logits), name)
    if config["offset"]:
        less = round(config["offset"] * neutral_offset(arrays, logits), 2)
        network.classifier.bias.data[NEUTRAL] -= less
        logits[:, NEUTRAL] -= less
        report(arrays, softmax(logits), f"{name}, neutral less {less}")
    np.savez(out / f"{name}.dev.npz", rows=arrays.dev, logits=logits)
    if isinstance(network, EncoderNet):
        save_weights(network, out / f"{name}.safetensors")
        (out / f"{name}.state").unlink(missing_ok=True)
    if label:
        rows = np.flatnonzero(np.isin(arrays.part, label.split(",")))
        if isinstance(network, LanguageJudge):
            rows = rows[arrays.lengths[rows] <= LONGEST_JUDGED]
            written = np.char.startswith(arrays.kind[rows].astype(str), "written") & (arrays.part[rows] == "train")
            # Of claims that were written with their labels in mind, a quarter.
            rows = rows[~written | (rows % 4 == 0)]
        np.savez(out / f"{name}.said.npz", rows=rows, logits=predict(network, arrays, rows, half=True))


def report_shares(data: Path, base: Path, weights: Path, shares: list[float]) -> None:
    """Print dev scores of a base and a run from it, their weights mixed in these shares."""
    arrays = Arrays(data, "encoder", DEFAULTS["longest"], "cuda" if torch.cuda.is_available() else "cpu")
    network = load_base(base)
    mixed = {share: mix_of(network, weights, share) for share in shares}
    network.to(arrays.device)
    for share, state in mixed.items():
        network.load_state_dict(state)
        report(arrays, softmax(predict(network, arrays, arrays.dev, half=True)), f"{share:g} of the run")


def mix_of(network: torch.nn.Module, weights: Path, share: float) -> dict[str, torch.Tensor]:
    """Return the weights of a base, moved by this share towards those of a run from it."""
    last = {name: value.float() for name, value in load_file(weights).items()}
    return {name: value.lerp(last.get(name, value), share) for name, value in network.state_dict().items()}


def write_mix(base: Path, weights: Path, share: float, to: Path) -> None:
    """Write a base and a run from it, mixed in this share, in the form of a run's weights."""
    named = load_file(weights)
    mixed = mix_of(load_base(base), weights, share)
    save_file({name: mixed[name].to(value.dtype).contiguous() for name, value in named.items()}, to)


def loss_of(probabilities: NDArray[Any], arrays: Arrays) -> float:
    """Negative log likelihood of the dev files that models are chosen by, weighed alike."""
    rows = arrays.dev
    label, binary, part = (values[rows] for values in (arrays.held["label"], arrays.held["binary"], arrays.part))
    found: list[float] = []
    for file in CHOOSING:
        here = part == f"dev:{file}"
        said, gold = probabilities[here], label[here]
        entailed = np.where(gold == 0, said[:, 0], 1 - said[:, 0])
        right = np.where(binary[here], entailed, said[np.arange(len(gold)), gold])
        found += [-np.log(np.clip(right, 1e-6, 1)).mean()] if here.any() else []
    return float(np.mean(found))


def neutral_offset(arrays: Arrays, logits: NDArray[Any]) -> float:
    """What the logit of neutral is to lose: how often that is the answer differs between the mix and dev.

    The dev loss of pairs is the least at this offset and a temperature, which is fitted again once the weights are
    packed. A config's ``offset`` is the share of it that is taken: a document supports a claim if one of its sentences
    does, so whole documents ask for less than pairs. ``vericite.evaluate.calibration`` fits the like; this folder
    travels without the package.
    """
    tried = [(less, temperature) for less in np.arange(-1, 2.01, 0.1) for temperature in np.arange(0.6, 3, 0.1)]

    def loss(pair: tuple[float, float]) -> float:
        shifted = logits.copy()
        shifted[:, NEUTRAL] -= pair[0]
        return loss_of(softmax(shifted / pair[1]), arrays)

    return float(min(tried, key=loss)[0])


Said = tuple[NDArray[Any], NDArray[Any], float]
"""Rows, probabilities of them, and what their teacher counts."""


def targets(count: int, said: list[Said]) -> NDArray[np.float16]:
    """The weighted mean of what was said of each row; nothing but 0 where nobody said anything."""
    total, weights = np.zeros((count, 3), np.float32), np.zeros(count, np.float32)
    for rows, probabilities, weight in said:
        total[rows] += weight * probabilities
        weights[rows] += weight
    told = weights > 0
    total[told] /= weights[told][:, None]
    return total.astype(np.float16)


def mean_of(data: Path, out: Path, teachers: list[str], to: Path) -> None:
    """The weighted mean of what teachers said, each at the temperature that suits dev; ``teachers`` are NAME:WEIGHT."""
    arrays = Arrays(data, "encoder", 512, "cpu")
    found: list[Said] = []
    dev = np.zeros((len(arrays.dev), 3))
    for name, weight in map(named, teachers):
        logits = np.load(out / f"{name}.dev.npz")["logits"]
        temperature = min(np.arange(0.6, 3, 0.1), key=lambda value: loss_of(softmax(logits / value), arrays))
        dev += weight * softmax(logits / temperature)
        said = np.load(out / f"{name}.said.npz")
        found.append((said["rows"], softmax(said["logits"] / temperature), weight))
        sys.stdout.write(f"{name}: temperature {temperature:.1f}\n")
    report(arrays, dev / dev.sum(1, keepdims=True), "mean")
    np.save(to, targets(len(arrays.part), found))


def kept(data: Path, said: Path, teachers: list[str], to: Path) -> None:
    """The same of what ``said.npz`` has: probabilities of entails and contradicts in 255ths, at temperature 1."""
    held, pairs = np.load(said), np.load(data)
    if bytes(held["pairs_sha256"]) != bytes(pairs["pairs_sha256"]):
        raise SystemExit(f"expected the pairs that {said} is of; {data} has others. Make that mix and pool.")
    found: list[Said] = []
    for name, weight in map(named, teachers):
        two = held[name].astype(np.float32) / 255
        third = np.clip(1 - two.sum(1, keepdims=True), 0, 1)
        found.append((np.cumsum(held[f"{name}_rows"]), np.concatenate([two, third], 1), weight))
    np.save(to, targets(len(pairs["label"]), found))


def named(teacher: str) -> tuple[str, float]:
    """NAME:WEIGHT, told apart."""
    name, weight = teacher.rsplit(":", 1)
    return name, float(weight)
