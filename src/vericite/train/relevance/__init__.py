"""Making the reranker: lists of documents for a question, a cross-encoder that ranks them, its measures.

    python -m vericite.train.relevance STEP ...

Steps: ``lists`` (training and development lists from the datasets), ``fit``, ``calibrate``, ``score``. What comes
out of ``calibrate`` is packed as a verifier is, by ``vericite.train.pack``.
"""
