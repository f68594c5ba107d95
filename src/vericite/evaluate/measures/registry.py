"""The registry of measures, and the parser of measure strings."""

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
from vericite.registry import Registry

Kind = TypeVar("Kind", bound=Named)

_MEASURE = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<given>[^()]*)\))?\s*(?:@(?P<cutoff>\d+))?")


def parse_measure(text: str, known: Mapping[str, type[Kind]]) -> Kind:
    """Parse a measure, such as ``nDCG@10`` or ``CitationF1(average='micro')``.

    Raises:
        InputError: The syntax, the name, a parameter or a value is wrong.
    """
    parts = _MEASURE.fullmatch(text.strip())
    if not parts:
        raise InputError(f"expected a measure such as SupportRate, nDCG@10 or RougeL(figure='recall'); found {text!r}")
    name = parts["name"]
    spelled = next((key for key in known if key.lower() == name.lower()), None)
    if spelled is None:
        raise UnknownNameError("measure", name, known)
    kind = known[name] if name in known else known[spelled]
    given = _given(text, kind, parts["given"] or "")
    if parts["cutoff"]:
        if not kind.takes_cutoff():
            raise InputError(f"expected {kind.name} without a cutoff; found {text!r}. It does not use ranks.")
        given["cutoff"] = int(parts["cutoff"])
    # Before the measure's own checks, which rely on the types.
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
    """Split a comma-separated list of measures, but not at commas within parentheses.

    Raises:
        InputError: The list is empty.
    """
    found = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    if not found:
        raise InputError(
            f"expected a measure, as in -m SupportRate; found {text!r}. `vericite measures` lists them; without -m a "
            "default selection is used."
        )
    return found


def _measures_in(base: type[Kind], *modules: ModuleType) -> dict[str, type[Kind]]:
    """Return the measures of these modules by name: every class with a name of its own, in file order."""
    classes = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return {kind.name: kind for kind in classes if issubclass(kind, base) and "name" in vars(kind)}


def _by_family(found: dict[str, type[Measure]]) -> dict[str, type[Measure]]:
    """Sort measures by family; within a family, those of precomputed scores come last."""
    families = get_args(Family)

    def order(entry: tuple[str, type[Measure]]) -> tuple[int, bool]:
        kind = entry[1]
        return families.index(kind.family), not {"scores", "features"}.isdisjoint(kind.needs)

    return dict(sorted(found.items(), key=order))


def _of_plugin(kind: object) -> type[Measure]:
    if not (isinstance(kind, type) and issubclass(kind, Measure)):
        raise TypeError("expected a subclass of Measure")
    return kind


_OWN = _by_family(_measures_in(Measure, verdicts, citation_gold, answer_text, answer_exact, nuggets, retrieval))

MEASURES: Registry[type[Measure]] = Registry("measure", _OWN, "vericite.measures", _of_plugin)
"""Measures of a system's answers by name; another package may add a subclass of ``Measure``."""

AGREEMENT = _measures_in(AgreementMeasure, agreement)
"""The measures of agreement between raters."""

RANKINGS = _measures_in(RankAgreement, agreement)
"""The rank correlations of two measures."""


def measures_named(texts: Iterable[str]) -> list[Measure]:
    """Parse measures of answers without repetitions; each string may be a comma-separated list.

    Raises:
        InputError: A string is not a measure of answers.
    """
    found = [parse_measure(text, MEASURES) for listed in texts for text in split_measures(listed)]
    return list(dict.fromkeys(found))


_FILES = {
    "answer": "answers",
    "exact": "answers or outputs",
    "reply": "answers",
    "evidence": "outputs",
    "articles": "evidence",
}
"""The file names of inputs, where they differ from the name of the input."""


def reads(kind: type[Named]) -> list[str]:
    """Return the files that a measure is computed from, with the names that ``vericite score`` uses."""
    if issubclass(kind, Measure):
        return [_FILES.get(need, need) for need in kind.needs]
    return ["ratings"] if issubclass(kind, AgreementMeasure) else ["scores of systems"]


def available_inputs(items: Sequence[Item]) -> dict[Need, bool]:
    """Return for each input of measures whether any of these questions has it."""
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
        "articles": any(item.articles is not None for item in items),
    }


def measures_for(items: Sequence[Item]) -> list[Measure]:
    """Return every measure, with default parameters, whose inputs these questions have."""
    has = available_inputs(items)
    usual = [kind() for _, kind in MEASURES.usable() if kind.in_all]
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
"""Candidates for the default measure of a comparison, in order of preference."""


def preferred_measure(systems: Sequence[Sequence[Item]]) -> Measure:
    """Return the default measure of a comparison: the first candidate that is defined for every system.

    Raises:
        InputError: No measure is defined for all systems.
    """
    shared = set[Measure].intersection(*({*measures_for(items)} for items in systems))
    by_name = {measure.name: measure for measure in shared}
    for name in _PREFERRED:
        measure = by_name.get(name)
        if measure and all(any(part is not None and any(part) for part in measure.of(items)) for items in systems):
            return measure
    raise InputError(
        "expected verdicts, gold or labels with the answers of each system; found none that a measure needs. "
        "`vericite check FILE --out verdicts.jsonl` makes verdicts; `vericite measures` lists what each measure needs."
    )
