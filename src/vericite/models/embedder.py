"""The bundled embedder and reranker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import Pair, SentenceInContext
from vericite.models.engine import Engine
from vericite.models.folder import EMBEDDER, RERANKER, ModelFolder


class Embedder:
    """The bundled embedding model. The product of two vectors is their cosine."""

    def __init__(self, folder: ModelFolder | None = None) -> None:
        self.folder = folder or ModelFolder.bundled(EMBEDDER)
        self._engine = Engine(self.folder)

    @staticmethod
    @cache
    def shared() -> Embedder:
        """Return the bundled embedder, the same object with its weights on every call."""
        return Embedder()

    @property
    def signature(self) -> str:
        """Name and hash, for provenance."""
        return self.folder.signature

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return one row for each text."""
        rows = [row.values for row in self._engine.run(texts)]
        return np.stack(rows) if rows else np.zeros((0, self.folder.card.width), dtype=np.float32)


DOCUMENT, SENTENCE = range(2)
"""Columns of the reranker: whether a document is relevant, and whether a sentence answers."""


class Reranker:
    """The bundled cross-encoder of question and text. Threads may share it.

    One of its outputs rates documents, the other sentences. A logit does not depend on the other texts. The first 256
    tokens of question and text together are read. The question is only cut if it has more than half of them.
    """

    def __init__(self, folder: ModelFolder | None = None) -> None:
        self.folder = folder or ModelFolder.bundled(RERANKER)
        self._engine = Engine(self.folder)

    @staticmethod
    @cache
    def shared() -> Reranker:
        """Return the bundled reranker, the same object with its weights on every call."""
        return Reranker()

    @property
    def signature(self) -> str:
        """Name and hash, for provenance."""
        return self.folder.signature

    def logits(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return a number for each text (with its title); higher is more relevant, 0 is a probability of 0.5."""
        card = self.folder.card
        return self._run(question, texts)[:, DOCUMENT] / np.float32(card.temperature) + np.float32(card.offset)

    def relevance(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return each text's probability of relevance, calibrated on candidates of the first stage."""
        return _sigmoid(self.logits(question, texts))

    def answering(self, question: str, sentences: Sequence[SentenceInContext]) -> NDArray[np.float32]:
        """Return the probability that each sentence answers the question."""
        return _sigmoid(self._run(question, [sentence.input for sentence in sentences])[:, SENTENCE])

    def _run(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        # The base learnt from questions before texts. In the other order it is hardly better than chance.
        rows = [row.values for row in self._engine.run(Pair(question, text) for text in texts)]
        return np.stack(rows) if rows else np.zeros((0, self.folder.card.width), dtype=np.float32)


def _sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    # In a form without overflow.
    return ((1 + np.tanh(logits / 2)) / 2).astype(np.float32)
