"""Agreement of annotators on labels and passages, and with the judge.

Labels on a sample of verdicts are also used to correct the rates of whole systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from re import findall

import numpy as np

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
from vericite.lab.annotate.labels import Adjudication, Annotation, adjudicate, support
from vericite.lab.annotate.schemes import Scheme
from vericite.lab.annotate.units import Unit, units_of

JUDGE = "judge"


@dataclass(frozen=True)
class SnippetAgreement:
    """Agreement of two annotators on the passages that they marked.

    Attributes:
        overlap: Mean F1 in characters over units.
        bleu: Mean sentence BLEU over units, averaged over both directions.
        n: Number of units on which both marked something.
        one_only: Number of units that both labelled and only one of them marked.
    """

    raters: tuple[str, str]
    overlap: float | None
    bleu: float | None
    n: int
    one_only: int

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        return {"raters": list(self.raters), "overlap": self.overlap, "bleu": self.bleu, "n": self.n,
                "one_only": self.one_only}  # fmt: skip


@dataclass(frozen=True)
class PeopleAgreement:
    """The agreement of annotators.

    Attributes:
        labels: Agreement between annotators; empty if there is only one.
        judge: Agreement of each annotator, and of the majority, with the judge, by the labels of verdicts; empty
            without verdicts.
        snippets: Agreement of each pair on passages.
        adjudication: The majority labels.
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
    """Measure the agreement of annotators with each other and, if the sample is given, with its judge.

    Raises:
        InputError: There are too few labels for any figure.
    """
    raters = sorted({annotation.rater for annotation in annotations})
    several = len(raters) > 1
    found = adjudicate(annotations)
    measures = [CohenKappa(), CategoryF1()]
    among: list[Agreed] = []
    if several:
        ratings = [annotation.rating for annotation in annotations]
        all_measures = [*measures, FleissKappa(), KrippendorffAlpha()]
        among = agree(ratings, all_measures, None, list(scheme.verdicts), bootstrap)
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
    """Return the ratings of annotators and judge with the labels of verdicts; empty if one of them has no labels."""
    people = [annotation.rating for annotation in annotations] + (majority.ratings if majority else [])
    said = [
        rating.model_copy(update={"label": scheme.verdicts[rating.label] if rating.label is not None else None})
        for rating in people
        if rating.item in units
    ]
    asked = {rating.item for rating in said}
    judge = [
        Rating(item=item, rater=JUDGE, label=unit.verdict, group=unit.group)
        for item, unit in units.items()
        if item in asked and unit.verdict is not None
    ]
    return [*judge, *said] if judge and any(rating.label is not None for rating in said) else []


def _snippets(annotations: Sequence[Annotation], pair: tuple[str, str]) -> SnippetAgreement:
    own = [{annotation.item: annotation for annotation in annotations if annotation.rater == rater} for rater in pair]
    shared = [(own[0][item], own[1][item]) for item in own[0] if item in own[1]]
    both = [(one, other) for one, other in shared if one.snippets and other.snippets]
    one_only = sum(bool(one.snippets) != bool(other.snippets) for one, other in shared)
    if not both:
        return SnippetAgreement(pair, None, None, 0, one_only)
    overlap = [_overlap(_marked(one), _marked(other)) for one, other in both]
    texts = [(_words(one), _words(other)) for one, other in both]
    scores = [(bleu(one, other) + bleu(other, one)) / 2 for one, other in texts]
    return SnippetAgreement(pair, sum(overlap) / len(both), sum(scores) / len(both), len(both), one_only)


def _marked(annotation: Annotation) -> set[tuple[str, int]]:
    return {
        (snippet.document, offset) for snippet in annotation.snippets for offset in range(snippet.start, snippet.end)
    }


def _overlap(one: set[tuple[str, int]], other: set[tuple[str, int]]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _words(annotation: Annotation) -> list[str]:
    return [word for snippet in annotation.snippets for word in findall(r"\w+|[^\w\s]", snippet.text.lower())]


def bleu(words: Sequence[str], reference: Sequence[str]) -> float:
    """Return sentence BLEU with n-grams up to four, with add-one smoothing from bigrams on (Lin and Och 2004)."""
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
    """Correct the rate of supported citations of each system with at least ten labels.

    A unit with several labels counts by the share of annotators who find it supported.

    Args:
        systems: The systems that the sample was drawn from, with the same verdicts.
        sample: The units of the sample by item.
        annotations: The labels.
        scheme: The scheme of the labels.

    Raises:
        InputError: The sample was drawn from other verdicts, has another kind of units, or no system has enough labels.
    """
    if scheme.of != "citation":
        raise InputError(
            f"expected a scheme for citations to correct their rate; {scheme.name} is for {scheme.of}s. Give the "
            "sample of the citations."
        )
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
            f"expected labels on at least {FEWEST} verdicts of a system; found at most {most}. Label more of the "
            "sample."
        )
    return found


def _expect_same(units: Sequence[Unit], sample: Mapping[str, Unit]) -> None:
    """Check that the units and strata are those of the sample; otherwise the weights would be wrong."""
    current = {unit.item: unit for unit in units}
    missing = [item for item in sample if item not in current]
    if missing:
        first = sample[missing[0]]
        raise InputError(
            f"expected the systems that the sample was drawn from, with the same names; {len(missing)} of "
            f"{len(sample)} units are not in them, such as one of answer {first.answer!r} of {first.system!r}"
        )
    for item, unit in sample.items():
        if unit.protocol and current[item].protocol != unit.protocol:
            raise InputError(
                f"expected verdicts by the protocol of the sample, {unit.protocol}; found "
                f"{current[item].protocol or 'none'} (answer {unit.answer!r}). The rate would be that of another "
                "judge: give the verdicts that the sample was drawn from, or the same --protocol and --judge."
            )
        now = current[item].drawn_by(list(unit.stratum))
        if now != dict(unit.stratum):
            raise InputError(
                f"expected the verdicts that the sample was drawn from; found {now}, but the sample has "
                f"{dict(unit.stratum)} (answer {unit.answer!r}). Give the original verdicts, or draw a sample from "
                "these."
            )


def _same(annotations: Sequence[Annotation], scheme: Scheme, sample: Mapping[str, Unit]) -> dict[str, float]:
    votes: dict[str, list[bool]] = {}
    for annotation in annotations:
        if annotation.label is not None and annotation.item in sample:
            agrees = scheme.verdicts[annotation.label] == sample[annotation.item].verdict
            votes.setdefault(annotation.item, []).append(agrees)
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
