"""Finding documents for a question."""

from vericite.retrieve.memory import MemoryRetriever
from vericite.retrieve.retriever import Retriever

__all__ = ["MemoryRetriever", "Retriever"]
