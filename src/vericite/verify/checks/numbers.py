"""Numbers of a claim that its source gives otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.quantities import Quantity, quantities
from vericite.verify.checks.words import sentences, shared, stems, words

_SHARED = 0.4
_VERBATIM = 0.6
_MOST = 60  # quantities of a source that are looked at; what keeps the work bounded
_HOURLY = re.compile(r"\bevery (0*[1-9][0-9]?)[ -](?:hours?|h)\b", re.IGNORECASE)
_TWICE = re.compile(r"\b(?:twice|bid|b\.i\.d)\b", re.IGNORECASE)
_REST = re.compile(
    r"\b(?:no[tnr]?|none|never|neither|without|free|fail\w*|rest|remain\w*|stay\w*|other|except|un\w+|only|wom[ae]n|m[ae]n"
    r"|females?|males?|withdr\w+|drop\w*|complet\w*|surviv\w*|alive|die[ds]?|dea\w+|absen\w+|lack\w*|lost)\b|n't\b",
    re.IGNORECASE,
)
"""What makes a share the rest of another: "did not stop", "survived"."""
_MEASURES = frozenset("mass volume time length amount molarity pressure energy celsius international percent".split())
_KINDS: dict[str, Kind] = {"interval": "interval", "p": "p-value"}


class _Told(NamedTuple):
    """A sentence of the source: what part of the claim's words it has, its text and its quantities."""

    overlap: float
    text: str
    given: list[Quantity]


def number_findings(claim: str, source: str) -> Iterator[Finding]:
    """A quantity of the claim that its source gives otherwise where it says the same."""
    said = [item for item in quantities(claim) if item.kind != "bare"][:_MOST]
    if not said:
        return
    told = stems(claim)
    near = [_Told(shared(told, stems(text)), text, quantities(text)[:_MOST]) for text in sentences(source)]
    given = quantities(source)[:_MOST]
    for item in said:
        rival = _misplaced(item, claim, near)
        if not rival and not any(agrees(item, other) for other in given) and not _derived(item, given, claim, source):
            rival = _rival(item, said, near)
        if rival:
            yield Finding(_KINDS.get(item.kind, "number"), f"claim says {_shown(item)}, the source {_shown(rival)}")


def _misplaced(item: Quantity, claim: str, near: list[_Told]) -> Quantity | None:
    """The quantity between the same words of the source as the claim's, if none there is the claim's."""
    if item.kind == "p":
        return None  # p < 0.05 is true of p < 0.01
    slot = _slot(item, claim)
    found = [
        replace(other, sign="=")
        for sentence in near
        if sentence.overlap >= _VERBATIM
        for other in sentence.given
        if (other.kind, other.sign) == (item.kind, item.sign) and _fits(slot, _slot(other, sentence.text))
    ]
    exact = replace(item, sign="=")
    if item.base == "percent" and any(_close(exact, exact.low, 100 - other.low) for other in found):
        return None  # 38 % did not, 62 % did
    if any(agrees(exact, other) or other.ranged != item.ranged for other in found):
        return None
    return found[0] if found else None


def _slot(item: Quantity, text: str) -> tuple[list[str], list[str]]:
    """The words before and after a quantity."""
    before = [word.lower for word in words(text[max(0, item.start - 60) : item.start])][-3:]
    return before, [word.lower for word in words(text[item.end : item.end + 60])][:3]


def _fits(one: tuple[list[str], list[str]], other: tuple[list[str], list[str]]) -> bool:
    """Whether two slots are the same: a word or the text's end on either side of the quantity, and three in all."""
    before = _alike(one[0][::-1], other[0][::-1])
    after = _alike(one[1], other[1])
    return before >= 1 and after >= 1 and before + after >= 3


def _alike(one: list[str], other: list[str]) -> int:
    """How many words two lists begin with alike; all three where both end there."""
    return next((at for at in range(3) if one[at : at + 1] != other[at : at + 1]), 3)


def _shown(item: Quantity) -> str:
    return (item.sign if item.sign != "=" else "") + item.text.strip()


def _rival(item: Quantity, said: list[Quantity], near: list[_Told]) -> Quantity | None:
    """The quantity that the sentence of the source which says most of the claim gives instead."""
    best, rival = _SHARED, None
    for sentence in near:
        if sentence.overlap < best:
            continue
        others = [
            other for other in sentence.given if _instead(item, other) and not any(agrees(mine, other) for mine in said)
        ]
        if others:
            best, rival = sentence.overlap, min(others, key=lambda other: abs(other.low - item.low))
    return rival


def _instead(item: Quantity, other: Quantity) -> bool:
    """Whether a quantity of the source may stand where the claim's does: of one kind, or the same in another unit."""
    if item.kind == other.kind or (item.kind, other.kind) == ("percent change", "ratio"):
        return True
    units = _MEASURES >= {item.base, other.base}
    return units and item.written == other.written and not (item.ranged or other.ranged)


