"""Train a head over sets of sources (``vericite.attribution.learned``): ``vericite train attribution``.

The slow part comes first: the bundled verifier and embedder read every example and write a line of numbers to OUT. An
interrupted run continues there. Fitting takes seconds (numpy, one core); the same seed gives the same weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vericite.attribution.features import FEATURES, FeatureMaker
from vericite.attribution.learned import HEAD, Head, Member, chosen, logits_of, standardized
from vericite.disk.files import write_whole
from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError, Problems
from vericite.lab.train.configs import HeadConfig
from vericite.lab.train.examples import AttributionExample, file_hash, refuse_shared
from vericite.lab.train.source_sets import read_examples
from vericite.models.embedder import Embedder
from vericite.models.folder import TrainingSet
from vericite.records import Record, to_json
from vericite.verify.judges.bundled import BundledJudge

Floats = NDArray[np.float64]

EXAMPLES_AT_ONCE = 32
NUMBERS = "numbers.jsonl"


class Numbers(Record):
    """Features of an example's sources, one row each."""

    key: str
    rows: tuple[tuple[float, ...], ...]
    places: tuple[int, ...]


def key_of(example: AttributionExample) -> str:
    """Return a hash of the example's text."""
    content = [example.sentence, *([source.title, source.text] for source in example.sources)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Example:
    """An example in the form that the head learns from."""

    inputs: Floats
    wanted: Floats
    known: Floats
    group: str
    places: tuple[int, ...]
    lost: int
    weight: float = 1.0


class NumberStore:
    """Keeps the features of examples in a file."""

    def __init__(self, path: Path, maker: FeatureMaker) -> None:
        self._lines = Lines(path, Numbers)
        self._maker = maker
        self._known = {numbers.key: numbers for numbers in self._lines.read()}

    def add(self, examples: Iterable[AttributionExample], report: Callable[[int], None] = lambda _: None) -> None:
        """Compute the features of new examples."""
        waiting = list({key_of(example): example for example in examples if key_of(example) not in self._known}.items())
        for start in range(0, len(waiting), EXAMPLES_AT_ONCE):
            some = waiting[start : start + EXAMPLES_AT_ONCE]
            found: list[Numbers] = []
            for (key, _), known in zip(some, self._maker.of([example.answer for _, example in some]), strict=True):
                rows = tuple(tuple(round(float(value), 4) for value in row) for row in known[0].values)
                found.append(Numbers(key=key, rows=rows, places=known[0].places))
            self._lines.append(found)
            self._known |= {numbers.key: numbers for numbers in found}
            report(start + len(some))

    def of(self, example: AttributionExample) -> Example:
        """Return an example with its features."""
        numbers = self._known[key_of(example)]
        wanted = np.array([float(place + 1 in example.supports) for place in numbers.places])
        known = np.array([float(place + 1 not in example.unknown) for place in numbers.places])
        inputs = np.array(numbers.rows, dtype=np.float64).reshape(len(numbers.places), len(FEATURES))
        lost = len(set(example.supports) - {place + 1 for place in numbers.places})
        return Example(inputs, wanted, known, example.group or example.id, numbers.places, lost, example.weight)


@dataclass
class Batch:
    """Examples of one batch. Rows of padding have mask 0."""

    inputs: Floats
    mask: Floats
    wanted: Floats
    weight: Floats

    @classmethod
    def of(cls, examples: Sequence[Example], mean: Floats, scale: Floats) -> Self:
        """Pad to the largest set."""
        most = max(len(example.inputs) for example in examples)
        shape = len(examples), most
        inputs = np.zeros((*shape, len(mean)))
        mask, wanted, weight = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for row, example in enumerate(examples):
            count = len(example.inputs)
            inputs[row, :count] = standardized(example.inputs, mean, scale)
            mask[row, :count] = 1
            wanted[row, :count] = example.wanted
            weight[row, :count] = example.known * example.weight
        return cls(inputs, mask, wanted, weight)


Weights = dict[str, Floats]


def initial_weights(inputs: int, width: int, generator: np.random.Generator) -> Weights:
    """Return random weights."""

    def drawn(high: int, wide: int) -> Floats:
        return generator.normal(0, 1 / np.sqrt(high), (high, wide))

    joined = inputs + 3 * width
    return {
        "first": drawn(inputs, width),
        "first_bias": np.zeros(width),
        "second": drawn(joined, width),
        "second_bias": np.zeros(width),
        "last": generator.normal(0, 1 / np.sqrt(width), width),
        "direct": np.zeros(inputs),
        "bias": np.array(-1.0),
    }


def loss_and_gradients(weights: Weights, batch: Batch) -> tuple[float, Weights]:
    """Return the cross-entropy of the known labels and its gradients: ``learned.logits_of`` for many sets at once."""
    inputs, mask = batch.inputs, batch.mask[..., None]
    width = weights["first"].shape[1]
    hidden = np.tanh(inputs @ weights["first"] + weights["first_bias"])
    shown = np.where(mask > 0, hidden, -np.inf)
    top = shown.argmax(axis=1)
    most = np.take_along_axis(hidden, top[:, None, :], axis=1)
    counts = np.maximum(batch.mask.sum(axis=1), 1)[:, None, None]
    mean = (hidden * mask).sum(axis=1, keepdims=True) / counts
    whole = np.broadcast_to(np.concatenate([most, mean], axis=2), (*hidden.shape[:2], 2 * width))
    joined = np.concatenate([inputs, hidden, whole], axis=2)
    deep = np.tanh(joined @ weights["second"] + weights["second_bias"])
    logits = deep @ weights["last"] + inputs @ weights["direct"] + weights["bias"]
    odds = (1 + np.tanh(logits / 2)) / 2
    total = max(float(batch.weight.sum()), 1e-9)
    # log(1 + exp(x)) - y x, without overflow.
    losses = np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits))) - batch.wanted * logits
    loss = float((losses * batch.weight).sum() / total)
    slope = (odds - batch.wanted) * batch.weight / total
    into_deep = slope[..., None] * weights["last"] * (1 - deep**2)
    into_joined = into_deep @ weights["second"].T
    wide = inputs.shape[2]
    into_hidden = into_joined[..., wide : wide + width]
    into_whole = into_joined[..., wide + width :].sum(axis=1, keepdims=True)
    into_hidden = into_hidden + into_whole[..., width:] / counts * mask
    spread = np.zeros_like(hidden)
    np.put_along_axis(spread, top[:, None, :], into_whole[..., :width], axis=1)
    into_first = (into_hidden + spread) * (1 - hidden**2)
    return loss, {
        "first": np.einsum("nki,nkh->ih", inputs, into_first),
        "first_bias": into_first.sum(axis=(0, 1)),
        "second": np.einsum("nki,nkh->ih", joined, into_deep),
        "second_bias": into_deep.sum(axis=(0, 1)),
        "last": np.einsum("nk,nkh->h", slope, deep),
        "direct": np.einsum("nk,nki->i", slope, inputs),
        "bias": slope.sum(),
    }


