"""Numbers of a claim that its source does not give and that do not follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vericite.verify.checks.agreement import agrees, compatible, derivable
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.quantities import Quantity, quantities
from vericite.verify.checks.significance import p_agrees, significance_finding
from vericite.verify.checks.swapped import swapped

_TYPED = re.compile(
    r"\b(?P<word>type|phase|grade|stage|class|interleukin|il|cd|hpv|hepatitis|factor|vitamin|omega|serotype"
    r"|genotype|trisomy)"
    r"[ -]?(?P<name>[0-9]{1,3}[a-z]?|iv|i{1,3}|[a-e])(?![\w.]|\s?%)(?:(?:\s?[-/]\s?|,? (?:and|or"
    r"|to) )(?P<more>[0-9]{1,2}|iv|i{1,3}|[a-e])(?!\w))?",
    re.IGNORECASE,
)
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_FREQUENCY = re.compile(
    r"\b(?:(?P<times>once|twice|thrice|[2-9] times|[2-9] doses|[2-9] tablets)[ -])?(?:(?:a|per|each|every|in a)[ -]"
    r"(?P<each>day|week|month|year|fortnight)\b|(?<![0-9]-)(?P<adverb>daily|weekly|monthly|yearly|annually|fortnightly|nightly)\b"
    r"|every (?P<n>[0-9]{1,3}|other|second|third)[ -](?P<unit>hour|day|week|month|year)s?\b)"
    r"|\b(?P<latin>bid|tid|qid|qd|b\.i\.d|t\.i\.d|q\.i\.d)\b|(?<=g)/(?P<slash>day|d|week|month)\b",
    re.IGNORECASE,
)
_DAYS = {"day": 1.0, "d": 1.0, "week": 7.0, "month": 30.4, "year": 365.25, "fortnight": 14.0, "hour": 1 / 24}
_ADVERB_DAYS = {"daily": 1.0, "nightly": 1.0, "weekly": 7.0, "fortnightly": 14.0, "monthly": 30.4} | {
    "yearly": 365.25,
    "annually": 365.25,
}
_LATIN = {"qd": 1.0, "bid": 2.0, "tid": 3.0, "qid": 4.0}
_MOST = 60  # quantities of a claim that are looked at; what keeps the work linear
_SPANS = frozenset("for of in within after over half about than least during to at only and by until".split())
_WORDS = re.compile(r"[^\W\d_]{3,}")


def number_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about the numbers of a claim; both texts are plain."""
    given = quantities(source)
    said = quantities(claim)[:_MOST]
    for quantity in _around_values(said):
        finding = _finding(quantity, given, claim, source)
        if finding:
            yield finding
    found = significance_finding(claim, source, given)
    if found:
        yield found
    yield from _name_findings(claim, source)
    yield from _frequency_findings(claim, source)
    found = swapped(claim, source, said, given)
    if found:
        yield found


def _around_values(said: list[Quantity]) -> list[Quantity]:
    """The same quantities; a range that a value just before it lies in is taken for an interval of confidence."""
    return [
        replace(item, role="interval")
        if item.ranged and last and last.unit.base == item.unit.base and item.low < last.low < item.high
        else item
        for last, item in zip([None, *said], said, strict=False)
    ]


def _finding(quantity: Quantity, given: list[Quantity], claim: str, source: str) -> Finding | None:
    if quantity.role == "p":
        return _p_finding(quantity, given)
    if quantity.role in ("loose", "small") or _is_zero(quantity):
        return _small_finding(quantity, given, claim, source) if quantity.role == "small" else None
    if quantity.role == "year":
        years = [item for item in given if item.role == "year"]
        if not years or any(item.low == quantity.low for item in given):
            return None
        return Finding("number", f"claim says {quantity.text}, the source {years[0].text}")
    others = [item for item in given if item.role != "p"]
    if quantity.role == "interval" and any(_same_ends(quantity, item) for item in others):
        return None
    if any(agrees(quantity, item) for item in others) or derivable(quantity, others, claim, source):
        return None
    if quantity.ranged and _ends_given(quantity, others):
        return None
    return _unmatched(quantity, others)


def _is_zero(quantity: Quantity) -> bool:
    return quantity.low == 0 == quantity.high


def _same_ends(quantity: Quantity, other: Quantity) -> bool:
    """Whether two intervals have the same ends, whatever unit stands behind them."""
    ends, others = (sorted((abs(item.low), abs(item.high))) for item in (quantity, other))
    return all(abs(end - given) <= quantity.step / 2 + 1e-9 for end, given in zip(ends, others, strict=True))


def _ends_given(quantity: Quantity, given: list[Quantity]) -> bool:
    """Whether both ends of a range are given, apart; a range of confidence must be given as one."""
    ends = [
        any(abs(abs(item.low) - abs(end)) <= quantity.step / 2 + 1e-9 for item in given if not item.ranged)
        for end in (quantity.low, quantity.high)
    ]
    return all(ends) and quantity.role != "interval"


