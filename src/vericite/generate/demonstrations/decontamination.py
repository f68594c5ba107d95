"""A pool without what the questions to be asked would give away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.generate.demonstrations.pool import Exemplar, Pool, Removed, normal
from vericite.generate.demonstrations.vectors import Vectors
from vericite.records import Question
from vericite.text.references import reference_key

NEAR = 0.85
"""Cosine from which two questions count as one.

Measured with the bundled embedder on the 3.6 million pairs of 2,686 questions of BioASQ and PubMedQA (no test sets). Of
the 82 pairs from 0.85 up 56 % rest on a common article, of the 96 from 0.80 to 0.85 26 %, of those from 0.70 to 0.75
9 %, and of those from 0.50 to 0.60 0.5 %; the pairs that only differ in wording begin at 0.86. Of 2,192 training
questions it removes 11 for 494 others.
"""

_BLOCK = 1024


def decontaminate(pool: Pool, questions: Iterable[Question], vectors: Vectors, near: float = NEAR) -> Pool:
    """The pool without exemplars that share an id, an article or, nearly, the words with a question to be asked.

    Articles are told by the questions' ``gold_documents``; what is found for a question later, ``Selector.choose`` is
    told. The counts are in the pool's ``removed``, and so in its signature.

    Raises:
        InputError: ``near`` is no cosine above 0.
    """
    if not 0 < near <= 1:
        raise InputError(f"expected near to be above 0 and at most 1; found {near:g}. Correct it.")
    asked = list(questions)
    ids = {question.id for question in asked}
    articles = {reference_key(name) for question in asked for name in question.gold_documents}
    texts = {normal(question.text) for question in asked}
    close = _near(pool, [question.text for question in asked], vectors, near)

    def rule(exemplar: Exemplar, is_near: bool) -> str | None:
        if exemplar.id in ids:
            return "id"
        if not articles.isdisjoint(exemplar.keys):
            return "article"
        return "text" if normal(exemplar.question) in texts else "near" if is_near else None

    rules = [rule(exemplar, bool(is_near)) for exemplar, is_near in zip(pool.exemplars, close, strict=True)]
    counts = Counter(rules)
    removed = Removed(
        questions=len(asked),
        id=counts["id"],
        article=counts["article"],
        text=counts["text"],
        near=counts["near"],
        threshold=near,
        embedder=vectors.signature,
    )
    left = (exemplar for exemplar, found in zip(pool.exemplars, rules, strict=True) if found is None)
    return replace(pool, exemplars=tuple(left), removed=(*pool.removed, removed))


def _near(pool: Pool, texts: list[str], vectors: Vectors, near: float) -> NDArray[np.bool_]:
    """Which exemplars are near to any of the texts."""
    found = np.zeros(len(pool), dtype=np.bool_)
    if not texts or not len(pool):
        return found
    own = vectors.of([exemplar.question for exemplar in pool.exemplars], keep=True)
    others = vectors.of(texts)
    for start in range(0, len(texts), _BLOCK):
        found |= (own @ others[start : start + _BLOCK].T).max(axis=1) >= near
    return found
