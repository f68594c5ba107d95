"""Texts as vectors of unit length."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.models.engine import Engine
from vericite.models.folder import EMBEDDER, ModelFolder


class Embeds(Protocol):
    """Makes vectors of unit length, as ``Embedder`` does."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row a text."""
        ...


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
