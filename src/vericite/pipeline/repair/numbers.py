"""Numbers of a claim that differ from those of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from vericite.pipeline.repair.differences import Difference, Kind
from vericite.text.words import LISTS, sentences, shared, stems, words

_CASED = {"mM", "uM", "nM"}


def _table() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for line in LISTS["units"].strip().splitlines():
        kind, size, *names = line.split()
        table |= {name.replace("_", " "): (kind, float(size)) for name in names}
    return table


_TABLE = _table()
_NAMES = "|".join(re.escape(name) for name in sorted(_TABLE.keys() - _CASED, key=len, reverse=True))
_UNIT = rf"(?:(?-i:[mun]M)|{_NAMES})(?![^\W_])"
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,10})?"
_PER = (
    rf"(?:/|\sper\s|\sa(?=\sday|\sweek|\smonth|\syear)\s|\severy\s|\s(?=daily|weekly|monthly))"
    rf"(?:{_UNIT}|daily|weekly|monthly)"
)
_QUANTITY = re.compile(
    rf"(?<![\w.])(?<![A-Za-z]-)(?P<minus>(?<![0-9)] )(?<![0-9%])-)?(?P<low>{_NUMBER})"
    rf"(?:(?:\s?(?P<first>{_UNIT}))?(?P<joint>\s?-\s?|\sto\s|\sand\s|\sv(?:s|ersus)?\s)(?P<high>-?{_NUMBER})"
    rf"(?![\w]*[0-9]))?(?:[\s-]?(?P<unit>{_UNIT})(?P<per>{_PER}(?:{_PER})?)?)?(?!\.?[0-9]|[^\W_])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?:between|from|range[ds]?(?: from| of|:)?|CI\)?,?:?(?: of| from|=)?|interval,?(?: of| from)?|\()\s?$", re.I
)
_SIGNS = {
    "about": r"about|around|approximately|approx|roughly|nearly|almost|some|circa|ca|~|≈|close to|up to|well over"
    r"|just (?:over|under|above|below)|as many as",
    "below": r"<|≤|less than|fewer than|under|below|at most|(?:no|not) more than|not exceeding|within|lower than"
    r"|younger than|shorter than",
    "above": r">|≥|more than|greater than|over|above|at least|(?:no|not) (?:fewer|less) than|exceed(?:s|ed|ing)?"
    r"|higher than|larger than|older than|longer than",
}
_SIGN = re.compile(
    "|".join(rf"(?P<{name}>(?<!\w)(?:{pattern})\s?$)" for name, pattern in _SIGNS.items()), re.IGNORECASE
)
_SIGN_OF = {"about": "~", "below": "<", "above": ">"}
_RATIO = re.compile(
    r"(?:\b(?:hazard|odds|risk|rate)s? ratios?|\brelative risks?|\b(?:[as]?[HOR]R|I?RR|S[MI]R))s?"
    r"(?:\s?\([^()]{0,12}\))?"
    r"(?:\s(?:for|of|with)\s[\w -]{1,50}?(?=\s(?:was|is|were)\s))?"
    r"[\s,:;=]*(?:(?:was|of|is|were|came to)\s)?[=\[(]?\s?$",
    re.IGNORECASE,
)
_P = re.compile(
    r"(?<![\w-])p(?:[- ]values?)?(?: (?:for|of) [\w ]{1,20})?\s?(?:(?:was|of|is)\s)?(?P<sign>[<>=≤≥])?\s?$",
    re.IGNORECASE,
)
_CI = re.compile(r"(?:\bCIs?|\bintervals?|\bCrI)\b[^.;0-9]{0,25}\s?$", re.IGNORECASE)
_AGED = re.compile(
    r"\b(?:aged?|ages)\s?(?:[≥≤<>~]|(?:at least|over|under|between|from|of|was|than)\b|\s)*$", re.IGNORECASE
)
_OLD = re.compile(r"[ -]?(?:of age|old|and (?:older|over|above)|or (?:older|over|above|younger))\b", re.IGNORECASE)
_OF = re.compile(
    r"(?<![\w.])(?P<n>[0-9]{1,7})(?:\s(?:out\s)?of\s(?:the\s|all\s)?|/)(?P<all>[0-9]{1,7})"
    r"(?![\w.]*[0-9]|/)(?!\s?%)"
)
_FRACTIONS = (
    (r"half(?! (?:an?|the (?:dose|time)))", 50.0),
    (r"2[ -]thirds", 66.67),
    (r"(?:1|a|one)[ -]third", 33.33),
    (r"3[ -](?:quarters|fourths)", 75.0),
    (r"(?:1|a|one)[ -](?:quarter|fourth)", 25.0),
    (r"(?:1|a|one)[ -]fifth", 20.0),
    (r"2[ -]fifths", 40.0),
)
_FRACTION = re.compile(
    "|".join(rf"(?P<f{at}>(?<![\w-]){pattern}(?= of\b))" for at, (pattern, _) in enumerate(_FRACTIONS)), re.IGNORECASE
)
_IN = re.compile(
    r"(?<![\w.])(?P<n>[0-9]{1,2}|one) (?:in|out of|in every|of every) (?P<all>[0-9]{1,2})\b"
    r"(?! (?:days|weeks|months|years|(?:\w+ )?(?:trials|studies))|[.%-]?[0-9])",
    re.IGNORECASE,
)
_PEOPLE = "patients participants subjects people individuals persons adults children women men infants"
_COUNTED = re.compile(
    rf"\s(?:[a-z-]+\s){{0,2}}?(?P<noun>{'|'.join(_PEOPLE.split())}|trials|studies|cases|deaths|mice|rats|centres"
    r"|centers|hospitals|sites|countries|genes|samples|isolates|eyes)\b",
    re.IGNORECASE,
)
_SAMPLE = re.compile(r"\bn\s?=\s?$", re.IGNORECASE)
_BY = re.compile(r"\bby (?:\w+ ){0,2}$", re.IGNORECASE)
_MORE = re.compile(
    r"\s(?:\w+\s)?(?:higher|lower|greater|more|less|fewer|increase[sd]?|decrease[sd]?|reductions?|declines?|rise|drop"
    r"|fall|relative|risk reduction|improvement)\b",
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:per|every|each)\s?$", re.IGNORECASE)
_LEVEL = re.compile(
    r"\s?(?:CI|C\.I\.|CrI|confidence|credible|uncertainty|prediction|(?:significance )?level\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in a text, or a range of values.

    Attributes:
        kind: What it measures: a unit's kind, "percent", "ratio", "p", "interval", "age", "count of ...", or "bare".
        low: The value or the lower end, in the base unit of its kind.
        high: The same as ``low``, or the upper end.
        step: One in the last written place, in the base unit.
        sign: "=", "<", ">" or "~" ("about").
        start: Start in the text.
        end: End in the text.
        text: The quantity as written.
        written: The first number as written.
        size: Size of the unit, without its denominator.
    """

    kind: str
    low: float
    high: float
    step: float
    sign: str
    start: int
    end: int
    text: str
    written: float
    size: float = 1.0

    @property
    def base(self) -> str:
        """What it measures, without its denominator."""
        return re.split(r"[ /]", self.kind)[0]

    @property
    def ranged(self) -> bool:
        """Whether it is a range."""
        return self.low != self.high


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a plain text, in order, without calendar years."""
    return list(_quantities(text))


@lru_cache(maxsize=64)
def _quantities(text: str) -> tuple[Quantity, ...]:
    found: list[Quantity] = list(_shares(text))
    whole = [item for item in found if not _OF.fullmatch(item.text)]
    taken = {index for item in whole for index in range(item.start, item.end)}
    for match in _QUANTITY.finditer(text):
        if match.start("low") not in taken and not _LEVEL.match(text, match.end()):
            found += [item for item in _read(text, match) if not _year(item)]
    return tuple(sorted(found, key=lambda item: item.start))


def _year(item: Quantity) -> bool:
    return item.kind == "bare" and item.step == 1 and 1900 <= item.written <= 2035


_OF_ALL = re.compile(
    r"\b(?:of|among)\s(?:the\s|all\s)?(?P<all>[0-9]{2,7})\s(?:[a-z-]+\s){0,7}[a-z-]+,\s(?:only\s|about\s|some\s)?"
    r"(?P<n>[0-9]{1,7})(?=\s[a-z(])(?!\s(?:of|out|per|days?|weeks?|months?|years?|mg|g|ml)\b)",
    re.IGNORECASE,
)


def _shares(text: str) -> Iterator[Quantity]:
    """Yield parts of a whole: "48 of 120", "one in five", "a quarter of"."""
    for match in _OF.finditer(text):
        part, whole = float(match["n"]), float(match["all"])
        if part <= whole and whole > 9:
            yield _share(text, match, 100 * part / whole, 0.1)
    for match in _OF_ALL.finditer(text):
        part, whole = float(match["n"]), float(match["all"])
        if part <= whole:
            share = _share(text, match, 100 * part / whole, 0.1)
            yield replace(share, start=match.start("n"), text=f"{match['n']} of {match['all']}")
    for match in _IN.finditer(text):
        part, whole = 1.0 if match["n"].lower() == "one" else float(match["n"]), float(match["all"])
        if 0 < part < whole:
            yield _share(text, match, 100 * part / whole, 25 * part / whole)
    for match in _FRACTION.finditer(text):
        yield _share(text, match, _FRACTIONS[int((match.lastgroup or "f0")[1:])][1], 5.0)


def _share(text: str, match: re.Match[str], value: float, step: float) -> Quantity:
    sign = "=" if step < 1 else _sign(text, match.start())
    return Quantity("percent", value, value, step, sign, match.start(), match.end(), match[0], value)


def _sign(text: str, start: int) -> str:
    match = _SIGN.search(text, max(0, start - 18), start)
    return _SIGN_OF[match.lastgroup or "about"] if match else "="


def _read(text: str, match: re.Match[str]) -> list[Quantity]:
    begin = match.start("minus") if match["minus"] else match.start("low")
    value, step = float(match["low"]), _step(match["low"])
    low = -value if match["minus"] else value
    item = Quantity("bare", low, low, step, _sign(text, begin), match.start("low"), match.end(), match[0], value)
    before = text[max(0, begin - 40) : begin]
    if match["high"]:
        return _ranged(text, match, item, before)
    return [_named(text, _measured(item, match["unit"], match["per"]), before)]


def _ranged(text: str, match: re.Match[str], item: Quantity, before: str) -> list[Quantity]:
    """Read a range, or two values joined by "and", "to" or "versus"."""
    low, high = item.low, float(match["high"])
    if _CI.search(before):
        return [replace(item, kind="interval", low=min(low, high), high=max(low, high))]
    kinds = [_kind(match[name] or "", "") for name in ("first", "unit")]
    if kinds[0] != kinds[1] and {kind for kind, _ in kinds} == {"time"} and "and" in match["joint"]:
        return []  # "8 minutes and 20 seconds" is one time; neither part is one
    same = not match["first"] or _kind(match["first"], "") == _kind(match["unit"] or "", match["per"] or "")
    spanned = "-" in match["joint"] or (_BETWEEN.search(before) and "v" not in match["joint"])
    if spanned and low < high and same:
        return [_named(text, _measured(replace(item, high=high), match["unit"], match["per"]), before)]
    split, start = match.start("joint"), match.start("high")
    first = replace(item, end=split, text=text[match.start() : split])
    first = _measured(first, match["first"] or match["unit"], None if match["first"] else match["per"])
    second = replace(item, low=high, high=high, step=_step(match["high"]), start=start, text=text[start : match.end()])
    second = _measured(replace(second, written=abs(high)), match["unit"] or match["first"], match["per"])
    first, second = _named(text, first, before), _named(text, second, before)
    if not match["first"] and second.kind == "time" and _year(replace(first, kind="bare")):
        return [second]  # "61 years in 2000 and 68 years in 2018"
    return [replace(first, kind=second.kind) if first.kind == "bare" else first, second]


def _step(number: str) -> float:
    return 10.0 ** -len(number.partition(".")[2])


def _measured(item: Quantity, unit: str | None, per: str | None) -> Quantity:
    """Convert a bare quantity to the base unit of its kind."""
    kind, size = _kind(unit or "", per or "")
    _, own = _kind(unit or "", "")
    return replace(item, kind=kind, low=item.low * size, high=item.high * size, step=item.step * size, size=own)


def _kind(unit: str, per: str) -> tuple[str, float]:
    if len(unit) == 1 and unit.isupper() and unit != "L":
        return "bare", 1.0  # "3D", "4 G": names
    kind, size = _TABLE.get(unit) or _TABLE.get(unit.lower(), ("bare", 1.0))
    for part in re.split(r"/|\s", per.strip(" /")):
        name = {"daily": "day", "weekly": "week", "monthly": "month"}.get(part.lower(), part)
        below = _TABLE.get(name) or _TABLE.get(name.lower())
        if below:
            kind, size = f"{kind}/{below[0]}", size / below[1]
    return kind, size


def _named(text: str, item: Quantity, before: str) -> Quantity:
    """Set the kind of a quantity by the words next to it."""
    p = _P.search(before)
    if p:
        sign = {"<": "<", "≤": "<", ">": ">", "≥": ">"}.get(p["sign"] or "", "=")
        return replace(item, kind="p", sign=sign)
    if item.kind == "time" and (_OLD.match(text, item.end) or _AGED.search(before)):
        return replace(item, kind="age")
    if item.kind == "percent" and (_BY.search(before) or _MORE.match(text, item.end)):
        return replace(item, kind="percent change")
    if item.kind != "bare" or _EVERY.search(before):
        return item
    return _counted(text, item, before)


def _counted(text: str, item: Quantity, before: str) -> Quantity:
    """Name a number without a unit by what it is a ratio or a count of."""
    if _RATIO.search(text, max(0, item.start - 80), item.start):
        return replace(item, kind="ratio")
    if _SAMPLE.search(before):
        return replace(item, kind="count of people")
    counted = _COUNTED.match(text, item.end) if item.step == 1 else None
    if counted and not item.text.startswith("-"):
        noun = counted["noun"].lower()
        return replace(item, kind=f"count of {'people' if noun in _PEOPLE.split() else noun}")
    return item


_SHARED = 0.4
_VERBATIM = 0.6
_MOST = 60  # maximum number of quantities of a source, to bound the work
_HOURLY = re.compile(r"\bevery (0*[1-9][0-9]?)[ -](?:hours?|h)\b", re.IGNORECASE)
_TWICE = re.compile(r"\b(?:twice|bid|b\.i\.d)\b", re.IGNORECASE)
_REST = re.compile(
    r"\b(?:no[tnr]?|none|never|neither|without|free|fail\w*|rest|remain\w*|stay\w*|other|except|un\w+|only|wom[ae]n|m[ae]n"
    r"|females?|males?|withdr\w+|drop\w*|complet\w*|surviv\w*|alive|die[ds]?|dea\w+|absen\w+|lack\w*|lost)\b|n't\b",
    re.IGNORECASE,
)
"""Words after which a share is the complement of another: "did not stop", "survived"."""
_MEASURES = frozenset("mass volume time length amount molarity pressure energy celsius international percent".split())
_KINDS: dict[str, Kind] = {"interval": "interval", "p": "p-value"}


class _SourceSentence(NamedTuple):
    """A sentence of the source: its share of the claim's words, its text and its quantities."""

    overlap: float
    text: str
    given: list[Quantity]


