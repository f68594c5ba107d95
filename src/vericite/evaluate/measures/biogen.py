"""Citations as TREC BioGen 2024 evaluates them, by assessors' labels or a judge's verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from vericite.errors import InputError
from vericite.evaluate.gold import CitationLabel, Labels
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import cited_documents
from vericite.evaluate.measures.counted import Counted, Counts, Sourced, Uncited
from vericite.evaluate.measures.measure import NOTHING, Measure, Need, Parts, one
from vericite.evaluate.measures.named import Family
from vericite.evaluate.rates import SHARES
from vericite.records import Answer, CheckedAnswer, Label

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

    def of_labels(self, item: Item) -> Counts | None:
        """By what assessors said of its citations."""
        if item.given is None or item.labels is None or item.labels.citations is None:
            return None
        return self._covered(item, _by_labels(item.given, item.labels))

    def of_verdicts(self, item: Item) -> Counts | None:
        """By the verdicts on its citations."""
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
    said: dict[int, dict[str, CitationLabel]] = {place: {} for place in range(len(answer.claims))}
    for judgement in labels.citations or ():
        if judgement.sentence not in said:
            return None
        said[judgement.sentence][judgement.document] = judgement.label
    found: list[bool | None] = []
    for claim, judged in zip(answer.claims, said.values(), strict=True):
        cited = {citation.document for citation in claim.citations if citation.document is not None}
        supported = "supports" in judged.values()
        found.append(supported if supported or cited <= judged.keys() else None)
    return found


def _by_verdicts(answer: Answer, checked: CheckedAnswer) -> list[bool | None] | None:
    """Likewise by verdicts; what a protocol says of a sentence that cites nothing is not said of a citation."""
    spans = [(claim.span.start, claim.span.end) for claim in answer.claims]
    told = {(it.start, it.end) for it in (*checked.verdicts, *checked.failures)}
    if not told <= set(spans):
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

    def of_labels(self, item: Item) -> Counts | None:
        """Those that assessors called so, over those judged."""
        if item.refused or item.labels is None or item.labels.citations is None:
            return None
        return sum(it.label == self.label for it in item.labels.citations), len(item.labels.citations)

    def of_verdicts(self, item: Item) -> Counts | None:
        """Those that a judge called so, over those judged and the dangling ones."""
        if item.judged is None:
            return None
        share, summary = SHARES[self.verdict], item.judged.summary
        return share.count(summary), share.of(summary) + summary.dangling


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


BIOGEN_MEASURES: tuple[type[Measure], ...] = (
    CitationCoverage,
    CitationSupportRate,
    CitationContradictRate,
    CitedDocumentPrecision,
    CitedDocumentRecall,
)
