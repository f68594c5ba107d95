"""Retrieval from a store of documents: by their words, by meaning, by both, or by meaning among what words find."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from vericite.corpus.store import Filters, Store
from vericite.corpus.store.contract import Hit
from vericite.errors import InputError
from vericite.models.contracts import Embeds
from vericite.models.embedder import Embedder
from vericite.records import Evidence, Question
from vericite.retrieve.retriever import DEPTH, RRF, Retriever, Way, fused
from vericite.retrieve.vectors import query_vector, vectors_of

_LOG = logging.getLogger(__name__)


class StoreRetriever:
    """Finds documents of a store. Retracted ones are found like others, and say so (``document.retracted``).

    Args:
        store: Where to look.
        filters: What a document has to be.
        by: What they are ranked by; None for both words and meaning where the store has vectors of this embedder, else
            words, with a warning if its vectors are another embedder's.
        embedder: Makes the vectors of questions; the bundled one if None.

    Raises:
        InputError: ``by`` asks for vectors, and the store has none of this embedder.
    """

    def __init__(
        self, store: Store, filters: Filters | None = None, by: Way | None = None, embedder: Embeds | None = None
    ) -> None:
        self._store = store
        self._filters = filters or Filters()
        self._embedder = embedder
        self.by: Way = by or ("hybrid" if self._has_vectors() else "bm25")
        if self._has_vectors() or by == "bm25" or (by is None and store.embedder is None):
            return
        found = f"those of {store.embedder}" if store.embedder else "none"
        expected = f"expected a store with vectors of {self._own.signature}"
        rebuild = "Build it again in another place with --vectors"
        if by is not None:
            raise InputError(f"{expected} to rank by {by}; found {found}. {rebuild}, or rank by bm25.")
        _LOG.warning("%s; found %s, so documents are found by their words alone. %s.", expected, found, rebuild)

    @property
    def signature(self) -> str:
        """What ranks, what was let through, and which documents there are."""
        through = self._filters.predicate() or "all"
        return f"store-{self._ranking}({through}) over {self._store.signature}"

    @property
    def _ranking(self) -> str:
        if self.by == "bm25":
            return "bm25"
        dense = f"dense({self._own.signature})"
        return dense if self.by == "dense" else f"rrf{RRF}@{DEPTH}(bm25, {dense})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents; by BM25 they share a word with the question."""
        if self.by == "bm25":
            return self._by_words(question, k)
        if self.by == "dense":
            return self._by_meaning(question, k)
        depth = max(k, DEPTH)
        return fused([self._by_words(question, depth), self._by_meaning(question, depth)], k)

    def _by_words(self, question: Question, k: int) -> tuple[Evidence, ...]:
        return _evidence(self._store.search(question.text, k, self._filters), "bm25")

    def _by_meaning(self, question: Question, k: int) -> tuple[Evidence, ...]:
        vector = query_vector(self._own, question.text)
        return _evidence(self._store.search_vectors(vector, k, self._filters), "dense")

    def _has_vectors(self) -> bool:
        # The embedder's weights are not loaded for a store that has no vectors.
        return self._store.embedder is not None and self._store.embedder == self._own.signature

    @property
    def _own(self) -> Embeds:
        return self._embedder or Embedder.shared()


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


def _evidence(hits: tuple[Hit, ...], name: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(document=hit.document, rank=rank, score=hit.score, retriever=name, scores={name: hit.score})
        for rank, hit in enumerate(hits, start=1)
    )
