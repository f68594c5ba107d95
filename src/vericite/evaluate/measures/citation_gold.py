"""Measures of citations against gold, and those of TREC BioGen 2024 from assessors' labels or a judge's verdicts."""

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
    own_score,
    share_of,
)
from vericite.evaluate.rates import SHARES
from vericite.models.contracts import ENTAILS, Judge, Pair
from vericite.records import Answer, CheckedAnswer, CitationLabel, Claim, Gold, GoldSentence, Label, Labels
from vericite.verify.judging import ask


class CitedAndGold(NamedTuple):
    """Counts of a sentence or answer: correctly cited, cited and gold documents."""

    right: int
    cited: int
    gold: int

    @property
    def empty(self) -> bool:
        """Whether nothing is cited and nothing should be."""
        return self.cited == self.gold == 0


def cited_documents(claims: Iterable[Claim]) -> set[str | int]:
    """Return the documents that sentences cite; a marker without a document stands for itself and is never correct."""
    return {citation.document or citation.marker for claim in claims for citation in claim.citations}


@dataclass(frozen=True, repr=False)
class AgainstGold(Measure):
    """Compares cited documents with ``Gold.citations``.

    ``level='sentence'`` compares the sentences that the gold lists; others are left out. If the gold lists a sentence
    that the answer does not have, it belongs to another answer and the question is missing. ``level='article'``
    compares all documents of the answer with all gold documents, in any sentence.

    A sentence that correctly cites nothing is correct, or left out with ``empty='ignored'``. A sentence with citations
    but no gold documents, or the reverse, is wrong in every measure.
    """

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "gold")

    level: Literal["sentence", "article"] = "sentence"
    empty: Literal["right", "ignored"] = "right"

    def units(self, item: Item) -> list[CitedAndGold] | None:
        """Return the counts to evaluate; None if there is no gold, or it belongs to another answer."""
        if item.given is None or item.gold is None or item.gold.citations is None:
            return None
        claims, gold = item.given.claims, item.gold.citations
        if self.level == "article":
            pairs = [(cited_documents(claims), {id for sentence in gold for id in sentence.documents})]
        elif any(sentence.sentence >= len(claims) for sentence in gold):
            return None
        else:
            pairs = [(cited_documents([claims[entry.sentence]]), set(entry.documents)) for entry in gold]
        units = [CitedAndGold(len(cited & wanted), len(cited), len(wanted)) for cited, wanted in pairs]
        return [unit for unit in units if self.empty == "right" or not unit.empty]


@dataclass(frozen=True, repr=False)
class AveragedAgainstGold(AgainstGold):
    """A mean over sentences (or answers, at that level), or a figure pooled over their documents."""

    average: Literal["macro", "micro"] = "macro"

    def parts(self, item: Item) -> Parts | None:
        """Return the sums for the mean or the pooled figure."""
        units = self.units(item)
        if units is None:
            return None
        if self.average == "macro":
            return sum(map(self._score, units)), float(len(units))
        counts = [self.counts(unit) for unit in units]
        return float(sum(count for count, _ in counts)), float(sum(of for _, of in counts))

    def _score(self, unit: CitedAndGold) -> float:
        count, of = self.counts(unit)
        return count / of if of else float(unit.empty)

    @abstractmethod
    def counts(self, unit: CitedAndGold) -> Counts:
        """Return the numerator and the denominator."""


class CitationF1(AveragedAgainstGold):
    """F1 of cited documents against gold citations.

    F1 of the set of documents that each sentence cites, as in MultiAttr (Patel et al. 2024, NAACL). A sentence that
    correctly cites nothing scores 1, or is left out with ``empty='ignored'``; pooled (``average='micro'``) it adds
    nothing.
    """

    name = "CitationF1"

    def counts(self, unit: CitedAndGold) -> Counts:
        """Return twice the correct documents, and the sum of cited and gold documents."""
        return 2 * unit.right, unit.cited + unit.gold


class CitationPrecision(AveragedAgainstGold):
    """Precision of cited documents against gold citations.

    For each sentence, as in MultiAttr (Patel et al. 2024, NAACL). A sentence that correctly cites nothing scores 1 (or
    is left out with ``empty='ignored'``); one that should cite something scores 0. Markers without a document count as
    cited.
    """

    name = "CitationPrecision"

    def counts(self, unit: CitedAndGold) -> Counts:
        """Return the correct and the cited documents."""
        return unit.right, unit.cited


class CitationRecall(AveragedAgainstGold):
    """Recall of cited documents against gold citations.

    For each sentence, as in MultiAttr (Patel et al. 2024, NAACL). A sentence without gold documents scores 1 if it
    cites nothing (or is left out with ``empty='ignored'``), else 0.
    """

    name = "CitationRecall"

    def counts(self, unit: CitedAndGold) -> Counts:
        """Return the correct and the gold documents."""
        return unit.right, unit.gold


