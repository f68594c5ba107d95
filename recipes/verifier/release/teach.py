# torch is in the extra [train] alone: where it is not installed, its types are unknown.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# safetensors annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""Have other models judge the pairs that one will learn from.

    python recipes/verifier/release teach --teacher DIR [--weight W] [--teacher DIR --weight W ...] --out FILE
        --data FILE [FILE ...] [--take N] [--exclude SOURCE ...] [--exclude-kind KIND ...] [--rest FILE]

A teacher is a checkpoint of ``vericite.lab.train.fit``, or packed, which is three times as fast, and is then asked at
the temperature of its card. Of several, the mean of what they say is taught: unlike ones err on different pairs. OUT
gets the pairs with its probabilities, ``taught``, beside the labels they have; REST those that are excluded, with
their labels alone; what was not drawn is in neither. Run again, it goes on behind the last whole line, where the
teachers are those of ``OUT.manifest.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError, ModelMissingError, VeriCiteError
from vericite.lab.train.data import LabelledPair, read_pairs, twin_units
from vericite.models.contracts import COLUMNS, Pair
from vericite.models.engine import EncodedInput, Encoder, Engine
from vericite.models.folder import ModelFolder
from vericite.verify.judging import Floats, mean_of, softmax, temperature_scaled

CARD = "card.json"
BATCH_TOKENS = 2048


def by_length(encoded: Sequence[EncodedInput], tokens: int) -> Iterator[list[int]]:
    """Places of inputs of like length, the shortest first, in batches of at most so many tokens with their padding."""
    batch: list[int] = []
    for place in sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids)):
        if batch and (len(batch) + 1) * len(encoded[place].ids) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


class Scorer(Protocol):
    """Anything that judges pairs."""

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """[pairs, columns], the columns those of ``verify.judging``."""
        ...


class FolderScorer:
    """A packed model, run by the engine that users run, all layers read: figures are of the weights, not of exits."""

    def __init__(self, folder: ModelFolder) -> None:
        self.card = folder.card
        self._engine = Engine(folder)
        self._columns = [folder.card.labels.index(label) for label in COLUMNS]

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """Softmax over its outputs."""
        values = [row.values[self._columns] for row in self._engine.run(pairs)]
        return softmax(np.array(values, dtype=np.float64))


class Tempered:
    """A scorer at a temperature."""

    def __init__(self, scorer: Scorer, temperature: float) -> None:
        self._scorer = scorer
        self._temperature = temperature

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """The scorer's, sharper or flatter."""
        return temperature_scaled(self._scorer.probabilities(pairs), self._temperature)


class CheckpointScorer:
    """A checkpoint of ``vericite.lab.train.fit``, in torch."""

    def __init__(self, folder: Path, threads: int = 2, precision: str = "fp32", max_tokens: int = 512) -> None:
        from vericite.lab.train.fit import set_up
        from vericite.lab.train.network import load_network, tokenizer_of

        set_up(threads)
        self._network = load_network(folder, trained=True).eval()
        self._encoder = Encoder(tokenizer_of(folder), max_tokens)
        self._precision = precision

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """Softmax over its outputs."""
        from vericite.lab.train.network import logits_of

        encoded = self._encoder.encode(pairs)
        values = np.zeros((len(pairs), len(COLUMNS)))
        for batch in by_length(encoded, BATCH_TOKENS):
            rows = [encoded[index] for index in batch]
            values[batch] = logits_of(self._network, rows, self._precision == "bf16")
        return softmax(values)


def open_scorer(path: Path, precision: str = "fp32") -> FolderScorer | CheckpointScorer:
    """Whatever is in a folder: a model with a card is packed, one without is a checkpoint.

    Raises:
        ModelMissingError: It holds neither.
    """
    if (path / CARD).is_file():
        return FolderScorer(ModelFolder.open(path))
    if not (path / "tokenizer.json").is_file():
        raise ModelMissingError(f"expected a packed model or a checkpoint's model; found neither in {path}. Name one.")
    return CheckpointScorer(path, precision=precision)


