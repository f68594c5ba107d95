"""A retriever made of a function, for users who search somewhere of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeGuard

from vericite.formats.objects import as_documents
from vericite.records import Evidence, Question
from vericite.retrieve.retriever import Retriever

RetrieverFunction = Callable[[str, int], Iterable[object]]
"""Takes a question and how many documents are wanted; returns documents, the best first."""


class FunctionRetriever:
    """Finds documents by a call of the function, which returns texts, mappings or a library's documents."""

    def __init__(self, function: RetrieverFunction) -> None:
        self._function = function

    @property
    def signature(self) -> str:
        """The function's module and name."""
        name = getattr(self._function, "__qualname__", type(self._function).__qualname__)
        return f"function({getattr(self._function, '__module__', '?')}.{name})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """The first ``k`` documents that the function returns."""
        found = as_documents(list(self._function(question.text, k)))[:k]
        return tuple(
            Evidence(document=document, rank=rank, score=1 / rank, retriever=self.signature)
            for rank, document in enumerate(found, start=1)
        )


def is_retriever(given: object) -> TypeGuard[Retriever]:
    """Whether this is a retriever: it is known by what it does, not by its class."""
    return not isinstance(given, type) and callable(getattr(given, "retrieve", None))
