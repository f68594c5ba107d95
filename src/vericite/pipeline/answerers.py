"""Generators that need no language model, by name: our own and those of other packages."""

from __future__ import annotations

from collections.abc import Callable

from vericite.generate.extractive import ExtractiveGenerator, ExtractiveSettings
from vericite.generate.generator import Generator
from vericite.models.embedder import Embedder, Reranker
from vericite.pipeline.plan import AnswerPlan
from vericite.registry import Registry, expect_function
from vericite.verify.judges.registry import load_judge


def _extractive(plan: AnswerPlan) -> Generator:
    return extractive(plan.min_answer_probability)


ANSWERERS: Registry[Callable[[AnswerPlan], Generator]] = Registry(
    "answerer", {"extractive": _extractive}, "vericite.answerers", expect_function
)
"""Functions by name that make a ``Generator`` from an answer plan, without a language model."""


def load_answerer(name: str, plan: AnswerPlan) -> Generator:
    """Make the answerer of this name with the plan's settings.

    Raises:
        UnknownNameError: Unknown answerer.
        PluginError: Another package's answerer cannot be loaded, or is not a generator.
    """
    made = ANSWERERS.named(name)(plan)
    return made if name in ANSWERERS.own else ANSWERERS.expect(name, made, "generate", "generate_many")


def extractive(min_answer_probability: float | None = None) -> ExtractiveGenerator:
    """Return the generator that needs no language model, with all bundled models.

    Args:
        min_answer_probability: Refuse to answer below this probability that the sources answer. None: the default.
    """
    settings = (
        ExtractiveSettings()
        if min_answer_probability is None
        else ExtractiveSettings(min_answer_probability=min_answer_probability)
    )
    return ExtractiveGenerator(Embedder.shared(), settings, Reranker.shared(), load_judge("bundled"))
