"""How often things are done or happen: so many a day, so many per hundred thousand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks.finding import Finding
from vericite.verify.checks.quantities import Quantity

_PER = re.compile(
    r"(?<![\w.])(?P<value>[0-9]{1,9}(?:\.[0-9]{1,6})?)(?: [a-z-]{2,20}){0,4} (?:per|for every|in every"
    r"|of every|in each"
    r"|out of every) (?P<of>[0-9]{3,9})(?![0-9.])",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"[0-9] ?(?:m?g|mcg|ug|kg|ml|l|kcal|steps|cups|units|IU|hours|h|min\w*|litres?"
    r"|mmol)(?: of [a-z -]{2,24})? ?$",
    re.I,
)
_SHARE = re.compile(r"(?<![\w.])(?P<value>[0-9]{1,3}(?:\.[0-9]{1,4})?) ?%")

_FREQUENCY = re.compile(
    r"\b(?:(?P<times>once|twice|thrice|[2-9](?: (?!of\b)[a-z0-9-]{2,20}){0,4}"
    r" (?:times|doses|tablets|sessions|visits|classes|treatments|injections|infusions))[ -])?(?:(?:a|per"
    r"|each|every|in a)[ -]"
    r"(?P<each>day|week|month|year|fortnight)\b|(?<![0-9]-)(?P<adverb>daily|weekly|monthly|yearly|annually"
    r"|fortnightly|nightly)\b"
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
_SPANS = frozenset("for of in within after over half about than least during to at only and by until".split())


def same_rate(quantity: Quantity, claim: str, source: str) -> bool:
    """Whether a claim's value belongs to a rate that its source gives per another number."""
    numbers = {float(match["of"]) for match in _PER.finditer(claim) if float(match["of"]) > 0}
    mine = [quantity.low / of for of in numbers] if quantity.unit.base == "" else []
    mine += [rate for start, end, rate in _per(claim) if start <= quantity.start < end]
    theirs = [rate for _, _, rate in _per(source)]
    theirs += [float(match["value"]) / 100 for match in _SHARE.finditer(source)]
    return any(abs(one - rate) <= 0.06 * rate for one in mine for rate in theirs)


def _per(text: str) -> Iterator[tuple[int, int, float]]:
    for match in _PER.finditer(text):
        if float(match["of"]) > 0:
            yield match.start(), match.end(), float(match["value"]) / float(match["of"])


def rates(text: str) -> dict[float, str]:
    """How often a day things are done, by a text, each with how it is written."""
    found: dict[float, str] = {}
    for match in _FREQUENCY.finditer(text):
        if _AMOUNT.search(text, max(0, match.start() - 40), match.start()) and match[0][:1] in "apAP":
            continue
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


def frequency_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about how often something is done; a total per day is no frequency of doses."""
    said, given = rates(claim), rates(source)
    if not said or not given or len(given) > 3:
        return
    for rate, shown in said.items():
        if not any(abs(rate - other) <= 0.1 * max(rate, other) for other in given):
            yield Finding("unit", f"claim says '{shown.strip()}', the source '{next(iter(given.values())).strip()}'")
            return
