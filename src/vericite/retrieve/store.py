"""Retrieval from a store of documents: by their words, by meaning, or by both."""

from __future__ import annotations

import logging

from vericite.corpus.store import Filters, Store
from vericite.corpus.store.contract import Hit
from vericite.errors import InputError
from vericite.models.contracts import Embeds
from vericite.models.embedder import Embedder
from vericite.records import Evidence, Question
from vericite.retrieve.retriever import DEPTH, RRF, Way, fused
from vericite.retrieve.vectors import query_vector

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


def _evidence(hits: tuple[Hit, ...], name: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(document=hit.document, rank=rank, score=hit.score, retriever=name, scores={name: hit.score})
        for rank, hit in enumerate(hits, start=1)
    )
