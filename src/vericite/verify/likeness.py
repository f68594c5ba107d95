"""How like a premise is to a statement by the words they share: cheap enough to ask of every pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from vericite.text.terms import terms


def shared(statement: str, premises: Sequence[str]) -> NDArray[np.float64]:
    """The share of the statement's terms that each premise has, a term weighing more the fewer premises have it."""
    # In the order of the words, not of the set, which differs between processes: ties must not.
    wanted = sorted(_terms(statement))
    held = [[term for term in wanted if term in words] for words in map(_terms, premises)]
    spread = Counter(term for found in held for term in found)
    weights = {term: log(1 + len(premises) / (1 + spread[term])) + 0.1 for term in wanted}
    total = sum(weights.values()) or 1.0
    return np.array([sum(weights[term] for term in found) / total for found in held])


@lru_cache(maxsize=8_192)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))
