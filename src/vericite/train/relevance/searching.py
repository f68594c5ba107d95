"""The first stage, as a reranker meets it: BM25, vectors and both fused, over parts of the corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vericite.models import Embedder
from vericite.records import Document, Question
from vericite.retrieve.bm25 import BM25
from vericite.retrieve.memory import MemoryRetriever
from vericite.train.mix.files import Row

Found = list[tuple[int, float]]
"""Places in the corpus with their scores, the best first."""


def as_document(row: Row) -> Document:
    """A row of the corpus; a title that is the abstract's first words is not told twice."""
    title, abstract = " ".join(row["title"].split()), " ".join(row["abstract"].split())
    return Document.from_text(row["pmid"], abstract, "" if abstract.startswith(title) else title)


class Shelf:
    """Documents that can be searched in each way."""

    def __init__(self, documents: Sequence[Document], vectors: NDArray[np.float32]) -> None:
        self.documents = documents
        self.vectors = vectors
        self.texts = [document.titled_text for document in documents]
        self.places = {document.id: place for place, document in enumerate(documents)}
        self._bm25 = BM25(self.texts)
        self._fused = MemoryRetriever(documents, Embedder.shared(), vectors)

    def bm25(self, question: str, count: int) -> Found:
        """By words; documents without any of the question's are not found."""
        scores = self._bm25.scores(question)
        best = np.argsort(-scores, kind="stable")[:count]
        return [(int(place), float(scores[place])) for place in best if scores[place] > 0]

    def dense(self, question: str, count: int) -> Found:
        """By cosine."""
        scores = self.vectors @ Embedder.shared().embed([question])[0]
        return [(int(place), float(scores[place])) for place in np.argsort(-scores, kind="stable")[:count]]

    def hybrid(self, question: str, count: int) -> Found:
        """By the fused ranks of both."""
        found = self._fused.retrieve(Question(id="question", text=question), count)
        return [(self.places[one.document.id], float(one.score or 0)) for one in found]
