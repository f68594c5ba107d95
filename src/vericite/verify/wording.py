"""What the words themselves say, beside the judge: a claim quoted from its source, and what speaks against one."""

from __future__ import annotations

import re

from vericite.verify.aggregate import Outcome
from vericite.verify.checks import findings
from vericite.verify.premises import Case

QUOTES, CHECKS = "quotes.v1", "checks.v2"
"""Signatures of the rules; each changes whenever its rules would say otherwise of some text."""
_HEADING = re.compile(
    r"(?:background|objectives?|aims?|methods?|results?|findings?|conclusions?|interpretation|significance)\s*:\s*"
)
_SPACE = re.compile(r"\s+")


def quoted(claim: str, case: Case) -> int | None:
    """The premise of a case that is the claim word for word; None where there is none.

    The whole premise must be, but for a heading of the abstract: "it is a myth that zinc helps" quotes no claim that it
    does, and a question says nothing. Upper case, spaces and the full stop do not count.
    """
    told = _even(claim)
    if len(told.split()) < 2:
        return None
    texts = (_even(premise.text) for premise in case.premises)
    return next((place for place, text in enumerate(texts) if told in (text, _HEADING.sub("", text, count=1))), None)


def quotation(place: int) -> Outcome:
    """That a claim is supported by the premise that it quotes. No judge was asked, so there are no probabilities."""
    return Outcome("supported", "quoted", {}, (place,))


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
    return _SPACE.sub(" ", text).strip().lower().removesuffix(".")
