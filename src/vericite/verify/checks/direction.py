"""Directions and denials of a claim that its source turns round."""

from __future__ import annotations

from collections.abc import Iterator

from vericite.verify.checks import lexicon
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.mentions import Mention, mentions

_VAGUE = frozenset("=score treat therap us =control".split())
# what goes down where the thing itself goes up
_TURNING = frozenset(
    "threshold resist resistanc sensitiv toleranc clearanc loss uptak inhibitor antagonist rever".split()
)
_MOST = 30  # mentions of a claim that are looked at; what keeps the work linear
_TIMES = frozenset("=time =stay speed".split())


def direction_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about what went which way, and about what is said to have, or not to have, an effect."""
    given = [mention for mention in mentions(source) if not mention.aim]
    if not given:
        return
    for mention in mentions(claim)[:_MOST]:
        if mention.aim:
            continue
        found = _finding(mention, given)
        if found:
            yield found


def _finding(claim: Mention, given: list[Mention]) -> Finding | None:
    if claim in given:
        return None
    rated: list[tuple[float, str, Mention]] = []
    for source in given:
        score = _nearness(claim, source)
        verdict = _verdict(claim, source) if score else ""
        if verdict:
            rated.append((score, verdict, source))
    if not rated:
        return None
    best = max(score for score, _, _ in rated)
    if any(verdict == "agrees" and score >= 0.45 * best for score, verdict, _ in rated):
        return None
    score, verdict, source = max(rated, key=lambda item: item[0])
    if verdict == "agrees":
        return None
    kind: Kind = "direction" if verdict == "turned" else "negation"
    return Finding(kind, f"claim says '{claim.text}', the source '{source.text}'")


def _nearness(claim: Mention, source: Mention) -> float:
    """How far two mentions speak of the same thing; 0 if they do not."""
    shared = claim.target & source.target
    around = (claim.subject | claim.reference) & (source.subject | source.reference)
    if not shared - _VAGUE or (claim.target ^ source.target) & _TURNING:
        return 0.0
    if claim.head and source.head and claim.head not in source.target and source.head not in claim.target:
        return 0.0
    least = min(len(claim.target), len(source.target)) or 1
    return 2 * len(shared) / least + len(shared) + 0.4 * len(around)


def _verdict(claim: Mention, source: Mention) -> str:
    """What a source says of a claim: "agrees", "turned" (the other way), "denied" (one denies the other), or ""."""
    if claim.kind == "any" or source.kind == "any":
        return _any_verdict(claim, source)
    relation = _relation(claim, source)
    if not relation:
        return ""
    if claim.denied and source.denied:
        return "agrees" if relation > 0 else ""
    if claim.denied or source.denied:
        if relation < 0:
            return "agrees" if claim.denied else ""
        return "denied"
    return "agrees" if relation > 0 else "turned"


def _any_verdict(claim: Mention, source: Mention) -> str:
    claims_none = claim.denied
    finds_none = source.denied
    if claim.kind == source.kind == "any":
        return "agrees" if claims_none == finds_none else "denied"
    if claim.kind == "any":
        return "denied" if claims_none and not finds_none else "agrees"
    return "denied" if finds_none and not claims_none else "agrees"


def _relation(claim: Mention, source: Mention) -> int:
    """1 if two mentions point the same way, -1 if they point opposite ways, 0 if that cannot be told."""
    one, other = _comparable(claim, source)
    return one * other * _order(claim, source)


def _comparable(claim: Mention, source: Mention) -> tuple[int, int]:
    if claim.kind == source.kind:
        return claim.sign, source.sign
    kinds = {claim.kind, source.kind}
    if kinds == {"size", "value"}:
        size = claim if claim.kind == "size" else source
        return (
            (claim.sign, source.sign)
            if _goodness(size, claim, source) > 0
            else ((-claim.sign, source.sign) if _goodness(size, claim, source) < 0 else (0, 0))
        )
    if kinds == {"size", "pace"} and (claim.target | source.target) & _TIMES:
        return claim.sign, source.sign
    return 0, 0


def _goodness(size: Mention, claim: Mention, source: Mention) -> int:
    shared = claim.target & source.target
    if "=mortality" in size.target:
        return -1 if "=mortality" in claim.target & source.target else 0
    return bool(shared & lexicon.GOOD_OUTCOMES) - bool(shared & lexicon.BAD_OUTCOMES)


def _order(claim: Mention, source: Mention) -> int:
    """-1 if what the one compares with is what the other is about."""
    mine, theirs = claim.reference, source.reference
    shared = claim.target & source.target
    about, given = claim.subject - shared, source.subject - shared
    if mine and theirs:
        same = len((mine - about) & (theirs - given)) + len((about - mine) & (given - theirs))
        crossed = len((mine - about) & (given - theirs)) + len((about - mine) & (theirs - given))
        return -1 if crossed > same else 1
    if theirs and (about & (theirs - given)) and not about & (given - theirs):
        return -1
    if mine and (given & (mine - about)) and not given & (about - mine):
        return -1
    if theirs and not mine and about and not about & given:
        return 0  # about whom the claim speaks is not told
    return 1
