"""The library of a service: the corpora that it was started with, and the shelves that its clients made."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock
from typing import Any

from vericite.corpus import demo_documents, load_documents
from vericite.corpus.store.place import is_store
from vericite.errors import InputError, Problems
from vericite.serve.offer import Offer
from vericite.serve.shelves import DocumentShelf, Shelves, facts_of

_KNOWN_SECONDS = 300
"""Seconds for which the facts of a corpus are kept: counting those of a large store takes seconds."""
_COUNTED_BYTES = 20_000_000
"""Size of a file from which its documents are not counted."""


class CorpusLibrary:
    """The documents that questions can be answered from. Thread-safe."""

    def __init__(self, offer: Offer, folder: Path) -> None:
        self._offer = offer
        self.shelves = Shelves(folder, offer.limits, offer.works)
        self._facts: dict[str, tuple[float, dict[str, object]]] = {}
        self._counting = Lock()

    @property
    def corpora(self) -> dict[str, str]:
        """Corpora by the names that requests use."""
        return {**self._offer.corpora, **self.shelves.places}

    @property
    def works(self) -> dict[str, str]:
        """Where references may be looked up, by the names that requests use."""
        return {**self._offer.works, **self.shelves.places}

    def all(self) -> list[DocumentShelf]:
        """Return all shelves: those of the service first."""
        return [*(self._described(name, place) for name, place in self._offer.corpora.items()), *self.shelves.all()]

    def _described(self, name: str, place: str) -> DocumentShelf:
        with self._counting:
            known = self._facts.get(name)
            if known is None or time.monotonic() - known[0] > _KNOWN_SECONDS:
                known = self._facts[name] = (time.monotonic(), _facts(place))
        return DocumentShelf(name=name, kind=_kind(place)).model_copy(update=known[1])


def _kind(place: str) -> str:
    if place in ("demo", "pubmed"):
        return place
    return "store" if is_store(place) else "file"


def _facts(place: str) -> dict[str, Any]:
    kind = _kind(place)
    if kind == "store":
        return facts_of(place)
    # Reading a folder of PDFs takes minutes.
    if kind == "pubmed" or (kind == "file" and (Path(place).is_dir() or Path(place).stat().st_size > _COUNTED_BYTES)):
        return {}
    try:
        documents = demo_documents() if kind == "demo" else load_documents(Path(place), Problems())
    except InputError:
        return {"problem": "It cannot be read on the service's disk"}
    years = [document.year for document in documents if document.year is not None]
    return {"documents": len(documents), "years": (min(years), max(years)) if years else None}
