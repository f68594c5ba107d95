"""What a user names, as a search: a corpus, a reranker, who rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.models import Embedder
from vericite.pipeline.search import Keep, Rewrite, Search
from vericite.records import Document
from vericite.retrieve import MemoryRetriever, Retriever
from vericite.retrieve.fusion import Fused
from vericite.retrieve.rerank import CANDIDATES, PRIOR, Rerank, Reranker
from vericite.retrieve.rewriter import Rewriter
from vericite.retrieve.trigger import Trigger
from vericite.retrieve.way import Way

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from vericite.corpus.store import Filters
    from vericite.llm import Settings

By = Literal["bm25", "dense", "hybrid", "rrf-2", "rrf-4"]
"""Ways to rank; the last two are MedRAG's fusions, of BM25 with MedCPT, and of both with Contriever and SPECTER."""

MEDRAG_CONSTANT = 100
_MEDRAG = {"rrf-2": ("medcpt",), "rrf-4": ("contriever", "specter", "medcpt")}


@dataclass(frozen=True)
class SearchPlan:
    """How to search, in names.

    Attributes:
        by: What documents are ranked by; None for both words and meaning where there are vectors, else words.
        rerank: ``bundled``, ``medcpt``, ``bge``, ``hf:CHECKPOINT`` or ``none``.
        candidates: Documents that are ranked again.
        rewrite: ``offline``, ``none``, or a language model such as ``openai:gpt-4o-mini``.
        mesh: A MeSH file, whose entry terms rewriting offline may use.
        trigger: When a question is rewritten. By default where not even the best document is relevant: most questions
            but BioASQ's are answered by one or two.
        keep: Which evidence is kept then.
        filters: What documents of a store have to be.
    """

    by: By | None = None
    rerank: str = "bundled"
    candidates: int = CANDIDATES
    rewrite: str = "offline"
    mesh: Path | None = None
    trigger: Trigger = field(default_factory=lambda: Trigger(best=1))
    keep: Keep = "better"
    filters: Filters | None = None


PLANS = {
    "default": SearchPlan(),
    "reason-verify": SearchPlan(by="bm25", rerank="bge", rewrite="", trigger=Trigger(), keep="new"),
    "vericite": SearchPlan(rerank="none", rewrite="none"),
}
"""Plans by name. Reason and Verify's rewriter is a language model, which the user names."""


def plan_named(name: str) -> SearchPlan:
    """A plan by its name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in PLANS:
        raise UnknownNameError("search plan", name, PLANS)
    return PLANS[name]


def open_search(
    corpus: str, plan: SearchPlan | None = None, settings: Settings | None = None
) -> tuple[Search, Sequence[RecordError]]:
    """A search over a corpus, and what was wrong with the lines of its file.

    Args:
        corpus: ``demo``, ``pubmed``, a store (a folder or ``s3://...``), or a file of documents.
        plan: How to search.
        settings: For a language model that rewrites.

    Raises:
        InputError: The corpus is none of these, or the plan cannot be carried out over it.
        MissingExtraError: A part of it needs an extra.
    """
    chosen = plan or SearchPlan()
    rewriter = _rewriter(chosen, settings)
    retriever, problems = _retriever(corpus, chosen)
    reranker = load_reranker(chosen.rerank)
    prior = PRIOR if chosen.rerank == "bundled" else 0.0
    rerank = None if reranker is None else Rerank(reranker, chosen.candidates, prior)
    rewrite = None if rewriter is None else Rewrite(rewriter, _usable(chosen.trigger, rerank), chosen.keep)
    return Search(retriever, rerank, rewrite), problems


def load_reranker(name: str) -> Reranker | None:
    """A reranker by its name; None for ``none``.

    Raises:
        UnknownNameError: There is none of that name.
        MissingExtraError: It needs the extra ``[hf]``.
    """
    if name == "none":
        return None
    if name == "bundled":
        from vericite.models.reranker import Reranker as Bundled

        return Bundled.shared()
    from vericite.retrieve.hf import RERANKERS
    from vericite.retrieve.hf import load_reranker as load_checkpoint

    if name in RERANKERS or name.startswith("hf:"):
        return load_checkpoint(name.removeprefix("hf:"))
    raise UnknownNameError("reranker", name, ("bundled", "none", "hf:CHECKPOINT", *RERANKERS))


def _retriever(corpus: str, plan: SearchPlan) -> tuple[Retriever, Sequence[RecordError]]:
    from vericite.corpus import demo_documents, demo_vectors, load_documents

    is_store = corpus not in ("demo", "pubmed") and (corpus.startswith("s3://") or Path(corpus).is_dir())
    if plan.filters is not None and plan.filters.predicate() and not is_store:
        raise InputError(f"expected a store beside conditions on documents; found the corpus {corpus!r}")
    if corpus == "pubmed":
        return _pubmed(plan.by), ()
    if is_store:
        return _store(corpus, plan), ()
    if corpus == "demo":
        return _in_memory(demo_documents(), plan.by, demo_vectors()), ()
    documents, problems = load_documents(Path(corpus))
    return _in_memory(documents, plan.by), problems


def _pubmed(by: By | None) -> Retriever:
    from vericite.corpus.entrez import Entrez
    from vericite.retrieve.pubmed import PubMedRetriever

    if by is not None:
        raise InputError(f"expected PubMed, which ranks by its own rules, without a way to rank; found {by!r}")
    return PubMedRetriever(Entrez())


def _store(corpus: str, plan: SearchPlan) -> Retriever:
    from vericite.corpus.store import open_store
    from vericite.retrieve.store import StoreRetriever

    if plan.by in _MEDRAG:
        raise InputError(
            f"expected a file of documents for {plan.by}, which needs vectors by several models; found a store. "
            "Rank by bm25, dense or hybrid."
        )
    return StoreRetriever(open_store(corpus), plan.filters, _plain(plan.by))


def _in_memory(documents: Sequence[Document], by: By | None, vectors: NDArray[float32] | None = None) -> Retriever:
    if by in _MEDRAG:
        from vericite.retrieve.hf import load_embedder

        meanings = [MemoryRetriever(documents, load_embedder(name), by="dense", name=name) for name in _MEDRAG[by]]
        return Fused([MemoryRetriever(documents, by="bm25"), *meanings], by, constant=MEDRAG_CONSTANT)
    way = _plain(by) or "hybrid"
    return MemoryRetriever(documents, None if way == "bm25" else Embedder.shared(), vectors, way)


def _plain(by: By | None) -> Way | None:
    return next((way for way in get_args(Way) if way == by), None)


def _rewriter(plan: SearchPlan, settings: Settings | None) -> Rewriter | None:
    from vericite.retrieve.rewrite import Expansion, LanguageModelRewriter

    if plan.rewrite == "none":
        return None
    if not plan.rewrite:
        raise InputError("expected a language model to rewrite questions (--rewrite), as this plan has it; found none")
    if plan.rewrite == "offline":
        from vericite.corpus.mesh import MeshTerms

        return Expansion(None if plan.mesh is None else MeshTerms.load(plan.mesh))
    from vericite.llm import LLM

    return LanguageModelRewriter(LLM(plan.rewrite, settings))


def _usable(trigger: Trigger, rerank: Rerank | None) -> Trigger:
    """Without a reranker there is no relevance to go by."""
    return trigger if rerank is not None else replace(trigger, relevance=0.0)
