"""Citations against gold, and as TREC BioGen 2024 evaluates them by assessors' labels or a judge's verdicts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import (
    NOTHING,
    Counted,
    Counts,
    Family,
    Measure,
    Need,
    Parts,
    Sourced,
    Uncited,
    one,
)
from vericite.evaluate.rates import SHARES
from vericite.models.contracts import ENTAILS, Judge, Pair
from vericite.records import Answer, CheckedAnswer, CitationLabel, Claim, Gold, GoldSentence, Label, Labels
from vericite.verify.judging import ask


class CitedAndGold(NamedTuple):
    """What a sentence or an answer cites, how much of it is right, and what it ought to cite."""

    right: int
    cited: int
    gold: int

    @property
    def empty(self) -> bool:
        """Whether nothing is cited and nothing ought to be."""
        return self.cited == self.gold == 0


def cited_documents(claims: Iterable[Claim]) -> set[str | int]:
    """Documents that sentences cite; a marker that points at none stands for itself, and is never right."""
    return {citation.document or citation.marker for claim in claims for citation in claim.citations}


@dataclass(frozen=True, repr=False)
class AgainstGold(Measure):
    """Cited documents against ``Gold.citations``.

    ``level='sentence'`` looks at each sentence that the gold names; others are left out. Where the gold names one that
    the answer does not have it is of another answer, and the question is missing. ``level='article'`` looks at all that
    the answer cites against all that the gold has, whichever sentences they are of.

    A sentence that rightly cites nothing is right, and with ``empty='ignored'`` left out. One that cites where the gold
    has nothing, or nothing where it has something, is wrong in all.
    """

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "gold")

    level: Literal["sentence", "article"] = "sentence"
    empty: Literal["right", "ignored"] = "right"

    def units(self, item: Item) -> list[CitedAndGold] | None:
        """What is looked at in a question; None where the gold does not say, or speaks of another answer."""
        if item.given is None or item.gold is None or item.gold.citations is None:
            return None
        claims, gold = item.given.claims, item.gold.citations
        if self.level == "article":
            pairs = [(cited_documents(claims), {id for sentence in gold for id in sentence.documents})]
        elif any(sentence.sentence >= len(claims) for sentence in gold):
            return None
        else:
            pairs = [(cited_documents([claims[it.sentence]]), set(it.documents)) for it in gold]
        units = [CitedAndGold(len(cited & wanted), len(cited), len(wanted)) for cited, wanted in pairs]
        return [unit for unit in units if self.empty == "right" or not unit.empty]


@dataclass(frozen=True, repr=False)
class AveragedAgainstGold(AgainstGold):
    """A figure that is the mean over sentences (answers, at that level), or pooled over their documents."""

    average: Literal["macro", "micro"] = "macro"

    def parts(self, item: Item) -> Parts | None:
        """The sums that the mean or the pooled figure is made of."""
        units = self.units(item)
        if units is None:
            return None
        if self.average == "macro":
            return sum(map(self._alone, units)), float(len(units))
        counts = [self.counts(unit) for unit in units]
        return float(sum(count for count, _ in counts)), float(sum(of for _, of in counts))

    def _alone(self, unit: CitedAndGold) -> float:
        count, of = self.counts(unit)
        return count / of if of else float(unit.empty)

    @abstractmethod
    def counts(self, unit: CitedAndGold) -> Counts:
        """What is counted, and out of what."""


class CitationF1(AveragedAgainstGold):
    """Documents cited rightly, over the mean of those cited and those that ought to be.

    F1 of the set of documents that each sentence cites, as in MultiAttr (Patel et al. 2024, NAACL). A sentence that
    rightly cites nothing has 1, or is left out with ``empty='ignored'``; pooled (``average='micro'``) it adds nothing.
    """

    name = "CitationF1"

    def counts(self, unit: CitedAndGold) -> Counts:
        """Twice what is right, over all cited and all wanted."""
        return 2 * unit.right, unit.cited + unit.gold


class CitationPrecision(AveragedAgainstGold):
    """Documents cited rightly, over documents cited, against gold citations.

    Of each sentence, as in MultiAttr (Patel et al. 2024, NAACL). A sentence that cites nothing has 1 where that is
    right (or is left out with ``empty='ignored'``), else 0. Markers that point at no document count as cited.
    """

    name = "CitationPrecision"

    def counts(self, unit: CitedAndGold) -> Counts:
        """What is right, over all cited."""
        return unit.right, unit.cited


class CitationRecall(AveragedAgainstGold):
    """Documents cited rightly, over documents that ought to be cited.

    Of each sentence, as in MultiAttr (Patel et al. 2024, NAACL). Where nothing ought to be cited a sentence has 1 if
    it cites nothing (or is left out with ``empty='ignored'``), else 0.
    """

    name = "CitationRecall"

    def counts(self, unit: CitedAndGold) -> Counts:
        """What is right, over all wanted."""
        return unit.right, unit.gold


class CitationExactMatch(AgainstGold):
    """Sentences that cite all the documents they ought to and no others, over sentences.

    As in MultiAttr (Patel et al. 2024, NAACL); with ``level='article'`` answers over answers.
    """

    name = "CitationExactMatch"
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """Those that are exactly right, over all looked at."""
        units = self.units(item)
        if units is None:
            return None
        return float(sum(unit.right == unit.cited == unit.gold for unit in units)), float(len(units))


AMONG = {"required": ("required",), "answering": ("required", "borderline")}
"""The labels of sentences that coverage is of."""


@dataclass(frozen=True, repr=False)
class CitationCoverage(Sourced):
    """Sentences that at least one of their citations supports, over sentences.

    Citation coverage of TREC BioGen 2024 (Gupta et al., arXiv 2411.18069): the mean over answers, or pooled with
    ``by='sentence'``. A sentence that cites nothing is not covered. One of which it is not known, because no
    citation is known to support it and some were not judged, is left out. ``among='required'`` looks only at
    sentences labelled so, ``among='answering'`` also at borderline ones. With ``source='verdicts'`` it is the judge's
    word that counts.
    """

    name = "CitationCoverage"
    family = "citation"
    needs = ("answer", "labels")
    labelled = ("answer", "labels")
    judged = ("answer", "verdicts")

    by: Literal["question", "sentence"] = "question"
    among: Literal["all", "required", "answering"] = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source == "verdicts" and self.among != "all":
            object.__setattr__(self, "needs", (*self.judged, "labels"))

    def _of_labels(self, item: Item) -> Counts | None:
        if item.given is None or item.labels is None or item.labels.citations is None:
            return None
        return self._covered(item, _by_labels(item.given, item.labels))

    def _of_verdicts(self, item: Item) -> Counts | None:
        if item.given is None or item.judged is None:
            return None
        return self._covered(item, _by_verdicts(item.given, item.judged))

    def _covered(self, item: Item, supported: list[bool | None] | None) -> Counts | None:
        if supported is None:
            return None
        if self.among != "all":
            labels = item.labels and item.labels.sentences
            if labels is None or len(labels) != len(supported):
                return None
            wanted = AMONG[self.among]
            supported = [one for one, label in zip(supported, labels, strict=True) if label in wanted]
        known = [one for one in supported if one is not None]
        return sum(known), len(known)


def _by_labels(answer: Answer, labels: Labels) -> list[bool | None] | None:
    """Whether a citation supports each sentence; None where not known, and where labels are of another answer."""
    labels_of: dict[int, dict[str, CitationLabel]] = {sentence: {} for sentence in range(len(answer.claims))}
    for judgement in labels.citations or ():
        if judgement.sentence not in labels_of:
            return None
        labels_of[judgement.sentence][judgement.document] = judgement.label
    found: list[bool | None] = []
    for claim, judged in zip(answer.claims, labels_of.values(), strict=True):
        cited = {citation.document for citation in claim.citations if citation.document is not None}
        supported = "supports" in judged.values()
        found.append(supported if supported or cited <= judged.keys() else None)
    return found


def _by_verdicts(answer: Answer, checked: CheckedAnswer) -> list[bool | None] | None:
    """Likewise by verdicts; a verdict on a sentence that cites nothing is no verdict on a citation."""
    spans = [(claim.span.start, claim.span.end) for claim in answer.claims]
    judged = {(it.start, it.end) for it in (*checked.verdicts, *checked.failures)}
    if not judged <= set(spans):
        return None
    supported = {(it.start, it.end) for it in checked.verdicts if it.label == "supported" and not it.abstained}
    open_ = {(it.start, it.end) for it in (*checked.failures, *(it for it in checked.verdicts if it.abstained))}
    found: list[bool | None] = []
    for claim, span in zip(answer.claims, spans, strict=True):
        if not claim.citations:
            found.append(False)
        else:
            found.append(None if span in open_ - supported else span in supported)
    return found


@dataclass(frozen=True, repr=False)
class CitationRate(Sourced):
    """The share of an answer's citations that are of one kind."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("labels",)
    label: ClassVar[CitationLabel]
    verdict: ClassVar[Label]

    by: Literal["question", "pair"] = "question"

    def _of_labels(self, item: Item) -> Counts | None:
        if item.refused or item.labels is None or item.labels.citations is None:
            return None
        return sum(it.label == self.label for it in item.labels.citations), len(item.labels.citations)

    def _of_verdicts(self, item: Item) -> Counts | None:
        if item.judged is None:
            return None
        count, judged = SHARES[self.verdict].counts(item.judged.summary)
        return count, judged + item.judged.summary.dangling


