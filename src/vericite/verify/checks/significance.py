"""P-values and intervals of a source against what a claim says of its result: significant, or perhaps nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from vericite.verify.checks.binding import Bound
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.labels import labels
from vericite.verify.checks.quantities import Quantity

_NULL = (
    r"(?:the )?(?:null\b|line of no|unity|(?:zero|0|1|one)(?:\.0+)?\b(?!\.?[0-9])|no (?:effect|difference|change"
    r"|association|benefit))"
)
_SAID = re.compile(
    r"(?P<significant>\bsignifican(?:t|tly|ce)\b(?! (?:threshold|level|was set|set))|\bstatistical(?:ly)?"
    r" (?:sign|evidence|support|robust|clear"
    r"|detectable)\w*)"
    r"|(?P<insignificant>\b(?:insignificant|non-?significant)\w*)"
    rf"|(?P<outside>\b(?:exclud\w+|rul\w+ out|clear of|shut\w* out|left out|stay\w* clear of|steer\w* clear of"
    rf"|(?:wholly|entirely|completely|all|entire\w*|whole)\b[^.;]{{0,40}}\b(?:above|below|under|over|side of"
    rf"|to one side)"
    rf"|did(?:n't| not) (?:reach|touch))\b[^.;,]{{0,28}}{_NULL})"
    rf"|(?P<inside>\b(?:includ\w+|cross\w+|contain\w*|span\w*|straddl\w+|took in|takes in|overlap\w*|encompass\w*"
    rf"|compatible with|consistent with|cover\w*|either side of|both sides of|reach\w*|extend\w* (?:past"
    rf"|beyond|across)"
    rf"|embrac\w+|bridg\w+|went through|pass\w+ through)\s[^.;,]{{0,14}}{_NULL})"
    r"|(?P<chance>\b(?:by|within what|put down to|due to|down to|attribut\w+ to|explained by|play of) chance\b)"
    r"|(?P<survived>\b(?:surviv\w+|withst\w+|held up (?:to|under|after|even)|clear\w+|pass\w+)\b[^.;]{0,40}"
    r"\b(?:correction|threshold|bar|level|cut-?off)\b)",
    re.IGNORECASE,
)
_DENYING = re.compile(
    r"(?:\b(?:no|not|non|nor|neither|without|never|fail\w*|lack\w*|short of|miss\w*|shy of|far from|hardly"
    r"|cannot|lost"
    r"|lose|loses|stopped|ceased)\b|n't\b)[ -]?[^.;]{0,45}$",
    re.IGNORECASE,
)
_NOT_RULED_OUT = re.compile(
    r"\b(?:no|nil|zero|null)\b[^.;]{0,30}\b(?:not|n't|never) be (?:ruled out|excluded|dismissed)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r",? (?:but|whereas|while|although|though|yet|whilst|however)\b|;|,? and (?=(?:only |for |at |by "
    r"|the )?\w+[^.;]{0,60}"
    r"(?:signific|p ?[=<>]))|\.\s",
    re.IGNORECASE,
)
_OTHER_SENSE = re.compile(
    r"\b(?:clinical(?:ly)? (?:significan|meaning|relevan)|inferior|margin|equivalence)", re.IGNORECASE
)
_ALIKE = re.compile(r"\b(?:alike|both|all|each|every|either|and)\b", re.IGNORECASE)
_STRICT = re.compile(
    r"\b(?:bonferroni|correct(?:ed|ion)|stricter|multiple (?:testing|comparisons)|genome-wide)\b", re.IGNORECASE
)
_THRESHOLD = re.compile(r"\b(?:threshold|alpha|level|cut-?off)[^.;]{0,24}?(?P<value>0?\.[0-9]{1,9})", re.IGNORECASE)
_LEVEL = re.compile(
    r"\b(?P<percent>[0-9](?:\.[0-9])?) ?(?:%|per ?cent)\s(?:significance |alpha )?(?:level|threshold)", re.I
)
_RATIO = re.compile(r"\b(?:HR|OR|RR|aHR|aOR|aRR|IRR|SHR|PR|hazards?|odds|ratios?|relative risk)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\b(?:differences?|MD|SMD|WMD|change|beta|coefficient|correlation|reduction|slope|fall|drop"
    r"|gain)\b",
    re.IGNORECASE,
)
_ARMS = re.compile(r"\b(?:between|compared (?:with|to)|versus|vs\.?|relative to|than)\b[^.;]*", re.IGNORECASE)
_WORDING = frozenset(
    "=differ not:=differ =survival correct bonferroni threshold bar level cut genom wide signific chang"
    " remain =trial".split()
)
_OVERLAP = re.compile(r"\b(?P<verb>overlap\w*)(?! (?:the )?(?:null|unity|zero|one|1|0)\b)", re.IGNORECASE)


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


def significance_findings(claim: str, source: str, told: list[Bound]) -> Iterator[Finding]:
    """What p-values and intervals of the source say against a claim that a result is, or is not, significant."""
    yield from _overlapping(claim, told)
    level = _level(claim, source)
    known = labels(source)
    stated = [(labels(part), _verdict(part)) for part in _CLAUSE.split(source) if part and part.strip()]
    parts = [part for part in _CLAUSE.split(claim) if part and part.strip()]
    spoken = [(part, _verdict(part)) for part in parts]
    for part, said in spoken:
        if said is None or _OTHER_SENSE.search(part):
            continue
        about = labels(_ARMS.sub(" ", part)) - _WORDING
        judged = _judged(about, told, source, level)
        if judged and judged[0][0] < 0.6:
            about = labels(part) - _WORDING
            judged = _judged(about, told, source, level)
        found = _conflict(part, said, about & known, judged)
        if found and not _stated(said, about, judged, stated):
            yield found


def _verdict(part: str) -> bool | None:
    """Whether a part of a claim says that its result is significant, or that it is not; None if neither, or both."""
    if _NOT_RULED_OUT.search(part):
        return False
    said: set[bool] = set()
    for match in _SAID.finditer(part):
        positive = match.lastgroup in ("significant", "outside", "survived")
        denied = bool(_DENYING.search(part, max(0, match.start() - 60), match.start()))
        said.add(positive if match.lastgroup == "chance" or not denied else not positive)
    return said.pop() if len(said) == 1 else None


def _level(claim: str, source: str) -> float:
    """The level that a claim's result is held against."""
    named = _LEVEL.search(claim)
    if named:
        return float(named["percent"]) / 100
    strict = _THRESHOLD.search(source) if _STRICT.search(claim) else None
    return float(strict["value"]) if strict else 0.05


