"""Directions and denials of a claim that its source turns round."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks import lexicon
from vericite.verify.checks.arms import arm_mentions
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.mentions import Mention, mentions
from vericite.verify.checks.words import clauses, sentences, stems

_VAGUE = frozenset("=score treat therap us =control".split())
# what goes down where the thing itself goes up
_TURNING = frozenset(
    "threshold resist resistanc sensitiv toleranc clearanc =loss uptak inhibitor antagonist rever".split()
)
_MOST = 30  # mentions of a claim that are looked at; what keeps the work linear
_ELLIPTIC = re.compile(r"\b(?:did|was|were|had|does|do|is|are|has|could) not\s*(?:[.,;(]|$)")
_GRADES = frozenset("frequent common often rar prevalent likely severe".split())
_PACED = frozenset("=proliferation =growth =recovery heal healing =relapse =admission".split())
_RAISED = re.compile(
    r"\b(?:over-?express\w*|continuation|continued|forced expression|gain of|kept on)\b", re.IGNORECASE
)
_TAKEN_AWAY = re.compile(
    r"\b(?:delaying|avoid(?:ing|ance)|stopp\w+|withdraw\w*|withdrawn|discontinu\w+|cessation|omit\w*|omission"
    r"|(?<!those )(?<!than )(?<!patients )(?<!people )without|lack\w*|absence|^\W*loss of|lost|knock\w+"
    r"|silenc\w+|delet\w+|deficien\w+|deplet\w+|taken off|leaving out)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\b[0-9]+(?:\.[0-9]+)?(?= (?!and\b)\w)")
_TIMES = frozenset("=time =stay speed".split())


def direction_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about what went which way, and about what is said to have, or not to have, an effect."""
    if bool(_RAISED.search(claim)) != bool(_RAISED.search(source)) or "opposite" in source:
        if _RAISED.search(claim):
            return  # what the other manipulation did is not told
    given = [mention for mention in [*mentions(source), *arm_mentions(source)] if not mention.aim]
    if not given:
        return
    said_of = [
        stems(clause) | ({"it"} if re.search(r"\b(?:it|them)\W*$", clause) else set[str]())
        for clause in clauses(source)[:_MOST]
    ]
    around = [stems(sentence) for sentence in sentences(source)]
    elliptic = bool(_ELLIPTIC.search(source))
    for mention in mentions(claim)[:_MOST]:
        if mention.aim or (mention.denied and elliptic):
            continue
        if any(_same(mention, item) for item in given):
            continue
        near = [
            item
            for item in given
            if not _of_another_arm(mention, item, said_of)
            and not _of_another_thing(mention, item, around)
            and not _of_other_making(mention, item)
            and not (mention.reference and not item.reference and _lists_values(item))
        ]
        found = _finding(mention, near)
        if found:
            yield found


def _lists_values(source: Mention) -> bool:
    """Whether a clause gives several values, so that which of two arms had more is told by them alone."""
    return len(_VALUE.findall(source.clause)) > 1


def _of_other_making(claim: Mention, source: Mention) -> bool:
    """Whether one speaks of what giving a thing does and the other of what taking it away does."""
    return source.place >= 0 and bool(_TAKEN_AWAY.search(claim.clause)) != bool(_TAKEN_AWAY.search(source.clause))


def _of_another_thing(claim: Mention, source: Mention, around: list[frozenset[str]]) -> bool:
    """Whether a claim names something that the source speaks of, but not in the sentence of this mention."""
    named = (claim.subject | claim.reference) - source.target - claim.target
    here = around[source.place] if 0 <= source.place < len(around) else source.subject | source.reference
    elsewhere = frozenset(stem for stems_there in around for stem in stems_there)
    return bool(_openings(named) & _openings(elsewhere)) and not _openings(named) & _openings(here)


def _openings(found: frozenset[str]) -> frozenset[str]:
    """The first letters of stems, by which "breastfed" and "breastfeeding" are one."""
    return frozenset(stem[:6] if stem.startswith("=") else stem[:5] for stem in found)


def _same(claim: Mention, source: Mention) -> bool:
    """Whether two mentions say the same of the same thing in the same words."""
    if (claim.kind, claim.sign, claim.denied) != (source.kind, source.sign, source.denied):
        return False
    return claim.text == source.text or (claim.target == source.target and claim.subject == source.subject)


def _of_another_arm(claim: Mention, source: Mention, said_of: list[frozenset[str]]) -> bool:
    """Whether a claim speaks, without comparing, of another arm than a source's mention, as far as can be told."""
    if claim.reference or source.reference:
        return False
    shared = claim.target & source.target
    about, given = claim.subject - shared - _GRADES, source.subject - source.target - _GRADES
    if about & given:
        return False
    return any(about & clause and (given & clause or "it" in clause) for clause in said_of)


def _finding(claim: Mention, given: list[Mention]) -> Finding | None:
    if any(_same(claim, source) for source in given):
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
    top = max(rated, key=lambda item: item[0])[2].target
    if any(
        verdict == "agrees" and score >= (best - 0.3 if source.target == top else 0.8 * best)
        for score, verdict, source in rated
    ):
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
    if source.place < 0 and claim.kind == "any":
        return ""
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
        return "" if source.place < 0 else "denied"  # that values differ does not make a difference
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
    if kinds == {"size", "pace"} and "speed" in claim.target | source.target:
        return (-claim.sign, source.sign) if claim.kind == "pace" else (claim.sign, -source.sign)
    if kinds == {"size", "pace"} and (claim.target | source.target) & _TIMES:
        return claim.sign, source.sign
    if kinds == {"size", "pace"} and claim.target & source.target & _PACED:
        return (-claim.sign, source.sign) if claim.kind == "pace" else (claim.sign, -source.sign)
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
        return -1 if len(about & (theirs - given)) * 2 > len(about) else 0
    if theirs and not mine and about & (theirs - given):
        return 0  # it speaks of both
    if theirs and not mine and about and not about & given:
        return 0  # about whom the claim speaks is not told
    if mine and not _lists_values(source) and (given & (mine - about)) and not given & (about - mine):
        return -1
    if mine and not theirs and given and not (about | mine) & given:
        return 0
    return 1
