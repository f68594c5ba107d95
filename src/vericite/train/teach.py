"""Have other models judge the pairs that one will learn from.

    python -m vericite.train.teach --teacher DIR [--weight W] [--teacher DIR --weight W ...] --data FILE [FILE ...]
        --out FILE [--take N] [--exclude SOURCE ...] [--exclude-kind KIND ...] [--rest FILE]

A teacher is a checkpoint of ``vericite.train.fit``, or packed, which is three times as fast, and is then asked at its
card's temperature. Of several, the mean of what they say is taught: unlike ones err on different pairs. OUT gets the
pairs with its probabilities, ``taught``, beside the labels they have; REST those that are excluded, with their labels
alone; what was not drawn is in neither. Run again, it goes on behind the last whole line, where the teachers are those
of ``OUT.manifest.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from vericite.errors import InputError, VeriCiteError
from vericite.models import Pair
from vericite.records import Record
from vericite.train.pairs import LabelledPair, read_pairs, twin_units
from vericite.train.scoring import FolderScorer, Scorer, Tempered, open_scorer
from vericite.verify.tempering import Floats, mean_of

AT_ONCE = 1024
"""Pairs between two lines about progress; enough of like length among them to fill batches."""


def teach(teacher: Scorer, pairs: list[LabelledPair], out: Path) -> None:
    """Write the pairs with the teacher's probabilities, behind those that are there.

    Raises:
        InputError: What is there is of other pairs.
    """
    done = _whole_lines(out)
    held = read_pairs(out) if done else []
    if [(pair.premise, pair.claim) for pair in held] != [(pair.premise, pair.claim) for pair in pairs[:done]]:
        raise InputError(f"expected {out} to hold the first of these pairs; found others. Name another --out.")
    started, first = time.monotonic(), done
    with out.open("a", encoding="utf-8") as file:
        for start in range(done, len(pairs), AT_ONCE):
            window = pairs[start : start + AT_ONCE]
            found = teacher.probabilities([pair.pair for pair in window])
            for pair, row in zip(window, found.tolist(), strict=True):
                taught = tuple(round(value, 5) for value in row)
                file.write(_line(pair.model_copy(update={"taught": taught})))
            file.flush()
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


class Teacher(Record):
    """All of one that its word depends on.

    Attributes:
        sha256: Of its weights.
        precision: Of a checkpoint; a packed model has its own.
    """

    sha256: str
    temperature: float
    precision: str | None = None

    def __str__(self) -> str:
        """For an error."""
        precision = f" in {self.precision}" if self.precision else ""
        return f"{self.sha256[:12]}{precision} at temperature {self.temperature:g}"


class Manifest(Record):
    """Who judged what is in OUT, in the order of the command line, and what of it is each one's."""

    teachers: tuple[Teacher, ...]
    weights: tuple[float, ...]

    def __str__(self) -> str:
        """For an error."""
        each = zip(self.teachers, self.weights, strict=False)
        return " and ".join(f"{teacher}, weight {weight:g}" for teacher, weight in each)


def begin(out: Path, manifest: Manifest) -> None:
    """Say beside OUT who judges it, or see that who began it goes on.

    Raises:
        InputError: What is there is of other teachers, or nothing says of whom.
    """
    path = out.with_name(f"{out.name}.manifest.json")
    if not _whole_lines(out):
        part = path.with_name(path.name + ".part")
        part.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
        part.replace(path)
        return
    try:
        held = Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(
            f"expected {path} to say who judged what is in {out}; found nothing that does. Name another --out."
        ) from None
    if held != manifest:
        raise InputError(
            f"expected the teachers that {out} was begun with: {held}; found {manifest}. "
            "Name those to go on, or another --out."
        )


def _opened(folder: Path, precision: str) -> tuple[Scorer, Teacher]:
    scorer = open_scorer(folder, precision)
    if isinstance(scorer, FolderScorer):
        card = scorer.card
        teacher = Teacher(sha256=card.files["model.onnx"], temperature=card.temperature)
        return Tempered(scorer, card.temperature), teacher
    with (folder / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    return scorer, Teacher(sha256=found, temperature=1.0, precision=precision)


def _write(path: Path, pairs: list[LabelledPair]) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text("".join(_line(pair) for pair in pairs), encoding="utf-8")
    part.replace(path)


def _line(pair: LabelledPair) -> str:
    return pair.model_dump_json(exclude_defaults=True) + "\n"


def _whole_lines(path: Path) -> int:
    """How many there are; a line that was cut short is taken off."""
    if not path.is_file():
        return 0
    held = path.read_bytes()
    whole = held.rfind(b"\n") + 1
    if whole < len(held):
        path.write_bytes(held[:whole])
    return held.count(b"\n")


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


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and judge."""
    told = _parser().parse_args(arguments)
    try:
        weights = told.weight or [1.0] * len(told.teacher)
        pairs, excluded = chosen(told.data, told.take, told.seed, told.exclude, told.exclude_kind)
        told.out.parent.mkdir(parents=True, exist_ok=True)
        opened = [_opened(folder, told.precision) for folder in told.teacher]
        together = Together([scorer for scorer, _ in opened], weights)
        begin(told.out, Manifest(teachers=tuple(teacher for _, teacher in opened), weights=tuple(weights)))
        teach(together, pairs, told.out)
        # Last, so that a call that is refused leaves the one that belongs to OUT.
        if told.rest:
            _write(told.rest, [pair for pair in excluded if pair.told])
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vericite.train.teach", description="Judge pairs to learn from.")
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
    parser.add_argument("--take", type=int, help="pairs of each file, drawn at random; all where not told")
    parser.add_argument("--exclude", action="append", default=[], metavar="SOURCE", help="not judged; repeatable")
    parser.add_argument(
        "--exclude-kind", action="append", default=[], metavar="KIND", help="not judged, of any source; repeatable"
    )
    parser.add_argument("--rest", type=Path, help="also write the excluded pairs that have a label here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", choices=("bf16", "fp32"), default="bf16")
    return parser


if __name__ == "__main__":
    sys.exit(main())
