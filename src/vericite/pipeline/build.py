"""Build the parts that a plan names: searches, generators, judges, repairers, and the pipeline that joins them."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from vericite.disk.files import cache_file
from vericite.errors import InputError, Problems, SettingsError, UnknownNameError
from vericite.models.contracts import Judge, Reranks
from vericite.models.embedder import Embedder
from vericite.pipeline.answerers import load_answerer
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.check import verifier_for
from vericite.pipeline.plan import (
    ABSTRACTS,
    NOTHING,
    ORACLE,
    AnswerPlan,
    CheckPlan,
    ModelPlan,
    Plan,
    RepairPlan,
    SearchPlan,
)
from vericite.pipeline.runs import RUNS
from vericite.pipeline.search import ALL_GOLD, OracleSearch, Rewrite, SavedCell, Search
from vericite.records import Document, Question
from vericite.retrieve.function import RETRIEVERS, load_retriever
from vericite.retrieve.local import MemoryRetriever
from vericite.retrieve.lookup import Oracle
from vericite.retrieve.rerank import PRIOR, Rerank
from vericite.retrieve.retriever import ClosedBook, Fused, Retriever, Way
from vericite.retrieve.rewrite import Rewriter, Trigger
from vericite.retrieve.vectors import FILE as VECTORS
from vericite.retrieve.vectors import OnEmbedding, vectors_of
from vericite.verify.judges.registry import default_threshold, load_judge
from vericite.verify.protocol import Protocol, get_protocol
from vericite.verify.verifier import Verifier

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from vericite.generate.generator import Generator
    from vericite.generate.prompt import AnswerPrompt, Selector
    from vericite.llm import LLM, Price, Settings
    from vericite.pipeline.evidence import EvidenceFinder
    from vericite.pipeline.rationale import RationaleChecker
    from vericite.pipeline.repair.repairer import Repairer

MEDRAG_CONSTANT = 100
_MEDRAG = {"medcpt": ("medcpt",), "rrf-2": ("medcpt",), "rrf-4": ("contriever", "specter", "medcpt")}

_LOG = logging.getLogger(__name__)


def build(
    plan: Plan,
    questions: Sequence[Question] = (),
    problems: Problems | None = None,
    on_embedding: OnEmbedding | None = None,
    search: Search | None = None,
    model: LLM | None = None,
    judge: Judge | None = None,
    documents: Sequence[Document] | None = None,
    protocol: Protocol | None = None,
) -> Pipeline:
    """Build the pipeline of a plan.

    Args:
        plan: The plan.
        questions: Questions that will be asked. Demonstrations that reveal one of their answers are dropped.
        problems: Receives unusable records of the corpus and the demonstration pool.
        on_embedding: Called while documents of a file are embedded.
        search: Use this search instead of opening the plan's.
        model: Use this language model for answers instead of the plan's.
        judge: Use this judge instead of the plan's.
        documents: Search these documents instead of the plan's corpus.
        protocol: Use this protocol instead of the plan's.

    Raises:
        InputError: A part that the plan names cannot be loaded, or parts do not fit together.
        MissingExtraError: A part needs an extra.
    """
    wrong = Problems() if problems is None else problems
    plan.answer.expect_coherent()
    is_closed = plan.search.corpus == NOTHING and documents is None
    if is_closed and plan.answer.llm is None:
        raise SettingsError(
            f"expected {{}} with {{}} {NOTHING}, which has no sentence to answer with; found none",
            ("answer.llm", "search.corpus"),
        )
    settings = settings_of(plan.llm)
    if search is None:
        search = open_search(plan.search, settings, on_embedding, documents, wrong)
    model = model or _model(plan.answer.llm, replace(settings, context=plan.answer.window))
    generator = generator_of(plan.answer, model, questions, wrong)
    if is_closed:
        _expect_own_knowledge(generator)
    judge = judge or judge_of(plan.check, settings)
    verifier = verifier_for(protocol_of(plan.check, judge)) if protocol is None else verifier_for(protocol, judge)
    return Pipeline(
        search,
        generator,
        verifier.protocol,
        rationales=_rationale_checker(plan, judge),
        repairer=_repairer_within(plan.repair, verifier, search, model) if plan.repair.enabled else None,
    )


def _expect_own_knowledge(generator: Generator) -> None:
    from vericite.generate.language_model import AskingGenerator

    if not isinstance(generator, AskingGenerator) or not generator.asked_without_evidence:
        raise InputError(
            f"expected a prompt that lets the model answer from its own knowledge with --corpus {NOTHING}; found "
            "another. Take closed-book-bioasq or closed-book-pubmedqa (--prompt)."
        )


def fingerprint(plan: Plan, pipeline: Pipeline) -> dict[str, Any]:
    """Describe what determines the results of a run: the corpus with its content, and the signature of each part."""
    verifier = pipeline.verifier
    parts = {**pipeline.parts, "protocol": verifier.protocol.signature, "judge": verifier.judge.signature}
    search = plan.search
    controlled = {} if search.controlled is None else {"controlled": search.controlled}
    k = "all" if search.depth() == ALL_GOLD else search.depth()
    return {"corpus": search.corpus, **_content_of(search.corpus), **controlled, "k": k, "parts": parts}


def _content_of(corpus: str) -> dict[str, str]:
    """Hash a corpus that is a file, because its content may change."""
    corpus = corpus.removeprefix(ORACLE)
    path = Path(corpus.removeprefix(ABSTRACTS))
    if corpus in ("demo", "pubmed", NOTHING) or not path.is_file():
        return {}
    with path.open("rb") as file:
        return {"corpus_sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def settings_of(plan: ModelPlan) -> Settings:
    """Return the settings for language models.

    Raises:
        InputError: The price is not two amounts.
    """
    from vericite.llm import Settings

    return Settings(
        concurrency=plan.concurrency,
        requests_per_minute=plan.rpm,
        tokens_per_minute=plan.tpm,
        timeout=plan.timeout,
        price=None if plan.price is None else _price(plan.price),
        reply_tokens=plan.reply_tokens,
        cache="default" if plan.cache else None,
    )


def _price(text: str) -> Price:
    from vericite.llm import Price

    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (isfinite(prompt + completion) and min(prompt, completion) >= 0):
        raise InputError(f"expected llm.price to be two amounts, as in 0.15,0.60; found {text!r}")
    return Price(prompt, completion)


def judge_of(plan: CheckPlan, settings: Settings) -> Judge | None:
    """Load the plan's judge; None for the protocol's own."""
    return None if plan.judge is None else load_judge(plan.judge, settings)


def protocol_of(plan: CheckPlan, judge: Judge | None = None) -> Protocol:
    """Return the protocol with the plan's changes. A calibrated judge sets the threshold if the plan does not."""
    named = get_protocol(plan.protocol)
    asked = judge or plan.judge or named.judge
    own = 0.0 if named.published else default_threshold(asked)
    bar = named.abstain_below or own if plan.abstain_below is None else plan.abstain_below
    return replace(named, judge=asked, abstain_below=bar, precision=plan.precision)


