"""Documents to answer from: the demonstration corpus, or a file of documents."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, RecordError
from vericite.records import Document, Question, read_jsonl

FOLDER = Path(__file__).parent / "demo"


@cache
def demo_documents() -> tuple[Document, ...]:
    """The abstracts."""
    return tuple(read_jsonl(Document, FOLDER / "documents.jsonl"))


@cache
def demo_questions() -> tuple[Question, ...]:
    """The questions, with the ids of the documents that answer them."""
    return tuple(read_jsonl(Question, FOLDER / "questions.jsonl"))


def demo_vectors() -> NDArray[np.float32]:
    """The documents as the bundled embedder sees them, so that a first question need not wait for it."""
    return np.load(FOLDER / "vectors.npy", allow_pickle=False).astype(np.float32)


def load_documents(path: Path, abstracts: bool = False) -> tuple[tuple[Document, ...], tuple[RecordError, ...]]:
    """The documents of a file in any form that is known, and what was wrong with the records that are none.

    A line of JSON Lines is a ``Document`` or has the fields id, text and perhaps title. A document whose id came
    before is an error, for a citation of it would be ambiguous. A record that has only the DOI of another one, which
    has a PMID, is joined with it. With ``abstracts`` articles in full text are read
    without their bodies.

    Raises:
        InputError: The file cannot be read or holds no document at all, or it has no full texts to take abstracts of.
    """
    # Not loaded for the demonstration corpus, whose first question should not wait for the readers of other forms.
    from vericite.corpus.same_article import each_article_once
    from vericite.corpus.sources.registry import documents_in

    documents: list[Document] = []
    problems: list[RecordError] = []
    for item in documents_in(path, abstracts=abstracts):
        if isinstance(item, Document):
            documents.append(item)
        elif isinstance(item, RecordError):
            problems.append(item)
    if not documents:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(
            f'expected documents in {path}, one a line: {{"id": ..., "text": ..., "title": ...}}; found none.{first}'
        )
    return each_article_once(documents), tuple(problems)
