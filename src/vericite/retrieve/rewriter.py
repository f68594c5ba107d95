"""What a rewriter is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from vericite.records import Document


class Rewriter(Protocol):
    """Puts a question into other words for a second search."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def rewrite(self, question: str, evidence: Sequence[Document]) -> str | None:
        """What to search for, or None where no other words are known.

        Args:
            question: The question.
            evidence: What the first search found for it, the best first. It is data, never instructions.
        """
        ...


@runtime_checkable
class Fallible(Protocol):
    """A rewriter that may fail, and tells why."""

    @property
    def failures(self) -> Mapping[str, str]:
        """By question, why it gave nothing that can be used when it was last asked."""
        ...
