"""Citation rates over many answers, with intervals that account for the dependence of citations within an answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.verdicts import AlcePrecision, AlceRecall
from vericite.evaluate.rates import SHARES
from vericite.evaluate.resampling import Bootstrap
from vericite.records import CheckedAnswer, Rate, RateTally, Summary

ALCE = {"citation recall": "answers, mean", "citation precision": "answers, mean"}
"""The rates that ALCE defines, with their denominators."""
_ALCE_MEASURES: dict[str, Measure] = dict(zip(ALCE, (AlceRecall(), AlcePrecision()), strict=True))


@dataclass
class CitationRates:
    """Rates pooled over the citations of many answers, as in the VeriCite paper.

    Supported, contradicted and irrelevant are shares of the judged cases and add up to 1. Abstained and failed are
    shares of all cases, dangling of all citations, uncited of all claims. ALCE's recall and precision are means over
    answers (see ``AlceRecall`` and ``AlcePrecision``); they need verdicts with documents left out one at a time. The
    share of statements needs claims that were judged statement by statement.
    """

    summary: Summary = field(default_factory=Summary)
    answers: int = 0
    _tallies: dict[str, RateTally] = field(default_factory=lambda: {name: RateTally() for name in SHARES})
    _alce: dict[str, list[tuple[float, ...] | None]] = field(default_factory=lambda: {name: [] for name in ALCE})
    """Parts of the answers up to the last one that has them: most protocols have none, for any number of answers."""

    def add(self, checked: CheckedAnswer) -> None:
        """Add the counts of an answer."""
        self.answers += 1
        self.summary += checked.summary
        for name, share in SHARES.items():
            self._tallies[name].add(*share.counts(checked.summary))
        for name, measure in _ALCE_MEASURES.items():
            if (parts := measure.parts(Item(checked.id, checked=checked))) is not None:
                self._alce[name] += [None] * (self.answers - 1 - len(self._alce[name]))
                self._alce[name].append(parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The rates that are defined for the added answers."""
        shares = tuple(name for name, share in SHARES.items() if share.given(self.summary))
        return (*shares, *(name for name, parts in self._alce.items() if parts))

    def __getitem__(self, name: str) -> Rate:
        """Return the rate with this name, from ``SHARES`` or ``ALCE``; a mean over answers has no ``count``."""
        if name in SHARES:
            return self._tallies[name].rate
        parts = self._alce[name] + [None] * (self.answers - len(self._alce[name]))
        found = _ALCE_MEASURES[name].estimate(parts, Bootstrap())
        return Rate(None, found.n, found.value, found.low, found.high)

    def is_over_answers(self, name: str) -> bool:
        """Whether the interval of a rate is over answers: false if only one has what the rate counts."""
        return name in ALCE or self._tallies[name].answers > 1

    @staticmethod
    def denominator(name: str) -> str:
        """Return the denominator of the rate in words."""
        return SHARES[name].denominator if name in SHARES else ALCE[name]

    @property
    def records(self) -> list[dict[str, object]]:
        """JSON-ready dicts, one per rate, with the denominator."""
        rates = ((name, self[name]) for name in self.names)
        return [{"rate": name, **asdict(rate), "of": self.denominator(name)} for name, rate in rates]
