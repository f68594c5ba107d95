"""Retrievers, and the fusion of their rankings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Literal, Protocol

from vericite.errors import InputError
from vericite.records import Document, Evidence, Question


class Retriever(Protocol):
    """Finds documents for a question."""

    @property
    def signature(self) -> str:
        """The ranking and the documents, for provenance."""
        ...

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents, the best first, with ranks from 1."""
        ...


def corpus_signature(documents: Iterable[Document]) -> str:
    """Return the number of documents and a digest of their ids, titles and texts in order."""
    digest, count = blake2b(digest_size=6), 0
    for document in documents:
        # JSON marks where each text ends, and accepts any text.
        digest.update(json.dumps([document.id, document.title, document.text]).encode())
        count += 1
    return f"{count}@{digest.hexdigest()}"


class ClosedBook:
    """Finds nothing, to show what is known without documents."""

    signature = "closed-book"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return no documents."""
        return ()


RRF = 10
"""The constant of reciprocal rank fusion. The paper has 60, which gives little weight to the first ranks. On 154
questions 10 was better, before and after reranking (recipes/search/LOG.md)."""

DEPTH = 100
"""Documents of each ranking to fuse."""


def fused(
    rankings: Sequence[Sequence[Evidence]], k: int, name: str = "hybrid", constant: int = RRF
) -> tuple[Evidence, ...]:
    """Return the ``k`` documents with the highest sum of 1 / (constant + rank); ties keep the order of appearance.

    A document keeps the scores of every ranking that contains it. A ranking without the document adds nothing to it.
    """
    scores: dict[str, float] = {}
    seen: dict[str, Evidence] = {}
    for ranking in rankings:
        for hit in ranking:
            id = hit.document.id
            scores[id] = scores.get(id, 0.0) + 1 / (constant + hit.rank)
            known = seen.get(id)
            seen[id] = hit if known is None else known.model_copy(update={"scores": {**hit.scores, **known.scores}})
    best = sorted(seen, key=lambda id: -scores[id])[:k]
    return tuple(
        Evidence(document=seen[id].document, rank=rank, score=scores[id], retriever=name, scores=seen[id].scores)
        for rank, id in enumerate(best, start=1)
    )


class Fused:
    """Fuses the rankings of several retrievers.

    Args:
        retrievers: At least one; each should use a different name for its scores.
        name: Name of the ranking in the evidence: ``hybrid``, ``rrf-4`` ...
        depth: Documents of each to fuse.
        constant: Constant of the fusion; MedRAG's RRF-2 and RRF-4 have 100.
    """

    def __init__(
        self, retrievers: Sequence[Retriever], name: str = "hybrid", depth: int = DEPTH, constant: int = RRF
    ) -> None:
        if not retrievers:
            raise InputError("expected at least one retriever to fuse; found none")
        self._retrievers = tuple(retrievers)
        self._name = name
        self._depth = depth
        self._constant = constant

    @property
    def signature(self) -> str:
        """The fused retrievers and the settings."""
        parts = ", ".join(retriever.signature for retriever in self._retrievers)
        return f"rrf{self._constant}@{self._depth}({parts})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents."""
        rankings = [retriever.retrieve(question, max(k, self._depth)) for retriever in self._retrievers]
        return fused(rankings, k, self._name, self._constant)


Way = Literal["bm25", "dense", "hybrid"]
"""By words (BM25), by meaning (cosine of vectors), or by the fused ranks of both."""
