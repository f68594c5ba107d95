"""Definitions of citation shares: the numerator and denominator of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vericite.records import Summary


@dataclass(frozen=True)
class Share:
    """The numerator and denominator of a rate, and whether it is defined for an evaluation."""

    count: Callable[[Summary], int]
    of: Callable[[Summary], int]
    denominator: str
    given: Callable[[Summary], bool] = lambda _: True

    def counts(self, summary: Summary) -> tuple[int, int]:
        """Return the numerator and the denominator."""
        return self.count(summary), self.of(summary)


SHARES: dict[str, Share] = {
    "supported": Share(lambda counts: counts.supported, lambda counts: counts.judged, "judged cases"),
    "contradicted": Share(lambda counts: counts.contradicted, lambda counts: counts.judged, "judged cases"),
    "irrelevant": Share(lambda counts: counts.irrelevant, lambda counts: counts.judged, "judged cases"),
    "abstained": Share(lambda counts: counts.abstained, lambda counts: counts.cases, "cases"),
    "failed": Share(lambda counts: counts.failed, lambda counts: counts.cases, "cases"),
    "quoted": Share(
        lambda counts: counts.quoted,
        lambda counts: counts.quoted + counts.cases,
        "cases, quotations included",
        lambda counts: counts.quoted > 0,
    ),
    "misattributed": Share(
        lambda counts: counts.misattributed,
        lambda counts: counts.judged,
        "judged cases",
        lambda counts: counts.misattributed > 0,
    ),
    "dangling": Share(lambda counts: counts.dangling, lambda counts: counts.citations, "citations"),
    "uncited": Share(lambda counts: counts.uncited, lambda counts: counts.claims, "claims"),
    "statements that hold": Share(
        lambda counts: counts.holding,
        lambda counts: counts.statements,
        "statements judged",
        lambda counts: counts.statements > 0,
    ),
}
"""The shares by name."""
