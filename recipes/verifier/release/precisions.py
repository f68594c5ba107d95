"""From which probability on are supported verdicts right as often as one asks? Measured on sets left out of training.

    python recipes/verifier/release precisions --model FOLDER --held PATH [--held PATH ...] [--only SET ...]
        [--most 400] [--write] [--json FILE]

PATH is a file of labelled pairs, or a folder of such files, of sets that the model never saw, as
``recipes/verifier/more transfer`` writes them; the ``source`` of a pair is its set. Each premise is a cited document,
and the protocol ``default`` checks the claim against it. Sets count alike, whatever their size; a set with few
supported verdicts counts less. A threshold must hold with any one set left out, so that no set alone makes it low; and
each set is also measured at the threshold that the others give, because one that is chosen on the sets it is measured
on looks better than it is. That is what the card may promise. ``--write`` puts the thresholds into the card of a packed
model; ``check.precision`` reads them.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from release.decide import as_document
from release.documents import verdicts
from release.gate import write_card
from release.score import plain
from vericite.errors import InputError, UnknownNameError, VeriCiteError
from vericite.evaluate.calibration import (
    Answered,
    Booleans,
    CurvePoint,
    adaptive_ece,
    risk_coverage,
)
from vericite.lab.train.data import Floats, LabelledPair, read_pairs
from vericite.models.contracts import ENTAILS, Judge
from vericite.models.folder import ModelFolder
from vericite.verify.judges.bundled import BundledJudge

SHARES = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
"""The precisions that are looked for."""
THRESHOLDS = tuple(round(0.3 + step / 100, 2) for step in range(70))
LEAST = 50
"""Supported verdicts above a threshold, of all sets together: of fewer the share that is right is mostly chance."""
SOME = 10
"""Supported verdicts of one set above a threshold, for its own share of right ones to be told."""
SEED = 51


@dataclass(frozen=True)
class Checked:
    """What was said of one set.

    Attributes:
        probability: Of supported, by verdict.
        called: Which verdicts are supported.
        entailed: Which claims are, by their labels.
    """

    name: str
    probability: Floats
    called: Booleans
    entailed: Booleans

    @property
    def supported(self) -> tuple[Floats, Booleans]:
        """Of the supported verdicts: their probabilities, and whether they are right."""
        return self.probability[self.called], self.entailed[self.called]

    @property
    def ece(self) -> float:
        """The calibration error of the probability of supported, over all verdicts."""
        return adaptive_ece(self.probability, self.entailed)


@dataclass(frozen=True)
class Point:
    """A precision that is asked for, and what it takes.

    Attributes:
        share: What is asked for.
        threshold: The lowest probability of supported verdicts; None if no threshold reaches it.
        kept: The share of supported verdicts at or above it.
        wrong: The share of these that is wrong; None of too few.
        left_out: The precision, each set at the threshold that the others give.
        kept_left_out: The share of supported verdicts that is kept there.
        worst: The least precise set there, of those with at least ten such verdicts.
    """

    share: float
    threshold: float | None
    kept: float | None
    wrong: float | None
    left_out: float | None
    kept_left_out: float | None
    worst: float | None


def drawn(pairs: Sequence[LabelledPair], most: int) -> list[LabelledPair]:
    """At most so many pairs, by whole groups, the same ones each time."""
    groups: dict[str, list[LabelledPair]] = {}
    for pair in pairs:
        groups.setdefault(pair.group, []).append(pair)
    names = sorted(groups)
    random.Random(SEED).shuffle(names)
    found: list[LabelledPair] = []
    for name in names:
        if len(found) + len(groups[name]) <= most:
            found += groups[name]
    return found


def read_sets(paths: Sequence[Path], only: Sequence[str] = ()) -> dict[str, list[LabelledPair]]:
    """The pairs of all files, by set.

    Raises:
        UnknownNameError: A set that is named is not there.
    """
    found: dict[str, list[LabelledPair]] = {}
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    for pair in chain.from_iterable(map(read_pairs, files)):
        found.setdefault(pair.source, []).append(pair)
    for name in only:
        if name not in found:
            raise UnknownNameError("set", name, tuple(found))
    return {name: found[name] for name in sorted(only or found)}


def check(judge: Judge, sets: Mapping[str, Sequence[LabelledPair]], most: int) -> list[Checked]:
    """Run the protocol over every set; those with one label only are left out.

    Raises:
        InputError: There are fewer than three.
    """
    found: list[Checked] = []
    for name, held in sets.items():
        pairs = drawn(held, most)
        entailed = np.array([pair.supported for pair in pairs], dtype=np.bool_)
        if not entailed.any() or entailed.all():
            continue
        sys.stderr.write(f"{name}: {len(pairs)} pairs\n")
        said = verdicts(judge, [as_document(pair) for pair in pairs], given=False)
        found.append(Checked(name, said.supported, said.columns == ENTAILS, entailed))
    if len(found) < 3:
        raise InputError(f"expected pairs of three sets or more, each with both labels; found {len(found)}")
    return found


def answered(sets: Sequence[Checked]) -> Answered:
    """The supported verdicts; each set weighs one in all, with its other verdicts."""
    told = [checked.supported for checked in sets]
    weights = [np.full(int(checked.called.sum()), 1 / len(checked.called)) for checked in sets]
    return Answered(
        np.concatenate([probability for probability, _ in told]),
        np.concatenate([right for _, right in told]),
        np.concatenate(weights),
    )


def curve(sets: Sequence[Checked]) -> list[CurvePoint]:
    """Coverage and risk of supported verdicts by threshold; too few of them have no risk."""
    told = answered(sets)
    if not len(told.right):
        return []
    return [
        point if (told.confidence >= point.threshold).sum() >= LEAST else dataclasses.replace(point, risk=None)
        for point in risk_coverage(told, THRESHOLDS)
    ]


def lowest(sets: Sequence[Checked], share: float) -> float | None:
    """The lowest threshold at which so many verdicts are right, at it and at higher ones, with any set left out."""
    found = [_lowest(without(sets, place), share) for place in range(len(sets))]
    reached = [bar for bar in found if bar is not None]
    return max(reached) if len(reached) == len(found) else None


def without(sets: Sequence[Checked], place: int) -> Sequence[Checked]:
    """All sets but one."""
    return [*sets[:place], *sets[place + 1 :]]


def _lowest(sets: Sequence[Checked], share: float) -> float | None:
    found: float | None = None
    for point in reversed([point for point in curve(sets) if point.risk is not None]):
        if point.risk is None or point.risk > 1 - share:
            break
        found = point.threshold
    return found


def point_for(sets: Sequence[Checked], share: float) -> Point:
    """The threshold of all sets, and how each set fares at that of the others."""
    threshold = lowest(sets, share)
    if threshold is None:
        return Point(share, None, None, None, None, None, None)
    at_it = next(point for point in curve(sets) if point.threshold == threshold)
    weight = right = total = 0.0
    worst: list[float] = []
    for place, checked in enumerate(sets):
        bar = lowest(without(sets, place), share)
        probability, correct = checked.supported
        above = probability >= (1.01 if bar is None else bar)
        total += len(above) / len(checked.called)
        weight += int(above.sum()) / len(checked.called)
        right += int(correct[above].sum()) / len(checked.called)
        if above.sum() >= SOME:
            worst.append(float(correct[above].mean()))
    left_out = right / weight if weight else None
    return Point(share, threshold, at_it.coverage, at_it.risk, left_out, weight / total, min(worst, default=None))


def show(sets: Sequence[Checked], points: Sequence[Point], console: Console) -> None:
    """Print three tables."""
    table = Table("set", "n", "entailed", "called supported", "right of these", "ECE of supported", box=None)
    for checked in sets:
        _, right = checked.supported
        counts = [str(len(checked.entailed)), f"{checked.entailed.mean():.3f}", str(len(right))]
        table.add_row(checked.name, *counts, f"{right.mean():.3f}" if len(right) else "-", f"{checked.ece:.3f}")
    table.add_row("mean", "", "", "", "", f"{np.mean([checked.ece for checked in sets]):.3f}")
    console.print(table)
    table = Table("supported from", "kept", "wrong", box=None)
    for point in curve(sets)[::5]:
        table.add_row(f"{point.threshold:.2f}", f"{point.coverage:.3f}", _told(point.risk))
    console.print(table)
    table = Table("precision", "supported from", "kept", "wrong", "left out: right", "kept", "the worst set", box=None)
    for point in points:
        told = (point.threshold, point.kept, point.wrong, point.left_out, point.kept_left_out, point.worst)
        table.add_row(f"{point.share:g}", *map(_told, told))
    console.print(table)
    console.print("sets count alike; left out: each set at the threshold that the others give")


def _told(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release precisions", description="Operating points.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model")
    parser.add_argument(
        "--held", type=Path, action="append", required=True, help="pairs of sets that it was not trained on; repeatable"
    )
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="these sets alone; repeatable")
    parser.add_argument("--most", type=int, default=400, help="pairs of a set, drawn by group")
    parser.add_argument("--write", action="store_true", help="put the thresholds into the model's card")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    told = parser.parse_args(arguments)
    try:
        sets = check(BundledJudge(ModelFolder.open(told.model)), read_sets(told.held, told.only), told.most)
        points = [point_for(sets, share) for share in SHARES]
        show(sets, points, Console(width=None if sys.stdout.isatty() else 150))
        if told.json:
            told.json.write_text(as_json(sets, points), encoding="utf-8")
        if told.write:
            reached = {f"{point.share:g}": point.threshold for point in points if promised(point)}
            write_card(told.model, {"precisions": reached})
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


def promised(point: Point) -> bool:
    """Whether the card may say so: also where sets were left out it is as precise, to one in a hundred."""
    return point.threshold is not None and point.left_out is not None and point.left_out >= point.share - 0.01


def as_json(sets: Sequence[Checked], points: Sequence[Point]) -> str:
    """The figures, for a program."""
    by_set = {
        checked.name: {
            "n": len(checked.entailed),
            "entailed": int(checked.entailed.sum()),
            "ece": round(checked.ece, 4),
            # Probability and whether it is right, of each supported verdict.
            "supported": [
                [round(p, 4), int(right)] for p, right in zip(*map(np.ndarray.tolist, checked.supported), strict=True)
            ],
        }
        for checked in sets
    }
    told = {"sets": by_set, "curve": curve(sets), "points": points}
    return json.dumps(plain(told), default=dataclasses.asdict) + "\n"
