"""The demonstration corpus, and documents read from a file or folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, Problems
from vericite.records import Document, Question, read_jsonl

FOLDER = Path(__file__).parent / "demo"


@cache
def demo_documents() -> tuple[Document, ...]:
    """Return the abstracts of the demonstration corpus."""
    return tuple(read_jsonl(Document, FOLDER / "documents.jsonl"))


@cache
def demo_questions() -> tuple[Question, ...]:
    """Return the questions, each with the ids of the documents that answer it."""
    return tuple(read_jsonl(Question, FOLDER / "questions.jsonl"))


def demo_vectors() -> NDArray[np.float32]:
    """Return precomputed vectors of the documents, so that the first question does not wait for the embedder."""
    return np.load(FOLDER / "vectors.npy", allow_pickle=False).astype(np.float32)


def load_documents(path: Path, problems: Problems, abstracts: bool = False) -> tuple[Document, ...]:
    """Read the documents of a file or folder in any known format; unusable records are added to ``problems``.

    A line of JSON Lines is a ``Document`` or has the fields id, text and optionally title. A repeated id is an error,
    because a citation of it would be ambiguous; in another file of the folder it is a new version. A record with only
    a DOI is merged into the record that has the same DOI and a PMID. With ``abstracts``, full-text articles are read
    without their bodies.

    Raises:
        InputError: The file cannot be read or holds no documents, the folder is too large to be read into memory, or
            ``abstracts`` is set and a file has no full texts.
    """
    # Imported here so that a first question to the demonstration corpus does not wait for these readers.
    from vericite.corpus.same_article import each_article_once
    from vericite.corpus.sources.folder import read_files, refuse_large
    from vericite.corpus.sources.registry import documents_in

    if path.is_dir():
        refuse_large(path)
        files = read_files(path, problems, abstracts=abstracts)
        documents = list({document.id: document for file in files for document in file.documents}.values())
        expected = f"expected documents in the folder {path}, such as PDF, Word or JSON Lines; found none."
    else:
        read = problems.kept(documents_in(path, abstracts=abstracts))
        documents = [item for item in read if isinstance(item, Document)]
        expected = f'expected documents in {path}, one per line: {{"id": ..., "text": ..., "title": ...}}; found none.'
    if not documents:
        first = f" The first problem: {problems[0]}" if path.is_dir() and problems else problems.first_of(path)
        raise InputError(expected + first)
    return each_article_once(documents)
