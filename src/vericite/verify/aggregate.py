"""Aggregators: how the judgements on a case add up to a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.records import Label
from vericite.verify.judging import CONTRADICTS, ENTAILS, NEUTRAL

Scores = NDArray[np.float32]
"""[statements, premises, 3]: probabilities of entails, contradicts, neutral."""


_DECIDING: tuple[tuple[int, Label], ...] = ((ENTAILS, "supported"), (CONTRADICTS, "contradicted"))


class Outcome(NamedTuple):
    """A label, the protocol's own name for it, the deciding probabilities and the premises that carry it."""

    label: Label
    native: str
    probabilities: dict[str, float]
    premises: tuple[int, ...]


class Aggregator(Protocol):
    """Adds judgements up. Sees no text, only scores."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def decide(self, scores: Scores) -> Outcome:
        """The outcome over at least one statement and any number of premises."""
        ...


@dataclass(frozen=True)
class AnyEntails:
    """VeriCite's rule.

    Supported if any premise entails the claim, else contradicted if any contradicts it, else irrelevant.
    Of several statements all must be supported; one contradicted contradicts the claim.

    The premises returned are those with the deciding label, the strongest first, at most ``evidence`` a
    statement.
    """

    evidence: int = 3

    @property
    def signature(self) -> str:
        """Says how much evidence is kept where that is not the usual."""
        return "any-entails" if self.evidence == 3 else f"any-entails(evidence={self.evidence})"

    def decide(self, scores: Scores) -> Outcome:
        """Each statement by its premises, then the claim by its statements."""
        outcomes = [self._statement(rows) for rows in scores]
        for label in ("contradicted", "irrelevant", "supported"):
            deciding = [outcome for outcome in outcomes if outcome.label == label]
            if deciding:
                premises = dict.fromkeys(premise for outcome in deciding for premise in outcome.premises)
                return Outcome(label, label, deciding[0].probabilities, tuple(premises))
        raise ValueError("expected at least one statement; found none")

    def _statement(self, rows: Scores) -> Outcome:
        if not len(rows):
            return Outcome("irrelevant", "irrelevant", {}, ())
        winners = rows.argmax(axis=1)
        for column, label in _DECIDING:
            found = np.flatnonzero(winners == column)
            if len(found):
                ranked = found[np.argsort(-rows[found, column], kind="stable")]
                premises = tuple(int(premise) for premise in ranked[: self.evidence])
                return Outcome(label, label, _named(rows[premises[0]]), premises)
        # No premise decided: show the one that came nearest to deciding.
        return Outcome("irrelevant", "irrelevant", _named(rows[rows[:, NEUTRAL].argmin()]), ())


def _named(row: NDArray[np.float32]) -> dict[str, float]:
    return {
        "supported": round(float(row[ENTAILS]), 6),
        "contradicted": round(float(row[CONTRADICTS]), 6),
        "irrelevant": round(float(row[NEUTRAL]), 6),
    }
