"""How far annotators agree: on labels, with the judge, and on the passages that they mark.

Of labels on a sample of verdicts come rates of whole systems, corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from re import findall

import numpy as np

from vericite.annotate.labels import Adjudication, Annotation, adjudicate, support
from vericite.annotate.schemes import Scheme
from vericite.annotate.units import Unit, units_of
from vericite.errors import InputError
from vericite.evaluate.agreement import CategoryF1, CohenKappa, FleissKappa, KrippendorffAlpha
from vericite.evaluate.correction import (
    FEWEST,
    LabelledVerdict,
    PartlyLabelled,
    SystemByPeople,
    correct,
)
from vericite.evaluate.ratings import Agreed, Rating, agree
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System

JUDGE = "judge"


@dataclass(frozen=True)
class SnippetAgreement:
    """How far two annotators mark the same passages.

    Attributes:
        overlap: Mean over units of F1 in characters.
        bleu: Mean over units of sentence BLEU, of each annotator's words against the other's and the two averaged.
        n: Units on which both marked something.
        one_only: Units that both labelled, and on which one of them marked something.
    """

    raters: tuple[str, str]
    overlap: float | None
    bleu: float | None
    n: int
    one_only: int

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it."""
        return {"raters": list(self.raters), "overlap": self.overlap, "bleu": self.bleu, "n": self.n,
                "one_only": self.one_only}  # fmt: skip


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree.

    Attributes:
        labels: Among themselves; empty where there is but one.
        judge: Each of them, and the majority of several, against the judge, in the words of verdicts; empty without
            the judge's.
        snippets: On passages, each pair.
        adjudication: What most say.
    """

    labels: list[Agreed]
    judge: list[Agreed]
    snippets: list[SnippetAgreement]
    adjudication: Adjudication


def people_agreement(
    annotations: Sequence[Annotation],
    scheme: Scheme,
    units: Mapping[str, Unit] | None = None,
    bootstrap: Bootstrap | None = None,
) -> PeopleAgreement:
    """How far annotators agree with each other and, where the sample is given, with its judge.

    Raises:
        InputError: There are too few labels for any figure.
    """
    raters = sorted({one.rater for one in annotations})
    several = len(raters) > 1
    found = adjudicate(annotations)
    measures = [CohenKappa(), CategoryF1()]
    every = [*measures, FleissKappa(), KrippendorffAlpha()]
    among = agree([one.rating for one in annotations], every, None, list(scheme.verdicts), bootstrap) if several else []
    judged = _judged(annotations, found if several else None, scheme, units or {})
    return PeopleAgreement(
        among,
        agree(judged, measures, JUDGE, None, bootstrap) if judged else [],
        [_snippets(annotations, pair) for pair in combinations(raters, 2)] if scheme.snippets else [],
        found,
    )


def _judged(
    annotations: Sequence[Annotation], majority: Adjudication | None, scheme: Scheme, units: Mapping[str, Unit]
) -> list[Rating]:
    """What people and the judge say, in the words of verdicts; nothing where one of the two has none."""
    people = [one.rating for one in annotations] + (majority.ratings if majority else [])
    said = [
        one.model_copy(update={"label": scheme.verdicts[one.label] if one.label is not None else None})
        for one in people
        if one.item in units
    ]
    asked = {one.item for one in said}
    judge = [
        Rating(item=item, rater=JUDGE, label=unit.verdict, group=unit.group)
        for item, unit in units.items()
        if item in asked and unit.verdict is not None
    ]
    return [*judge, *said] if judge and any(one.label is not None for one in said) else []


def _snippets(annotations: Sequence[Annotation], pair: tuple[str, str]) -> SnippetAgreement:
    own = [{one.item: one for one in annotations if one.rater == rater} for rater in pair]
    shared = [(own[0][item], own[1][item]) for item in own[0] if item in own[1]]
    both = [(one, other) for one, other in shared if one.snippets and other.snippets]
    some = sum(bool(one.snippets) != bool(other.snippets) for one, other in shared)
    if not both:
        return SnippetAgreement(pair, None, None, 0, some)
    overlap = [_overlap(_marked(one), _marked(other)) for one, other in both]
    texts = [(_words(one), _words(other)) for one, other in both]
    scores = [(bleu(one, other) + bleu(other, one)) / 2 for one, other in texts]
    return SnippetAgreement(pair, sum(overlap) / len(both), sum(scores) / len(both), len(both), some)


def _marked(one: Annotation) -> set[tuple[str, int]]:
    return {(it.document, place) for it in one.snippets for place in range(it.start, it.end)}


def _overlap(one: set[tuple[str, int]], other: set[tuple[str, int]]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _words(one: Annotation) -> list[str]:
    return [word for it in one.snippets for word in findall(r"\w+|[^\w\s]", it.text.lower())]


def bleu(words: Sequence[str], reference: Sequence[str]) -> float:
    """Sentence BLEU with n-grams up to four; from pairs on one is added to both counts (Lin and Och 2004)."""
    if not words or not reference:
        return 0.0
    logs = 0.0
    for size in range(1, 5):
        own, theirs = (Counter(zip(*(text[i:] for i in range(size)), strict=False)) for text in (words, reference))
        found, all = sum((own & theirs).values()), sum(own.values())
        smooth = int(size > 1)
        if not found + smooth:
            return 0.0
        logs += log((found + smooth) / (all + smooth)) / 4
    short = min(0.0, 1 - len(reference) / len(words))
    return exp(logs + short)


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
        if unit.protocol and there[item].protocol != unit.protocol:
            raise InputError(
                f"expected verdicts by the protocol of the sample, {unit.protocol}; found "
                f"{there[item].protocol or 'none'} (answer {unit.answer!r}). The rate would be that of another judge: "
                "give the verdicts that the sample was drawn from, or the same --protocol and --judge."
            )
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