def number_differences(claim: str, source: str) -> Iterator[Difference]:
    """Find quantities of the claim that differ from the source where it says the same."""
    claimed = [item for item in quantities(claim) if item.kind != "bare"][:_MOST]
    if not claimed:
        return
    content = stems(claim)
    near = [_SourceSentence(shared(content, stems(text)), text, quantities(text)[:_MOST]) for text in sentences(source)]
    given = quantities(source)[:_MOST]
    for item in claimed:
        rival = _misplaced(item, claim, near)
        if (
            not rival
            and not any(agrees(item, other) for other in _comparable(item, given))
            and not _derived(item, given, claim, source)
        ):
            rival = _rival(item, claimed, near)
        if rival:
            yield Difference(_KINDS.get(item.kind, "number"), f"claim says {_shown(item)}, the source {_shown(rival)}")


def _comparable(item: Quantity, given: list[Quantity]) -> list[Quantity]:
    """Return the quantities that may agree with this one. For a percentage, exclude the counts in a share."""
    if item.base != "percent":
        return given
    shares = [other for other in given if other.kind == "percent" and _OF.fullmatch(other.text)]
    inside = {other.start for share in shares for other in given if share.start <= other.start < share.end}
    return [other for other in given if other.kind == "percent" or other.start not in inside]


