"""The sentences of documents that say most of what a sentence says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vericite.records import Document
from vericite.text.instructions import instructing
from vericite.text.sentences import document_sentences
from vericite.verify.likeness import shared


class Told(NamedTuple):
    """A sentence of a document, and the share of another's words that it has, rare ones counting more."""

    likeness: float
    text: str
    document: Document


def tellings(claim: str, documents: Sequence[Document]) -> Iterator[Told]:
    """The sentences of the documents, the likest first. What gives its reader orders is not among them."""
    found = [(text, document) for document in documents for text in _sentences(document)]
    likenesses = shared(claim, [text for text, _ in found])
    told = [Told(float(near), text, document) for near, (text, document) in zip(likenesses, found, strict=True)]
    return iter(sorted(told, key=lambda item: -item.likeness))


def _sentences(document: Document) -> Iterator[str]:
    sentences = document_sentences(document)
    orders = instructing(document, sentences)
    for sentence in sentences:
        if sentence.index not in orders:
            yield sentence.text_in(document)
