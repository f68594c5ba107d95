"""Values that follow from those of a text by one step of arithmetic, and what each of them is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from vericite.verify.checks.agreement import compatible, value_in
from vericite.verify.checks.binding import Bound
from vericite.verify.checks.measures import Unit
from vericite.verify.checks.quantities import PERCENT, TIMES, YEARS, Quantity
from vericite.verify.checks.rates import rates

_RATIO = re.compile(r"\b(?:HR|OR|RR|aHR|aOR|aRR|IRR|SHR|PR|ratios?|relative risk|hazard)\b")
_NEEDED = re.compile(r"\b(?:needed to (?:treat|harm|screen|vaccinate)|NN[TH])\b", re.IGNORECASE)
_OF_THESE = re.compile(r"\bof (?:these|them|whom|which|those)\b", re.IGNORECASE)
_OF_SOME = re.compile(r"\b[Oo]f (?:the |these )?$")
_NONE = frozenset[str]()
_MOST = 24  # values of a text that arithmetic is tried on; what keeps the work bounded


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that follows from others.

    Attributes:
        step: Which step: "difference", "spread" of a rise and a fall, "fall" or "rise" in per cent, "lowering" by a
            ratio, "ratio", "share" in per cent, "rest" of a hundred, "sum", "count", or "pace" (per another time).
        value: What comes out.
        unit: Its unit.
        about: The labels of what went in.
        place: Which sentence the first stands in.
        shown: What went in, for users.
    """

    step: str
    value: float
    unit: Unit
    about: frozenset[str]
    place: int
    shown: str


def derived(text: str, told: list[Bound], given: list[Quantity]) -> list[Derived]:
    """What follows from the values of a text, pairs only of values that stand in one sentence or for one thing.

    Args:
        text: The plain text.
        told: Its values with what each stands for.
        given: All its quantities, those that only tell when or how long among them.
    """
    pool = [item for item in told if item.quantity.role not in ("p", "interval", "level")][:_MOST]
    found = [one for item in pool for one in _of_one(text, item)]
    times = [item for item in given if item.unit.base == "time" and not item.unit.per]
    lasting = [item.low * item.unit.size / 86400 for item in times[:4]]
    often = list(rates(text))[:4]
    found += [total for item in pool for total in _totals(item, often, lasting)]
    found += [
        Derived("pace", item.low * rate * 7, replace(item.unit, per=(("time", 604800.0),)), _NONE, 0, item.text)
        for item in times[:4]
        for rate in often
        if item.low * item.unit.size < 86400
    ]
    found += _years(given)
    found += _lasted(pool, times[:4])
    for one, other in combinations(pool, 2):
        if one.place == other.place or one.own & other.own or one.head & other.head:
            found += _of_two(one, other)
    found += [share for item in pool[1:] if item.place for share in _share_of_all(text, pool[0], item)]
    for one, other in pairwise(pool):
        if _OF_THESE.search(text, max(0, other.quantity.start - 24), other.quantity.start):
            found += _share_of_all(text, one, other)
    within = [(one, other) for one, other in combinations(pool, 2) if one.place == other.place and one.own == other.own]
    made = [item for pair in within[:12] for item in _of_two(*pair)]
    found += _of_differences([item for item in made if item.step == "difference" and item.value > 0])
    for one, other, third in zip(pool, pool[1:], pool[2:], strict=False):
        if one.place == other.place == third.place and one.quantity.unit.base == third.quantity.unit.base:
            values = [abs(item.quantity.low) for item in (one, other, third)]
            found.append(
                Derived("sum", sum(values), one.quantity.unit, one.about | other.about | third.about, one.place, "")
            )
    return found


def _totals(item: Bound, often: list[float], lasting: list[float]) -> Iterator[Derived]:
    """What a dose given so often comes to in a day, a week, a month, a year."""
    quantity = item.quantity
    if quantity.unit.base not in ("mass", "volume", "international", "amount"):
        return
    for rate in often:
        for days in (1 / rate, 1, 7, 30.4, 365.25):
            unit = replace(quantity.unit, per=(("time", days * 86400),))
            yield Derived("pace", quantity.low * rate * days, unit, item.about, item.place, quantity.text)
        yield Derived(
            "pace", quantity.low / rate, replace(quantity.unit, per=()), item.about, item.place, quantity.text
        )
        for days in lasting:
            yield Derived("pace", quantity.low * rate * days, quantity.unit, item.about, item.place, quantity.text)


def _lasted(pool: list[Bound], times: list[Quantity]) -> Iterator[Derived]:
    """What something that runs at a pace comes to in the durations of a text: 50 mL/h for 4 hours."""
    for item in pool:
        per = dict(item.quantity.unit.per).get("time")
        for time in times if per else []:
            total = abs(item.quantity.low) * time.low * time.unit.size / (per or 1)
            unit = replace(item.quantity.unit, per=())
            yield Derived("pace", total, unit, item.about, item.place, f"{item.quantity.text}, {time.text}")


def _years(given: list[Quantity]) -> Iterator[Derived]:
    """How many years lie between two years."""
    years = [
        value for item in given if 1800 < item.low < 2100 and not item.unit.base for value in (item.low, item.high)
    ]
    for one, other in combinations(dict.fromkeys(years[:8]), 2):
        yield Derived("pace", abs(one - other), YEARS, _NONE, 0, f"{one:.0f} and {other:.0f}")


