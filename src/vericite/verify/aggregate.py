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

Failed = NDArray[np.bool_]
"""[statements, premises]: where the judge gave no answer, and the scores mean nothing."""

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

    def decide(self, scores: Scores, failed: Failed | None = None) -> Outcome | None:
        """The outcome over at least one statement and any number of premises.

        None where it hangs on a judgement that failed.
        """
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

    def decide(self, scores: Scores, failed: Failed | None = None) -> Outcome | None:
        """Each statement by its premises, then the claim by its statements."""
        gone = np.zeros(scores.shape[:2], dtype=bool) if failed is None else failed
        outcomes = [self._statement(rows, missing) for rows, missing in zip(scores, gone, strict=True)]
        if not outcomes:
            raise ValueError("expected at least one statement; found none")
        by_label: dict[Label, list[Outcome]] = {}
        for outcome in outcomes:
            if outcome is not None:
                by_label.setdefault(outcome.label, []).append(outcome)
        if "contradicted" not in by_label and None in outcomes:
            return None
        label: Label = next(label for label in ("contradicted", "irrelevant", "supported") if label in by_label)
        deciding = by_label[label]
        # A claim stands or falls with its weakest statement.
        shown = min(deciding, key=lambda outcome: outcome.probabilities.get("supported", 0.0))
        premises = dict.fromkeys(premise for outcome in deciding for premise in outcome.premises)
        return Outcome(label, label, shown.probabilities, tuple(premises))

    def _statement(self, rows: Scores, missing: NDArray[np.bool_]) -> Outcome | None:
        if not len(rows):
            return Outcome("irrelevant", "irrelevant", {}, ())
        winners = np.where(missing, -1, rows.argmax(axis=1))
        for column, label in _DECIDING:
            found = np.flatnonzero(winners == column)
            if len(found):
                ranked = found[np.argsort(-rows[found, column], kind="stable")]
                premises = tuple(int(premise) for premise in ranked[: self.evidence])
                return Outcome(label, label, _named(rows[premises[0]]), premises)
            if missing.any():
                # The premise that was not judged might have entailed the claim.
                return None
        # No premise decided: show the one that came nearest to deciding.
        return Outcome("irrelevant", "irrelevant", _named(rows[rows[:, NEUTRAL].argmin()]), ())


def _named(row: NDArray[np.float32]) -> dict[str, float]:
    return {
        "supported": round(float(row[ENTAILS]), 6),
        "contradicted": round(float(row[CONTRADICTS]), 6),
        "irrelevant": round(float(row[NEUTRAL]), 6),
    }