def _p_finding(quantity: Quantity, given: list[Quantity]) -> Finding | None:
    values = [item for item in given if item.role == "p"]
    if any(p_agrees(quantity, item) for item in values):
        return None
    if not values:
        return (
            None
            if quantity.sign != "="
            else Finding("p-value", f"claim says {quantity.text}, the source gives no p-value")
        )
    return Finding("p-value", f"claim says {quantity.text}, the source {values[0].text}")


def _small_finding(quantity: Quantity, given: list[Quantity], claim: str, source: str) -> Finding | None:
    """A small count is held against the source only where the source counts the same thing otherwise."""
    if any(agrees(quantity, item) for item in given) or derivable(quantity, given, claim, source):
        return None
    counted = _counted(claim, quantity)
    rivals = [item for item in given if item.role == "small" and counted and _counted(source, item) == counted]
    if not rivals:
        return None
    return Finding("number", f"claim says {quantity.text} {counted}, the source {rivals[0].text}")


def _counted(text: str, quantity: Quantity) -> str:
    word = _WORDS.match(text, quantity.end + 1)
    return word[0].lower().rstrip("s") if word and text[quantity.end : quantity.end + 1] in " -" else ""


def _unmatched(quantity: Quantity, given: list[Quantity]) -> Finding:
    same = [item for item in given if item.low == quantity.low and item.unit.base]
    if same and quantity.unit.base:
        return Finding("unit", f"claim says {quantity.text}, the source {same[0].text}")
    kind: Kind = "interval" if quantity.ranged or quantity.role == "interval" else "number"
    rivals = [item for item in given if item.role == "interval"] if quantity.role == "interval" else []
    rivals = rivals or [item for item in given if compatible(item.unit, quantity.unit) and item.role == quantity.role]
    rivals = rivals or [item for item in given if compatible(item.unit, quantity.unit)]
    if not rivals:
        return Finding(kind, f"claim says {quantity.text}, which the source does not")
    nearest = min(rivals, key=lambda item: abs(item.low - quantity.low))
    return Finding(kind, f"claim says {quantity.text}, the source {nearest.text}")


def _names(text: str) -> dict[str, dict[str, str]]:
    """The numbers that are names, by what they number: {"type": {"2": "type 2"}}."""
    found: dict[str, dict[str, str]] = {}
    for match in _TYPED.finditer(text):
        word = {"interleukin": "il"}.get(match["word"].lower(), match["word"].lower())
        for name in (match["name"], match["more"]):
            if name and (
                name.isdigit() or word in ("hepatitis", "vitamin", "class", "phase", "grade", "stage", "type", "factor")
            ):
                found.setdefault(word, {})[_ROMAN.get(name.lower(), name.lower())] = match[0]
    return found


def _name_findings(claim: str, source: str) -> Iterator[Finding]:
    given = _names(source)
    for word, named in _names(claim).items():
        others = given.get(word, {})
        for name, shown in named.items():
            if others and name not in others and not (word in ("grade", "stage") and len(others) > 1):
                kind: Kind = "population" if word in ("type", "stage", "hepatitis") else "number"
                yield Finding(kind, f"claim says '{shown}', the source '{next(iter(others.values()))}'")


def _rates(text: str) -> dict[float, str]:
    """How often a day things are done, by a text."""
    found: dict[float, str] = {}
    for match in _FREQUENCY.finditer(text):
        before = text[max(0, match.start() - 10) : match.start()].lower().split()
        if not match["times"] and match[0][:1] in "aAiI" and (match["each"] and (not before or before[-1] in _SPANS)):
            continue
        if match["latin"]:
            found[_LATIN[match["latin"].lower().replace(".", "")]] = match[0]
            continue
        times = {"once": 1.0, "twice": 2.0, "thrice": 3.0}.get((match["times"] or "once").lower()) or float(
            match["times"][0]
        )
        if match["n"]:
            number = {"other": 2.0, "second": 2.0, "third": 3.0}.get(match["n"].lower()) or float(match["n"])
            days = max(number, 1.0) * _DAYS[match["unit"].lower()]
        else:
            unit = (match["each"] or match["slash"] or "").lower()
            days = _DAYS[unit] if unit else _ADVERB_DAYS[match["adverb"].lower()]
        found[times / days] = match[0]
    return found


def _frequency_findings(claim: str, source: str) -> Iterator[Finding]:
    said, given = _rates(claim), _rates(source)
    if not said or not given or len(given) > 3:
        return
    for rate, shown in said.items():
        if not any(abs(rate - other) <= 0.1 * max(rate, other) for other in given):
            yield Finding("unit", f"claim says '{shown.strip()}', the source '{next(iter(given.values())).strip()}'")
            return