@dataclass(frozen=True, repr=False)
class CitationSupportRate(CitationRate):
    """Citations that support their sentence, over all citations judged.

    Citation support rate of TREC BioGen 2024 (Gupta et al., arXiv 2411.18069): the mean over answers, or pooled with
    ``by='pair'``. An answer that cites no document that exists has 0, as the track gives it (``uncited='empty'``:
    nothing to count). With ``source='verdicts'`` the judge's word counts, and citations of documents that do not exist
    are counted too.
    """

    name = "CitationSupportRate"
    label = "supports"
    verdict = "supported"

    uncited: Uncited = "wrong"

    def uncounted(self, item: Item) -> Parts:
        """0 where it is known that nothing is cited; else nothing to count."""
        if self.uncited == "empty":
            return NOTHING
        if self.source == "verdicts":
            return NOTHING if item.judged is None or item.judged.summary.citations else one(0.0)
        if item.given is None:
            return NOTHING
        cites = any(citation.document for claim in item.given.claims for citation in claim.citations)
        return NOTHING if cites else one(0.0)


class CitationContradictRate(CitationRate):
    """Citations that contradict their sentence, over all citations judged.

    Citation contradict rate of TREC BioGen 2024 (Gupta et al., arXiv 2411.18069), counted as ``CitationSupportRate``.
    An answer without citations has nothing to count: 0 would speak for it.
    """

    name = "CitationContradictRate"
    label = "contradicts"
    verdict = "contradicted"
    higher_is_better = False