def explain_of(plan: Plan, problems: Problems | None = None) -> Search | bool:
    """Return how ``check_many`` explains: False, True, or with a corpus to look in.

    Raises:
        InputError: The corpus cannot be opened, or is named without ``check.explain``.
    """
    if plan.check.corpus is None or not plan.check.explain:
        if plan.check.corpus is not None:
            raise SettingsError("expected {} with {}; found none. Add it.", ("check.explain", "check.corpus"))
        return plan.check.explain
    named = plan.search.model_copy(update={"corpus": plan.check.corpus, "rewrite": "none"})
    return open_search(named, settings_of(plan.llm), problems=problems)


def generator_of(plan: AnswerPlan, model: LLM | None, questions: Sequence[Question], problems: Problems) -> Generator:
    """Build the generator; problems with lines of the pool go to ``problems``."""
    if model is None:
        return load_answerer(plan.answerer, plan)
    from vericite.generate.prompt import load_prompt

    if plan.rationale and plan.prompt.endswith(".toml"):
        return _reasoned_verbatim(plan, model, questions, problems)
    if plan.rationale:
        from vericite.generate.rationale import RationaleGenerator, rationale_prompt

        prompt = _with_temperature(plan, rationale_prompt(maybe=plan.prompt == "steps-maybe"))
        shown = _demonstrations(plan, prompt, questions, problems)
        return RationaleGenerator(model, prompt, demonstrations=shown, budget=plan.window, seed=plan.seed)
    from vericite.generate.language_model import LanguageModelGenerator

    guided = plan.evidence == "quotations" or _is_small(plan, model)
    name = "small" if guided and plan.prompt == AnswerPlan().prompt else plan.prompt
    prompt = _with_temperature(plan, load_prompt(name))
    shown = _demonstrations(plan, prompt, questions, problems)
    excerpts = None
    if plan.evidence == "sentences":
        from vericite.generate.selection import Excerpts
        from vericite.models.embedder import Reranker

        excerpts = Excerpts(Embedder.shared(), Reranker.shared())
    return LanguageModelGenerator(
        model,
        prompt,
        demonstrations=shown,
        grammar=plan.grammar,
        budget=plan.window,
        seed=plan.seed,
        excerpts=excerpts,
        guide=load_answerer("extractive", plan) if guided else None,
    )


