"""Measures of a system's answers, each with its interval and the signature of what made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure, Parts
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.significance import Comparison, Scored, compare, corrected
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
            "signature": self.signature,
        }


def score(
    system: System, measures: Sequence[Measure], bootstrap: Bootstrap | None = None, by: str | None = None
) -> list[Figure]:
    """Every measure of a system.

    Args:
        system: What it made of each question.
        measures: What to measure.
        bootstrap: How intervals are drawn.
        by: A group of the gold, such as ``type``: figures of each of its values follow that of the whole.

    Raises:
        MissingExtraError: A measure is computed with a package that is not installed.
    """
    drawn = bootstrap or Bootstrap()
    groups = sorted({item.group(by) for item in system.items}) if by else []
    members = [[item.group(by) == group for item in system.items] for group in groups] if by else []
    found: list[Figure] = []
    for measure in measures:
        parts = measure.of(system.items)
        signature = _signature(measure, system.items, drawn)
        found.append(Figure(system.name, measure, measure.estimate(parts, drawn), signature))
        for group, member in zip(groups, members, strict=True):
            chosen = [part for part, inside in zip(parts, member, strict=True) if inside]
            found.append(Figure(system.name, measure, measure.estimate(chosen, drawn), signature, group))
    return found


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
    return Scored(system.name, scores, measure.statistic)


def _signature(measure: Measure, items: Sequence[Item], bootstrap: Bootstrap) -> str:
    told = [f"vericite={__version__}", measure.drawn_by(bootstrap)]
    told += [f"{package}={_version(package)}" for package in measure.packages]
    if "verdicts" in measure.needs:
        told += _judged_by(items)
    return "|".join(told)


def _judged_by(items: Sequence[Item]) -> list[str]:
    """What verdicts come from; all of it, where they come from several."""
    made = [item.checked.provenance for item in items if item.checked]
    found = {"checked-with": {it.version for it in made}, "protocol": {it.protocol or "" for it in made}}
    for provenance in made:
        for stage, signature in provenance.parts.items():
            found.setdefault(stage, set()).add(signature)
    return [f"{stage}={'+'.join(sorted(names))}" for stage, names in sorted(found.items()) if any(names)]


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
