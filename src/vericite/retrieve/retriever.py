"""What a retriever is."""

from __future__ import annotations

from typing import Protocol

from vericite.records import Evidence, Question


class Retriever(Protocol):
    """Finds documents for a question."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """At most ``k`` documents, the best first, ranks counted from 1."""
        ...