def _share_of_all(text: str, whole: Bound, part: Bound) -> Iterator[Derived]:
    """What share a later count is of all that the text begins with."""
    first, second = whole.quantity, part.quantity
    counts = not first.unit.base and not second.unit.base and first.step == second.step == 1
    counts = counts and second.start - first.end < 400
    if (
        counts
        and whole.place != part.place
        and 0 < second.low <= first.low
        and not _OF_SOME.search(text, max(0, second.start - 12), second.start)
    ):
        about, shown = whole.about | part.about, f"{second.text} of {first.text}"
        yield Derived("share", 100 * second.low / first.low, PERCENT, about, part.place, shown)
        yield Derived("rest", 100 - 100 * second.low / first.low, PERCENT, about, part.place, shown)


def _of_differences(found: list[Derived]) -> list[Derived]:
    """How many times one difference is another of the same unit."""
    return [
        Derived(step, value, unit, one.about | other.about, one.place, f"{one.shown}; {other.shown}")
        for one, other in combinations(found[:12], 2)
        if one.place == other.place and one.unit.base == other.unit.base
        for step, value, unit in (
            ("ratio", one.value / other.value, TIMES),
            ("ratio", other.value / one.value, TIMES),
            ("difference", abs(one.value - other.value), one.unit),
        )
    ]


def _of_one(text: str, item: Bound) -> Iterator[Derived]:
    quantity = item.quantity
    value, about, shown = abs(quantity.low), item.about, quantity.text
    if quantity.unit.base == "percent" and value <= 100:
        yield Derived("rest", 100 - value, PERCENT, about, item.place, shown)
        yield Derived("ratio", value / 100, quantity.unit, about, item.place, shown)
    bare = quantity.unit.base in ("", "times") and not quantity.ranged
    if bare and value > 0 and _RATIO.search(text[max(0, quantity.start - 110) : quantity.start].rsplit(". ", 1)[-1]):
        yield Derived("lowering" if value < 1 else "rise", 100 * abs(1 - value), PERCENT, about, item.place, shown)
        yield Derived("ratio", value, TIMES, about, item.place, shown)
        yield Derived("ratio", 1 / value, TIMES, about, item.place, shown)
    if bare and value >= 1 and _NEEDED.search(text, max(0, quantity.start - 40), quantity.start):
        yield Derived("share", 100 / value, PERCENT, about, item.place, shown)
    if bare and 0 < value < 1:
        yield Derived("share", 100 * value, PERCENT, about, item.place, shown)
    for kind, part in quantity.unit.per:
        if kind == "time":
            for days in (1, 7, 30.4, 365.25):
                total = value * days * 86400 / part
                yield Derived("pace", total, quantity.unit, about, item.place, shown)
    if quantity.unit.base == "times":
        yield Derived("lowering" if value < 1 else "rise", 100 * abs(1 - value), PERCENT, about, item.place, shown)


def _alike(one: Bound, other: Bound) -> bool:
    """Whether two values are of one kind: both counts, both shares, or both ratios."""
    first, second = one.quantity, other.quantity
    return bool(first.unit.base) or (first.step == 1) == (second.step == 1)


def _of_portion(quantity: Quantity) -> bool:
    """Whether a count is one of the two of a portion: its whole is known."""
    return quantity.end - quantity.start > len(quantity.text) + 1


def _of_two(one: Bound, other: Bound) -> Iterator[Derived]:
    first, second = one.quantity, other.quantity
    about, shown = one.about | other.about, f"{first.text} and {second.text}"
    unit = second.unit
    here = abs(first.low)
    if not compatible(first.unit, unit):
        if {first.unit.base, unit.base} == {"", "percent"} and first.start != second.start:
            whole, part = (first, second) if first.unit.base == "" else (second, first)
            yield Derived("count", whole.low * part.low / 100, whole.unit, about, one.place, shown)
        if first.unit.base in ("mass", "dose", "volume", "time") and unit.base == "" and second.low > 1:
            yield Derived("pace", here / second.low, first.unit, about, one.place, shown)
            yield Derived("pace", here * second.low, first.unit, about, one.place, shown)
        return
    if first.unit.base == "times" or first.start == second.start or not _alike(one, other):
        return
    here, there = value_in(first, unit), abs(second.low)
    signed = here + there if first.low * second.low < 0 else abs(here - there)
    yield Derived("difference", signed, unit, about, one.place, shown)
    if unit.base and one.own != other.own and one.place == other.place:
        yield Derived("spread", here + there, unit, about, one.place, shown)
    yield Derived("sum", here + there, unit, about, one.place, shown)
    low, high = sorted((here, there))
    if low <= 0:
        return
    yield Derived("ratio", high / low, TIMES, about, one.place, shown)
    yield Derived("ratio", low / high, TIMES, about, one.place, shown)
    yield Derived("fall", 100 * (high - low) / high, PERCENT, about, one.place, shown)
    yield Derived("rise", 100 * (high - low) / low, PERCENT, about, one.place, shown)
    parallel = bool(one.own) and one.own == other.own
    torn = _of_portion(first) and _of_portion(second)
    if unit.base == "" and first.step == second.step == 1 and one.place == other.place and not parallel and not torn:
        yield Derived("share", 100 * low / high, PERCENT, about, one.place, shown)
        yield Derived("rest", 100 - 100 * low / high, PERCENT, about, one.place, shown)
