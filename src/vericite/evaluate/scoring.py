"""Measures of a system's answers, each with its interval and the signature of what made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from vericite.evaluate.comparison import Comparison
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure, Parts
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.significance import Scored, compare, corrected
from vericite.text import CITATIONS, SPLITTER
from vericite.version import __version__


@dataclass(frozen=True)
class System:
    """A system's name and what it made of each question."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Figure:
    """A measure of one system, over all questions or those of a group.

    Attributes:
        estimate: The figure; its ``n`` are the questions it is made of, ``missing`` those that it could not be made of
            and ``empty`` those with nothing to count.
        signature: What made it: version, interval, judge and protocol where verdicts were read, packages.
    """

    system: str
    measure: Measure
    estimate: Estimate
    signature: str
    group: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it."""
        found = self.estimate
        return {
            "system": self.system,
            "measure": str(self.measure),
            "group": self.group,
            "value": found.value,
            "low": found.low,
            "high": found.high,
            "n": found.n,
            "missing": found.missing,
            "empty": found.empty,
            "higher_is_better": self.measure.higher_is_better,
            "signature": self.signature,
        }


def score_systems(
    systems: Sequence[System], measures: Sequence[Measure], bootstrap: Bootstrap | None = None, by: str | None = None
) -> list[Figure]:
    """Every measure of each system, a system after the other.

    Where a measure of one system hangs on the others, as MAUVE's cells do, they have it in common.

    Args:
        systems: What each made of each question.
        measures: What to measure.
        bootstrap: How intervals are drawn.
        by: A group of the gold, such as ``type``: figures of each of its values follow that of the whole.

    Raises:
        MissingExtraError: A measure is computed with a package that is not installed.
    """
    drawn = bootstrap or Bootstrap()
    runs = [system.items for system in systems]
    each = [measure.of_each(runs) for measure in measures]
    return [
        figure
        for place, system in enumerate(systems)
        for measure, parts in zip(measures, each, strict=True)
        for figure in _figures(system, measure, parts[place], drawn, by)
    ]


def _figures(
    system: System, measure: Measure, parts: Sequence[Parts | None], drawn: Bootstrap, by: str | None
) -> Iterator[Figure]:
    """That of the whole, and those of each group."""
    signature = _signature(measure, system.items, drawn)
    yield Figure(system.name, measure, measure.estimate(parts, drawn), signature)
    groups = [item.group(by) for item in system.items] if by else []
    for group in sorted(set(groups)):
        chosen = [part for part, its in zip(parts, groups, strict=True) if its == group]
        yield Figure(system.name, measure, measure.estimate(chosen, drawn), signature, group)


def compare_systems(
    first: System, second: System, measures: Sequence[Measure], bootstrap: Bootstrap | None = None
) -> list[Comparison]:
    """Two systems in every measure; p is corrected by Holm's method where there are several."""
    return corrected([_compared(first, second, measure, bootstrap) for measure in measures])


def _compared(first: System, second: System, measure: Measure, bootstrap: Bootstrap | None) -> Comparison:
    systems = (first, second)
    both = measure.of_each([system.items for system in systems])
    one, other = (_scored(system, measure, parts) for system, parts in zip(systems, both, strict=True))
    return compare(one, other, measure.wording, bootstrap)


def _scored(system: System, measure: Measure, parts: Sequence[Parts | None]) -> Scored:
    scores = {item.id: measure.compared(part) for item, part in zip(system.items, parts, strict=True)}
    return Scored(system.name, scores, measure.statistic, measure.centred)


def _signature(measure: Measure, items: Sequence[Item], bootstrap: Bootstrap) -> str:
    told = [f"vericite={__version__}", measure.drawn_by(bootstrap), *packages_of(measure)]
    return "|".join([*told, *made_by(measure, items)])


def packages_of(measure: Measure) -> list[str]:
    """The packages that compute a measure, with their versions."""
    return [f"{package}={_version(package)}" for package in measure.packages]


_OF_TEXT = frozenset({"answer", "exact", "reply"})
"""Needs that may be met by the text of an answer."""


def made_by(measure: Measure, items: Sequence[Item]) -> list[str]:
    """What made that which is measured: splitter, judge, labellers, models; all of it, where there are several."""
    found: dict[str, set[str]] = {}
    if "verdicts" in measure.needs:
        checked = [(item.reasoned if measure.family == "rationale" else None) or item.checked for item in items]
        made = [it.provenance for it in checked if it is not None]
        found = {"checked-with": {it.version for it in made}, "protocol": {it.protocol or "" for it in made}}
        for provenance in made:
            for stage, signature in provenance.parts.items():
                found.setdefault(stage, set()).add(signature)
    if not _OF_TEXT.isdisjoint(measure.needs):
        found.setdefault("splitter", set()).add(SPLITTER)
        found.setdefault("citations", set()).add(CITATIONS)
    if "labels" in measure.needs:
        found["labels-by"] = {item.labels.by or "" for item in items if item.labels}
    if "scores" in measure.needs:
        found["scores-by"] = {item.scored_by or "" for item in items if item.scores}
    named = {stage: sorted(filter(None, names)) for stage, names in found.items()}
    return [f"{stage}={'+'.join(names)}" for stage, names in sorted(named.items()) if names]


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
