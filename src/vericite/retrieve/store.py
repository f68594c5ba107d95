"""Retrieval from a store of documents, by their words."""

from __future__ import annotations

from dataclasses import replace

from vericite.corpus.store import Filters, Store
from vericite.records import Evidence, Question


class StoreRetriever:
    """Finds documents of a store by BM25. Retracted ones are no evidence unless the filters ask for them.

    Args:
        store: Where to look.
        filters: What a document has to be.
    """

    def __init__(self, store: Store, filters: Filters | None = None) -> None:
        chosen = filters or Filters()
        self._filters = replace(chosen, retracted=False) if chosen.retracted is None else chosen
        self._store = store

    @property
    def signature(self) -> str:
        """What ranks, and what was let through."""
        return f"store-bm25({self._filters.predicate() or 'all'})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents that share a word with the question."""
        hits = self._store.search(question.text, k, self._filters)
        return tuple(
            Evidence(document=hit.document, rank=rank, score=hit.score, retriever="bm25", scores={"bm25": hit.score})
            for rank, hit in enumerate(hits, start=1)
        )
