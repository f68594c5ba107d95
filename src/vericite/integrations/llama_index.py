# llama_index is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""LlamaIndex: an evaluator of responses, and a postprocessor that puts the nodes that answer the query first."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from typing import Any

from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError
from vericite.formats.objects import as_documents
from vericite.integrations.scores import ScoreName, Threshold, answer_with, expect_score, missing, score_answer
from vericite.pipeline.build import load_reranker
from vericite.records import Evidence
from vericite.retrieve.rerank import Rerank

try:
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore, QueryBundle
except ImportError:
    raise missing("LlamaIndex", "llama-index-core") from None


class CitationResponseEvaluator(BaseEvaluator):
    """Scores the citations of a response against its source nodes: ``evaluator.evaluate_response(response=response)``.

    Args:
        kind: ``support``, ``contradiction``, ``citation_recall`` or ``citation_precision``.
        threshold: Minimum of the score to pass; maximum for ``contradiction``. Default: 0.9, and 0 for
            ``contradiction``.
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, its name or a function.
    """

    def __init__(
        self,
        kind: ScoreName = "support",
        threshold: float | None = None,
        protocol: str | None = None,
        judge: Any = None,
    ) -> None:
        self.kind: ScoreName = expect_score(kind)
        self.threshold = Threshold(self.kind, threshold)
        self.protocol, self.judge = protocol, judge

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        """There are no prompts."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Score a response against its contexts, which ``[1]``, ``[2]`` cite."""
        if response is None or contexts is None:
            raise InputError("expected a response and its contexts; found None. Use evaluate_response(response=...)")
        answer = answer_with(response, contexts, query)
        found = await to_thread(score_answer, self.kind, answer, protocol=self.protocol, judge=self.judge)
        return EvaluationResult(
            query=query,
            response=response,
            contexts=list(contexts),
            score=found.value,
            passing=self.threshold.is_met(found.value),
            feedback=found.reason,
            invalid_result=found.value is None,
            invalid_reason="nothing could be scored" if found.value is None else None,
        )


class EvidencePostprocessor(BaseNodePostprocessor):
    """Reranks nodes by whether they answer the query, with the bundled model, and removes retracted articles.

    An article is known to be retracted by its PubMed id or DOI in the node's metadata, if this machine has a list of
    retractions, or by ``retracted`` in the metadata. A node's new score is its probability to answer the query.
    """

    top_n: int = 5
    reranker: str = "bundled"

    @classmethod
    def class_name(cls) -> str:
        """The name in LlamaIndex."""
        return "VeriCiteEvidencePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        model = load_reranker(self.reranker)
        if query_bundle is None or model is None or not nodes:
            return nodes[: self.top_n]
        known = known_retractions()
        evidence = [
            # The position as the id: several nodes may come from one document.
            Evidence(
                document=known.flagged(document).model_copy(update={"id": str(place)}),
                rank=place + 1,
                score=nodes[place].score or 0.0,
                retriever="llama_index",
            )
            for place, document in enumerate(as_documents(nodes))
        ]
        usable = [hit for hit in evidence if not hit.document.retracted]
        ordered = Rerank(model, max(1, len(usable)))(query_bundle.query_str, usable)
        return [
            NodeWithScore(node=nodes[int(hit.document.id)].node, score=hit.scores["rerank"])
            for hit in ordered[: self.top_n]
        ]
