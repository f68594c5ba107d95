"""Aggregators: how the judgements on a case add up to a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.records import Label
from vericite.verify.judging import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.verify.premises import TOGETHER, Role
from vericite.verify.sheet import Cells, Likeness, Sheet

_EARLY = np.array([2, 5])
"""Premises of a statement that are asked before the others, as long as none has entailed it."""

_DECIDING: tuple[tuple[int, Label], ...] = ((ENTAILS, "supported"), (CONTRADICTS, "contradicted"))


class StatementOutcome(NamedTuple):
    """What was found of one statement; no label where its judgement failed."""

    label: Label | None
    native: str
    holds: bool
    probabilities: dict[str, float]


class Outcome(NamedTuple):
    """A label, the protocol's own name for it, the deciding probabilities and the premises that carry it.

    The label is None where it hangs on a judgement that failed. ``statements`` are there where there were
    several. ``unneeded`` are numbers of sources; None where the aggregator does not ask, or could not tell.
    ``taken_apart`` says that the statements were asked only because the claim failed whole. ``apart`` has the label of
    each of several sources by its own sentences, as VeriCite adds them up, where the aggregator tells.
    """

    label: Label | None
    native: str
    probabilities: dict[str, float]
    premises: tuple[int, ...]
    statements: tuple[StatementOutcome, ...] = ()
    unneeded: tuple[int, ...] | None = None
    taken_apart: bool = False
    apart: tuple[Label, ...] = ()

    def ungraded(self) -> Outcome:
        """The same without probabilities, for a judge that has none."""
        statements = tuple(item._replace(probabilities={}) for item in self.statements)
        return self._replace(probabilities={}, statements=statements)


class Aggregator(Protocol):
    """Adds judgements up. Sees no text, only numbers and labels.

    One whose ``reads_likeness`` is true finds on its sheets how like each premise is to each statement.
    """

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def wanted(self, sheet: Sheet) -> Cells:
        """The judgements to ask for next, given those on the sheet; none when it can decide."""
        ...

    def decide(self, sheet: Sheet) -> Outcome:
        """The outcome over at least one statement and any number of premises."""
        ...


@dataclass(frozen=True)
class AnyEntails:
    """VeriCite's rule.

    Supported if any premise entails the claim, else contradicted if any contradicts it, else irrelevant.
    Of several statements all must be supported; one contradicted contradicts the claim.

    The premises returned are those with the deciding label, the strongest first, at most ``evidence`` a
    statement.

    An ``early`` one asks for a few premises at a time, the likest to the statement first, and for no more once one
    entails it surely enough not to be abstained from: the label is the same, and so is whether it is abstained from;
    the evidence and its probabilities are those of what was asked.
    """

    evidence: int = 3
    early: bool = False

    @property
    def signature(self) -> str:
        """Says what is not as usual."""
        told = [f"evidence={self.evidence}"] if self.evidence != 3 else []
        told += ["early=True"] if self.early else []
        return f"any-entails({', '.join(told)})" if told else "any-entails"

    @property
    def reads_likeness(self) -> bool:
        """To know which to ask for first."""
        return self.early

    def wanted(self, sheet: Sheet) -> Cells:
        """Everything at once; or the next few premises of each statement that none has entailed."""
        if not self.early or sheet.likeness is None:
            return ~sheet.asked
        entailed = (sheet.scores.argmax(axis=2) == ENTAILS) & sheet.asked & ~sheet.failed
        entailed &= sheet.scores[:, :, ENTAILS] >= sheet.sure
        heard = sheet.asked.sum(axis=1, keepdims=True)
        steps = np.append(_EARLY, sheet.asked.shape[1])
        limit = steps[(heard >= _EARLY).sum(axis=1, keepdims=True)]
        return (ranks(sheet.likeness) < limit) & ~sheet.asked & ~entailed.any(axis=1, keepdims=True)

    def decide(self, sheet: Sheet) -> Outcome:
        """Each statement by its premises, then the claim by its statements."""
        outcomes = [self._statement(sheet, row) for row in range(len(sheet.scores))]
        if not outcomes:
            raise ValueError("expected at least one statement; found none")
        by_label: dict[Label, list[Outcome]] = {}
        for outcome in outcomes:
            if outcome is not None and outcome.label is not None:
                by_label.setdefault(outcome.label, []).append(outcome)
        statements = tuple(map(as_statement, outcomes)) if len(outcomes) > 1 else ()
        if "contradicted" not in by_label and None in outcomes:
            return Outcome(None, "failed", {}, (), statements)
        label: Label = next(label for label in ("contradicted", "irrelevant", "supported") if label in by_label)
        deciding = by_label[label]
        # A claim stands or falls with its weakest statement.
        shown = min(deciding, key=lambda outcome: outcome.probabilities.get("supported", 0.0))
        premises = dict.fromkeys(premise for outcome in deciding for premise in outcome.premises)
        return Outcome(label, shown.native, shown.probabilities, tuple(premises), statements)

    def _statement(self, sheet: Sheet, row: int) -> Outcome | None:
        rows, missing = sheet.scores[row], sheet.failed[row]
        if not len(rows):
            return Outcome("irrelevant", "irrelevant", {}, ())
        winners = np.where(missing | ~sheet.asked[row], -1, rows.argmax(axis=1))
        for column, label in _DECIDING:
            found = np.flatnonzero(winners == column)
            if len(found):
                ranked = found[np.argsort(-rows[found, column], kind="stable")]
                premises = tuple(int(premise) for premise in ranked[: self.evidence])
                native = sheet.natives.get((row, premises[0]), label)
                return Outcome(label, native, named(rows[premises[0]]), premises)
            if missing.any():
                # The premise that was not judged might have entailed the claim.
                return None
        # No premise decided: show the one that came nearest to deciding.
        nearest = int(rows[:, NEUTRAL].argmin())
        return Outcome("irrelevant", sheet.natives.get((row, nearest), "irrelevant"), named(rows[nearest]), ())


@dataclass(frozen=True)
class LeaveOneOut:
    """ALCE's rule: the documents together, and which of them the claim does not need.

    A document is unneeded if it does not entail the claim alone and the others do without it. Only asked where
    several documents together entail the claim, and each only as far as it takes. Where one of these judgements
    fails, the claim keeps its label, and which documents are needed is not said.
    """

    signature: str = "leave-one-out"

    def wanted(self, sheet: Sheet) -> Cells:
        """The documents together; then each alone; then the others without each that does not suffice."""
        choice = np.zeros_like(sheet.asked)
        choice[:, [place for role in self._next(sheet) for place in sheet.places(role)]] = True
        return choice & ~sheet.asked

    def _next(self, sheet: Sheet) -> list[Role]:
        if not _asked(sheet, TOGETHER):
            return [TOGETHER]
        if not sheet.entailed(TOGETHER):
            return []
        roles = [Role("alone", source) for source in _sources(sheet)]
        for source in _sources(sheet):
            alone = Role("alone", source)
            if _asked(sheet, alone) and sheet.entailed(alone) is False:
                roles.append(Role("without", source))
        return roles

    def decide(self, sheet: Sheet) -> Outcome:
        """Supported, contradicted or irrelevant by the documents together; and what is not needed."""
        places = sheet.places(TOGETHER)
        together = AnyEntails().decide(sheet.only(places))
        found = together._replace(premises=tuple(places[premise] for premise in together.premises), unneeded=())
        if found.label != "supported":
            return found
        unneeded: list[int] = []
        for source in _sources(sheet):
            alone = sheet.entailed(Role("alone", source))
            others = sheet.entailed(Role("without", source)) if alone is False else False
            if alone is None or others is None:
                return found._replace(unneeded=None)
            if others:
                unneeded.append(source)
        return found._replace(unneeded=tuple(unneeded))


def _asked(sheet: Sheet, role: Role) -> bool:
    return bool(sheet.asked[:, sheet.places(role)].all())


def _sources(sheet: Sheet) -> list[int]:
    """The sources that were also taken apart."""
    return sorted({role.source for role in sheet.roles if role.source is not None})


def as_statement(outcome: Outcome | None) -> StatementOutcome:
    """A statement's outcome as part of a claim's; None where a judgement that it needs failed."""
    if outcome is None or outcome.label is None:
        return StatementOutcome(None, "failed", False, {})
    return StatementOutcome(outcome.label, outcome.native, outcome.label == "supported", outcome.probabilities)


def ranks(likeness: Likeness) -> NDArray[np.int64]:
    """How early each premise should be asked: the likest first, of those as like the earlier."""
    return np.argsort(np.argsort(-likeness, axis=1, kind="stable"), axis=1)


def named(row: NDArray[np.floating]) -> dict[str, float]:
    """Probabilities by the verdict's label."""
    return {
        "supported": round(float(row[ENTAILS]), 6),
        "contradicted": round(float(row[CONTRADICTS]), 6),
        "irrelevant": round(float(row[NEUTRAL]), 6),
    }
