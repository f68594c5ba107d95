"""Roles of an abstract's sentences: background, aim, method, result or conclusion.

Section labels give the role if an abstract has them. Otherwise a linear model over words and position does
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
"""Roles of sentences that state findings."""

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
_OF_ABSTRACT = re.compile(r"\A(?:abstract|summary) > ")
_MIXED = re.compile(r"\b(?:and|&)\b|/|,", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d[\d.,]*|[%=<>±]", re.IGNORECASE)


def label_role(label: str) -> Role | None:
    """Return the role of a section label; None if the label is ambiguous or unknown."""
    named = _OF_ABSTRACT.sub("", label.strip().strip(":").lower())
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
    """Return the features of a sentence: words, pairs of words, its beginning, and its position."""
    words = ["0" if _NUMBER.match(word) else word.lower() for word in _WORD.findall(text)]
    start = ["^", *words[:3]]
    tenth = 9 if sentences <= 1 else min(9, 10 * place // sentences)
    found = [*words, *(f"{first} {second}" for first, second in itertools.pairwise(words))]
    found += [f"{first} {second}" for first, second in itertools.pairwise(start)]
    if sentences > 3:
        found += [
            f"(tenth {tenth})",
            *(["(first)"] if place == 0 else []),
            *(["(last)"] if place == sentences - 1 else []),
        ]
    found.append(f"(numbers {min(3, sum(word == '0' for word in words))})")
    return found


def role_probabilities(text: str, place: int, sentences: int) -> dict[Role, float]:
    """Return the probability of each of the five roles.

    Args:
        text: The sentence.
        place: Its number in the abstract, from 0.
        sentences: Number of sentences of the abstract. With up to 3, the position is ignored: that is not a whole
            abstract.
    """
    weights = _weights()
    found = [weights[name] for name in {*features(text, place, sentences), "(bias)"} if name in weights]
    # The order of a set differs between runs, but an exact sum does not, so that ties are the same everywhere.
    sums = [math.fsum(column) for column in zip(*found, strict=True)]
    most = max(sums)
    powers = [math.exp(value - most) for value in sums]
    return {role: power / sum(powers) for role, power in zip(ROLES, powers, strict=True)}


def likeliest_role(text: str, place: int, sentences: int) -> Role:
    """Return the likeliest role of a sentence."""
    found = role_probabilities(text, place, sentences)
    return max(ROLES, key=lambda name: found[name])


def unlabelled(text: str) -> tuple[str | None, str]:
    """Split off a section label at the start of a sentence, as in "RESULTS: Pain fell."."""
    match = _PRINTED.match(text)
    if match is None or (match[1] not in _EMPTY and label_role(match[1]) is None):
        return None, text
    rest = text[match.end() :]
    return match[1], rest[:1].upper() + rest[1:]


def is_labelled(document: Document) -> bool:
    """Whether a document names its sections, so that its roles are known and not only likely."""
    return any(section.label and label_role(section.label) for section in document.sections) or any(
        label_role(match[1]) is not None for match in _PRINTED.finditer(document.text)
    )


def document_roles(document: Document, sentences: Sequence[Sentence]) -> list[Role]:
    """Return the role of each sentence of a document.

    It comes from the section's label, or a label printed in the text before the sentence, else from the words.
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
