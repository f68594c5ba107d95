"""Frequencies: how often something is taken or done, in conflict with the source.

Only simple regimens are read: "once daily", "every 12 hours", "weekly for a year". Texts that also use another form,
limits or phases are skipped, because a wrong finding lowers a valid claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from vericite.verify.checks.words import Finding, clauses, sentences, shared, stems

_HOURS = {"hour": 1.0, "day": 24.0, "night": 24.0, "week": 168.0, "month": 720.0}
_ADVERBS = {"daily": 24.0, "nightly": 24.0, "weekly": 168.0, "monthly": 720.0}
_SHORT = {"bid": 12.0, "tid": 8.0, "qid": 6.0}
_COUNTS = {"once": 1, "twice": 2, "thrice": 3}
_UNIT, _ADVERB = "|".join(_HOURS), "|".join(_ADVERBS)
_BEHIND = "for|in|with|by|to|and|or|over|from|at|as|when|until|during|after|before|on|than|but"
_AFTER = rf"(?=\s*(?:[.,;:)\]]|$)|\s(?:{_BEHIND})\b)"
"""What may follow an adverb that stands alone: no adjective ("daily steps") and no unit ("every hour of delay")."""
_PLAIN = re.compile(
    rf"(?<![\w.-])(?:(?P<times>once|twice|thrice|[1-9] times)"
    rf"(?:[- ](?P<adverb>{_ADVERB})|(?: an?| per| every) (?P<per>{_UNIT})(?!s))"
    rf"|(?:once )?every (?P<gap>other|[1-9][0-9]?) (?P<of>hour|day|week|month)s?{_AFTER}"
    rf"|every (?P<each>day|night|week|month){_AFTER}"
    rf"|(?P<alone>{_ADVERB}){_AFTER}"
    rf"|(?P<short>{'|'.join(_SHORT)}))(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
_OTHERWISE = re.compile(
    r"\b(?:od|o\.d|qd|q\.d|qod|hs|q\s?[0-9]+\s?(?:h|d|w|wk|hours?|days?|weeks?)|qw|b\.i\.d|t\.i\.d|q\.i\.d|hourly|yearly"
    r"|annual\w*|quarter\w*|fortnight\w*|bi-?weekly|bi-?monthly|semi-?\w+ly|alternate|each|years?|cycles?"
    r"|intervals?|phases?|then|thereafter|followed by|initial\w*|loading|load|maintenance|later|taper\w*|titrat\w*"
    r"|escalat\w*|increas\w+ to|reduc\w+ to|(?:first|second|third|last) (?:week|month|day)|per (?:hour|day|week|month)"
    r"|(?:morning|evening|noon|bedtime|night)s?|days? [0-9]+|[0-9]+[- ](?:hour|week|month)ly|weekdays?|weekends?"
    r"|(?:days|nights|sessions|hours|minutes|visits|classes|cups|servings) (?:an?|per|every) (?:day|week|month)"
    r"|up to|at least|at most|less than|more than|fewer than|no more|maximum|minimum|about|around|approximately|average"
    r"|median|mean|roughly|between|twice every|thrice every|times every [0-9]+|or more|or less)\b"
    r"|[0-9]\.[0-9]+ times|[0-9] ?(?:-|to|or) ?[0-9]+ ?(?:times|hour|day|week|month)|/ ?(?:h|day|d|week|wk|month)\b"
    r"|[<>≤≥]",
    re.IGNORECASE | re.ASCII,
)
"""Forms of frequency that are not read; a simple regimen in the same text may not be the whole regimen."""
_ANY_ADVERB = re.compile(rf"\b(?:{_ADVERB})\b", re.IGNORECASE | re.ASCII)
_CLOSE = 1.45
"""Factor up to which gaps count as equal: every four weeks is monthly, five days of seven is daily."""
_SHARED = 0.5


class Frequency(NamedTuple):
    """Hours between two times, the text, and whether it has a number: "once daily", not "daily"."""

    hours: float
    text: str
    counted: bool


def frequencies(text: str) -> list[Frequency]:
    """Return the simple regimens of a text, in order; none if it also has other forms."""
    found = list(_PLAIN.finditer(text))
    if _OTHERWISE.search(text) or len(_ANY_ADVERB.findall(text)) > sum(
        bool(_ANY_ADVERB.search(match[0])) for match in found
    ):
        return []
    return [Frequency(_hours(match), match[0], not (match["each"] or match["alone"])) for match in found]


def _hours(match: re.Match[str]) -> float:
    if match["times"]:
        count = _COUNTS.get(match["times"].lower()) or int(match["times"][0])
        span = _HOURS[match["per"].lower()] if match["per"] else _ADVERBS[match["adverb"].lower()]
        return span / count
    if match["gap"]:
        return (2 if match["gap"].lower() == "other" else int(match["gap"])) * _HOURS[match["of"].lower()]
    if match["each"]:
        return _HOURS[match["each"].lower()]
    return _ADVERBS[match["alone"].lower()] if match["alone"] else _SHORT[match["short"].lower()]


def frequency_findings(claim: str, source: str) -> Iterator[Finding]:
    """Find the one frequency of a claim that differs from the only one of its source.

    The clauses of the source with a frequency must share much with the claim, all be readable, and agree. What is done
    three times a day is done daily.
    """
    claimed = frequencies(claim)
    if len(claimed) != 1:
        return
    (mine,), content = claimed, stems(claim)
    given: list[Frequency] = []
    for text in (clause for sentence in sentences(source) for clause in clauses(sentence)):
        if not (_PLAIN.search(text) or _ANY_ADVERB.search(text)):
            continue
        found = frequencies(text)
        if not found or shared(content, stems(text)) < _SHARED:
            return
        given += found
    if not given or any(_same(item, mine) or not _same(item, given[0]) for item in given):
        return
    if mine.counted or mine.hours < given[0].hours:
        yield Finding("number", f"claim says {mine.text}, the source {given[0].text}")


def _same(first: Frequency, other: Frequency) -> bool:
    return max(first.hours, other.hours) <= _CLOSE * min(first.hours, other.hours)
