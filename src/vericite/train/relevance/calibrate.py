# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Make a reranker's sigmoid a probability of relevance.

    python -m vericite.train.relevance calibrate --model FOLDER --dev FILE --out FOLDER [--depth 20]

Logits are divided by a temperature and moved by a bias, fitted on the candidates of BioASQ's development questions by
log loss; both go into the last layer of the weights that OUT gets, so that nobody can forget them. The errors told are
of a fit on the one set for the other.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, VeriCiteError
from vericite.evaluate.calibration import adaptive_ece
from vericite.records import read_jsonl
from vericite.train.relevance.lists import RankedList
from vericite.train.relevance.questions import DEVELOPMENT
from vericite.train.relevance.ranking import CheckpointRanker, Floats, logits_of_lists

SETS = (DEVELOPMENT, "held-out")
STEPS = 50
RIDGE = 1e-4
FEWEST = 5
TOP = 3


@dataclass(frozen=True)
class Calibration:
    """What was fitted, and what it does.

    Attributes:
        ece: Adaptive expected calibration error, before and after, fitted on the other set.
        brier: Likewise.
        top: Of the questions' means over the three most relevant candidates, the 5th, 50th and 95th percentile.
        relevant: Share of candidates that are relevant.
    """

    temperature: float
    bias: float
    n: int
    questions: int
    relevant: float
    ece: tuple[float, float]
    brier: tuple[float, float]
    top: tuple[float, ...]


def sigmoid(logits: Floats) -> Floats:
    """Probabilities; no logit overflows."""
    return (1 + np.tanh(logits / 2)) / 2


def fit_line(logits: Floats, relevant: NDArray[np.bool_]) -> tuple[float, float]:
    """The temperature and the bias at which ``sigmoid(logits / temperature + bias)`` makes the labels likeliest.

    Raises:
        InputError: There are too few of either kind, or higher logits are not more often relevant.
    """
    if min(relevant.sum(), (~relevant).sum()) < FEWEST:
        raise InputError(f"expected {FEWEST} relevant candidates and as many others; found {relevant.sum()} relevant")
    features = np.stack([logits, np.ones_like(logits)], axis=1)
    found = np.array([1.0, 0.0])
    for _ in range(STEPS):
        told = sigmoid(features @ found)
        slope = features.T @ (told - relevant) / len(told) + RIDGE * (found - [1.0, 0.0])
        curvature = (features * (told * (1 - told))[:, None]).T @ features / len(told) + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        # A long step from far away may lead further away.
        found = found - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    if found[0] <= 0:
        raise InputError("expected higher logits to be more often relevant; found the opposite. Train longer.")
    return float(1 / found[0]), float(found[1])


def calibrate(lists: Sequence[RankedList], logits: Sequence[Floats], depth: int) -> Calibration:
    """Fit on all lists; tell the errors of fits on each set for the other."""
    labels = [np.array(one.relevant(depth), dtype=np.bool_) for one in lists]
    first = np.array([one.set == lists[0].set for one in lists])
    before: list[Floats] = []
    after: list[Floats] = []
    truth: list[NDArray[np.bool_]] = []
    for part in (first, ~first):
        inside, outside = ([i for i, held in enumerate(part) if held == side] for side in (True, False))
        said = np.concatenate([logits[i] for i in outside])
        temperature, bias = fit_line(said, np.concatenate([labels[i] for i in outside]))
        own = np.concatenate([logits[i] for i in inside])
        before.append(sigmoid(own))
        after.append(sigmoid(own / temperature + bias))
        truth.append(np.concatenate([labels[i] for i in inside]))
    relevant = np.concatenate(truth)
    temperature, bias = fit_line(np.concatenate(logits), np.concatenate(labels))
    # The first stage may have found nothing for a question.
    tops = [np.sort(sigmoid(said / temperature + bias))[-TOP:].mean() for said in logits if len(said)]
    told = [np.concatenate(before), np.concatenate(after)]
    return Calibration(
        temperature=round(temperature, 4),
        bias=round(bias, 4),
        n=len(relevant),
        questions=len({one.id for one in lists}),
        relevant=round(float(relevant.mean()), 4),
        ece=tuple(round(adaptive_ece(one, relevant), 4) for one in told),  # pyright: ignore[reportArgumentType]
        brier=tuple(round(float(((one - relevant) ** 2).mean()), 4) for one in told),  # pyright: ignore[reportArgumentType]
        top=tuple(round(float(value), 3) for value in np.percentile(tops, [5, 50, 95])),
    )


def write_calibrated(model: Path, out: Path, temperature: float, bias: float) -> None:
    """The model with both in its last layer."""
    from vericite.train.relevance.network import load_relevance

    network = load_relevance(model, trained=True)
    network.classifier.weight.data /= temperature
    network.classifier.bias.data /= temperature
    network.classifier.bias.data += bias
    network.save(out)
    shutil.copyfile(model / "tokenizer.json", out / "tokenizer.json")


def main(arguments: list[str] | None = None) -> int:
    """Arguments, fit, write, print."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.relevance calibrate", description="Calibrate.")
    parser.add_argument("--model", type=Path, required=True, help="a checkpoint's model")
    parser.add_argument("--dev", type=Path, required=True, help="development lists")
    parser.add_argument("--out", type=Path, required=True, help="the calibrated model's folder")
    parser.add_argument("--depth", type=int, default=20, help="candidates of a list")
    parser.add_argument("--max-tokens", type=int, default=256)
    told = parser.parse_args(arguments)
    try:
        lists = [one for one in read_jsonl(RankedList, told.dev) if one.set in SETS and one.corpus == "all"]
        if len({one.set for one in lists}) != len(SETS):
            raise InputError(f"expected lists of {' and '.join(SETS)} in {told.dev}; found fewer")
        logits = logits_of_lists(CheckpointRanker(told.model, told.max_tokens), lists, told.depth)
        found = calibrate(lists, logits, told.depth)
        write_calibrated(told.model, told.out, found.temperature, found.bias)
        (told.out / "calibration.json").write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    sys.stdout.write(json.dumps(asdict(found), indent=2) + "\n")
    return 0
