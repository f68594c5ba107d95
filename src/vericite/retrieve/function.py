"""A retriever made from a function, for users with their own search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeGuard, cast

from vericite.formats.objects import as_documents
from vericite.records import Evidence, Question
from vericite.registry import Registry, expect_function
from vericite.retrieve.retriever import Retriever

RetrieverFunction = Callable[[str, int], Iterable[object]]
"""Called with a question and the number of documents; returns documents, the best first."""


class FunctionRetriever:
    """Finds documents by calling a function that returns texts, mappings or a library's documents."""

    def __init__(self, function: RetrieverFunction) -> None:
        self._function = function

    @property
    def signature(self) -> str:
        """The function's module and name."""
        name = getattr(self._function, "__qualname__", type(self._function).__qualname__)
        return f"function({getattr(self._function, '__module__', '?')}.{name})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return the first ``k`` documents of the function."""
        found = as_documents(list(self._function(question.text, k)))[:k]
        return tuple(
            Evidence(document=document, rank=rank, score=1 / rank, retriever=self.signature)
            for rank, document in enumerate(found, start=1)
        )


RETRIEVERS: Registry[Callable[[str], object]] = Registry("retriever", {}, "vericite.retrievers", expect_function)
"""Retrievers of other packages by name, each a function of the text after the colon of ``--corpus NAME:TEXT``. It gives
a ``RetrieverFunction`` or a ``Retriever``."""


def load_retriever(name: str, text: str) -> Retriever:
    """Return the retriever that another package registers under this name, made from this text.

    Raises:
        UnknownNameError: There is none.
        PluginError: It cannot be loaded, or makes no retriever.
    """
    made = RETRIEVERS.named(name)(text)
    if not is_retriever(made) and callable(made):
        made = FunctionRetriever(cast("RetrieverFunction", made))
    return cast("Retriever", RETRIEVERS.expect(name, made, "retrieve"))


def is_retriever(given: object) -> TypeGuard[Retriever]:
    """Whether this is a retriever, by its methods, not its class."""
    return not isinstance(given, type) and callable(getattr(given, "retrieve", None))
