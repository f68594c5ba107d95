"""What a reranker is trained and scored on: documents for a question, some of them relevant."""

from __future__ import annotations

from vericite.models import Pair
from vericite.records import Record


class TrainingList(Record):
    """A question, one document that is relevant to it and some that are not.

    Attributes:
        source: The data set it comes from.
        group: The question's id.
        kind: How the texts were cut (``whole``, ``snippet``, ``padded``).
    """

    question: str
    positive: str
    negatives: tuple[str, ...]
    source: str
    group: str
    kind: str = "whole"

    @property
    def pairs(self) -> list[Pair]:
        """What the model reads, the relevant document first."""
        return [Pair(text, self.question) for text in (self.positive, *self.negatives)]


class Candidate(Record):
    """A document that the first stage found, with its score there."""

    id: str
    text: str
    score: float


class RankedList(Record):
    """What the first stage found for a question, the best first.

    Attributes:
        set: Where the question comes from.
        stage: How it was searched (``bm25``, ``hybrid``).
        corpus: What was searched (``all``, ``stitched``, ``whole``).
        gold: Every relevant document of the corpus, found or not.
    """

    id: str
    question: str
    set: str
    stage: str
    corpus: str
    gold: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    def pairs(self, depth: int) -> list[Pair]:
        """What the model reads of the first ``depth``, in their order."""
        return [Pair(candidate.text, self.question) for candidate in self.candidates[:depth]]

    def relevant(self, depth: int) -> list[bool]:
        """Which of the first ``depth`` are relevant."""
        gold = set(self.gold)
        return [candidate.id in gold for candidate in self.candidates[:depth]]
