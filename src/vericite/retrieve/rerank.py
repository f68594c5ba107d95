"""Ranking again what was found, by a model that reads question and document together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vericite.errors import InputError
from vericite.models.contracts import Reranks
from vericite.records import Evidence
from vericite.retrieve import CANDIDATES

PRIOR = 0.5
"""For the bundled reranker, by 95 development questions: 0.2 to 0.7 do alike there, a little better than 0 and 2."""

_SURE = 1e-7
"""Probabilities are kept this far from 0 and 1, so that their odds have a logarithm."""


@dataclass(frozen=True)
class Rerank:
    """Ranks the first of what was found again.

    A document's score is the logarithm of its odds to be relevant, less ``prior`` times that of its rank before: a
    small model that reads one document at a time errs in other ways than the ranking it is given.

    Attributes:
        reranker: Who reads them.
        candidates: How many it reads; what is beyond them keeps its place behind.
        prior: Weight of the rank before; 0 goes by the reranker alone.
    """

    reranker: Reranks
    candidates: int = CANDIDATES
    prior: float = PRIOR

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError(f"expected candidates of at least 1; found {self.candidates}. Raise it.")
        if not 0 <= self.prior < np.inf:
            raise InputError(f"expected a prior of 0 or more; found {self.prior}. Correct it.")

    @property
    def signature(self) -> str:
        """By whom, and how many."""
        return f"rerank{self.candidates}({self.reranker.signature}, prior={self.prior:g})"

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """The same documents in their new order; the relevance that the reranker finds is kept as ``rerank``.

        Retracted documents are not read: they keep their place, and are not among the candidates.
        """
        usable = [hit for hit in evidence if not hit.document.retracted]
        again = iter([*self._reranked(question, usable[: self.candidates]), *usable[self.candidates :]])
        ordered = (hit if hit.document.retracted else next(again) for hit in evidence)
        return tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(ordered, start=1))

    def _reranked(self, question: str, read: Sequence[Evidence]) -> list[Evidence]:
        relevance = self.reranker.relevance(question, [hit.document.titled_text for hit in read])
        sure = np.clip(relevance.astype(np.float64), _SURE, 1 - _SURE)
        scores = np.log(sure / (1 - sure)) - self.prior * np.log(np.arange(1, len(read) + 1))
        order = [int(place) for place in np.argsort(-scores, kind="stable")]
        return [_with(read[place], float(scores[place]), float(relevance[place])) for place in order]


def _with(hit: Evidence, score: float, relevance: float) -> Evidence:
    scores = {**hit.scores, "rerank": relevance}
    return hit.model_copy(update={"score": score, "retriever": f"{hit.retriever}, reranked", "scores": scores})
