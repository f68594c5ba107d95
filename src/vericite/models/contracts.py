"""Protocols of embedders, rerankers and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vericite.records.values import Document


class Pair(NamedTuple):
    """A premise and a claim it may support, with the question for judges that read it."""

    premise: str
    claim: str
    question: str | None = None


COLUMNS = ("entails", "contradicts", "neutral")
"""Columns of a judge's probabilities, in this order whatever the model's own order."""


ENTAILS, CONTRADICTS, NEUTRAL = range(len(COLUMNS))


class Judgement(NamedTuple):
    """A judge's result for one pair.

    ``probabilities`` are those of entails, contradicts and neutral. A judge that could not decide gives the reason in
    ``failure`` and its reply in ``raw``; the probabilities are then meaningless. ``note`` is for the reader, for
    example that the premise was cut. ``native`` is the judge's own label, if it has labels of its own. The judgement of
    a judge that only gives labels is not ``graded``: its probabilities are 0 and 1, and are left out of verdicts.
    """

    probabilities: NDArray[np.float32]
    failure: str | None = None
    note: str | None = None
    native: str | None = None
    raw: str | None = None
    graded: bool = True

    @classmethod
    def certain(cls, column: int, native: str) -> Judgement:
        """Return the judgement of a judge that only gives labels."""
        return cls(np.eye(len(COLUMNS), dtype=np.float32)[column], native=native, graded=False)

    @classmethod
    def failed(cls, reason: str, raw: str | None = None) -> Judgement:
        """Return a failed judgement."""
        return cls(np.full(len(COLUMNS), np.nan, dtype=np.float32), failure=reason, raw=raw)


class Judge(Protocol):
    """Judges pairs, with one judgement for each, in order."""

    @property
    def signature(self) -> str:
        """Name and version or hash, for provenance."""
        ...

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement for each pair. May read ahead; must not raise because of a single pair."""
        ...


@dataclass(frozen=True)
class JudgeTraits:
    """Properties of a judge. Each is an optional attribute of the judge; these are the defaults.

    Attributes:
        capacity: Maximum size of premise and claim together, in the judge's own units. None: no limit. Longer premises
            are cut between sentences into pieces that fit.
        length: Returns the length of a text in these units; never more than the number of characters.
        pairs_at_once: Number of pairs to ask at once, for a judge that takes seconds per pair. None: the caller
            decides. A small number lets answers appear as they are done.
        reads_question: Whether pairs should include the question.
        graded: Whether it gives probabilities. If not, it only gives labels.
        precisions: The lowest probabilities of supported verdicts, by the share of them that is right on data sets
            that it was not trained on. Measured with the protocols default and fast; empty: not measured.
    """

    capacity: int | None = None
    length: Callable[[str], int] = len
    pairs_at_once: int | None = None
    reads_question: bool = False
    graded: bool = True
    precisions: Mapping[float, float] = field(default_factory=dict[float, float])


def traits_of(judge: Judge) -> JudgeTraits:
    """Return the judge's traits; a judge that wraps another has them in its attribute ``traits``."""
    given = getattr(judge, "traits", None)
    if isinstance(given, JudgeTraits):
        return given
    found = {field.name: getattr(judge, field.name) for field in fields(JudgeTraits) if hasattr(judge, field.name)}
    if "capacity" in found and "length" not in found:
        del found["capacity"]
    return JudgeTraits(**found)


def ledger_of(judge: object) -> Any:
    """Return the ledger of a judge that asks a language model; None for others."""
    return getattr(judge, "ledger", None)


class Embeds(Protocol):
    """Makes vectors of unit length, like ``Embedder``."""

    @property
    def signature(self) -> str:
        """Name and version or hash, for provenance."""
        ...

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return one row for each text."""
        ...


@runtime_checkable
class EmbedsQuestions(Protocol):
    """An embedder with its own method for questions."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        ...


@runtime_checkable
class EmbedsDocuments(Protocol):
    """An embedder that reads titles separately from texts."""

    def embed_documents(self, documents: Iterable[Document]) -> NDArray[np.float32]:
        """Return one row for each document."""
        ...


class Reranks(Protocol):
    """Rates how relevant a text is to a question."""

    @property
    def signature(self) -> str:
        """Name and version or hash, for provenance."""
        ...

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a probability of relevance for each text."""
        ...


class SentenceInContext(NamedTuple):
    """A sentence with what a reader needs to know about it.

    Attributes:
        text: The sentence.
        role: Its role in the abstract, such as ``conclusion``.
        title: Title of its document.
    """

    text: str
    role: str
    title: str

    @property
    def input(self) -> str:
        """The text that a model reads."""
        before = f"{self.title.rstrip(' .')}. " if self.title else ""
        return f"{before}{self.role.capitalize()}: {self.text}"


@runtime_checkable
class ReadsSentences(Protocol):
    """Rates whether a sentence answers a question. A reranker that can do this, too, is given sentences this way."""

    def answering(self, question: str, sentences: Sequence[SentenceInContext]) -> NDArray[np.float32]:
        """Return the probability that each sentence answers the question."""
        ...
