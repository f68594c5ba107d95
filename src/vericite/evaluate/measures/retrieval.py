"""Measures of retrieval, computed by ir_measures (trec_eval) except those of BioASQ.

A document is relevant if its grade is above 0. A question without judged documents is missing, as in trec_eval, and so
is one without a ranking. A question with judged but no relevant documents has nothing to count; trec_eval would score
every system 0, and TREC removes such topics. An empty ranking scores 0. A repeated document counts at its first rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING, Family, Measure, Need, Parts, eval_package, own_score


@dataclass(frozen=True, repr=False)
class Ranking(Measure):
    """The mean over questions of a score of the ranking."""

    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence", "gold")
    extra: ClassVar[str | None] = "eval"
    packages: ClassVar[tuple[str, ...]] = ("ir-measures", "pytrec-eval-terrier")
    pooled: ClassVar[bool] = False

    package_name: ClassVar[str]
    """The name in ir_measures."""
    cutoff: int | None

    def _of_package(self, package: Any) -> Any:
        measure = getattr(package, self.package_name)
        return measure if self.cutoff is None else measure @ self.cutoff

    def ranking(self, item: Item) -> list[str]:
        """Return the ranking without repeated documents."""
        return list(dict.fromkeys(item.ranked or ()))

    def parts(self, item: Item) -> Parts | None:
        """Return the score of a ranking."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """Return the scores of all rankings in one call."""
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
                found[int(metric.query_id)] = own_score(float(metric.value))
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
    """Share of relevant documents that are among the first k.

    trec_eval's recall_k, ir_measures' R@k.
    """

    name = "Recall"
    package_name = "R"


class ShownRecall(AtCutoff):
    """Share of relevant documents that are among the first k and were shown to the model.

    Like ``Recall``, without documents that did not fit in the model's prompt.
    """

    name = "ShownRecall"
    package_name = "R"

    def ranking(self, item: Item) -> list[str]:
        """Return the documents of which the model saw at least a sentence."""
        shown = set(item.shown or ())
        return [id for id in super().ranking(item)[: self.cutoff] if id in shown]


class Precision(AtCutoff):
    """Share of the first k documents that are relevant.

    trec_eval's P_k, ir_measures' P@k. The denominator is k even if fewer documents were found.
    """

    name = "Precision"
    package_name = "P"


class Success(AtCutoff):
    """Share of questions with a relevant document among the first k.

    trec_eval's success_k, ir_measures' Success@k; also called hit rate.
    """

    name = "Success"
    whole = True
    package_name = "Success"


class NDCG(AtOptionalCutoff):
    """Normalized discounted cumulative gain: the discounted grades relative to those of the ideal ranking.

    trec_eval's ndcg_cut_k: the gain of a document is its grade (0 if negative) divided by the logarithm of its rank.
    """

    name = "nDCG"
    package_name = "nDCG"


class MAP(AtOptionalCutoff):
    """Mean average precision: precision at the rank of each relevant document, averaged over all relevant ones.

    trec_eval's map and map_cut_k, ir_measures' AP; relevant documents that were not found count 0. For BioASQ's variant
    see ``BioASQMAP``.
    """

    name = "MAP"
    package_name = "AP"


class MRR(AtOptionalCutoff):
    """Mean reciprocal rank of the first relevant document.

    ir_measures' RR; 0 if no relevant document is found, or none among the first k. Without a cutoff it is trec_eval's
    recip_rank, which orders documents with equal scores by descending id. With a cutoff it is MS MARCO's, which orders
    them by ascending id; this matters only if scores are known, as in a TREC run.
    """

    name = "MRR"

    def ranking(self, item: Item) -> list[str]:
        """Return the ranking up to the cutoff, which trec_eval does not support for this measure."""
        ranked, scores = super().ranking(item), item.retrieval_scores
        if self.cutoff is not None and scores.keys() >= set(ranked):
            ranked.sort(key=lambda document: (-scores[document], document))
        return ranked[: self.cutoff]

    def _of_package(self, package: Any) -> Any:
        return package.RR


@dataclass(frozen=True, repr=False)
class RetrievalYield(Measure):
    """Share of questions for which any document was found.

    Studies that leave out the other questions, such as VeriCite, report on fewer questions than they asked.
    """

    name = "RetrievalYield"
    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence",)
    whole: ClassVar[bool] = True

    def parts(self, item: Item) -> Parts | None:
        """Return 1 if a document was found, else 0."""
        return None if item.ranked is None else own_score(float(bool(item.ranked)))


@dataclass(frozen=True, repr=False)
class BioASQMAP(Measure):
    """Mean average precision of BioASQ's phase A, over the first ten documents.

    The sum of precisions at the ranks of relevant documents is divided by the number of relevant documents, at most 10.
    BioASQ's program divided by the number of relevant documents in the first two challenges (``divisor='relevant'``),
    by 10 from the third on (``divisor='ten'``), and by the smaller of the two since the eighth. No package computes it.
    A question without a ranking is missing, as in that program.
    """

    name = "BioASQMAP"
    family: ClassVar[Family] = "retrieval"
    needs: ClassVar[tuple[Need, ...]] = ("evidence", "gold")
    pooled: ClassVar[bool] = False

    divisor: Literal["least", "ten", "relevant"] = "least"
    cutoff: int = 10

    def parts(self, item: Item) -> Parts | None:
        """Return the average precision of a ranking."""
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
        return own_score(total / divisors[self.divisor])
