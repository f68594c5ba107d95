"""Every measure by its name, and the one way from a string to a measure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from types import ModuleType
from typing import Any, TypeVar, get_args

from vericite.errors import InputError, UnknownNameError
from vericite.evaluate import agreement
from vericite.evaluate.agreement import AgreementMeasure, RankAgreement
from vericite.evaluate.items import Item
from vericite.evaluate.measures import answer_exact, answer_text, citation_gold, nuggets, retrieval, verdicts
from vericite.evaluate.measures.measure import Family, Measure, Named, Need, expect_parameters

Kind = TypeVar("Kind", bound=Named)

_MEASURE = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<given>[^()]*)\))?\s*(?:@(?P<cutoff>\d+))?")


def parse_measure(text: str, known: Mapping[str, type[Kind]]) -> Kind:
    """The measure that this is the string of, as in ``nDCG@10`` or ``CitationF1(average='micro')``.

    Raises:
        InputError: It is none: what is wrong with the name, a parameter or a value.
    """
    parts = _MEASURE.fullmatch(text.strip())
    if not parts:
        raise InputError(
            f"expected a measure such as SupportRate or nDCG@10 or RougeL(figure='recall'); found {text!r}"
        )
    name = parts["name"]
    kind = known.get(name) or next((it for key, it in known.items() if key.lower() == name.lower()), None)
    if kind is None:
        raise UnknownNameError("measure", name, known)
    given = _given(text, kind, parts["given"] or "")
    if parts["cutoff"]:
        if not kind.takes_cutoff():
            raise InputError(f"expected {kind.name} without a cutoff; found {text!r}. It does not look at ranks.")
        given["cutoff"] = int(parts["cutoff"])
    # Before what the measure itself makes of its parameters, which takes them to be of their types.
    expect_parameters(kind.name, kind, given)
    try:
        return kind(**given)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected a measure; found {text!r}: {error}") from None


def _given(text: str, kind: type[Named], inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args:
            raise ValueError
        given = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError):
        raise InputError(f"expected parameters as in {kind.name}(name='value'); found {text!r}") from None
    takes = [field.name for field in fields(kind) if field.name != "cutoff"]
    for name in given:
        if name not in takes:
            known = ", ".join(takes) or "none"
            raise InputError(f"expected parameters of {kind.name} (it has {known}); found {name!r} in {text!r}")
    return given


def split_measures(text: str) -> list[str]:
    """The measures of a list with commas, those within brackets left alone.

    Raises:
        InputError: It names none.
    """
    found = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    if not found:
        raise InputError(
            f"expected a measure, as in -m SupportRate; found {text!r}. `vericite measures` lists them; without -m the "
            "usual ones are taken."
        )
    return found


def _measures_in(base: type[Kind], *modules: ModuleType) -> dict[str, type[Kind]]:
    """The measures of these modules by name: every class there that gives itself one, in the order of the file."""
    classes = [it for module in modules for it in vars(module).values() if isinstance(it, type)]
    return {it.name: it for it in classes if issubclass(it, base) and "name" in vars(it)}


def _in_families(found: dict[str, type[Measure]]) -> dict[str, type[Measure]]:
    """In the order of families, and in a family what models computed beforehand last."""
    families = get_args(Family)
    order = {it: (families.index(it.family), not {"scores", "features"}.isdisjoint(it.needs)) for it in found.values()}
    return dict(sorted(found.items(), key=lambda known: order[known[1]]))


MEASURES = _in_families(_measures_in(Measure, verdicts, citation_gold, answer_text, answer_exact, nuggets, retrieval))
"""What a system's answers are measured by."""

AGREEMENT = _measures_in(AgreementMeasure, agreement)
"""How far raters agree."""

RANKINGS = _measures_in(RankAgreement, agreement)
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


_PREFERRED = (
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


def preferred_measure(systems: Sequence[Sequence[Item]]) -> Measure:
    """The measure that systems are compared by where none is named: each of them has something for it.

    Raises:
        InputError: There is nothing beside the answers of all of them that a measure needs.
    """
    shared = set[Measure].intersection(*({*measures_for(items)} for items in systems))
    there = {measure.name: measure for measure in shared}
    for name in _PREFERRED:
        measure = there.get(name)
        if measure and all(any(part is not None and any(part) for part in measure.of(items)) for items in systems):
            return measure
    raise InputError(
        "expected verdicts, gold or labels beside the answers of each system; found none that a measure needs. "
        "`vericite check FILE --out verdicts.jsonl` makes verdicts; `vericite measures` says what each measure needs."
    )
