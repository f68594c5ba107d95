"""How a pattern becomes a sentence.

In a pattern, "<a/b>" is a free choice of words, "[a|b|c]" what is said in the first, second or third state of the
facts ("[2:a|b|c]" for the second of several facts), and "{o}" a name.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from vericite.train.mix.example import Label

_FREE = re.compile(r"<([^<>]*)>")
_STATED = re.compile(r"\[(?:(\d):)?([^\[\]]*)\]")
_START = re.compile(r"(^|[.:] )([a-z])")

Facts = tuple[int, ...]

_LABELS: dict[str, tuple[tuple[Label, ...], ...]] = {
    "opposed": (
        ("entails", "contradicts", "contradicts"),
        ("contradicts", "entails", "contradicts"),
        ("contradicts", "contradicts", "entails"),
    ),
    "apart": (("entails", "neutral"), ("neutral", "entails")),
    # nothing, something weak, something strong: the weak does not give the strong, the strong gives the weak
    "ladder": (
        ("entails", "contradicts", "contradicts"),
        ("contradicts", "entails", "neutral"),
        ("contradicts", "entails", "entails"),
    ),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """Premises and claims about one kind of fact, which is in one of two or three states.

    Attributes:
        kind: The kind of the examples.
        premises: Patterns that state the fact.
        claims: Patterns that state it in other words; "~" before one says that a changed name does not make it neutral.
        states: How many states the fact can be in.
        labels: What a premise in one state says of a claim in another: "opposed", "apart" or "ladder".
        weight: How often it is drawn, against the others.
    """

    kind: str
    premises: tuple[str, ...]
    claims: tuple[str, ...]
    states: int = 2
    labels: str = "opposed"
    weight: float = 1.0

    def label(self, stated: int, claimed: int) -> Label:
        """What a premise in one state says of a claim in another."""
        return _LABELS[self.labels][stated][claimed]


def lines(text: str) -> tuple[str, ...]:
    """The patterns of a block, one a line."""
    return tuple(line.strip() for line in text.strip().splitlines() if line.strip())


def settle(pattern: str, dice: random.Random) -> str:
    """The pattern with its free choices made, so that twins share them."""
    while found := _FREE.search(pattern):
        chosen = dice.choice(found.group(1).split("/"))
        pattern = pattern[: found.start()] + chosen + pattern[found.end() :]
    return pattern


def sentence(pattern: str, facts: Facts, names: dict[str, str]) -> str:
    """What a settled pattern says of the facts: one sentence or more, with capitals and full stops."""

    def said(found: re.Match[str]) -> str:
        return found.group(2).split("|")[facts[int(found.group(1) or 1) - 1]]

    while _STATED.search(pattern):
        pattern = _STATED.sub(said, pattern)
    text = re.sub(r"\{(\w+)\}", lambda found: names[found.group(1)], pattern)
    text = re.sub(r"\s+", " ", text).strip().rstrip(".") + "."
    text = text.replace(" ,", ",").replace(" ;", ";").replace(" .", ".")
    return _START.sub(lambda found: found.group(1) + found.group(2).upper(), text)
