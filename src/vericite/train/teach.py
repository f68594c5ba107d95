"""Have a larger model judge the pairs that a small one will learn from.

    python -m vericite.train.teach --teacher DIR --data FILE [FILE ...] --out FILE [--take N] [--rest FILE]

The teacher is a checkpoint of ``vericite.train.fit``, or packed, which is three times as fast, and is then asked at its
card's temperature. Of several, the mean of what they say is taught: unlike ones err on different pairs. OUT gets the
pairs with its probabilities, ``taught``, beside the labels they have; REST those of a labelled file that were not
taken. Run again, it goes on behind the last whole line.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vericite.errors import InputError, VeriCiteError
from vericite.models import ModelFolder, Pair
from vericite.train.calibrate import CARD, Tempered
from vericite.train.pairs import LabelledPair, read_pairs, twin_units
from vericite.train.scoring import Floats, Scorer, open_scorer

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
        if len(weights) != len(teachers) or min(weights) <= 0:
            raise InputError(f"expected a --weight above 0 for each of {len(teachers)} teachers; found {list(weights)}")
        self._teachers = teachers
        self._weights = [weight / sum(weights) for weight in weights]

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """The weighted mean."""
        said = [teacher.probabilities(pairs) for teacher in self._teachers]
        return np.average(said, axis=0, weights=self._weights)


def _opened(folder: Path, precision: str) -> Scorer:
    scorer = open_scorer(folder, precision)
    return Tempered(scorer, ModelFolder.open(folder).card.temperature) if (folder / CARD).is_file() else scorer


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
    paths: list[Path], take: int | None, seed: int, exclude: Sequence[str] = ()
) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """The files' pairs, or so many of each drawn at random, and those that were not; twins stay together."""
    drawn: list[LabelledPair] = []
    rest: list[LabelledPair] = []
    for path in paths:
        pairs = read_pairs(path, exclude)
        units = twin_units(pairs)
        random.Random(seed).shuffle(units)
        given = 0
        for unit in units:
            taken = take is None or given < take
            (drawn if taken else rest).extend(pairs[index] for index in unit)
            given += len(unit)
    return drawn, rest


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and judge."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.teach", description="Judge pairs to learn from.")
    parser.add_argument(
        "--teacher", type=Path, action="append", required=True, help="a checkpoint, or packed; repeatable"
    )
    parser.add_argument("--weight", type=float, action="append", help="of each teacher in their mean; 1 where not told")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files of pairs")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--take", type=int, help="pairs of each file, drawn at random; all where not told")
    parser.add_argument("--exclude", action="append", default=[], metavar="SOURCE", help="left out of both; repeatable")
    parser.add_argument("--rest", type=Path, help="also write the labelled pairs that were not drawn here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", choices=("bf16", "fp32"), default="bf16")
    told = parser.parse_args(arguments)
    try:
        pairs, rest = chosen(told.data, told.take, told.seed, told.exclude)
        told.out.parent.mkdir(parents=True, exist_ok=True)
        if told.rest:
            _write(told.rest, [pair for pair in rest if pair.told])
        teachers = [_opened(folder, told.precision) for folder in told.teacher]
        teach(Together(teachers, told.weight or [1.0] * len(teachers)), pairs, told.out)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
