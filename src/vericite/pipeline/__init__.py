"""The one place that strings the stages together."""

from vericite.formats import AnswerToCheck
from vericite.pipeline.ask import Pipeline, ask
from vericite.pipeline.check import check, check_async, check_many, judge

__all__ = [
    "AnswerToCheck",
    "Pipeline",
    "ask",
    "check",
    "check_async",
    "check_many",
    "judge",
]
