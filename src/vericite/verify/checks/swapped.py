"""Values that a source gives for one arm and a claim for the other."""

from __future__ import annotations

import re
from itertools import pairwise

from vericite.verify.checks.agreement import agrees, compatible
from vericite.verify.checks.finding import Finding
from vericite.verify.checks.quantities import Quantity
from vericite.verify.checks.words import stems

_JOINT = re.compile(
    r"\b(?:and|versus|vs\.?|whereas|while|than|but|compared (?:with|to)|against|as opposed to|or)\b|[,;]", re.I
)
_BEHIND = re.compile(
    r"^[\s)%]*(?:\([^()]{0,40}\)\s*)?(?:of|in|with|on|for|among|after|from|at|under|by)\s", re.IGNORECASE
)
_STOP = re.compile(r"[.;](?:\s|$)")
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_TURNING = re.compile(r"\b(?:not|no|without|difference|fewer|less|n't|other|remain\w*|neither)\b", re.IGNORECASE)

Bound = tuple[Quantity, frozenset[str]]


def swapped(claim: str, source: str, said: list[Quantity], given: list[Quantity]) -> Finding | None:
    """The finding that a claim gives one arm the value that its source gives the other, if it does."""
    sides = [pair for pair in _sides(source, given) if not agrees(pair[0][0], pair[1][0])]
    if not sides or _TURNING.search(claim):
        return None
    own = [side for pair in _sides(claim, said) for side in pair] or _alone(claim, said)
    for quantity, about in own[:12]:
        for first, second in sides:
            finding = _held_against(quantity, about, first, second) or _held_against(quantity, about, second, first)
            if finding and not _given_elsewhere(quantity, about, sides):
                return finding
    return None


def _given_elsewhere(quantity: Quantity, about: frozenset[str], sides: list[tuple[Bound, Bound]]) -> bool:
    """Whether some pair gives the value to what the claim gives it to."""
    return any(
        agrees(quantity, mine[0]) and about & (mine[1] - other[1]) and not about & (other[1] - mine[1])
        for pair in sides
        for mine, other in (pair, pair[::-1])
    )


def _held_against(quantity: Quantity, about: frozenset[str], right: Bound, wrong: Bound) -> Finding | None:
    """The finding, if a claim's value is that of ``wrong`` and the claim is about ``right``."""
    if not agrees(quantity, wrong[0]) or agrees(quantity, right[0]):
        return None
    if not about & (right[1] - wrong[1]) or about & (wrong[1] - right[1]):
        return None
    of = ", ".join(sorted(word.strip("=") for word in about & (right[1] - wrong[1])))
    return Finding("number", f"claim says {quantity.text} for {of}, the source {right[0].text}")


def _alone(claim: str, said: list[Quantity]) -> list[Bound]:
    values = [item for item in said if item.role in ("value", "portion", "fraction", "small")]
    return [(values[0], stems(claim))] if len(values) == 1 else []


def _sides(text: str, found: list[Quantity]) -> list[tuple[Bound, Bound]]:
    """Pairs of values of one kind that stand together for two things, each with the words of its own thing."""
    values = [item for item in found if item.role in ("value", "portion", "fraction", "age", "small")]
    pairs: list[tuple[Bound, Bound]] = []
    for index, (one, other) in enumerate(pairwise(values)):
        between = text[one.end : other.start]
        if not compatible(one.unit, other.unit) or len(between) > 120 or _STOP.search(between):
            continue
        before = text[max(values[index - 1].end if index else 0, one.start - 90) : one.start]
        limit = values[index + 2].start if index + 2 < len(values) else len(text)
        after = text[other.end : min(limit, other.end + 80)]
        after = _STOP.split(after)[0]
        pair = _pair(one, other, _STOP.split(before)[-1], between, after)
        if pair:
            pairs.append(pair)
    return pairs


def _pair(one: Quantity, other: Quantity, before: str, between: str, after: str) -> tuple[Bound, Bound] | None:
    joints = list(_JOINT.finditer(between))
    if not joints:
        return None
    joint = (
        joints[-1] if not _BEHIND.match(between) else next((item for item in joints if item.start() > 2), joints[-1])
    )
    near, far = between[: joint.start()], between[joint.end() :]
    if _RESPECTIVELY.match(after.lstrip(" ,")) and not stems(near) and not stems(far):
        halves = re.split(r"\b(?:and|versus|vs)\b", before, flags=re.IGNORECASE)
        return ((one, stems(_tail(halves[-2]))), (other, stems(halves[-1]))) if len(halves) > 1 else None
    if _BEHIND.match(near) and _BEHIND.match(after):
        first, second = stems(near), stems(_JOINT.split(after)[0])
    elif stems(far) and not _BEHIND.match(near):
        first, second = stems(before), stems(far)
    else:
        return None
    if not first - second or not second - first:
        return None
    return (one, first), (other, second)


def _tail(text: str) -> str:
    return " ".join(text.split()[-4:])
