"""A metric for ragas, DeepEval or inspect_ai: the share of an answer's sentences that its contexts support."""

from collections.abc import Sequence

import vericite as vc


def support(response: str, contexts: Sequence[str]) -> float:
    """With ragas ``sample.response`` and ``sample.retrieved_contexts``."""
    return vc.check({"response": response, "retrieved_contexts": list(contexts)}).support_rate.value or 0.0
