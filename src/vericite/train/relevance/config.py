"""What can be chosen about a reranker's training run, beyond what can be of a verifier's."""

from __future__ import annotations

from pydantic import Field

from vericite.train.config import FitConfig


class RelevanceConfig(FitConfig):
    """A training run's choices.

    Attributes:
        listwise: Weight of the softmax over a list, which orders its documents.
        pointwise: Weight of each document's own log loss, which gives the logits a zero that means the same for
            every question. The relevant document weighs as much as all others of its list together.
    """

    listwise: float = Field(default=1.0, ge=0)
    pointwise: float = Field(default=0.5, ge=0)
    max_tokens: int = Field(default=256, ge=16)
