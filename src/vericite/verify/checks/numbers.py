"""Numbers of a claim that its source does not give and that do not follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vericite.verify.checks.agreement import agrees, compatible, derivable
from vericite.verify.checks.binding import Bound, bound
from vericite.verify.checks.changes import change_findings
from vericite.verify.checks.derivation import derived
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.intervals import interval_findings, same_ends
from vericite.verify.checks.labels import labels
from vericite.verify.checks.quantities import Quantity, quantities
from vericite.verify.checks.rates import frequency_findings, same_rate
from vericite.verify.checks.significance import p_agrees, significance_findings
from vericite.verify.checks.standing import Candidate, borne_out, misplaced, standings

_TYPED = re.compile(
    r"\b(?P<word>ha?emophilia|influenza|allele|diet|type|phase|grade|stage|class|interleukin|il|cd|hpv"
    r"|hepatitis|factor|vitamin|omega|serotype"
    r"|genotype|trisomy)"
    r"[ -]?(?P<name>[0-9]{1,3}[a-z]?|iv|i{1,3}|[a-e])(?![\w.]|\s?%)(?:(?:\s?[-/]\s?|,? (?:and|or"
    r"|to) )(?P<more>[0-9]{1,2}|iv|i{1,3}|[a-e])(?!\w))?",
    re.IGNORECASE,
)
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_MOST = 24  # quantities of a claim that are looked at; what keeps the work linear
_BY = re.compile(r"\bby(?: (?:about|around|some|roughly|nearly|almost|just|over|under|a))* $", re.IGNORECASE)
_ALL_BUT = re.compile(r"\b(?:all but|all except|except|other than|apart from)(?: the| for)? $", re.IGNORECASE)
_FROM_TO = re.compile(
    r"\bfrom(?: (?:about|around|just|roughly|nearly|almost|some|over|under|a))* $"
    r"|[0-9][^ ]*(?: [^ ]+){0,3} to(?: [a-z]+)? $"
)
_LASTING = re.compile(
    r"\b(?:over|for|lasting|lasted|ran for|spanned|took)(?: about| some| roughly| a total of)? $", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]{3,}")


def number_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about the numbers of a claim; both texts are plain."""
    given = quantities(source)
    said = _around_values(quantities(claim)[:_MOST])
    told = bound(source, given)
    made = derived(source, told, given)
    paced, whole = False, labels(claim)
    known = labels(source)
    for item in _bound_claim(claim, said):
        quantity = item.quantity
        found = standings(quantity, claim, source, _with_rest(told, given), made)
        steps = {one.step for one in found if one.bears_out}
        paced = paced or ("pace" in steps and "direct" not in steps)
        others = [one for one in given if one.role != "p"]
        borne = borne_out(found)
        if quantity.role != "fraction" and not _ratio_for_change(quantity, others, claim):
            borne = borne or derivable(quantity, others, claim, source)
        halved = quantity.role == "fraction" and quantity.low == 50 and quantity.sign != ">"
        borne = borne or (halved and "median" in source.lower())
        borne = borne or same_rate(quantity, claim, source)
        finding = _finding(quantity, given, claim, source, borne)
        finding = finding or _placed(claim, item, whole, known, found)
        if finding:
            yield finding
    yield from interval_findings(claim, said, source, given)
    yield from change_findings(claim, said, source, given)
    yield from significance_findings(claim, source, told)
    yield from _name_findings(claim, source)
    if not paced:
        yield from frequency_findings(claim, source)


def _with_rest(told: list[Bound], given: list[Quantity]) -> list[Bound]:
    """The values that stand for something, and those that do not, so that both can bear out a claim."""
    bound_at = {item.quantity.start for item in told}
    empty = frozenset[str]()
    return told + [Bound(item, empty, empty, 0) for item in given if item.start not in bound_at]


def _bound_claim(claim: str, said: list[Quantity]) -> list[Bound]:
    told = bound(claim, said)
    told = [item for item in told if any(item.quantity == quantity for quantity in said)]
    return _with_rest(told, said)


def _placed(
    claim: str, item: Bound, whole: frozenset[str], known: frozenset[str], found: list[Candidate]
) -> Finding | None:
    if item.quantity.role not in ("value", "portion", "fraction", "small", "interval", "p") or not item.about:
        return None
    if _ALL_BUT.search(claim, max(0, item.quantity.start - 24), item.quantity.start):
        return None
    if _FROM_TO.search(claim, max(0, item.quantity.start - 24), item.quantity.start):
        return None
    return misplaced(item.quantity.text, item.about & known, whole, found)


def _around_values(said: list[Quantity]) -> list[Quantity]:
    """The same quantities; a range that a value just before it lies in is taken for an interval of confidence."""
    return [
        replace(item, role="interval")
        if item.ranged and last and last.unit.base == item.unit.base and item.low < last.low < item.high
        else item
        for last, item in zip([None, *said], said, strict=False)
    ]


