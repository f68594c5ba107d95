"""Intervals of a claim against those of its source: which value they surround, and on which side of zero they lie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from vericite.verify.checks.agreement import agrees, compatible
from vericite.verify.checks.finding import Finding
from vericite.verify.checks.quantities import Quantity

_LIMIT = re.compile(
    r"\b(?P<which>lower|upper|bottom|top|smallest|largest)\b[^.;]{0,40}?\b(?:limit|bound|end|edge)\b[^.;]{0,80}$",
    re.IGNORECASE,
)
_APART = re.compile(r"\b(?:and|versus|vs|than|while|whereas|but)\b|;|\.\s", re.IGNORECASE)
_BESIDE = 40  # characters between a value and the interval around it, at most


def limit_named(text: str, quantity: Quantity) -> str:
    """Which end of an interval a value is said to be: "lower", "upper", or "" if neither."""
    match = _LIMIT.search(text, max(0, quantity.start - 120), quantity.start)
    if not match or quantity.ranged:
        return ""
    return "lower" if match["which"].lower() in ("lower", "bottom", "smallest") else "upper"


def straddles(interval: Quantity) -> bool:
    """Whether an interval has zero inside."""
    return interval.low < 0 < interval.high


def same_ends(one: Quantity, other: Quantity) -> bool:
    """Whether two intervals have the same ends, whatever unit stands behind them; the signs of both may be left out."""
    if straddles(one) != straddles(other):
        return False
    ends, others = (sorted((abs(item.low), abs(item.high))) for item in (one, other))
    return all(abs(end - given) <= one.step / 2 + 1e-9 for end, given in zip(ends, others, strict=True))


def interval_findings(claim: str, said: list[Quantity], source: str, given: list[Quantity]) -> Iterator[Finding]:
    """Findings about intervals that the source gives for another value, or that the claim made of other ends."""
    surrounded = _pairs(source, given)
    for point, interval in _pairs(claim, said):
        theirs = [around for value, around in surrounded if agrees(point, value)]
        if theirs and not any(same_ends(interval, around) or agrees(interval, around) for around in theirs):
            yield Finding("interval", f"claim says {interval.text}, the source {theirs[0].text}")
            return
    ranges = [item for item in given if item.ranged and item.role != "p"]
    for item in said:
        if item.ranged and not any(same_ends(item, other) or agrees(item, other) for other in ranges):
            halves = [other for other in ranges if compatible(item.unit, other.unit) and _half_shared(item, other)]
            if halves:
                yield Finding("interval", f"claim says {item.text}, the source {halves[0].text}")
                return


def _half_shared(one: Quantity, other: Quantity) -> bool:
    """Whether just one end of two ranges in one unit is the same."""
    if one.unit.size != other.unit.size:
        return False
    return (one.low == other.low) != (one.high == other.high)


def _pairs(text: str, found: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    """The values of a text that have an interval around them, each with it."""
    kept = [item for item in found if item.role != "p"]
    return [
        (value, around)
        for value, around in pairwise(kept)
        if around.role == "interval"
        and not value.ranged
        and around.start - value.end <= _BESIDE
        and not _APART.search(text, value.end, around.start)
    ]
