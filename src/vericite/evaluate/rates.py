"""What shares of citations are: what each counts, and out of what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vericite.records import Summary


@dataclass(frozen=True)
class Share:
    """What a rate counts, out of what, and whether an evaluation has it at all."""

    count: Callable[[Summary], int]
    of: Callable[[Summary], int]
    denominator: str
    given: Callable[[Summary], bool] = lambda _: True

    def counts(self, summary: Summary) -> tuple[int, int]:
        """What is counted, and out of what."""
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
    "dangling": Share(lambda counts: counts.dangling, lambda counts: counts.citations, "citations"),
    "uncited": Share(lambda counts: counts.uncited, lambda counts: counts.claims, "claims"),
    "statements that hold": Share(
        lambda counts: counts.holding,
        lambda counts: counts.statements,
        "statements judged",
        lambda counts: counts.statements > 0,
    ),
}
"""Every rate by name."""
