"""Checks in addition to the judge: conflicts between a claim and the words and numbers of its source.

A check only looks for conflict. Finding none does not mean that the source supports the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from vericite.verify.checks.changes import change_findings
from vericite.verify.checks.direction import direction_findings, group_findings, opposite_findings
from vericite.verify.checks.frequency import frequency_findings
from vericite.verify.checks.numbers import number_findings, significance_findings
from vericite.verify.checks.words import Finding, Kind, plain

__all__ = ["CHECKS", "Finding", "Kind", "findings"]


CHECKS: dict[str, Callable[[str, str], Iterator[Finding]]] = {
    "number": number_findings,
    "frequency": frequency_findings,
    "change": change_findings,
    "significance": significance_findings,
    "direction": direction_findings,
    "opposite": opposite_findings,
    "group": group_findings,
}
"""Checks by name."""


def findings(claim: str, source: str, checks: Collection[str] = CHECKS.keys()) -> list[Finding]:
    """Return the conflicts of a claim with its source, at most one of each kind.

    Accepts any two strings. The result is deterministic, and a claim that is copied from its source has no conflicts.
    """
    claim, source = plain(claim), plain(source)
    if " ".join(claim.split()).rstrip(".") in " ".join(source.split()):
        return []
    found: dict[str, Finding] = {}
    for name, check in CHECKS.items():
        for finding in check(claim, source) if name in checks else ():
            found.setdefault(finding.kind, finding)
    return list(found.values())
