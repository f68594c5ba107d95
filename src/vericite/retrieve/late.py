"""Meaning without stored vectors: those of the documents that words find are made when the question comes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vericite.models.contracts import Embeds
from vericite.records import Evidence, Question
from vericite.retrieve.retriever import DEPTH, Retriever
from vericite.retrieve.vectors import query_vector, vectors_of


class LateRetriever:
    """Finds documents by another retriever and ranks them by meaning, for stores too large to have vectors.

    What the other does not find is not found. Its own ranks do not count among those that it found: fused with them
    the order is worse.

    Args:
        words: Who finds.
        embedder: Makes the vectors of questions and documents.
        depth: Documents that are embedded for a question; what is found beyond them keeps its place behind.
        file: Where vectors are kept, so that a document which is found again is not embedded again; None keeps none.
    """

    def __init__(self, words: Retriever, embedder: Embeds, depth: int = DEPTH, file: Path | None = None) -> None:
        self._words = words
        self._embedder = embedder
        self._depth = depth
        self._file = file

    @property
    def signature(self) -> str:
        """What ranks, and what finds."""
        return f"late@{self._depth}(dense({self._embedder.signature}) of {self._words.signature})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents; they keep the scores that they were found by."""
        found = self._words.retrieve(question, max(k, self._depth))
        if not found:
            return ()
        read, rest = found[: self._depth], found[self._depth : k]
        vectors = vectors_of([hit.document for hit in read], self._embedder, self._file)
        cosines = vectors @ query_vector(self._embedder, question.text)
        ranked = [
            Evidence(
                document=read[place].document,
                rank=rank,
                score=float(cosines[place]),
                retriever="late",
                scores={**read[place].scores, "dense": float(cosines[place])},
            )
            for rank, place in enumerate(map(int, np.argsort(-cosines, kind="stable")), start=1)
        ]
        return (*ranked, *rest)[:k]
