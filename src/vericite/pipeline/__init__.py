"""The one place that strings the stages together."""

from vericite.pipeline.ask import Pipeline, ask
from vericite.pipeline.check import (
    AnswerToCheck,
    answers_to_check,
    check,
    check_async,
    check_many,
    judge,
)

__all__ = [
    "AnswerToCheck",
    "Pipeline",
    "answers_to_check",
    "ask",
    "check",
    "check_async",
    "check_many",
    "judge",
]
