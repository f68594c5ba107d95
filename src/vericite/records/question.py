"""Questions, and the documents found for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vericite.records.base import Floats, FrozenDict, Record
from vericite.records.document import Document

QuestionType = Literal["yesno", "factoid", "list", "summary"]


class Question(Record):
    """A question, with what is known of its right answer.

    ``gold_exact`` holds one entry per item of the answer, each with its synonyms:
    ``(("yes",),)`` for a yes/no question, ``(("CFTR", "ABCC7"),)`` for a factoid.
    """

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    type: QuestionType | None = None
    gold_documents: tuple[str, ...] = ()
    gold_exact: tuple[tuple[str, ...], ...] = ()
    gold_ideal: tuple[str, ...] = ()


class Evidence(Record):
    """A document found for a question, at a rank counted from 1.

    ``scores`` keeps the score of every stage that saw it (``bm25``, ``dense`` ...);
    ``score`` is the one it was ranked by, and ``retriever`` what ranked it.
    """

    document: Document
    rank: int = Field(ge=1)
    score: float
    retriever: str
    scores: Floats = FrozenDict()
