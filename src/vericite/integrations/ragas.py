# ragas is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""ragas: single-turn metrics of support and citations that need no language model.

``SupportMetric`` has the columns of ragas' own ``Faithfulness`` and can take its place. ``retrieved_contexts`` are the
sources that ``[1]``, ``[2]`` cite; in a response without markers each sentence is checked against all of them.
"""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass, field
from typing import Any, ClassVar

from vericite.integrations.scores import AnswerScore, ScoreName, answer_with, missing, score_answer

try:
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
except ImportError:
    raise missing("ragas", "ragas 'langchain-community<0.4'") from None


def _columns() -> dict[Any, set[str]]:
    return {MetricType.SINGLE_TURN: {"user_input", "response", "retrieved_contexts"}}


@dataclass
class RagasMetric(SingleTurnMetric):
    """Base of the metrics.

    Attributes:
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, its name or a function.
    """

    score_name: ClassVar[ScoreName]
    _required_columns: dict[Any, set[str]] = field(default_factory=_columns)
    protocol: str | None = None
    judge: Any = None

    def __post_init__(self) -> None:
        """Name the column of a result by the score, unless the user names it."""
        self.name = self.name or self.score_name
        super().__post_init__()

    def init(self, run_config: object) -> None:
        """Nothing to prepare: the judge is loaded by the first sample."""

    def answer_score(self, sample: SingleTurnSample) -> AnswerScore:
        """Return the score of a sample with its reason and ``vericite.check``'s result."""
        answer = answer_with(sample.response or "", sample.retrieved_contexts or (), sample.user_input)
        return score_answer(self.score_name, answer, protocol=self.protocol, judge=self.judge)

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: object) -> float:
        return (await to_thread(self.answer_score, sample)).number

    async def _ascore(self, row: dict[str, Any], callbacks: object) -> float:
        return await self._single_turn_ascore(SingleTurnSample(**row), callbacks)


class SupportMetric(RagasMetric):
    """Share of sentences that the contexts they cite support; uncited sentences count as not supported."""

    score_name = "support"


class ContradictionMetric(RagasMetric):
    """Share of judged sentences that a cited context contradicts; lower is better."""

    score_name = "contradiction"


class CitationRecallMetric(RagasMetric):
    """ALCE's citation recall: share of sentences that all their citations together support."""

    score_name = "citation_recall"


class CitationPrecisionMetric(RagasMetric):
    """ALCE's citation precision: share of citations that their sentence needs, or that support it alone."""

    score_name = "citation_precision"