def _finding(quantity: Quantity, given: list[Quantity], claim: str, source: str, supported: bool) -> Finding | None:
    if quantity.role == "p":
        return _p_finding(quantity, given)
    if quantity.role == "loose":
        return _lasting_finding(quantity, given, claim, source)
    if _passed_over(quantity, given):
        return None
    if quantity.role == "small" or _is_zero(quantity):
        return _small_finding(quantity, given, claim, source, supported) if quantity.role == "small" else None
    if quantity.role == "year":
        years = [item for item in given if item.role == "year"]
        if not years or any(item.low == quantity.low for item in given):
            return None
        return Finding("number", f"claim says {quantity.text}, the source {years[0].text}")
    others = [item for item in given if item.role != "p"]
    if quantity.role == "interval" and any(same_ends(quantity, item) for item in others):
        return None
    if supported or any(agrees(quantity, item) for item in others):
        return None
    return None if quantity.ranged and _range_given(quantity, others) else _unmatched(quantity, others)


def _passed_over(quantity: Quantity, given: list[Quantity]) -> bool:
    """Whether a part of a whole is none that the source could speak against."""
    if quantity.role == "portion":
        return _counted_out(quantity, given)
    return quantity.role == "fraction" and not any(item.unit.base in ("", "percent", "times") for item in given)


def _range_given(quantity: Quantity, given: list[Quantity]) -> bool:
    """Whether a range is given as one, in whatever unit, or by its two ends apart."""
    bare = not quantity.unit.base and any(item.ranged and same_ends(quantity, item) for item in given)
    return bare or _ends_given(quantity, given)


def _ratio_for_change(quantity: Quantity, given: list[Quantity], claim: str) -> bool:
    """Whether a claim takes a ratio for the change that it means: "60 % lower" of a ratio of 0.60."""
    if quantity.unit.base != "percent" or not _BY.search(claim, max(0, quantity.start - 30), quantity.start):
        return False
    ratios = [item for item in given if item.unit.base == "" and 0 < item.low < 1 and not item.ranged]
    return any(abs(100 * item.low - quantity.low) <= 1 for item in ratios)


def _lasting_finding(quantity: Quantity, given: list[Quantity], claim: str, source: str) -> Finding | None:
    """A duration of a single unit is held against the source only where that says how long a thing lasts."""
    before = claim[max(0, quantity.start - 20) : quantity.start]
    lasting = [item for item in given if _LASTING.search(source, max(0, item.start - 24), item.start)]
    lasting = [item for item in lasting if item.unit.base == quantity.unit.base == "time" and not item.unit.per]
    times = [item for item in given if item.unit.base == "time"]
    if not _LASTING.search(before) or not lasting or any(_as_long(quantity, item) for item in times):
        return None
    return Finding("unit", f"claim says {quantity.text}, the source {lasting[0].text}")


def _as_long(one: Quantity, other: Quantity) -> bool:
    lasted, given = one.low * one.unit.size, other.low * other.unit.size
    return 0.8 * given <= lasted <= 1.25 * given


def _counted_out(quantity: Quantity, given: list[Quantity]) -> bool:
    """Whether a claim counts a few of a number that its source gives, but of which it counts none."""
    part, whole = (float(number) for number in (re.findall("[0-9]+", quantity.text) * 2)[:2])
    counts = [
        item.low for item in given if item.unit.base in ("", "percent") and item.role not in ("p", "interval", "year")
    ]
    if whole <= 3:
        return True  # "one of the two": no share
    return part <= 5 and whole in counts and not any(1 <= count < whole for count in counts)


def _is_zero(quantity: Quantity) -> bool:
    return quantity.low == 0 == quantity.high


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


def _small_finding(
    quantity: Quantity, given: list[Quantity], claim: str, source: str, supported: bool
) -> Finding | None:
    """A small count is held against the source only where the source counts the same thing otherwise."""
    if supported or any(agrees(quantity, item) for item in given):
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
                name.isdigit()
                or word
                in (
                    "hepatitis",
                    "vitamin",
                    "haemophilia",
                    "hemophilia",
                    "influenza",
                    "allele",
                    "diet",
                    "class",
                    "phase",
                    "grade",
                    "stage",
                    "type",
                    "factor",
                )
            ):
                found.setdefault(word, {})[_ROMAN.get(name.lower(), name.lower())] = match[0]
    return found


def _name_findings(claim: str, source: str) -> Iterator[Finding]:
    given = _names(source)
    for word, named in _names(claim).items():
        others = given.get(word, {})
        for name, shown in named.items():
            if others and name not in others and not (word in ("grade", "stage") and len(others) > 1):
                kind: Kind = (
                    "population" if word in ("type", "stage", "hepatitis", "haemophilia", "hemophilia") else "number"
                )
                yield Finding(kind, f"claim says '{shown}', the source '{next(iter(others.values()))}'")
