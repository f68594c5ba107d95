"""Fit a head over sets of sources (``vericite.attribution.learned``): what ``vericite train attribution`` does.

First comes what takes long: the bundled verifier and embedder read every example, a line of numbers each, in OUT. A run
that was ended goes on there. Fitting takes seconds: numpy, one core, the same weights from the same seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vericite.attribution.features import FEATURES, FeatureMaker
from vericite.attribution.learned import HEAD, Head, Member, PairRule, chosen, logits_of, standardized
from vericite.disk.files import write_whole
from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError
from vericite.models.embedder import Embedder
from vericite.models.folder import TrainingSet
from vericite.records import Record, to_json
from vericite.train.examples import AttributionExample, TrainConfig, read_examples, refuse_shared
from vericite.verify.judges.bundled import BundledJudge

Floats = NDArray[np.float64]

EXAMPLES_AT_ONCE = 32
NUMBERS = "numbers.jsonl"


class HeadConfig(TrainConfig):
    """A head's choices; its data come from the command line.

    Attributes:
        members: Networks whose outputs are averaged.
        width: Hidden units.
        epochs: Over each of the two sets, at most.
        patience: Epochs without a better development set after which a stage ends.
        decay: How much weights are drawn to 0.
        dropout: Of the features, while fitting.
        share: Of the data of the first stage, by group.
        then_share: Of the second's.
        threshold: Probability from which a source is cited; None is the best on the development set.
        pair: When two sources are cited of which neither suffices; None for never.
        seed: Of all chance.
    """

    members: int = Field(default=5, ge=1, le=50)
    width: int = Field(default=16, ge=1, le=256)
    epochs: int = Field(default=60, ge=1)
    patience: int = Field(default=8, ge=1)
    batch: int = Field(default=64, ge=1)
    learning_rate: float = Field(default=3e-3, gt=0)
    then_learning_rate: float = Field(default=1e-3, gt=0)
    decay: float = Field(default=0.05, ge=0)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    share: float = Field(default=1.0, ge=0, le=1)
    then_share: float = Field(default=1.0, ge=0, le=1)
    threshold: float | None = Field(default=None, ge=0, le=1)
    pair: PairRule | None = None
    seed: int = 0


class Numbers(Record):
    """What is known of an example's sources, a row each."""

    key: str
    rows: tuple[tuple[float, ...], ...]
    places: tuple[int, ...]


