"""Two views of the evidence, its sentences alone and the telling ones together, and their mean."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from vericite.records import Label
from vericite.verify.aggregate import Outcome, StatementOutcome, as_statement, named, ranks
from vericite.verify.judging import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.verify.premises import TOGETHER
from vericite.verify.sheet import Cells, Sheet
from vericite.verify.tempering import softmax

_LABELS: dict[int, Label] = {ENTAILS: "supported", CONTRADICTS: "contradicted", NEUTRAL: "irrelevant"}
_LEAST = 1e-6
_Row = NDArray[np.float64]


@dataclass(frozen=True)
class TwoViews:
    """The sentences say what the most certain of them says; the assembled ones say it together; the mean decides.

    The mean is of logarithms, so that each view can veto. Nothing in it is fitted: no rule that was, with more views,
    the number of sentences or shared words, did better on claims it was not fitted on (docs/protocols.md).

    The first statement is the claim whole. Where that is not supported the others are asked: a claim of several
    statements is supported if each is, and contradicted if one is.

    The premises returned are sentences alone: those that have the label by themselves, else those assembled.

    With ``first`` below 1 only that share of the sentences is asked, those that are likest to the statement; the
    others too, unless one of these entails or contradicts it with a probability of ``sure``.
    """

    evidence: int = 3
    first: float = 1.0
    sure: float = 0.55

    @property
    def signature(self) -> str:
        """Says what is not as usual."""
        told = [f"evidence={self.evidence}"] if self.evidence != 3 else []
        told += [f"first={self.first:g}", f"sure={self.sure:g}"] if self.first < 1 else []
        return f"two-views({', '.join(told)})" if told else "two-views"

    @property
    def reads_likeness(self) -> bool:
        """To know which to ask for first."""
        return self.first < 1

    def wanted(self, sheet: Sheet) -> Cells:
        """The claim whole; where that leaves it open, its statements."""
        choice = np.zeros_like(sheet.asked)
        choice[0] = self._next(sheet, 0) & ~sheet.asked[0]
        if not choice[0].any() and sheet.complete and len(sheet.scores) > 1:
            whole = self._row(sheet, 0)
            if whole is not None and _likeliest(whole) != ENTAILS:
                choice[1:] = [self._next(sheet, row) for row in range(1, len(sheet.scores))]
        return choice & ~sheet.asked

    def _next(self, sheet: Sheet, row: int) -> NDArray[np.bool_]:
        """The premises that a statement is put before, as far as is known by now."""
        everything = np.ones(sheet.asked.shape[1], dtype=bool)
        if sheet.likeness is None:
            return everything
        sentences = np.isin(np.arange(len(everything)), _alone(sheet))
        enough = max(2, ceil(self.first * int(sentences.sum())))
        order = ranks(np.where(sentences, sheet.likeness, -1.0))[row]
        early = (order < enough) | ~sentences
        heard = sheet.asked[row] & sentences
        if not heard[order < enough].all():
            return early
        deciding = sheet.scores[row][heard][:, [ENTAILS, CONTRADICTS]].max(initial=0.0)
        return early if deciding >= self.sure else everything

    def decide(self, sheet: Sheet) -> Outcome:
        """The claim whole, or its statements where they were asked; and what each source says by itself."""
        return self._decide(sheet)._replace(apart=_apart(sheet))

    def _decide(self, sheet: Sheet) -> Outcome:
        whole = self._outcome(sheet, 0)
        if len(sheet.scores) == 1 or not sheet.asked[1:].any():
            return whole
        parts = [self._outcome(sheet, row) for row in range(1, len(sheet.scores))]
        statements = tuple(map(as_statement, parts))
        told = {"statements": statements, "taken_apart": True, "native": _held(statements)}
        if all(part.label == "supported" for part in parts):
            weakest = min(parts, key=lambda part: part.probabilities["supported"])
            premises = tuple(dict.fromkeys(place for part in parts for place in part.premises))
            return weakest._replace(premises=premises, **told)
        against = [part for part in parts if part.label == "contradicted"]
        if against:
            worst = max(against, key=lambda part: part.probabilities["contradicted"])
            return worst._replace(**told)
        if any(part.label is None for part in parts):
            return Outcome(None, "failed", {}, (), statements, taken_apart=True)
        return whole._replace(**told)

    def _outcome(self, sheet: Sheet, row: int) -> Outcome:
        mean = self._row(sheet, row)
        if mean is None:
            failed = bool(sheet.failed[row].any())
            return Outcome(None, "failed", {}, ()) if failed else Outcome("irrelevant", "irrelevant", {}, ())
        column = _likeliest(mean)
        label = _LABELS[column]
        premises = () if column == NEUTRAL else self._carrying(sheet, row, column)
        return Outcome(label, label, named(mean), premises)

    def _row(self, sheet: Sheet, row: int) -> _Row | None:
        """Probabilities of a statement; None where a judgement that they need failed, or there is none."""
        places = _sentences(sheet, row)
        if not places or (sheet.failed[row] & sheet.asked[row]).any():
            return None
        alone = sheet.scores[row, places].astype(np.float64)
        told = np.array([alone[:, ENTAILS].max(), alone[:, CONTRADICTS].max(), alone[:, NEUTRAL].min()])
        logs = np.log(np.maximum(told / told.sum(), _LEAST))
        together = [place for place in sheet.places(TOGETHER) if sheet.asked[row, place] and place not in places]
        if together:
            joint = sheet.scores[row, together].astype(np.float64).mean(axis=0)
            logs = (logs + np.log(np.maximum(joint, _LEAST))) / 2
        return softmax(logs)

    def _carrying(self, sheet: Sheet, row: int, column: int) -> tuple[int, ...]:
        """The sentences that have the label by themselves, the strongest first; else the telling ones."""
        places = np.array(_sentences(sheet, row))
        scores = sheet.scores[row, places]
        own = places[scores.argmax(axis=1) == column]
        if len(own):
            ranked = own[np.argsort(-sheet.scores[row, own, column], kind="stable")]
            return tuple(int(place) for place in ranked[: self.evidence])
        return tuple(sheet.places(TOGETHER)[:1])


def _apart(sheet: Sheet) -> tuple[Label, ...]:
    """Of several sources the label of each by its own sentences: any entails the claim, else any contradicts it."""
    sources = sorted({role.source for role in sheet.roles if role.source is not None})
    if len(sources) < 2:
        return ()
    heard = sheet.asked[0] & ~sheet.failed[0]
    said = np.where(heard, sheet.scores[0].argmax(axis=1), NEUTRAL)
    labels: list[Label] = []
    for source in sources:
        own = {int(said[place]) for place, role in enumerate(sheet.roles) if role.source == source}
        labels.append(_LABELS[next((column for column in (ENTAILS, CONTRADICTS) if column in own), NEUTRAL)])
    return tuple(labels)


def _alone(sheet: Sheet) -> list[int]:
    """The premises that stand by themselves; all of them where a plan puts none together."""
    apart = [place for place, role in enumerate(sheet.roles) if role != TOGETHER]
    return apart or list(range(len(sheet.roles)))


def _sentences(sheet: Sheet, row: int) -> list[int]:
    """Those of them that a statement was put before."""
    return [place for place in _alone(sheet) if sheet.asked[row, place]]


def _likeliest(row: _Row) -> int:
    """The column of the largest; of equals irrelevance before contradiction before support, as each view has a veto."""
    return max((NEUTRAL, CONTRADICTS, ENTAILS), key=lambda column: round(float(row[column]), 9))


def _held(statements: tuple[StatementOutcome, ...]) -> str:
    return f"{sum(item.holds for item in statements)} of {len(statements)} statements"
