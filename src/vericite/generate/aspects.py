"""What a question asks for, such as a dose, a harm or a mechanism, and whether a sentence answers that.

A sentence that only says what was done, planned or unknown answers hardly any question, whichever section it is in.
The patterns are in ``aspects.toml``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from vericite.generate.subjects import unmentioned
from vericite.text.names import is_mentioned, names_in
from vericite.text.roles import Role

Pattern = re.Pattern[str]


@dataclass(frozen=True)
class Aspect:
    """A kind of thing that a question asks for.

    Attributes:
        name: Its name.
        asked: Matches questions that ask for it.
        met: Matches sentences that have it.
        unmet: Factor of the probability of a sentence that lacks it.
        stated: Matches sentences that say it outright ("first-line regimen"); None if that cannot be told by words.
    """

    name: str
    asked: Pattern
    met: Pattern
    unmet: float
    stated: Pattern | None = None

    def is_in(self, text: str) -> bool:
        """Whether a sentence has it."""
        if self.met.search(text):
            return True
        return self.name == "treatment" and any(named.is_drug for named in names_in(text))


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(resources.files("vericite.generate").joinpath("aspects.toml").read_text(encoding="utf-8"))


def _compiled(lines: str) -> Pattern:
    for name, verbs in _read()["verbs"].items():
        lines = lines.replace(name, verbs)
    return re.compile(re.sub(r"\n\|?", "|", lines).replace("||", "|"), re.IGNORECASE)


@cache
def aspects() -> tuple[Aspect, ...]:
    """Read all aspects."""
    return tuple(
        Aspect(
            name,
            _compiled(row["asked"]),
            _compiled(row["met"]),
            row["unmet"],
            _compiled(row["stated"]) if "stated" in row else None,
        )
        for name, row in _read()["aspect"].items()
    )


@cache
def _empty() -> dict[str, Pattern]:
    return {name: _compiled(lines) for name, lines in _read()["empty"].items()}


@lru_cache(maxsize=256)
def asked_aspects(question: str) -> tuple[Aspect, ...]:
    """Return the aspects that a question asks for, the most definite first; a definition only if there is no other."""
    found = [aspect for aspect in aspects() if aspect.asked.search(question.strip())]
    return tuple(aspect for aspect in found if aspect.name != "definition" or len(found) == 1)


_BE, DO = "is|are|was|were", "do|does|did"
CLOSED = re.compile(
    rf"\s*+(?P<auxiliary>{_BE}|{DO}|can|could|has|have|had|should|will|would|may|might|must)\s++(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
"""Matches questions of yes or no: the auxiliary verb that they begin with, and the rest."""


_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)


def asks_yes_or_no(question: str) -> bool:
    """Whether the answer is yes or no, by the form of the question: it offers no choice."""
    return CLOSED.match(question) is not None and not _CHOICE.search(question)


def aspect_of(question: str) -> str | None:
    """Return the name of what a question asks for; ``effect`` for a yes/no question that asks for nothing else."""
    asked = asked_aspects(question)
    return asked[0].name if asked else "effect" if CLOSED.match(question) else None


def empty_kind(text: str) -> str | None:
    """Return why a sentence states nothing (it is an aim, a method, a plan, or not known); None if it does."""
    return next((name for name, pattern in _empty().items() if pattern.search(text)), None)


_EMPTY = {"aim": 0.1, "method": 0.15, "open": 0.2, "protocol": 0.05}
_ROLES: dict[Role, float] = {"aim": 0.3, "method": 0.4, "background": 0.6}
_LIKELY_ROLES: dict[Role, float] = {"aim": 0.7, "method": 0.85, "background": 0.9}
"""Factors of roles that are only likely, because the source does not name its sections."""
_BACKGROUND_ANSWERS = frozenset({"definition", "mechanism", "cause", "components", "list"})
"""Aspects that background sections state as well as findings do."""
_METHOD_ANSWERS = frozenset({"dose", "duration", "diagnosis"})
"""Aspects that methods may answer; findings come before them."""
_GIVEN = 0.5
"""Factor of a method that has what is asked for."""


def fit(question: str, text: str, role: Role, is_labelled: bool) -> float:
    """Return the factor of a sentence's probability to answer: what it states, and whether that is asked for.

    Args:
        question: The question.
        text: The sentence.
        role: Its role in the abstract.
        is_labelled: Whether the abstract itself tells the role.
    """
    asked = asked_aspects(question)
    factor = min((aspect.unmet for aspect in asked if not aspect.is_in(text)), default=1.0)
    kind = empty_kind(text)
    # "We compared empagliflozin 10 mg once daily with placebo" says what was given.
    if kind == "aim" and gives_dose(question, text):
        kind = "method"
    if (kind or role) == "method" and factor == 1.0 and _METHOD_ANSWERS & {aspect.name for aspect in asked}:
        return _GIVEN
    if kind is not None:
        return factor * _EMPTY[kind]
    if role == "background" and _BACKGROUND_ANSWERS & {aspect.name for aspect in asked}:
        return factor
    return factor * (_ROLES if is_labelled else _LIKELY_ROLES).get(role, 1.0)


_DOSE = (
    r"\d[\d.,]{0,9}[ -]?(?:[mµμ]?g|mcg|micrograms?|milligrams?|grams?|iu|units?|m[lL])\b(?! ?(?:/|per) ?(?:d?l|lit))"
)


def gives_dose(question: str, text: str) -> bool:
    """Whether a question asks for the dose of a named drug and a sentence has one next to the drug's name."""
    if not any(aspect.name == "dose" for aspect in asked_aspects(question)):
        return False
    asked = [named for named in names_in(question) if named.is_drug]
    for named in names_in(text) if asked else ():
        name = re.escape(named.text)
        behind = rf"\b{name}\b,? \(?(?:(?:at|in|a|an|of|oral|dose|doses|daily|the) ){{0,4}}{_DOSE}"
        nearby = rf"{behind}|{_DOSE}(?: \w+){{0,2}} of {name}\b"
        if any(is_mentioned(own, [named]) for own in asked) and re.search(nearby, text, re.IGNORECASE):
            return True
    return False


@cache
def _count() -> dict[str, Pattern]:
    return {name: _compiled(lines) for name, lines in _read()["count"].items()}


@lru_cache(maxsize=256)
def acts_of(question: str) -> tuple[str, ...]:
    """Return what is counted as done in a question for a number: "stopped" in "How many patients stopped X early?"."""
    found = _count()["asked"].match(question.strip())
    return () if found is None else tuple(match[0] for match in _count()["act"].finditer(found["rest"]))


def is_stated(question: str, text: str) -> bool:
    """Whether a sentence says outright what the question asks for, so that it need not name the subject again."""
    asked = asked_aspects(question)
    said = any(aspect.stated is not None and aspect.stated.search(text) for aspect in asked)
    return (said or bool(acts_of(question))) and empty_kind(text) is None and has_asked(question, text)


def has_asked(question: str, text: str) -> bool:
    """Whether a sentence has everything that a question asks for, and the acts that it counts."""
    return all(aspect.is_in(text) for aspect in asked_aspects(question)) and not _undone(question, text)


def _undone(question: str, text: str) -> list[str]:
    """Return the acts of a question that a text lacks."""
    return unmentioned(acts_of(question), text, "act")
