"""What can be guessed without reading: by the claim alone, and by lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vericite.models import Pair
from vericite.train.measures import Integers
from vericite.train.pairs import LabelledPair
from vericite.train.scoring import Floats, Scorer, softmax
from vericite.verify.judging import COLUMNS

STEPS = 2000
RATE = 0.3


def claim_only(scorer: Scorer, pairs: Sequence[LabelledPair]) -> Floats:
    """The same model, shown no premise."""
    return scorer.probabilities([Pair("", pair.claim) for pair in pairs])


def length_only(train: Sequence[LabelledPair], tested: Sequence[LabelledPair]) -> Floats:
    """A logistic regression on the lengths of premise and claim.

    Labels weigh alike, and training pairs of the tested source are used alone where there are any: both make the
    probe as good as it can be at what it is to show.
    """
    sources = {pair.source for pair in tested}
    known = [pair for pair in train if not pair.binary]
    near = [pair for pair in known if pair.source in sources] or known
    held, asked = _features(near), _features(tested)
    mean, spread = held.mean(axis=0), np.maximum(held.std(axis=0), 1e-9)
    gold = np.array([pair.column for pair in near], dtype=np.int64)
    weights = _regressed((held - mean) / spread, gold)
    return softmax(_with_one((asked - mean) / spread) @ weights)


def _features(pairs: Sequence[LabelledPair]) -> Floats:
    lengths = np.array([[len(pair.premise.split()), len(pair.claim.split())] for pair in pairs], dtype=np.float64)
    logs = np.log1p(lengths)
    return np.hstack([logs, logs**2, logs[:, :1] * logs[:, 1:]])


def _with_one(features: Floats) -> Floats:
    return np.hstack([features, np.ones((len(features), 1))])


def _regressed(features: Floats, gold: Integers) -> Floats:
    rows = _with_one(features)
    truth = np.eye(len(COLUMNS))[gold]
    share = 1 / np.maximum(truth.sum(axis=0), 1)
    weight = (truth @ share)[:, None] / (truth @ share).sum()
    weights = np.zeros((rows.shape[1], len(COLUMNS)))
    for _ in range(STEPS):
        weights -= RATE * rows.T @ (weight * (softmax(rows @ weights) - truth))
    return weights
