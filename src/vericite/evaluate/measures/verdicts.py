"""Whether citations and the statements of rationales hold, counted of the verdicts of ``vericite check``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from vericite.errors import UnknownNameError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import (
    NOTHING,
    Averaged,
    Counted,
    CountInAnswer,
    Counts,
    Family,
    Need,
    Parts,
    Source,
    Sourced,
    Uncited,
    one,
)
from vericite.evaluate.rates import SHARES
from vericite.evaluate.resampling import Floats, ratio
from vericite.records import Answer, CheckedAnswer, StatementVerdict, Summary, Verdict
from vericite.verify.aggregators import CATEGORIES, CORRECT, INCORRECT, Faithfulness, LeaveOneOut


def leaves_one_out(checked: CheckedAnswer) -> bool:
    """Whether documents were left out one at a time, so that ALCE's rates are known."""
    # An answer that cites nothing has no verdict to tell it by.
    made = f"aggregate={LeaveOneOut().signature}" in (checked.provenance.protocol or "")
    return made or any(verdict.unneeded is not None for verdict in checked.verdicts)


@dataclass(frozen=True, repr=False)
class VerdictRate(Counted):
    """A rate that ``vericite check`` prints: one definition for both."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("verdicts",)
    rate: ClassVar[str]
    """Its name in ``SHARES``."""

    by: Literal["pair", "question"] = "pair"

    def counts(self, item: Item) -> Counts | None:
        """What the verdicts on an answer add up to."""
        if item.judged is None:
            return None
        return SHARES[self.rate].counts(item.judged.summary)


class SupportRate(VerdictRate):
    """Citations that support their sentence, over those judged.

    As in VeriCite's paper each pair of a sentence and a document it cites counts once, over all answers; under
    protocols that judge documents together each sentence does. Dangling citations, and those that were abstained from
    or could not be judged, are not counted. By question: the mean of each answer's own rate.
    """

    name = "SupportRate"
    difference_words = ("supported citations", "supports", "more citations")
    rate = "supported"


class ContradictedRate(VerdictRate):
    """Citations that contradict their sentence, over those judged.

    Counted as in ``SupportRate``, with which it and ``IrrelevantRate`` add up to 1 where pairs are pooled.
    """

    name = "ContradictedRate"
    difference_words = ("contradicted citations", "has", "more contradicted citations")
    rate = "contradicted"
    higher_is_better = False


class IrrelevantRate(VerdictRate):
    """Citations that neither support nor contradict their sentence, over those judged.

    Counted as in ``SupportRate``.
    """

    name = "IrrelevantRate"
    difference_words = ("irrelevant citations", "has", "more irrelevant citations")
    rate = "irrelevant"
    higher_is_better = False


class DanglingRate(VerdictRate):
    """Citations of documents that do not exist, over all citations.

    A citation is a pair of a sentence and a document, or a marker that points at none.
    """

    name = "DanglingRate"
    difference_words = ("dangling citations", "has", "more dangling citations")
    rate = "dangling"
    higher_is_better = False


@dataclass(frozen=True, repr=False)
class CitationCount(Counted):
    """What an answer cites, which takes no judge."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("answer",)

    by: Literal["pair", "question"] = "pair"

    def counts(self, item: Item) -> Counts | None:
        """From the answer, or from what was counted when it was checked."""
        if item.given is not None:
            return self._counted(Summary.of(item.given, (), ()))
        return None if item.judged is None else self._counted(item.judged.summary)

    @abstractmethod
    def _counted(self, summary: Summary) -> Counts:
        """What is counted, and out of what."""


class UncitedRate(CitationCount):
    """Sentences that cite nothing, over all sentences.

    A sentence that cites only documents that do not exist is not counted as uncited.
    """

    name = "UncitedRate"
    difference_words = ("uncited sentences", "leaves", "more sentences uncited")
    higher_is_better = False

    def _counted(self, summary: Summary) -> Counts:
        return SHARES["uncited"].counts(summary)


class AbstainedRate(VerdictRate):
    """Cases that the judge was too unsure of to count, over all cases.

    A case is a pair of a sentence and a document, or a sentence where documents are judged together.
    """

    name = "AbstainedRate"
    rate = "abstained"
    higher_is_better = None


class FailedRate(VerdictRate):
    """Cases that could not be judged, over all cases.

    A case is a pair of a sentence and a document, or a sentence where documents are judged together.
    """

    name = "FailedRate"
    rate = "failed"
    higher_is_better = False


