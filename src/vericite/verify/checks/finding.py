"""What a check beside the model has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "interval", "p-value", "direction", "negation", "population"]
"""In what respect a claim and its source part."""


@dataclass(frozen=True)
class Finding:
    """One thing a claim says that its source speaks against.

    Attributes:
        kind: In what respect the two part.
        reason: One short sentence for users, in the words of both.
    """

    kind: Kind
    reason: str