def _is_small(plan: AnswerPlan, model: LLM) -> bool:
    """Whether the model is small, and the user has chosen no prompt, no demonstrations and no kind of evidence."""
    from vericite.generate.guide import SMALL

    path = model.spec.path
    usual = plan.evidence == "auto" and plan.prompt in (AnswerPlan().prompt, "small") and plan.pool is None
    return usual and path is not None and path.stat().st_size < SMALL


def _with_temperature(plan: AnswerPlan, prompt: AnswerPrompt) -> AnswerPrompt:
    """Return the prompt with the plan's temperature, if it has one."""
    return prompt if plan.temperature is None else replace(prompt, temperature=plan.temperature)


def _reasoned_verbatim(plan: AnswerPlan, model: LLM, questions: Sequence[Question], problems: Problems) -> Generator:
    from vericite.generate.language_model import LanguageModelGenerator
    from vericite.generate.prompt import VerbatimAnswerPrompt, load_prompt

    prompt = _with_temperature(plan, load_prompt(plan.prompt))
    if not isinstance(prompt, VerbatimAnswerPrompt):
        raise InputError(
            f"expected --rationale without --prompt, or with a verbatim prompt; found "
            f"{plan.prompt!r}. Leave one of them out, or write verbatim = true."
        )
    shown = _demonstrations(plan, prompt, questions, problems)
    return LanguageModelGenerator(
        model, prompt, demonstrations=shown, budget=plan.window, seed=plan.seed, reasoned=True
    )


def _model(name: str | None, settings: Settings) -> LLM | None:
    if name is None:
        return None
    from vericite.llm import LLM

    return LLM(name, settings)


def _demonstrations(
    plan: AnswerPlan, prompt: AnswerPrompt, questions: Sequence[Question], problems: Problems
) -> Selector | tuple[()] | None:
    if plan.shots == 0:
        return ()
    if plan.pool is None:
        return None
    from vericite.generate.demonstrations import NEAR, Pool, PoolSelector, Selection, Vectors, decontaminate

    path = Path(plan.pool)
    pool = Pool.read(path, problems)
    vectors = Vectors.next_to(path, Embedder.shared())
    near = NEAR if plan.max_similarity is None else plan.max_similarity
    clean = decontaminate(pool, questions, vectors, near)
    selection = Selection(
        plan.select or "similar",  # pyright: ignore[reportArgumentType]
        plan.shots or 2,
        fewest=plan.min_shots,
        seed=plan.seed or 0,
        diversity=Selection.diversity if plan.diversity is None else plan.diversity,
        near=near,
    )
    return PoolSelector(clean, selection, prompt, vectors)


