"""Rates of citations, with intervals that allow for citations of one answer not being independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from vericite.records import Rate, RateTally, Summary


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


def _left_one_out(summary: Summary) -> bool:
    return summary.tested > 0


def _decided_claims(summary: Summary) -> int:
    # Where documents are left out one at a time a case is a claim; what was not judged is no miss.
    return summary.claims - summary.abstained - summary.failed


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
    "citation recall": Share(lambda counts: counts.supported, _decided_claims, "claims decided", _left_one_out),
    "citation precision": Share(
        lambda counts: counts.needed, lambda counts: counts.tested + counts.dangling, "citations tested", _left_one_out
    ),
    "statements that hold": Share(
        lambda counts: counts.holding,
        lambda counts: counts.statements,
        "statements judged",
        lambda counts: counts.statements > 0,
    ),
}
"""Every rate by name."""


@dataclass
class CitationRates:
    """Rates pooled over the citations of many answers, as VeriCite's paper pools them.

    Supported, contradicted and irrelevant are shares of the judged cases and add up to 1; abstained and
    failed are shares of all cases, dangling of all citations, uncited of all claims. ALCE's recall and
    precision are there where documents were left out one at a time, the share of statements where claims were
    judged in statements.
    """

    summary: Summary = field(default_factory=Summary)
    answers: int = 0
    _tallies: dict[str, RateTally] = field(default_factory=lambda: {name: RateTally() for name in SHARES})

    def add(self, summary: Summary) -> None:
        """One answer's counts."""
        self.answers += 1
        self.summary += summary
        for name, share in SHARES.items():
            self._tallies[name].add(*share.counts(summary))

    @property
    def names(self) -> tuple[str, ...]:
        """The rates that there are for what was added."""
        return tuple(name for name, share in SHARES.items() if share.given(self.summary))

    def __getitem__(self, name: str) -> Rate:
        """The rate of this name, one of ``SHARES``."""
        return self._tallies[name].rate

    @property
    def records(self) -> list[dict[str, object]]:
        """Each rate as JSON has it, with what it is a share of."""
        rates = ((name, self[name]) for name in self.names)
        return [{"rate": name, **asdict(rate), "of": SHARES[name].denominator} for name, rate in rates]
