"""Whether one quantity may stand for another: rounding, comparison, conversion, one step of arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from vericite.verify.checks.measures import Unit, converted
from vericite.verify.checks.quantities import PERCENT, TIMES, Quantity

_CALENDAR = frozenset({604800.0, 1209600.0, 2629800.0, 31557600.0, 315576000.0, 86400.0})
_MOST = 24  # quantities of a source that arithmetic is tried on; what keeps the work bounded

_CONTRAST = re.compile(
    r"\b(?:not|no|never|without|non|fail|remain|other|rest|neither|free|lack|surviv|alive|die[ds]?\b|death|dead"
    r"|mortal|negative"
    r"|positive|men\b|women|male|female|boys|girls|miss|absen|refus|lost|dropp|withdr|discontinu|stopp|stay|kept"
    r"|relaps|spared"
    r"|avoid|escap|persist|still|cured|resolv|recover|clear|intact|control arm|but|except|exclud|false"
    r"|un[a-z]{3}|declin|quit)|n't\b",
    re.IGNORECASE,
)
_LIVING = {"alive": "surviv", "death": "die", "dead": "die", "died": "die", "dies": "die", "mortal": "die"}
_DIFFERENCE = re.compile(
    r"\b(?:differ\w*|more|fewer|less|reduc\w*|lower\w*|higher|by|points?|absolute|gap|fell|rose|dropp?\w*"
    r"|increas\w*|gain\w*"
    r"|decreas\w*|declin\w*|extra|additional|longer|shorter|later|earlier|older|younger|lost|gr[eo]w\w*"
    r"|chang\w*|added"
    r"|extend\w*|prolong\w*|improv\w*|shorten\w*|advantage|benefit|excess|ahead|rise|shift\w*|larger|smaller"
    r"|greater|better"
    r"|worse|saved?|remain\w*|other|rest|not|without|after|cut\w*|savings?|surviv\w*|never|complet\w*|left)\b",
    re.I,
)
_SUM = re.compile(
    r"\b(?:total\w*|altogether|overall|combined|together|in all|all|both|either|sum|pooled|participants|patients"
    r"|people|whole"
    r"|or|of|enrolled|randomi[sz]ed|women|men|adults|children|any|at least|most|after|follow\w*|over|through\w*)\b",
    re.I,
)
_RELATIVE = re.compile(
    r"\b(?:reduc\w*|lower\w*|decreas\w*|cut\w*|less|fewer|fell|fall\w*|dropp?\w*|declin\w*|increas\w*|more|higher"
    r"|rais\w*|rose"
    r"|rise|greater|shorten\w*|prolong\w*|longer|shorter|relative|by|gr[eo]w\w*|gain\w*|chang\w*|prevent\w*"
    r"|protect\w*|efficacy"
    r"|effective\w*|improv\w*|excess|elevat\w*|smaller|larger|lost|loss|likel\w*|odds|risk|hazard)\b",
    re.I,
)
_MULTIPLYING = re.compile(
    r"\b(?:times|fold|\w+fold|twice|doubl\w*|tripl\w*|halv\w*|ratio|quadrupl\w*|trebl\w*)\b|[0-9]-?fold", re.I
)
_DAILY = re.compile(
    r"\b(?:twice|[2-6] times|bid|b\.i\.d|tid|t\.i\.d|qid|every (?:4|6|8|12) ?-?h\w*|[2-6] doses|divided)\b", re.I
)


def compatible(one: Unit, other: Unit) -> bool:
    """Whether values in two units may be compared: of one kind, and not taken per different things."""
    if one.base != other.base and {one.base, other.base} not in ({"money", "money_dollar"}, {"charge", "amount"}):
        return False
    names, others = {kind for kind, _ in one.per}, {kind for kind, _ in other.per}
    return names <= others or others <= names


def scale(quantity: Quantity, other: Unit) -> float:
    """What to multiply a value by to have it in basic units, leaving aside what only one of the two is per."""
    size = quantity.unit.size
    shared = {kind for kind, _ in other.per}
    for kind, part in quantity.unit.per:
        if kind in shared:
            size /= part
    return size


def agrees(claim: Quantity, source: Quantity) -> bool:
    """Whether a claim's quantity is what a source's says, rounded, converted or bounded."""
    if claim.unit.base == "" != source.unit.base and claim.role == "value" and not claim.ranged:
        return value_close(claim, source.low, source.high)
    if compatible(claim.unit, source.unit):
        return _close(claim, source, scale(source, claim.unit) / scale(claim, source.unit))
    values = converted(source.low, source.unit, claim.unit)
    if not values:
        return False
    slack = max(claim.step / 2, abs(claim.low) * 0.012)
    return any(abs(abs(claim.low) - abs(value)) <= slack for value in values)


def _close(claim: Quantity, source: Quantity, factor: float) -> bool:
    low, high = abs(source.low) * factor, abs(source.high) * factor
    low, high = min(low, high), max(low, high)
    other = factor < 0.999 or factor > 1.001
    slack = source.step * factor / 2 if other else 0.0
    if other and claim.unit.base == "time":
        calendar = claim.unit.size in _CALENDAR and source.unit.size in _CALENDAR
        slack = max(slack, 0.09 * high) if calendar and max(claim.unit.size, source.unit.size) >= 2629800 else slack
    elif other:
        slack = min(slack, 0.03 * high)
    if claim.ranged:
        return _range_close(claim, source, low, high, slack)
    return value_close(claim, low, high, slack, source.sign)


def _range_close(claim: Quantity, source: Quantity, low: float, high: float, slack: float) -> bool:
    near = claim.step / 2 + slack + 1e-9
    ends = sorted((abs(claim.low), abs(claim.high)))
    if source.ranged:
        if "interval" in (claim.role, source.role) and (claim.low < 0 < claim.high) != (source.low < 0 < source.high):
            return False
        same = abs(low - ends[0]) <= near and abs(high - ends[1]) <= near
        about = abs(low - ends[0]) > near and abs(high - ends[1]) > near and "interval" not in (source.role, claim.role)
        return same or (about and ends[0] <= low and high <= ends[1])
    return claim.role != "interval" and ends[0] - near <= low <= ends[1] + near and source.sign in "=~"


def value_close(claim: Quantity, low: float, high: float, slack: float = 0.0, sign: str = "=") -> bool:
    """Whether a claim's single value is one between ``low`` and ``high``, as exactly as it is meant."""
    value = abs(claim.low)
    far = 2.0 if value > 50 and claim.unit.base != "percent" else 3.5
    if claim.sign in "<>" and not value / far <= high <= value * far and not low <= value <= high:
        return False
    if claim.sign == "<":
        return (high < value + slack + 1e-9 and (sign != ">" or claim.role == "age")) or _near(claim, low, high, slack)
    if claim.sign == ">":
        return (low > value - slack - 1e-9 and sign != "<") or _near(claim, low, high, slack)
    return _near(claim, low, high, slack)