AT_ONCE = 1024
"""Pairs between two lines about progress; enough of like length among them to fill batches."""


def teach(teacher: Scorer, pairs: list[LabelledPair], out: Path, teachers: Mapping[str, Any]) -> None:
    """Write the pairs with the teacher's probabilities, behind those that are there.

    Args:
        teacher: Who judges.
        pairs: All of them, in their order.
        out: The file. Beside it is a manifest of who judged what is in it.
        teachers: What that manifest has of the teachers: all that their probabilities depend on.

    Raises:
        InputError: What is there is of other pairs or of other teachers, or nothing says of whom.
    """
    lines = Lines(out, LabelledPair, _line)
    with Job.next_to(out, teachers, "taught pairs").open():
        known = lines.read()
        done = first = len(known)
        if [(pair.premise, pair.claim) for pair in known] != [(pair.premise, pair.claim) for pair in pairs[:done]]:
            raise InputError(f"expected {out} to have the first of these pairs; found others. Name another --out.")
        started = time.monotonic()
        for start in range(done, len(pairs), AT_ONCE):
            window = pairs[start : start + AT_ONCE]
            found = teacher.probabilities([pair.pair for pair in window])
            lines.append(
                pair.model_copy(update={"taught": tuple(round(value, 5) for value in row)})
                for pair, row in zip(window, found.tolist(), strict=True)
            )
            done += len(window)
            speed = (done - first) / (time.monotonic() - started)
            left = (len(pairs) - done) / speed / 60
            sys.stderr.write(f"{done:,} of {len(pairs):,} pairs, {speed:.0f}/s, {left:.0f} min left\n")


class Together:
    """Several teachers, whose probabilities are averaged.

    Raises:
        InputError: There is not one weight above 0 a teacher.
    """

    def __init__(self, teachers: Sequence[Scorer], weights: Sequence[float]) -> None:
        # nan is not below 0, and a mean by it, or by infinity, is nan in every line that is written.
        usable = all(math.isfinite(weight) and weight > 0 for weight in weights)
        if len(weights) != len(teachers) or not usable:
            raise InputError(
                f"expected a --weight above 0, and finite, for each of {len(teachers)} teachers; found {list(weights)}"
            )
        self._teachers = teachers
        self._weights = weights

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """The weighted mean."""
        return mean_of([teacher.probabilities(pairs) for teacher in self._teachers], self._weights)


