"""Rates of citations over many answers, with intervals that allow for citations of one answer not being independent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.verdicts import AlcePrecision, AlceRecall
from vericite.evaluate.rates import SHARES
from vericite.evaluate.resampling import Bootstrap
from vericite.records import CheckedAnswer, Rate, RateTally, Summary

ALCE = {"citation recall": "answers, mean", "citation precision": "answers, mean"}
"""The rates that ALCE defines, with what they are of."""
_ALCE_MEASURES: dict[str, Measure] = dict(zip(ALCE, (AlceRecall(), AlcePrecision()), strict=True))


@dataclass
class CitationRates:
    """Rates pooled over the citations of many answers, as VeriCite's paper pools them.

    Supported, contradicted and irrelevant are shares of the judged cases and add up to 1; abstained and
    failed are shares of all cases, dangling of all citations, uncited of all claims. ALCE's recall and
    precision are there where documents were left out one at a time: means over answers, computed by the measures
    ``AlceRecall`` and ``AlcePrecision``. The share of statements is there where claims were judged in statements.
    """

    summary: Summary = field(default_factory=Summary)
    answers: int = 0
    _tallies: dict[str, RateTally] = field(default_factory=lambda: {name: RateTally() for name in SHARES})
    _alce: dict[str, list[tuple[float, ...] | None]] = field(default_factory=lambda: {name: [] for name in ALCE})

    def add(self, checked: CheckedAnswer) -> None:
        """One answer's counts."""
        self.answers += 1
        self.summary += checked.summary
        for name, share in SHARES.items():
            self._tallies[name].add(*share.counts(checked.summary))
        for name, measure in _ALCE_MEASURES.items():
            self._alce[name].append(measure.parts(Item(checked.id, checked=checked)))

    @property
    def names(self) -> tuple[str, ...]:
        """The rates that there are for what was added."""
        shares = tuple(name for name, share in SHARES.items() if share.given(self.summary))
        return (*shares, *(name for name, parts in self._alce.items() if any(part is not None for part in parts)))

    def __getitem__(self, name: str) -> Rate:
        """The rate of this name, one of ``SHARES`` or ``ALCE``; a mean over answers has no ``count``."""
        if name in SHARES:
            return self._tallies[name].rate
        found = _ALCE_MEASURES[name].estimate(self._alce[name], Bootstrap())
        return Rate(None, found.n, found.value, found.low, found.high)

    @staticmethod
    def denominator(name: str) -> str:
        """What the rate of this name is a share of, or a mean over."""
        return SHARES[name].denominator if name in SHARES else ALCE[name]

    @property
    def records(self) -> list[dict[str, object]]:
        """Each rate as JSON has it, with what it is a share of."""
        rates = ((name, self[name]) for name in self.names)
        return [{"rate": name, **asdict(rate), "of": self.denominator(name)} for name, rate in rates]
