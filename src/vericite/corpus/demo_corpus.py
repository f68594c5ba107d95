"""The demonstration corpus: 150 short abstracts and 60 questions written for this project.

They state well-established facts in our own words and are no publications: their ids are ``demo:NNNN``,
they have no PMIDs and no authors. Some contradict others on purpose, as studies do.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
