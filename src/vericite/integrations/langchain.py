# langchain_core is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""LangChain: a guard for chains that retrieve, and an evaluator for LangSmith.

``chain | CitationGuard()`` checks what the chain returns: an answer (``answer``, ``result`` or ``output``) with its
documents (``context`` or ``source_documents``), or the messages of an agent.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping
from typing import Any

from vericite.errors import InputError, UnsupportedAnswerError
from vericite.integrations.scores import AnswerScore, ScoreName, expect_score, missing, score_answer

try:
    from langchain_core.runnables import RunnableConfig, RunnableSerializable
except ImportError:
    raise missing("LangChain", "langchain-core") from None


class CitationGuard(RunnableSerializable[Any, Any]):
    """Adds ``checked`` to the result of a chain, and raises ``UnsupportedAnswerError`` if its score is too low.

    ``(chain | CitationGuard()).with_fallbacks([other])`` asks another chain then.

    Attributes:
        at_least: Minimum share of supported sentences, from 0 (never raise) to 1.
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, its name or a function.
    """

    at_least: float = 0.9
    protocol: str | None = None
    judge: Any = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Check a result and return it with ``checked``."""
        return self._call_with_config(self._guarded, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Like ``invoke``, in a thread."""

        async def guarded(value: Any) -> Any:
            return await to_thread(self._guarded, value)

        return await self._acall_with_config(guarded, input, config)

    def _guarded(self, result: Any) -> dict[str, Any]:
        if not isinstance(result, Mapping):
            raise InputError(
                "expected a mapping with an answer and its documents, such as create_retrieval_chain returns; "
                f"found {type(result).__name__}. Pass them on: RunnablePassthrough.assign(answer=chain)"
            )
        found = score_answer("support", result, protocol=self.protocol, judge=self.judge)
        if found.is_below(self.at_least):
            raise UnsupportedAnswerError(found.checked, found.value, self.at_least, found.reason)
        return {**result, "checked": found.checked}


class CitationRunEvaluator:
    """An evaluator for ``langsmith.evaluate(..., evaluators=[CitationRunEvaluator()])``.

    Args:
        kind: ``support``, ``contradiction``, ``citation_recall`` or ``citation_precision``.
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, its name or a function.
    """

    def __init__(self, kind: ScoreName = "support", protocol: str | None = None, judge: Any = None) -> None:
        self.kind: ScoreName = expect_score(kind)
        self.protocol, self.judge = protocol, judge
        self.__name__ = f"vericite_{kind}"  # LangSmith's name for it

    def __call__(self, run: Any, example: Any = None) -> dict[str, Any]:
        """Score the outputs of a run."""
        found = self.score(run.outputs or {})
        return {"key": self.__name__, "score": found.value, "comment": found.reason}

    def score(self, result: object) -> AnswerScore:
        """Score the result of a chain."""
        return score_answer(self.kind, result, protocol=self.protocol, judge=self.judge)
