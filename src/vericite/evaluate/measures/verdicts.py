"""Measures of citations and rationales, computed from the verdicts of ``vericite check``."""

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
    own_score,
)
from vericite.evaluate.rates import SHARES
from vericite.evaluate.resampling import Floats, ratio
from vericite.pipeline.others import ASKED_OTHERS
from vericite.records import Answer, CheckedAnswer, StatementVerdict, Summary, Verdict
from vericite.text.designs import Design
from vericite.verify.aggregators import CATEGORIES, CORRECT, INCORRECT, Faithfulness, LeaveOneOut


def leaves_one_out(checked: CheckedAnswer) -> bool:
    """Whether documents were left out one at a time, so that ALCE's rates are defined."""
    # The protocol decides too, because an answer without citations has no verdicts.
    made = f"aggregate={LeaveOneOut().signature}" in (checked.provenance.protocol or "")
    return made or any(verdict.redundant is not None for verdict in checked.verdicts)


@dataclass(frozen=True, repr=False)
class VerdictRate(Counted):
    """A rate that ``vericite check`` prints, with the same definition."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("verdicts",)
    rate: ClassVar[str]
    """The name in ``SHARES``."""

    by: Literal["pair", "question"] = "pair"

    def counts(self, item: Item) -> Counts | None:
        """Return the counts from the verdicts on an answer."""
        if item.judged is None:
            return None
        return SHARES[self.rate].counts(item.judged.summary)


@dataclass(frozen=True, repr=False)
class JudgedRate(VerdictRate):
    """A share of judged citations, of all or of those of documents with one study design."""

    design: Design | Literal["none"] | None = None
    """Only citations of documents with this design; ``none``: of those that name none."""

    def counts(self, item: Item) -> Counts | None:
        """Return the counts; None for a design without the documents that the answer cites."""
        if self.design is None:
            return super().counts(item)
        if item.judged is None or item.answer is None:
            return None
        return self._of_cases([verdict for verdict in counted(item.judged) if self.design in designs_of(item, verdict)])

    def _of_cases(self, cases: Sequence[Verdict]) -> Counts:
        return sum(map(self._has, cases)), len(cases)

    def _has(self, verdict: Verdict) -> bool:
        """Whether a verdict is counted in the numerator."""
        return verdict.label == self.rate


def counted(checked: CheckedAnswer) -> list[Verdict]:
    """Return the verdicts that ``Summary.judged`` counts."""
    return [verdict for verdict in checked.verdicts if checked.kind_of(verdict) in _JUDGED]


_JUDGED = frozenset({"supported", "contradicted", "irrelevant"})


def designs_of(item: Item, verdict: Verdict) -> set[str]:
    """Return the designs of a verdict's documents; ``none`` for a document that names none."""
    return {item.designs.get(id) or "none" for id in verdict.documents}


class SupportRate(JudgedRate):
    """Share of judged citations that support their sentence.

    As in the VeriCite paper, each pair of a sentence and a cited document counts once, over all answers. Under
    protocols that judge documents together, each sentence counts once. Dangling citations, abstentions and failures are
    not counted. With ``by='question'`` it is the mean of the answers' own rates. With ``design='randomised trial'``
    only citations of randomised trials count; ``score --by design`` shows all designs. Documents that are judged
    together count for each of their designs.
    """

    name = "SupportRate"
    difference_words = ("supported citations", "supports", "more citations")
    rate = "supported"


class ContradictedRate(JudgedRate):
    """Share of judged citations that contradict their sentence.

    Counted like ``SupportRate``. Pooled over pairs, the two and ``IrrelevantRate`` add up to 1.
    """

    name = "ContradictedRate"
    difference_words = ("contradicted citations", "has", "more contradicted citations")
    rate = "contradicted"
    higher_is_better = False


class IrrelevantRate(JudgedRate):
    """Share of judged citations that neither support nor contradict their sentence.

    Counted like ``SupportRate``.
    """

    name = "IrrelevantRate"
    difference_words = ("irrelevant citations", "has", "more irrelevant citations")
    rate = "irrelevant"
    higher_is_better = False


class PartlySupportedRate(JudgedRate):
    """Share of judged citations whose sentence is partly supported, whatever their label.

    An answer whose verdicts have no degree, as in older files, counts as missing.
    """

    name = "PartlySupportedRate"
    difference_words = ("partly supported citations", "has", "more partly supported citations")
    higher_is_better = None

    def counts(self, item: Item) -> Counts | None:
        """Return the counts from the degrees of verdicts; None if one is unknown."""
        cases = [] if item.judged is None else counted(item.judged)
        if item.judged is None or any(verdict.degree is None for verdict in cases):
            return None
        return self._of_cases(cases) if self.design is None else super().counts(item)

    def _has(self, verdict: Verdict) -> bool:
        return verdict.degree == "partly supported"


