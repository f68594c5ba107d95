"""What building a pool of demonstrations needs from other stages, and what there is to say about a pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from vericite.corpus import demo_documents, load_documents
from vericite.errors import InputError, RecordError
from vericite.generate.demonstrations import NEAR, EvaluatedWriter, Pool, RationaleWriter, Vectors, decontaminate
from vericite.llm import Settings
from vericite.models.embedder import Embedder
from vericite.pipeline.plan import SearchPlan
from vericite.records import Document, Question
from vericite.retrieve.oracle import Oracle, pmid_of


def rationale_writer(model: str, settings: Settings) -> RationaleWriter:
    """Who writes the reasoning of demonstrations."""
    from vericite.llm import LLM

    return RationaleWriter(LLM(model, settings), settings.reply_tokens)


def evaluated_writer(model: str, settings: Settings, prompt: str) -> EvaluatedWriter:
    """Who writes it as at evaluation.

    Raises:
        InputError: The prompt cannot be used, or ends in no final answer.
    """
    from vericite.generate.prompt import load_prompt
    from vericite.llm import LLM

    return EvaluatedWriter(LLM(model, settings), load_prompt(prompt))


def found_documents(
    plan: SearchPlan, settings: Settings, most: int
) -> tuple[Callable[[Question], Sequence[Document]], str, Sequence[RecordError]]:
    """What gives a question the documents that a search finds, the search's signature, and what was wrong with lines.

    Raises:
        InputError: The plan cannot be carried out.
    """
    from vericite.pipeline.build import open_search

    search, problems = open_search(plan, settings)

    def found(question: Question) -> list[Document]:
        return [hit.document for hit in search.find(question, most).usable_first]

    return found, " ".join(f"{name}={signature}" for name, signature in search.parts.items()), problems


def gold_documents(
    documents: Path | None, corpus: str | None, questions: Sequence[Question]
) -> tuple[Callable[[Question], Sequence[Document]], Sequence[RecordError]]:
    """What gives a question its gold documents, and what was wrong with the lines of the file.

    Raises:
        InputError: There is neither a file nor a corpus, or both; or it cannot be read.
    """
    if (documents is None) == (corpus is None):
        raise InputError("expected either --documents or --corpus; found " + ("neither" if corpus is None else "both"))
    problems: Sequence[RecordError] = ()
    if corpus == "pubmed":
        from vericite.corpus.entrez.client import Entrez

        oracle = Oracle(Entrez())
    else:
        found, problems = _documents(documents, corpus, questions)
        oracle = Oracle(documents=found)

    def gold(question: Question) -> list[Document]:
        return [hit.document for hit in oracle.retrieve(question, len(question.gold_documents))]

    return gold, problems


def _documents(
    documents: Path | None, corpus: str | None, questions: Sequence[Question]
) -> tuple[Sequence[Document], Sequence[RecordError]]:
    if documents is not None:
        return load_documents(documents)
    assert corpus is not None
    if corpus == "demo":
        return demo_documents(), ()
    from vericite.corpus.store import open_store

    names = {
        name for question in questions for gold in question.gold_documents for name in (gold, pmid_of(gold) or gold)
    }
    return open_store(corpus).get(sorted(names)).documents, ()


def pool_facts(pool: Pool, asked: Sequence[Question], near: float | None) -> dict[str, object]:
    """What is in a pool; with questions to be asked, also what of it must not be shown with them."""
    facts: dict[str, object] = {
        "demonstrations": len(pool),
        "types": dict(Counter(exemplar.type or "none" for exemplar in pool.exemplars).most_common()),
        "labels": dict(Counter(exemplar.label or "none" for exemplar in pool.exemplars).most_common()),
        "with answer": sum(exemplar.answer is not None for exemplar in pool.exemplars),
        "with rationale": sum(exemplar.rationale is not None for exemplar in pool.exemplars),
        "made by": {
            f"{part}: {by}:": count
            for (part, by), count in Counter(
                made for exemplar in pool.exemplars for made in exemplar.made_by.items()
            ).most_common()
        },
        "signature": pool.signature,
    }
    if asked:
        vectors = Vectors.beside(pool.path, Embedder.shared())
        left = decontaminate(pool, asked, vectors, NEAR if near is None else near)
        facts["removed"] = asdict(left.removed[-1])
        facts["left"] = len(left)
    return facts
