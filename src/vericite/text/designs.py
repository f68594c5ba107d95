"""The design of a study: from MEDLINE's publication types, otherwise from title and abstract by rules.

A design is named only if the record says it of itself; otherwise there is none. If several match, the first in
``designs.toml`` counts: a protocol of a randomised trial is a protocol, a randomised trial in rats an animal study.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, get_args

from vericite.records import Document

Design = Literal[
    "protocol", "systematic review", "guideline", "case report", "animal study", "randomised trial",
    "case-control study", "cross-sectional study", "cohort study", "in vitro study",
]  # fmt: skip
DESIGNS: tuple[Design, ...] = get_args(Design)
_OPINIONS = frozenset({"review", "editorial", "comment", "letter", "news", "biography", "historical article"})
"""Publication types of texts that report no study, whatever studies their abstracts name."""
_LONGEST = 20_000
_NEVER = re.compile(r"(?!)")
_DESIGN_LABEL = re.compile(r"\bdesigns?\b", re.IGNORECASE)
# "Population-based case-control study." is a section on design that lost its label.
_ONLY_DESIGN = re.compile(
    r"(?:\A|[.:?!]\s+)([A-Z](?:(?!(?:was|were|is|in|we|this)\b)[\w-]+,?\s){0,8}(?:study|trial|analysis|survey|review|series))\.(?=\s)"
)
# A study that reports results is not a plan, whatever it says will follow.
_RESULT = re.compile(r"\bp\s?[<=>]\s?0?[.·]\d", re.IGNORECASE)


@dataclass(frozen=True)
class _Rule:
    """What names a design: publication types, words of a title or of a section on design, and words of an abstract.

    ``unless`` are words of a title that speak against it.
    """

    design: Design
    types: frozenset[str]
    title: re.Pattern[str]
    abstract: re.Pattern[str]
    unless: re.Pattern[str]


@cache
def _rules() -> tuple[_Rule, ...]:
    table = tomllib.loads(resources.files("vericite.text").joinpath("designs.toml").read_text(encoding="utf-8"))
    shared: dict[str, str] = table.pop("patterns")

    def joined(patterns: list[str]) -> re.Pattern[str]:
        whole = "|".join(patterns)
        for name, pattern in shared.items():
            whole = whole.replace(f"{{{name}}}", pattern)
        return re.compile(whole, re.IGNORECASE) if whole else _NEVER

    return tuple(
        _Rule(
            design,
            frozenset(name.lower() for name in table[design]["types"]),
            *(joined(table[design].get(place, [])) for place in ("title", "abstract", "unless")),
        )
        for design in DESIGNS
    )


def study_design(document: Document) -> Design | None:
    """Return the design of the study that a document reports; None if it does not say.

    Args:
        document: The document, with its publication types and MeSH headings if it has any.
    """
    types = {name.lower() for name in document.publication_types}
    title, abstract = document.title[:_LONGEST], document.text[:_LONGEST]
    stated = " ".join(section.text[:300] for section in document.sections if _DESIGN_LABEL.search(section.label or ""))
    stated = " ".join((stated, *_ONLY_DESIGN.findall(abstract)))
    rules = [rule for rule in _rules() if not rule.unless.search(title)]
    for rule in _rules():
        named = rule.title.search(title) or rule.title.search(stated)
        planned = rule.design == "protocol" and rule.abstract.search(abstract) and not _RESULT.search(abstract)
        if rule.types & types or (rule in rules and (named or planned)):
            return rule.design
    if types & _OPINIONS:
        return None
    headings = {name.lower() for name in document.mesh}
    if "animals" in headings and "humans" not in headings:
        return "animal study"
    return next((rule.design for rule in rules if rule.abstract.search(abstract)), None)
