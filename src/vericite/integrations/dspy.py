# dspy is installed by the user, so its types are unknown here.
# pyright: basic, reportMissingImports=false
"""DSPy: a metric for ``dspy.Evaluate`` and for optimizers, with feedback for those that read it (GEPA)."""

from __future__ import annotations

from typing import Any

from vericite.errors import InputError
from vericite.integrations.scores import ScoreName, answer_with, expect_score, missing, score_answer

try:
    from dspy import Prediction
except ImportError:
    raise missing("DSPy", "dspy") from None


class CitationScorer:
    """Scores the citations of a prediction.

    Called by an optimizer that bootstraps demonstrations (with a trace), it returns whether the threshold is met.
    Called by one that reads feedback (with ``pred_name``), it returns the score with the reason.

    Args:
        kind: ``support``, ``contradiction``, ``citation_recall`` or ``citation_precision``. The value of
            ``contradiction`` is 1 minus the share, because DSPy maximizes.
        answer: The field of the prediction with the answer.
        context: The field with the sources, of the prediction or else of the example.
        question: The field of the example with the question.
        threshold: Minimum of the value.
        protocol: A protocol of VeriCite.
        judge: A judge of VeriCite, its name or a function.
    """

    def __init__(
        self,
        kind: ScoreName = "support",
        answer: str = "response",
        context: str = "context",
        question: str = "question",
        threshold: float = 0.9,
        protocol: str | None = None,
        judge: Any = None,
    ) -> None:
        self.kind: ScoreName = expect_score(kind)
        self.answer, self.context, self.question = answer, context, question
        self.threshold, self.protocol, self.judge = threshold, protocol, judge
        self.__name__ = f"vericite_{kind}"

    def __call__(
        self, example: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """Score a prediction. A prediction in which nothing can be scored has the value 0."""
        contexts = self._field(self.context, pred, example)
        answer = answer_with(self._field(self.answer, pred), contexts, example.get(self.question))
        found = score_answer(self.kind, answer, protocol=self.protocol, judge=self.judge)
        if pred_name is not None:
            return Prediction(score=found.to_maximize, feedback=found.reason)
        return found.to_maximize if trace is None else found.to_maximize >= self.threshold

    def _field(self, name: str, *places: Any) -> Any:
        for place in places:
            if place is not None and name in place:
                return place[name]
        fields = ", ".join(repr(field) for place in places for field in place.keys())
        raise InputError(
            f"expected a field {name!r} in the prediction; found {fields}. Name the fields: "
            "CitationScorer(answer='response', context='context')"
        )
