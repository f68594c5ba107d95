"""Measures of the documents found, computed by ir_measures (trec_eval) but for BioASQ's own.

Relevant is a document of a grade above 0. A question that no document is judged for is missing, as trec_eval leaves out
topics that its judgements do not name; so is one without a ranking. One that documents are judged for, none of them
relevant, has nothing to find, so nothing to count: trec_eval would score any system 0 on it, and TREC takes such topics
out of its judgements. An empty ranking found nothing: 0. A document that is found again counts at its first rank only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING, Family, Measure, Need, Parts, eval_package, one


@dataclass(frozen=True, repr=False)
class Ranking(Measure):
    """A mean over questions of a figure of each one's ranking."""

    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence", "gold")
    extra: ClassVar[str | None] = "eval"
    packages: ClassVar[tuple[str, ...]] = ("ir-measures", "pytrec-eval-terrier")
    pooled: ClassVar[bool] = False

    package_name: ClassVar[str]
    """What ir_measures calls it."""
    cutoff: int | None

    def _of_package(self, package: Any) -> Any:
        measure = getattr(package, self.package_name)
        return measure if self.cutoff is None else measure @ self.cutoff

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
        for index, item in enumerate(items):
            if item.ranked is None or item.gold is None or not item.gold.documents:
                continue
            found[index] = NOTHING
            if any(grade > 0 for grade in item.gold.documents.values()):
                judged[str(index)] = {id: int(grade) for id, grade in item.gold.documents.items()}
                ids = self.ranking(item)
                run[str(index)] = {id: float(len(ids) - rank) for rank, id in enumerate(ids)}
        if judged:
            for metric in package.pytrec_eval.iter_calc([self._of_package(package)], judged, run):
                found[int(metric.query_id)] = one(float(metric.value))
        return found


@dataclass(frozen=True, repr=False)
class AtCutoff(Ranking):
    """A measure of the first few documents."""

    cutoff: int = 10


@dataclass(frozen=True, repr=False)
class AtOptionalCutoff(Ranking):
    """A measure of the whole ranking, or of the first few documents."""

    cutoff: int | None = None


class Recall(AtCutoff):
    """Relevant documents among the first k, over all relevant ones.

    trec_eval's recall_k, ir_measures' R@k.
    """

    name = "Recall"
    package_name = "R"


class ShownRecall(AtCutoff):
    """Relevant documents that a model was shown of the first k found, over all relevant ones.

    As ``Recall``, without the documents that had no room in the model's prompt.
    """

    name = "ShownRecall"
    package_name = "R"

    def ranking(self, item: Item) -> list[str]:
        """The documents of which the model saw at least a sentence."""
        shown = set(item.shown or ())
        return [id for id in super().ranking(item)[: self.cutoff] if id in shown]


class Precision(AtCutoff):
    """Relevant documents among the first k, over k.

    trec_eval's P_k, ir_measures' P@k: over k also where fewer were found.
    """

    name = "Precision"
    package_name = "P"


class Success(AtCutoff):
    """Questions with a relevant document among the first k.

    trec_eval's success_k, ir_measures' Success@k; also called hit rate.
    """

    name = "Success"
    whole = True
    package_name = "Success"


class NDCG(AtOptionalCutoff):
    """Grades of the documents found, the less the later, over those of the best ranking there is.

    trec_eval's ndcg_cut_k: a document's gain is its grade (none for negative ones) over the logarithm of its rank.
    """

    name = "nDCG"
    package_name = "nDCG"


class MAP(AtOptionalCutoff):
    """Precision at the rank of each relevant document, averaged over all relevant ones.

    trec_eval's map and map_cut_k, ir_measures' AP; those not found count 0. BioASQ's is ``BioASQMAP``.
    """

    name = "MAP"
    package_name = "AP"


class MRR(AtOptionalCutoff):
    """One over the rank of the first relevant document.

    ir_measures' RR; 0 where none is found, or none among the first k. Without a cutoff it is trec_eval's recip_rank,
    which puts the last name first among documents of the same score. With one it is MS MARCO's, which puts the first
    name first; that shows only where the scores are known, as in a TREC run.
    """

    name = "MRR"

    def ranking(self, item: Item) -> list[str]:
        """What is ranked, down to the cutoff, which trec_eval itself does not know for this measure."""
        ranked, scores = super().ranking(item), item.retrieval_scores
        if self.cutoff is not None and scores.keys() >= set(ranked):
            ranked.sort(key=lambda document: (-scores[document], document))
        return ranked[: self.cutoff]

    def _of_package(self, package: Any) -> Any:
        return package.RR


@dataclass(frozen=True, repr=False)
class RetrievalYield(Measure):
    """Questions for which any document was found.

    Studies that leave out the others, as VeriCite does, report on fewer questions than they asked.
    """

    name = "RetrievalYield"
    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence",)
    whole: ClassVar[bool] = True

    def parts(self, item: Item) -> Parts | None:
        """Whether there is one."""
        return None if item.ranked is None else one(float(bool(item.ranked)))


@dataclass(frozen=True, repr=False)
class BioASQMAP(Measure):
    """Precision at the rank of each relevant document among the first ten, over ten or the relevant ones if fewer.

    Mean average precision of BioASQ's phase A. Its program divided by all relevant ones in the first two challenges
    (``divisor='relevant'``), by 10 from the third on (``divisor='ten'``), and by the smaller of the two since the
    eighth. No package computes it. A question without a ranking is missing, as that program passes it over.
    """

    name = "BioASQMAP"
    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence", "gold")
    pooled: ClassVar[bool] = False

    divisor: Literal["least", "ten", "relevant"] = "least"
    cutoff: int = 10

    def parts(self, item: Item) -> Parts | None:
        """The average precision of one ranking."""
        if item.ranked is None or item.gold is None or not item.gold.documents:
            return None
        relevant = {id for id, grade in item.gold.documents.items() if grade > 0}
        if not relevant:
            return NOTHING
        found, total = 0, 0.0
        for rank, document in enumerate(list(dict.fromkeys(item.ranked))[: self.cutoff], start=1):
            if document in relevant:
                found += 1
                total += found / rank
        divisors = {"least": min(len(relevant), 10), "ten": 10, "relevant": len(relevant)}
        return one(total / divisors[self.divisor])