def key_of(example: AttributionExample) -> str:
    """What an example's numbers hang on: its words."""
    told = [example.sentence, *([source.title, source.text] for source in example.sources)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Example:
    """An example as the head learns from it."""

    inputs: Floats
    wanted: Floats
    known: Floats
    group: str
    places: tuple[int, ...]
    lost: int
    weight: float = 1.0


class NumberStore:
    """Numbers of examples, kept in a file as they are made."""

    def __init__(self, path: Path, maker: FeatureMaker) -> None:
        self._lines = Lines(path, Numbers)
        self._maker = maker
        self._known = {one.key: one for one in self._lines.read()}

    def add(self, examples: Iterable[AttributionExample], tell: Callable[[int], None] = lambda _: None) -> None:
        """Read what was not read yet."""
        waiting = list({key_of(it): it for it in examples if key_of(it) not in self._known}.items())
        for start in range(0, len(waiting), EXAMPLES_AT_ONCE):
            some = waiting[start : start + EXAMPLES_AT_ONCE]
            found: list[Numbers] = []
            for (key, _), known in zip(some, self._maker.of([it.answer for _, it in some]), strict=True):
                rows = tuple(tuple(round(float(value), 4) for value in row) for row in known[0].values)
                found.append(Numbers(key=key, rows=rows, places=known[0].places))
            self._lines.append(found)
            self._known |= {one.key: one for one in found}
            tell(start + len(some))

    def of(self, example: AttributionExample) -> Example:
        """An example with its numbers."""
        numbers = self._known[key_of(example)]
        wanted = np.array([float(place + 1 in example.supports) for place in numbers.places])
        known = np.array([float(place + 1 not in example.unknown) for place in numbers.places])
        inputs = np.array(numbers.rows, dtype=np.float64).reshape(len(numbers.places), len(FEATURES))
        lost = len(set(example.supports) - {place + 1 for place in numbers.places})
        return Example(inputs, wanted, known, example.group or example.id, numbers.places, lost, example.weight)


@dataclass
class Batch:
    """Examples side by side; rows that are none have the mask 0."""

    inputs: Floats
    mask: Floats
    wanted: Floats
    weight: Floats

    @classmethod
    def of(cls, examples: Sequence[Example], mean: Floats, scale: Floats) -> Self:
        """Padded to the largest set."""
        most = max(len(it.inputs) for it in examples)
        shape = len(examples), most
        inputs = np.zeros((*shape, len(mean)))
        mask, wanted, weight = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for row, it in enumerate(examples):
            count = len(it.inputs)
            inputs[row, :count] = standardized(it.inputs, mean, scale)
            mask[row, :count] = 1
            wanted[row, :count] = it.wanted
            weight[row, :count] = it.known * it.weight
        return cls(inputs, mask, wanted, weight)


Weights = dict[str, Floats]


def begun(inputs: int, width: int, dice: np.random.Generator) -> Weights:
    """Weights before anything is learnt."""

    def drawn(high: int, wide: int) -> Floats:
        return dice.normal(0, 1 / np.sqrt(high), (high, wide))

    beside = inputs + 3 * width
    return {
        "first": drawn(inputs, width),
        "first_bias": np.zeros(width),
        "second": drawn(beside, width),
        "second_bias": np.zeros(width),
        "last": dice.normal(0, 1 / np.sqrt(width), width),
        "direct": np.zeros(inputs),
        "bias": np.array(-1.0),
    }


def loss_and_gradients(weights: Weights, batch: Batch) -> tuple[float, Weights]:
    """Cross-entropy of the labels that are known, and its gradients; ``learned.logits_of`` for many sets at once."""
    inputs, mask = batch.inputs, batch.mask[..., None]
    width = weights["first"].shape[1]
    hidden = np.tanh(inputs @ weights["first"] + weights["first_bias"])
    shown = np.where(mask > 0, hidden, -np.inf)
    top = shown.argmax(axis=1)
    most = np.take_along_axis(hidden, top[:, None, :], axis=1)
    counts = np.maximum(batch.mask.sum(axis=1), 1)[:, None, None]
    mean = (hidden * mask).sum(axis=1, keepdims=True) / counts
    whole = np.broadcast_to(np.concatenate([most, mean], axis=2), (*hidden.shape[:2], 2 * width))
    beside = np.concatenate([inputs, hidden, whole], axis=2)
    deep = np.tanh(beside @ weights["second"] + weights["second_bias"])
    logits = deep @ weights["last"] + inputs @ weights["direct"] + weights["bias"]
    odds = (1 + np.tanh(logits / 2)) / 2
    total = max(float(batch.weight.sum()), 1e-9)
    # log(1 + exp(x)) - y x, without overflow.
    losses = np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits))) - batch.wanted * logits
    loss = float((losses * batch.weight).sum() / total)
    slope = (odds - batch.wanted) * batch.weight / total
    into_deep = slope[..., None] * weights["last"] * (1 - deep**2)
    into_beside = into_deep @ weights["second"].T
    wide = inputs.shape[2]
    into_hidden = into_beside[..., wide : wide + width]
    into_whole = into_beside[..., wide + width :].sum(axis=1, keepdims=True)
    into_hidden = into_hidden + into_whole[..., width:] / counts * mask
    spread = np.zeros_like(hidden)
    np.put_along_axis(spread, top[:, None, :], into_whole[..., :width], axis=1)
    into_first = (into_hidden + spread) * (1 - hidden**2)
    return loss, {
        "first": np.einsum("nki,nkh->ih", inputs, into_first),
        "first_bias": into_first.sum(axis=(0, 1)),
        "second": np.einsum("nki,nkh->ih", beside, into_deep),
        "second_bias": into_deep.sum(axis=(0, 1)),
        "last": np.einsum("nk,nkh->h", slope, deep),
        "direct": np.einsum("nk,nki->i", slope, inputs),
        "bias": slope.sum(),
    }


@dataclass
class Adam:
    """The optimiser, with weights drawn to 0 apart from the gradient."""

    rate: float
    decay: float

    def __post_init__(self) -> None:
        self._first: Weights = {}
        self._second: Weights = {}
        self._step = 0

    def step(self, weights: Weights, gradients: Weights) -> None:
        """Move the weights."""
        self._step += 1
        for name, gradient in gradients.items():
            first = self._first[name] = 0.9 * self._first.get(name, 0.0) + 0.1 * gradient
            second = self._second[name] = 0.999 * self._second.get(name, 0.0) + 0.001 * gradient**2
            moved = first / (1 - 0.9**self._step) / (np.sqrt(second / (1 - 0.999**self._step)) + 1e-8)
            drawn = 0.0 if "bias" in name else self.decay
            weights[name] = weights[name] - self.rate * (moved + drawn * weights[name])


