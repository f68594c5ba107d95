"""Retrieval from documents in memory or in a store: by words, by meaning, or by both with fused ranks."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vericite.corpus.store.contract import Filters, Hit, Store
from vericite.errors import InputError
from vericite.models.contracts import Embeds
from vericite.models.embedder import Embedder
from vericite.records import Document, Evidence, Question
from vericite.retrieve.retriever import DEPTH, RRF, Retriever, Way, corpus_signature, fused
from vericite.retrieve.vectors import embedded, query_vector, vectors_of
from vericite.text.terms import terms

if TYPE_CHECKING:
    from vericite.models.contracts import Embeds


K1 = 1.2
B = 0.75


class BM25:
    """An inverted index with Lucene's weighting."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        self._measure(np.array([count.total() for count in counts], dtype=np.float32))
        self._places: NDArray[np.int64] | None = None
        postings: dict[str, list[tuple[int, int]]] = {}
        for index, count in enumerate(counts):
            for term, times in count.items():
                postings.setdefault(term, []).append((index, times))
        self._postings = {term: np.array(found, dtype=np.int64) for term, found in postings.items()}

    def _measure(self, lengths: NDArray[np.float32]) -> None:
        self.size, self._lengths = len(lengths), lengths
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()) if self.size else 0.0, 1.0))

    def among(self, rows: NDArray[np.int64]) -> BM25:
        """Return the index of some of the texts, which shares this one's terms and scores as one of them alone."""
        made = copy(self)
        made._places = np.full(self.size, -1, dtype=np.int64)
        made._places[rows] = np.arange(len(rows))
        made._measure(self._lengths[rows])
        return made

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return a score for each text; 0 without a common term."""
        scores = np.zeros(self.size, dtype=np.float32)
        for term in dict.fromkeys(terms(query)):
            found = self._postings.get(term)
            if found is not None:
                rows, times = found[:, 0], found[:, 1]
                if self._places is not None:
                    rows = self._places[rows]
                    rows, times = rows[rows >= 0], times[rows >= 0]
                weight = np.log(1 + (self.size - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += weight * times / (times + self._norm[rows])
        return scores


class MemoryRetriever:
    """Ranks documents by BM25, by cosine, or by the fused ranks of both.

    Args:
        documents: The corpus.
        embedder: Makes the vectors of questions, and of documents if ``vectors`` is None. It may be an
            ``EmbedsQuestions`` or ``EmbedsDocuments``.
        vectors: The documents' vectors by this embedder, one row per document.
        by: The ranking.
        name: Name of the scores by meaning in the evidence.
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
            raise InputError(f"expected documents with different ids; found {twice!r} twice")
        if embedder is None and by != "bm25":
            raise InputError(f"expected an embedder to rank by {by}; found none. Give one, or rank by bm25.")
        if vectors is not None and len(vectors) != len(documents):
            raise ValueError(f"expected {len(documents)} vectors, one for each document; found {len(vectors)}")
        self.documents = documents
        self._embedder = embedder
        self._given = vectors
        self._by: Way = by
        self._name = name
        self._part_of: tuple[MemoryRetriever, NDArray[np.int64]] | None = None

    def passing(self, filters: Filters) -> MemoryRetriever:
        """Return a retriever of the documents that pass. It ranks as one of them alone, and shares this one's index."""
        if filters.predicate() is None:
            return self
        kept = [row for row, document in enumerate(self.documents) if filters.passes(document)]
        rows = np.array(kept, dtype=np.int64)
        made = MemoryRetriever([self.documents[row] for row in kept], self._embedder, None, self._by, self._name)
        whole, own = self._part_of or (self, None)
        made._part_of = whole, rows if own is None else own[rows]
        return made

    @property
    def signature(self) -> str:
        """The ranking, the embedder and the documents."""
        return f"{self._ranking} over {self._corpus}"

    @property
    def _ranking(self) -> str:
        if self._embedder is None or self._by == "bm25":
            return "bm25"
        dense = f"{self._name}({self._embedder.signature})"
        return dense if self._by == "dense" else f"rrf{RRF}(bm25, {dense})"

    @cached_property
    def _corpus(self) -> str:
        return corpus_signature(self.documents)

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents.

        With BM25, a document must share a word with the question. By meaning, every document has a rank; the generator
        decides whether the evidence suffices.
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
            scores[self._name] = self._products(query_vector(self._embedder, question))
        return scores

    def _products(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._part_of is None:
            return self._vectors @ query
        whole, rows = self._part_of
        return whole._products(query)[rows]

    def _fused(self, scores: dict[str, NDArray[np.float32]]) -> NDArray[np.float64]:
        lexical, dense = scores["bm25"], scores[self._name]
        # A document without a query term has no rank in BM25, not merely a low one.
        return np.where(lexical > 0, 1 / (RRF + _ranks(lexical)), 0) + 1 / (RRF + _ranks(dense))

    @cached_property
    def _words(self) -> BM25:
        if self._part_of is None:
            return BM25(document.titled_text for document in self.documents)
        whole, rows = self._part_of
        return whole._words.among(rows)

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        if self._given is not None or self._embedder is None:
            return np.zeros((0, 0), dtype=np.float32) if self._given is None else self._given
        return embedded(self._embedder, self.documents)


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


_LOG = logging.getLogger(__name__)


class StoreRetriever:
    """Finds documents in a store. Retracted documents are found like others, and marked (``document.retracted``).

    Args:
        store: The store to search.
        filters: Conditions on the documents.
        by: The ranking. None: words and meaning if the store has vectors of this embedder, otherwise words, with a
            warning if its vectors are another embedder's.
        embedder: Makes the vectors of questions. Default: the bundled one.

    Raises:
        InputError: ``by`` needs vectors, and the store has none of this embedder.
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
        rebuild = "Build the store again in another place with --vectors"
        if by is not None:
            raise InputError(f"{expected} to rank by {by}; found {found}. {rebuild}, or rank by bm25.")
        _LOG.warning("%s; found %s, so documents are found by words only. %s.", expected, found, rebuild)

    @property
    def signature(self) -> str:
        """The ranking, the filters and the store."""
        through = self._filters.predicate() or "all"
        return f"store-{self._ranking}({through}) over {self._store.signature}"

    @property
    def _ranking(self) -> str:
        if self.by == "bm25":
            return "bm25"
        dense = f"dense({self._own.signature})"
        return dense if self.by == "dense" else f"rrf{RRF}@{DEPTH}(bm25, {dense})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents; with BM25 they share a word with the question."""
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
        # Do not load the embedder's weights for a store without vectors.
        return self._store.embedder is not None and self._store.embedder == self._own.signature

    @property
    def _own(self) -> Embeds:
        return self._embedder or Embedder.shared()


class LateRetriever:
    """Finds documents with another retriever and ranks them by meaning, for stores that are too large for vectors.

    Only documents that the other retriever finds are ranked. Its own ranks are ignored for them: fusing the two makes
    the order worse.

    Args:
        words: The retriever that finds documents.
        embedder: Makes the vectors of questions and documents.
        depth: Documents to embed for a question; later ones keep their order after them.
        file: Cache of vectors, so that documents are not embedded again. None: no cache.
    """

    def __init__(self, words: Retriever, embedder: Embeds, depth: int = DEPTH, file: Path | None = None) -> None:
        self._words = words
        self._embedder = embedder
        self._depth = depth
        self._file = file

    @property
    def signature(self) -> str:
        """The ranking and the retriever that finds documents."""
        return f"late@{self._depth}(dense({self._embedder.signature}) of {self._words.signature})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents; they keep the scores of the first retriever."""
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
