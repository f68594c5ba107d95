"""Rates of systems corrected by people's labels on a sample of their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vericite.annotate.labels import Annotation, support
from vericite.annotate.schemes import Scheme
from vericite.annotate.units import Unit, units_of
from vericite.errors import InputError
from vericite.evaluate.correction import (
    FEWEST,
    LabelledVerdict,
    PartlyLabelled,
    SystemByPeople,
    correct,
)
from vericite.evaluate.scoring import System


def correct_systems(
    systems: Sequence[System], sample: Mapping[str, Unit], annotations: Sequence[Annotation], scheme: Scheme
) -> list[SystemByPeople]:
    """Each system's rate of supported citations as people would find it, of those that have ten labels or more.

    A unit that several people labelled counts by the share of them who find it supported.

    Args:
        systems: The systems that the sample was drawn from, checked as they were then.
        sample: Its units by item.
        annotations: The labels.
        scheme: What they mean.

    Raises:
        InputError: The sample was drawn from other verdicts, is of another kind, or no system has labels enough.
    """
    if scheme.of != "citation":
        raise InputError(f"expected a scheme of citations to correct their rate; {scheme.name} is of {scheme.of}s")
    people = {item: share for item, share in support(annotations, scheme).items() if item in sample}
    units = units_of(systems)
    _expect_same(units, sample)
    keys = list(next(iter(sample.values())).stratum)
    found: list[SystemByPeople] = []
    most = 0
    for system in systems:
        own = [unit for unit in units if unit.system == system.name]
        labelled = [unit for unit in own if unit.item in people]
        most = max(most, len(labelled))
        if len(labelled) < FEWEST:
            continue
        correction = correct(
            PartlyLabelled(
                np.array([unit.verdict == "supported" for unit in own], dtype=np.float64),
                np.array([people.get(unit.item, np.nan) for unit in own]),
                [tuple(unit.drawn_by(keys).values()) for unit in own],
                [unit.group for unit in own],
            )
        )
        same = _same(annotations, scheme, sample)
        verdicts = tuple(_verdict(sample[unit.item], people, same) for unit in labelled)
        found.append(SystemByPeople(system.name, correction, verdicts))
    if not found:
        raise InputError(
            f"expected labels on {FEWEST} verdicts of a system or more; found {most} at most. Label more of the sample."
        )
    return found


def _expect_same(units: Sequence[Unit], sample: Mapping[str, Unit]) -> None:
    """Strata that have changed since would weigh the labels wrongly."""
    there = {unit.item: unit for unit in units}
    lost = [item for item in sample if item not in there]
    if lost:
        raise InputError(
            f"expected the systems that the sample was drawn from, by the same names; {len(lost)} of {len(sample)} "
            f"units are not in them, such as that of answer {sample[lost[0]].answer!r} of {sample[lost[0]].system!r}"
        )
    for item, unit in sample.items():
        now = there[item].drawn_by(list(unit.stratum))
        if now != dict(unit.stratum):
            raise InputError(
                f"expected the verdicts that the sample was drawn by; found {now} where it has {dict(unit.stratum)} "
                f"(answer {unit.answer!r}). Draw a sample from these verdicts, or give those."
            )


def _same(annotations: Sequence[Annotation], scheme: Scheme, sample: Mapping[str, Unit]) -> dict[str, float]:
    votes: dict[str, list[bool]] = {}
    for one in annotations:
        if one.label is not None and one.item in sample:
            votes.setdefault(one.item, []).append(scheme.verdicts[one.label] == sample[one.item].verdict)
    return {item: sum(given) / len(given) for item, given in votes.items()}


def _verdict(unit: Unit, people: Mapping[str, float], same: Mapping[str, float]) -> LabelledVerdict:
    probabilities = dict(unit.probabilities)
    return LabelledVerdict(
        max(probabilities.values()) if probabilities else None,
        probabilities.get("supported"),
        unit.verdict or "",
        people[unit.item],
        same[unit.item],
        unit.weight,
    )
