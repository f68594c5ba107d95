"""Which sources, none of which suffices, might support a sentence as a set: those that complete each other's words.

Each source of a set gives the one of its sentences that, with the others', has most of the sentence's words; each must
have some that the others lack. What the set says is for a verifier to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from vericite.text.statements import split_statements
from vericite.text.terms import terms

OWN = 0.1
"""Share of the sentence's words that each source of a set must have and the others not."""

MORE = 0.2
"""Share of its words that a set must have beyond the sources that seem to suffice alone: a small verifier takes half
of a sentence for the whole."""

_CONJUNCTION = re.compile(r",\s+(?=(?:and|but|whereas|while|although|though|yet)\s)|\s(?=(?:whereas|while|but)\s)")
_JOINING = re.compile(r"\A(?:and|but|whereas|while|although|though|yet)\s+(?:also\s+)?")
_WORDS = 3
_STEM = 5
_SENTENCES = 12
_SOURCES = 6
"""Letters that words are compared by; sentences a source and sources a sentence that are tried."""


class Candidate(NamedTuple):
    """A set of sources by their places, the sentence that each gives, and the share of the words they have together."""

    sources: tuple[int, ...]
    passages: tuple[str, ...]
    covered: float


class _Passage(NamedTuple):
    text: str
    has: frozenset[str]


def candidates(
    sentence: str, sources: Sequence[Sequence[str]], size: int, alone: Iterable[int] = ()
) -> Iterator[Candidate]:
    """The sets of ``size`` sources that complete each other.

    Args:
        sentence: What is to be supported.
        sources: The sentences of each source.
        size: Sources a set has.
        alone: Places of sources that seem to suffice: a set then has one of them, and much that it lacks.
    """
    wanted = _stems(sentence)
    enough = set(alone)
    if not wanted:
        return
    passages = [_passages(texts, wanted) for texts in sources]
    held = [frozenset[str]().union(*(passage.has for passage in found)) for found in passages]
    ranked = sorted(range(len(sources)), key=lambda place: -len(held[place]))[:_SOURCES]
    floor = max((len(held[place]) for place in enough), default=0) / len(wanted) + (MORE if enough else 0.0)
    for group in combinations(sorted(place for place in ranked if held[place]), size):
        if enough and (not enough & set(group) or enough >= set(group)):
            continue
        chosen = _completing([passages[place] for place in group])
        covered = len(frozenset[str]().union(*(passage.has for passage in chosen))) / len(wanted)
        if covered >= floor and _least_own(chosen) >= OWN * len(wanted):
            yield Candidate(group, tuple(passage.text for passage in chosen), covered)


def parts_of(sentence: str) -> tuple[str, ...]:
    """What a sentence says in several clauses: its atomic statements, else what a conjunction parts; empty if one."""
    statements = tuple(sentence[span.slice] for span in split_statements(sentence))
    if len(statements) < 2:
        statements = tuple(part for part in _CONJUNCTION.split(sentence) if part)
    bare = tuple(_JOINING.sub("", statement) for statement in statements)
    return bare if len(bare) > 1 and all(len(part.split()) >= _WORDS for part in bare) else ()


def covering(rows: Sequence[Sequence[float | None]], size: int, alone: Iterable[int] = ()) -> tuple[int, ...]:
    """The set of ``size`` sources in which each part is supported by one of them alone, and none is spare.

    Of several the one whose parts are surest; empty where there is none.

    Args:
        rows: For each source how likely each part is; None where the source does not support it.
        size: Sources the set has.
        alone: Places of sources that seem to suffice: a set then has one of them.
    """
    enough = set(alone)
    told = [place for place, row in enumerate(rows) if any(it is not None for it in row)]
    sure = {
        group: surety
        for group in combinations(told, size)
        if (surety := _surety(rows, group)) and (not enough or enough & set(group))
    }
    needed = (group for group in sure if not any(_surety(rows, [it for it in group if it != spare]) for spare in group))
    return max(needed, key=lambda group: (sure[group], group), default=())


def _surety(rows: Sequence[Sequence[float | None]], group: Sequence[int]) -> float:
    """How sure the parts are together; 0 where one is not supported."""
    best = [
        max((row[part] or 0.0 for row in (rows[place] for place in group)), default=0.0) for part in range(len(rows[0]))
    ]
    return sum(best) if all(best) else 0.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(term[:_STEM] for term in terms(text))


def _passages(texts: Sequence[str], wanted: frozenset[str]) -> list[_Passage]:
    """The sentences that have most of the words, the best first."""
    found = [_Passage(text, _stems(text) & wanted) for text in texts]
    return sorted((passage for passage in found if passage.has), key=lambda it: (-len(it.has), len(it.text)))[
        :_SENTENCES
    ]


def _completing(groups: Sequence[Sequence[_Passage]]) -> tuple[_Passage, ...]:
    """One passage a source: those that have most of the words together, the shortest of several."""

    def worth(chosen: tuple[_Passage, ...]) -> tuple[int, int]:
        had = frozenset[str]().union(*(passage.has for passage in chosen))
        return len(had), -sum(len(passage.text) for passage in chosen)

    return max(product(*groups), key=worth)


def _least_own(chosen: Sequence[_Passage]) -> int:
    """The fewest words that one of them has and the others have not."""
    return min(
        len(passage.has.difference(*(other.has for other in chosen if other is not passage))) for passage in chosen
    )
