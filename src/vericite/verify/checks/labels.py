"""What a piece of text is about, as a set of labels: its content words, points in time, years, doses, grades."""

from __future__ import annotations

import re
from functools import lru_cache

from vericite.verify.checks.measures import unit_at
from vericite.verify.checks.words import words

_NUMBERED = re.compile(
    r"\b(?P<word>stage|grade|phase|type|class|level|tier|quartile|quintile|tertile|group|arm|cohort|trial"
    r"|study|dose)s?"
    r"[ -](?P<name>[0-9]{1,2}|iv|i{1,3}|[a-e])\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(r"\b(?:dose|round|visit|year|course|injection|session)s? (?P<n>[123])\b", re.IGNORECASE)
_ORDER = {"1": "first", "2": "second", "3": "third"}
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)[0-9]{2}(?!\w|\.[0-9]|%|-[0-9]{2}\b)")
_NUMBER = re.compile(r"(?<![\w.-])[0-9]{1,5}(?:\.[0-9]{1,3})?")
_BEHIND = re.compile(r"\b(?P<unit>hour|day|week|month|year)s? (?P<n>[0-9]{1,4})\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:a|an|one|per) (?P<unit>hour|day|week|month|year|fortnight|decade)\b", re.IGNORECASE)
_SAME = (
    (r"baseline|beforehand|before(?! (?:birth|meals|bed))|at (?:the )?start|where it started|starting"
    r"|initially|outset"
     r"|at entry|pre-?treatment", "baseline"),
    (r"first[ -]time|new donors?", "firsttime"),
    (r"lower (?:of the )?(?:2 )?dose|lowest dose|smaller dose|low[ -]dose", "dose:low"),
    (r"higher (?:of the )?(?:2 )?dose|highest dose|larger dose|top dose|high[ -]dose", "dose:high"),
    (r"second|later|following", "second"),
    (r"first|earlier", "first"),
    (r"third", "third"),
    (r"keyhole|laparoscop\w+|minimally invasive", "laparoscopic"),
    (r"any severity|of any|overall|all-cause|any cause", "any"),
)  # fmt: skip
_SAME_RE = re.compile("|".join(f"(?P<s{place}>\\b(?:{body})\\b)" for place, (body, _) in enumerate(_SAME)), re.I)
_WITHOUT = re.compile(
    r"\b(?:without|no|non|never|free of|not|lacking|absence of|rather than|instead of|outside|(?:year|month"
    r"|week)s? before)[ -](?:(?:the|a|an|any|having|given)\s)?$",
    re.IGNORECASE,
)
_PREFIXES = ("asympt", "uninf", "unvacc", "nonsmok", "untrea", "unexpos", "undiag", "noncarr")
_NOISE = frozenset(
    "ci iqr sd hr or rr aor ahr irr value p n confidenc interval ratio hazard relativ mean median averag respect"
    " correspond standard pool adjust per 95 analysi restrict gave give yield i2 limit examin favor"
    " i² said further".split()
)


@lru_cache(maxsize=4096)
def labels(text: str) -> frozenset[str]:
    """The labels of a plain text; what stands behind "without" is labelled as its contrary."""
    found: set[str] = set()
    for word in words(text):
        if not word.content or word.stem in _NOISE or word.lower == "severity":
            continue
        stem, negative = _positive(word.stem, word.lower)
        if negative or _WITHOUT.search(text, max(0, word.start - 24), word.start):
            stem = "not:" + stem
        found.add(stem)
    return frozenset(found | _anchors(text))


def _positive(stem: str, lower: str) -> tuple[str, bool]:
    if lower.startswith("asymptomatic"):
        return "=symptom", True
    if lower.startswith(_PREFIXES):
        inner = lower[3:] if lower.startswith("non") else lower[2:]
        return next(iter(_first_stem(inner)), stem), True
    return stem, False


def _first_stem(text: str) -> list[str]:
    return [word.stem for word in words(text) if word.content]


def _anchors(text: str) -> set[str]:
    found = {
        f"{match['word'].lower()}{_ROMAN.get(match['name'].lower(), match['name'].lower())}"
        for match in _NUMBERED.finditer(text)
    }
    found |= {_ORDER[match["n"]] for match in _ORDERED.finditer(text)}
    found |= {f"year:{match[0]}" for match in _YEAR.finditer(text)}
    found |= {_SAME[int((match.lastgroup or "s0")[1:])][1] for match in _SAME_RE.finditer(text)}
    for match in _BEHIND.finditer(text):
        found |= _time(float(match["n"]), f" {match['unit']}", 0)
    for match in _ONE.finditer(text):
        found |= _time(1.0, text, match.start("unit") - 1)
    for match in _NUMBER.finditer(text):
        found |= _time(float(match[0]), text, match.end())
    return found


def _time(value: float, text: str, position: int) -> set[str]:
    """The label of a point in time or a dose whose unit stands at a position, so coarse that 52 weeks are a year."""
    unit = unit_at(text, position)
    if unit is None or unit.per:
        return set()
    if unit.base in ("mass", "dose"):
        return {f"{unit.base}:{value * unit.size:.6g}"}
    if unit.base != "time":
        return set()
    days = value * unit.size / 86400
    return {f"months:{days / 30.44:.0f}"} if days >= 25 else {f"days:{days:.1f}"}
