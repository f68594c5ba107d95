"""Probabilities made sharper or flatter, and shifted from label to label: what calibrating changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_Float = TypeVar("_Float", np.float32, np.float64)


def softmax(logits: NDArray[_Float]) -> NDArray[_Float]:
    """Of a row, or of each; an output of minus infinity has no probability, as long as another has one."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def log_probabilities(probabilities: Floats) -> Floats:
    """The logits that a row's probabilities come from, but for a constant; minus infinity where there is none."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(probabilities, 0.0))


def tempered(probabilities: Floats, temperature: float, bias: Sequence[float] | None = None) -> Floats:
    """What the softmax of the same logits, divided by a temperature, would be; ``bias`` is then added, one a label.

    A probability of exactly 0 stays 0: a judge that does not know a label does not come to know it.
    """
    logits = log_probabilities(probabilities) / temperature
    return softmax(logits if bias is None else logits + np.asarray(bias, dtype=np.float64))


def mean_of(rows: Sequence[NDArray[_Float]], weights: Sequence[float] | None = None) -> Floats:
    """The mean of what several say, each an array of the same shape; of weights, one for each."""
    return np.average(np.asarray(rows, dtype=np.float64), axis=0, weights=weights)
