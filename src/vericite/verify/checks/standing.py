"""What bears out a claim's value, and whether it stands there for the same thing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vericite.verify.checks.agreement import agrees, compatible, contrasted, value_close
from vericite.verify.checks.binding import Bound
from vericite.verify.checks.derivation import Derived
from vericite.verify.checks.finding import Finding
from vericite.verify.checks.intervals import limit_named
from vericite.verify.checks.measures import Unit
from vericite.verify.checks.quantities import Quantity
from vericite.verify.checks.significance import p_agrees

_DIFFERENCE = re.compile(
    r"\b(?:differ\w*|more|fewer|less|reduc\w*|lower\w*|higher|by|points?|absolute|gap|fell|rose|dropp?\w*|increas\w*"
    r"|gain\w*|decreas\w*|declin\w*|extra|additional|longer|shorter|later|earlier|older|younger|lost"
    r"|gr[eo]w\w*|chang\w*"
    r"|added|extend\w*|prolong\w*|improv\w*|shorten\w*|advantage|benefit|excess|ahead|rise|shift\w*|larger|smaller"
    r"|greater|better|worse|saved?|remain\w*|after|cut\w*|savings?|surviv\w*|left|lead|margin|thinner|thicker|down|up"
    r"|lighter|heavier|sooner|quick\w*|fast\w*|slow\w*|avert\w*|prevent\w*|spar\w*|widen\w*|narrow\w*|took"
    r"|take\w*|off"
    r"|edge|short of|behind|over and above)\b",
    re.IGNORECASE,
)
_FALL = re.compile(
    r"\b(?:reduc\w*|lower\w*|decreas\w*|cut\w*|less|fewer|fell|fall\w*|dropp?\w*|declin\w*|shorten\w*"
    r"|shorter|slash\w*"
    r"|down|sooner|lighter|shrank|shrunk|avert\w*|trimm\w*|drops?|quicker|faster|spar\w*|halv\w*|prevent\w*|smaller"
    r"|protect\w*|lost|loss\w*|better|gone|thinner|rarer|eas\w+|of that gain|starting|sav\w*)\b",
    re.IGNORECASE,
)
_RISE = re.compile(
    r"\b(?:increas\w*|more|higher|rais\w*|rose|rise\w*|greater|prolong\w*|longer|gr[eo]w\w*|gain\w*|improv\w*|excess"
    r"|elevat\w*|larger|likel\w*|again|went|up|heavier|extra|lift\w*|jump\w*|climb\w*|worse|better|slower|thicker"
    r"|added|bigger|faster|boost\w*|over and above)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(r"\b(?:chang\w*|relative|differ\w*|by|shift\w*)\b", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:total\w*|altogether|overall|combined|together|in all|both|either|sum|pooled|any|at least|or|all|reason\w*"
    r"|between them|did not|whole)\b",
    re.IGNORECASE,
)
_EFFICACY = re.compile(r"\b(?:efficacy|effective\w*|protection)\b", re.IGNORECASE)
_SUM = re.compile(
    r"\b(?:participants|patients|people|of|enrolled|randomi[sz]ed|women|men|adults|children|trials?|studies|across"
    r"|through\w*|most)\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\b(?:by|a)(?: (?:about|around|some|roughly|nearly|almost|just|over|under|more than|less than|a))*\s?$"
)
_CHANGING = re.compile(
    r"\s?(?:points? |percentage points? )?(?:lower|higher|fewer|less\b|more\b|reduc|drop|fall|decreas|increas"
    r"|declin|rise"
    r"|cut|relative|shorter|longer|greater|smaller|gain|improve|larger)",
    re.IGNORECASE,
)
_OF = re.compile(r"\s?of (?!(?:that|the (?:gain|start|drop|fall|rise|loss)))", re.IGNORECASE)
_RATIO = re.compile(
    r"\b(?:times|fold|\w+fold|twice|doubl\w*|tripl\w*|halv\w*|ratio|quadrupl\w*|trebl\w*"
    r"|(?:half|thirds?|quarters?|fifths?|tenths?) (?:of )?(?:what|that\b|those|as"
    r"|that)|as (?:many|much|high|long|large|often|likely|common|great|far|big|fast))\b|[0-9]-?fold",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:limits?|bounds?|intervals?|CI|between|anywhere|range\w*|plausibl\w*|as (?:low|high|much|little"
    r"|small|large|few|many|great|long|short) as|from)\b"
)
_LEAD = 0.45  # by how much another value must stand nearer to what the claim speaks of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that a claim's value could be, what it is about, and whether the claim's value is it."""

    step: str
    about: frozenset[str]
    bears_out: bool
    shown: str


def standings(claim: Quantity, text: str, source: str, told: list[Bound], made: list[Derived]) -> list[Candidate]:
    """All values a claim's value could be, each with whether it is."""
    if not _LIMIT.search(text) and not claim.ranged:
        told = [item for item in told if item.quantity.role != "interval"]
    which = limit_named(text, claim) if any(item.quantity.role == "interval" for item in told) else ""
    if which:
        return list(_limits(claim, which, told))
    return [*_direct(claim, told), *_by_steps(claim, text, source, made)]


def borne_out(found: Iterable[Candidate]) -> bool:
    """Whether some value is the claim's."""
    return any(item.bears_out for item in found)


