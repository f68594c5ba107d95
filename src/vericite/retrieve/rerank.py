"""Ranking again what was found, by a model that reads question and document together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.records import Evidence

CANDIDATES = 20
"""Documents that are ranked again, as in Reason and Verify."""


class Reranker(Protocol):
    """Tells how relevant a text is to a question."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A probability a text."""
        ...


@dataclass(frozen=True)
class Rerank:
    """Ranks the first of what was found again.

    Attributes:
        reranker: Who reads them.
        candidates: How many it reads; what is beyond them keeps its place behind.
    """

    reranker: Reranker
    candidates: int = CANDIDATES

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError(f"expected candidates of at least 1; found {self.candidates}. Raise it.")

    @property
    def signature(self) -> str:
        """By whom, and how many."""
        return f"rerank{self.candidates}({self.reranker.signature})"

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """The same documents in their new order; the score by which they are ordered is kept as ``rerank``."""
        read, rest = evidence[: self.candidates], evidence[self.candidates :]
        scores = self.reranker.relevance(question, [hit.document.titled_text for hit in read])
        order = np.argsort(-scores, kind="stable")
        again = [_with(read[int(index)], float(scores[int(index)])) for index in order]
        return tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate([*again, *rest], start=1))


def _with(hit: Evidence, score: float) -> Evidence:
    update = {"score": score, "retriever": f"{hit.retriever}, reranked", "scores": {**hit.scores, "rerank": score}}
    return hit.model_copy(update=update)
