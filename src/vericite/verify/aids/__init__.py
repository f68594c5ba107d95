"""Reading aids: a source is put into the claim's terms before a judge reads it.

An aid only writes into the source what its words and figures are in the words of the claim, where that is certain: "MI"
as "myocardial infarction", "41 of 204" as "41 of 204 (20%)". Whether the claim holds is for the
judge to say. A comparison that is false is for ``vericite.verify.checks``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from vericite.verify.aids.abbreviations import Gloss, Glossary, abbreviation_glosses
from vericite.verify.checks.changes import (
    Compared,
    absolute,
    changes,
    compared,
    differences,
    direction_at,
    is_difference,
    is_factor,
    is_need,
    needs,
)
from vericite.verify.checks.numbers import Quantity, agrees, quantities
from vericite.verify.checks.words import plain

_MOST_CLAIMED, _MOST_GIVEN = 12, 40  # quantities that are looked at; what keeps the work bounded
_NUMBER = re.compile(r"[0-9.]*[0-9]")
_UNITS = frozenset("time age mass volume length amount molarity".split())
_NUMBERED = re.compile(r"[0-9]|\b(?:half|halv|third|quarter|fifth|doubl|tripl|twice|treb|quadrupl|fold)", re.IGNORECASE)


def numbered(text: str) -> bool:
    """Whether a plain text has anything to compare."""
    return bool(_NUMBERED.search(text))


def share_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Shares written otherwise: per cent, counts of a whole, fractions."""
    for mine, theirs in _equal(claim, source, frozenset({"percent"})):
        yield _behind(theirs, mine.text)


def unit_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Times, masses and the like in another unit."""
    for mine, theirs in _equal(claim, source, _UNITS):
        yield _behind(theirs, mine.text)


def _equal(claim: str, source: str, bases: frozenset[str]) -> Iterator[tuple[Quantity, Quantity]]:
    """Each quantity of a claim with the one quantity of the source that it is, written otherwise."""
    claimed = [item for item in quantities(claim) if item.base in bases and not item.ranged][:_MOST_CLAIMED]
    if not claimed:
        return
    given = [item for item in quantities(source) if item.base in bases and not item.ranged][:_MOST_GIVEN]
    for mine in claimed:
        if any(_digits(mine) == _digits(item) for item in given):
            continue
        equal = [
            item for item in given if {mine.kind, item.kind} != {"percent", "percent change"} and agrees(mine, item)
        ]
        if len({item.text for item in equal}) == 1:
            yield mine, equal[0]


def _digits(item: Quantity) -> list[str]:
    """The numbers it is written with; where a quantity of the source has the same there is nothing to put in."""
    return _NUMBER.findall(item.text) or [item.text.lower()]


def _behind(item: Quantity, text: str, more: str = "") -> Gloss:
    text = text.strip() + more
    return Gloss(item.end, item.end, f" ({text})", f"{item.text.strip()} is {text}")


def ratio_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Ratios as a change in per cent, and the reverse."""
    for mine in quantities(claim)[:_MOST_CLAIMED]:
        if mine.ranged:
            continue
        for item in quantities(source)[:_MOST_GIVEN]:
            if item.kind == "ratio" and mine.base == "percent" and _is_percent_of(mine, 100 * (item.low - 1)):
                yield _behind(item, mine.text, " lower" if item.low < 1 else " higher")
            elif item.kind == "percent change" and mine.kind == "ratio" and not item.ranged:
                way = direction_at(source, item)
                if way and abs(1 + way * item.low / 100 - mine.low) <= max(0.5001 * mine.step, 0.005):
                    yield _behind(item, f"a ratio of {mine.text.strip()}")


def _is_percent_of(mine: Quantity, change: float) -> bool:
    return abs(change) >= 1 and abs(abs(change) - mine.low) <= max(0.5001 * mine.step, 0.5001)