def _rationale_checker(plan: Plan, judge: Judge | None) -> RationaleChecker | None:
    """Build the checker of rationales. Uses the bundled judge if the plan's does not know the categories."""
    if not plan.answer.rationale:
        return None
    from vericite.pipeline.rationale import CONTEXT, RationaleChecker

    knows_categories = (plan.check.judge or "").partition(":")[0] == "llm-eight"
    chosen = judge if knows_categories and judge is not None else "bundled"
    return RationaleChecker(chosen, plan.answer.contexts or (CONTEXT,), together=plan.answer.together)


def _repairer_within(plan: RepairPlan, verifier: Verifier, search: Search, model: LLM | None) -> Repairer:
    from vericite.pipeline.repair.repairer import Repairer, SentenceRewriter

    rewriter = None if model is None else SentenceRewriter(model)
    # An oracle has no documents for a sentence: use the other sources of the answer.
    looked_in = None if isinstance(search, OracleSearch) else replace(search, rewrite=None)
    return Repairer(verifier, search=looked_in, rewriter=rewriter, rounds=plan.rounds, drop_uncited=plan.drop_uncited)


def build_repairer(plan: Plan, problems: Problems, judge: Judge | None = None) -> Repairer:
    """Build the repairer for existing answers. It searches for documents without rewriting the query.

    Args:
        plan: The plan.
        problems: Receives unusable records of the corpus.
        judge: Use this judge instead of the plan's.

    Raises:
        InputError: A part that the plan names cannot be loaded.
    """
    from vericite.pipeline.repair.repairer import Repairer, SentenceRewriter

    settings = settings_of(plan.llm)
    search = None
    if plan.repair.corpus is not None:
        named = plan.search.model_copy(update={"corpus": plan.repair.corpus, "rewrite": "none"})
        search = open_search(named, settings, problems=problems)
    model = _model(plan.repair.llm, settings)
    return Repairer(
        protocol_of(plan.check, judge or judge_of(plan.check, settings)),
        search=search,
        rewriter=None if model is None else SentenceRewriter(model),
        rounds=plan.repair.rounds,
        drop_uncited=plan.repair.drop_uncited,
    )


def build_finder(
    plan: Plan, problems: Problems, search: Search | None = None, judge: Judge | None = None
) -> EvidenceFinder:
    """Build what finds the articles for and against the sentences of answers.

    Args:
        plan: The plan.
        problems: Receives unusable records of the corpus.
        search: Use this search instead of opening the plan's.
        judge: Use this judge instead of the plan's.

    Raises:
        InputError: A part that the plan names cannot be loaded.
    """
    from vericite.pipeline.evidence import MOST, EvidenceFinder

    settings = settings_of(plan.llm)
    search = search or open_search(plan.search, settings, problems=problems)
    verifier = verifier_for(protocol_of(plan.check, judge or judge_of(plan.check, settings)))
    return EvidenceFinder(search, verifier, plan.search.depth(MOST), plan.search.candidates)


