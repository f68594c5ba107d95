"""How far something moved against where it stood: "fell by 9" of a source that says "from 24 to 9"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks.agreement import agrees, compatible
from vericite.verify.checks.finding import Finding
from vericite.verify.checks.quantities import Quantity

_MEAN = r"(?:(?:about|around|some|roughly|nearly|almost|just|over|under|an?|the|mean|median|average|total|of) )*"
_MOVED_BY = re.compile(
    rf"\bby {_MEAN}$|\b(?:drop|fall|rise|gain|increase|decrease|reduction|decline|improvement|change) of {_MEAN}$",
    re.IGNORECASE,
)
_FROM = re.compile(rf"\bfrom {_MEAN}$", re.IGNORECASE)
_BEFORE = re.compile(
    r"^[^.;]{0,20}\b(?:at (?:baseline|admission|entry|enrol\w+|diagnosis|the start)|before|beforehand|initially)\b",
    re.IGNORECASE,
)
_TO = re.compile(r"[^.;]{0,80}\bto (?:about |around |some )?$", re.IGNORECASE)
_AND = re.compile(r"[^.;]{0,80}\b(?:and|to|then) (?:about |around |some )?$", re.IGNORECASE)


def change_findings(claim: str, said: list[Quantity], source: str, given: list[Quantity]) -> Iterator[Finding]:
    """Findings about a claim that takes the value something reached, or started from, for how far it moved."""
    moves = list(_moves(source, given))
    if not moves:
        return
    told = [item for item in given if _moved(source, item)]
    for item in said:
        if not _moved(claim, item) or any(agrees(item, other) for other in told):
            continue
        levels = [(start, end) for start, end in moves if agrees(item, start) or agrees(item, end)]
        if levels and not any(_as_far(item, start, end) for start, end in moves):
            start, end = levels[0]
            yield Finding("number", f"claim says a change by {item.text}, the source from {start.text} to {end.text}")
            return


def _moved(text: str, item: Quantity) -> bool:
    return bool(_MOVED_BY.search(text, max(0, item.start - 60), item.start))


def _as_far(item: Quantity, start: Quantity, end: Quantity) -> bool:
    """Whether a quantity is the difference of two, or what share of the first the difference is."""
    apart = abs(start.low - end.low)
    shares = (100 * apart / abs(low) for low in (start.low, end.low) if low)
    room = max(item.step / 2, 0.09 * abs(item.low) if item.sign != "=" else 0.0) + 1e-9
    return any(abs(value - abs(item.low)) <= room for value in (apart, *shares))


def _moves(text: str, given: list[Quantity]) -> Iterator[tuple[Quantity, Quantity]]:
    """The pairs of values of a text that something moved between."""
    kept = [item for item in given if item.role in ("value", "small") and not item.ranged]
    for place, start in enumerate(kept[:40]):
        behind = text[start.end : start.end + 60]
        started = bool(_FROM.search(text, max(0, start.start - 30), start.start))
        if not started and not _BEFORE.match(behind):
            continue
        for end in kept[place + 1 : place + 4]:
            linked = (_TO if started else _AND).fullmatch(text, start.end, end.start)
            if linked and compatible(start.unit, end.unit) and start.unit.size == end.unit.size:
                yield start, end
                break
