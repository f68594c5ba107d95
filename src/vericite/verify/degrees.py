"""Degrees of support: a finer reading of a verdict, in which a sentence may be partly supported.

With the bundled judge and the protocols ``default`` and ``fast``, a sentence that is not supported is partly supported
if figures of the whole sentence say so: what the judge gives it, how many of its words, names and numbers the sources
have, and its length. Their weights are fitted by ``recipes/verifier/degrees.py``. In other protocols it is partly
supported if one of its statements is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from vericite.models.contracts import CONTRADICTS, ENTAILS
from vericite.records import Degree
from vericite.text.words import shared, stems, words
from vericite.verify.aggregators import Outcome, TwoViews
from vericite.verify.judging import log_odds
from vericite.verify.sheet import JOINT, Sheet

WEIGHTS = Path(__file__).with_suffix(".json")
FEATURES = (
    "supported",
    "contradicted",
    "together",
    "words",
    "words near",
    "length",
    "names lacking",
    "numbers lacking",
)
"""What is known of a sentence: log odds of both labels and of support by the assembled sentences; shares of its words
in all sentences and in the assembled ones; the logarithm of its number of words; the share of its names, and the
number of its numbers, that the sources lack."""

CERTAIN = 0.8
"""Probability of contradiction from which a contradicted sentence is not partly supported."""

_DEGREES: dict[str, Degree] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "irrelevant": "not found",
}


def degree_of(outcome: Outcome, margin: float | None = None) -> Degree | None:
    """Return the degree of an outcome; None if it has no label.

    Args:
        outcome: The outcome. If it is supported, so is the degree.
        margin: How much more likely it is partly supported than the least that counts. None: not known.
    """
    if outcome.label is None:
        return None
    if margin is not None:
        is_partly = outcome.label != "supported" and margin >= 0
    else:
        is_partly = outcome.label == "irrelevant" and any(item.label == "supported" for item in outcome.statements)
    return "partly supported" if is_partly else _DEGREES.get(outcome.label)


def features(claim: str, premises: Sequence[str], sheet: Sheet) -> list[float] | None:
    """Return the figures of a sentence, in the order of ``FEATURES``; None if a judgement that they need failed."""
    whole = TwoViews().whole(sheet)
    if whole is None:
        return None
    together = [index for index in sheet.indices(JOINT) if sheet.asked[0, index]]
    apart = [index for index, role in enumerate(sheet.roles) if role != JOINT and sheet.asked[0, index]]
    near = together or [min(apart, key=lambda index: float(sheet.scores[0, index, 2]))]
    joint = float(sheet.scores[0, near, ENTAILS].mean())
    mine, (theirs, roots) = stems(claim), _vocabulary(tuple(premises))
    found = words(claim)
    names = [word.lower for word in found if word.start and claim[word.start].isupper() and word.stem]
    numbers = [word.lower for word in found if word.lower[0].isdigit()]
    return [
        _odds(float(whole[ENTAILS])),
        _odds(float(whole[CONTRADICTS])),
        _odds(joint),
        shared(mine, roots),
        shared(mine, stems(" ".join(premises[index] for index in near))),
        log(1 + len(claim.split())),
        sum(name not in theirs for name in names) / max(1, len(names)),
        float(sum(number not in theirs for number in numbers)),
    ]


@lru_cache(maxsize=64)
def _vocabulary(premises: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the sources of a claim and their stems; the next claims often cite the same."""
    found = words(" ".join(premises))
    return frozenset(word.lower for word in found), frozenset(word.stem for word in found if word.stem)


_odds = partial(log_odds, least=1e-4)


@cache
def _weights() -> dict[str, Any]:
    return json.loads(WEIGHTS.read_text("utf-8"))


def is_measured(signature: str) -> bool:
    """Whether the weights were fitted with the judge of this signature."""
    return _weights()["judge"] == signature


def is_contradiction(figures: Sequence[float]) -> bool:
    """Whether a contradiction is so likely that no part of the sentence is looked for."""
    return figures[FEATURES.index("contradicted")] >= _odds(CERTAIN)


def partly(figures: Sequence[float]) -> float:
    """Return the log odds that a sentence is partly supported, above the least that counts."""
    held = _weights()
    row = (np.asarray(figures) - held["mean"]) / held["scale"]
    logits = np.asarray(held["weights"]) @ row + held["bias"]
    others = np.logaddexp(logits[0], logits[2])
    return float(logits[1] - others - held["least"])
