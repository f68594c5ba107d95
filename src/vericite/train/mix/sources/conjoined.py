"""Claims that say two things, joined from written ones: a small verifier takes half of a sentence for the whole."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from vericite.train.mix.example import Example, Label
from vericite.train.mix.shelf import blank
from vericite.train.mix.wording.grammar import lowered

KIND = "conjoined"
_PER_TEXT, _ACROSS, _ASIDE, _EITHER = 2, 0.8, 0.7, 0.5
_JOINTS = (", and ", ", and ", ", while ", ", whereas ", "; ")
_LONGEST = 45


class Half(NamedTuple):
    """A claim that its premise supports, beside one that it does not.

    Attributes:
        aside: A sentence of the same text that tells no result, if there is one.
        apart: No other set labels the text, so that it may stand before claims about any other: their splits differ.
    """

    supported: str
    broken: str
    label: Label
    sentences: frozenset[int]
    premise: str
    aside: str | None
    document: str
    group: str
    apart: bool


def conjoined(halves: Sequence[Half], dice: random.Random) -> list[Example]:
    """Two of one text before both premises, with a twin of which half is broken; two of two texts before both and one.

    Only those of two texts stand before one: within a text either premise may well tell what the other half says.
    """
    texts: dict[str, list[Half]] = {}
    kinds: dict[str, list[str]] = {}
    for half in halves:
        if half.apart and half.document not in texts:
            kinds.setdefault(_kind(half), []).append(half.document)
        texts.setdefault(half.document, []).append(half)
    found: list[Example] = []
    for document, held in texts.items():
        apart = [pair for pair in combinations(held, 2) if not pair[0].sentences & pair[1].sentences]
        for first, second in dice.sample(apart, min(_PER_TEXT, len(apart))):
            found += _broken(first, second, dice)
        first = dice.choice(held)
        other = dice.choice(kinds.get(_kind(first), [document]))
        if other.split(":")[:2] != document.split(":")[:2] and dice.random() < _ACROSS:
            found += _lacking(first, dice.choice(texts[other]), dice)
    long = {example.twin for example in found if len(example.claim.split()) > _LONGEST}
    return [example for example in found if example.twin not in long]


def _broken(first: Half, second: Half, dice: random.Random) -> list[Example]:
    """Twins by the claim: one of its halves is another."""
    premise = _together(first.premise, second.premise, dice)
    told, twisted = [first.supported, second.supported], [first.supported, second.broken]
    if dice.random() < _EITHER:
        told, twisted = told[::-1], twisted[::-1]
    joint = dice.choice(_JOINTS)
    start = _start(first, second)
    return [
        replace(start, premise=premise, claim=_joined(told, joint), label="entails"),
        replace(start, premise=premise, claim=_joined(twisted, joint), label=second.label),
    ]


def _lacking(first: Half, second: Half, dice: random.Random) -> list[Example]:
    """Twins by the premise: what one of the halves stands on is missing."""
    told = [first.supported, second.supported]
    dice.shuffle(told)
    start = replace(_start(first, second), claim=_joined(told, dice.choice(_JOINTS)))
    less = _together(first.premise, second.aside, dice) if second.aside and dice.random() < _ASIDE else first.premise
    return [
        replace(start, premise=_together(first.premise, second.premise, dice), label="entails"),
        replace(start, premise=less, label="neutral"),
    ]


def _start(first: Half, second: Half) -> Example:
    drawn = f"{first.document}\n{first.supported}\n{second.document}\n{second.supported}"
    twin = f"conjoined:{hashlib.sha256(drawn.encode()).hexdigest()[:16]}"
    beside = second.document if second.document != first.document else None
    return replace(blank("", "neutral", "written", KIND, first.group, first.document), twin=twin, beside=beside)


def _joined(claims: Sequence[str], joint: str) -> str:
    first, second = claims
    return f"{first.rstrip('. ')}{joint}{lowered(second)}"


def _together(first: str, second: str, dice: random.Random) -> str:
    return f"{first} {second}" if dice.random() < _EITHER else f"{second} {first}"


def _kind(half: Half) -> str:
    """The set its text is of: texts of one set are more alike than those of two."""
    return half.document.split(":")[0]
