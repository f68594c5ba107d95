"""Reranking by a model that reads question and document together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vericite.errors import InputError
from vericite.models.contracts import Reranks
from vericite.records import Evidence
from vericite.retrieve import CANDIDATES

PRIOR = 0.5
"""Set for the bundled reranker on 95 development questions: 0.2 to 0.7 are alike, slightly better than 0 and 2."""

_SURE = 1e-7
"""Probabilities are clipped this far from 0 and 1, so that the log odds are finite."""


@dataclass(frozen=True)
class Rerank:
    """Reranks the first documents.

    A document's score is the log odds of its relevance, minus ``prior`` times the logarithm of its previous rank: a
    small model that reads one document at a time makes other errors than the first ranking.

    Attributes:
        reranker: The model.
        candidates: Number of documents to rerank; later ones keep their order after them.
        prior: Weight of the previous rank; 0 uses the reranker alone.
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
        """The reranker and the settings."""
        return f"rerank{self.candidates}({self.reranker.signature}, prior={self.prior:g})"

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """Return the same documents in their new order; the reranker's relevance is added to the scores as ``rerank``.

        Retracted documents are not read: they keep their place and do not count as candidates.
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
