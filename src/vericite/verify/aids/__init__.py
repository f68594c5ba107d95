"""Reading aids rewrite a source in the claim's terms before a judge reads it.

An aid only adds what is certain: the source's words and figures in the form that the claim uses. "MI" becomes
"myocardial infarction", "41 of 204" becomes "41 of 204 (20%)". Whether the claim holds is decided by the judge. False
comparisons are found by ``vericite.verify.checks``.
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

_MOST_CLAIMED, _MOST_GIVEN = 12, 40  # maximum numbers of quantities, to bound the work
_NUMBER = re.compile(r"[0-9.]*[0-9]")
_UNITS = frozenset("time age mass volume length amount molarity".split())
_NUMBERED = re.compile(r"[0-9]|\b(?:half|halv|third|quarter|fifth|doubl|tripl|twice|treb|quadrupl|fold)", re.IGNORECASE)


def numbered(text: str) -> bool:
    """Whether a plain text has anything to compare."""
    return bool(_NUMBERED.search(text))


def share_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Yield shares in another form: per cent, counts of a whole, fractions."""
    for mine, theirs in _equal(claim, source, frozenset({"percent"})):
        yield _behind(theirs, mine.text)


def unit_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Yield times, masses and the like in another unit."""
    for mine, theirs in _equal(claim, source, _UNITS):
        yield _behind(theirs, mine.text)


def _equal(claim: str, source: str, bases: frozenset[str]) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield each quantity of a claim with the only quantity of the source that equals it in another form."""
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
    """Return the numbers as written; if a quantity of the source has the same, nothing needs to be added."""
    return _NUMBER.findall(item.text) or [item.text.lower()]


def _behind(item: Quantity, text: str, more: str = "") -> Gloss:
    text = text.strip() + more
    return Gloss(item.end, item.end, f" ({text})", f"{item.text.strip()} is {text}")


def ratio_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Yield ratios as a change in per cent, and the reverse."""
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
    """Yield two quantities as halved, doubled or a change in per cent; halved as 50% lower, a ratio of 2 as doubled."""
    named = changes(claim)[:_MOST_CLAIMED]
    relative = [item for item in quantities(claim) if item.kind == "percent change" and not item.ranged]
    if not (named or relative):
        return
    theirs = changes(source)
    pairs = [pair for pair in compared(source) if pair.first.kind not in ("bare", "time", "age")]
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
    """Put a gloss after the second of two quantities, or without a change in time after the one that rose or fell."""
    text = text.strip()
    both = f"{pair.first.text.strip()} {'to' if pair.is_from_to else 'versus'} {pair.second.text.strip()}"
    if pair.first.start == pair.second.start:
        both = pair.first.text.strip()
    after = pair.second
    if rising is not None and not pair.is_from_to and (pair.first.low > pair.second.low) == rising:
        after = pair.first
    return Gloss(after.end, after.end, f" ({text})", f"{both} is {text}")


def need_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Yield the number needed to treat for two rates or an absolute difference."""
    claimed = needs(claim)
    if not claimed or needs(source):
        return
    for need in claimed[:_MOST_CLAIMED]:
        for item in absolute(source):
            if is_need(need.number, item.low):
                yield _behind(item, need.text)
        for pair in compared(source):
            if pair.first.kind == "percent" and is_need(need.number, abs(pair.first.low - pair.second.low)):
                yield _behind_both(pair, need.text)


def difference_glosses(claim: str, source: str) -> Iterator[Gloss]:
    """Yield the difference of two quantities."""
    claimed = differences(claim)[:_MOST_CLAIMED]
    if not claimed or differences(source):
        return
    for pair in compared(source):
        for item in claimed:
            if is_difference(item, pair):
                way = "" if not pair.is_from_to else " lower" if pair.second.low < pair.first.low else " higher"
                yield _behind_both(pair, f"{item.text.strip()}{way}" if way else f"a difference of {item.text.strip()}")


__all__ = ["AIDS", "KINDS", "Glossary", "put_in_terms"]

AIDS = "aids.v1"
"""Signature of the rules; changes whenever they would add something else to some text."""

_AMOUNTS: dict[str, Callable[[str, str], Iterator[Gloss]]] = {
    "share": share_glosses,
    "unit": unit_glosses,
    "ratio": ratio_glosses,
    "change": change_glosses,
    "need": need_glosses,
    "difference": difference_glosses,
}
KINDS = ("abbreviation", *_AMOUNTS)
"""Names of the aids."""

_MOST = 4
"""Maximum number of glosses in a source: more would crowd out its own text."""

_plain = lru_cache(maxsize=8192)(plain)


def put_in_terms(
    claim: str, source: str, glossary: Glossary, kinds: Collection[str] = KINDS
) -> tuple[str, str, tuple[str, ...]]:
    """Return the source in the claim's terms, the claim, and the reasons for users; unchanged if nothing applies.

    If amounts are added, both texts have their numbers as digits, without thousands separators.
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
    """Insert glosses into the source, only the first at each place."""
    kept: dict[int, Gloss] = {}
    for gloss in glosses:
        kept.setdefault(gloss.end, gloss)
    chosen = sorted(list(kept.values())[:_MOST], key=lambda gloss: gloss.start, reverse=True)
    for gloss in chosen:
        source = source[: gloss.start] + gloss.text + source[gloss.end :]
    return source, [gloss.reason for gloss in reversed(chosen)]