def _judged(about: frozenset[str], told: list[Bound], source: str, level: float) -> list[tuple[float, Bound, bool]]:
    """The p-values and intervals of a source, how near each is to what is spoken of, and whether it is significant."""
    verdicts = [(item, _significant(item.quantity, source, level)) for item in told]
    pool = [(item, verdict) for item, verdict in verdicts if verdict is not None]
    often = Counter(label for item, _ in pool for label in item.about)
    times = {label for label in about if label.startswith(("months:", "days:", "year:"))}
    judged: list[tuple[float, Bound, bool]] = []
    for item, verdict in pool:
        shared = item.about & about
        score = sum(0.05 if often[label] == len(pool) > 1 else 1.0 for label in shared)
        score -= min(1.5, 0.3 * len([label for label in item.about - about if often[label] < len(pool)]))
        others = {label for label in item.about if label.startswith(("months:", "days:", "year:"))}
        score += 2 * len(times & others) - (3 if times and others and not times & others else 0)
        judged.append((score if shared else -9.0, item, verdict))
    return sorted(judged, key=lambda entry: -entry[0])


def _stated(
    said: bool,
    about: frozenset[str],
    judged: list[tuple[float, Bound, bool]],
    stated: list[tuple[frozenset[str], bool | None]],
) -> bool:
    """Whether a source says in words what a claim says, of what is at least as near to it as the nearest value."""
    nearest = len(judged[0][1].about & about)
    return any(verdict is said and len(part & about) >= nearest for part, verdict in stated)


def _conflict(part: str, said: bool, about: frozenset[str], judged: list[tuple[float, Bound, bool]]) -> Finding | None:
    if not judged:
        return None
    best = judged[0][0]
    nearest = judged[0][1].about & about
    if any(verdict is said and score > 0 and item.about & about - nearest for score, item, verdict in judged):
        return None
    if 3 * len(judged[0][1].about & about) < len(about):
        return None
    near = [entry for entry in judged if entry[0] >= best - 0.25]
    if said and best > 0 and _ALIKE.search(part):
        near += [entry for entry in judged if entry[1].own and entry[1].own <= about]
        contrary = [entry for entry in near if entry[2] is not said]
    else:
        contrary = near if all(entry[2] is not said for entry in near) else []
    if best < 0.6 and len({entry[2] for entry in judged}) > 1:
        return None
    if not contrary:
        return None
    item = contrary[0][1].quantity
    kind: Kind = "p-value" if item.role == "p" else "interval"
    wording = "significant" if said else "not significant"
    return Finding(kind, f"claim says '{wording}', the source {item.text}")


def _significant(value: Quantity, source: str, level: float) -> bool | None:
    if value.role == "p":
        if value.sign == "<":
            return True if value.low <= level else None
        if value.sign == ">":
            return False if value.low >= level else None
        return value.low < level if value.low != level else None
    return _interval_significant(value, source) if value.role == "interval" else None


def _interval_significant(interval: Quantity, source: str) -> bool | None:
    low, high = interval.low, interval.high
    if low < 0:
        return not low <= 0 <= high
    near = source[max(0, interval.start - 70) : interval.start]
    far = source[max(0, interval.start - 400) : interval.start]
    for before in (near, far):
        ratio, difference = _last(_RATIO, before), _last(_DIFFERENCE, before)
        if ratio > difference:
            return not low <= 1 <= high
        if difference >= 0:
            return not low <= 0 <= high
    return None


def _overlapping(claim: str, told: list[Bound]) -> Iterator[Finding]:
    """Findings about whether the intervals of two values have anything in common."""
    said = _OVERLAP.search(claim)
    intervals = [item for item in told if item.quantity.role == "interval"]
    if not said or len(intervals) != 2:
        return
    one, other = (item.quantity for item in intervals)
    common = max(one.low, other.low) <= min(one.high, other.high)
    denied = bool(_DENYING.search(claim, max(0, said.start() - 50), said.start()))
    if common == denied:
        yield Finding("interval", f"claim says '{said[0]}', the source {one.text} and {other.text}")


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.start() for match in pattern.finditer(text)), default=-1)
