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


class Rewriting(Record):
    """Whether a question was searched for again in other words.

    ``coverage`` is the share of its words that are in the evidence, ``relevance`` the mean score of the best documents
    when reranked; ``reasons`` says which of them were too low, and is empty where none was. ``query`` is what was
    searched for then, None where nobody had other words; ``failed`` is why, where whoever was asked for them could not
    say. ``again`` are the two figures of what the query found, and ``kept`` says whether its documents took the place
    of the first.
    """

    coverage: float = Field(ge=0, le=1)
    relevance: float | None = Field(default=None, ge=0, le=1)
    reasons: tuple[str, ...] = ()
    query: str | None = None
    by: str | None = None
    failed: str | None = None
    again: tuple[float, float | None] | None = None
    kept: bool = False

    @property
    def fired(self) -> bool:
        """Whether the evidence was found wanting."""
        return bool(self.reasons)


class Evidence(Record):
    """A document found for a question, at a rank counted from 1. Whether it is retracted, it says itself.

    ``scores`` keeps the score of every stage that saw it (``bm25``, ``dense`` ...);
    ``score`` is the one it was ranked by, and ``retriever`` what ranked it.
    """

    document: Document
    rank: int = Field(ge=1)
    score: float
    retriever: str
    scores: Floats = FrozenDict()
