"""The quantities of a text: values with their units, and how exactly they are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_UNITS = """
percent 1 % percent percentage_points percentage_point pp
mass 1 g gram grams
mass 1e-3 mg milligram milligrams
mass 1e-6 ug mcg microgram micrograms
mass 1e-9 ng nanogram nanograms
mass 1e-12 pg
mass 1e3 kg kilogram kilograms
volume 1 l litre litres liter liters
volume 1e-1 dl
volume 1e-3 ml millilitre millilitres milliliter milliliters cc
volume 1e-6 ul microlitre microlitres
time 1 s sec second seconds
time 1e-3 ms millisecond milliseconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours
time 86400 d day days night nights
time 604800 wk week weeks
time 2629800 month months mo
time 31557600 y yr yrs year years
time 315576000 decade decades
length 1 m metre metres meter meters
length 1e-2 cm centimetre centimetres centimeter centimeters
length 1e-3 mm millimetre millimetres millimeter millimeters
length 1e-6 um micrometre micrometres micrometer micrometers
length 1e-9 nm nanometre nanometres nanometer nanometers
length 1e3 km kilometre kilometres kilometer kilometers
amount 1 mol
amount 1e-3 mmol millimole millimoles
amount 1e-6 umol micromole micromoles
amount 1e-9 nmol
amount 1e-12 pmol
molarity 1e-3 mM millimolar
molarity 1e-6 uM micromolar
molarity 1e-9 nM nanomolar
pressure 1 mmhg
energy 1 kcal
celsius 1 °c degrees_celsius
international 1 iu units
times 1 -fold fold times
point 1 point points
"""
_CASED = {"mM", "uM", "nM"}


def _table() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for line in _UNITS.strip().splitlines():
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
    r"(?:\s?\([^()]{0,12}\))?[\s,:;=]*(?:(?:was|of|is|were|came to)\s)?[=\[(]?\s?$",
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
        low: The value, or where the range begins, in the basic unit of its kind.
        high: The same as ``low``, or where the range ends.
        step: One in the last place written, in the basic unit.
        sign: "=", "<", ">" or "~" ("about").
        start: Where it begins in the text.
        end: Where it ends.
        text: How it is written.
        written: The first number as written.
        size: The size of the unit without what it is taken per.
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
        """What it measures, whatever it is taken per."""
        return re.split(r"[ /]", self.kind)[0]

    @property
    def ranged(self) -> bool:
        """Whether it is a range."""
        return self.low != self.high


def quantities(text: str) -> list[Quantity]:
    """The quantities of a plain text, in order; years of the calendar are none."""
    found: list[Quantity] = list(_shares(text))
    taken = {place for item in found if not _OF.fullmatch(item.text) for place in range(item.start, item.end)}
    for match in _QUANTITY.finditer(text):
        if match.start("low") not in taken and not _LEVEL.match(text, match.end()):
            found += [item for item in _read(text, match) if not _year(item)]
    return sorted(found, key=lambda item: item.start)


def _year(item: Quantity) -> bool:
    return item.kind == "bare" and item.step == 1 and 1900 <= item.written <= 2035


def _shares(text: str) -> Iterator[Quantity]:
    """Parts of a whole: "48 of 120", "one in five", "a quarter of"."""
    for match in _OF.finditer(text):
        part, whole = float(match["n"]), float(match["all"])
        if part <= whole and whole > 9:
            yield _share(text, match, 100 * part / whole, 0.1)
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
    """A range, or two values joined by "and", "to" or "versus"."""
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
    one = replace(item, end=split, text=text[match.start() : split])
    one = _measured(one, match["first"] or match["unit"], None if match["first"] else match["per"])
    two = replace(item, low=high, high=high, step=_step(match["high"]), start=start, text=text[start : match.end()])
    two = _measured(replace(two, written=abs(high)), match["unit"] or match["first"], match["per"])
    one, two = _named(text, one, before), _named(text, two, before)
    return [replace(one, kind=two.kind) if one.kind == "bare" else one, two]


def _step(number: str) -> float:
    return 10.0 ** -len(number.partition(".")[2])


def _measured(item: Quantity, unit: str | None, per: str | None) -> Quantity:
    """A bare quantity in the basic unit of its kind."""
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
    """A quantity whose kind the words beside it tell."""
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
    """A number without a unit, named by what it is a ratio or a count of."""
    if _RATIO.search(before):
        return replace(item, kind="ratio")
    if _SAMPLE.search(before):
        return replace(item, kind="count of people")
    counted = _COUNTED.match(text, item.end) if item.step == 1 else None
    if counted and not item.text.startswith("-"):
        noun = counted["noun"].lower()
        return replace(item, kind=f"count of {'people' if noun in _PEOPLE.split() else noun}")
    return item
