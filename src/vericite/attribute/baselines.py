"""Attributors that know nothing of support: likeness of words' meanings, and chance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vericite.attribute.attributor import Attributor, Found
from vericite.errors import InputError
from vericite.records import Answer, Document
from vericite.text.sentences import document_sentences

if TYPE_CHECKING:
    from vericite.models import Embeds

COSINE = 0.75
"""Cosine from which a source is cited: of 0.50 to 0.95 in steps of 0.05 the best by pooled F1 (0.744) on 50 sentences
of BioASQ answers kept for this (``benchmarks/attribution.py tune``)."""

RATE = 0.2
"""Share of the sources that chance cites."""


class CosineAttributor(Attributor):
    """Cites a source if its likest sentence is like enough to the answer's; the title counts as a sentence."""

    def __init__(self, embedder: Embeds, threshold: float = COSINE) -> None:
        self._embedder = embedder
        self.threshold = threshold

    @property
    def signature(self) -> str:
        """The embedder and the threshold."""
        return f"cosine.v1({self._embedder.signature}, {self.threshold:g})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[Found]]:
        """Every text is embedded once."""
        passages = {id(document): _passages(document) for answer in answers for document in answer.documents}
        texts = dict.fromkeys(text for found in passages.values() for text in found)
        texts |= dict.fromkeys(claim.text for answer in answers for claim in answer.claims)
        rows = {text: row for row, text in enumerate(texts)}
        vectors = self._embedder.embed(list(texts))
        for answer in answers:
            places = [[rows[text] for text in passages[id(document)]] for document in answer.documents]
            yield [self._found(vectors, rows[claim.text], places) for claim in answer.claims]

    def _found(self, vectors: NDArray[np.float32], claim: int, sources: Sequence[list[int]]) -> Found:
        scores = tuple(
            round(float((vectors[places] @ vectors[claim]).max()), 6) if places else None for places in sources
        )
        chosen = (place for place, score in enumerate(scores) if score is not None and score >= self.threshold)
        return Found(scores, tuple(chosen))


def _passages(document: Document) -> list[str]:
    title = [document.title] if document.title.strip() else []
    return [*title, *(sentence.text_in(document) for sentence in document_sentences(document))]


class RandomAttributor(Attributor):
    """Cites by chance, the same whenever it is asked: what any attributor must be better than."""

    def __init__(self, rate: float = RATE, seed: int = 0) -> None:
        if not 0 <= rate <= 1:
            raise InputError(f"expected a rate between 0 and 1; found {rate}")
        self.rate = rate
        self.seed = seed

    @property
    def signature(self) -> str:
        """The rate and the seed."""
        return f"random.v1(rate={self.rate:g}, seed={self.seed})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[Found]]:
        """A draw a sentence and source, of their names and the seed alone."""
        for answer in answers:
            yield [self._found(answer, index) for index in range(len(answer.claims))]

    def _found(self, answer: Answer, index: int) -> Found:
        scores = tuple(round(self._draw(answer.id, index, document.id), 6) for document in answer.documents)
        return Found(scores, tuple(place for place, score in enumerate(scores) if score >= 1 - self.rate))

    def _draw(self, *names: str | int) -> float:
        digest = hashlib.blake2b(repr((self.seed, *names)).encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64
