"""What a generator is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vericite.records import Answer, Evidence, Question


class Generator(Protocol):
    """Answers a question from evidence, citing it."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """An answer whose marker ``[n]`` is the document of ``evidence[n - 1]``."""
        ...
