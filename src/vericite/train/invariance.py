"""Whether a packed model says the same of a pair in whatever batch the pair is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vericite.models import Encoded, Engine, ModelFolder, Pair

MIXED = 16
PADDED = 8
SEED = 0


@dataclass(frozen=True)
class Invariance:
    """How far outputs move between batches: the largest difference of a logit, and labels that change."""

    pairs: int
    mixed: float
    padded: float
    changed: int


class _Batched(Engine):
    """The engine that users run, told which inputs to put together."""

    def together(self, batches: Sequence[Sequence[Encoded]]) -> NDArray[np.float64]:
        """The outputs of all inputs, in their order."""
        return np.concatenate([np.asarray(self._score(list(batch)), dtype=np.float64) for batch in batches])


def invariance(folder: ModelFolder, pairs: Sequence[Pair]) -> Invariance:
    """Each pair alone, among others of any length, and beside one as long as the model reads."""
    engine = _Batched(folder)
    encoded = engine.encoder.encode(pairs)
    alone = engine.together([[item] for item in encoded])
    order = list(range(len(pairs)))
    random.Random(SEED).shuffle(order)
    mixed = np.empty_like(alone)
    mixed[order] = engine.together([[encoded[index] for index in order[at : at + MIXED]] for at in _starts(order)])
    everything = Pair(" ".join(pair.premise for pair in pairs) + " word" * folder.card.max_tokens, pairs[0].claim)
    (longest,) = engine.encoder.encode([everything])
    padded = [engine.together([[*encoded[at : at + PADDED], longest]])[:-1] for at in range(0, len(encoded), PADDED)]
    others = (mixed, np.concatenate(padded))
    changed = np.any([other.argmax(1) != alone.argmax(1) for other in others], axis=0)
    among, beside = (float(np.abs(other - alone).max()) for other in others)
    return Invariance(len(pairs), among, beside, int(changed.sum()))


def _starts(order: Sequence[int]) -> range:
    return range(0, len(order), MIXED)
