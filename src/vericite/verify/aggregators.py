"""Aggregators: combine the judgements of a case into a verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.records import Label
from vericite.text.acronyms import acronym_pairs
from vericite.text.labels import without_label
from vericite.text.marks import without_marks
from vericite.verify.judging import softmax
from vericite.verify.premises import Case
from vericite.verify.sheet import JOINT, Cells, Overlap, Role, Sheet

_EARLY = np.array([2, 5])
"""Premises of a statement that are asked at a time, until one entails it."""

_DECIDING: tuple[tuple[int, Label], ...] = ((ENTAILS, "supported"), (CONTRADICTS, "contradicted"))


class StatementOutcome(NamedTuple):
    """Result for one statement; no label if its judgement failed."""

    label: Label | None
    native: str
    holds: bool
    probabilities: dict[str, float]


class Outcome(NamedTuple):
    """A label, the protocol's own name for it, its probabilities and the premises that decide it.

    The label is None if it depends on a failed judgement. ``statements`` is set if there were several. ``redundant``
    are indices of sources; None if the aggregator does not ask or could not tell. ``split_after_failure``: statements
    were asked only because the claim failed as a whole. ``label_by_source``: the label of each of several sources by
    its own sentences, combined as in VeriCite, if the aggregator gives it.
    """

    label: Label | None
    native: str
    probabilities: dict[str, float]
    premises: tuple[int, ...]
    statements: tuple[StatementOutcome, ...] = ()
    redundant: tuple[int, ...] | None = None
    split_after_failure: bool = False
    label_by_source: tuple[Label, ...] = ()

    def ungraded(self) -> Outcome:
        """Return the outcome without probabilities, for a judge that has none."""
        statements = tuple(item._replace(probabilities={}) for item in self.statements)
        return self._replace(probabilities={}, statements=statements)


class Aggregator(Protocol):
    """Combines judgements. It sees only numbers and labels, no text.

    If ``reads_overlap`` is true, its sheets have the share of each statement's words in each premise.
    """

    @property
    def signature(self) -> str:
        """Name and settings, for provenance."""
        ...

    def wanted(self, sheet: Sheet) -> Cells:
        """Return the judgements to ask for next; none if it can decide."""
        ...

    def decide(self, sheet: Sheet) -> Outcome:
        """Decide over at least one statement and any number of premises."""
        ...


@dataclass(frozen=True)
class AnyEntails:
    """VeriCite's rule.

    Supported if any premise entails the claim, else contradicted if any contradicts it, else irrelevant.
    Of several statements all must be supported; one contradicted statement contradicts the claim.

    The returned premises are those with the deciding label, strongest first, at most ``evidence`` per statement.

    With ``early``, a few premises are asked at a time, in the order of shared words. It stops when one entails the
    statement with a probability too high to abstain. Label and abstention are the same; evidence and
    probabilities are those of the premises that were asked.
    """

    evidence: int = 3
    early: bool = False

    @property
    def signature(self) -> str:
        """Lists settings that differ from their defaults."""
        options = [f"evidence={self.evidence}"] if self.evidence != 3 else []
        options += ["early=True"] if self.early else []
        return f"any-entails({', '.join(options)})" if options else "any-entails"

    @property
    def reads_overlap(self) -> bool:
        """Whether the order of premises matters."""
        return self.early

    def wanted(self, sheet: Sheet) -> Cells:
        """Return everything at once, or the next few premises of each statement that is not yet entailed."""
        if not self.early or sheet.overlap is None:
            return ~sheet.asked
        entailed = (sheet.scores.argmax(axis=2) == ENTAILS) & sheet.asked & ~sheet.failed
        entailed &= sheet.scores[:, :, ENTAILS] >= sheet.sure
        judged = sheet.asked.sum(axis=1, keepdims=True)
        steps = np.append(_EARLY, sheet.asked.shape[1])
        limit = steps[(judged >= _EARLY).sum(axis=1, keepdims=True)]
        return (ranks(sheet.overlap) < limit) & ~sheet.asked & ~entailed.any(axis=1, keepdims=True)

    def decide(self, sheet: Sheet) -> Outcome:
        """Decide each statement by its premises, then the claim by its statements."""
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
        # A claim is as strong as its weakest statement.
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
                # The premise that failed might have entailed the claim.
                return None
        # No premise decided: show the one closest to deciding.
        nearest = int(rows[:, NEUTRAL].argmin())
        return Outcome("irrelevant", sheet.natives.get((row, nearest), "irrelevant"), named(rows[nearest]), ())


@dataclass(frozen=True)
class NuggetRule:
    """BioACE's rule over the nuggets of a claim and of a source; any contradiction wins.

    Otherwise the claim is supported if one of its nuggets is (paper's text), or with ``every`` if all are (its prompt).
    """

    every: bool = False

    @property
    def signature(self) -> str:
        """Includes ``every``."""
        return f"nuggets({'every' if self.every else 'any'})"

    def wanted(self, sheet: Sheet) -> Cells:
        """Return everything at once."""
        return ~sheet.asked

    def decide(self, sheet: Sheet) -> Outcome:
        """Decide each nugget of the claim by those of the source, then the claim by its nuggets."""
        outcomes = [self._nugget(sheet, row) for row in range(len(sheet.scores))]
        if not outcomes:
            raise ValueError("expected at least one statement; found none")
        statements = tuple(map(as_statement, outcomes)) if len(outcomes) > 1 else ()
        labels = {outcome.label if outcome else None for outcome in outcomes}
        supported = labels == {"supported"} if self.every else "supported" in labels
        label: Label = "contradicted" if "contradicted" in labels else "supported" if supported else "irrelevant"
        if None in labels and label != "contradicted":
            return Outcome(None, "failed", {}, (), statements)
        deciding = [outcome for outcome in outcomes if outcome and outcome.label == label]
        premises = dict.fromkeys(premise for outcome in deciding for premise in outcome.premises)
        return Outcome(label, deciding[0].native, deciding[0].probabilities, tuple(premises), statements)

    def _nugget(self, sheet: Sheet, row: int) -> Outcome | None:
        scores = sheet.scores[row]
        if not len(scores):
            return Outcome("irrelevant", "irrelevant", {}, ())
        winners = np.where(sheet.failed[row] | ~sheet.asked[row], -1, scores.argmax(axis=1))
        for column, label in reversed(_DECIDING):
            found = np.flatnonzero(winners == column)
            if len(found):
                best = int(found[scores[found, column].argmax()])
                return Outcome(label, sheet.natives.get((row, best), label), named(scores[best]), (best,))
            if sheet.failed[row].any():
                # The nugget that failed might have contradicted the claim.
                return None
        nearest = int(scores[:, NEUTRAL].argmin())
        return Outcome("irrelevant", sheet.natives.get((row, nearest), "irrelevant"), named(scores[nearest]), ())


@dataclass(frozen=True)
class LeaveOneOut:
    """ALCE's rule: all documents together, and the documents that the claim does not need.

    A document is not needed if it does not entail the claim alone and the others entail it without this document. This
    is only asked if several documents together entail the claim. If one of these judgements fails, the claim keeps its
    label, and ``redundant`` is None.
    """

    signature: str = "leave-one-out"

    def wanted(self, sheet: Sheet) -> Cells:
        """Return the documents together; then each alone; then the others without each insufficient one."""
        choice = np.zeros_like(sheet.asked)
        choice[:, [index for role in self._next(sheet) for index in sheet.indices(role)]] = True
        return choice & ~sheet.asked

    def _next(self, sheet: Sheet) -> list[Role]:
        if not _asked(sheet, JOINT):
            return [JOINT]
        if not sheet.entailed(JOINT):
            return []
        roles = [Role("alone", source) for source in _sources(sheet)]
        for source in _sources(sheet):
            alone = Role("alone", source)
            if _asked(sheet, alone) and sheet.entailed(alone) is False:
                roles.append(Role("without", source))
        return roles

    def decide(self, sheet: Sheet) -> Outcome:
        """Decide by the documents together, and list the documents that are not needed."""
        indices = sheet.indices(JOINT)
        together = AnyEntails().decide(sheet.only(indices))
        found = together._replace(premises=tuple(indices[premise] for premise in together.premises), redundant=())
        if found.label != "supported":
            return found
        redundant: list[int] = []
        for source in _sources(sheet):
            alone = sheet.entailed(Role("alone", source))
            others = sheet.entailed(Role("without", source)) if alone is False else False
            if alone is None or others is None:
                return found._replace(redundant=None)
            if others:
                redundant.append(source)
        return found._replace(redundant=tuple(redundant))


def _asked(sheet: Sheet, role: Role) -> bool:
    return bool(sheet.asked[:, sheet.indices(role)].all())


def _sources(sheet: Sheet) -> list[int]:
    """Return the sources that were also judged separately."""
    return sorted({role.source for role in sheet.roles if role.source is not None})


def as_statement(outcome: Outcome | None) -> StatementOutcome:
    """Convert the outcome of a statement; None if a judgement that it needs failed."""
    if outcome is None or outcome.label is None:
        return StatementOutcome(None, "failed", False, {})
    return StatementOutcome(outcome.label, outcome.native, outcome.label == "supported", outcome.probabilities)


def ranks(overlap: Overlap) -> NDArray[np.int64]:
    """Rank premises by overlap, largest first; ties in their order."""
    return np.argsort(np.argsort(-overlap, axis=1, kind="stable"), axis=1)


def named(row: NDArray[np.floating]) -> dict[str, float]:
    """Return probabilities by the verdict's label."""
    return {
        "supported": round(float(row[ENTAILS]), 6),
        "contradicted": round(float(row[CONTRADICTS]), 6),
        "irrelevant": round(float(row[NEUTRAL]), 6),
    }


_LABELS: dict[int, Label] = {ENTAILS: "supported", CONTRADICTS: "contradicted", NEUTRAL: "irrelevant"}
_LEAST = 1e-6
_Row = NDArray[np.float64]


@dataclass(frozen=True)
class TwoViews:
    """Two views decide by their mean: the most certain single sentence, and the assembled sentences together.

    The mean is of logarithms, so that each view can veto. Nothing is fitted: no fitted rule, with more views, the
    number of sentences or shared words, did better on claims it was not fitted on (docs/protocols.md).

    The first statement is the whole claim. If that is not supported, the other statements are asked. The claim is then
    supported if each of them is, and contradicted if one is.

    The returned premises are single sentences: those that have the label by themselves, else the assembled ones.

    With ``first`` below 1, only that share of the sentences is asked, those that share most words with the statement.
    The others are asked if none of these entails or contradicts it with a probability of at least ``sure``.
    """

    evidence: int = 3
    first: float = 1.0
    sure: float = 0.55

    @property
    def signature(self) -> str:
        """Lists settings that differ from their defaults."""
        options = [f"evidence={self.evidence}"] if self.evidence != 3 else []
        options += [f"first={self.first:g}", f"sure={self.sure:g}"] if self.first < 1 else []
        return f"two-views({', '.join(options)})" if options else "two-views"

    @property
    def reads_overlap(self) -> bool:
        """Whether the order of premises matters."""
        return self.first < 1

    def wanted(self, sheet: Sheet) -> Cells:
        """Return the cells of the whole claim; if that leaves it open, those of its statements."""
        choice = np.zeros_like(sheet.asked)
        choice[0] = self._next(sheet, 0) & ~sheet.asked[0]
        if not choice[0].any() and sheet.complete and len(sheet.scores) > 1:
            whole = self._row(sheet, 0)
            if whole is not None and _likeliest(whole) != ENTAILS:
                choice[1:] = [self._next(sheet, row) for row in range(1, len(sheet.scores))]
        return choice & ~sheet.asked

    def _next(self, sheet: Sheet, row: int) -> NDArray[np.bool_]:
        """Return the premises to ask for a statement, given the judgements so far."""
        everything = np.ones(sheet.asked.shape[1], dtype=bool)
        if sheet.overlap is None:
            return everything
        sentences = np.isin(np.arange(len(everything)), _alone(sheet))
        enough = max(2, ceil(self.first * int(sentences.sum())))
        order = ranks(np.where(sentences, sheet.overlap, -1.0))[row]
        early = (order < enough) | ~sentences
        judged = sheet.asked[row] & sentences
        if not judged[order < enough].all():
            return early
        deciding = sheet.scores[row][judged][:, [ENTAILS, CONTRADICTS]].max(initial=0.0)
        return early if deciding >= self.sure else everything

    def decide(self, sheet: Sheet) -> Outcome:
        """Decide by the whole claim, or by its statements if they were asked, and label each source separately."""
        return self._decide(sheet)._replace(label_by_source=_apart(sheet))

    def _decide(self, sheet: Sheet) -> Outcome:
        whole = self._outcome(sheet, 0)
        if len(sheet.scores) == 1 or not sheet.asked[1:].any():
            return whole
        parts = [self._outcome(sheet, row) for row in range(1, len(sheet.scores))]
        statements = tuple(map(as_statement, parts))
        partial = {"statements": statements, "split_after_failure": True, "native": _passed(statements)}
        if all(part.label == "supported" for part in parts):
            weakest = min(parts, key=lambda part: part.probabilities["supported"])
            premises = tuple(dict.fromkeys(index for part in parts for index in part.premises))
            return weakest._replace(premises=premises, **partial)
        against = [part for part in parts if part.label == "contradicted"]
        if against:
            worst = max(against, key=lambda part: part.probabilities["contradicted"])
            return worst._replace(**partial)
        if any(part.label is None for part in parts):
            return Outcome(None, "failed", {}, (), statements, split_after_failure=True)
        return whole._replace(**partial)

    def _outcome(self, sheet: Sheet, row: int) -> Outcome:
        mean = self._row(sheet, row)
        if mean is None:
            failed = bool(sheet.failed[row].any())
            return Outcome(None, "failed", {}, ()) if failed else Outcome("irrelevant", "irrelevant", {}, ())
        column = _likeliest(mean)
        label = _LABELS[column]
        premises = () if column == NEUTRAL else self._carrying(sheet, row, column)
        return Outcome(label, label, named(mean), premises)

    def whole(self, sheet: Sheet) -> _Row | None:
        """Return the probabilities of the whole claim, without its statements."""
        return self._row(sheet, 0)

    def _row(self, sheet: Sheet, row: int) -> _Row | None:
        """Return the probabilities of a statement; None if there are none or a judgement that they need failed."""
        indices = _sentences(sheet, row)
        if not indices or (sheet.failed[row] & sheet.asked[row]).any():
            return None
        alone = sheet.scores[row, indices].astype(np.float64)
        strongest = np.array([alone[:, ENTAILS].max(), alone[:, CONTRADICTS].max(), alone[:, NEUTRAL].min()])
        logs = np.log(np.maximum(strongest / strongest.sum(), _LEAST))
        together = [index for index in sheet.indices(JOINT) if sheet.asked[row, index] and index not in indices]
        if together:
            joint = sheet.scores[row, together].astype(np.float64).mean(axis=0)
            logs = (logs + np.log(np.maximum(joint, _LEAST))) / 2
        return softmax(logs)

    def _carrying(self, sheet: Sheet, row: int, column: int) -> tuple[int, ...]:
        """Return the sentences that have the label by themselves, strongest first; else the assembled ones."""
        indices = np.array(_sentences(sheet, row))
        scores = sheet.scores[row, indices]
        own = indices[scores.argmax(axis=1) == column]
        if len(own):
            ranked = own[np.argsort(-sheet.scores[row, own, column], kind="stable")]
            return tuple(int(index) for index in ranked[: self.evidence])
        return tuple(sheet.indices(JOINT)[:1])


def _apart(sheet: Sheet) -> tuple[Label, ...]:
    """Label each of several sources by its own sentences: any entails the claim, else any contradicts it."""
    sources = sorted({role.source for role in sheet.roles if role.source is not None})
    if len(sources) < 2:
        return ()
    judged = sheet.asked[0] & ~sheet.failed[0]
    winners = np.where(judged, sheet.scores[0].argmax(axis=1), NEUTRAL)
    labels: list[Label] = []
    for source in sources:
        own = {int(winners[index]) for index, role in enumerate(sheet.roles) if role.source == source}
        labels.append(_LABELS[next((column for column in (ENTAILS, CONTRADICTS) if column in own), NEUTRAL)])
    return tuple(labels)


def _alone(sheet: Sheet) -> list[int]:
    """Return the single sentences of sources that are not silent; all premises if the plan assembles none."""
    apart = [index for index, role in enumerate(sheet.roles) if role != JOINT and role.source not in sheet.silent]
    return apart or list(range(len(sheet.roles)))


def _sentences(sheet: Sheet, row: int) -> list[int]:
    """Return the single sentences that were asked for a statement."""
    return [index for index in _alone(sheet) if sheet.asked[row, index]]


def _likeliest(row: _Row) -> int:
    """Return the column of the largest probability; ties: irrelevance, then contradiction, as each view has a veto."""
    return max((NEUTRAL, CONTRADICTS, ENTAILS), key=lambda column: round(float(row[column]), 9))


def _passed(statements: tuple[StatementOutcome, ...]) -> str:
    return f"{sum(item.holds for item in statements)} of {len(statements)} statements"


CATEGORIES = {
    "CORRECT-EXPLICIT": ENTAILS,
    "CORRECT-IMPLICIT": ENTAILS,
    "CORRECT-ADDITIONAL": NEUTRAL,
    "CORRECT-MISSING": NEUTRAL,
    "INCORRECT-FALSE": CONTRADICTS,
    "INCORRECT-DEVIATING": NEUTRAL,
    "INCORRECT-ILLOGICAL": NEUTRAL,
    "INCORRECT-MISSING": NEUTRAL,
}
"""Category to column; the prompt ``judges/prompts/eight.toml`` defines the categories.

Only the first two are support by the sources. The paper counts all four CORRECT categories as faithful. A citation
checker cannot, so the common label and the paper's count are kept separately.
"""

UNREACHABLE = tuple(name for name, column in CATEGORIES.items() if column == NEUTRAL)
"""Categories that a judge of entailment cannot tell apart: what the documents neither say nor contradict.

The documents do not tell whether such a statement is right, wrong, irrelevant or illogical.
"""

CORRECT, INCORRECT = "CORRECT", "INCORRECT"


@dataclass(frozen=True)
class Faithfulness:
    """Faith(R): the statements of a claim that are in a CORRECT category.

    The claim is CORRECT if all are. For a judge without these categories, entailed statements count as faithful.
    """

    signature: str = "faith"

    def wanted(self, sheet: Sheet) -> Cells:
        """Return everything at once."""
        return ~sheet.asked

    def decide(self, sheet: Sheet) -> Outcome:
        """Decide the common label by the worst statement, the paper's by its categories."""
        found = AnyEntails().decide(sheet)
        alone = StatementOutcome(found.label, found.native, found.label == "supported", found.probabilities)
        statements = tuple(_counted(item) for item in found.statements or (alone,))
        native = CORRECT if all(item.holds for item in statements) else INCORRECT
        return found._replace(native=found.native if found.label is None else native, statements=statements)


def _counted(statement: StatementOutcome) -> StatementOutcome:
    if statement.native not in CATEGORIES:
        return statement
    return statement._replace(holds=statement.native.startswith(CORRECT))


QUOTES = "quotes.v5"
"""Signature of the rules for quotations; changes whenever they would decide differently."""
_SPACE = re.compile(r"\s+")


def quoted(claim: str, case: Case) -> int | None:
    """Return the premise that equals the claim word for word; None if there is none.

    The whole premise must match, except for a label of a section: "it is a myth that zinc helps" does not quote
    "zinc helps", and a question states nothing. Ignored are case, spaces, the full stop, the source's own reference
    marks, and long forms in brackets that a cited document itself gives for the abbreviation.
    """
    quote = _normalized(without_label(_as_written(claim, case) if " [" in claim else claim))
    if len(quote.split()) < 2:
        return None
    for index, premise in enumerate(case.premises):
        for text in dict.fromkeys((premise.text, _unmarked(premise.text))):
            if quote == _normalized(without_label(text)):
                return index
    return None


_unmarked = lru_cache(maxsize=4096)(without_marks)


def _as_written(claim: str, case: Case) -> str:
    """Remove the long forms that an extractive answer adds to abbreviations."""
    for document in case.documents:
        for pair in acronym_pairs(document.titled_text):
            claim = claim.replace(f"{pair.singular} [{pair.long}]", pair.singular)
    return claim


def quotation(index: int) -> Outcome:
    """Return the outcome for a quoted claim. It has no probabilities, as no judge was asked."""
    return Outcome("supported", "quoted", {}, (index,))


def _normalized(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower().removesuffix(".")
