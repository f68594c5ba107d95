# inspect_ai is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""inspect_ai: a scorer of citations, and metrics with intervals. ``inspect score LOG --scorer vericite/citations``.

The scorer reads marked text, with the sources in the sample's metadata, and the citations of content blocks
(``ContentCitation``), which bring the cited text.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any

from vericite.errors import InputError
from vericite.evaluate.gates import GATE_SHARES
from vericite.formats.objects import as_documents, plain
from vericite.formats.spans import message_citing
from vericite.integrations.scores import missing, score_answer
from vericite.records import CheckedAnswer, RateTally, Summary

try:
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, accuracy, metric, scorer, stderr
    from inspect_ai.solver import TaskState
except ImportError:
    raise missing("inspect_ai", "inspect-ai") from None


@metric
def supported() -> Metric:
    """Share of sentences that their sources support, with its 95 % interval; samples are clusters of sentences."""

    def share(scores: list[SampleScore]) -> Value:
        return _rate("supported", scores)

    return share


@metric
def contradicted() -> Metric:
    """Share of judged sentences that a source contradicts, with its 95 % interval."""

    def share(scores: list[SampleScore]) -> Value:
        return _rate("contradicted", scores)

    return share


def _rate(name: str, scores: Iterable[SampleScore]) -> dict[str, float]:
    tally, share = RateTally(), GATE_SHARES[name]
    for sample in scores:
        found = (sample.score.metadata or {}).get("summary")
        if found is not None:
            summary = Summary.model_validate(found)
            tally.add(share.count(summary), share.of(summary))
    rate = tally.rate
    figures = {name: rate.value, f"{name} low": rate.low, f"{name} high": rate.high, f"{name} n": rate.n}
    return {key: nan if value is None else value for key, value in figures.items()}


@scorer(metrics=[supported(), contradicted(), accuracy(), stderr()])
def citations(documents: str = "documents", protocol: str | None = None, judge: str | None = None) -> Scorer:
    """Correct if every sentence is supported by what it cites, partial if some are, incorrect if none is.

    Args:
        documents: The field of the sample's metadata with the sources, texts or objects with ``id``, ``title`` and
            ``text``. Not needed for answers whose citations have the cited text.
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, such as ``llm:openai:gpt-4o-mini``.
    """

    async def score(state: TaskState, target: Target) -> Score:
        try:
            answer, sources = _answer_of(state, (state.metadata or {}).get(documents))
            found = await to_thread(
                score_answer, "support", answer, sources, question=state.input_text, protocol=protocol, judge=judge
            )
        except InputError as error:
            return Score(value=nan, answer=state.output.completion, explanation=f"not scored: {error}")
        metadata = {"summary": found.checked.summary.model_dump(), "sentences": found.checked.rows}
        return Score(
            value=_grade(found.checked),
            answer=state.output.completion,
            explanation=found.markdown_reason,
            metadata={**metadata, "signature": found.checked.provenance.model_dump(mode="json")},
        )

    return score


def _grade(checked: CheckedAnswer) -> str | float:
    """Return inspect_ai's letter (correct, partial, incorrect, no answer), or NaN, which is left out of means."""
    summary = checked.summary
    if not summary.claims:
        return "N"
    if checked.failures and not checked.verdicts:
        return nan
    if checked.supported:
        return "C"
    partly = any(verdict.degree == "partly supported" and not verdict.abstained for verdict in checked.verdicts)
    return "P" if summary.supported or partly else "I"


def _answer_of(state: TaskState, given: Any) -> tuple[object, Sequence[object]]:
    """Return the answer and its sources: blocks with citations, or a text with markers."""
    message = plain(state.output.message)
    blocks = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(blocks, list) or not any(block.get("citations") for block in blocks):
        if given is None:
            raise InputError(
                "expected the sources in the sample's metadata, as documents; found none, and no citations in the "
                "answer's content. Give Sample(metadata={'documents': ['...']}), or name the field: documents=NAME"
            )
        return state.output.completion, given
    if given is None:
        return {"content": blocks}, ()
    return message_citing(blocks, as_documents(given)), ()
