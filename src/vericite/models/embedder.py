"""Texts as vectors of unit length."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import Pair
from vericite.models.engine import Engine
from vericite.models.folder import EMBEDDER, RERANKER, ModelFolder


class Embedder:
    """The bundled embedding model; the product of two vectors is their cosine."""

    def __init__(self, folder: ModelFolder | None = None) -> None:
        self.folder = folder or ModelFolder.bundled(EMBEDDER)
        self._engine = Engine(self.folder)

    @staticmethod
    @cache
    def shared() -> Embedder:
        """The bundled one; the same, with its weights, at every call."""
        return Embedder()

    @property
    def signature(self) -> str:
        """For provenance."""
        return self.folder.signature

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row a text."""
        rows = [row.values for row in self._engine.run(texts)]
        return np.stack(rows) if rows else np.zeros((0, self.folder.card.width), dtype=np.float32)


class Reranker:
    """The bundled cross-encoder of question and document. Safe to share between threads.

    A document's logit does not depend on the other documents. It reads the first 256 tokens of question and document
    together, of which the question loses none unless it has more than half.
    """

    def __init__(self, folder: ModelFolder | None = None) -> None:
        self.folder = folder or ModelFolder.bundled(RERANKER)
        self._engine = Engine(self.folder)

    @staticmethod
    @cache
    def shared() -> Reranker:
        """The bundled one; the same, with its weights, at every call."""
        return Reranker()

    @property
    def signature(self) -> str:
        """For provenance."""
        return self.folder.signature

    def logits(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """One number a text, titles and all; the higher, the more relevant, and 0 is as likely as not."""
        card = self.folder.card
        # The base has learnt from questions before texts: the other way round its order is hardly better than chance.
        rows = [row.values[0] for row in self._engine.run(Pair(question, text) for text in texts)]
        return np.array(rows, dtype=np.float32) / np.float32(card.temperature) + np.float32(card.offset)

    def relevance(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """The probability that each text is relevant, calibrated on candidates of the first stage; 0 to 1."""
        # The sigmoid, in a form that no logit overflows.
        return ((1 + np.tanh(self.logits(question, texts) / 2)) / 2).astype(np.float32)
