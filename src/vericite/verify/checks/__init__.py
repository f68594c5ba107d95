"""Checks in addition to the judge: conflicts between a claim and the words and numbers of its source.

A check only looks for conflict. Finding none does not mean that the source supports the claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from vericite.verify.checks.changes import change_findings
from vericite.verify.checks.direction import direction_findings, group_findings, opposite_findings
from vericite.verify.checks.frequency import frequency_findings
from vericite.verify.checks.numbers import number_findings, significance_findings
from vericite.verify.checks.words import Finding, Kind, plain

__all__ = ["Finding", "Kind", "findings"]


def findings(claim: str, source: str) -> list[Finding]:
    """Return the conflicts of a claim with its source.

    Accepts any two strings. The result is deterministic, and a claim that is copied from its source has no conflicts.
    """
    claim, source = plain(claim), plain(source)
    if " ".join(claim.split()).rstrip(".") in " ".join(source.split()):
        return []
    return list(_found(claim, source))


_CHECKS = (
    number_findings,
    frequency_findings,
    change_findings,
    significance_findings,
    direction_findings,
    opposite_findings,
    group_findings,
)


def _found(claim: str, source: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for check in _CHECKS:
        for finding in check(claim, source):
            if finding.kind not in seen:
                seen.add(finding.kind)
                yield finding
