"""Differences between a sentence and its source: one number, direction or negation that is not the source's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "interval", "p-value", "direction", "negation"]
"""Kind of difference."""


@dataclass(frozen=True)
class Difference:
    """A difference between a sentence and its source.

    Attributes:
        kind: Kind of difference.
        reason: One short sentence with the words of both.
    """

    kind: Kind
    reason: str
