"""Vectors of documents, cached on disk by content: a file that is searched again is not embedded again.

The cache contains hashes and vectors, no texts. Vectors are kept by the embedder's signature.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import Embeds, EmbedsDocuments, EmbedsQuestions
from vericite.records import Document

if TYPE_CHECKING:
    from vericite.disk.store import Row, RowStore

FILE = "vectors.sqlite"
"""Name of the file in the cache folder."""

OnEmbedding = Callable[[int, int], None]
"""Called with the number of documents embedded so far, and the number of those without a cached vector."""

_FORM = ("vectors of documents", "vector", "(key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
_STORED = np.dtype("<f4")
_AT_ONCE = 100
"""Documents embedded and stored at a time: a kill costs some seconds of work."""

_MAX_KEPT = 100_000
"""Maximum number of documents in one file to cache, about 150 MB; use a store for more."""


def vectors_of(
    documents: Sequence[Document], embedder: Embeds, file: Path | None, on_embedding: OnEmbedding | None = None
) -> NDArray[np.float32]:
    """Return a row for each document, from the cache where possible.

    Args:
        documents: The documents.
        embedder: Makes the missing vectors.
        file: The cache; None: no cache.
        on_embedding: Called after every hundred embedded documents.
    """
    if file is None or len(documents) > _MAX_KEPT:
        return _made(documents, embedder, None, on_embedding)
    from vericite.disk.store import Form, RowStore  # imported late: it loads SQLite

    store = RowStore(file, Form(*_FORM))
    try:
        return _made(documents, embedder, store, on_embedding)
    finally:
        store.close()


def _made(
    documents: Sequence[Document], embedder: Embeds, store: RowStore | None, on_embedding: OnEmbedding | None
) -> NDArray[np.float32]:
    keys = [_key(embedder.signature, document) for document in documents]
    rows = store.find(list(dict.fromkeys(keys))) if store else {}
    vectors = {key: np.frombuffer(row[1], _STORED) for key, row in rows.items()}
    missing = {key: document for key, document in zip(keys, documents, strict=True) if key not in vectors}
    rest, done = iter(missing.items()), 0
    while some := dict(islice(rest, _AT_ONCE)):
        made = embedded(embedder, list(some.values()))
        vectors.update(zip(some, made, strict=True))
        if store:
            kept: list[Row] = [(key, row.astype(_STORED).tobytes()) for key, row in zip(some, made, strict=True)]
            store.put(kept)
        done += len(some)
        if on_embedding:
            on_embedding(done, len(missing))
    if not keys:
        return embedded(embedder, [])
    return np.stack([vectors[key] for key in keys]).astype(np.float32)


def embedded(embedder: Embeds, documents: Sequence[Document]) -> NDArray[np.float32]:
    """Return a row for each document. Titles are read in the embedder's own way if it has one."""
    if isinstance(embedder, EmbedsDocuments):
        return embedder.embed_documents(documents)
    return embedder.embed(document.titled_text for document in documents)


def query_vector(embedder: Embeds, question: str) -> NDArray[np.float32]:
    """Return a question's vector, made in the embedder's own way for questions if it has one."""
    return embedder.embed_query(question) if isinstance(embedder, EmbedsQuestions) else embedder.embed([question])[0]


def _key(signature: str, document: Document) -> bytes:
    # JSON marks where each text ends, and accepts any text.
    return blake2b(json.dumps([signature, document.title, document.text]).encode(), digest_size=16).digest()
