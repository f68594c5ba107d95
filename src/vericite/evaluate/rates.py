"""How an evaluation of citations is summed up."""

from __future__ import annotations

from dataclasses import dataclass, field

from vericite.evaluate.intervals import Rate, Tally
from vericite.records import Summary

OVER_JUDGED = ("supported", "contradicted", "irrelevant")
OVER_CASES = ("abstained", "failed")
RATES = (*OVER_JUDGED, *OVER_CASES, "dangling", "uncited")


@dataclass
class CitationRates:
    """Rates pooled over the citations of many answers, as VeriCite's paper pools them.

    Supported, contradicted and irrelevant are shares of the judged cases and add up to 1; abstained and
    failed are shares of all cases, dangling of all citations, uncited of all claims.
    """

    summary: Summary = field(default_factory=Summary)
    answers: int = 0
    _tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in RATES})

    def add(self, summary: Summary) -> None:
        """One answer's counts."""
        self.answers += 1
        self.summary += summary
        for name in RATES:
            self._tallies[name].add(getattr(summary, name), _denominator(name, summary))

    def __getitem__(self, name: str) -> Rate:
        """The rate of this name, one of ``RATES``."""
        return self._tallies[name].rate


def denominator_name(name: str) -> str:
    """What a rate is a share of, in words."""
    if name in OVER_JUDGED:
        return "judged cases"
    return "cases" if name in OVER_CASES else {"dangling": "citations", "uncited": "claims"}[name]


def _denominator(name: str, summary: Summary) -> int:
    if name in OVER_JUDGED:
        return summary.judged
    if name in OVER_CASES:
        return summary.cases
    return summary.citations if name == "dangling" else summary.claims
