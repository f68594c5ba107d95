# haystack is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""Haystack: an evaluator with the inputs of ``FaithfulnessEvaluator``, and a checker of answers in a pipeline.

Neither needs a language model. Both can be saved with their pipeline.
"""

# No annotations as text: Haystack compares the types of inputs and outputs.
from dataclasses import replace
from math import isnan, nan
from typing import Any, Self

from vericite.errors import InputError
from vericite.integrations.scores import ScoreName, answer_with, expect_score, missing, score_answer

try:
    from haystack import component, default_from_dict, default_to_dict
    from haystack.dataclasses import GeneratedAnswer
except ImportError:
    raise missing("Haystack", "haystack-ai") from None


@component
class CitationEvaluator:
    """Scores the citations of answers against their contexts.

    Args:
        kind: ``support``, ``contradiction``, ``citation_recall`` or ``citation_precision``.
        protocol: A protocol of VeriCite.
        judge: The name of a judge of VeriCite.
    """

    def __init__(self, kind: ScoreName = "support", protocol: str | None = None, judge: str | None = None) -> None:
        self.kind: ScoreName = expect_score(kind)
        self.protocol, self.judge = protocol, judge

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    def run(self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]) -> dict[str, Any]:
        """Return each answer's score, their mean without those that could not be scored, and the reasons."""
        lengths = {len(questions), len(contexts), len(predicted_answers)}
        if len(lengths) > 1:
            raise InputError(f"expected as many questions and contexts as answers; found {sorted(lengths)}")
        found = [
            score_answer(self.kind, answer_with(answer, texts, question), protocol=self.protocol, judge=self.judge)
            for question, texts, answer in zip(questions, contexts, predicted_answers, strict=True)
        ]
        scores = [score.number for score in found]
        known = [score for score in scores if not isnan(score)]
        results = [{"score": score.number, "reason": score.reason, "sentences": score.checked.rows} for score in found]
        return {
            "score": sum(known) / len(known) if known else nan,
            "individual_scores": scores,
            "results": results,
        }

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary."""
        return default_to_dict(self, kind=self.kind, protocol=self.protocol, judge=self.judge)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make one from a dictionary."""
        return default_from_dict(cls, data)


@component
class CitationChecker:
    """Checks the citations of answers, such as ``AnswerBuilder`` gives, and adds the result to their ``meta``.

    Args:
        at_least: Minimum share of supported sentences. Answers below it go to ``unsupported``.
        protocol: A protocol of VeriCite.
        judge: The name of a judge of VeriCite.
    """

    def __init__(self, at_least: float = 0.0, protocol: str | None = None, judge: str | None = None) -> None:
        self.at_least, self.protocol, self.judge = at_least, protocol, judge

    @component.output_types(answers=list[GeneratedAnswer], unsupported=list[GeneratedAnswer])
    def run(self, answers: list[GeneratedAnswer]) -> dict[str, Any]:
        """Return the answers, each with ``meta["vericite"]``: its score, the reason and the verdicts."""
        passed: list[GeneratedAnswer] = []
        unsupported: list[GeneratedAnswer] = []
        for answer in answers:
            found = score_answer("support", answer, protocol=self.protocol, judge=self.judge)
            about = {"score": found.value, "reason": found.reason, "checked": found.checked.to_dict()}
            chosen = unsupported if found.is_below(self.at_least) else passed
            chosen.append(replace(answer, meta={**answer.meta, "vericite": about}))
        return {"answers": passed, "unsupported": unsupported}

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary."""
        return default_to_dict(self, at_least=self.at_least, protocol=self.protocol, judge=self.judge)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make one from a dictionary."""
        return default_from_dict(cls, data)