@dataclass(frozen=True, repr=False)
class ContradictedElsewhereRate(Counted):
    """Share of sentences that an article of a corpus contradicts, whatever they cite.

    It needs the articles of ``vericite evidence ANSWERS --json`` as ``evidence.jsonl``. A sentence that could not be
    searched for or judged is not counted. With ``unsupported=True`` only sentences count as contradicted that no
    article supports.
    """

    name = "ContradictedElsewhereRate"
    family = "citation"
    needs = ("articles",)
    difference_words = ("sentences contradicted elsewhere", "has", "more sentences contradicted elsewhere")
    higher_is_better = False

    by: Literal["sentence", "question"] = "sentence"
    unsupported: bool = False

    def counts(self, item: Item) -> Counts | None:
        """Return the number of contradicted sentences and of all that were searched for."""
        if item.articles is None:
            return None
        searched = [sentence for sentence in item.articles.sentences if sentence.failed is None]
        contradicted = [found for found in searched if found.contradicting]
        return sum(not (self.unsupported and found.supporting) for found in contradicted), len(searched)


class MisattributedRate(VerdictRate):
    """Share of judged citations whose sentence is supported by another source of the answer instead.

    No cited source supports such a sentence. It needs verdicts of ``check`` with ``check.explain``. With
    ``NoSourceRate`` and ``SupportRate`` it adds up to 1, except for sentences that only some of their sources support.
    """

    name = "MisattributedRate"
    difference_words = ("misattributed citations", "has", "more misattributed citations")
    rate = "misattributed"
    higher_is_better = False

    def counts(self, item: Item) -> Counts | None:
        """Return the counts; None if other sources were not asked."""
        asked = item.judged is not None and ASKED_OTHERS in item.judged.provenance.parts
        return super().counts(item) if asked else None


class NoSourceRate(MisattributedRate):
    """Share of judged citations whose sentence no source of the answer supports.

    ``ContradictedRate`` and ``IrrelevantRate`` together, less ``MisattributedRate``.
    """

    name = "NoSourceRate"
    difference_words = ("citations without any support", "has", "more citations without any support")

    def counts(self, item: Item) -> Counts | None:
        """Return the counts; None if other sources were not asked."""
        found = super().counts(item)
        if found is None or item.judged is None:
            return None
        misattributed, judged = found
        return judged - item.judged.summary.supported - misattributed, judged


class DanglingRate(VerdictRate):
    """Share of citations whose document does not exist.

    A citation is a pair of a sentence and a document, or a marker without a document.
    """

    name = "DanglingRate"
    difference_words = ("dangling citations", "has", "more dangling citations")
    rate = "dangling"
    higher_is_better = False


