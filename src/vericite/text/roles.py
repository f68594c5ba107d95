"""What a sentence of an abstract is: background, aim, method, result or conclusion.

Section labels tell where an abstract has them. Else a linear model over words and place tells
(``recipes/roles`` made its weights).
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal, get_args

from vericite.records import Document, Sentence

Role = Literal["background", "aim", "method", "result", "conclusion"]
ROLES: tuple[Role, ...] = get_args(Role)
FINDINGS: frozenset[Role] = frozenset({"result", "conclusion"})
"""The roles of sentences that say what was found."""

_LABELS: tuple[tuple[Role, str], ...] = (
    ("conclusion", "conclu|interpret|implication|significan|relevance|summary|expert opinion|recommend|take.?home"),
    ("result", r"^(?:main |key |recent )?(?:results?|findings?)\b|main results|areas covered"),
    ("aim", r"objective|^(?:study )?(?:purpose|aims?|goals?|question|hypothes[ie]s)"),
    ("method", "method|design|setting|participant|patient|subject|intervention|measure|material|data sources|"
               "study selection|data extraction|population|sample|procedure|analys[ie]s|registration|funding|search"),
    ("background", "background|introduction|context|importance|rationale|problem"),
)  # fmt: skip
_PRINTED = re.compile(r"([A-Z][A-Z ,&/]{3,40}):\s+(?=\S)")
_EMPTY = frozenset({"UNLABELLED", "UNLABELED", "ABSTRACT"})
_MIXED = re.compile(r"\b(?:and|&)\b|/|,", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d[\d.,]*|[%=<>±]", re.IGNORECASE)


def label_role(label: str) -> Role | None:
    """The role of what stands under a section label; None where the label says two things, or nothing we know."""
    named = label.strip().strip(":").lower()
    found: set[Role] = set()
    for part in _MIXED.split(named):
        if (known := _role_of(part.strip())) is not None:
            found.add(known)
    return found.pop() if len(found) == 1 else None


def _role_of(label: str) -> Role | None:
    for known, pattern in _LABELS:
        if re.search(pattern, label):
            return known
    return None


def features(text: str, place: int, sentences: int) -> list[str]:
    """What the model reads of a sentence: words, pairs of words, how it begins, and where it stands."""
    words = ["0" if _NUMBER.match(word) else word.lower() for word in _WORD.findall(text)]
    start = ["^", *words[:3]]
    tenth = 9 if sentences <= 1 else min(9, 10 * place // sentences)
    found = [*words, *(f"{one} {two}" for one, two in itertools.pairwise(words))]
    found += [f"{one} {two}" for one, two in itertools.pairwise(start)]
    if sentences > 3:
        found += [
            f"(tenth {tenth})",
            *(["(first)"] if place == 0 else []),
            *(["(last)"] if place == sentences - 1 else []),
        ]
    found.append(f"(numbers {min(3, sum(word == '0' for word in words))})")
    return found


def role_probabilities(text: str, place: int, sentences: int) -> dict[Role, float]:
    """How likely a sentence is each of the five.

    Args:
        text: The sentence.
        place: Its number in the abstract, from 0.
        sentences: How many the abstract has; up to 3 the place is not read, since that is no whole abstract.
    """
    weights = _weights()
    found = [weights[name] for name in {*features(text, place, sentences), "(bias)"} if name in weights]
    # The order of a set changes from run to run; an exact sum does not, so that a tie is one everywhere.
    sums = [math.fsum(column) for column in zip(*found, strict=True)]
    most = max(sums)
    powers = [math.exp(value - most) for value in sums]
    return {role: power / sum(powers) for role, power in zip(ROLES, powers, strict=True)}


def likeliest_role(text: str, place: int, sentences: int) -> Role:
    """The likeliest role of a sentence."""
    found = role_probabilities(text, place, sentences)
    return max(ROLES, key=lambda name: found[name])


def unlabelled(text: str) -> tuple[str | None, str]:
    """The section label that a sentence begins with, as in "RESULTS: Pain fell.", and the sentence without it."""
    match = _PRINTED.match(text)
    if match is None or (match[1] not in _EMPTY and label_role(match[1]) is None):
        return None, text
    rest = text[match.end() :]
    return match[1], rest[:1].upper() + rest[1:]


def document_roles(document: Document, sentences: Sequence[Sentence]) -> list[Role]:
    """The role of each sentence of a document.

    It is that of its section's label, or of a label that was printed in the text before it, else what its words say.
    """
    spans = document.section_spans
    found: list[Role] = []
    printed: Role | None = None
    for sentence in sentences:
        start = sentence.span.start
        section = next((index for index, span in enumerate(spans) if span.start <= start < span.end), None)
        label = document.sections[section].label if section is not None else None
        own, text = unlabelled(sentence.text_in(document))
        printed = label_role(own) if own else printed
        named = (label_role(label) if label else None) or printed
        found.append(named or likeliest_role(text, sentence.index, len(sentences)))
    return found


@cache
def _weights() -> dict[str, list[float]]:
    return json.loads(resources.files("vericite.text").joinpath("roles.json").read_text(encoding="utf-8"))
