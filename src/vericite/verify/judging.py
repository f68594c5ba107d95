"""What a judge is: it reads a premise and a claim and says how likely the one entails the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vericite.models import Pair

COLUMNS = ("entails", "contradicts", "neutral")
"""Columns of a judge's probabilities, whatever order its model has them in."""

ENTAILS, CONTRADICTS, NEUTRAL = range(len(COLUMNS))


class Judgement(NamedTuple):
    """A judge's word on one pair.

    ``probabilities`` are those of entails, contradicts and neither. A judge that could not decide gives
    the reason in ``failure``; its probabilities then mean nothing. ``note`` is what a reader should know
    all the same, such as that the premise was cut.
    """

    probabilities: NDArray[np.float32]
    failure: str | None = None
    note: str | None = None


@runtime_checkable
class Limited(Protocol):
    """A judge that reads only so much: premises of several sentences are cut into pieces that fit."""

    @property
    def capacity(self) -> int:
        """How much of premise and claim together it reads, in units of its own."""
        ...

    def length(self, text: str) -> int:
        """The length of a text in these units."""
        ...


class Judge(Protocol):
    """Judges pairs, one judgement each, in their order."""

    @property
    def signature(self) -> str:
        """Name and version, or hash, for provenance."""
        ...

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One judgement a pair. May read ahead; must not raise for the sake of one pair."""
        ...
