"""Vectors of questions, computed once and kept beside the pool."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from vericite.models import Embeds

_LOG = logging.getLogger(__name__)

Array = NDArray[np.float32]


class Vectors:
    """Vectors by the hash of their texts. Those of a pool are kept in a file, others for as long as this object.

    A file that is damaged or of another embedder is made anew; one that cannot be written costs a warning.
    """

    def __init__(self, embedder: Embeds, file: Path | None = None) -> None:
        self._embedder = embedder
        self.file = file
        self._known: dict[bytes, Array] = {} if file is None else _read(file, embedder.signature)

    @classmethod
    def beside(cls, pool: Path | None, embedder: Embeds) -> Vectors:
        """Those of a pool in a file: ``pool.jsonl`` has ``pool.jsonl.vectors.npz`` beside it."""
        return cls(embedder, None if pool is None else pool.with_name(f"{pool.name}.vectors.npz"))

    @property
    def signature(self) -> str:
        """The embedder's."""
        return self._embedder.signature

    def of(self, texts: Sequence[str], keep: bool = False) -> Array:
        """One row a text; with ``keep`` the file holds these, and only these, afterwards."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        absent = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        fresh = self._embedder.embed(absent.values())
        self._known.update(zip(absent, fresh, strict=True))
        rows = [self._known[key] for key in keys]
        if keep and absent and self.file is not None:
            _write(self.file, self.signature, dict(zip(keys, rows, strict=True)))
        return np.stack(rows) if rows else fresh


def _read(file: Path, signature: str) -> dict[bytes, Array]:
    if not file.exists():
        return {}
    try:
        with file.open("rb") as raw, np.load(raw, allow_pickle=False) as arrays:
            keys, vectors, embedder = arrays["keys"], arrays["vectors"], str(arrays["embedder"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        _LOG.warning("expected vectors in %s; found a damaged file: %s. They are computed again.", file, error)
        return {}
    right = keys.dtype == np.uint8 and vectors.dtype == np.float32 and keys.shape == (len(vectors), 32)
    if not right or vectors.ndim != 2 or embedder != signature:
        return {}
    return {row.tobytes(): vector for row, vector in zip(keys, vectors, strict=True)}


def _write(file: Path, signature: str, rows: dict[bytes, Array]) -> None:
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    keys = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 32)
    try:
        with partial.open("wb") as out:
            np.savez(out, keys=keys, vectors=np.stack(list(rows.values())), embedder=np.array(signature))
        partial.replace(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        _LOG.warning(
            "expected to keep vectors in %s; found: %s. The next run computes them again.", file, error.strerror
        )
