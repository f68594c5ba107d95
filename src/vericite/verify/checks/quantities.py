"""The quantities of a text: values with their units, how exactly they are meant, and what they are not."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from vericite.verify.checks.amounts import FRACTIONS, MULTIPLE, SIGNS
from vericite.verify.checks.measures import Unit, age_follows, unit_at

BARE = Unit("", 1.0, (), 0)
PERCENT = Unit("percent", 1.0, (), 0)
YEARS = Unit("time", 31557600.0, (), 0)
TIMES = Unit("times", 1.0, (), 0)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in a text, or a range of values.

    Attributes:
        low: The value, or where the range begins, in the unit as written.
        high: The same as ``low``, or where the range ends.
        step: One in the last place written.
        unit: What it is counted in.
        sign: "=", "<", ">" or "~" ("about").
        role: "value"; "interval" of confidence; "p"; "age"; "count" of something named; "loose" if a claim may have
            it without the source; "fraction" in words.
        start: Where it begins in the plain text.
        end: Where it ends.
        text: How it is written.
    """

    low: float
    high: float
    step: float
    unit: Unit
    sign: str
    role: str
    start: int
    end: int
    text: str

    @property
    def ranged(self) -> bool:
        """Whether it is a range."""
        return self.low != self.high


_N = r"(?:[0-9]{1,12}(?:\.[0-9]{1,18})?|\.[0-9]{1,18})(?![0-9])"
_NUMBER = re.compile(rf"(?<![\w.^])(?<![A-Za-z0-9]-)(?<![0-9]/)(?:(?<=[ (=<>,;\[])-)?{_N}")
_NAMING = re.compile(
    r"(?:\b(?:type|phase|grade|stage|class|group|level|version|figure|fig|table|chromosome|exon|codon|arm|cohort|part"
    r"|vitamin|omega|interleukin|factor|panel|visit|step|section|category|score of|h|ph|cd|il|hpv|sars-cov"
    r"|covid|model"
    r"|schedule|cycle|appendix|protocol|aim|study|trial|experiment|isoform|subtype|serotype|genotype|types|grades"
    r"|stages|levels|no\.|number|power of|nct|isrctn|caspase|kinase|schedule|reference|ref|coronavirus|dsm|icd)[ -]?"
    r"|[A-Za-z][(\[]|\b[A-Z]{2,6}-)$",
    re.IGNORECASE,
)
_TIMED = re.compile(r"\b(?P<unit>day|week|month|year|hour)s? $", re.IGNORECASE)
_LINK = re.compile(r"(?:\s?-\s?|\s(?:to|through|and|or)\s|\s?[,;]\s)(?=-?\.?[0-9])")
_BETWEEN = re.compile(r"\b(?:between|from|ranging|ranged|range|within|of)\b[^0-9]{0,12}$", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:fell|rose|dropp?\w*|increas\w*|decreas\w*|reduc\w*|declin\w*|climb\w*|went|improv\w*|grew|lower\w*|rais\w*"
    r"|chang\w*|shorten\w*|cut|up|down)\b.{0,80}\bfrom\b[^0-9]{0,12}$",
    re.IGNORECASE,
)
_CI = re.compile(
    r"\b(?:CIs?|CrI|(?:(?:confidence|credible) |(?<=% ))(?:intervals?"
    r"|limits?))\b(?P<gap>[^0-9%()\[\]]{0,40}?[(\[]?)(?P<low>-?"
    + _N
    + r")(?:(?!\s?(?:to|and|through)\b)\s?[a-z%/]{1,12})?(?:\s?-\s?|\s?(?:to|through|and|,|;)\s?)(?P<high>-?"
    + _N
    + r")",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    rf"(?<![\w.])(?P<level>{_N})\s?(?:%|per ?cent)[ -]?(?=CIs?\b|CrI\b|confidence\b|credible\b"
    r"|(?:upper |lower )?limits?\b|intervals?\b)",
    re.I,
)
_P = re.compile(
    r"(?<![\w])p(?:[- ]?values?)?"
    r"(?:[- ]?(?:for|of) (?:the )?(?:trend|interaction|difference|non-?inferiority|superiority))?"
    r"(?:[- ](?:trend|interaction))?",
    re.IGNORECASE,
)
_P_SIGN = (
    ("<", r"<|≤|(?:was |is |of |remained |being )?(?:below|under|less than|lower than|smaller than)"),
    (">", r">|≥|(?:was |is |of |remained |being )?(?:above|over|greater than|more than|higher than|larger than)"),
    ("=", r"=|of|was|is|:|being|equals|at"),
)
_P_VALUE = re.compile(
    r"\s*(?:" + "|".join(f"(?P<s{index}>{body})" for index, (_, body) in enumerate(_P_SIGN)) + rf")\s*(?P<value>{_N})",
    re.I,
)
_P_LIST = re.compile(r"\bp[- ]?values?\b", re.IGNORECASE)
_DECIMAL = re.compile(r"(?<![\w.])0?\.[0-9]{1,18}(?![\w%]|\.[0-9])")
_STOP = re.compile(r"[.;]\s")
_SIGN = "|".join(rf"(?P<s{index}>(?<!\w)(?:{body}))" for index, (_, body) in enumerate(SIGNS))
_BEFORE = re.compile(rf"(?:{_SIGN})(?: the| an?| age(?: of)?)?\s?$", re.IGNORECASE)
_AFTER = re.compile(
    r"\s(?:of age )?(?:or|and) (?:(?P<more>more|older|over|above|higher|longer)|(?P<less>less|younger|fewer|under"
    r"|below|lower))\b",
    re.I,
)
_FRACTION = re.compile(
    "(?:"
    + "|".join(rf"(?P<f{index}>\b(?:{body})\b)" for index, (body, _) in enumerate(FRACTIONS))
    + r")(?! (?:[a-z-]+ )?(?:dose|trial|group|arm|study|visit|line|generation|booster|injection|molar|wave|course)\b)"
    r"(?![ -](?:li[fv]|max|dose|way|of an? |an? |hour|an hour|time|a |year|of (?:the )?(?:study|year)))",
    re.IGNORECASE,
)
_OUT_OF = re.compile(
    r"(?<![\w.-])(?P<part>[0-9]{1,9}|one)(?:\s?/\s?|\s(?:out of|in|of)(?: every| each| the| all"
    r"| these)?\s|(?:(?<=one)|(?<= 1))(?:\s[a-z-]{3,20}){1,3} (?:in|out of)(?: every)? "
    r"|(?:\s[a-z-]{3,20}){0,3} (?:per|(?:in|of|for|out of) (?:every|each)) (?=[0-9]{3}))(?P<whole>[0-9]{1,9})"
    r"(?![\w.%/]|-[0-9]|\s?(?:%|per ?cent))",
    re.IGNORECASE,
)
_MULTIPLES = re.compile("|".join(rf"(?P<m{index}>\b(?:{body})\b)" for index, (body, _) in enumerate(MULTIPLE)), re.I)
_ONE_OF_TIME = re.compile(
    r"\b(?:a|an|one|1)(?=[ -](?:year|month|week|day|hour|decade|fortnight|minute)\b)", re.IGNORECASE
)
_MORE = re.compile(r" (?:extra|additional|more|fewer|further|full|whole|consecutive|entire)(?= )", re.IGNORECASE)
_EACH = re.compile(
    r"\b(?:each|every|per) (?P<unit>(?:milli|deci|micro)?lit(?:re|er)|kilogram|gram|kilo)\b[^.;,0-9]{0,40}$",
    re.IGNORECASE,
)
_SHARING = re.compile(r"\s?(?:to|and|or|vs\.?|versus|v|,|, and|against|->|→)\s", re.IGNORECASE)


