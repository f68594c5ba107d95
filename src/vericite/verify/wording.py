"""What the words themselves say, beside the judge: a claim quoted from its source, and what speaks against one."""

from __future__ import annotations

import re

import numpy as np

from vericite.models import Pair
from vericite.verify.aggregate import Outcome
from vericite.verify.checks import findings
from vericite.verify.judging import Judgement
from vericite.verify.premises import Case

QUOTES, CHECKS = "quotes.v1", "checks.v1"
"""Signatures of the rules; each changes whenever its rules would say otherwise of some text."""
_BEGINS = re.compile(
    r"(?:^|[.!?]['\")\]]*|\b(?:background|objectives?|aims?|methods?|results?|findings?|conclusions?|interpretation):)\s*$"
)
"""What may stand before a sentence: nothing, the end of another, or an abstract's heading."""
_ENDS = re.compile(r"[.!](?!\d)|$")
_SPACE = re.compile(r"\s+")
_SURE = np.array((0.98, 0.01, 0.01), dtype=np.float32)
"""As a judge that errs once in fifty would say it: a quotation can still be torn out of its context."""


def quoted(pair: Pair) -> Judgement | None:
    """That a premise entails a claim which is one of its sentences, word for word; None where it is not.

    Only from where a sentence may begin to where it may end: "it is a myth that zinc helps" quotes no claim that it
    does. Upper case, spaces and the full stop do not count.
    """
    claim, premise = _even(pair.claim).rstrip("."), _even(pair.premise)
    if len(claim.split()) < 2:
        return None
    start = premise.find(claim)
    while start >= 0:
        if _BEGINS.search(premise[:start]) and _ENDS.match(premise, start + len(claim)):
            return Judgement(_SURE)
        start = premise.find(claim, start + 1)
    return None


def lowered(outcome: Outcome, claim: str, case: Case) -> tuple[Outcome, tuple[str, ...]]:
    """A supported claim's outcome as the checks leave it, and why: irrelevant if its evidence speaks against it."""
    if outcome.label != "supported":
        return outcome, ()
    evidence = " ".join(case.premises[place].text for place in sorted(outcome.premises))
    found = findings(claim, evidence)
    if not found:
        return outcome, ()
    told = tuple(f"{finding.kind}: {finding.reason}" for finding in found)
    return outcome._replace(label="irrelevant", native="lowered by a check"), told


def _even(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()