def open_search(
    plan: SearchPlan | None = None,
    settings: Settings | None = None,
    on_embedding: OnEmbedding | None = None,
    documents: Sequence[Document] | None = None,
    problems: Problems | None = None,
    index: MemoryRetriever | None = None,
) -> Search:
    """Open the search of a plan.

    Args:
        plan: How to search. None: the default plan.
        settings: Settings of the language model that rewrites questions.
        on_embedding: Called while documents of a file are embedded.
        documents: Search these documents instead of the plan's corpus.
        problems: Bad lines of a corpus file are added here.
        index: The index of the plan's corpus, as by ``read_index``, instead of reading it again.

    Raises:
        InputError: Unknown corpus, or the plan does not fit it.
        MissingExtraError: A part needs an extra.
    """
    chosen = plan or SearchPlan()
    wrong = Problems() if problems is None else problems
    if documents is not None:
        return _searching(chosen, _in_memory_search(documents, chosen), settings)
    if chosen.gold_source is not None:
        return _oracle_search(chosen, chosen.gold_source, settings, on_embedding, wrong)
    if chosen.controlled is not None:
        raise SettingsError(
            f"expected {{}} {ORACLE}... with {{}}; found the corpus {{found!r}}",
            ("search.corpus", "search.controlled"),
            {"found": chosen.corpus},
        )
    if chosen.corpus == NOTHING:
        return Search(ClosedBook())
    return _searching(chosen, _retriever(chosen, on_embedding, wrong, index), settings)


def _searching(plan: SearchPlan, retriever: Retriever, settings: Settings | None) -> Search:
    """Add the plan's designs, reranking and rewriting to the retriever."""
    if plan.designs:
        from vericite.retrieve.designs import OfDesigns

        retriever = OfDesigns(retriever, plan.designs)
    rewriter = _rewriter(plan, settings)
    reranker = load_reranker(plan.rerank)
    prior = PRIOR if plan.rerank == "bundled" else 0.0
    rerank = None if reranker is None else Rerank(reranker, plan.candidates, prior)
    keep = "new" if plan.keep == "new" else "better"
    trigger = _usable(plan.trigger, rerank)
    return Search(retriever, rerank, None if rewriter is None else Rewrite(rewriter, trigger, keep, plan.rerank_by))


def _in_memory_search(
    documents: Sequence[Document], plan: SearchPlan, vectors: NDArray[float32] | None = None
) -> Retriever:
    """Return a retriever over those documents in memory that pass the filters."""
    kept = [place for place, document in enumerate(documents) if plan.filters.passes(document)]
    return _in_memory([documents[place] for place in kept], plan.by, None if vectors is None else vectors[kept])


def _oracle_search(
    plan: SearchPlan, source: str, settings: Settings | None, on_embedding: OnEmbedding | None, problems: Problems
) -> Search:
    if plan.controlled is None:
        idle = {
            "search.by": plan.by is not None,
            "search.rewrite": plan.rewrite != "none",
            "filters": plan.filters.predicate(),
        }
        if given := [name for name, is_given in idle.items() if is_given]:
            raise SettingsError(
                f"expected no {', '.join(['{}'] * len(given))} with {{}} {{corpus}}, which does not search; "
                "found some. Leave them out, or name the standard cell that they belong to: {} CORPUS",
                (*given, "search.corpus", "search.controlled"),
                {"corpus": plan.corpus},
            )
    oracle = open_oracle(source, problems)
    if plan.controlled is None:
        return OracleSearch(oracle)
    folder = Path(plan.controlled)
    if (folder / RUNS).is_file():
        return OracleSearch(oracle, standard=SavedCell(folder))
    of_standard = plan.model_copy(update={"corpus": plan.controlled, "controlled": None})
    return OracleSearch(oracle, standard=open_search(of_standard, settings, on_embedding, problems=problems))


def open_oracle(source: str, problems: Problems) -> Oracle:
    """Open the source of gold documents over any corpus; bad lines of a file are added to ``problems``.

    Raises:
        InputError: The corpus cannot be read.
    """
    from vericite.corpus import demo_documents

    if source == "pubmed":
        from vericite.corpus.entrez.client import Entrez

        return Oracle(Entrez())
    _warn_same_name(source)
    if source == "demo":
        return Oracle(documents=demo_documents())
    if not _is_store(source):
        return Oracle(documents=_read_files(source, problems))
    from vericite.corpus.store import open_store

    store = open_store(source)

    def look_up(names: Sequence[str]) -> list[Document]:
        # An exact id comes before a PMID that several versions or parts share.
        return [*store.get(names).documents, *store.of_pmids([name for name in names if name.isdecimal()])]

    return Oracle(lookup=look_up, source=f"store {store.signature}")