def quantities(text: str) -> list[Quantity]:
    """The quantities of a plain text, in order; numbers that are names are left out."""
    return list(_quantities(text))


@lru_cache(maxsize=256)
def _quantities(text: str) -> tuple[Quantity, ...]:
    found: list[Quantity] = []
    taken = bytearray(len(text) + 1)
    for reader in (_levels, _intervals, _p_values, _listed_p_values, _portions, _fractions, _multiples, _numbers):
        for quantity in reader(text, taken):
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
            found.append(quantity)
    return tuple(
        _sharing_units(text, sorted((item for item in found if item.role != "level"), key=lambda item: item.start))
    )


def _sharing_units(text: str, found: list[Quantity]) -> list[Quantity]:
    """The same quantities, a bare one having the unit of the next where one unit serves for both."""
    for index in range(len(found) - 2, -1, -1):
        one, other = found[index], found[index + 1]
        if one.unit.base == "" and one.role in ("value", "small") and other.unit.base and other.role == "value":
            if _SHARING.fullmatch(text[one.end : other.start]):
                found[index] = replace(one, unit=other.unit, role="value")
    return found


def _levels(text: str, taken: bytearray) -> list[Quantity]:
    return [_made(match, float(match["level"]), 1.0, PERCENT, "level") for match in _LEVEL.finditer(text)]


