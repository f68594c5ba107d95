"""Which of two arms had more, read from their values: "4 days with A and 7 days with B", "ratio of A versus B 1.5"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from vericite.verify.checks.agreement import compatible, value_in
from vericite.verify.checks.binding import Bound, bound
from vericite.verify.checks.mentions import Mention
from vericite.verify.checks.quantities import quantities
from vericite.verify.checks.words import stems

_VERSUS = r"(?:versus|vs\.?|compared (?:with|to)|relative to|in comparison (?:with|to))"
_NAME = r"(?:(?:hazard|odds|risk|rate|relative|incidence) (?:ratio|risk)|[HOR]R)s?"
_VALUE = r"(?P<value>[0-9]{1,3}\.[0-9]{1,3})"
_RATIOS = (
    re.compile(
        rf"\b{_NAME} (?:for|of) (?P<what>[^.;,]{{3,80}}?) (?:in|with|among|for) (?P<one>[^.;]{{3,80}}?) {_VERSUS}"
        rf" (?P<other>[^.;]{{3,60}}?) (?:was|were|of|came to|=) {_VALUE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<one>[^.;,]{{3,60}}?) {_VERSUS} (?P<other>[^.;]{{3,60}}?) (?:gave|had|showed|yielded|was|carried)"
        rf"[^.;]{{0,30}}?\b{_NAME} (?:for|of) (?P<what>[^.;]{{3,80}}?) (?:of|was|=) {_VALUE}",
        re.IGNORECASE,
    ),
)
_FALLING = frozenset("declin decreas reduct reduc fell drop =fall =loss lost lowered shortened".split())
_RISING = frozenset("increas rose rise gain improv climb grew".split())
_MOST = 12  # values of a text that are held against each other; what keeps the work bounded


def arm_mentions(text: str) -> list[Mention]:
    """Which arm of a plain text had more of what, as mentions of a direction that the text does not put in words."""
    told = bound(text, quantities(text))
    return [replace(mention, place=-1) for mention in (*_of_values(text, told), *_of_ratios(text))]


def _of_values(text: str, told: list[Bound]) -> Iterator[Mention]:
    pool = [item for item in told if item.quantity.role in ("value", "portion") and item.own and item.head]
    for one, other in combinations(pool[:_MOST], 2):
        if not _parallel(one, other) or not stems(text[one.quantity.end : other.quantity.start]):
            continue
        here, there = value_in(one.quantity, other.quantity.unit), abs(other.quantity.low)
        if here == there or one.quantity.low < 0 or other.quantity.low < 0:
            continue
        sign = 1 if here > there else -1
        sign = -sign if one.head & _FALLING else sign
        timed = other.quantity.unit.base == "time" and not other.quantity.unit.per
        target = frozenset(label for label in one.head if ":" not in label) - _FALLING - _RISING
        subject, reference = one.own - other.own, other.own - one.own
        shown = f"{one.quantity.text} and {other.quantity.text}"
        yield Mention("pace" if timed else "size", sign, False, target, "", target | subject, reference, shown, False)


def _parallel(one: Bound, other: Bound) -> bool:
    """Whether two values are of one thing in two arms."""
    if one.place != other.place or one.head != other.head or not compatible(one.quantity.unit, other.quantity.unit):
        return False
    apart = bool(one.own - other.own) and bool(other.own - one.own)
    return apart and one.quantity.role == other.quantity.role and not any(":" in label for label in one.own | other.own)


def _of_ratios(text: str) -> Iterator[Mention]:
    for pattern in _RATIOS:
        for match in pattern.finditer(text):
            value = float(match["value"])
            if value == 1:
                continue
            target, subject, reference = (stems(match[name]) for name in ("what", "one", "other"))
            sign = 1 if value > 1 else -1
            yield Mention(
                "size",
                sign,
                False,
                target,
                "",
                target | subject - reference,
                reference - subject,
                match["value"],
                False,
            )
