"""Finding documents for a question: in memory, in a store, in PubMed, or those that are known to answer it."""
