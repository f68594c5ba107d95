"""How well sentences answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.generate.extractive.candidates import Candidate
from vericite.generate.extractive.settings import ExtractiveSettings
from vericite.models import Embedder
from vericite.records import Evidence
from vericite.text.terms import terms

Floats = NDArray[np.float32]


class Reads(Protocol):
    """Tells how relevant texts are to a question, as ``vericite.models.reranker.Reranker`` does."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def relevance(self, question: str, texts: Sequence[str]) -> Floats:
        """A probability a text."""
        ...


@dataclass(frozen=True)
class Scale:
    """What sentences are weighed with.

    Attributes:
        embedder: For their nearness to the question and to each other.
        reranker: Reads each with the question; None goes by nearness and words alone.
        settings: How much each counts.
    """

    embedder: Embedder
    reranker: Reads | None
    settings: ExtractiveSettings

    def weigh(self, question: str, candidates: Sequence[Candidate], evidence: Sequence[Evidence]) -> Weighed:
        """Give each candidate its worth."""
        vectors = self.embedder.embed([question, *(candidate.text for candidate in candidates)])
        likeness = vectors @ vectors.T
        documents = self._documents(vectors[0], evidence)
        wanted = set(terms(question))
        read = self._read(question, candidates)
        for index, candidate in enumerate(candidates):
            shared = len(wanted & set(terms(candidate.text))) / max(1, len(wanted))
            worded = self.settings.wording * shared + self.settings.source * documents[candidate.marker - 1]
            candidate.worth = float(likeness[0, index + 1]) + worded + self.settings.reading * float(read[index])
        best = float(likeness[0, 1:].max()) + max(documents) if candidates else 0.0
        return Weighed(likeness[1:, 1:], best)

    def _documents(self, question: Floats, evidence: Sequence[Evidence]) -> list[float]:
        """Each document's cosine to the question: the retriever's, where it has one."""
        if all("dense" in hit.scores for hit in evidence):
            return [hit.scores["dense"] for hit in evidence]
        vectors = self.embedder.embed(hit.document.titled_text for hit in evidence)
        return [float(vector @ question) for vector in vectors]

    def _read(self, question: str, candidates: Sequence[Candidate]) -> Floats:
        if self.reranker is None or not candidates:
            return np.zeros(len(candidates), dtype=np.float32)
        return self.reranker.relevance(question, [candidate.text for candidate in candidates])


@dataclass(frozen=True)
class Weighed:
    """What was found in passing: the cosine of each candidate to each, and how near the evidence comes at best.

    ``nearest`` is the sum of the cosines to the question of the nearest sentence and the nearest document.
    """

    likeness: Floats
    nearest: float