class CitationsPerSentence(CitationCount):
    """Citations, over sentences.

    A citation is a pair of a sentence and a document, or a marker that points at none.
    """

    name = "CitationsPerSentence"
    share = False
    unit = "citations a sentence"
    higher_is_better = None

    def _counted(self, summary: Summary) -> Counts:
        return summary.citations, summary.claims


class UniqueDocuments(CountInAnswer):
    """Different documents that an answer cites, on average.

    A document cited in several sentences counts once, and a marker that points at none does not count. An answer that
    cites nothing has 0.
    """

    name = "UniqueDocuments"
    family = "citation"
    unit = "documents"

    def count(self, answer: Answer) -> int:
        """How many documents the answer cites."""
        cited = {citation.document for claim in answer.claims for citation in claim.citations}
        return len(cited - {None})


@dataclass(frozen=True, repr=False)
class AlceRate(Counted):
    """A rate of verdicts that tell which citations a sentence does not need."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("verdicts",)

    by: Literal["question", "pair"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """None where the protocol does not leave documents out."""
        checked = item.judged
        if checked is None or not leaves_one_out(checked):
            return None
        return self._of_sentences(checked)

    @abstractmethod
    def _of_sentences(self, checked: CheckedAnswer) -> Counts:
        """Counts of an answer; a citation of a document that does not exist spoils its sentence."""


@dataclass(frozen=True, repr=False)
class AlceRecall(AlceRate):
    """Sentences that all they cite together supports, over sentences (protocol alce).

    ALCE's citation recall (Gao et al. 2023, arXiv 2305.14627) and the rules of its script: the mean over answers, a
    sentence that cites nothing is not supported, and neither is one with a citation of a document that does not exist.
    ``vericite check`` prints this figure too. ``AlceRecall(by='pair')`` is pooled over sentences.

    The script looks at the first three citations of a sentence and the first line of an answer only; here all count.
    Sentences that were abstained from or could not be judged are left out.
    """

    name = "AlceRecall"

    def _of_sentences(self, checked: CheckedAnswer) -> Counts:
        sentences = _sentences(checked)
        supported = sum(verdict.label == "supported" for verdict in sentences.decided)
        return supported, checked.summary.claims - len(sentences.open_)


@dataclass(frozen=True, repr=False)
class AlcePrecision(AlceRate):
    """Citations that their sentence needs or that support it alone, over citations (protocol alce).

    ALCE's citation precision (Gao et al. 2023, arXiv 2305.14627) and the rules of its script: a citation counts where
    all that its sentence cites together supports it, unless it does not support the sentence alone and the others do
    without it. The mean over answers; one without a citation has 0 (``uncited='empty'``: nothing to count). Citations
    of a sentence that also cites a document that does not exist are not counted. ``vericite check`` prints this figure
    too. ``AlcePrecision(by='pair')`` is pooled over citations.

    The script looks at the first three citations of a sentence only, and counts a document cited twice in it twice;
    here all count, each document once a sentence.
    """

    name = "AlcePrecision"

    uncited: Uncited = "wrong"

    def _of_sentences(self, checked: CheckedAnswer) -> Counts:
        tested = [verdict for verdict in _sentences(checked).decided if verdict.unneeded is not None]
        needed = sum(len(it.documents) - len(it.unneeded or ()) for it in tested if it.label == "supported")
        return needed, sum(len(verdict.documents) for verdict in tested)

    def uncounted(self, item: Item) -> Parts:
        """0 where it cites nothing that counts; nothing to count where citations could not be judged."""
        checked = item.judged
        open_ = (
            checked is None
            or _sentences(checked).open_
            or any(it.unneeded is None and it.label != "dangling" for it in checked.verdicts)
        )
        return NOTHING if open_ or self.uncited == "empty" else one(0.0)


@dataclass(frozen=True, repr=False)
class AlceF1(Averaged):
    """Harmonic mean of ALCE's citation recall and precision (protocol alce).

    The mean of each answer's own, or with ``by='pair'`` of the pooled rates.
    It is 0 where no sentence is supported, also where nothing is cited.
    """

    name = "AlceF1"
    family = "citation"
    needs = ("verdicts",)

    by: Literal["question", "pair"] = "question"

    @property
    def width(self) -> int:
        """What two rates count and are counted out of; of a question its own figure."""
        return 2 if self.by == "question" else 4

    def parts(self, item: Item) -> Parts | None:
        """The parts of both rates."""
        rates = [kind().counts(item) for kind in (AlceRecall, AlcePrecision)]
        if rates[0] is None or rates[1] is None:
            return None
        parts = (*rates[0], *rates[1])
        if self.by == "pair":
            return parts
        found = float(_harmonic(np.array(parts)))
        return NOTHING if np.isnan(found) else one(found)

    def statistic(self, sums: Floats) -> Floats:
        """From the parts of both rates, or as a mean."""
        return ratio(sums) if self.by == "question" else _harmonic(sums)


class _Sentences(NamedTuple):
    """An answer's sentences as ALCE's script takes them, but for those with a dangling citation.

    Attributes:
        decided: The verdicts on them.
        open_: Where those stand that were abstained from or could not be judged.
    """

    decided: list[Verdict]
    open_: set[tuple[int, int]]


def _sentences(checked: CheckedAnswer) -> _Sentences:
    spoiled = {(it.start, it.end) for it in checked.verdicts if it.label == "dangling"}
    verdicts = [it for it in checked.verdicts if (it.start, it.end) not in spoiled]
    decided = [it for it in verdicts if not it.abstained]
    open_ = {(it.start, it.end) for it in (*checked.failures, *(it for it in verdicts if it.abstained))}
    return _Sentences(decided, open_ - spoiled)


def _harmonic(sums: Floats) -> Floats:
    with np.errstate(all="ignore"):
        recall, precision = sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]
        mean = 2 * recall * precision / (recall + precision)
    return np.where(recall == 0, 0.0, mean)


def judges_rationales(checked: CheckedAnswer) -> bool:
    """Whether statements were judged by Reason and Verify's rule."""
    # An answer without a judged claim has no verdict to tell it by.
    made = f"aggregate={Faithfulness().signature}" in (checked.provenance.protocol or "")
    return made or any(verdict.native in (CORRECT, INCORRECT) for verdict in checked.verdicts)