class CitationExactMatch(AgainstGold):
    """Share of sentences that cite exactly the gold documents.

    As in MultiAttr (Patel et al. 2024, NAACL). With ``level='article'`` it is the share of answers.
    """

    name = "CitationExactMatch"
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """Return the number of exact matches and of units."""
        units = self.units(item)
        if units is None:
            return None
        return float(sum(unit.right == unit.cited == unit.gold for unit in units)), float(len(units))


AMONG = {"required": ("required",), "answering": ("required", "borderline")}
"""The labels of sentences that count for coverage."""


@dataclass(frozen=True, repr=False)
class CitationCoverage(Sourced):
    """Share of sentences that are supported by at least one of their citations.

    Citation coverage of TREC BioGen 2024 (Gupta et al., arXiv 2411.18069): the mean over answers, or pooled with
    ``by='sentence'``. A sentence that cites nothing is not covered. A sentence is left out if no citation is known to
    support it and some were not judged. ``among='required'`` uses only sentences labelled required,
    ``among='answering'`` also borderline ones. ``source='verdicts'`` uses a judge's verdicts.
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
            supported = [covered for covered, label in zip(supported, labels, strict=True) if label in wanted]
        return share_of(tuple(supported))


def _by_labels(answer: Answer, labels: Labels) -> list[bool | None] | None:
    """Return whether a citation supports each sentence (None: unknown); None if labels belong to another answer."""
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
    """Do the same from verdicts; verdicts on sentences without citations are ignored."""
    spans = [(claim.span.start, claim.span.end) for claim in answer.claims]
    judged = {(judgement.start, judgement.end) for judgement in (*checked.verdicts, *checked.failures)}
    if not judged <= set(spans):
        return None
    supported = {
        (verdict.start, verdict.end)
        for verdict in checked.verdicts
        if verdict.label == "supported" and not verdict.abstained
    }
    abstained = [verdict for verdict in checked.verdicts if verdict.abstained]
    undecided = {(judgement.start, judgement.end) for judgement in (*checked.failures, *abstained)}
    found: list[bool | None] = []
    for claim, span in zip(answer.claims, spans, strict=True):
        if not claim.citations:
            found.append(False)
        else:
            found.append(None if span in undecided - supported else span in supported)
    return found


@dataclass(frozen=True, repr=False)
class CitationRate(Sourced):
    """The share of an answer's citations with a given label."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("labels",)
    label: ClassVar[CitationLabel]
    verdict: ClassVar[Label]

    by: Literal["question", "pair"] = "question"

    def _of_labels(self, item: Item) -> Counts | None:
        if item.refused or item.labels is None or item.labels.citations is None:
            return None
        return sum(judged.label == self.label for judged in item.labels.citations), len(item.labels.citations)

    def _of_verdicts(self, item: Item) -> Counts | None:
        if item.judged is None:
            return None
        count, judged = SHARES[self.verdict].counts(item.judged.summary)
        return count, judged + item.judged.summary.dangling


@dataclass(frozen=True, repr=False)
class CitationSupportRate(CitationRate):
    """Share of judged citations that support their sentence, as in TREC BioGen.

    Citation support rate of TREC BioGen 2024 (Gupta et al., arXiv 2411.18069): the mean over answers, or pooled with
    ``by='pair'``. An answer without citations of existing documents scores 0, as in the track (``uncited='empty'``:
    nothing to count). ``source='verdicts'`` uses a judge's verdicts, and also counts citations of documents that do not
    exist.
    """

    name = "CitationSupportRate"
    label = "supports"
    verdict = "supported"

    uncited: Uncited = "wrong"

    def uncounted(self, item: Item) -> Parts:
        """Return 0 if the answer is known to cite nothing; otherwise there is nothing to count."""
        if self.uncited == "empty":
            return NOTHING
        if self.source == "verdicts":
            return NOTHING if item.judged is None or item.judged.summary.citations else own_score(0.0)
        if item.given is None:
            return NOTHING
        cites = any(citation.document for claim in item.given.claims for citation in claim.citations)
        return NOTHING if cites else own_score(0.0)


class CitationContradictRate(CitationRate):
    """Share of judged citations that contradict their sentence, as in TREC BioGen.

    Citation contradict rate of TREC BioGen 2024 (Gupta et al., arXiv 2411.18069), counted like ``CitationSupportRate``.
    An answer without citations has nothing to count: a 0 would be in its favour.
    """

    name = "CitationContradictRate"
    label = "contradicts"
    verdict = "contradicted"
    higher_is_better = False


