"""What an answer cites against what it ought to cite."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from vericite.evaluate.items import Item
from vericite.evaluate.measures.counted import Counts
from vericite.evaluate.measures.measure import Measure, Need, Parts
from vericite.evaluate.measures.named import Family
from vericite.records import Claim


class Cited(NamedTuple):
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

    def places(self, item: Item) -> list[Cited] | None:
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
        places = [Cited(len(cited & wanted), len(cited), len(wanted)) for cited, wanted in pairs]
        return [place for place in places if self.empty == "right" or not place.empty]


@dataclass(frozen=True, repr=False)
class AveragedAgainstGold(AgainstGold):
    """A figure that is the mean over sentences (answers, at that level), or pooled over their documents."""

    average: Literal["macro", "micro"] = "macro"

    def parts(self, item: Item) -> Parts | None:
        """The sums that the mean or the pooled figure is made of."""
        places = self.places(item)
        if places is None:
            return None
        if self.average == "macro":
            return sum(map(self._alone, places)), float(len(places))
        counts = [self.counts(place) for place in places]
        return float(sum(count for count, _ in counts)), float(sum(of for _, of in counts))

    def _alone(self, place: Cited) -> float:
        count, of = self.counts(place)
        return count / of if of else float(place.empty)

    @abstractmethod
    def counts(self, place: Cited) -> Counts:
        """What is counted, and out of what."""


class CitationF1(AveragedAgainstGold):
    """Documents cited rightly, over the mean of those cited and those that ought to be.

    F1 of the set of documents that each sentence cites, as in MultiAttr (Patel et al. 2024, NAACL). A sentence that
    rightly cites nothing has 1, or is left out with ``empty='ignored'``; pooled (``average='micro'``) it adds nothing.
    """

    name = "CitationF1"

    def counts(self, place: Cited) -> Counts:
        """Twice what is right, over all cited and all wanted."""
        return 2 * place.right, place.cited + place.gold


class CitationPrecision(AveragedAgainstGold):
    """Documents cited rightly, over documents cited, against gold citations.

    Of each sentence, as in MultiAttr (Patel et al. 2024, NAACL). A sentence that cites nothing has 1 where that is
    right (or is left out with ``empty='ignored'``), else 0. Markers that point at no document count as cited.
    """

    name = "CitationPrecision"

    def counts(self, place: Cited) -> Counts:
        """What is right, over all cited."""
        return place.right, place.cited


class CitationRecall(AveragedAgainstGold):
    """Documents cited rightly, over documents that ought to be cited.

    Of each sentence, as in MultiAttr (Patel et al. 2024, NAACL). Where nothing ought to be cited a sentence has 1 if
    it cites nothing (or is left out with ``empty='ignored'``), else 0.
    """

    name = "CitationRecall"

    def counts(self, place: Cited) -> Counts:
        """What is right, over all wanted."""
        return place.right, place.gold


class CitationExactMatch(AgainstGold):
    """Sentences that cite all the documents they ought to and no others, over sentences.

    As in MultiAttr (Patel et al. 2024, NAACL); with ``level='article'`` answers over answers.
    """

    name = "CitationExactMatch"
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """Those that are exactly right, over all looked at."""
        places = self.places(item)
        if places is None:
            return None
        return float(sum(place.right == place.cited == place.gold for place in places)), float(len(places))


CITATION_GOLD_MEASURES: tuple[type[Measure], ...] = (
    CitationF1,
    CitationPrecision,
    CitationRecall,
    CitationExactMatch,
)
