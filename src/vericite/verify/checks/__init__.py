"""Checks beside the judge: what a claim says that the words and numbers of its source speak against.

A check looks only for conflict. That it finds none does not mean that the source supports the claim.
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
    """What a claim says that its source speaks against; empty if nothing was found.

    Any two strings are taken. The same texts always have the same findings, and a claim copied from its source has
    none.
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
