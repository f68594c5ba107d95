# deepeval is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""DeepEval: a metric with a threshold and a reason, which needs no language model.

``retrieval_context`` (or ``context``) holds the sources that ``[1]``, ``[2]`` cite; in an output without markers each
sentence is checked against all of them.
"""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from vericite.errors import InputError
from vericite.integrations.scores import (
    AnswerScore,
    ScoreName,
    Threshold,
    answer_with,
    expect_score,
    missing,
    score_answer,
)

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ImportError:
    raise missing("DeepEval", "deepeval") from None


class CitationMetric(BaseMetric):
    """A score of an output's citations.

    Args:
        kind: ``support``, ``contradiction``, ``citation_recall`` or ``citation_precision``.
        threshold: Minimum of the score; maximum for ``contradiction``. Default: 0.9, and 0 for ``contradiction``.
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, its name or a function.
    """

    def __init__(
        self,
        kind: ScoreName = "support",
        threshold: float | None = None,
        protocol: str | None = None,
        judge: Any = None,
        include_reason: bool = True,
    ) -> None:
        self.kind: ScoreName = expect_score(kind)
        self.threshold = Threshold(self.kind, threshold).value
        self.protocol, self.judge, self.include_reason = protocol, judge, include_reason
        self.answer_score: AnswerScore | None = None

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Score a test case."""
        return self._record(self._scored(test_case))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Score a test case in a thread."""
        return self._record(await to_thread(self._scored, test_case))

    def is_successful(self) -> bool:
        """Whether the threshold is met; an output in which nothing could be scored does not meet it."""
        self.success = self.error is None and Threshold(self.kind, self.threshold).is_met(self.score)
        return self.success

    @property
    def __name__(self) -> str:
        return f"VeriCite {self.kind.replace('_', ' ')}"

    def _scored(self, test_case: LLMTestCase) -> AnswerScore:
        contexts = test_case.retrieval_context or test_case.context
        if not contexts:
            raise InputError("expected retrieval_context, the sources of actual_output, in the test case; found none")
        # A context is a text, or in newer versions an object with one.
        texts = [item if isinstance(item, str) else str(getattr(item, "context", item)) for item in contexts]
        answer = answer_with(test_case.actual_output or "", texts, test_case.input)
        return score_answer(self.kind, answer, protocol=self.protocol, judge=self.judge)

    def _record(self, found: AnswerScore) -> float | None:
        self.answer_score, self.score = found, found.value
        self.error = None if found.value is not None else f"nothing could be scored: {found.reason}"
        self.reason = found.reason if self.include_reason else None
        self.success = self.is_successful()
        return self.score