def _made(match: re.Match[str], value: float, step: float, unit: Unit, role: str, sign: str = "=") -> Quantity:
    return Quantity(value, value, step, unit, sign, role, match.start(), match.end(), match[0].strip())


def _intervals(text: str, taken: bytearray) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _CI.finditer(text):
        low, high = sorted((float(match["low"]), float(match["high"])))
        step = min(step_of(match["low"]), step_of(match["high"]))
        start, end = match.start("low"), match.end("high")
        found.append(Quantity(low, high, step, BARE, "=", "interval", start, end, text[start:end]))
    return found


def _p_values(text: str, taken: bytearray) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _P.finditer(text):
        value = _P_VALUE.match(text, match.end())
        if not value or float(value["value"]) > 1:
            continue
        sign = next(sign for index, (sign, _) in enumerate(_P_SIGN) if value[f"s{index}"])
        number = float(value["value"])
        end = value.end()
        found.append(
            Quantity(
                number, number, step_of(value["value"]), BARE, sign, "p", match.start(), end, text[match.start() : end]
            )
        )
    return found


def _listed_p_values(text: str, taken: bytearray) -> list[Quantity]:
    """P-values that stand in a list: "P-values were 0.63 and 0.051", "was 0.58 for sex and 0.003 for age"."""
    found: list[Quantity] = []
    for opening in _P_LIST.finditer(text):
        stop = _STOP.search(text, opening.end())
        limit = min(stop.start() + 1 if stop else len(text), opening.end() + 160)
        for match in _DECIMAL.finditer(text, opening.end(), limit):
            if not any(taken[match.start() : match.end()]):
                value = float(match[0])
                found.append(_made(match, value, step_of(match[0]), BARE, "p", _sign_before(text, match.start())))
    return found


def _portions(text: str, taken: bytearray) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _OUT_OF.finditer(text):
        part = 1.0 if match["part"].isalpha() else float(match["part"])
        whole = float(match["whole"])
        if any(taken[match.start() : match.end()]) or not 0 < part <= whole or part == whole == 1:
            continue
        if match[0][len(match["part"])] == "/" and (whole < 20 and part / whole < 1 and whole - part < 2 and whole > 9):
            continue
        found.append(_made(match, 100 * part / whole, 0.01, PERCENT, "portion", _sign_before(text, match.start())))
    return found


def _fractions(text: str, taken: bytearray) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _FRACTION.finditer(text):
        if not any(taken[match.start() : match.end()]):
            value = next(value for index, (_, value) in enumerate(FRACTIONS) if match[f"f{index}"])
            found.append(_made(match, value, 1.0, PERCENT, "fraction", _sign_before(text, match.start())))
    return found


def _multiples(text: str, taken: bytearray) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _MULTIPLES.finditer(text):
        if not any(taken[match.start() : match.end()]):
            value = next(value for index, (_, value) in enumerate(MULTIPLE) if match[f"m{index}"])
            sign = _sign_before(text, match.start())
            sign = {"<": ">", ">": "<"}.get(sign, sign) if value < 1 else sign  # more than halved: to less than half
            found.append(_made(match, value, 0.1, TIMES, "value", "~" if sign == "=" else sign))
    return found


def step_of(number: str) -> float:
    """One in the last place of a number as written: 0.1 for "12.5"."""
    return 10.0 ** -len(number.partition(".")[2])


def _sign_before(text: str, position: int) -> str:
    match = _BEFORE.search(text, max(0, position - 30), position)
    if not match:
        return "="
    return next(sign for index, (sign, _) in enumerate(SIGNS) if match[f"s{index}"])


def _numbers(text: str, taken: bytearray) -> list[Quantity]:
    found: list[Quantity] = []
    position = 0
    while match := _NUMBER.search(text, position):
        position = match.end()
        if any(taken[match.start() : match.end()]) or _is_name(text, match):
            continue
        quantity = _number(text, match)
        linked = _range_from(text, quantity, taken)
        quantity = linked or quantity
        position = max(position, quantity.end)
        found.append(_with_role(text, quantity))
    for match in _ONE_OF_TIME.finditer(text):
        unit = unit_at(text, match.end())
        if unit and not taken[match.start()] and match[0] != "1":
            found.append(
                replace(_made(match, 1.0, 1.0, unit, "loose"), end=unit.end, text=text[match.start() : unit.end])
            )
    return found


