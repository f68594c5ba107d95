"""Measures of the documents found, computed by ir_measures (trec_eval), never here.

Relevant is a document of a grade above 0. A question that no document is judged for is missing, as trec_eval leaves out
topics that its judgements do not name; so is one without a ranking. One that documents are judged for, none of them
relevant, has nothing to find, so nothing to count: trec_eval would score any system 0 on it, and TREC takes such topics
out of its judgements. An empty ranking found nothing: 0. A document that is found again counts at its first rank only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING, Measure, Need, Parts, one
from vericite.evaluate.measures.named import Family
from vericite.evaluate.measures.packages import eval_package
from vericite.evaluate.measures.parameters import expect_count


@dataclass(frozen=True, repr=False)
class Ranking(Measure):
    """A mean over questions of a figure of each one's ranking."""

    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence", "gold")
    extra: ClassVar[str | None] = "eval"
    packages: ClassVar[tuple[str, ...]] = ("ir-measures", "pytrec-eval-terrier")
    pooled: ClassVar[bool] = False

    @abstractmethod
    def of_package(self, package: Any) -> Any:
        """The measure of ir_measures that it is."""

    def ranking(self, item: Item) -> list[str]:
        """What is ranked, each document once."""
        return list(dict.fromkeys(item.ranked or ()))

    def parts(self, item: Item) -> Parts | None:
        """The figure of one ranking."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """The figures of all rankings at once."""
        package = eval_package("ir_measures", self.name)
        found: list[Parts | None] = [None] * len(items)
        judged: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for place, item in enumerate(items):
            if item.ranked is None or item.gold is None or not item.gold.documents:
                continue
            found[place] = NOTHING
            if any(grade > 0 for grade in item.gold.documents.values()):
                judged[str(place)] = {id: int(grade) for id, grade in item.gold.documents.items()}
                ids = self.ranking(item)
                run[str(place)] = {id: float(len(ids) - rank) for rank, id in enumerate(ids)}
        if judged:
            for metric in package.pytrec_eval.iter_calc([self.of_package(package)], judged, run):
                found[int(metric.query_id)] = one(float(metric.value))
        return found


@dataclass(frozen=True, repr=False)
class Cut(Ranking):
    """A measure of the first few documents."""

    cutoff: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count(self.name, "cutoff", self.cutoff)


@dataclass(frozen=True, repr=False)
class MaybeCut(Ranking):
    """A measure of the whole ranking, or of the first few documents."""

    cutoff: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is not None:
            expect_count(self.name, "cutoff", self.cutoff)


class Recall(Cut):
    """Relevant documents among the first k, over all relevant ones.

    trec_eval's recall_k, ir_measures' R@k.
    """

    name = "Recall"

    def of_package(self, package: Any) -> Any:
        """R@k."""
        return package.R @ self.cutoff


class Precision(Cut):
    """Relevant documents among the first k, over k.

    trec_eval's P_k, ir_measures' P@k: over k also where fewer were found.
    """

    name = "Precision"

    def of_package(self, package: Any) -> Any:
        """P@k."""
        return package.P @ self.cutoff


class Success(Cut):
    """Questions with a relevant document among the first k.

    trec_eval's success_k, ir_measures' Success@k; also called hit rate.
    """

    name = "Success"
    whole = True

    def of_package(self, package: Any) -> Any:
        """Success@k."""
        return package.Success @ self.cutoff


class NDCG(MaybeCut):
    """Grades of the documents found, the less the later, over those of the best ranking there is.

    trec_eval's ndcg_cut_k: a document's gain is its grade (none for negative ones) over the logarithm of its rank.
    """

    name = "nDCG"

    def of_package(self, package: Any) -> Any:
        """With a cutoff or without."""
        return package.nDCG if self.cutoff is None else package.nDCG @ self.cutoff


class MAP(MaybeCut):
    """Precision at the rank of each relevant document, averaged over all relevant ones.

    trec_eval's map and map_cut_k, ir_measures' AP; those not found count 0. BioASQ divides by 10 at most.
    """

    name = "MAP"

    def of_package(self, package: Any) -> Any:
        """AP or AP@k."""
        return package.AP if self.cutoff is None else package.AP @ self.cutoff


class MRR(MaybeCut):
    """One over the rank of the first relevant document.

    trec_eval's recip_rank, ir_measures' RR; 0 where none is found, or none among the first k.
    """

    name = "MRR"

    def ranking(self, item: Item) -> list[str]:
        """What is ranked, down to the cutoff, which trec_eval itself does not know for this measure."""
        return super().ranking(item)[: self.cutoff]

    def of_package(self, package: Any) -> Any:
        """RR."""
        return package.RR


RETRIEVAL_MEASURES: tuple[type[Measure], ...] = (Recall, Precision, Success, NDCG, MAP, MRR)