def _misplaced(item: Quantity, claim: str, near: list[_SourceSentence]) -> Quantity | None:
    """Return the quantity between the same words of the source, if none there equals the claim's."""
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
    """Return the words before and after a quantity."""
    before = [word.lower for word in words(text[max(0, item.start - 60) : item.start])][-3:]
    return before, [word.lower for word in words(text[item.end : item.end + 60])][:3]


def _fits(first: tuple[list[str], list[str]], other: tuple[list[str], list[str]]) -> bool:
    """Whether two slots are the same: a word or the text's end on either side of the quantity, and three in all."""
    before = _alike(first[0][::-1], other[0][::-1])
    after = _alike(first[1], other[1])
    return before >= 1 and after >= 1 and before + after >= 3


def _alike(first: list[str], other: list[str]) -> int:
    """Count the words at the start that two lists share; three if both end there."""
    return next((at for at in range(3) if first[at : at + 1] != other[at : at + 1]), 3)


def _shown(item: Quantity) -> str:
    return (item.sign if item.sign != "=" else "") + item.text.strip()


def _rival(item: Quantity, claimed: list[Quantity], near: list[_SourceSentence]) -> Quantity | None:
    """Return the quantity that the most similar sentence of the source has instead."""
    best, rival = _SHARED, None
    for sentence in near:
        if sentence.overlap < best:
            continue
        others = [
            other
            for other in sentence.given
            if _instead(item, other) and not any(agrees(mine, other) for mine in claimed)
        ]
        if others:
            best, rival = sentence.overlap, min(others, key=lambda other: abs(other.low - item.low))
    return rival


