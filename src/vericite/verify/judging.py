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
    the reason in ``failure``, and in ``raw`` what it said instead; its probabilities then mean nothing.
    ``note`` is what a reader should know all the same, such as that the premise was cut. ``native`` is the
    judge's own label, where it has labels of its own. A judge that says a label and no more is not ``graded``:
    its probabilities are 0 and 1, and are kept out of verdicts.
    """

    probabilities: NDArray[np.float32]
    failure: str | None = None
    note: str | None = None
    native: str | None = None
    raw: str | None = None
    graded: bool = True

    @classmethod
    def certain(cls, column: int, native: str) -> Judgement:
        """The judgement of a judge that says a label and no more."""
        return cls(np.eye(len(COLUMNS), dtype=np.float32)[column], native=native, graded=False)

    @classmethod
    def failed(cls, reason: str, raw: str | None = None) -> Judgement:
        """A judgement that could not be made."""
        return cls(np.full(len(COLUMNS), np.nan, dtype=np.float32), failure=reason, raw=raw)


@runtime_checkable
class Limited(Protocol):
    """A judge that reads only so much: premises of several sentences are cut into pieces that fit."""

    @property
    def capacity(self) -> int:
        """How much of premise and claim together it reads, in units of its own."""
        ...

    def length(self, text: str) -> int:
        """The length of a text in these units; never more than its characters, by which it is told that a text fits."""
        ...


@runtime_checkable
class Slow(Protocol):
    """A judge that takes seconds a pair: it is asked few at once, so that answers come out as they are done."""

    @property
    def pairs_at_once(self) -> int:
        """How many to gather before it is asked."""
        ...


@runtime_checkable
class Inquiring(Protocol):
    """A judge that wants to know the question too."""

    @property
    def reads_question(self) -> bool:
        """Whether pairs shall come with it."""
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


TRAITS = ("capacity", "length", "pairs_at_once", "reads_question", "graded")
"""What a judge may say of itself beside its signature; one that stands in for another says the same."""


def like(stand_in: object, judge: Judge) -> None:
    """Give a stand-in the traits of the judge it asks."""
    for name in TRAITS:
        if hasattr(judge, name):
            setattr(stand_in, name, getattr(judge, name))