@dataclass
class Adam:
    """The optimiser, with decoupled weight decay."""

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
    """Fit one network in stages, each for as long as it improves on ``dev``."""
    generator = np.random.default_rng([config.seed, seed])
    weights = initial_weights(len(mean), config.width, generator)
    held = Batch.of(dev, mean, scale)
    for examples, rate in stages:
        if examples:
            weights = _stage(weights, examples, held, replace_rate(config, rate), (mean, scale), generator)
    return weights


def replace_rate(config: HeadConfig, rate: float) -> HeadConfig:
    """Return the config with another learning rate."""
    return config.model_copy(update={"learning_rate": rate})


def _stage(
    weights: Weights,
    examples: Sequence[Example],
    held: Batch,
    config: HeadConfig,
    spread: tuple[Floats, Floats],
    generator: np.random.Generator,
) -> Weights:
    optimiser = Adam(config.learning_rate, config.decay)
    best, since = {name: value.copy() for name, value in weights.items()}, 0
    least = loss_and_gradients(weights, held)[0]
    for _ in range(config.epochs):
        order: list[int] = generator.permutation(len(examples)).tolist()
        for start in range(0, len(order), config.batch):
            batch = Batch.of([examples[place] for place in order[start : start + config.batch]], *spread)
            if config.dropout:
                kept = generator.random((len(batch.inputs), 1, batch.inputs.shape[2])) >= config.dropout
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
    """Convert a network to the form that is written."""
    rounded = {name: np.asarray(value).round(5).tolist() for name, value in weights.items()}
    return Member.model_validate_json(json.dumps(rounded))


@dataclass(frozen=True)
class HeadFigures:
    """Quality of the citations."""

    f1: float
    exact: float
    precision: float
    recall: float


def figures(chosen: Iterable[frozenset[int]], wanted: Iterable[frozenset[int]]) -> HeadFigures:
    """Score like ``CitationF1`` and related measures: mean over sentences; rightly citing nothing scores 1."""
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
    """Return the rows that reach the threshold."""
    return frozenset(int(place) for place in np.flatnonzero(probabilities >= threshold))