@dataclass(frozen=True, repr=False)
class CitationCount(Counted):
    """A count of citations, which needs no judge."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("answer",)

    by: Literal["pair", "question"] = "pair"

    def counts(self, item: Item) -> Counts | None:
        """Return the counts from the answer, or from the summary of its verdicts."""
        if item.given is not None:
            return self._counted(Summary.of(item.given, (), ()))
        return None if item.judged is None else self._counted(item.judged.summary)

    @abstractmethod
    def _counted(self, summary: Summary) -> Counts:
        """Return the numerator and the denominator."""


class UncitedRate(CitationCount):
    """Share of sentences that cite nothing.

    A sentence that cites only documents that do not exist does not count as uncited.
    """

    name = "UncitedRate"
    difference_words = ("uncited sentences", "leaves", "more sentences uncited")
    higher_is_better = False

    def _counted(self, summary: Summary) -> Counts:
        return SHARES["uncited"].counts(summary)


class AbstainedRate(VerdictRate):
    """Share of cases in which the judge abstained.

    A case is a pair of a sentence and a document, or a sentence if documents are judged together.
    """

    name = "AbstainedRate"
    rate = "abstained"
    higher_is_better = None


class FailedRate(VerdictRate):
    """Share of cases that could not be judged.

    A case is a pair of a sentence and a document, or a sentence if documents are judged together.
    """

    name = "FailedRate"
    rate = "failed"
    higher_is_better = False


class CitationsPerSentence(CitationCount):
    """Number of citations per sentence.

    A citation is a pair of a sentence and a document, or a marker without a document.
    """

    name = "CitationsPerSentence"
    share = False
    unit = "citations per sentence"
    higher_is_better = None

    def _counted(self, summary: Summary) -> Counts:
        return summary.citations, summary.claims


class UniqueDocuments(CountInAnswer):
    """Number of distinct documents that an answer cites.

    A document cited in several sentences counts once; a marker without a document does not count. An answer that cites
    nothing scores 0. The mean over answers.
    """

    name = "UniqueDocuments"
    family = "citation"
    unit = "documents"

    def count(self, answer: Answer) -> int:
        """Return the number of documents that the answer cites."""
        cited = {citation.document for claim in answer.claims for citation in claim.citations}
        return len(cited - {None})


@dataclass(frozen=True, repr=False)
class AlceRate(Counted):
    """A rate from verdicts that say which citations a sentence does not need."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("verdicts",)

    by: Literal["question", "pair"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Return the counts; None if the protocol does not leave documents out."""
        checked = item.judged
        if checked is None or not leaves_one_out(checked):
            return None
        return self._of_sentences(checked)

    @abstractmethod
    def _of_sentences(self, checked: CheckedAnswer) -> Counts:
        """Return the counts of an answer; a sentence that cites a non-existent document does not count as supported."""


@dataclass(frozen=True, repr=False)
class AlceRecall(AlceRate):
    """Share of sentences supported by all their citations together (protocol alce).

    ALCE's citation recall (Gao et al. 2023, arXiv 2305.14627), with the rules of its script: the mean over answers,
    where a sentence that cites nothing or a non-existent document is not supported. ``vericite check`` prints this
    figure too. ``AlceRecall(by='pair')`` is pooled over sentences.

    The script uses only the first three citations of a sentence and the first line of an answer; here all count.
    Sentences with abstentions or failures are left out, and so are the quotations of an answer made of them.
    """

    name = "AlceRecall"

    def _of_sentences(self, checked: CheckedAnswer) -> Counts:
        sentences = _sentences(checked)
        supported = sum(verdict.label == "supported" for verdict in sentences.decided)
        return supported, checked.summary.claims - len(sentences.undecided)


@dataclass(frozen=True, repr=False)
class AlcePrecision(AlceRate):
    """Share of citations that their sentence needs or that support it alone (protocol alce).

    ALCE's citation precision (Gao et al. 2023, arXiv 2305.14627), with the rules of its script. A citation counts if
    all citations of its sentence together support it, unless it does not support the sentence alone and the others do
    so without it. The mean over answers; an answer without citations scores 0 (``uncited='empty'``: nothing to count).
    Citations of a sentence that also cites a non-existent document are not counted. ``vericite check`` prints this
    figure too. ``AlcePrecision(by='pair')`` is pooled over citations.

    The script uses only the first three citations of a sentence, and counts a repeated document twice. Here all
    citations count, each document once per sentence.
    """

    name = "AlcePrecision"

    uncited: Uncited = "wrong"

    def _of_sentences(self, checked: CheckedAnswer) -> Counts:
        tested = [verdict for verdict in _sentences(checked).decided if verdict.redundant is not None]
        needed = sum(
            len(verdict.documents) - len(verdict.redundant or ()) for verdict in tested if verdict.label == "supported"
        )
        return needed, sum(len(verdict.documents) for verdict in tested)

    def uncounted(self, item: Item) -> Parts:
        """Return 0 for an answer without valid citations; if citations were not judged, there is nothing to count."""
        checked = item.judged
        undecided = (
            checked is None
            or _sentences(checked).undecided
            or any(verdict.redundant is None and verdict.label != "dangling" for verdict in checked.verdicts)
        )
        return NOTHING if undecided or self.uncited == "empty" else own_score(0.0)


@dataclass(frozen=True, repr=False)
class AlceF1(Averaged):
    """Harmonic mean of ALCE's citation recall and precision (protocol alce).

    The mean of the answers' own F1, or with ``by='pair'`` the F1 of the pooled rates. It is 0 if no sentence is
    supported, even if nothing is cited.
    """

    name = "AlceF1"
    family = "citation"
    needs = ("verdicts",)

    by: Literal["question", "pair"] = "question"

    @property
    def width(self) -> int:
        """The number of sums: two counts for each of the two rates if pooled."""
        return 2 if self.by == "question" else 4

    def parts(self, item: Item) -> Parts | None:
        """Return the parts of both rates, or the answer's own F1."""
        rates = [kind().counts(item) for kind in (AlceRecall, AlcePrecision)]
        if rates[0] is None or rates[1] is None:
            return None
        parts = (*rates[0], *rates[1])
        if self.by == "pair":
            return parts
        found = float(_harmonic(np.array(parts)))
        return NOTHING if np.isnan(found) else own_score(found)

    def statistic(self, sums: Floats) -> Floats:
        """Return F1 from the parts of both rates, or the mean."""
        return ratio(sums) if self.by == "question" else _harmonic(sums)


class _Sentences(NamedTuple):
    """The sentences that ALCE's script evaluates: those without a dangling citation.

    Attributes:
        decided: The verdicts without abstentions.
        undecided: The spans of sentences with an abstention or failure.
    """

    decided: list[Verdict]
    undecided: set[tuple[int, int]]


def _sentences(checked: CheckedAnswer) -> _Sentences:
    dangling = {(verdict.start, verdict.end) for verdict in checked.verdicts if verdict.label == "dangling"}
    verdicts = [verdict for verdict in checked.verdicts if (verdict.start, verdict.end) not in dangling]
    # A quotation supports itself, and says nothing about the answer.
    kinds = [checked.kind_of(verdict) in ("abstained", "quoted") for verdict in verdicts]
    decided = [verdict for verdict, is_left_out in zip(verdicts, kinds, strict=True) if not is_left_out]
    left_out = [verdict for verdict, is_left_out in zip(verdicts, kinds, strict=True) if is_left_out]
    undecided = {(judgement.start, judgement.end) for judgement in (*checked.failures, *left_out)}
    return _Sentences(decided, undecided - dangling)


def _harmonic(sums: Floats) -> Floats:
    with np.errstate(all="ignore"):
        recall, precision = sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]
        mean = 2 * recall * precision / (recall + precision)
    return np.where(recall == 0, 0.0, mean)