def judged_statements(checked: CheckedAnswer) -> list[StatementVerdict]:
    """The statements that ``Summary.statements`` counts."""
    decided = [it for it in checked.verdicts if not it.abstained and not it.taken_apart]
    return [one for it in (*decided, *checked.failures) for one in it.statements if one.label is not None]


def _judged(item: Item) -> CheckedAnswer | None:
    """The verdicts on a rationale: a run's own, else those on an answer that were made by the rule for rationales."""
    judged = item.reasoned or item.judged
    return judged if judged is not None and judges_rationales(judged) else None


@dataclass(frozen=True, repr=False)
class StatementShare(Sourced):
    """The share of a rationale's statements that are in some of the categories."""

    family: ClassVar[Family] = "rationale"
    needs: ClassVar[tuple[Need, ...]] = ("verdicts",)

    by: Literal["statement", "question"] = "statement"
    source: Source = "verdicts"

    @abstractmethod
    def _counted(self, category: str) -> bool:
        """Whether a category counts."""

    def _of_labels(self, item: Item) -> Counts | None:
        if item.labels is None or item.labels.rationale is None:
            return None
        return self._share([category for category in item.labels.rationale if category is not None])

    def _share(self, categories: Sequence[str]) -> Counts | None:
        """None where one is no category, so that nothing is known of its statement."""
        if not CATEGORIES.keys() >= set(categories):
            return None
        return sum(map(self._counted, categories)), len(categories)


class Faith(StatementShare):
    """Statements that are correct (in one of the four CORRECT categories), over statements judged.

    Faith(R) of Reason and Verify (Khan et al. 2026, arXiv 2603.10143), of verdicts under protocol reason-verify or with
    ``source='labels'`` of ``Labels.rationale``. A judge without the paper's categories counts what it finds entailed.
    Pooled over statements, or with ``by='question'`` the mean over rationales.
    """

    name = "Faith"

    def _counted(self, category: str) -> bool:
        return category.startswith(CORRECT)

    def _of_verdicts(self, item: Item) -> Counts | None:
        judged = _judged(item)
        return None if judged is None else SHARES["statements that hold"].counts(judged.summary)


@dataclass(frozen=True, repr=False)
class CategoryShare(StatementShare):
    """Statements in one of Reason and Verify's eight categories, over statements judged.

    The categories of Khan et al. 2026 (arXiv 2603.10143), such as ``category='INCORRECT-FALSE'``; missing where the
    judge knows no categories. Counted as ``Faith``.
    """

    name = "CategoryShare"
    higher_is_better = None
    in_all = False

    category: str = "CORRECT-EXPLICIT"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.category not in CATEGORIES:
            raise UnknownNameError("category", self.category, CATEGORIES)

    def _counted(self, category: str) -> bool:
        return category == self.category

    def _of_verdicts(self, item: Item) -> Counts | None:
        judged = _judged(item)
        return None if judged is None else self._share([statement.native for statement in judged_statements(judged)])