def _is_store(corpus: str) -> bool:
    from vericite.corpus.store.place import is_store

    return corpus not in ("demo", "pubmed", NOTHING) and is_store(corpus)


def _warn_same_name(corpus: str) -> None:
    """Warn that a file is not read because it has the name of a built-in corpus."""
    if corpus in ("demo", "pubmed") and Path(corpus).exists():
        meant = "the demonstration corpus" if corpus == "demo" else "PubMed"
        _LOG.warning(
            "%s is %s here; the file or folder of that name is not read. Write ./%s for it", corpus, meant, corpus
        )


def load_reranker(name: str) -> Reranks | None:
    """Load a reranker by name; None for ``none``.

    Raises:
        UnknownNameError: Unknown reranker.
        MissingExtraError: The reranker needs the extra ``[hf]``.
    """
    if name == "none":
        return None
    if name == "bundled":
        from vericite.models.embedder import Reranker as Bundled

        return Bundled.shared()
    from vericite.retrieve.hf import RERANKERS
    from vericite.retrieve.hf import load_reranker as load_checkpoint

    if name in RERANKERS or name.startswith("hf:"):
        return load_checkpoint(name.removeprefix("hf:"))
    raise UnknownNameError("reranker", name, ("bundled", "none", "hf:CHECKPOINT", *RERANKERS))


def has_index(plan: SearchPlan) -> bool:
    """Whether the corpus is read into memory, into one index that searches with different filters can share."""
    corpus = plan.corpus
    is_elsewhere = corpus in ("pubmed", NOTHING) or corpus.partition(":")[0] in RETRIEVERS or _is_store(corpus)
    return not is_elsewhere and plan.gold_source is None and plan.by not in _MEDRAG


def read_index(plan: SearchPlan, problems: Problems) -> MemoryRetriever:
    """Read all documents of a corpus that has an index into it.

    Raises:
        InputError: The corpus cannot be read.
    """
    made = _read(plan.unfiltered, None, problems)
    if not isinstance(made, MemoryRetriever):
        raise ValueError(f"expected a corpus with one index; found {plan.corpus!r} by {plan.by}")
    return made


def _retriever(
    plan: SearchPlan, on_embedding: OnEmbedding | None, problems: Problems, index: MemoryRetriever | None
) -> Retriever:
    corpus = plan.corpus
    _warn_same_name(corpus)
    is_store = _is_store(corpus)
    if plan.filters.predicate() and (corpus == "pubmed" or corpus.partition(":")[0] in RETRIEVERS):
        raise InputError(f"expected a store or documents with filters; found the corpus {corpus!r}")
    if plan.cleaning != "stopwords" and corpus != "pubmed":
        raise SettingsError(
            "expected {} pubmed with {}; found the corpus {found!r}",
            ("search.corpus", "search.cleaning"),
            {"found": corpus},
        )
    if plan.until and corpus not in ("pubmed", "oracle:pubmed"):
        raise SettingsError(
            "expected {} pubmed with {}; found the corpus {found!r}",
            ("search.corpus", "search.until"),
            {"found": corpus},
        )
    name, colon, text = corpus.partition(":")
    if colon and name in RETRIEVERS:
        return load_retriever(name, text)
    if corpus == "pubmed":
        return _pubmed(plan)
    if is_store:
        return _with_names(_store(plan), plan)
    found = _read(plan, on_embedding, problems) if index is None else index.passing(plan.filters)
    return _with_names(found, plan)