def judges_rationales(checked: CheckedAnswer) -> bool:
    """Whether statements were judged by the rule of Reason and Verify."""
    # The protocol decides too, because an answer without judged claims has no verdicts.
    made = f"aggregate={Faithfulness().signature}" in (checked.provenance.protocol or "")
    return made or any(verdict.native in (CORRECT, INCORRECT) for verdict in checked.verdicts)


def judged_statements(checked: CheckedAnswer) -> list[StatementVerdict]:
    """Return the statements that ``Summary.statements`` counts."""
    counted = [verdict for verdict in checked.verdicts if checked.kind_of(verdict) not in ("abstained", "quoted")]
    decided = [verdict for verdict in counted if not verdict.split_after_failure]
    return [
        statement
        for judgement in (*decided, *checked.failures)
        for statement in judgement.statements
        if statement.label is not None
    ]


def _judged(item: Item) -> CheckedAnswer | None:
    """Return the verdicts on a rationale: the run's own, else the answer's if made by the rule for rationales."""
    judged = item.reasoned or item.judged
    return judged if judged is not None and judges_rationales(judged) else None


@dataclass(frozen=True, repr=False)
class StatementShare(Sourced):
    """The share of a rationale's statements in certain categories."""

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
        """Return the counts; None if a label is not a category, so that its statement is unknown."""
        if not CATEGORIES.keys() >= set(categories):
            return None
        return sum(map(self._counted, categories)), len(categories)


class Faith(StatementShare):
    """Share of judged statements that are correct (in one of the four CORRECT categories).

    Faith(R) of Reason and Verify (Khan et al. 2026, arXiv 2603.10143), from verdicts under protocol reason-verify, or
    from ``Labels.rationale`` with ``source='labels'``. For a judge without the paper's categories, entailed statements
    count as correct. Pooled over statements, or the mean over rationales with ``by='question'``.
    """

    name = "Faith"

    def _counted(self, category: str) -> bool:
        return category.startswith(CORRECT)

    def _of_verdicts(self, item: Item) -> Counts | None:
        judged = _judged(item)
        return None if judged is None else SHARES["statements that hold"].counts(judged.summary)


@dataclass(frozen=True, repr=False)
class CategoryShare(StatementShare):
    """Share of judged statements in one of Reason and Verify's eight categories.

    The categories of Khan et al. 2026 (arXiv 2603.10143), such as ``category='INCORRECT-FALSE'``. Missing if the judge
    does not use the categories. Counted like ``Faith``.
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