def misplaced(shown: str, about: frozenset[str], whole: frozenset[str], found: list[Candidate]) -> Finding | None:
    """The finding that a claim's value stands in the source for something else, if it does.

    Args:
        shown: The claim's value as written.
        about: The labels of what the claim's value stands for.
        whole: The labels of the whole claim.
        found: The standings of the value.
    """
    bearing = [item for item in found if item.bears_out]
    steps = {item.step for item in bearing}
    if not about or ("direct" in steps and steps & {"difference", "spread"}):
        return None
    rivals: list[Candidate] = []
    if not bearing:
        return None
    for item in bearing:
        alike = [other for other in found if other.step == item.step]
        weights = _weights(alike)
        better = [other for other in alike if not other.bears_out and _outdoes(other, item, about, whole, weights)]
        if not better:
            return None
        rivals += better
    best = max(rivals, key=lambda item: len(item.about & about))
    return Finding("number", f"claim says {shown}, the source {best.shown}")


def _outdoes(
    other: Candidate, item: Candidate, about: frozenset[str], whole: frozenset[str], weights: dict[str, float]
) -> bool:
    gained = sum(weights[label] for label in (other.about & about) - item.about)
    missed = sum(weights[label] for label in (item.about & about) - other.about)
    unnamed = (item.about - other.about) - whole
    covered = 2 * len(other.about & about) >= len(about)
    return gained - missed >= _LEAD and covered and bool(unnamed)


def _weights(found: list[Candidate]) -> dict[str, float]:
    often = Counter(label for item in found for label in item.about)
    return {label: _weight(label, count / len(found)) for label, count in often.items()}


def _weight(label: str, share: float) -> float:
    """A point in time, a year or a grade tells values apart better than a word; what all have tells none apart."""
    if share == 1:
        return 0.05
    return (1.0 if share < 0.4 else 0.7 if share < 0.7 else 0.4) * (2.0 if ":" in label or label[-1].isdigit() else 1.0)


def _limits(claim: Quantity, which: str, told: list[Bound]) -> Iterator[Candidate]:
    """What a claim's value could be if it is said to be one end of an interval."""
    for item in told:
        quantity = item.quantity
        if quantity.role == "interval" and compatible(claim.unit, quantity.unit):
            end = quantity.low if which == "lower" else quantity.high
            matched = value_close(claim, abs(end), abs(end))
            yield Candidate("direct", item.about, matched, quantity.text)


def _direct(claim: Quantity, told: list[Bound]) -> Iterator[Candidate]:
    for item in told:
        quantity = item.quantity
        if claim.role == "p" == quantity.role:
            yield Candidate("direct", item.about, p_agrees(claim, quantity), quantity.text)
        if claim.role == "p" or quantity.role in ("p", "level"):
            continue
        matched = agrees(claim, quantity)
        alike = compatible(claim.unit, quantity.unit) and quantity.ranged == claim.ranged
        if matched or (alike and quantity.role != "interval"):
            yield Candidate("direct", item.about, matched, quantity.text)


def _by_steps(claim: Quantity, text: str, source: str, made: list[Derived]) -> Iterator[Candidate]:
    allowed = _allowed(claim, text, source)
    for item in made:
        if allowed[item.step] and _same_kind(claim, item):
            value = item.value * _factor(item.unit, claim.unit)
            matched = value_close(claim, value, value)
            yield Candidate(item.step, item.about, matched, item.shown)


def _allowed(claim: Quantity, text: str, source: str) -> dict[str, bool]:
    """Which steps the words around a claim's value leave open: a share is not a fall, nor a fall a share."""
    before, after = text[max(0, claim.start - 40) : claim.start], text[claim.end : claim.end + 30]
    changing = bool(_CHANGING.match(after)) or (bool(_BY.search(before)) and claim.role != "portion")
    part = claim.role == "portion" or (claim.unit.base == "percent" and bool(_OF.match(after)) and not changing)
    down, up, turned = bool(_FALL.search(text)), bool(_RISE.search(text)), bool(_CHANGED.search(text))
    loose = not down and not up and turned
    counted = claim.unit.base == "" and bool(_SUM.search(text))
    return {
        "difference": bool(_DIFFERENCE.search(text)) and not part,
        "fall": (down or loose) and not part,
        "lowering": (down or loose or bool(_EFFICACY.search(text))) and not part,
        "rise": (up or loose) and not part,
        "ratio": bool(_RATIO.search(text)) or claim.unit.base == "times",
        "sum": counted or bool(_TOTAL.search(text)),
        "rest": contrasted(text, source, strict=True) and not changing,
        "spread": bool(_RISE.search(source)) and bool(_FALL.search(source)) and bool(_DIFFERENCE.search(text)),
        "share": not changing,
        "count": True,
        "pace": True,
    }


def _same_kind(claim: Quantity, item: Derived) -> bool:
    if item.step in ("fall", "lowering", "rise", "share", "rest"):
        return claim.unit.base == "percent"
    if item.step == "ratio":
        return claim.unit.base in ("times", "", "percent")
    if item.step == "difference" and (claim.unit.base == "" or {claim.unit.base, item.unit.base} == {"percent", ""}):
        return True
    if item.step == "pace" and _time_per(claim.unit) and not _time_per(item.unit):
        return False
    return claim.unit.base == item.unit.base


def _time_per(unit: Unit) -> float:
    """For how many seconds a unit counts; 0 if it is not taken per time."""
    return next((part for kind, part in unit.per if kind == "time"), 0.0)


def _factor(unit: Unit, wanted: Unit) -> float:
    if unit.base == "times" and wanted.base == "percent":
        return 100.0
    paced = _time_per(wanted) / _time_per(unit) if _time_per(wanted) and _time_per(unit) else 1.0
    return paced * unit.size / wanted.size if unit.base == wanted.base else 1.0
