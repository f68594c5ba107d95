"""Finding documents for a question.

What needs an extra or the network is imported from its own module: ``retrieve.store.StoreRetriever``,
``retrieve.pubmed.PubMedRetriever``, ``retrieve.oracle.Oracle``.
"""

from vericite.retrieve.memory import MemoryRetriever
from vericite.retrieve.retriever import Retriever

__all__ = ["MemoryRetriever", "Retriever"]
