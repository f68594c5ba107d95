"""What a measure makes of questions as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.registry import MEASURES
from vericite.evaluate.resampling import Bootstrap

FEW = Bootstrap(draws=100)


def figure(measure: Measure, items: Sequence[Item]) -> float | None:
    """The figure over all items, drawn as seldom as may be, since its interval is not asked for."""
    return measure.estimate(measure.of(items), FEW).value


def kinds_of(family: str, module: str) -> list[type[Measure]]:
    """The measures of a family that a module defines."""
    return [kind for kind in MEASURES.values() if kind.family == family and kind.__module__.endswith(f".{module}")]