@dataclass(frozen=True, repr=False)
class CitedDocuments(Counted):
    """The documents an answer cites against those judged relevant to the question, in whichever sentence."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "gold")

    by: Literal["question", "document"] = "question"
    rel: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.rel, bool) or not 0 < self.rel < float("inf"):
            raise InputError(f"expected rel of {self.name} to be a grade above 0, such as 1; found {self.rel!r}")

    def documents(self, item: Item) -> tuple[set[str | int], set[str]] | None:
        """What is cited and what is relevant; None where nothing was judged."""
        if item.given is None or item.gold is None or not item.gold.documents:
            return None
        relevant = {id for id, grade in item.gold.documents.items() if grade >= self.rel}
        return cited_documents(item.given.claims), relevant


@dataclass(frozen=True, repr=False)
class CitedDocumentPrecision(CitedDocuments):
    """Relevant documents cited, over documents cited.

    Precision of TREC BioGen 2024's citations (Gupta et al., arXiv 2411.18069): each document counts once in an answer,
    and is relevant where its grade in the gold is ``rel`` or more. The mean over answers, or pooled with
    ``by='document'``. An answer without citations has 0, as the track gives it (``uncited='empty'``: nothing to count).
    """

    name = "CitedDocumentPrecision"

    uncited: Uncited = "wrong"

    def uncounted(self, item: Item) -> Parts:
        """0, or nothing to count, where it cites nothing."""
        return one(0.0) if self.uncited == "wrong" else NOTHING

    def counts(self, item: Item) -> Counts | None:
        """Relevant ones, over all cited; markers that point at no document count as cited."""
        found = self.documents(item)
        return None if found is None else (len(found[0] & found[1]), len(found[0]))


class CitedDocumentRecall(CitedDocuments):
    """Relevant documents cited, over all relevant documents.

    Recall of TREC BioGen 2024's citations (Gupta et al., arXiv 2411.18069), against the pool of documents judged for
    the question; counted as ``CitedDocumentPrecision``.
    """

    name = "CitedDocumentRecall"

    def counts(self, item: Item) -> Counts | None:
        """Relevant ones cited, over all relevant."""
        found = self.documents(item)
        return None if found is None else (len(found[0] & found[1]), len(found[1]))


STATED = 0.5
"""How likely a sentence must entail a claim that it is taken to state."""


class GoldClaim(NamedTuple):
    """A claim of the gold answer, the documents that it cites, and those of which it is not known if it might."""

    text: str
    documents: tuple[str, ...]
    unknown: tuple[str, ...] = ()


class Aligned(NamedTuple):
    """What an answer's sentences ought to cite, and how many of the gold's claims it states.

    A sentence that states no claim of the gold ought to cite nothing.

    Attributes:
        unknown: Of each sentence, the documents that it may cite or not: no claim that it states needs them, and of one
            it is not known.
    """

    gold: Gold
    stated: int
    claims: int
    unknown: tuple[frozenset[str], ...]

    def told(self, answer: Answer) -> Answer:
        """The answer without those of its citations that are neither right nor wrong."""
        claims = (
            claim.model_copy(update={"citations": tuple(it for it in claim.citations if it.document not in unknown)})
            for claim, unknown in zip(answer.claims, self.unknown, strict=True)
        )
        return answer.model_copy(update={"claims": tuple(claims)})


def aligned(asked: Iterable[tuple[Answer, Sequence[GoldClaim]]], judge: Judge, bar: float = STATED) -> list[Aligned]:
    """Gold made of another answer to the question, for aligned citation F1 (MultiAttr, in-line answers).

    Each claim of the gold answer is laid beside the sentence that is likeliest to entail it (Patel et al. 2024, figure
    3); one that no sentence entails has none. ``CitationF1`` and its like read what comes out.

    A claim that could not be judged counts as not stated. Where the gold has ``unknown`` documents, score what
    ``Aligned.told`` makes of the answer.
    """
    cases = [(answer, list(claims)) for answer, claims in asked]
    pairs = dict.fromkeys(
        Pair(own.text, claim.text) for answer, claims in cases for claim in claims for own in answer.claims if own.text
    )
    entailed = {
        pair: 0.0 if judgement.failure is not None else float(judgement.probabilities[ENTAILS])
        for pair, judgement in zip(pairs, ask(judge, list(pairs)), strict=True)
    }
    return [_aligned(answer, claims, entailed, bar) for answer, claims in cases]


def _aligned(answer: Answer, claims: Sequence[GoldClaim], entailed: dict[Pair, float], bar: float) -> Aligned:
    wanted: list[dict[str, None]] = [{} for _ in answer.claims]
    unknown: list[set[str]] = [set() for _ in answer.claims]
    stated = 0
    for claim in claims:
        odds = [entailed.get(Pair(own.text, claim.text), 0.0) for own in answer.claims]
        best = int(np.argmax(odds)) if odds else 0
        if odds and odds[best] >= bar:
            stated += 1
            wanted[best] |= dict.fromkeys(claim.documents)
            unknown[best] |= set(claim.unknown)
    sentences = tuple(GoldSentence(sentence=place, documents=tuple(own)) for place, own in enumerate(wanted))
    apart = tuple(frozenset(those - own.keys()) for own, those in zip(wanted, unknown, strict=True))
    return Aligned(Gold(id=answer.id, citations=sentences), stated, len(claims), apart)
