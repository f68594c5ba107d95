"""Documents to answer from: the demonstration corpus, or a file of one's own."""

from vericite.corpus.demo_corpus import demo_documents, demo_questions, demo_vectors
from vericite.corpus.load import load_documents

__all__ = ["demo_documents", "demo_questions", "demo_vectors", "load_documents"]