def best_threshold(probabilities: Sequence[Floats], wanted: Sequence[frozenset[int]]) -> float:
    """Return the threshold with the highest F1; of equal ones, the middle one."""
    steps = np.round(np.arange(0.05, 0.96, 0.01), 2)
    scores = [figures((cited_by(values, step) for values in probabilities), wanted).f1 for step in steps]
    top = [float(step) for step, score in zip(steps, scores, strict=True) if score >= max(scores) - 1e-9]
    return top[len(top) // 2]


def gold_of(example: Example) -> frozenset[int]:
    """Return the rows of the supporting sources."""
    return frozenset(int(place) for place in np.flatnonzero(example.wanted * example.known > 0))


def shared(examples: Sequence[Example], share: float, seed: int) -> list[Example]:
    """Draw a share of the examples by whole groups. A larger share contains the smaller one of the same seed."""
    if share >= 1:
        return list(examples)

    def draw(group: str) -> float:
        return int.from_bytes(hashlib.blake2b(f"{seed}|{group}".encode(), digest_size=8).digest()) / 2**64

    return [example for example in examples if draw(example.group) < share]


def fit_head(
    first: Sequence[Example], then: Sequence[Example], dev: Sequence[Example], config: HeadConfig
) -> tuple[list[Member], Floats, Floats, float, HeadFigures]:
    """Return the networks, the features' mean and scale, the threshold, and the scores on ``dev``.

    Raises:
        InputError: There are no examples to learn from or to choose by.
    """
    stages = [
        (shared(first, config.share, config.seed), config.learning_rate),
        (shared(then, config.then_share, config.seed), config.then_learning_rate),
    ]
    used = [example for examples, _ in stages for example in examples if len(example.inputs)]
    held = [example for example in dev if len(example.inputs)]
    if not used or not held:
        raise InputError("expected examples to learn from and examples to choose by; found none. Give more.")
    rows = np.concatenate([example.inputs for example in used])
    mean: Floats = rows.mean(axis=0).round(5)
    scale: Floats = np.maximum(rows.std(axis=0), 1e-3).round(5)
    networks = [fitted(stages, held, config, mean, scale, seed) for seed in range(config.members)]
    members = [member_of(weights) for weights in networks]
    probabilities = [odds(members, example, mean, scale) for example in held]
    wanted = [gold_of(example) for example in held]
    threshold = config.threshold if config.threshold is not None else best_threshold(probabilities, wanted)
    cited = (
        chosen(likely, example.inputs, threshold, config.pair)
        for likely, example in zip(probabilities, held, strict=True)
    )
    return members, mean, scale, threshold, figures(cited, wanted)


def odds(members: Sequence[Member], example: Example, mean: Floats, scale: Floats) -> Floats:
    """Return the probability that each source supports the sentence."""
    inputs = standardized(example.inputs, mean, scale)
    logits = np.mean([logits_of(member.arrays, inputs) for member in members], axis=0)
    return (1 + np.tanh(logits / 2)) / 2


@dataclass(frozen=True)
class HeadRun:
    """The data of a head and where it is written.

    Attributes:
        data: Examples of the first stage.
        then: Examples of the second stage, such as those of your own domain.
        dev: Development examples; they may not be among the others.
        out: The folder.
        name: Name of the head.
        problems: Records of data sets that cannot be used are added here.
    """

    data: tuple[Path, ...]
    dev: Path
    out: Path
    then: tuple[Path, ...] = ()
    name: str = "set-head"
    problems: Problems = field(default_factory=Problems)


def train_head(run: HeadRun, config: HeadConfig, report: Callable[[int], None] = lambda _: None) -> Head:
    """Read the examples with the bundled models, fit a head and write it to ``OUT/head.json``.

    Raises:
        InputError: The data cannot be read, development examples are also trained on, or OUT belongs to another run.
    """
    files = {"data": run.data, "then": run.then, "dev": (run.dev,)}
    read = {name: read_examples(paths, run.problems) if paths else [] for name, paths in files.items()}
    refuse_shared(read["dev"], [*read["data"], *read["then"]])
    maker = FeatureMaker(BundledJudge(), Embedder.shared())
    hashes = {name: [file_hash(path) for path in paths] for name, paths in files.items()}
    settings = {"config": config.model_dump(mode="json"), "made_by": maker.signature, "files": hashes, "name": run.name}
    job = Job.in_folder(run.out, settings, "a head")
    with job.open():
        store = NumberStore(run.out / NUMBERS, maker)
        every = [example for examples in read.values() for example in examples]
        store.add(every, report)
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
        job.note(
            {
                "finished": True,
                "examples": {name: len(examples) for name, examples in parts.items()},
                "scores": head.scores,
            }
        )
    return head


def _sets(examples: Sequence[AttributionExample]) -> Iterator[TrainingSet]:
    for name in dict.fromkeys(example.made_from or "data without a name" for example in examples):
        yield TrainingSet(name=name, licence="as its owner says")
