"""Find only documents of some study designs, over any retriever."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vericite.records import Evidence, Question
from vericite.retrieve.retriever import Retriever
from vericite.text.designs import study_design

_WIDEST = 64
"""If other designs are in the way, ask for at most this many times the documents wanted."""


@dataclass(frozen=True)
class OfDesigns:
    """Finds documents that state one of some designs.

    Attributes:
        retriever: Finds documents of all designs.
        designs: The designs, such as ``randomised trial``.
    """

    retriever: Retriever
    designs: Collection[str]

    @property
    def signature(self) -> str:
        """The designs and the retriever."""
        return f"designs({', '.join(sorted(self.designs))}) of {self.retriever.signature}"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents of these designs, with ranks from 1."""
        asked = k
        while True:
            found = self.retriever.retrieve(question, asked)
            kept = [hit for hit in found if study_design(hit.document) in self.designs][:k]
            if len(kept) == k or len(found) < asked or asked >= _WIDEST * k:
                return tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(kept, start=1))
            asked *= 4
