"""What an embedder, a reranker and a judge are, for whoever uses one; declared here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vericite.records.values import Document


class Pair(NamedTuple):
    """A premise and the claim it may support; with the question for judges that ask for it."""

    premise: str
    claim: str
    question: str | None = None


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


class Embeds(Protocol):
    """Makes vectors of unit length, as ``Embedder`` does."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row a text."""
        ...


@runtime_checkable
class EmbedsQuestions(Protocol):
    """An embedder that has another model for questions."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question."""
        ...


@runtime_checkable
class EmbedsDocuments(Protocol):
    """An embedder that reads titles apart from texts."""

    def embed_documents(self, documents: Iterable[Document]) -> NDArray[np.float32]:
        """One row a document."""
        ...


class Reranks(Protocol):
    """Tells how relevant a text is to a question."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A probability a text."""
        ...