def agrees(item: Quantity, other: Quantity) -> bool:
    """Whether a quantity of a source is what a claim's says, as exactly as the claim says it."""
    if item.kind != other.kind:
        return item.kind != "interval" and _same_number(item, other)
    ends = sorted((abs(item.low), abs(item.high))), sorted((abs(other.low), abs(other.high)))
    if item.ranged and other.ranged:
        return all(_close(item, one, two) for one, two in zip(*ends, strict=True))
    if item.kind == "interval":
        return False
    if item.ranged:
        return ends[0][0] <= ends[1][0] <= ends[0][1]
    return _holds(item, other)


def _same_number(item: Quantity, other: Quantity) -> bool:
    """Whether two quantities of different kinds are the same number: one may go without its unit."""
    if item.base == other.base:
        return _near(item.written * item.size, other.written * other.size, item)
    if "bare" not in (item.base, other.base):
        return {item.base, other.base} == {"age", "time"} and _holds(item, other)
    return _near(item.written, other.written, item)


def _near(one: float, two: float, item: Quantity) -> bool:
    return one == two or abs(one - two) <= 0.5001 * 10 ** -_decimals(item) * item.size


def _decimals(item: Quantity) -> int:
    return len(item.text.strip().partition(".")[2].partition(" ")[0].rstrip("%"))


def _holds(item: Quantity, other: Quantity) -> bool:
    low, least, most = abs(item.low), *sorted((abs(other.low), abs(other.high)))
    if item.kind == "p" and other.sign in "<>" and item.sign == "=":
        return low <= most if other.sign == "<" else low >= least
    if item.sign == "<":
        return least <= low * 1.02 and other.sign != ">"
    if item.sign == ">":
        return most >= low * 0.98 and other.sign != "<"
    return least <= low <= most or _close(item, low, least)


def _close(item: Quantity, value: float, other: float) -> bool:
    """Whether a value is another's as rounded in the claim."""
    gap, size = abs(value - other), max(abs(value), abs(other))
    if gap <= 0.5001 * item.step or gap <= 0.01 * size:
        return True
    part = 0.1 if item.sign == "~" else 0.05 if item.kind == "time" else 0.0
    return gap <= part * size or (item.sign == "~" and gap <= 1.5 * item.step)


def _derived(item: Quantity, given: list[Quantity], claim: str, source: str) -> bool:
    """Whether a quantity follows from those of the source by one step of arithmetic."""
    if item.kind in ("p", "interval") or item.ranged:
        return False
    single = [replace(other, low=end, high=end) for other in given for end in dict.fromkeys((other.low, other.high))]
    values = [*_of_one(item, single, claim), *_of_two(item, single), *_times(item, single, source)]
    if item.sign in "<>":
        return any(value <= item.low if item.sign == "<" else value >= item.low for value in values)
    return any(_close(item, abs(item.low), abs(value)) for value in values)


def _of_one(item: Quantity, given: list[Quantity], claim: str) -> Iterator[float]:
    share, rest = item.base == "percent", bool(_REST.search(claim))
    for other in given:
        if share and rest and other.base == "percent":
            yield 100 - other.low
        elif share and other.kind in ("ratio", "times", "bare"):
            yield from (100 * (1 - other.low), 100 * (other.low - 1))
            if item.kind == "percent" or other.kind == "bare":
                yield 100 * other.low
        elif item.kind == "times" and (other.kind == "ratio" or other.base == "percent"):
            yield from (other.low, 1 + other.low / 100)


def _of_two(item: Quantity, given: list[Quantity]) -> Iterator[float]:
    share = item.base == "percent"
    alike = [other for other in given if other.kind == item.kind or (share and other.base == "percent")]
    for one, two in combinations(alike, 2):
        yield from (one.low - two.low, one.low + two.low)
    if share or item.kind == "times":
        for one, two in combinations([other for other in given if other.low > 0], 2):
            if one.base == two.base:
                yield from _compared(share, *sorted((one.low, two.low)))


def _compared(share: bool, low: float, high: float) -> Iterator[float]:
    if share:
        yield from (100 * low / high, 100 * (high - low) / high, 100 * (high - low) / low)
    else:
        yield high / low


def _times(item: Quantity, given: list[Quantity], source: str) -> Iterator[float]:
    """What is given so many times: 90 minutes in two sessions, 15 mg every 12 hours, 9 g a day for a week."""
    often = {other.written for other in given if other.kind == "bare" and 2 <= other.written <= 12 and other.step == 1}
    often |= {24 / float(hours) for hours in _HOURLY.findall(source)} | ({2.0} if _TWICE.search(source) else set())
    base = item.base
    if base not in ("mass", "volume", "time", "amount"):
        return
    for other in given:
        if other.base == base:
            yield from (other.low * times for times in often)
