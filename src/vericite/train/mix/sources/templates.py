"""Sentences that say how an outcome differed between two arms, in many wordings.

Each wording has a direction that is filled in, so that a true statement and its reversal differ in one word.
"""

from __future__ import annotations

import random
import re
from typing import Literal

Relation = Literal["up", "down", "same"]

_WORDS: dict[Literal["up", "down"], dict[str, str]] = {
    "up": {"er": "higher", "re": "lower", "ed": "increased", "es": "increases", "n": "increase", "gr": "greater"},
    "down": {"er": "lower", "re": "higher", "ed": "reduced", "es": "reduces", "n": "reduction", "gr": "smaller"},
}
# i: intervention, c: comparator, o: outcome; er: the direction, re: its reverse.
DIRECTED = (
    "{o} was significantly {er} with {i} than with {c}.",
    "{i} significantly {ed} {o} compared with {c}.",
    "Compared with {c}, {i} led to {er} {o}.",
    "{c} resulted in {re} {o} than {i}.",
    "There was a significant {n} in {o} with {i} relative to {c}.",
    "{i} was associated with {er} {o} than {c}.",
    "{o} was significantly {re} with {c} than with {i}.",
    "Relative to {i}, {c} was associated with {re} {o}.",
    "A {er} {o} was seen with {i} than with {c}.",
    "{o} differed significantly between {i} and {c}, being {er} with {i}.",
    "{i}, compared with {c}, {es} {o}.",
    "Values of {o} were {er} after {i} than after {c}.",
    "{o}: {i} {er} than {c}.",
    "Use of {i} instead of {c} {ed} {o}.",
    "The effect of {i} on {o} was {a} {n} when compared with {c}.",
)
EQUAL = (
    "There was no significant difference in {o} between {i} and {c}.",
    "{o} did not differ significantly between {i} and {c}.",
    "{i} had no significant effect on {o} compared with {c}.",
    "{i} and {c} had similar effects on {o}.",
    "{o} was similar with {i} and with {c}.",
    "{i} was neither better nor worse than {c} in terms of {o}.",
    "Compared with {c}, {i} did not significantly change {o}.",
    "{o} was comparable between {c} and {i}.",
    "No statistically significant effect of {i} versus {c} on {o} was found.",
)
UNEQUAL = (
    "{o} differed significantly between {i} and {c}.",
    "{i} had a significant effect on {o} compared with {c}.",
    "{i} and {c} differed in their effects on {o}.",
    "Compared with {c}, {i} significantly changed {o}.",
)
BETTER = (
    "{i} was {better} to {c} in terms of {o}.",
    "{i} is {better} to {c} for {o}.",
    "With regard to {o}, {i} performed {more} than {c}.",
    "{i} {improves} {o} compared with {c}.",
)
_QUALITY = {
    True: {"better": "superior", "more": "better", "improves": "improves"},
    False: {"better": "inferior", "more": "worse", "improves": "worsens"},
}
_BAD = re.compile(
    r"\b(?:mortality|death|pain|adverse|bleeding|blood loss|complications?|infections?|relapse|recurrence|nausea"
    r"|vomiting|depress\w+|anxiety|fatigue|length of stay|hospitali[sz]ation|symptoms?|failure|toxicity|fractures?"
    r"|stroke|thrombo\w+|hypoglyc\w+|hypotension|incidence of|risk of|side effects|severity)\b",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b(?:survival|quality of life|response rate|responders|remission|adherence|satisfaction|success|cure|healing"
    r"|recovery|function\w*|performance|knowledge|pregnancy rate|live birth|well-being|efficacy|strength)\b",
    re.IGNORECASE,
)
_BLURRED = re.compile(r"\b(?:time|reduction|decrease|improvement|change|free|without|relief|loss of|threshold)\b", re.I)


def is_good(outcome: str) -> bool | None:
    """Whether more of an outcome is better for the patient; None where the words do not say."""
    good, bad = bool(_GOOD.search(outcome)), bool(_BAD.search(outcome))
    return None if good == bad or _BLURRED.search(outcome) else good


def fill(template: str, arms: tuple[str, str, str], relation: Relation, good: bool | None = None) -> str:
    """A statement about (intervention, comparator, outcome), beginning with a capital."""
    intervention, comparator, outcome = arms
    words = _WORDS["up" if relation == "same" else relation]
    article = "an" if words["n"] == "increase" else "a"
    quality = _QUALITY[(relation == "up") == good] if good is not None else {}
    text = template.format(i=intervention, c=comparator, o=outcome, a=article, **words, **quality)
    return text[:1].upper() + text[1:]


def choose(dice: random.Random, templates: tuple[str, ...]) -> str:
    """One wording."""
    return templates[dice.randrange(len(templates))]