def change_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Two quantities as halved or doubled or so much lower; halved as 50% lower, a ratio of 2 as doubled."""
    named = changes(claim)[:_MOST_CLAIMED]
    relative = [item for item in quantities(claim) if item.kind == "percent change" and not item.ranged]
    if not (named or relative):
        return
    theirs = changes(source)
    pairs = [pair for pair in compared(source) if pair.one.kind not in ("bare", "time", "age")]
    for change in named if not theirs else ():
        for pair in pairs:
            if is_factor(pair.factor, change.factor) or (
                not pair.is_from_to and is_factor(1 / pair.factor, change.factor)
            ):
                yield _behind_both(pair, change.text, rising=change.factor > 1)
        for item in quantities(source)[:_MOST_GIVEN]:
            way = direction_at(source, item) if item.kind == "percent change" else 0
            factor = item.low if item.kind in ("ratio", "times") else 1 + way * item.low / 100
            if (way or item.kind in ("ratio", "times")) and is_factor(factor, change.factor):
                yield _behind(item, change.text)
    for item in relative[:_MOST_CLAIMED]:
        yield from _as_percent(item, direction_at(claim, item), pairs, source)


def _as_percent(item: Quantity, way: int, pairs: list[Compared], source: str) -> Iterator[Gloss]:
    if not way:
        return
    factor = 1 + way * item.low / 100
    words = " lower" if way < 0 else " higher"
    for pair in pairs:
        if abs(pair.factor - factor) <= max(0.005, 0.01 * factor) and item.text.strip() not in source:
            yield _behind_both(pair, item.text.strip() + words)
    for change in changes(source):
        if abs(change.factor - factor) <= 0.02 * factor:
            text = item.text.strip() + words
            yield Gloss(change.end, change.end, f" ({text})", f"{change.text} is {text}")


def _behind_both(pair: Compared, text: str, rising: bool | None = None) -> Gloss:
    """Behind the second of two; of two that do not follow in time behind the one that rose, or that fell."""
    text = text.strip()
    both = f"{pair.one.text.strip()} {'to' if pair.is_from_to else 'versus'} {pair.two.text.strip()}"
    if pair.one.start == pair.two.start:
        both = pair.one.text.strip()
    after = pair.two
    if rising is not None and not pair.is_from_to and (pair.one.low > pair.two.low) == rising:
        after = pair.one
    return Gloss(after.end, after.end, f" ({text})", f"{both} is {text}")


def need_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Two rates, or an absolute difference, as the number needed to treat."""
    claimed = needs(claim)
    if not claimed or needs(source):
        return
    for need in claimed[:_MOST_CLAIMED]:
        for item in absolute(source):
            if is_need(need.number, item.low):
                yield _behind(item, need.text)
        for pair in compared(source):
            if pair.one.kind == "percent" and is_need(need.number, abs(pair.one.low - pair.two.low)):
                yield _behind_both(pair, need.text)


def difference_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Two quantities as how far they lie apart."""
    claimed = differences(claim)[:_MOST_CLAIMED]
    if not claimed or differences(source):
        return
    for pair in compared(source):
        for item in claimed:
            if is_difference(item, pair):
                way = "" if not pair.is_from_to else " lower" if pair.two.low < pair.one.low else " higher"
                yield _behind_both(pair, f"{item.text.strip()}{way}" if way else f"a difference of {item.text.strip()}")


__all__ = ["AIDS", "KINDS", "Glossary", "put_in_terms"]

AIDS = "aids.v1"
"""Signature of the rules; it changes whenever they would write otherwise into some text."""

_AMOUNTS: dict[str, Callable[[str, str], Iterator[Gloss]]] = {
    "share": share_glosses,
    "unit": unit_glosses,
    "ratio": ratio_glosses,
    "change": change_glosses,
    "need": need_glosses,
    "difference": difference_glosses,
}
KINDS = ("abbreviation", *_AMOUNTS)
"""The aids there are."""

_MOST = 4
"""Glosses in a source: more would crowd out what it says."""

_plain = lru_cache(maxsize=8192)(plain)


def put_in_terms(
    claim: str, source: str, glossary: Glossary, kinds: Collection[str] = KINDS
) -> tuple[str, str, tuple[str, ...]]:
    """The source in the claim's terms, the claim, and what was put in, for users; the same texts where nothing was.

    Amounts are put in with all numbers of both texts as digits, the thousands unseparated.
    """
    reasons: list[str] = []
    if "abbreviation" in kinds:
        source, reasons = _with(source, list(abbreviation_glosses(claim, source, glossary)))
    plain_claim = _plain(claim)
    if not numbered(plain_claim):
        return source, claim, tuple(reasons)
    plain_source = _plain(source)
    found = [gloss for kind, aid in _AMOUNTS.items() if kind in kinds for gloss in aid(plain_claim, plain_source)]
    if found:
        source, more = _with(plain_source, found)
        return source, plain_claim, (*reasons, *more)
    return source, claim, tuple(reasons)


def _with(source: str, glosses: list[Gloss]) -> tuple[str, list[str]]:
    """The source with glosses written in, of those at one place the first."""
    kept: dict[int, Gloss] = {}
    for gloss in glosses:
        kept.setdefault(gloss.end, gloss)
    chosen = sorted(list(kept.values())[:_MOST], key=lambda gloss: gloss.start, reverse=True)
    for gloss in chosen:
        source = source[: gloss.start] + gloss.text + source[gloss.end :]
    return source, [gloss.reason for gloss in reversed(chosen)]
