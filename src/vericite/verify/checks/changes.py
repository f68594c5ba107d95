"""Comparisons of two quantities: a change by a factor ("halved"), and the number needed to treat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from vericite.verify.checks.numbers import Quantity, quantities
from vericite.verify.checks.words import Finding, sentences, shared, stems

_FACTORS: tuple[tuple[str, float], ...] = (
    (r"halv(?:e|es|ed|ing)|by (?:one )?half|half (?:as|the (?:risk|rate|number|odds|incidence))|cut in half", 0.5),
    (r"doubl(?:e|es|ed|ing)|twice (?:as|the)|two-?fold|2-fold|2 times (?:as|the|more|higher)", 2.0),
    (r"tripl(?:e|es|ed|ing)|trebl(?:e|es|ed|ing)|three-?fold|3-fold|3 times (?:as|the|more|higher)|thrice", 3.0),
    (r"quadrupl(?:e|es|ed|ing)|four-?fold|4-fold|4 times (?:as|the|more|higher)", 4.0),
    (r"five-?fold|5-fold|5 times (?:as|the|more|higher)|quintupl(?:e|es|ed|ing)", 5.0),
)
_FACTOR = re.compile(
    "|".join(rf"(?P<f{at}>(?<![\w-])(?:{pattern})(?![\w-]))" for at, (pattern, _) in enumerate(_FACTORS)), re.IGNORECASE
)
_PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_PART = re.compile(
    r"(?<![\w-])(?P<to>to|by)?\s?(?:about\s|almost\s|nearly\s|roughly\s|over\s|around\s)?(?:(?P<n>[23]|a|one)[ -])?"
    r"(?P<part>half|third|quarter|fifth|tenth)s?\b(?P<more>\s(?:lower|fewer|less|higher|more|greater|reduction|increase)|\sas\s\w+)?",
    re.IGNORECASE,
)
_NOT_A_CHANGE = re.compile(r"[- ](?:blind|masked|dummy|dose|strand|the dose)", re.IGNORECASE)
_PEOPLE = r"(?:\w+ )?(?:patients|people|persons|adults|women|men|children|participants)"
_NEEDED = re.compile(
    r"(?:\bnumbers? needed to treat|\bNNT)\b[^.;0-9]{0,60}?(?<![\w.])(?P<n>[0-9]{1,5}(?:\.[0-9])?)(?![\w%]|\.[0-9])"
    rf"|\b(?:treating|treat|for every|for each)\s(?:about |some |roughly |around )?(?P<m>[0-9]{{1,5}})\s{_PEOPLE}\b"
    r"[^.;]{0,60}?\b(?:1|one)\b"
    rf"|(?<![\w.])(?P<k>[0-9]{{1,5}})\s{_PEOPLE}\b[^.;]{{0,30}}?\btreated\b[^.;]{{0,60}}?\b(?:1|one)\b",
    re.IGNORECASE,
)
_NAMES_NEED = re.compile(r"\bNNT\b|\btreat", re.IGNORECASE)
_VERSUS = re.compile(
    r"\b(?:vs|versus|compared (?:with|to)|against|than|and|whereas|while|but|relative to)\b", re.IGNORECASE
)
_FROM = re.compile(r"\bfrom (?:about |around |a \w+ of )?$", re.IGNORECASE)
_ABSOLUTE = re.compile(r"\b(?:absolute|ARR)\b[^.;0-9]*$", re.IGNORECASE)
_FAR = 90
"""Maximum distance, in characters, of two quantities that are compared."""
_DOWN = re.compile(
    r"\b(?:lower|reduc\w+|decreas\w+|declin\w+|fell|fall\w*|drop\w*|less|fewer|cut|diminish\w+|smaller)\b", re.I
)
_UP = re.compile(
    r"\b(?:higher|increas\w+|rais\w+|rose|ris(?:e|en|ing)|more|greater|larger|elevat\w+|grew|gain\w*)\b", re.I
)
_POINTS = re.compile(r"point|pp\b", re.IGNORECASE)
_COMPARATIVE = r"(?:lower|higher|shorter|longer|less|more|fewer|earlier|later|heavier|lighter)\b"
_SHARED = 0.3
_MOST = 24  # maximum number of quantities of a source to compare


class NamedFactor(NamedTuple):
    """A factor that a text names."""

    factor: float
    start: int
    end: int
    text: str


class Compared(NamedTuple):
    """Two quantities of one kind, and their factor: of a change from the first to the second, or of the comparison."""

    first: Quantity
    second: Quantity
    factor: float
    is_from_to: bool


class Need(NamedTuple):
    """A number needed to treat."""

    number: float
    start: int
    end: int
    text: str


def changes(text: str) -> list[NamedFactor]:
    """Return the factors that a plain text names: halved, doubled, threefold."""
    found = [
        NamedFactor(_FACTORS[int((match.lastgroup or "f0")[1:])][1], match.start(), match.end(), match[0])
        for match in _FACTOR.finditer(text)
        if not _NOT_A_CHANGE.match(text, match.end())
    ]
    return found or [change for match in _PART.finditer(text) if (change := _part(text, match))]


def _part(text: str, match: re.Match[str]) -> NamedFactor | None:
    """Read a change to or by a part: "by a third", "to a quarter", "a fifth lower"."""
    if not (match["to"] or match["more"]) or re.match(r"\s(?:an?|of|the)\b", text[match.end() : match.end() + 5]):
        return None
    count = match["n"] or "a"
    part = _PARTS[match["part"].lower()] * (int(count) if count.isdigit() else 1)
    if (match["more"] or "").startswith(" as "):
        return NamedFactor(part, match.start(), match.end(), match[0])
    if (match["to"] or "").lower() == "to":
        return NamedFactor(part, match.start(), match.end(), match[0]) if _DOWN.search(text) else None
    way = bool(_UP.search(text)) - bool(_DOWN.search(text))
    return NamedFactor(1 + way * part, match.start(), match.end(), match[0]) if way else None


def needs(text: str) -> list[Need]:
    """Return the numbers needed to treat that a plain text names."""
    if not _NAMES_NEED.search(text):
        return []
    return [
        Need(float(match["n"] or match["m"] or match["k"]), match.start(), match.end(), match[0])
        for match in _NEEDED.finditer(text)
    ]


def compared(text: str) -> list[Compared]:
    """Return adjacent quantities of a plain text that are compared: "from 40% to 20%", "8% versus 4%"."""
    given = [item for item in quantities(text) if item.kind not in ("p", "interval")][:_MOST]
    found = [
        Compared(replace(item, high=item.low), replace(item, low=item.high), item.high / item.low, True)
        for item in given
        if item.ranged and item.low > 0 and " to " in item.text and _FROM.search(text, 0, item.start)
    ]
    by_kind: dict[str, list[Quantity]] = {}
    for item in given:
        if not item.ranged:
            by_kind.setdefault(item.kind, []).append(item)
    for first, second in (pair for alike in by_kind.values() for pair in pairwise(alike)):
        between = text[first.end : second.start]
        if min(first.low, second.low) <= 0 or len(between) > _FAR or ". " in between:
            continue
        if _FROM.search(text, max(0, first.start - 20), first.start) and re.search(
            r"\bto\b", text[first.start : second.start]
        ):
            found.append(Compared(first, second, second.low / first.low, True))
        elif first.kind not in ("bare", "ratio") and _VERSUS.search(text[first.start : second.end]):
            found.append(Compared(first, second, first.low / second.low, False))
    return found


def absolute(text: str) -> list[Quantity]:
    """Return the absolute risk differences of a plain text, in per cent."""
    return [
        item
        for item in quantities(text)[:_MOST]
        if item.base == "percent" and not item.ranged and _ABSOLUTE.search(text, max(0, item.start - 70), item.start)
    ]


def direction_at(text: str, item: Quantity) -> int:
    """Return -1 if something is lower by a quantity, 1 if it is higher, 0 if that is unclear."""
    window = text[max(0, item.start - 60) : item.end + 30]
    down, up = bool(_DOWN.search(window)), bool(_UP.search(window))
    return up - down


def is_factor(factor: float, of: float) -> bool:
    """Whether a change is roughly by a factor."""
    return abs(factor - of) <= 0.1 * of


def is_need(number: float, gap: float) -> bool:
    """Whether a number needed to treat fits a difference in per cent."""
    return gap > 0 and abs(100 / gap - number) <= max(1.0, 0.05 * number)


def differences(text: str) -> list[Quantity]:
    """Return the quantities by which something changed or differs."""
    return [
        item
        for item in quantities(text)[:_MOST]
        if item.kind not in ("p", "interval", "ratio", "bare", "times")
        and not item.ranged
        and (_POINTS.search(item.text) or (item.base != "percent" and _is_by(text, item)))
    ]


def _is_by(text: str, item: Quantity) -> bool:
    by = re.search(r"\bby (?:about |around |roughly |nearly |some )?$", text[max(0, item.start - 20) : item.start])
    return by is not None or re.match(rf"(?:\s\w+)?\s{_COMPARATIVE}", text[item.end : item.end + 25]) is not None


def is_difference(item: Quantity, pair: Compared) -> bool:
    """Whether a quantity is the difference of two of its kind, to its written precision."""
    gap = abs(pair.first.low - pair.second.low)
    return item.base == pair.first.base and abs(gap - item.low) <= max(0.5001 * item.step, 0.01 * gap)


def change_findings(claim: str, source: str) -> Iterator[Finding]:
    """Find factors and numbers needed to treat of the claim that do not follow from its source's figures.

    Also finds a relative change that is reversed: "21% higher" for a ratio of 0.79 in the source.
    """
    named, needed = changes(claim), needs(claim)
    lower = [item for item in quantities(claim) if item.kind == "percent change" and not item.ranged]
    apart = differences(claim)
    if not (named or needed or lower or apart):
        return
    content = stems(claim)
    near = " ".join(text for text in sentences(source) if shared(content, stems(text)) >= _SHARED)
    pairs = compared(near)
    if len(named) == 1 and not changes(source):
        yield from _factor_finding(named[0], near, pairs)
    if len(needed) == 1:
        yield from _need_finding(needed[0], near, pairs)
    if len(apart) == 1:
        yield from _difference_finding(apart[0], near, pairs)
    ratios = [item for item in quantities(near) if item.kind == "ratio"]
    if len(lower) == 1 and len(ratios) == 1:
        said, ratio = lower[0], ratios[0].low
        way = direction_at(claim, said)
        if way * (ratio - 1) < 0 and abs(abs(100 * (ratio - 1)) - said.low) <= 1.5:
            words = "higher" if way > 0 else "lower"
            yield Finding("direction", f"claim says {said.text.strip()} {words}, the source a ratio of {ratio:g}")


def _factor_finding(change: NamedFactor, near: str, pairs: list[Compared]) -> Iterator[Finding]:
    factors = {pair.factor for pair in pairs}
    ratios = {item.low for item in quantities(near) if item.kind in ("ratio", "times")}
    percents = {
        1 + direction_at(near, item) * item.low / 100
        for item in quantities(near)
        if item.kind == "percent change" and not item.ranged
    }
    # A factor may refer to any two figures of one kind, or to two changes ("twice the fall").
    sizes: dict[str, list[float]] = {}
    for item in quantities(near)[:_MOST]:
        if not item.ranged:
            sizes.setdefault(item.kind, []).append(abs(item.low))
    changed = [abs(pair.first.low - pair.second.low) for pair in pairs if pair.is_from_to]
    others = {
        first / second
        for values in (*sizes.values(), changed)
        for first in values
        for second in values
        if second and first != second
    }
    given = factors | {1 / factor for factor in factors} | ratios | percents | others
    if not given or any(abs(value - change.factor) <= 0.2 * change.factor for value in given):
        return
    if pairs:
        shown = f"{pairs[0].first.text.strip()} and {pairs[0].second.text.strip()}"
    elif ratios:
        shown = f"a ratio of {min(ratios):g}"
    else:
        return
    yield Finding("number", f"claim says '{change.text}', the source {shown}")


def _need_finding(need: Need, near: str, pairs: list[Compared]) -> Iterator[Finding]:
    given = needs(near)
    if given:
        if all(abs(item.number - need.number) > max(1.0, 0.05 * need.number) for item in given):
            yield Finding("number", f"claim says {need.number:g} needed to treat, the source {given[0].number:g}")
        return
    gaps = [item.low for item in absolute(near)]
    gaps = gaps or [abs(pair.first.low - pair.second.low) for pair in pairs if pair.first.kind == "percent"]
    if len(gaps) == 1 and gaps[0] and not is_need(need.number, gaps[0]):
        come_to = f"{100 / gaps[0]:.3g}"
        yield Finding("number", f"claim says {need.number:g} needed to treat, the source's rates come to {come_to}")


def _difference_finding(item: Quantity, near: str, pairs: list[Compared]) -> Iterator[Finding]:
    alike = [pair for pair in pairs if pair.first.base == item.base]
    if len(alike) != 1 or differences(near) or any(is_difference(item, pair) for pair in alike):
        return
    gap = abs(alike[0].first.low - alike[0].second.low)
    if gap and abs(gap - item.low) > 0.05 * gap:
        shown = f"{alike[0].first.text.strip()} and {alike[0].second.text.strip()}"
        yield Finding("number", f"claim says a difference of {item.text.strip()}, the source {shown}")
