"""Settings of the commands that measure, in their classes: how intervals are drawn, and what is counted."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vericite.evaluate.resampling import DRAWS, SEED, Bootstrap
from vericite.pipeline.setting import SettingGroup


class Draws(SettingGroup):
    """How intervals are drawn."""

    draws: int = Field(default=DRAWS, ge=100, description="Number of bootstrap draws for the intervals.")
    seed: int = Field(default=SEED, ge=0, description="Seed of the draws.")

    @property
    def bootstrap(self) -> Bootstrap:
        """The bootstrap with these settings."""
        return Bootstrap(self.draws, self.seed)


class ScoreSettings(Draws):
    """Settings of ``score`` and ``compare``."""

    missing: Literal["out", "zero"] = Field(
        default="out",
        description="How measures against gold treat questions without output: leave them out (out; like trec_eval), "
        "or score them 0 (zero; like trec_eval -c).",
    )


class AgreeSettings(Draws):
    """Settings of ``agree``."""

    of: Literal["citations", "rationale"] = Field(
        default="citations",
        description="Items to compare in labels and verdicts: citations, or statements of a rationale.",
    )
    by: bool = Field(
        default=False,
        description='Show each value of the field "by" separately, such as CONTEXT-1 and CONTEXT-3.',
    )
    categories: tuple[str, ...] = Field(
        default=(), description="All labels in order; needed for weighted kappa and ordinal alpha."
    )