def _read(plan: SearchPlan, on_embedding: OnEmbedding | None, problems: Problems) -> Retriever:
    """Return a retriever over the documents of a file, a folder or the demonstration that pass the plan's filters."""
    from vericite.corpus import demo_documents, demo_vectors

    if plan.corpus == "demo":
        return _in_memory_search(demo_documents(), plan, demo_vectors())
    documents = [document for document in _read_files(plan.corpus, problems) if plan.filters.passes(document)]
    if plan.by in _MEDRAG or plan.by == "bm25":
        return _in_memory(documents, plan.by)
    vectors = vectors_of(documents, Embedder.shared(), cache_file("default", VECTORS), on_embedding)
    return _in_memory(documents, plan.by, vectors)


def _with_names(retriever: Retriever, plan: SearchPlan) -> Retriever:
    """Search for other names, too, unless the user names a ranking: then it is used as published."""
    from vericite.retrieve.names import OtherNames

    return OtherNames(retriever) if plan.by is None else retriever


def _read_files(corpus: str, problems: Problems) -> Sequence[Document]:
    """Read the documents of a file or folder; with the prefix ``abstracts:``, only abstracts of full-text articles."""
    from vericite.corpus import load_documents

    return load_documents(Path(corpus.removeprefix(ABSTRACTS)), problems, abstracts=corpus.startswith(ABSTRACTS))


def _pubmed(plan: SearchPlan) -> Retriever:
    from vericite.corpus.entrez.client import Entrez
    from vericite.retrieve.pubmed import PubMedRetriever

    if plan.by is not None:
        raise InputError(f"expected PubMed, which ranks by its own rules, without a way to rank; found {plan.by!r}")
    return PubMedRetriever(Entrez(), cleaning=plan.cleaning, until=plan.until)


def _store(plan: SearchPlan) -> Retriever:
    from vericite.corpus.store import open_store
    from vericite.retrieve.local import LateRetriever, StoreRetriever

    if plan.by in _MEDRAG:
        raise InputError(
            f"expected a file of documents for {plan.by}, which needs vectors by several models; found a store. "
            "Rank by bm25, dense, hybrid or late."
        )
    if plan.by == "late":
        words = StoreRetriever(open_store(plan.corpus), plan.filters, "bm25")
        return LateRetriever(words, Embedder.shared(), file=cache_file("default", VECTORS))
    return StoreRetriever(open_store(plan.corpus), plan.filters, _plain(plan.by))


def _in_memory(documents: Sequence[Document], by: str | None, vectors: NDArray[float32] | None = None) -> Retriever:
    if by == "late":
        raise InputError("expected a store to rank by late; found documents that are read into memory. Rank by hybrid.")
    if by in _MEDRAG:
        from vericite.retrieve.hf import load_embedder

        meanings = [MemoryRetriever(documents, load_embedder(name), by="dense", name=name) for name in _MEDRAG[by]]
        if by == "medcpt":
            return meanings[0]
        return Fused([MemoryRetriever(documents, by="bm25"), *meanings], by, constant=MEDRAG_CONSTANT)
    way = _plain(by) or "hybrid"
    return MemoryRetriever(documents, None if way == "bm25" else Embedder.shared(), vectors, way)


def _plain(by: str | None) -> Way | None:
    return next((way for way in get_args(Way) if way == by), None)


def _rewriter(plan: SearchPlan, settings: Settings | None) -> Rewriter | None:
    from vericite.retrieve.rewrite import LanguageModelRewriter

    if plan.rewrite == "none":
        return None
    if not plan.rewrite:
        raise InputError(
            "expected a language model to rewrite questions (search.rewrite), as this plan asks for; found none"
        )
    from vericite.llm import LLM

    return LanguageModelRewriter(LLM(plan.rewrite, settings), documents=plan.rewrite_shown)


def _usable(trigger: Trigger, rerank: Rerank | None) -> Trigger:
    """Without a reranker there are no relevance scores to trigger on."""
    return trigger if rerank is not None else replace(trigger, relevance=0.0)
