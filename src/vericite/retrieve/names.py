"""Search for other names of what a question names: semaglutide for GLP-1 agonists, trastuzumab for Herceptin."""

from __future__ import annotations

from vericite.records import Evidence, Question
from vericite.retrieve.retriever import Retriever, fused
from vericite.text.names import with_other_names


class OtherNames:
    """Searches with the question's words, again with other names of drugs and conditions added, and fuses both.

    Args:
        retriever: Finds documents.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    @property
    def signature(self) -> str:
        """The retriever that is asked twice."""
        return f"names({self._retriever.signature})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` documents."""
        found = self._retriever.retrieve(question, k)
        query = with_other_names(question.text)
        if query == question.text:
            return found
        again = self._retriever.retrieve(question.model_copy(update={"text": query}), k)
        name = next((hit.retriever for hit in (*found, *again)), "hybrid")
        return fused([found, again], k, name)