def _near(claim: Quantity, low: float, high: float, slack: float) -> bool:
    value, room = abs(claim.low), margin(claim) + slack + 1e-9
    if low == high:
        return low - room <= value <= high + room
    ends = abs(value - low) <= room or abs(value - high) <= room
    return ends or (claim.sign == "~" and low - room <= value <= high + room)


def margin(claim: Quantity) -> float:
    """How far the source may be from a claim's value."""
    value = abs(claim.low)
    room = claim.step / 2
    if claim.role == "fraction":
        return max(0.1 * value, 2.6) if claim.sign != "=" else max(0.06 * value, 2.0)
    if claim.role == "portion":
        return max(0.07 * value, min(2.5, 0.15 * value)) if value > 0 and claim.high <= 100 else room
    if claim.sign == "~":
        return max(room, 0.09 * value, 2.0 if claim.unit.base == "percent" and value >= 20 else 0.0)
    if claim.step == 1 and value >= 1000:
        zeros = len(f"{value:.0f}") - len(f"{value:.0f}".rstrip("0"))
        room = max(room, 10.0**zeros / 2) if zeros >= 2 else room
    if claim.unit.base == "times":
        return max(room, 0.05 * value)
    return room


def derivable(claim: Quantity, sources: list[Quantity], claimed: str, source_text: str) -> bool:
    """Whether one step of arithmetic makes a claim's quantity of the source's."""
    pool = [item for item in sources if item.role not in ("p", "year")][:_MOST]
    wanted = _derived(claim, pool, claimed, source_text)
    if claim.ranged:
        values = list(wanted)
        ends = [
            any(abs(abs(end) - value) <= claim.step / 2 + 1e-9 for value in values) for end in (claim.low, claim.high)
        ]
        return all(ends)
    room = max(claim.step / 2, 0.05 * abs(claim.low)) if claim.sign == "~" else margin(claim)
    return any(abs(abs(claim.low) - value) <= room + 1e-9 for value in wanted)