def _opened(folder: Path, precision: str) -> tuple[Scorer, dict[str, Any]]:
    """A teacher, and all that its probabilities depend on: its weights' hash, its temperature, its precision."""
    scorer = open_scorer(folder, precision)
    if isinstance(scorer, FolderScorer):
        card = scorer.card
        # A packed model has a precision of its own.
        teacher = {"sha256": card.files["model.onnx"], "temperature": card.temperature}
        return Tempered(scorer, card.temperature), teacher
    with (folder / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    return scorer, {"sha256": found, "temperature": 1.0, "precision": precision}


def _line(pair: LabelledPair) -> str:
    return pair.model_dump_json(exclude_defaults=True)


def chosen(
    paths: list[Path], take: int | None, seed: int, exclude: Sequence[str] = (), exclude_kinds: Sequence[str] = ()
) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """The files' pairs, or so many of each drawn at random, twins together; and those of excluded sources and kinds.

    Raises:
        InputError: All of a file are excluded.
    """
    drawn: list[LabelledPair] = []
    excluded: list[LabelledPair] = []
    for path in paths:
        pairs: list[LabelledPair] = []
        for pair in read_pairs(path):
            apart = pair.source in exclude or pair.kind in exclude_kinds
            (excluded if apart else pairs).append(pair)
        if not pairs:
            named = ", ".join((*exclude, *exclude_kinds))
            raise InputError(f"expected pairs in {path} besides those of {named}; found none. Exclude fewer.")
        units = twin_units(pairs)
        random.Random(seed).shuffle(units)
        given = 0
        for unit in units:
            if take is not None and given >= take:
                break
            drawn.extend(pairs[index] for index in unit)
            given += len(unit)
    return drawn, excluded


def teach_main(arguments: list[str] | None = None) -> int:
    """Read the command line and judge."""
    options = _parser().parse_args(arguments)
    try:
        weights = options.weight or [1.0] * len(options.teacher)
        pairs, excluded = chosen(options.data, options.take, options.seed, options.exclude, options.exclude_kind)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        opened = [_opened(folder, options.precision) for folder in options.teacher]
        together = Together([scorer for scorer, _ in opened], weights)
        teach(together, pairs, options.out, {"teachers": [teacher for _, teacher in opened], "weights": weights})
        # Last, so that a call that is refused leaves the one that belongs to OUT.
        if options.rest:
            Lines(options.rest, LabelledPair, _line).replace(pair for pair in excluded if pair.labelled)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python recipes/verifier/release teach", description="Judge pairs to learn from."
    )
    parser.add_argument(
        "--teacher", type=Path, action="append", required=True, help="a checkpoint, or packed; repeatable"
    )
    parser.add_argument(
        "--weight",
        type=float,
        action="append",
        help="of a teacher in their mean, once for each in their order; leave all out to weigh them alike",
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files of pairs")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--take", type=int, help="pairs of each file, drawn at random; all where not given")
    parser.add_argument("--exclude", action="append", default=[], metavar="SOURCE", help="not judged; repeatable")
    parser.add_argument(
        "--exclude-kind", action="append", default=[], metavar="KIND", help="not judged, of any source; repeatable"
    )
    parser.add_argument("--rest", type=Path, help="also write the excluded pairs that have a label here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", choices=("bf16", "fp32"), default="bf16")
    return parser


WEIGHTS_FILE = "model.safetensors"
BESIDE = ("config.json", "tokenizer.json")
Weights = dict[str, NDArray[np.float32]]


def average(models: list[Path], weights_of: Sequence[float] = ()) -> Weights:
    """The mean of the models' weights; with ``weights_of``, one number a model, the weighted mean.

    A version and what it became in a short further training can be mixed in any shares: so much of what was learnt is
    taken, and so much of what was forgotten.

    Raises:
        InputError: There are fewer than two, one lacks its weights, they are not of one shape, or the numbers are not
            one for each model, none below 0 and not all 0.
    """
    if len(models) < 2:
        raise InputError(f"expected two models or more to average; found {len(models)}. Name each run's model folder.")
    numbers = list(weights_of) or [1.0] * len(models)
    if len(numbers) != len(models) or not all(number >= 0 for number in numbers) or not 0 < sum(numbers) < math.inf:
        raise InputError(
            f"expected --weight once for each of {len(models)} models, none below 0 and not all 0; found "
            f"{', '.join(f'{number:g}' for number in numbers)}. Give them in the models' order."
        )
    total: dict[str, NDArray[np.float64]] = {}
    for place, (folder, number) in enumerate(zip(models, numbers, strict=True)):
        weights = _read(folder)
        if place and {name: value.shape for name, value in weights.items()} != {n: v.shape for n, v in total.items()}:
            raise InputError(
                f"expected weights of the shape of {models[0]}; found others in {folder}. Name runs of one base."
            )
        for name, value in weights.items():
            total[name] = total.get(name, 0) + value.astype(np.float64) * (number / sum(numbers))
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


def average_main(arguments: list[str] | None = None) -> int:
    """Read the command line, average, write."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release teach", description="Average runs' weights.")
    parser.add_argument("models", type=Path, nargs="+", help="the model folder of each run")
    parser.add_argument("--out", type=Path, required=True, help="where the averaged model goes")
    parser.add_argument(
        "--weight",
        type=float,
        action="append",
        default=[],
        help="of a model in the mean, once for each in their order; leave all out to weigh them alike",
    )
    options = parser.parse_args(arguments)
    try:
        write(average(options.models, options.weight), options.models[0], options.out)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"the mean of {len(options.models)} models is in {options.out}\n")
    return 0
