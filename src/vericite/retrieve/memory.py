"""Retrieval over documents in memory: BM25 and vectors, fused by rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.models import Embedder
from vericite.records import Document, Evidence, Question
from vericite.retrieve.bm25 import BM25

RRF = 60
"""Reciprocal rank fusion's constant, as its paper sets it."""


class MemoryRetriever:
    """Ranks documents by the fused ranks of BM25 and cosine.

    Args:
        documents: The corpus.
        embedder: Makes the vectors of questions, and of the documents where ``vectors`` is None.
        vectors: The documents' vectors, a row a document, by this embedder.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        embedder: Embedder,
        vectors: NDArray[np.float32] | None = None,
    ) -> None:
        ids = [document.id for document in documents]
        if len(set(ids)) < len(ids):
            twice = next(id for id in ids if ids.count(id) > 1)
            raise InputError(f"expected every document to have an id of its own; found {twice!r} twice")
        self.documents = documents
        self._embedder = embedder
        texts = [document.titled_text for document in documents]
        self._bm25 = BM25(texts)
        self._vectors = embedder.embed(texts) if vectors is None else vectors
        if len(self._vectors) != len(documents):
            raise ValueError(f"expected {len(documents)} vectors, one a document; found {len(self._vectors)}")

    @property
    def signature(self) -> str:
        """What is fused, and by which embedder."""
        return f"rrf{RRF}(bm25, dense({self._embedder.signature}))"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents.

        A document that shares no term and no meaning still ranks somewhere: whether the evidence suffices is
        for the generator to say.
        """
        lexical = self._bm25.scores(question.text)
        dense = self._vectors @ self._embedder.embed([question.text])[0]
        # A document without a query term has no place in BM25's ranking, not merely a low one.
        fused = np.where(lexical > 0, 1 / (RRF + _ranks(lexical)), 0) + 1 / (RRF + _ranks(dense))
        best = [int(index) for index in np.argsort(-fused, kind="stable")[:k]]
        return tuple(
            Evidence(
                document=self.documents[index],
                rank=rank,
                score=float(fused[index]),
                retriever="hybrid",
                scores={"bm25": float(lexical[index]), "dense": float(dense[index])},
            )
            for rank, index in enumerate(best, start=1)
        )


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
