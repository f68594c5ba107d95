"""Retrieval over documents in memory: by words, by meaning, or by both, fused by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.records import Document, Evidence, Question
from vericite.retrieve.bm25 import BM25
from vericite.retrieve.fusion import RRF
from vericite.retrieve.way import Way

if TYPE_CHECKING:
    from vericite.models import Embeds


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


class MemoryRetriever:
    """Ranks documents by BM25, by cosine, or by the fused ranks of both.

    Args:
        documents: The corpus.
        embedder: Makes the vectors of questions, and of the documents where ``vectors`` is None. It may be one that
            ``EmbedsQuestions`` or ``EmbedsDocuments`` in a way of their own.
        vectors: The documents' vectors, a row a document, by this embedder.
        by: What they are ranked by.
        name: What the scores by meaning are called in the evidence.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        embedder: Embeds | None = None,
        vectors: NDArray[np.float32] | None = None,
        by: Way = "hybrid",
        name: str = "dense",
    ) -> None:
        twice = next((id for id, times in Counter(document.id for document in documents).items() if times > 1), None)
        if twice is not None:
            raise InputError(f"expected every document to have an id of its own; found {twice!r} twice")
        if embedder is None and by != "bm25":
            raise InputError(f"expected an embedder to rank by {by}; found none. Give one, or rank by bm25.")
        if vectors is not None and len(vectors) != len(documents):
            raise ValueError(f"expected {len(documents)} vectors, one a document; found {len(vectors)}")
        self.documents = documents
        self._embedder = embedder
        self._given = vectors
        self._by: Way = by
        self._name = name

    @property
    def signature(self) -> str:
        """What ranks, and by which embedder."""
        if self._embedder is None or self._by == "bm25":
            return "bm25"
        dense = f"{self._name}({self._embedder.signature})"
        return dense if self._by == "dense" else f"rrf{RRF}(bm25, {dense})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents.

        By BM25 a document has to share a word with the question. By meaning every document ranks somewhere: whether
        the evidence suffices is for the generator to say.
        """
        scores = self._scores(question.text)
        ranked = self._fused(scores) if self._by == "hybrid" else next(iter(scores.values()))
        best = [int(index) for index in np.argsort(-ranked, kind="stable")[:k]]
        if self._by == "bm25":
            best = [index for index in best if ranked[index] > 0]
        return tuple(
            Evidence(
                document=self.documents[index],
                rank=rank,
                score=float(ranked[index]),
                retriever=self._name if self._by == "dense" else self._by,
                scores={name: float(each[index]) for name, each in scores.items()},
            )
            for rank, index in enumerate(best, start=1)
        )

    def _scores(self, question: str) -> dict[str, NDArray[np.float32]]:
        scores: dict[str, NDArray[np.float32]] = {}
        if self._by != "dense":
            scores["bm25"] = self._words.scores(question)
        if self._by != "bm25" and self._embedder is not None:
            scores[self._name] = self._vectors @ _asked(self._embedder, question)
        return scores

    def _fused(self, scores: dict[str, NDArray[np.float32]]) -> NDArray[np.float64]:
        lexical, dense = scores["bm25"], scores[self._name]
        # A document without a query term has no place in BM25's ranking, not merely a low one.
        return np.where(lexical > 0, 1 / (RRF + _ranks(lexical)), 0) + 1 / (RRF + _ranks(dense))

    @cached_property
    def _words(self) -> BM25:
        return BM25(document.titled_text for document in self.documents)

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        if self._given is not None or self._embedder is None:
            return np.zeros((0, 0), dtype=np.float32) if self._given is None else self._given
        if isinstance(self._embedder, EmbedsDocuments):
            return self._embedder.embed_documents(self.documents)
        return self._embedder.embed(document.titled_text for document in self.documents)


def _asked(embedder: Embeds, question: str) -> NDArray[np.float32]:
    return embedder.embed_query(question) if isinstance(embedder, EmbedsQuestions) else embedder.embed([question])[0]


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
