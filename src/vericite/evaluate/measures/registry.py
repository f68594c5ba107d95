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
from vericite.evaluate.measures.answer_exact import ANSWER_EXACT_MEASURES
from vericite.evaluate.measures.answer_text import ANSWER_TEXT_MEASURES, AnsweredRate
from vericite.evaluate.measures.biogen import BIOGEN_MEASURES
from vericite.evaluate.measures.citation import CITATION_MEASURES
from vericite.evaluate.measures.citation_gold import CITATION_GOLD_MEASURES
from vericite.evaluate.measures.measure import Measure
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


def reads(kind: type[Named]) -> list[str]:
    """The files that a measure is computed from, as ``vericite score`` calls them."""
    if issubclass(kind, Measure):
        # An exact answer stands among the outputs, or is the first word of an answer.
        answer = "answers or outputs" if kind in ANSWER_EXACT_MEASURES else "answers"
        return [{"answer": answer, "evidence": "outputs"}.get(need, need) for need in kind.needs]
    return ["ratings"] if issubclass(kind, AgreementMeasure) else ["figures of systems"]


def measures_for(items: Sequence[Item]) -> list[Measure]:
    """Every measure, with its usual parameters, that these questions have what it needs for."""
    exact = any(item.exact is not None for item in items)
    checked = any(item.checked for item in items)
    has = {
        "answer": any(item.answer for item in items),
        "verdicts": checked,
        "gold": any(item.gold for item in items),
        "labels": any(item.labels for item in items),
        "scores": any(item.scores for item in items),
        "features": any(item.features for item in items),
        "evidence": any(item.ranked is not None for item in items),
    }

    def has_answers(measure: Measure) -> bool:
        if type(measure) in ANSWER_EXACT_MEASURES:
            return has["answer"] or exact
        return has["answer"] or (isinstance(measure, AnsweredRate) and (exact or checked))

    usual = [kind() for kind in MEASURES.values() if kind.in_all]
    return [
        measure
        for measure in usual
        if all(has_answers(measure) if need == "answer" else has[need] for need in measure.needs)
    ]


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


def most_telling(items: Sequence[Item]) -> Measure:
    """The measure that systems are compared by where none is named.

    Raises:
        InputError: There is nothing beside the answers that a measure needs.
    """
    there = {measure.name: measure for measure in measures_for(items)}
    for name in _TELLING:
        measure = there.get(name)
        if measure is not None and any(part is not None and any(part) for part in measure.of(items)):
            return measure
    raise InputError(
        "expected verdicts, gold or labels beside the answers; found none that a measure needs. `vericite check FILE "
        "--out verdicts.jsonl` makes verdicts; `vericite measures` says what each measure needs."
    )
