"""Retrieval of documents for a question: in memory, from a store, from PubMed, or the known gold documents."""

CANDIDATES = 20
"""Documents that are reranked by default."""

MIN_COVERAGE, MIN_RELEVANCE = 0.3, 0.5
"""A question is rewritten by default where its evidence contains a smaller share of its words, or is less relevant."""
