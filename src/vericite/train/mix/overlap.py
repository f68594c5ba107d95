"""Which words two texts share, weighed by how telling they are; and the sentences nearest to a claim."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from vericite.text.terms import terms

_COMMON = 0.01  # a term in more of the texts than this finds nothing worth the walk through its postings
_EMPTY = frozenset(
    """not no may also than more most between such other both used using use study studies result results group groups
    patient patients compared significant significantly associated association effect effects showed found shown among
    been however these which our we but during after before into one two they its can""".split()
)


@lru_cache(maxsize=1 << 18)
def content(text: str) -> frozenset[str]:
    """The terms that carry the topic of a text."""
    return frozenset(term for term in terms(text) if term not in _EMPTY and (len(term) > 1 or term.isdigit()))


class Rarity:
    """How rare a term is among some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._size = 0
        self._weights: dict[str, float] = {}
        for text in texts:
            self._size += 1
            self._counts.update(content(text))

    def weight(self, term: str) -> float:
        """Its inverse document frequency; that of a term never seen is the highest."""
        if term not in self._weights:
            self._weights[term] = math.log(1 + (self._size + 1) / (self._counts[term] + 0.5))
        return self._weights[term]

    def coverage(self, claim: str, premise: str) -> float:
        """The weight of the claim's terms that the premise has, as a share of them all: 0 to 1."""
        wanted, held = sorted(content(claim)), content(premise)  # sorted: sums of floats depend on the order
        weights = [(term, self.weight(term)) for term in wanted]
        total = sum(weight for _, weight in weights)
        return sum(weight for term, weight in weights if term in held) / total if total else 0.0


class Nearest:
    """Finds the texts that share the most telling terms with a claim."""

    def __init__(self, texts: Sequence[str], groups: Sequence[str]) -> None:
        self._groups = groups
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths: list[float] = []
        for index, text in enumerate(texts):
            found = content(text)
            self._lengths.append(1 / (20 + len(found)))  # 20: so that a heading does not beat a sentence
            for term in found:
                self._postings[term].append(index)
        self._size = max(1, len(texts))

    def find(self, claim: str, apart: str, count: int) -> list[int]:
        """The nearest texts of other groups than ``apart``, best first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term in sorted(content(claim)):
            if term.isdigit():  # equal numbers are no common topic
                continue
            postings = self._postings.get(term, [])
            if len(postings) > _COMMON * self._size + 50:
                continue
            weight = math.log(1 + self._size / (len(postings) + 1))
            for index in postings:
                scores[index] += weight
        found = (index for index in scores if self._groups[index] != apart)
        return heapq.nsmallest(count, found, key=lambda index: (-scores[index] * self._lengths[index], index))
