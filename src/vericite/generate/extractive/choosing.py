"""Which sentences an answer is made of, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vericite.generate.extractive.candidates import Candidate
from vericite.generate.extractive.polarity import polarity
from vericite.generate.extractive.settings import ExtractiveSettings


def choose(
    candidates: Sequence[Candidate],
    likeness: NDArray[np.float32],
    settings: ExtractiveSettings,
    must: Sequence[int] = (),
) -> list[int]:
    """Maximal marginal relevance, without what repeats and without what falls too far behind the best.

    Args:
        candidates: The sentences, with their worth.
        likeness: The cosine of each to each.
        settings: How long, how relevant, how unlike each other.
        must: Sentences that are taken whatever they are worth.
    """
    best = max(candidate.worth for candidate in candidates)
    taken = list(must)
    left = [index for index in range(len(candidates)) if index not in taken]

    def gain(index: int) -> float:
        repeats = float(likeness[index, taken].max()) if taken else 0.0
        return (1 - settings.novelty) * candidates[index].worth - settings.novelty * repeats

    while left and len(taken) < settings.longest:
        index = max(left, key=gain)
        left.remove(index)
        if candidates[index].worth < settings.floor(len(taken)) * best:
            continue
        if not any(_repeats(candidates, likeness, settings, index, other) for other in taken):
            taken.append(index)
    return taken


def _repeats(
    candidates: Sequence[Candidate],
    likeness: NDArray[np.float32],
    settings: ExtractiveSettings,
    index: int,
    other: int,
) -> bool:
    """Whether a sentence says what another does; one that points the other way does not, however near it is."""
    near = likeness[index, other] >= settings.same
    return bool(near) and polarity(candidates[index].text) == polarity(candidates[other].text)


def ordered(taken: Sequence[Candidate], first: Candidate | None = None) -> list[Candidate]:
    """Sentences of one source together and in its order, the source with the most relevant one first.

    ``first`` comes before all, and the others of its source next.
    """
    best: dict[int, float] = {}
    for candidate in taken:
        best[candidate.marker] = max(candidate.worth, best.get(candidate.marker, -1.0))
    if first is not None:
        best[first.marker] = float("inf")

    def place(candidate: Candidate) -> tuple[float, int, bool, int]:
        return -best[candidate.marker], candidate.marker, candidate is not first, candidate.place

    return sorted(taken, key=place)