def _instead(item: Quantity, other: Quantity) -> bool:
    """Whether a quantity of the source can take the place of the claim's: same kind, or the same in another unit."""
    if item.kind == other.kind or (item.kind, other.kind) == ("percent change", "ratio"):
        return True
    units = _MEASURES >= {item.base, other.base}
    return units and item.written == other.written and not (item.ranged or other.ranged)


def agrees(item: Quantity, other: Quantity) -> bool:
    """Whether a quantity of a source equals a claim's, to the claim's precision."""
    if item.kind != other.kind:
        return item.kind != "interval" and _same_number(item, other)
    ends = sorted((abs(item.low), abs(item.high))), sorted((abs(other.low), abs(other.high)))
    if item.ranged and other.ranged:
        return all(_close(item, first, second) for first, second in zip(*ends, strict=True))
    if item.kind == "interval":
        return False
    if item.ranged:
        return ends[0][0] <= ends[1][0] <= ends[0][1]
    return _holds(item, other)


def _same_number(item: Quantity, other: Quantity) -> bool:
    """Whether two quantities of different kinds are the same number: one may lack its unit."""
    if item.base == other.base:
        return _near(item.written * item.size, other.written * other.size, item)
    if "bare" not in (item.base, other.base):
        return {item.base, other.base} == {"age", "time"} and _holds(item, other)
    return _near(item.written, other.written, item)


