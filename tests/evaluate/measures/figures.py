"""What a measure makes of questions as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.resampling import Bootstrap

FEW = Bootstrap(draws=100)


def figure(measure: Measure, items: Sequence[Item]) -> float | None:
    """The figure over all items, drawn as seldom as may be, since its interval is not asked for."""
    return measure.estimate(measure.of(items), FEW).value
