"""Claim plans: which statements of a claim are judged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from vericite.records import Claim
from vericite.text.statements import ENUMERATIONS, STATEMENTS, split_enumeration, split_statements

_JOINING = re.compile(r"(?:and|but|while|whereas|although|though|yet)\s+(?:also\s+)?(?=\S)", re.IGNORECASE)


_ATOMIC = f"{STATEMENTS} without joining words"


class ClaimPlan(Protocol):
    """Splits a claim into the statements to judge; all of them must hold for the claim to hold."""

    @property
    def signature(self) -> str:
        """Name and settings, for provenance."""
        ...

    def statements(self, claim: Claim) -> tuple[str, ...]:
        """Return the statements, at least one."""
        ...


@dataclass(frozen=True)
class WholeSentence:
    """The unchanged sentence."""

    signature: str = "sentence"

    def statements(self, claim: Claim) -> tuple[str, ...]:
        """Return the claim's text."""
        return (claim.text,)


@dataclass(frozen=True)
class AtomicStatements:
    """The sentence split into its statements.

    Attributes:
        enumerations: Whether each item of "(1) aspirin, (2) statins" is a statement, as in Reason and Verify.
    """

    enumerations: bool = False

    @property
    def signature(self) -> str:
        """Signature of the splitting rules."""
        return f"{_ATOMIC}, {ENUMERATIONS}" if self.enumerations else _ATOMIC

    def statements(self, claim: Claim) -> tuple[str, ...]:
        """Return the statements, or the whole claim if it has only one."""
        found = [_alone(claim.text[span.slice]) for span in split_statements(claim.text)]
        if self.enumerations:
            found = [item for statement in found for item in split_enumeration(statement)]
        return tuple(found) or (claim.text,)


def _alone(statement: str) -> str:
    """Remove the joining word: the statement is judged by itself."""
    return _JOINING.sub("", statement, count=1) if _JOINING.match(statement) else statement


@dataclass(frozen=True)
class WholeThenStatements:
    """The unchanged sentence, followed by its statements if there are several."""

    signature: str = f"sentence, then {_ATOMIC}"

    def statements(self, claim: Claim) -> tuple[str, ...]:
        """Return the claim's text, then its statements."""
        parts = AtomicStatements().statements(claim)
        return (claim.text, *parts) if len(parts) > 1 else (claim.text,)