def _derived(claim: Quantity, pool: list[Quantity], claimed: str, source_text: str) -> Iterator[float]:
    bare_claim = claim.unit.base == "" and claim.step < 1
    near = (item for item in pool if (compatible(item.unit, claim.unit) or bare_claim) and item.role != "interval")
    values = (abs(item.low) if bare_claim else value_in(item, claim.unit) for item in near)
    alike = list(dict.fromkeys(round(value, 6) for value in values))
    bare = [item.low for item in pool if item.unit.base == "" and item.role not in ("interval",) and item.low > 0]
    percents = [item.low for item in pool if item.unit.base == "percent"]
    if claim.unit.base == PERCENT.base:
        yield from _percents(bare, percents, claimed, source_text)
        yield from _changes(pool, claimed)
    if claim.unit.base in (TIMES.base, "") and _MULTIPLYING.search(claimed):
        yield from _ratios(pool)
    if claim.unit.base == "" and claim.role != "p":
        yield from (value / 100 for value in percents)
        yield from _counts(bare, percents, claimed)
    if claim.unit.base == "mass" and (_DAILY.search(source_text) or _DAILY.search(claimed)):
        yield from (value * times for value in alike for times in (2, 3, 4, 0.5, 1 / 3, 0.25))
    telling = claim.low != round(claim.low) or abs(claim.low) > 20  # hardly a difference by mere accident
    if _DIFFERENCE.search(claimed) or telling:
        yield from (abs(one - other) for one, other in combinations(alike, 2))
    if _SUM.search(claimed) and claim.unit.base in ("", "percent", "time", "mass"):
        yield from _sums(alike)


def value_in(quantity: Quantity, unit: Unit) -> float:
    """A quantity's value in another unit of its kind."""
    return abs(quantity.low) * scale(quantity, unit) / (unit.size / _shared(unit, quantity.unit))


def _shared(unit: Unit, other: Unit) -> float:
    kinds = {kind for kind, _ in other.per}
    size = 1.0
    for kind, part in unit.per:
        size *= part if kind in kinds else 1.0
    return size


def _sums(values: list[float]) -> Iterator[float]:
    yield from (one + other for one, other in combinations(values, 2))
    if len(values) > 2:
        yield sum(values)
        yield from (sum(three) for three in combinations(values[:8], 3))


def _percents(bare: list[float], percents: list[float], claimed: str, source_text: str) -> Iterator[float]:
    yield from (100 * min(pair) / max(pair) for pair in combinations(bare, 2) if max(pair) >= 5)
    yield from (100 * value for value in bare if value < 1)
    if contrasted(claimed, source_text):
        yield from (100 - value for value in percents)
        yield from (100 - 100 * min(pair) / max(pair) for pair in combinations(bare, 2) if max(pair) >= 5)
    if len(bare) > 2 and _SUM.search(claimed):
        pairs = [(one + other, whole) for one, other in combinations(bare[:8], 2) for whole in bare[:8]]
        yield from (100 * part / whole for part, whole in pairs if part <= whole and whole >= 5)


def contrasted(claimed: str, source_text: str, strict: bool = False) -> bool:
    """Whether one of two texts has a word that the other lacks, and that may make it speak of the rest."""
    mine, theirs = (
        {_LIVING.get(match.lower(), match.lower()) for match in _CONTRAST.findall(text)}
        for text in (claimed, source_text)
    )
    return bool(mine - theirs) or (bool(theirs - mine) and not strict and len(source_text) < 600)


def _changes(pool: list[Quantity], claimed: str) -> Iterator[float]:
    if not _RELATIVE.search(claimed):
        return
    yield from (100 * abs(1 - item.low) for item in pool if item.unit.base in ("", "times") and 0 < item.low < 10)
    yield from (100 * abs(1 - end) for item in pool if item.role == "interval" for end in (item.low, item.high))
    for one, other in _alike_pairs(pool):
        low, high = sorted((one, other))
        if low > 0:
            yield 100 * (high - low) / high
            yield 100 * (high - low) / low


def _ratios(pool: list[Quantity]) -> Iterator[float]:
    yield from (item.low for item in pool if item.unit.base in ("", "times") and item.role != "interval")
    yield from (1 / item.low for item in pool if item.unit.base in ("", "times") and item.low > 0)
    yield from (
        value for item in pool if item.unit.base == "percent" for value in (1 + item.low / 100, abs(1 - item.low / 100))
    )
    for one, other in _alike_pairs(pool):
        low, high = sorted((one, other))
        if low > 0:
            yield high / low
            yield low / high


def _alike_pairs(pool: Iterable[Quantity]) -> Iterator[tuple[float, float]]:
    for one, other in combinations([item for item in pool if item.role != "interval"], 2):
        if compatible(one.unit, other.unit):
            yield abs(one.low) * scale(one, other.unit), abs(other.low) * scale(other, one.unit)
            if one.ranged or other.ranged:
                yield abs(one.high) * scale(one, other.unit), abs(other.high) * scale(other, one.unit)


def _counts(bare: list[float], percents: list[float], claimed: str) -> Iterator[float]:
    for whole in bare:
        if whole >= 5:
            yield from (whole * percent / 100 for percent in percents)
            yield from (whole * (100 - percent) / 100 for percent in percents if _CONTRAST.search(claimed))
    yield from (10000 / (value * 100) for value in percents if value > 0 and "treat" in claimed)
