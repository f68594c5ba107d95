"""P-values, and whether a text calls its result significant."""

from __future__ import annotations

import re

from vericite.verify.checks.finding import Finding
from vericite.verify.checks.quantities import Quantity

_SIGNIFICANT = re.compile(r"\b(?:statistically )?(?P<word>significan(?:t|tly|ce))\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:no|not|non|nor|neither|without|never|fail\w*|lack\w*|short of|in|reach\w*|any)\b|n't\b)[ -][^.;,]{0,60}$",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?:\b(?:no|not|non|nor|neither|without|never|fail\w*|lack\w*|short of)\b|n't\b"
    r"|\bin(?=significan))[ -]?[^.;]{0,45}$",
    re.I,
)
_CHANCE = re.compile(
    r"\b(?:chance|compatible with no (?:effect|difference)|consistent with no (?:effect|difference)|inconclusive)\b",
    re.I,
)
_RATIO = re.compile(r"\b(?:HR|OR|RR|aHR|aOR|aRR|IRR|SHR|hazards?|odds|ratios?|relative risk)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(r"\b(?:difference|MD|SMD|WMD|change|beta|coefficient|reduction|increase)\b", re.IGNORECASE)
_INCLUDES = re.compile(
    r"(?P<not>\b(?:not|n't|never|without)\s[^.;]{0,15})?\b(?P<verb>cross\w*|includ\w*|contain\w*|span\w*|straddl\w*"
    r"|exclud\w*"
    r"|overlap\w*)\s(?:the )?(?:null|line of no|unity|1(?:\.0+)?|one|0(?:\.0+)?|zero|no (?:effect|difference))\b",
    re.I,
)


def claimed_significance(text: str) -> bool | None:
    """Whether a text says that its result is significant, or that it is not; None if neither, or both."""
    said = {not _SURE.search(text, max(0, match.start() - 60), match.start()) for match in _SIGNIFICANT.finditer(text)}
    if re.search(r"\b(?:insignificant|nonsignificant)", text, re.IGNORECASE):
        said.add(False)
    return said.pop() if len(said) == 1 else None


def p_agrees(claim: Quantity, source: Quantity) -> bool:
    """Whether a claim's p-value holds of the source's."""
    if claim.sign == "<":
        return (
            source.sign in "<=" and source.low <= claim.low and (source.sign == "<" or source.low < claim.low + 1e-12)
        )
    if claim.sign == ">":
        return source.sign in ">=" and source.low >= claim.low
    if source.sign != "=":
        return False
    return abs(claim.low - source.low) <= claim.step / 2 + 1e-9


def significance_finding(claim: str, source: str, numbers: list[Quantity]) -> Finding | None:
    """What p-values and intervals of the source say against a claim that a result is, or is not, significant."""
    said = claimed_significance(claim)
    crossing = _INCLUDES.search(claim)
    if crossing:
        return _crossing_finding(crossing, source, numbers)
    if said is None or claimed_significance(source) is said or "clinically" in claim.lower():
        return None
    values = [item for item in numbers if item.role == "p"]
    verdicts = {_p_significant(item) for item in values}
    if verdicts == {not said}:
        shown = values[0].text
        return Finding("p-value", f"claim says {_named(said)}, the source {shown}")
    intervals = [item for item in numbers if item.role == "interval"]
    if values or not intervals:
        return None
    held = {_interval_significant(item, source) for item in intervals}
    if held == {not said}:
        return Finding("interval", f"claim says {_named(said)}, the source an interval of {intervals[0].text}")
    return None


def _crossing_finding(crossing: re.Match[str], source: str, numbers: list[Quantity]) -> Finding | None:
    inside = crossing["verb"].lower().startswith("exclud") == bool(crossing["not"])
    intervals = [item for item in numbers if item.role == "interval"]
    held = {_interval_significant(item, source) for item in intervals}
    if held == {inside}:
        return Finding("interval", f"claim says '{crossing[0].strip()}', the source's interval is {intervals[0].text}")
    return None


def _p_significant(value: Quantity) -> bool | None:
    if value.sign == "<":
        return True if value.low <= 0.05 else None
    if value.sign == ">":
        return False if value.low >= 0.05 else None
    return value.low < 0.05 if value.low != 0.05 else None


def _interval_significant(interval: Quantity, source: str) -> bool | None:
    before = source[max(0, interval.start - 70) : interval.start]
    ratio, difference = _last(_RATIO, before), _last(_DIFFERENCE, before)
    low, high = interval.low, interval.high
    if low < 0 or difference > ratio:
        return None if low >= 0 and ratio < 0 and difference < 0 else not low <= 0 <= high
    if ratio >= 0:
        return not low <= 1 <= high
    return None


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.start() for match in pattern.finditer(text)), default=-1)


def _named(significant: bool) -> str:
    return "'significant'" if significant else "'not significant'"