def _near(first: float, second: float, item: Quantity) -> bool:
    return first == second or abs(first - second) <= 0.5001 * 10 ** -_decimals(item) * item.size


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
    """Whether a value equals another, rounded as in the claim."""
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
    for first, second in combinations(alike, 2):
        yield from (first.low - second.low, first.low + second.low)
    if share or item.kind == "times":
        for first, second in combinations([other for other in given if other.low > 0], 2):
            if first.base == second.base:
                yield from _compared(share, *sorted((first.low, second.low)))


def _compared(share: bool, low: float, high: float) -> Iterator[float]:
    if share:
        yield from (100 * low / high, 100 * (high - low) / high, 100 * (high - low) / low)
    else:
        yield high / low


def _times(item: Quantity, given: list[Quantity], source: str) -> Iterator[float]:
    """Yield multiples: 90 minutes in two sessions, 15 mg every 12 hours, 9 g a day for a week."""
    often = {other.written for other in given if other.kind == "bare" and 2 <= other.written <= 12 and other.step == 1}
    often |= {24 / float(hours) for hours in _HOURLY.findall(source)} | ({2.0} if _TWICE.search(source) else set())
    base = item.base
    if base not in ("mass", "volume", "time", "amount"):
        return
    for other in given:
        if other.base == base:
            yield from (other.low * times for times in often)
