"""Vectors of documents, kept on disk by content: a file that is searched again is not embedded again.

The file holds hashes and vectors, none of the texts. It knows an embedder by its signature.
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
"""Its name in the cache's folder."""

OnEmbedding = Callable[[int, int], None]
"""Called with how many of the documents without a vector have one now, and how many there were."""

_FORM = ("vectors of documents", "vector", "(key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
_STORED = np.dtype("<f4")
_AT_ONCE = 100
"""Documents that are embedded and kept together: some seconds' work, which a kill may cost."""

_MOST_KEPT = 100_000
"""Documents of one file whose vectors are kept, some 150 MB; a store is for more."""


def vectors_of(
    documents: Sequence[Document], embedder: Embeds, file: Path | None, on_embedding: OnEmbedding | None = None
) -> NDArray[np.float32]:
    """A row a document, taken from the file where it is there.

    Args:
        documents: The documents.
        embedder: Makes what is not there.
        file: Where vectors are kept; None keeps none.
        on_embedding: Called after every hundred documents that are embedded.
    """
    if file is None or len(documents) > _MOST_KEPT:
        return _made(documents, embedder, None, on_embedding)
    from vericite.disk.store import Form, RowStore  # Loads SQLite.

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
    """A row a document, titles read in the embedder's own way if it has one."""
    if isinstance(embedder, EmbedsDocuments):
        return embedder.embed_documents(documents)
    return embedder.embed(document.titled_text for document in documents)


def query_vector(embedder: Embeds, question: str) -> NDArray[np.float32]:
    """The vector of a question, by the embedder's own way for questions where it has one."""
    return embedder.embed_query(question) if isinstance(embedder, EmbedsQuestions) else embedder.embed([question])[0]


def _key(signature: str, document: Document) -> bytes:
    # JSON marks where each text ends, and takes any text.
    return blake2b(json.dumps([signature, document.title, document.text]).encode(), digest_size=16).digest()
