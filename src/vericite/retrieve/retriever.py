"""What a retriever is."""

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
        """For provenance: what ranks, and which documents."""
        ...

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents, the best first, ranks counted from 1."""
        ...


def corpus_signature(documents: Iterable[Document]) -> str:
    """How many documents there are, and a digest of their ids, titles and texts in their order."""
    digest, count = blake2b(digest_size=6), 0
    for document in documents:
        # JSON marks where each text ends, and takes any text.
        digest.update(json.dumps([document.id, document.title, document.text]).encode())
        count += 1
    return f"{count}@{digest.hexdigest()}"


class ClosedBook:
    """Finds nothing: what is known without documents is to be seen."""

    signature = "closed-book"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """No document."""
        return ()


RRF = 10
"""The constant of the fusion. Its paper has 60, with which the first places count for little; on 154 questions 10 was
better, before and after reranking (recipes/search/LOG.md)."""

DEPTH = 100
"""Documents of each ranking that take part."""


def fused(
    rankings: Sequence[Sequence[Evidence]], k: int, name: str = "hybrid", constant: int = RRF
) -> tuple[Evidence, ...]:
    """The ``k`` documents with the highest sum of 1 / (constant + rank); equal sums in the order they were met.

    A document keeps the scores of every ranking that has it. What one ranking lacks adds nothing: it has no
    place there, not merely a low one.
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
    """A retriever made of others.

    Args:
        retrievers: At least one; each should name its scores differently.
        name: What ranked, in the evidence: ``hybrid``, ``rrf-4`` ...
        depth: Documents of each that take part.
        constant: Of the fusion; MedRAG's RRF-2 and RRF-4 have 100.
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
        """What is fused, and how."""
        parts = ", ".join(retriever.signature for retriever in self._retrievers)
        return f"rrf{self._constant}@{self._depth}({parts})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents."""
        rankings = [retriever.retrieve(question, max(k, self._depth)) for retriever in self._retrievers]
        return fused(rankings, k, self._name, self._constant)


Way = Literal["bm25", "dense", "hybrid"]
"""By their words, by meaning (the cosine of vectors), or by the fused ranks of both."""