def fitted(
    stages: Sequence[tuple[Sequence[Example], float]],
    dev: Sequence[Example],
    config: HeadConfig,
    mean: Floats,
    scale: Floats,
    seed: int,
) -> Weights:
    """One network: the stages one after the other, each as long as it helps on ``dev``."""
    dice = np.random.default_rng([config.seed, seed])
    weights = begun(len(mean), config.width, dice)
    held = Batch.of(dev, mean, scale)
    for examples, rate in stages:
        if examples:
            weights = _stage(weights, examples, held, replace_rate(config, rate), (mean, scale), dice)
    return weights


def replace_rate(config: HeadConfig, rate: float) -> HeadConfig:
    """The config at another rate."""
    return config.model_copy(update={"learning_rate": rate})


def _stage(
    weights: Weights,
    examples: Sequence[Example],
    held: Batch,
    config: HeadConfig,
    spread: tuple[Floats, Floats],
    dice: np.random.Generator,
) -> Weights:
    optimiser = Adam(config.learning_rate, config.decay)
    best, since = {name: value.copy() for name, value in weights.items()}, 0
    least = loss_and_gradients(weights, held)[0]
    for _ in range(config.epochs):
        order: list[int] = dice.permutation(len(examples)).tolist()
        for start in range(0, len(order), config.batch):
            batch = Batch.of([examples[place] for place in order[start : start + config.batch]], *spread)
            if config.dropout:
                kept = dice.random((len(batch.inputs), 1, batch.inputs.shape[2])) >= config.dropout
                batch = replace(batch, inputs=batch.inputs * kept)
            optimiser.step(weights, loss_and_gradients(weights, batch)[1])
        loss = loss_and_gradients(weights, held)[0]
        if loss < least - 1e-5:
            least, since, best = loss, 0, {name: value.copy() for name, value in weights.items()}
        else:
            since += 1
            if since >= config.patience:
                break
    return best


def member_of(weights: Weights) -> Member:
    """A network as it is written."""
    rounded = {name: np.asarray(value).round(5).tolist() for name, value in weights.items()}
    return Member.model_validate_json(json.dumps(rounded))


@dataclass(frozen=True)
class HeadFigures:
    """How well sources are cited."""

    f1: float
    exact: float
    precision: float
    recall: float


def figures(chosen: Iterable[frozenset[int]], wanted: Iterable[frozenset[int]]) -> HeadFigures:
    """As ``CitationF1`` and its like have them: the mean over sentences; one that rightly cites nothing has 1."""
    rows: list[tuple[float, float, float, float]] = []
    for own, gold in zip(chosen, wanted, strict=True):
        right = len(own & gold)
        empty = float(not own and not gold)
        rows.append(
            (
                2 * right / (len(own) + len(gold)) if own or gold else 1.0,
                float(own == gold),
                right / len(own) if own else empty,
                right / len(gold) if gold else empty,
            )
        )
    return HeadFigures(*(float(value) for value in np.mean(rows, axis=0)))


def cited_by(probabilities: Floats, threshold: float) -> frozenset[int]:
    """The rows that reach a threshold."""
    return frozenset(int(place) for place in np.flatnonzero(probabilities >= threshold))


