"""How far apart two tokens stand, in the kinds that MPNet tells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FARTHEST = 128
"""Tokens farther apart than this are all as far."""


def kinds_of_distance(apart: NDArray[np.int64], kinds: int) -> NDArray[np.int64]:
    """The kind of each distance between two places: exact near by, by logarithm farther off.

    Args:
        apart: How far the token that attends stands behind the other.
        kinds: Of distances; half of them are for tokens that come after.
    """
    side = kinds // 2
    exact = side // 2
    size = np.abs(apart)
    share = np.log(np.maximum(size, 1) / exact) / math.log(FARTHEST / exact)
    steps = np.minimum(exact + (share * (side - exact)).astype(np.int64), side - 1)
    return np.where(size < exact, size, steps) + (apart < 0) * side
