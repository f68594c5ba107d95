"""How often something is taken or done, where a claim says it otherwise than its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from vericite.verify.checks.words import Finding, sentences, shared, stems

_DAYS = {
    "hour": 1 / 24, "h": 1 / 24, "day": 1.0, "d": 1.0, "night": 1.0, "morning": 1.0, "evening": 1.0, "week": 7.0,
    "wk": 7.0, "month": 30.0, "year": 365.0,
}  # fmt: skip
_WORDS = {
    "hourly": 1 / 24, "daily": 1.0, "nightly": 1.0, "weekly": 7.0, "fortnightly": 14.0, "monthly": 30.0,
    "yearly": 365.0, "annually": 365.0,
}  # fmt: skip
_SHORT = {"qd": 1.0, "bid": 0.5, "b.i.d": 0.5, "tid": 1 / 3, "t.i.d": 1 / 3, "qid": 0.25, "q.i.d": 0.25}
_COUNTS = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_UNIT = "|".join(sorted(_DAYS, key=len, reverse=True))
_TIMES = r"once|twice|thrice|[1-9][0-9]? times"
_NO_DOSE = (
    r"(?![- ](?:life|living|activit\w+|routine|practice|basis|report\w*|diar\w+|mean|average|incidence|rates?|mortality"
    r"|costs?|number|meetings?|smok\w+|function\w*|tasks?|newspapers?|magazines?|volume|briefings?))"
)
"""What "daily" and the like stand before where they tell nothing of how often something is given."""
_OFTEN = re.compile(
    rf"(?<![\w-])(?:(?P<times>{_TIMES})[- ]"
    rf"(?:(?:a|an|per|each|every)[- ](?P<per>{_UNIT})s?|(?P<adverb>{'|'.join(_WORDS)}))"
    rf"|every (?P<gap>other|second|[1-9][0-9]?)(?:st|nd|rd|th)?[- ](?:(?:to|-) ?[0-9]+ )?(?P<of>{_UNIT})(?:s|ly)?"
    rf"|(?P<alternate>alternate) (?P<days>day|week|month)s"
    rf"|(?:every|each) (?P<each>{_UNIT})"
    rf"|(?P<word>{'|'.join(_WORDS)}){_NO_DOSE}"
    rf"|(?P<short>{'|'.join(map(re.escape, _SHORT))}))(?![\w-])",
    re.IGNORECASE,
)
_CLOSE = 0.2
"""How far apart two gaps may be that are called the same: every four weeks is monthly."""
_SHARED = 0.5


class Frequency(NamedTuple):
    """Days between two times, how it is written, and whether it says how often: "once daily", not "daily"."""

    days: float
    text: str
    exact: bool


def frequencies(text: str) -> list[Frequency]:
    """How often a text says that something is done, each time that it says so."""
    return [Frequency(_days(match), match[0], not (match["each"] or match["word"])) for match in _OFTEN.finditer(text)]


def _days(match: re.Match[str]) -> float:
    if match["times"]:
        count = _COUNTS.get(match["times"].lower()) or float(match["times"].split()[0])
        span = _DAYS[match["per"].lower()] if match["per"] else _WORDS[match["adverb"].lower()]
        return span / count
    if match["gap"]:
        count = 2.0 if match["gap"].lower() in ("other", "second") else float(match["gap"])
        return count * _DAYS[match["of"].lower()]
    if match["alternate"]:
        return 2 * _DAYS[match["days"].lower()]
    if match["each"]:
        return _DAYS[match["each"].lower()]
    return _WORDS[match["word"].lower()] if match["word"] else _SHORT[match["short"].lower()]


def frequency_findings(claim: str, source: str) -> Iterator[Finding]:
    """The one frequency of a claim, where its source has another and never that one.

    Held against the sentence of the source that says most of the claim. Claims and sentences with several are left
    alone; and what is done three times a day is done daily.
    """
    claimed = frequencies(claim)
    if not claimed or any(not _same(claimed[0], other) for other in claimed):
        return
    mine, content = claimed[0], stems(claim)
    others = frequencies(source)
    if not others or any(_same(mine, other) for other in others):
        return
    near = [(shared(content, stems(text)), frequencies(text)) for text in sentences(source)]
    overlap, given = max(near, key=lambda pair: pair[0] * bool(pair[1]))
    if not given or overlap < _SHARED or any(not _same(given[0], other) for other in given):
        return
    if mine.exact or mine.days < given[0].days:
        yield Finding("number", f"claim says {mine.text}, the source {given[0].text}")


def _same(one: Frequency, other: Frequency) -> bool:
    return abs(one.days - other.days) <= _CLOSE * max(one.days, other.days)