def best_threshold(probabilities: Sequence[Floats], wanted: Sequence[frozenset[int]]) -> float:
    """The one with the highest F1; of equal ones the one in the middle."""
    steps = np.round(np.arange(0.05, 0.96, 0.01), 2)
    values = [figures((cited_by(it, step) for it in probabilities), wanted).f1 for step in steps]
    top = [float(step) for step, value in zip(steps, values, strict=True) if value >= max(values) - 1e-9]
    return top[len(top) // 2]


def gold_of(example: Example) -> frozenset[int]:
    """The rows that support it."""
    return frozenset(int(place) for place in np.flatnonzero(example.wanted * example.known > 0))


def shared(examples: Sequence[Example], share: float, seed: int) -> list[Example]:
    """A share of the examples, whole groups, the same for the same seed; a larger share has the smaller one in it."""
    if share >= 1:
        return list(examples)

    def draw(group: str) -> float:
        return int.from_bytes(hashlib.blake2b(f"{seed}|{group}".encode(), digest_size=8).digest()) / 2**64

    return [it for it in examples if draw(it.group) < share]


def fit_head(
    first: Sequence[Example], then: Sequence[Example], dev: Sequence[Example], config: HeadConfig
) -> tuple[list[Member], Floats, Floats, float, HeadFigures]:
    """The networks, the features' mean and scale, the threshold and what it reaches on ``dev``.

    Raises:
        InputError: There is nothing to learn from, or nothing to choose by.
    """
    stages = [
        (shared(first, config.share, config.seed), config.learning_rate),
        (shared(then, config.then_share, config.seed), config.then_learning_rate),
    ]
    used = [it for examples, _ in stages for it in examples if len(it.inputs)]
    held = [it for it in dev if len(it.inputs)]
    if not used or not held:
        raise InputError("expected examples to learn from and examples to choose by; found none. Give more.")
    rows = np.concatenate([it.inputs for it in used])
    mean: Floats = rows.mean(axis=0).round(5)
    scale: Floats = np.maximum(rows.std(axis=0), 1e-3).round(5)
    weights = [fitted(stages, held, config, mean, scale, seed) for seed in range(config.members)]
    members = [member_of(it) for it in weights]
    probabilities = [odds(members, it, mean, scale) for it in held]
    wanted = [gold_of(it) for it in held]
    threshold = config.threshold if config.threshold is not None else best_threshold(probabilities, wanted)
    cited = (chosen(it, one.inputs, threshold, config.pair) for it, one in zip(probabilities, held, strict=True))
    return members, mean, scale, threshold, figures(cited, wanted)


def odds(members: Sequence[Member], example: Example, mean: Floats, scale: Floats) -> Floats:
    """How likely each source supports the sentence."""
    inputs = standardized(example.inputs, mean, scale)
    logits = np.mean([logits_of(member.arrays, inputs) for member in members], axis=0)
    return (1 + np.tanh(logits / 2)) / 2


@dataclass(frozen=True)
class HeadRun:
    """What a head is made from and where it is written.

    Attributes:
        data: Examples of the first stage.
        then: Examples of the second, such as those of one's own domain.
        dev: Examples that choose; none of them may be among the others.
        out: The folder.
        name: What the head is called.
    """

    data: tuple[Path, ...]
    dev: Path
    out: Path
    then: tuple[Path, ...] = ()
    name: str = "set-head"


def train_head(run: HeadRun, config: HeadConfig, tell: Callable[[int], None] = lambda _: None) -> Head:
    """Read the examples with the bundled models, fit a head and write it to ``OUT/head.json``.

    Raises:
        InputError: The data cannot be read, dev examples are among them, or OUT is of another run.
    """
    files = {"data": run.data, "then": run.then, "dev": (run.dev,)}
    read = {name: read_examples(paths) if paths else [] for name, paths in files.items()}
    refuse_shared(read["dev"], [*read["data"], *read["then"]])
    maker = FeatureMaker(BundledJudge(), Embedder.shared())
    hashes = {name: [_hash(path) for path in paths] for name, paths in files.items()}
    settings = {"config": config.model_dump(mode="json"), "made_by": maker.signature, "files": hashes, "name": run.name}
    job = Job.in_folder(run.out, settings, "a head")
    with job.open():
        store = NumberStore(run.out / NUMBERS, maker)
        every = [example for examples in read.values() for example in examples]
        store.add(every, tell)
        parts = {name: [store.of(example) for example in examples] for name, examples in read.items()}
        members, mean, scale, threshold, reached = fit_head(parts["data"], parts["then"], parts["dev"], config)
        head = Head(
            name=run.name,
            version="1",
            made_by=maker.signature,
            features=FEATURES,
            mean=tuple(mean.tolist()),
            scale=tuple(scale.tolist()),
            members=tuple(members),
            threshold=threshold,
            pair=config.pair,
            training=tuple(_sets(read["data"] + read["then"])),
            scores={
                "dev citation F1": round(reached.f1, 4),
                "dev exact match": round(reached.exact, 4),
                "dev sentences": float(len(parts["dev"])),
            },
        )
        write_whole(run.out / HEAD, [to_json(head) + "\n"])
        job.note({"finished": True, "examples": {name: len(it) for name, it in parts.items()}, "scores": head.scores})
    return head


def _sets(examples: Sequence[AttributionExample]) -> Iterator[TrainingSet]:
    for name in dict.fromkeys(it.made_from or "data without a name" for it in examples):
        yield TrainingSet(name=name, licence="as its owner says")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
