"""What an embedder, a reranker and a judge are, for whoever uses one; declared here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, runtime_checkable

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


class Judge(Protocol):
    """Judges pairs, one judgement each, in their order."""

    @property
    def signature(self) -> str:
        """Name and version, or hash, for provenance."""
        ...

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One judgement a pair. May read ahead; must not raise for the sake of one pair."""
        ...


@dataclass(frozen=True)
class JudgeTraits:
    """What a judge says about itself. Each is an optional attribute of the judge; these are the defaults.

    Attributes:
        capacity: How much of premise and claim together it reads, in units of its own; None for any amount. Longer
            premises are cut between sentences into pieces that fit.
        length: The length of a text in these units; never more than its characters.
        pairs_at_once: How many pairs to ask at once, for a judge that takes seconds a pair; None for the caller's
            choice. A small number lets answers come out as they are done.
        reads_question: Whether pairs come with the question.
        graded: Whether it gives probabilities; one that is not only gives a label.
    """

    capacity: int | None = None
    length: Callable[[str], int] = len
    pairs_at_once: int | None = None
    reads_question: bool = False
    graded: bool = True


def traits_of(judge: Judge) -> JudgeTraits:
    """The judge's traits; of a judge that stands in for another, those that it was given as ``traits``."""
    given = getattr(judge, "traits", None)
    if isinstance(given, JudgeTraits):
        return given
    found = {field.name: getattr(judge, field.name) for field in fields(JudgeTraits) if hasattr(judge, field.name)}
    if "capacity" in found and "length" not in found:
        del found["capacity"]
    return JudgeTraits(**found)


def ledger_of(judge: object) -> Any:
    """What a judge that asks a language model has used so far; None for others."""
    return getattr(judge, "ledger", None)


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