@dataclass(frozen=True, repr=False)
class CitedDocuments(Counted):
    """Compares the documents that an answer cites, in any sentence, with those judged relevant to the question."""

    family: ClassVar[Family] = "citation"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "gold")

    by: Literal["question", "document"] = "question"
    rel: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.rel, bool) or not 0 < self.rel < float("inf"):
            raise InputError(f"expected rel of {self.name} to be a grade above 0, such as 1; found {self.rel!r}")

    def documents(self, item: Item) -> tuple[set[str | int], set[str]] | None:
        """Return the cited and the relevant documents; None if no documents were judged."""
        if item.given is None or item.gold is None or not item.gold.documents:
            return None
        relevant = {id for id, grade in item.gold.documents.items() if grade >= self.rel}
        return cited_documents(item.given.claims), relevant


@dataclass(frozen=True, repr=False)
class CitedDocumentPrecision(CitedDocuments):
    """Share of cited documents that are relevant.

    Precision of TREC BioGen 2024's citations (Gupta et al., arXiv 2411.18069). A document counts once per answer, and
    is relevant if its grade in the gold is at least ``rel``. The mean over answers, or pooled with ``by='document'``.
    An answer without citations scores 0, as in the track (``uncited='empty'``: nothing to count).
    """

    name = "CitedDocumentPrecision"

    uncited: Uncited = "wrong"

    def uncounted(self, item: Item) -> Parts:
        """Return 0, or nothing to count, for an answer without citations."""
        return own_score(0.0) if self.uncited == "wrong" else NOTHING

    def counts(self, item: Item) -> Counts | None:
        """Return the relevant and all cited documents; markers without a document count as cited."""
        found = self.documents(item)
        return None if found is None else (len(found[0] & found[1]), len(found[0]))


class CitedDocumentRecall(CitedDocuments):
    """Share of relevant documents that are cited.

    Recall of TREC BioGen 2024's citations (Gupta et al., arXiv 2411.18069), relative to the documents judged for the
    question; counted like ``CitedDocumentPrecision``.
    """

    name = "CitedDocumentRecall"

    def counts(self, item: Item) -> Counts | None:
        """Return the relevant documents cited and all relevant documents."""
        found = self.documents(item)
        return None if found is None else (len(found[0] & found[1]), len(found[1]))


STATED = 0.5
"""Minimum probability of entailment for a sentence to state a claim."""


class GoldClaim(NamedTuple):
    """A claim of the gold answer, the documents that it cites, and documents whose relation to it is unknown."""

    text: str
    documents: tuple[str, ...]
    unknown: tuple[str, ...] = ()


class Aligned(NamedTuple):
    """Gold citations for an answer's sentences, and the number of gold claims that it states.

    A sentence that states no gold claim should cite nothing.

    Attributes:
        unknown: For each sentence, documents that it may or may not cite: no claim that it states needs them, and for
            some claim it is unknown.
        failed: Number of pairs of sentence and claim that could not be judged.
    """

    gold: Gold
    stated: int
    claims: int
    unknown: tuple[frozenset[str], ...]
    failed: int = 0

    def without_unknown(self, answer: Answer) -> Answer:
        """Return the answer without citations that are neither correct nor wrong."""
        claims = (
            claim.model_copy(
                update={
                    "citations": tuple(citation for citation in claim.citations if citation.document not in unknown)
                }
            )
            for claim, unknown in zip(answer.claims, self.unknown, strict=True)
        )
        return answer.model_copy(update={"claims": tuple(claims)})


def aligned(asked: Iterable[tuple[Answer, Sequence[GoldClaim]]], judge: Judge, bar: float = STATED) -> list[Aligned]:
    """Align gold claims with an answer's sentences, for aligned citation F1 (MultiAttr, in-line answers).

    Each gold claim is assigned to the sentence that most probably entails it (Patel et al. 2024, figure 3), or to none
    if no sentence entails it. The result is gold for ``CitationF1`` and similar measures.

    A claim that could not be judged counts as not stated. If the gold has ``unknown`` documents, score the result of
    ``Aligned.without_unknown``.
    """
    cases = [(answer, list(claims)) for answer, claims in asked]
    pairs = dict.fromkeys(
        Pair(own.text, claim.text) for answer, claims in cases for claim in claims for own in answer.claims if own.text
    )
    entailed = {
        pair: float(judgement.probabilities[ENTAILS])
        for pair, judgement in zip(pairs, ask(judge, list(pairs)), strict=True)
        if judgement.failure is None
    }
    return [_align(answer, claims, entailed, bar) for answer, claims in cases]


def _align(answer: Answer, claims: Sequence[GoldClaim], entailed: dict[Pair, float], bar: float) -> Aligned:
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
    sentences = tuple(GoldSentence(sentence=index, documents=tuple(own)) for index, own in enumerate(wanted))
    optional = tuple(frozenset(documents - own.keys()) for own, documents in zip(wanted, unknown, strict=True))
    failed = sum(Pair(own.text, claim.text) not in entailed for own in answer.claims if own.text for claim in claims)
    return Aligned(Gold(id=answer.id, citations=sentences), stated, len(claims), optional, failed)
