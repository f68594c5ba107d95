"""BM25 over documents in memory.

A few dozen lines, because the packages that do it bring scipy or an index on disk; larger corpora go to the
store, which has an index of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vericite.text.terms import terms

K1 = 1.2
B = 0.75


class BM25:
    """An inverted index with Lucene's weighting."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        self.size = len(counts)
        lengths = np.array([count.total() for count in counts], dtype=np.float32)
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()) if self.size else 0.0, 1.0))
        postings: dict[str, list[tuple[int, int]]] = {}
        for index, count in enumerate(counts):
            for term, times in count.items():
                postings.setdefault(term, []).append((index, times))
        self._postings = {term: np.array(found, dtype=np.int64) for term, found in postings.items()}

    def scores(self, query: str) -> NDArray[np.float32]:
        """One score a text; 0 where it shares no term with the query."""
        scores = np.zeros(self.size, dtype=np.float32)
        for term in dict.fromkeys(terms(query)):
            found = self._postings.get(term)
            if found is not None:
                weight = np.log(1 + (self.size - len(found) + 0.5) / (len(found) + 0.5))
                rows, times = found[:, 0], found[:, 1]
                scores[rows] += weight * times / (times + self._norm[rows])
        return scores