def _is_name(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 24) : match.start()]
    after = text[match.end() : match.end() + 2]
    if match[0].startswith("-") and before[-1:].isalnum():
        return True
    if _NAMING.search(before) or (before[-1:] == "/" and before[-2:-1].isalpha()):
        return True
    if after[:1].isalpha() and not unit_at(text, match.end()):
        return True
    return after[:1] == "-" and after[1:2].isalpha() and not unit_at(text, match.end())


def _number(text: str, match: re.Match[str]) -> Quantity:
    more = _MORE.match(text, match.end())
    unit = unit_at(text, more.end() if more else match.end()) or unit_at(text, match.end())
    timed = _TIMED.search(text, max(0, match.start() - 8), match.start())
    start = match.start()
    value = float(match[0])
    if text[start - 1 : start] == "$":
        unit = Unit("money", 1.0, (), match.end())
    elif unit is None and timed:
        named = unit_at(f" {timed['unit']}", 0)
        unit = replace(named, end=match.end()) if named else None
    end = unit.end if unit else match.end()
    if unit and not unit.per and unit.base in ("mass", "volume", "amount"):
        unit = _per_each(text, start, unit)
    sign = _sign_before(text, start)
    if sign == ">" and unit and unit.base == "time" and re.search(r"\bover $", text[max(0, start - 6) : start], re.I):
        sign = "="  # how long it went on
    after = _AFTER.match(text, end)
    if after:
        sign = ">" if after["more"] else "<"
    shown = text[start:end].strip()
    return Quantity(value, value, step_of(match[0]), unit or BARE, sign, "value", start, end, shown)


def _per_each(text: str, start: int, unit: Unit) -> Unit:
    """The unit with what stands before it as its divisor: "each litre held 9 g"."""
    match = _EACH.search(text, max(0, start - 60), start)
    part = unit_at(text, match.start("unit") - 1) if match else None
    return replace(unit, per=((part.base, part.size),)) if part and not part.per and part.base != unit.base else unit


def _range_from(text: str, first: Quantity, taken: bytearray) -> Quantity | None:
    """The range that a quantity begins, if one follows that is linked to it as its end."""
    link = _LINK.match(text, first.end)
    number = re.compile(rf"-?{_N}").match(text, link.end()) if link else None
    if not link or not number or taken[number.start()]:
        return None
    word = link[0].strip()
    opening = _BETWEEN.search(text, max(0, first.start - 30), first.start)
    if word in ("and", "or", ",", ";") and not (word == "and" and opening and "between" in opening[0].lower()):
        return None
    if word == "to" and _CHANGE.search(text, max(0, first.start - 110), first.start):
        return None
    second = _number(text, number)
    if first.unit is not BARE and (second.unit.base, second.unit.size) != (first.unit.base, first.unit.size):
        return None
    if second.low <= first.low or (second.unit.base == "" and first.unit.base and word != "-"):
        return None
    end = second.end
    step = min(first.step, second.step)
    return Quantity(first.low, second.low, step, second.unit, "=", "value", first.start, end, text[first.start : end])


_AGED = re.compile(
    r"\b(?:aged|ages|ages of|age of|age|older than|younger than)(?: (?:was|of|is|about|between|from|over|under))? $"
)
_LEVELLED = re.compile(r" (?:significance |alpha |error )?(?:level|threshold|cut-?off|limit)")
_YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}$")


def _with_role(text: str, quantity: Quantity) -> Quantity:
    if quantity.unit.base == "times" and quantity.unit.per:
        return replace(quantity, role="loose")  # how often a day: that is compared as a rate
    if quantity.unit.base == "percent" and _LEVELLED.match(text, quantity.end):
        return replace(quantity, role="loose")
    if quantity.unit.base == "" and _AGED.search(text, max(0, quantity.start - 24), quantity.start):
        return replace(quantity, role="age", unit=YEARS)
    if quantity.unit.base == "time" and age_follows(text, quantity.end):
        return replace(quantity, role="age")
    opened = text[max(0, quantity.start - 2) : quantity.start].strip()[-1:]
    if quantity.ranged and quantity.unit.base == "" and opened in "([," and opened and quantity.step < 1:
        return replace(quantity, role="interval")
    if quantity.unit.base == "" and _YEAR.match(quantity.text) and not quantity.ranged:
        return replace(quantity, role="year")
    if quantity.unit.base == "" and quantity.step == 1 and not quantity.ranged and 0 <= quantity.low <= 5:
        return replace(quantity, role="small")
    return quantity
