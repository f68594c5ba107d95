"""Score rerankers on development lists, beside the first stage alone.

    python -m vericite.train.relevance score --dev FILE --model FOLDER ... [--depth 20] [--weight W]

A FOLDER is a checkpoint's model or a packed one. Intervals are over questions. With ``--weight`` each model is also
combined with the first stage's rank; without it the weight is fitted, on one half of the questions for the other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from vericite.errors import InputError, VeriCiteError
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.records import read_jsonl
from vericite.train.mix.example import share
from vericite.train.relevance.lists import RankedList
from vericite.train.relevance.ranking import (
    MEASURES,
    Floats,
    combined,
    figures,
    logits_of_lists,
    of_first_stage,
    open_ranker,
)

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
CHOOSES = MEASURES.index("nDCG@10")


@dataclass(frozen=True)
class Line:
    """One system on the questions of one set, from one first stage."""

    set: str
    corpus: str
    stage: str
    system: str
    values: tuple[Estimate, ...]
    gains: tuple[Estimate, ...] | None

    def as_row(self) -> dict[str, Any]:
        """For a file."""
        named = {name: [value.value, value.low, value.high] for name, value in zip(MEASURES, self.values, strict=True)}
        return {"set": self.set, "corpus": self.corpus, "stage": self.stage, "system": self.system,
                "n": self.values[0].n, **named}  # fmt: skip


def groups(lists: Sequence[RankedList]) -> Iterator[tuple[tuple[str, str, str], list[RankedList]]]:
    """Lists by set, corpus and stage; BioASQ's two sets also together."""
    held: dict[tuple[str, str, str], list[RankedList]] = {}
    for one in lists:
        names = [one.set] if one.set == "pubmedqa" else [one.set, "bioasq"]
        for name in names:
            held.setdefault((name, one.corpus, one.stage), []).append(one)
    yield from sorted(held.items())


def best_weight(lists: Sequence[RankedList], logits: Sequence[Floats]) -> float:
    """The weight of the first stage's rank with the highest mean nDCG."""
    means = [figures(lists, [combined(said, weight) for said in logits])[:, CHOOSES].mean() for weight in WEIGHTS]
    return WEIGHTS[int(np.argmax(means))]


def crossed(lists: Sequence[RankedList], logits: Sequence[Floats]) -> tuple[Floats, tuple[float, ...]]:
    """Figures with a weight fitted on the half of the questions that each is not in, and both weights."""
    half = np.array([share(one.id, 1) < 0.5 for one in lists])
    found = np.zeros((len(lists), len(MEASURES)))
    weights: list[float] = []
    for part in (half, ~half):
        inside, outside = ([int(place) for place in np.flatnonzero(chosen)] for chosen in (part, ~part))
        if not inside:
            continue
        # With nothing to fit it on the first stage's rank has no weight.
        weight = best_weight([lists[i] for i in outside], [logits[i] for i in outside]) if outside else 0.0
        found[inside] = figures([lists[i] for i in inside], [combined(logits[i], weight) for i in inside])
        weights.append(weight)
    return found, tuple(weights)


def score(
    lists: Sequence[RankedList], models: Sequence[Path], depth: int, weight: float | None, max_tokens: int
) -> list[Line]:
    """Every system on every group."""
    logits = {path: logits_of_lists(open_ranker(path, max_tokens), lists, depth) for path in models}
    place = {id(one): index for index, one in enumerate(lists)}
    distinct = len({path.name for path in models}) == len(models)
    named = {path: path.name if distinct else str(path) for path in models}
    lines: list[Line] = []
    for (name, corpus, stage), held in groups(lists):
        first = figures(held, of_first_stage(held, depth))
        systems = {stage: first}
        for path, said in logits.items():
            own = [said[place[id(one)]] for one in held]
            systems[named[path]] = figures(held, own)
            if weight is not None:
                systems[f"{named[path]} + {weight:g} rank"] = figures(held, [combined(one, weight) for one in own])
            else:
                found, weights = crossed(held, own)
                systems[f"{named[path]} + rank {'/'.join(f'{one:g}' for one in weights)}"] = found
        for system, values in systems.items():
            # Paired: each question's difference is drawn as a unit.
            estimates = Bootstrap().means(np.concatenate([values, values - first], axis=1))
            gains = None if values is first else tuple(estimates[len(MEASURES) :])
            lines.append(Line(name, corpus, stage, system, tuple(estimates[: len(MEASURES)]), gains))
    return lines


def show(lines: Sequence[Line], console: Console) -> None:
    """Print the table."""
    table = Table("set", "corpus", "stage", "system", "n", *MEASURES, "gain in nDCG@10", box=None)
    for line in lines:
        gain = "" if line.gains is None else _told(line.gains[CHOOSES], "+")
        values = [_told(value) for value in line.values]
        table.add_row(line.set, line.corpus, line.stage, line.system, str(line.values[0].n), *values, gain)
    console.print(table)


def _told(value: Estimate, sign: str = "") -> str:
    if value.value is None:
        return "-"
    between = "" if value.low is None or value.high is None else f" [{value.low:.3f}, {value.high:.3f}]"
    return f"{value.value:{sign}.3f}{between}"


def main(arguments: list[str] | None = None) -> int:
    """Arguments, score, print."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.relevance score", description="Score rerankers.")
    parser.add_argument("--dev", type=Path, required=True, help="development lists")
    parser.add_argument("--model", type=Path, action="append", default=[], help="a checkpoint's or a packed model")
    parser.add_argument("--depth", type=int, default=20, help="candidates that are reranked")
    parser.add_argument("--weight", type=float, help="of the first stage's rank, instead of fitting it")
    parser.add_argument("--max-tokens", type=int, default=256, help="that a checkpoint reads")
    parser.add_argument("--set", action="append", default=[], help="only this set; may be repeated")
    parser.add_argument("--json", type=Path, help="also write the lines here")
    told = parser.parse_args(arguments)
    try:
        lists = [one for one in read_jsonl(RankedList, told.dev) if not told.set or one.set in told.set]
        if not lists:
            raise InputError(f"expected development lists in {told.dev}; found none of {told.set or 'any set'}")
        lines = score(lists, told.model, told.depth, told.weight, told.max_tokens)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(lines, Console(width=None if sys.stdout.isatty() else 190))
    if told.json:
        told.json.write_text(json.dumps([line.as_row() for line in lines], indent=1) + "\n", encoding="utf-8")
    return 0
