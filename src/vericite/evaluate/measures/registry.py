"""Every measure by its name, and the one way from a string to a measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.agreement import (
    AGREEMENT_MEASURES,
    RANK_MEASURES,
    AgreementMeasure,
    RankAgreement,
)
from vericite.evaluate.measures.answer_closed import ANSWER_CLOSED_MEASURES
from vericite.evaluate.measures.answer_exact import ANSWER_EXACT_MEASURES
from vericite.evaluate.measures.answer_text import ANSWER_TEXT_MEASURES
from vericite.evaluate.measures.biogen import BIOGEN_MEASURES
from vericite.evaluate.measures.citation import CITATION_MEASURES
from vericite.evaluate.measures.citation_gold import CITATION_GOLD_MEASURES
from vericite.evaluate.measures.measure import Measure, Need
from vericite.evaluate.measures.model_scores import MODEL_SCORE_MEASURES
from vericite.evaluate.measures.named import Named
from vericite.evaluate.measures.nuggets import NUGGET_MEASURES
from vericite.evaluate.measures.parsing import parse_measure, split_measures
from vericite.evaluate.measures.rationale import RATIONALE_MEASURES
from vericite.evaluate.measures.retrieval import RETRIEVAL_MEASURES

_OF_ANSWERS: tuple[type[Measure], ...] = (
    *CITATION_MEASURES,
    *CITATION_GOLD_MEASURES,
    *BIOGEN_MEASURES,
    *ANSWER_TEXT_MEASURES,
    *ANSWER_EXACT_MEASURES,
    *ANSWER_CLOSED_MEASURES,
    *MODEL_SCORE_MEASURES,
    *NUGGET_MEASURES,
    *RATIONALE_MEASURES,
    *RETRIEVAL_MEASURES,
)

MEASURES: dict[str, type[Measure]] = {kind.name: kind for kind in _OF_ANSWERS}
"""What a system's answers are measured by."""

AGREEMENT: dict[str, type[AgreementMeasure]] = {kind.name: kind for kind in AGREEMENT_MEASURES}
"""How far raters agree."""

RANKINGS: dict[str, type[RankAgreement]] = {kind.name: kind for kind in RANK_MEASURES}
"""How far two rankings of systems agree."""

ALL: dict[str, type[Named]] = {**MEASURES, **AGREEMENT, **RANKINGS}
"""All of them."""


def measures_named(texts: Iterable[str]) -> list[Measure]:
    """The measures of these strings, each of which may be a list with commas, each measure once.

    Raises:
        InputError: One is no measure of answers.
    """
    found = [parse_measure(text, MEASURES) for listed in texts for text in split_measures(listed)]
    return list(dict.fromkeys(found))


_FILES = {"answer": "answers", "exact": "answers or outputs", "reply": "answers", "evidence": "outputs"}
"""The files that a need is read from, where they are not called as it is."""


def reads(kind: type[Named]) -> list[str]:
    """The files that a measure is computed from, as ``vericite score`` calls them."""
    if issubclass(kind, Measure):
        return [_FILES.get(need, need) for need in kind.needs]
    return ["ratings"] if issubclass(kind, AgreementMeasure) else ["figures of systems"]


def what_is_known(items: Sequence[Item]) -> dict[Need, bool]:
    """Whether some of these questions have what measures need."""
    answer = any(item.answer for item in items)
    verdicts = any(item.checked for item in items)
    exact = answer or any(item.exact is not None for item in items)
    return {
        "answer": answer,
        "exact": exact,
        "reply": exact or verdicts,
        "verdicts": verdicts,
        "gold": any(item.gold for item in items),
        "labels": any(item.labels for item in items),
        "scores": any(item.scores for item in items),
        "features": any(item.features for item in items),
        "evidence": any(item.ranked is not None for item in items),
    }


def measures_for(items: Sequence[Item]) -> list[Measure]:
    """Every measure, with its usual parameters, that these questions have what it needs for."""
    has = what_is_known(items)
    usual = [kind() for kind in MEASURES.values() if kind.in_all]
    return [measure for measure in usual if all(has[need] for need in measure.needs)]


_TELLING = (
    "SupportRate",
    "CitationSupportRate",
    "CitationF1",
    "NuggetRecall",
    "YesNoAccuracy",
    "FactoidMRR",
    "ListF1",
    "CategoryAccuracy",
    "ExactMatch",
    "RougeL",
    "nDCG",
    "AnsweredRate",
)
"""What two systems are compared by where nothing is named: the first of these that there is something for."""


def most_telling(systems: Sequence[Sequence[Item]]) -> Measure:
    """The measure that systems are compared by where none is named: each of them has something for it.

    Raises:
        InputError: There is nothing beside the answers of all of them that a measure needs.
    """
    shared = set[Measure].intersection(*({*measures_for(items)} for items in systems))
    there = {measure.name: measure for measure in shared}
    for name in _TELLING:
        measure = there.get(name)
        if measure and all(any(part is not None and any(part) for part in measure.of(items)) for items in systems):
            return measure
    raise InputError(
        "expected verdicts, gold or labels beside the answers of each system; found none that a measure needs. "
        "`vericite check FILE --out verdicts.jsonl` makes verdicts; `vericite measures` says what each measure needs."
    )
